"""Benchmarks of transposition in place: suites, and how each library works in place.

``ttlg bench --suite inplace-random`` and the like run them. `ttlg.benchmarks.measure` verifies and
times them as it does transposition into a second array.
"""
