"""Benchmarks: ttlg beside its peers and the copy ceiling, measured in one run.

``ttlg bench`` runs them. `ttlg.benchmarks.suites` holds the cases as data,
`ttlg.benchmarks.contenders` says how each library does one, `ttlg.benchmarks.measure` verifies and
times them, and `ttlg.benchmarks.report` turns the times into JSON, tables and plots.
"""
