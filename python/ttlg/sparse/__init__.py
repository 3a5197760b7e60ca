"""Permute the modes of sparse tensors: of SciPy, pydata and PyTorch, as triples and as fibers.

``ttlg.sparse.transpose(A, axes)`` moves the nonzeros of a sparse tensor into the order of the
permuted modes, and returns a tensor of the same library and format whose coordinates are in
ascending lexicographic order. `CSF` holds a tensor of any rank as compressed sparse fibers.
"""

# The private modules in layers, each of which imports from those before it alone: _arrays,
# _layout and _algorithms; _nonzeros, which calls the core; _csf; _adapter, what every library
# needs; _raw, _scipy, _pydata and _torch; _transpose and _predict.

from ttlg import _core
from ttlg.sparse._csf import CSF
from ttlg.sparse._predict import predict_time
from ttlg.sparse._transpose import transpose

__all__ = ["CSF", "algorithms", "predict_time", "transpose"]

#: The names that `transpose` takes as ``algorithm=``: ``"auto"``, and the options of COMET.
algorithms = _core.SPARSE_ALGORITHMS
