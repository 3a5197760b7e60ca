"""Equations to test with, and arrays of small whole numbers in every layout.

Sums of so few and so small whole numbers are exact in every dtype, in any order of the sums. So
results are compared for equality, and an element that is left out or taken twice always shows.
"""

import itertools
import math
import string
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

import ttlg

FLOATS = ("float32", "float64", "complex64", "complex128")
# Contractions of two tensors that are published as hard to bring into the form of matrices, and
# easy ones.
PUBLISHED = (
    "abcd,dbea->ec",
    "abcde,efbad->cf",
    "abcde,ecbfa->fd",
    "abcd,ea->ebcd",
    "abcd,be->aecd",
    "dega,gfbc->abcdef",
    "gdab,efgc->abcdef",
    "aebf,dfce->abcd",
    "acd,db->abc",
)
NAMED = {
    "matrix product": "ab,bc->ac",
    "product of transposed matrices": "ba,cb->ca",
    "stack of matrix products": "lab,lbc->lac",
    "stack that varies fastest": "abl,bcl->acl",
    "stack in the middle": "alb,lbc->cla",
    "matrix and vector": "ab,b->a",
    "scalar product": "abcd,dbca->",
    "sum of one operand's label": "abx,bc->ca",
    "diagonal of one operand": "aab,bc->ca",
    **{equation: equation for equation in PUBLISHED},
}


def random_values(shape, dtype, seed=0):
    """Return a C-contiguous array of whole numbers from -2 to 2, complex ones with both parts."""
    random = np.random.default_rng(seed)
    values = random.integers(-2, 3, shape).astype(np.float64)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * random.integers(-2, 3, shape)
    return np.abs(values).astype(dtype) if np.dtype(dtype).kind in "ub" else values.astype(dtype)


def named_operands(equation, dtype="float64", least=None):
    """Return arrays for an equation, whose extents all differ: from `least`, or of 20000 products."""
    labels = sorted(set(equation) - set(",->"))
    if least is None:
        least = {2: 150, 3: 28, 4: 11, 5: 6}.get(len(labels), 4)
        assert math.prod(range(least, least + len(labels))) > 2**14
    extents = {label: least + number for number, label in enumerate(labels)}
    terms = equation.split("->")[0].split(",")
    return [
        random_values([extents[label] for label in term], dtype, seed)
        for seed, term in enumerate(terms)
    ]


def planned(equation, operands, **options):
    """Plan a contraction for the shapes, strides and dtype of the operands."""
    shapes, strides = zip(*((x.shape, x.strides) for x in operands), strict=True)
    return ttlg.contraction(equation, *shapes, strides=strides, dtype=operands[0].dtype, **options)


def check(result, expected):
    """Compare a result with that of NumPy: shape, dtype and every element."""
    assert np.shape(result) == np.shape(expected)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


class Layout(NamedTuple):
    """How the axes of an array lie in memory.

    Attributes
    ----------
    order : tuple of int
        The axes, slowest first.
    kinds : tuple of str
        For each axis "plain", "back" (negative stride), "step" (every second element), "slice"
        (a part of a longer axis) or "zero" (all indices are the same element).
    offset : int
        Bytes between an aligned address and the first element.
    writable : bool
        Whether the array may be written to.
    """

    order: tuple[int, ...]
    kinds: tuple[str, ...]
    offset: int
    writable: bool

    def of(self, shape, dtype, seed):
        """Return an array of this layout."""
        factors = {"step": 2, "slice": 1, "back": 1, "plain": 1}
        block = []
        for axis in self.order:
            kind, extent = self.kinds[axis], shape[axis]
            block.append(1 if kind == "zero" else factors[kind] * extent + 3 * (kind == "slice"))
        values = random_values(block, dtype, seed)
        raw = np.zeros(values.nbytes + 64, np.uint8)
        x = np.ndarray(values.shape, values.dtype, raw, self.offset - raw.ctypes.data % 16 + 16)
        x[...] = values
        for place, axis in enumerate(self.order):
            chosen = {"step": slice(None, None, 2), "back": slice(None, None, -1)}
            chosen["slice"] = slice(2, 2 + shape[axis])
            x = x[(*[slice(None)] * place, chosen.get(self.kinds[axis], slice(None)))]
        x = np.broadcast_to(x.transpose(np.argsort(self.order)), shape)
        if self.writable and "zero" not in self.kinds:
            x.flags.writeable = True
        return x


@st.composite
def layouts(draw, rank):
    """Draw a layout; half of them are C-contiguous."""
    plain = ["plain"] * rank
    if draw(st.booleans()):
        return Layout(tuple(range(rank)), tuple(plain), 0, True)
    kinds = st.sampled_from(["plain", "plain", "plain", "back", "step", "slice", "zero"])
    return Layout(
        tuple(draw(st.permutations(range(rank)))),
        tuple(draw(st.lists(kinds, min_size=rank, max_size=rank))),
        draw(st.sampled_from([0, 0, 8, 1])),
        draw(st.booleans()),
    )


class Problem(NamedTuple):
    """An equation, and a shape and layout for each operand."""

    equation: str
    shapes: tuple[tuple[int, ...], ...]
    layouts: tuple[Layout, ...]

    def arrays(self, dtype):
        """Return the operands; `dtype` is one for all, or one for each of them."""
        dtypes = [dtype] * len(self.shapes) if isinstance(dtype, str) else dtype
        parts = zip(self.layouts, self.shapes, dtypes, itertools.count(), strict=False)
        return [layout.of(shape, each, seed) for layout, shape, each, seed in parts]


@st.composite
def problems(
    draw, least=1, most=4, labels="abcdeF", extents=(0, 1, 1, 2, 2, 2, 3, 3, 4), plain=False
):
    """Draw an equation of any form that NumPy reads; `plain` ones have no ellipses.

    Labels may be repeated in a term, stand in one term or in all, and have extent 1 in some.
    """
    sizes = {label: draw(st.sampled_from(extents)) for label in labels}
    number = draw(st.integers(least, most))
    ellipsis = [] if plain else draw(st.just([]) | st.lists(st.sampled_from((1, 2, 3)), max_size=2))
    terms, shapes = [], []
    has_ellipsis = not plain and draw(st.integers(0, 3)) == 3
    for _ in range(number):
        term = draw(st.lists(st.sampled_from(labels), max_size=5))
        flat = draw(st.sets(st.sampled_from(labels), max_size=2)) if draw(st.booleans()) else ()
        shape = [1 if label in flat else sizes[label] for label in term]
        text = list(term)
        if has_ellipsis and draw(st.booleans()):
            place = draw(st.integers(0, len(term)))
            own = ellipsis[draw(st.integers(0, len(ellipsis))) :]
            own = [draw(st.sampled_from((1, extent))) for extent in own]
            shape[place:place] = own
            text.insert(place, "...")
        terms.append("".join(text))
        shapes.append(tuple(shape))
    equation = ",".join(terms)
    if draw(st.integers(0, 3)) > 0:
        found = sorted(set(equation) & set(string.ascii_letters))
        output = draw(st.lists(st.sampled_from(found), unique=True)) if found else []
        if "..." in equation:
            output.insert(draw(st.integers(0, len(output))), "...")
        equation += "->" + "".join(output)
    return Problem(equation, tuple(shapes), tuple(draw(layouts(len(shape))) for shape in shapes))


@st.composite
def products_of_matrices(draw, labels="abcdef"):
    """Draw an equation of two operands with free, summed and stacked labels in any order."""
    places = {"first": (0, 2), "second": (1, 2), "summed": (0, 1), "stacked": (0, 1, 2)}
    roles = st.sampled_from(["first", "second", "summed", "summed", "stacked"])
    terms = [["a"], ["a"], []]
    sizes = {"a": draw(st.integers(2, 4))}
    for label in labels[1 : 1 + draw(st.integers(1, len(labels) - 1))]:
        sizes[label] = draw(st.sampled_from((1, 2, 2, 3, 4)))
        for place in places[draw(roles)]:
            terms[place].append(label)
    first, second, output = ("".join(draw(st.permutations(term))) for term in terms)
    shapes = tuple(tuple(sizes[label] for label in term) for term in (first, second))
    drawn = tuple(draw(layouts(len(shape))) for shape in shapes)
    return Problem(f"{first},{second}->{output}", shapes, drawn)
