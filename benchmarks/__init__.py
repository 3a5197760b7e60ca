"""Benchmarks: ttlg beside its peers and the copy ceiling, measured in one run.

``ttlg bench`` runs them. `ttlg.benchmarks.suites` holds the cases as data,
`ttlg.benchmarks.contenders` says how each library does one. `ttlg.benchmarks.inplace` holds both
for transposition in place, and `ttlg.benchmarks.sparse` for sparse tensors. `ttlg.benchmarks.measure` verifies and times them,
`ttlg.benchmarks.report` turns the times into JSON, CSV and tables, and `ttlg.benchmarks.plots` draws
them.
"""
