"""Benchmarks of transposition in place: suites, and how each library works in place.

``ttlg bench --suite inplace-random`` runs a suite. `ttlg.benchmarks.measure` verifies and
times its cases as it does transposition into a second array.
"""
