"""Compressed sparse fibers: a sparse tensor of any rank as a tree, one level for each mode."""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ttlg._arguments.words import count_of
from ttlg.sparse._arrays import as_coords, as_indices, as_shape, as_values
from ttlg.sparse._nonzeros import Nonzeros, move, read_options

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CSF:
    """A sparse tensor as compressed sparse fibers.

    The coordinates are a forest with a level for each mode, in which nonzeros that agree in their
    first modes share a path. Node ``n`` of level ``l - 1`` has as its children those of level ``l``
    from ``pos[l][n]`` to ``pos[l][n + 1]``, and the coordinate of child ``c`` is ``crd[l][c]``;
    the one root above level 0 has no coordinate. The nodes of the last level are the nonzeros.

    Parameters
    ----------
    shape : sequence of int
        Of the tensor, of rank 1 or more.
    pos : sequence of ndarray
        The pointers of each level, integers.
    crd : sequence of ndarray
        The coordinates of each level, integers.
    values : ndarray
        One value for each node of the last level; further axes belong to the element.

    Attributes
    ----------
    shape : tuple of int
        Of the tensor.
    pos, crd : list of ndarray
        Of each level, in int32 or int64.
    values : ndarray
        One value for each nonzero.

    Raises
    ------
    TypeError
        Indices are no integers, or values are Python objects.
    ValueError
        The levels do not fit one another or the shape.

    Notes
    -----
    The format of Smith and Karypis, "Tensor-matrix products with a compressed sparse tensor", IA^3
    2015. Of rank 2 it is CSR without its empty rows (DCSR). `from_coo` and `transpose` make tensors
    whose coordinates ascend; a coordinate that the input has twice is there twice in the last
    level. Explicit zeros are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from ttlg import sparse
    >>> coords = [[0, 0, 2], [1, 1, 0], [0, 3, 2]]
    >>> tensor = sparse.CSF.from_coo(coords, np.array([1.0, 2.0, 3.0]), (3, 2, 4))
    >>> tensor
    <ttlg.sparse.CSF (3, 2, 4) float64, 3 nonzeros, nodes per level 2, 2, 3>
    >>> [level.tolist() for level in tensor.crd]
    [[0, 2], [1, 0], [0, 3, 2]]
    >>> [level.tolist() for level in tensor.pos]
    [[0, 2], [0, 1, 2], [0, 2, 3]]
    """

    __slots__ = ("crd", "pos", "shape", "values")

    shape: tuple[int, ...]
    pos: "list[NDArray[Any]]"
    crd: "list[NDArray[Any]]"
    values: "NDArray[Any]"

    def __init__(
        self, shape: Any, pos: Sequence[Any], crd: Sequence[Any], values: "NDArray[Any]"
    ) -> None:
        extents = _shape_of_levels(shape)
        levels = [as_indices(level, f"crd[{number}]") for number, level in enumerate(crd)]
        pointers = [as_indices(level, f"pos[{number}]") for number, level in enumerate(pos)]
        elements = as_values(values, "values")
        _check_levels(extents, pointers, levels, len(elements))
        self._set(extents, pointers, levels, elements)

    def _set(self, shape: tuple[int, ...], pos: Any, crd: Any, values: Any) -> None:
        self.shape, self.pos, self.crd, self.values = shape, pos, crd, values

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Of the values."""
        return self.values.dtype

    @property
    def ndim(self) -> int:
        """The rank: how many levels there are."""
        return len(self.shape)

    @property
    def nnz(self) -> int:
        """How many nonzeros are stored, explicit zeros and duplicates included."""
        return len(self.values)

    def __repr__(self) -> str:
        nodes = ", ".join(str(len(level)) for level in self.crd)
        return (
            f"<ttlg.sparse.CSF {self.shape} {self.dtype}, {count_of(self.nnz, 'nonzero')}, nodes per level "
            f"{nodes}>"
        )

    @classmethod
    def from_coo(cls, coords: Any, values: Any, shape: Any) -> "CSF":
        """Build the levels from coordinates in any order.

        Parameters
        ----------
        coords : ndarray of shape (modes, nonzeros), or sequence of ndarray
            Integers; the mode that varies slowest comes first.
        values : ndarray
            One value for each nonzero; further axes belong to the element.
        shape : sequence of int
            Of the tensor.

        Returns
        -------
        CSF
            With memory of its own.

        Raises
        ------
        TypeError
            Indices are no integers, or values are Python objects.
        ValueError
            The arrays do not fit one another, or a coordinate does not fit the shape.
        """
        extents = _shape_of_levels(shape)
        modes = as_coords(coords, len(extents), extents)
        source = Nonzeros(extents, modes, None, as_values(values, "values"))
        return cls._of_sorted(move(source, range(len(extents)), False, read_options(None, None)))

    @classmethod
    def from_scipy(cls, A: Any) -> "CSF":  # noqa: N803
        """Build the levels from a sparse array or matrix of SciPy, of any format.

        Parameters
        ----------
        A : scipy.sparse array or matrix
            Of one dimension or more.

        Returns
        -------
        CSF
            With memory of its own.
        """
        coo = A.tocoo()
        return cls.from_coo(getattr(coo, "coords", None) or (coo.row, coo.col), coo.data, coo.shape)

    @classmethod
    def _of_sorted(cls, nonzeros: Nonzeros) -> "CSF":
        """Build the levels from what `move` has sorted."""
        count = len(nonzeros.values)
        begins = np.zeros(count, np.bool_)  # where a path leaves that of the nonzero before
        begins[:1] = True
        starts = []  # of the nodes of each level: the positions of their first nonzeros
        for mode in nonzeros.coords[:-1]:
            begins[1:] |= mode[1:] != mode[:-1]
            starts.append(np.flatnonzero(begins))
        starts.append(np.arange(count))
        crd = [mode[first] for mode, first in zip(nonzeros.coords, starts, strict=True)]
        dtype = crd[0].dtype if count <= np.iinfo(crd[0].dtype).max else np.dtype(np.int64)
        pos = [np.array([0, len(starts[0])], dtype)]
        for parents, children in itertools.pairwise(starts):
            edges = np.append(np.searchsorted(children, parents), len(children))
            pos.append(edges.astype(dtype, copy=False))
        result = cls.__new__(cls)
        result._set(nonzeros.extents, pos, crd, nonzeros.values)
        return result

    def to_coo(self) -> "tuple[NDArray[Any], NDArray[Any], tuple[int, ...]]":
        """Expand the levels to coordinates.

        Returns
        -------
        coords : ndarray of shape (modes, nonzeros)
            The coordinates, in the order of the values.
        values : ndarray
            A copy of the values.
        shape : tuple of int
            Of the tensor.
        """
        widest = max(level.dtype for level in self.crd)
        coords = np.empty((self.ndim, self.nnz), widest)
        edges = np.arange(self.nnz + 1)  # of each node's nonzeros, level by level from the last
        for level in range(self.ndim - 1, -1, -1):
            coords[level] = np.repeat(self.crd[level], np.diff(edges))
            edges = edges[self.pos[level]]
        return coords, self.values.copy(), self.shape

    def to_scipy(self) -> Any:
        """Expand the levels to a ``scipy.sparse.coo_array``.

        Returns
        -------
        scipy.sparse.coo_array
            With memory of its own.

        Raises
        ------
        ValueError
            The values have further axes, or SciPy's arrays cannot hold them.
        """
        from scipy.sparse import coo_array

        coords, values, shape = self.to_coo()
        if values.ndim > 1:
            raise ValueError(f"SciPy holds scalars, not elements of shape {values.shape[1:]}")
        return coo_array((values, tuple(coords)), shape=shape)


def _shape_of_levels(shape: Any) -> tuple[int, ...]:
    extents = as_shape(shape)
    if not extents:
        raise ValueError("a CSF needs a level for each mode, so shape () of rank 0 has none")
    return extents


def _check_levels(shape: tuple[int, ...], pos: "list[Any]", crd: "list[Any]", values: int) -> None:
    """Refuse levels that do not fit one another, the shape or the values."""
    if not len(pos) == len(crd) == len(shape):
        raise ValueError(
            f"shape {shape} takes {count_of(len(shape), 'level')}, but pos has {len(pos)} and crd {len(crd)}"
        )
    parents = 1
    for level, (pointers, indices) in enumerate(zip(pos, crd, strict=True)):
        nodes = len(indices)
        if len(pointers) != parents + 1:
            raise ValueError(
                f"pos[{level}] must have {parents + 1} pointers for {parents} parents, not "
                f"{len(pointers)}"
            )
        if pointers[0] != 0 or pointers[-1] != nodes or (np.diff(pointers) < 0).any():
            raise ValueError(
                f"pos[{level}] must ascend from 0 to {nodes}, the number of nodes in crd[{level}]"
            )
        wrong = np.flatnonzero((indices < 0) | (indices >= shape[level]))
        if wrong.size:
            raise ValueError(
                f"crd[{level}][{wrong[0]}] is {indices[wrong[0]]}, which is out of range for "
                f"extent {shape[level]}"
            )
        parents = nodes
    if parents != values:
        raise ValueError(
            f"values has {count_of(values, 'element')} for {count_of(parents, 'node')} in the last level"
        )
