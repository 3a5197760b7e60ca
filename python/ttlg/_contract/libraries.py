"""What contractions ask of the libraries of their operands: views and products."""

import functools
import math
import sys
from collections.abc import Callable, Sequence
from string import ascii_letters
from typing import Any, Literal, TypeAlias

import numpy as np

from ttlg import _core
from ttlg._contract.operands import distinct_elements
from ttlg._contract.product_threads import Limiter, Pool, blas_pools
from ttlg._functions.transpose import transpose
from ttlg._libraries import library_of
from ttlg._libraries.advice import type_name

Multiply: TypeAlias = Callable[[Any, Any, Any], Any]
# Of loops, as NumPy calls them: which is faster is not known beforehand.
Order: TypeAlias = Literal["K", "C"]

# From here on a result of NumPy is allocated from the pool.
POOLED_FROM = 1 << 16
# And from here on a transposed tensor of PyTorch, in bytes.
_POOLED_TENSOR_BYTES = 1 << 22


class Products:
    """Views and products of a library with NumPy's methods.

    Attributes
    ----------
    orders : tuple of str
        Those that sums of products in one pass are worth trying with.
    """

    orders: tuple[Order, ...] = ()

    def __init__(self, module: Any) -> None:
        self.module = module

    @functools.cached_property
    def limiter(self) -> Limiter:
        """What limits the threads of products."""
        return Limiter(self.pools())

    def pools(self) -> Sequence[Pool]:
        """Return the threads that multiply, where their number can be changed."""
        return []

    def is_traced(self) -> bool:
        """Whether a compiler looks at this very code."""
        return False

    def multiplies(self, dtype: Any) -> bool:
        """Whether matrix products of this dtype are faster than sums of products."""
        return True

    def kind_of(self, operands: Sequence[Any]) -> tuple[Any, int, str]:
        """Return dtype, bytes of an element and device."""
        x = operands[0]
        device = getattr(x, "device", None)
        number = getattr(device, "id", None)
        return x.dtype, x.itemsize, "cpu" if number is None else f"cuda:{number}"

    def prepared(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Return operands that can be transposed."""
        return operands

    def loops_over(self, number: int) -> bool:
        """Whether stacks of matrices may have so many axes without being copied."""
        return number <= 1

    def strides(self, x: Any) -> tuple[int, ...]:
        """Return the strides of `x` in bytes."""
        strides: tuple[int, ...] = x.strides
        return strides

    def permute(self, x: Any, axes: tuple[int, ...]) -> Any:
        """View `x` with its axes in another order."""
        return x.transpose(axes)

    def transpose(self, x: Any, axes: tuple[int, ...], threads: int | None) -> Any:
        """Transpose into memory that is freed after the next product."""
        return transpose(x, axes, threads=threads)

    def multiplier(self, is_matmul: bool, shape: tuple[int, ...], itemsize: int) -> Multiply:
        """Return what multiplies stacks of matrices, or elements, to a product of this shape.

        Its third argument is an array of this shape to write to, as `view_for_product` gives it, or
        None for a new one.
        """
        function = self.module.matmul if is_matmul else self.module.multiply
        return lambda x, y, out: function(x, y)

    def adder(self, equation: str, order: Order) -> Multiply:
        """Return what multiplies two arrays and sums in one pass, in loops of this order."""
        return lambda x, y, out: self.einsum(equation, x, y)

    def view_for_product(
        self, out: Any, dtype: Any, axes: tuple[int, ...], shape: tuple[int, ...]
    ) -> Any:
        """View `out`, with its axes in the order `axes`, as a product of this shape and dtype.

        None where products cannot be written to it.
        """
        return None

    def like_result(self, operands: Sequence[Any], shape: tuple[int, ...]) -> Any:
        """Return one element as an array of this shape, of the dtype and device of the result.

        None where nothing can be said of what takes the result before it is there.
        """
        x = operands[0]
        return self.module.broadcast_to(self.module.empty((), dtype=x.dtype), shape)

    def einsum(self, equation: str, *operands: Any) -> Any:
        """Contract by the library's own function."""
        return self.module.einsum(equation, *operands)

    def join(self, arrays: Sequence[Any], axis: int) -> Any:
        """Copy arrays one after another along an axis into a new array."""
        return self.module.concatenate(arrays, axis)

    def is_out_of_memory(self, error: Exception) -> bool:
        """Whether an error of the library says that memory could not be allocated."""
        return isinstance(error, MemoryError)  # that of CuPy is one

    def ones(self, names: str, sizes: dict[str, int], dtype: Any) -> Any:
        """Allocate an array whose axes are called so."""
        return self.module.ones([sizes[name] for name in names], dtype=dtype)


class NumPyProducts(Products):
    """NumPy: products into memory of the result pool."""

    orders = "K", "C"

    def __init__(self) -> None:
        super().__init__(np)

    def pools(self) -> Sequence[Pool]:
        """Return those of BLAS."""
        return blas_pools()

    def multiplies(self, dtype: Any) -> bool:
        """Whether BLAS has it."""
        return dtype.char in "fdFD"

    def loops_over(self, number: int) -> bool:
        """NumPy calls BLAS for each matrix, wherever it lies."""
        return True

    def multiplier(self, is_matmul: bool, shape: tuple[int, ...], itemsize: int) -> Multiply:
        """Return what multiplies into memory of the result pool, where that is faster."""
        function: Multiply = np.matmul if is_matmul else np.multiply
        if math.prod(shape) * itemsize < POOLED_FROM:
            return function
        return lambda x, y, out: function(
            x, y, _core.new_ndarray(shape, x.dtype) if out is None else out
        )

    def adder(self, equation: str, order: Order) -> Multiply:
        """Return NumPy's own loops. They would not mind an output that overlaps an operand."""
        return lambda x, y, out: np.asarray(np.einsum(equation, x, y, order=order))

    def view_for_product(
        self, out: Any, dtype: Any, axes: tuple[int, ...], shape: tuple[int, ...]
    ) -> Any:
        """View `out` as a product: where it is contiguous then, as BLAS writes it."""
        if out.__class__ is not np.ndarray or out.dtype != dtype or not out.flags.behaved:
            return None
        in_order = out.transpose(axes)
        return in_order.reshape(shape) if in_order.flags.c_contiguous else None

    def join(self, arrays: Sequence[Any], axis: int) -> Any:
        """Copy arrays into a C-contiguous one."""
        shape = list(arrays[0].shape)
        shape[axis] = sum(x.shape[axis] for x in arrays)
        return np.concatenate(arrays, axis, out=_core.new_ndarray(shape, arrays[0].dtype))

    def einsum(self, equation: str, *operands: Any) -> Any:
        """Contract by NumPy, which reads letters of ASCII, in pairs where that is faster."""
        labels = dict.fromkeys(label for label in equation if label not in ",->")
        letters = dict(zip(labels, ascii_letters, strict=False))
        text = "".join(letters.get(character, character) for character in equation)
        in_pairs = len(operands) > 2 and not any(
            # Which NumPy lays out for its matrix products.
            x.dtype.hasobject or distinct_elements(x.shape, x.strides) < x.size
            for x in operands
        )
        return np.asarray(np.einsum(text, *operands, optimize=in_pairs))


class TorchProducts(Products):
    """PyTorch, of which autograd sees every step."""

    def is_traced(self) -> bool:
        """Whether `torch.compile` looks at this very code."""
        compiling: bool = self.module.compiler.is_dynamo_compiling()
        return compiling

    def pools(self) -> Sequence[Pool]:
        """Return PyTorch's own."""
        return [Pool(self.module.get_num_threads, self.module.set_num_threads)]

    def prepared(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Return tensors whose memory is what they stand for."""
        return [x.resolve_conj().resolve_neg() for x in operands]

    def kind_of(self, operands: Sequence[Any]) -> tuple[Any, int, str]:
        """Return dtype, bytes of an element and device."""
        x = operands[0]
        return x.dtype, x.element_size(), f"cuda:{x.device.index}" if x.is_cuda else "cpu"

    def strides(self, x: Any) -> tuple[int, ...]:
        """Return the strides of `x` in bytes."""
        itemsize = x.element_size()
        strides: tuple[int, ...] = x.stride()
        return tuple(stride * itemsize for stride in strides)

    def permute(self, x: Any, axes: tuple[int, ...]) -> Any:
        """View `x` with its axes in another order."""
        return x.permute(axes)

    def is_out_of_memory(self, error: Exception) -> bool:
        """Whether it says so: on the host PyTorch raises a RuntimeError that only its text tells."""
        return isinstance(error, MemoryError) or "allocate" in str(error)

    def like_result(self, operands: Sequence[Any], shape: tuple[int, ...]) -> Any:
        """Return one element as a tensor; refuse operands whose derivatives would be lost."""
        from ttlg._libraries import torch_state  # which imports PyTorch

        for number, x in enumerate(operands):
            if not torch_state.is_plain(x):
                if torch_state.is_traced(x):
                    return None
                torch_state.refuse_special(x, f"operand {number}")
        return operands[0].new_empty(()).expand(shape)

    def transpose(self, x: Any, axes: tuple[int, ...], threads: int | None) -> Any:
        """Transpose into the result pool: PyTorch gives large memory back to the system at once."""
        size = x.numel() * x.element_size()
        if size < _POOLED_TENSOR_BYTES or not _is_memory(x):
            return super().transpose(x, axes, threads)
        memory = self.module.from_numpy(_core.new_ndarray((size,), np.dtype(np.uint8)))
        out = memory.view(x.dtype).view(x.permute(axes).shape)
        return transpose(x, axes, out=out, threads=threads)


def _is_memory(x: Any) -> bool:
    """Whether a tensor of PyTorch lies on the host, and nothing follows what is done to it."""
    from ttlg._libraries.torch_state import is_plain  # which imports PyTorch

    return bool(x.is_cpu) and is_plain(x)


class PlannedProducts(Products):
    """A library that only plans are made for."""

    def like_result(self, operands: Sequence[Any], shape: tuple[int, ...]) -> Any:
        """Return None: what multiplies refuses the call."""
        return None

    def multiplier(self, is_matmul: bool, shape: tuple[int, ...], itemsize: int) -> Multiply:
        """Return what says so."""

        def refuse(x: Any, y: Any, out: Any) -> Any:
            raise TypeError(
                "this contraction was planned for a device; pass arrays that are there to ttlg.einsum"
            )

        return refuse


class JaxProducts(Products):
    """JAX, which lays matrices out itself."""

    def multiplies(self, dtype: Any) -> bool:
        """Leave all of it to XLA."""
        return False

    def kind_of(self, operands: Sequence[Any]) -> tuple[Any, int, str]:
        """Return dtype, bytes of an element and device; XLA minds where the arrays are."""
        return operands[0].dtype, operands[0].dtype.itemsize, "cpu"

    def strides(self, x: Any) -> tuple[int, ...]:
        """Return those of C-contiguous arrays: arrays of JAX have no others."""
        return _core.contiguous_byte_strides(x.shape, x.dtype.itemsize)

    def like_result(self, operands: Sequence[Any], shape: tuple[int, ...]) -> Any:
        """Return one element as an array of NumPy, which JAX has no views for."""
        if any(
            library_of(x).view(x, f"operand {n}").device != "cpu" for n, x in enumerate(operands)
        ):
            return None
        return np.broadcast_to(np.empty((), self.module.result_type(*operands)), shape)


NUMPY = NumPyProducts()
ANY = PlannedProducts(None)
_KINDS = {
    "Torch": ("torch", TorchProducts),
    "CuPy": ("cupy", Products),
    "Jax": ("jax.numpy", JaxProducts),
}
_made: dict[str, Products] = {}
_of_class: dict[type, Products] = {}


def products_of(operands: Sequence[Any]) -> tuple[Products, Sequence[Any]]:
    """Return the products of the library that all operands are of, and the operands as its arrays."""
    classes = {x.__class__ for x in operands}
    if len(classes) == 1:
        products = _of_class.get(*classes)
        if products is not None:
            return products, products.prepared(operands)
    names = {type(library_of(x)).__name__ for x in operands if not _is_plain(x)}
    if not names or names <= {"NumPy", "Buffers"}:
        return NUMPY, _ndarrays(operands)
    if len(names) > 1 or any(map(_is_plain, operands)):
        kinds = ", ".join(dict.fromkeys(type_name(x) for x in operands))
        raise TypeError(f"operands of several libraries ({kinds}); convert them to one")
    name = names.pop()
    if name not in _KINDS:
        raise TypeError(
            f"operands of type {type_name(operands[0])} cannot be contracted; pass arrays of "
            "NumPy, PyTorch, CuPy or JAX"
        )
    if name not in _made:
        module, kind = _KINDS[name]
        _made[name] = kind(sys.modules[module])
    products = _made[name]
    _of_class.update(dict.fromkeys(classes, products))
    return products, products.prepared(operands)


def _is_plain(x: Any) -> bool:
    """Whether `x` is a number or a list of Python, which NumPy takes."""
    return isinstance(x, int | float | complex | np.generic | list | tuple)


def _ndarrays(operands: Sequence[Any]) -> list[Any]:
    """Return arrays of one dtype, without their class."""
    for number, x in enumerate(operands):
        if isinstance(x, np.ma.MaskedArray):
            raise TypeError(f"operand {number} is a masked array, whose mask would be lost")
    arrays = [np.asarray(x) for x in operands]
    dtype = np.result_type(*arrays).newbyteorder("=")
    return [x.astype(dtype, copy=False) for x in arrays]
