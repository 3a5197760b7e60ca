"""Benchmarks of sparse transposition: suites, generators, and how each library does it.

``ttlg bench --suite sparse-matrices`` runs a suite. `ttlg.benchmarks.sparse.published` holds the
statistics of matrices and tensors that others have published, and how each is imitated;
`ttlg.benchmarks.sparse.generate` draws the nonzeros.
"""
