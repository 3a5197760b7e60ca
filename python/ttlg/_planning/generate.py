"""Code for a permutation that is known when a program is built."""

import re
from typing import Any

from ttlg import _core
from ttlg._arguments.dtypes import describe_dtype
from ttlg._arguments.layouts import read_extents
from ttlg._typing import Axes, Integers

# Names that cannot be a function's: C++ has no list that Python could ask for.
_KEYWORDS = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long main mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
    return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
    wchar_t while xor xor_eq
    """.split()  # noqa: SIM905
)


def _check_name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, not {name!r}")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in _KEYWORDS or "__" in name:
        raise ValueError(
            f"name={name!r} cannot be the name of a C++ function: pass letters, digits and "
            "underscores that begin with a letter, such as 'permute'"
        )
    return name


def _describe(extents: tuple[int, ...], order: tuple[int, ...], dtype: str, itemsize: int) -> str:
    out = tuple(extents[axis] for axis in order)
    return (
        f"Permutes the axes of C-contiguous arrays of shape {extents} and dtype {dtype}\n"
        f"(itemsize {itemsize}) by {order}: the output, C-contiguous too, has shape\n"
        f"{out}, and its axis i is the input's axis {order}[i].\n"
        "\n"
        "`batch` arrays are permuted, which begin in_stride and out_stride elements apart; no two\n"
        "of the outputs and no input and output may overlap. The pointers need no alignment.\n"
        "\n"
        f"Made by ttlg {_core.__version__} after Y. Chen et al., GenTT: Generate Vectorized Codes for\n"
        "General Tensor Permutation, sections 4 to 6. Below is its program: registers of equal\n"
        "lanes, offsets in bytes, and for a shuffle the lanes that the result's lanes come from,\n"
        "those of the second register counted after those of the first, '-' where any will do.\n"
    )


def generate_with_counts(
    shape: Integers,
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    isa: str | None = None,
    name: str = "permute",
    **options: Any,
) -> dict[str, Any]:
    """Make what `generate` returns, and counts of the program; options are those of ablations."""
    extents = read_extents(shape)
    order = _core.normalize_axes(axes, extents)
    label, itemsize = describe_dtype(dtype)
    if isa is not None and not isinstance(isa, str):
        raise TypeError(f"isa must be a name, not {isa!r}")
    wanted = _core.isa_in_use() if isa is None else isa
    function = _check_name(name)
    text = _describe(extents, order, label, itemsize)
    try:
        request = _core.Request(
            extents, _core.contiguous_byte_strides(extents, itemsize), itemsize, order
        )
        return _core.generate(request, wanted, function, text, **options)
    except ValueError as error:
        raise ValueError(
            f"cannot generate code for shape {extents} by axes {order}: {error}"
        ) from None


def generate(
    shape: Integers,
    axes: Axes | None = None,
    dtype: Any = "float32",
    *,
    isa: str | None = None,
    name: str = "permute",
) -> str:
    """Write a C++ function that permutes the axes of arrays of one shape.

    For programs that know their permutation when they are built: the function needs neither ttlg
    nor any other library, and has no calls and no allocations. It is made for arrays that lie in
    the processor's caches, and moves them on the thread that calls it; where arrays are larger,
    `transpose` is the one that cuts them into blocks and uses all cores.

    Parameters
    ----------
    shape : iterable of int
        Shape of the input, which is C-contiguous.
    axes : iterable of int, optional
        As for `transpose`; reversed by default.
    dtype : dtype or str
        As for `plan`. Only its size matters.
    isa : str, optional
        The instruction set: ``"ssse3"``, ``"avx2"``, ``"avx512"`` (F, BW, DQ and VL),
        ``"avx512vbmi"``, ``"neon"``, or ``"sve2-128"``, ``"sve2-256"`` or ``"sve2-512"`` for
        machines whose registers have that many bits. By default the one in use here, ``"ssse3"`` where
        that is SSE2.
    name : str
        What the function is called.

    Returns
    -------
    str
        A C++ source (C++11 or later, GCC or Clang), without warnings under ``-Wall -Wextra``. Its
        function is

        ``void name(const void* from, void* to, std::size_t batch, std::ptrdiff_t in_stride,
        std::ptrdiff_t out_stride)``

        and permutes `batch` arrays, `in_stride` elements apart in the input and `out_stride`
        elements apart in the output. A comment above it says what it does and shows its program.
        For x86 the function itself says what instructions it needs; for SVE2 the compiler has to be
        told, as the comment shows.

    Raises
    ------
    TypeError
        `shape` or `axes` are no integers, the dtype is none or holds Python objects, `isa` or
        `name` is no string.
    ValueError
        `axes` is no permutation, an extent is negative, `isa` is none of the above, or `name`
        cannot be a function's name.

    See Also
    --------
    transpose : Permutes an array now.
    Plan.shuffle_program : The same kind of program, as the library interprets it.

    Notes
    -----
    The method is that of GenTT: elements are loaded in registers of up to 64 bytes, permuted by a
    butterfly of at most log2(w) shuffles for each register of w elements (sections 4.2 and 4.3), and
    stored in registers again. Extents that are no powers of two are padded in registers alone
    (section 5.3), or their registers overlap. Of all such programs that fit in the registers of the
    instruction set, the one with the fewest instructions for an element is taken.

    Examples
    --------
    >>> import ttlg
    >>> code = ttlg.generate((8, 8), (1, 0), "float32", isa="avx2", name="transpose_8x8")
    >>> print(code[code.index("void") : code.index(" {")])
    void transpose_8x8(const void* from, void* to, std::size_t batch,
        std::ptrdiff_t in_stride, std::ptrdiff_t out_stride)
    """
    code: str = generate_with_counts(shape, axes, dtype, isa=isa, name=name)["code"]
    return code
