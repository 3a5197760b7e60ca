"""One sparse transposition to be measured."""

from dataclasses import dataclass, replace

import numpy as np

from ttlg._arguments.words import count_of
from ttlg.benchmarks.case import Case

# Indices are of 32 bits, which hold all extents and numbers of nonzeros of the suites.
INDEX_BYTES = 4


@dataclass(frozen=True)
class SparseCase(Case):
    """One transposition of a sparse tensor with NumPy's `shape` and `axes`.

    Its nonzeros are drawn in the way that `ttlg.benchmarks.sparse.published` has under the name
    `pattern`. They lie in memory in the format ``csr`` or ``coo``, in canonical order.
    """

    pattern: str
    nnz: int
    format: str

    @property
    def bytes(self) -> int:
        """Bytes of the nonzeros: indices and values, without the row pointers of CSR."""
        indices = 1 if self.format == "csr" else len(self.shape)
        return self.nnz * (indices * INDEX_BYTES + np.dtype(self.dtype).itemsize)

    @property
    def described(self) -> str:
        """The case in a line."""
        return (
            f"{self.suite} {self.label}: {self.shape} by {self.axes}, {count_of(self.nnz, 'nonzero')} in "
            f"{self.format.upper()}, {self.bytes / 1e6:.4g} MB"
        )

    def cut(self, limit: int) -> "SparseCase":
        """Leave out nonzeros until those that are left have at most `limit` bytes."""
        if self.bytes <= limit:
            return self
        return replace(self, name=f"{self.name} cut", nnz=limit * self.nnz // self.bytes)
