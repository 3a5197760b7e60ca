"""Benchmarks of contractions: cases, and how each library contracts.

``ttlg bench --suite contractions`` runs them. `ttlg.benchmarks.contraction.published` holds
contractions that others have published; `ttlg.benchmarks.contraction.suites` lists all cases and
draws random ones.
"""
