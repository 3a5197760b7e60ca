"""Enumeration schemes: exact numbers, clear errors, and pictures."""

import io
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ttlg
from ttlg import schemes

LARGEST = 2**31


def listed(scheme, m, w=None, n=None):
    width = w or m
    bands = [range(begin, min(begin + width, m)) for begin in range(0, m, width)]
    if scheme == "V2":
        return [(x, y) for x in range(m) for y in range(x + 1, m)]
    if scheme == "V1R":
        return [(x, y) for y in range(m) for x in range(y - 1, -1, -1)]
    if scheme == "V1BF":
        return [(x, y) for band in bands for y in range(n) for x in band]
    last = 0 if scheme == "V1D" else 1
    return [(x, y) for band in bands for y in range(m) for x in band if x <= y - last]


SMALL = [
    *((scheme, m, None, None) for scheme in ("V1", "V1R", "V1D", "V2") for m in range(1, 12)),
    *(("V1B", m, w, None) for m in range(1, 14) for w in range(1, max(2, m))),
    *(("V1BF", m, w, n) for m in range(1, 8) for w in range(1, m + 1) for n in (1, 2, 5)),
]


@pytest.mark.parametrize("reverse", [False, True])
def test_every_entry_is_numbered_once_and_in_order(reverse):
    for scheme, m, w, n in SMALL:
        entries = listed(scheme, m, w, n)[:: -1 if reverse else 1]
        total = schemes.count(scheme, m, w, n=n)
        assert total == len(entries), (scheme, m, w, n)
        x, y = schemes.decode(scheme, np.arange(total), m, w, n=n, reversed=reverse)
        assert list(zip(x, y, strict=True)) == entries, (scheme, m, w, n)
        if total:
            numbers = schemes.encode(scheme, x, y, m, w, n=n, reversed=reverse)
            assert numbers.tolist() == list(range(total)), (scheme, m, w, n)


def test_names_are_the_schemes_in_any_case():
    assert schemes.names == ("V1", "V1R", "V1D", "V2", "V1B", "V1BF")
    for name in schemes.names[:4]:
        assert schemes.decode(name.lower(), 5, 9) == schemes.decode(name, 5, 9)
    assert ttlg.schemes is schemes


def by_formula(scheme, k, m, w, n):
    """Decode as the paper does (Eqs. 5, 8 and 15, section 6), with exact roots."""
    if scheme == "V1BF":
        band = k // (w * n)
        width = min(w, m - band * w)
        y, x = divmod(k - band * w * n, width)
        return x + band * w, y
    if scheme == "V1D":
        y = (math.isqrt(8 * k + 1) - 1) // 2
        return k - y * (y + 1) // 2, y
    if scheme in ("V1", "V1R"):
        y = (math.isqrt(8 * k + 1) + 1) // 2
        left = k - y * (y - 1) // 2
        return (left if scheme == "V1" else y - 1 - left), y
    if scheme == "V2":
        w = 1
    root_up = math.isqrt((2 * m - 1) ** 2 - 8 * k - 1) + 1
    x0 = (2 * m - 1 - root_up) // (2 * w) * w
    in_band = k - (x0 * m - x0 * (x0 + 1) // 2)
    if in_band < w * (w + 1) // 2:
        x, y = by_formula("V1", in_band, m, w, n)
        return x + x0, y + x0
    row, x = divmod(in_band - w * (w + 1) // 2, w)
    return x + x0, row + x0 + w + 1


@st.composite
def numbered(draw):
    """Draw a scheme, a matrix of up to 2^31 columns and rows, and some of its numbers."""
    scheme = draw(st.sampled_from(schemes.names))
    m = draw(st.integers(2, 100) | st.integers(2, LARGEST) | st.integers(LARGEST - 9, LARGEST))
    n = draw(st.integers(1, LARGEST)) if scheme == "V1BF" else None
    w = draw(st.integers(1, 100) | st.integers(1, m)) if scheme in ("V1B", "V1BF") else None
    if w is not None:
        w = min(w, m if n else m - 1)
    total = schemes.count(scheme, m, w, n=n)
    near = st.integers(0, 50)
    y = st.integers(0, m - 1).map(lambda y: y * (y + 1) // 2)
    x = st.integers(0, m - 1).map(lambda x: x * m - x * (x + 1) // 2)
    drawn = near | near.map(lambda i: total - 1 - i) | y | x | st.integers(0, total - 1)
    moved = st.builds(lambda k, by: min(max(k + by, 0), total - 1), drawn, st.integers(-2, 2))
    return scheme, m, w, n, draw(st.lists(moved, min_size=1, max_size=20))


@given(numbered(), st.booleans())
def test_numbers_and_entries_correspond_for_any_size(drawn, reverse):
    scheme, m, w, n, numbers = drawn
    total = schemes.count(scheme, m, w, n=n)
    x, y = schemes.decode(scheme, np.array(numbers), m, w, n=n, reversed=reverse)
    forward = [total - 1 - k if reverse else k for k in numbers]
    expected = [by_formula(scheme, k, m, w, n) for k in forward]
    assert list(zip(x.tolist(), y.tolist(), strict=True)) == expected
    assert schemes.encode(scheme, x, y, m, w, n=n, reversed=reverse).tolist() == numbers


@pytest.mark.parametrize(
    ("scheme", "k", "m", "w", "entry"),
    [
        ("V1B", 4096, 4098, 1, (0, 4097)),  # 32-bit floating point puts it in the second band
        ("V1", 10619135, 4609, None, (4607, 4608)),  # and this one in row 4609
        ("V1", 10619136, 5000, None, (0, 4609)),
        ("V1", 9007199321849855, 2**28, None, (134217727, 134217728)),  # 64 bits, from here on
        ("V1", 9007199321849856, 2**28, None, (0, 134217729)),
        ("V1B", 941136195699, 118000001, 8, (7975, 118000000)),
        ("V1B", 941136195700, 118000001, 8, (7976, 7977)),
        ("V2", 2**61 - 2**30 - 1, LARGEST, None, (LARGEST - 2, LARGEST - 1)),
        ("V1D", 2**61 + 2**30 - 1, LARGEST, None, (LARGEST - 1, LARGEST - 1)),
    ],
)
def test_numbers_whose_roots_floating_point_gets_wrong(scheme, k, m, w, entry):
    assert schemes.decode(scheme, k, m, w) == entry
    assert schemes.encode(scheme, *entry, m, w) == k


def test_integers_in_are_integers_out():
    for k in (7, np.int8(7), np.uint64(7), np.array(7)):
        x, y = schemes.decode("V1", k, 6)
        assert (x, y) == (1, 4)
        assert type(x) is type(y) is int
    assert type(schemes.encode("V1", np.int8(1), 4, 6)) is int
    assert type(schemes.count("V1", np.int64(6))) is int


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", ">i4"])
def test_arrays_keep_their_shape_whatever_their_dtype_and_strides(dtype):
    k = np.arange(24).astype(dtype).reshape(4, 6).T[::-1]
    x, y = schemes.decode("V2", k, 9)
    assert x.shape == y.shape == k.shape
    assert x.dtype == y.dtype == np.int64
    entries = listed("V2", 9)
    assert [*zip(x.ravel(), y.ravel(), strict=True)] == [entries[i] for i in k.ravel()]
    assert np.array_equal(schemes.encode("V2", x.astype(dtype), y.astype(dtype), 9), k)


def test_columns_and_rows_are_broadcast():
    numbers = schemes.encode("V1BF", np.arange(5), np.arange(3)[:, None], 5, 2, n=3)
    expected = [[listed("V1BF", 5, 2, 3).index((x, y)) for x in range(5)] for y in range(3)]
    assert numbers.tolist() == expected
    assert schemes.encode("V1", [0, 1], 3, 9).tolist() == [3, 4]
    assert schemes.encode("V1", 1, [2, 3], 9).tolist() == [2, 4]


def test_no_numbers_give_no_entries():
    x, y = schemes.decode("V1", np.zeros((0, 3), int), 1)
    assert x.shape == y.shape == (0, 3)
    assert schemes.encode("V1", x, y, 1).shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: schemes.decode("V3", 0, 5), "'V3'.*V1, V1R, V1D, V2, V1B, V1BF"),
        (lambda: schemes.count(5, 5), "unknown scheme 5"),
        (lambda: schemes.decode("V1", 10, 5), r"k must be in 0\.\.9, not 10"),
        (lambda: schemes.decode("V1", -1, 5), r"k must be in 0\.\.9, not -1"),
        (lambda: schemes.decode("V1", [3, 10, 4], 5), r"k must be in 0\.\.9, not 10"),
        (lambda: schemes.decode("V1", [3, -1, 4], 5), r"k must be in 0\.\.9, not -1"),
        (lambda: schemes.decode("V1", 2**70, 5), r"0\.\.9, not 1180591620717411303424"),
        (lambda: schemes.decode("V1", np.array([2**63], "u8"), 5), "not 9223372036854775808"),
        (lambda: schemes.decode("V1", 0, 1), "no entries"),
        (lambda: schemes.encode("V1", 3, 3, 5), "V1 has no.* x = 3 and y = 3.* 0 <= x < y < 5"),
        (lambda: schemes.encode("V1D", [0, 4], [0, 3], 5), "x = 4 and y = 3.* 0 <= x <= y < 5"),
        (lambda: schemes.encode("V2", 0, 5, 5), r"y must be in 0\.\.4, not 5"),
        (lambda: schemes.encode("V1BF", 5, 0, 5, 2, n=3), r"x must be in 0\.\.4, not 5"),
        (lambda: schemes.encode("V1BF", 0, 3, 5, 2, n=3), r"y must be in 0\.\.2, not 3"),
        (lambda: schemes.count("V1B", 5), r"V1B needs w, in 1\.\.4"),
        (lambda: schemes.count("V1B", 5, 5), r"w must be in 1\.\.4 for scheme V1B, not 5"),
        (lambda: schemes.count("V1B", 5, 0), r"w must be in 1\.\.4 for scheme V1B, not 0"),
        (lambda: schemes.count("V1BF", 5, 6, n=3), r"w must be in 1\.\.5"),
        (lambda: schemes.count("V1BF", 5, 2), "V1BF needs n"),
        (lambda: schemes.count("V1", 5, 2), "w is for schemes V1B and V1BF"),
        (lambda: schemes.count("V1B", 5, 2, n=5), "n is for scheme V1BF"),
        (lambda: schemes.count("V1", 0), r"m must be in 1\.\.2147483648 for scheme V1, not 0"),
        (lambda: schemes.count("V1D", LARGEST + 1), "not 2147483649"),
        (lambda: schemes.count("V1BF", LARGEST, 1, n=2**32), r"n must be in 1\.\.4294967295"),
        (lambda: schemes.plot("V1", 101), "101 x 101 is too large"),
    ],
)
def test_errors_say_what_is_allowed(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("k", [1.0, "1", None, [0.5], np.array([True]), np.array([None])])
def test_numbers_have_to_be_integers(k):
    with pytest.raises(TypeError):
        schemes.decode("V1", k, 5)
    with pytest.raises(TypeError):
        schemes.encode("V1", k, k, 5)


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("scheme", "m", "w", "n", "bands"),
    [
        ("v1", 5, None, None, 1),
        ("V1D", 4, None, None, 1),
        ("V1B", 8, 3, None, 3),
        ("V1BF", 6, 2, 4, 3),
    ],
)
def test_plots_show_the_path_and_the_numbers(pyplot, scheme, m, w, n, bands, reverse):
    figure, into = pyplot.subplots()
    axes = schemes.plot(scheme, m, w, n=n, reversed=reverse, ax=into)
    assert axes is into
    entries = listed(scheme.upper(), m, w, n)[:: -1 if reverse else 1]
    path, *edges = axes.lines
    assert [tuple(entry) for entry in path.get_xydata()] == entries
    assert {text.get_position(): int(text.get_text()) for text in axes.texts} == {
        entry: k for k, entry in enumerate(entries)
    }
    assert [line.get_xdata()[0] for line in edges] == [i * w - 0.5 for i in range(1, bands)]
    assert axes.get_xlim() == (-0.5, m - 0.5)
    assert axes.get_ylim() == ((n or m) - 0.5, -0.5)  # rows run downwards
    assert axes.get_title().startswith(scheme.upper())
    assert ("reversed" in axes.get_title()) == reverse
    image = io.BytesIO()
    figure.savefig(image, format="png")
    assert image.getvalue().startswith(b"\x89PNG")


def test_the_largest_plot(pyplot, monkeypatch):
    monkeypatch.setattr(schemes, "_MAX_PLOTTED", 25)
    assert len(schemes.plot("V1", 5).texts) == 10
    with pytest.raises(ValueError, match=r"6 x 6 is too large .* at most 25 entries"):
        schemes.plot("V1", 6)


def test_a_plot_makes_its_own_figure(pyplot):
    first = schemes.plot("V1", 4)
    second = schemes.plot("V2", 4)
    assert first.figure is not second.figure
    assert pyplot.gcf() is second.figure


def test_without_matplotlib_a_plot_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'ttlg\[plot\]'"):
        schemes.plot("V1", 4)


@pytest.mark.parametrize("b", [1, 2, 3, 8, 32, 70])
def test_tiles_by_their_shapes(b):
    for m in range(1, 71):
        counts = [0, 0, 0, 0]
        for y in range(0, m, b):
            for x in range(0, y + 1, b):
                is_whole = y + b <= m
                counts[(0 if x == y else 1) if is_whole else (3 if x == y else 2)] += 1
        assert schemes.tiles(m, b) == tuple(counts), (m, b)


@pytest.mark.parametrize("n", [1, 2, 7, 16, 33])
def test_launches_blocks_and_idle_blocks(n):
    used = sum(1 for y in range(n) for x in range(y + 1))
    for kernel in ("square_v1", "square_v1r", "square_v2", "square_v1b"):
        assert schemes.grid(kernel, n) == (1, used, 0)
    assert schemes.grid("square_ip", n) == (1, n * n, n * n - used)
    for region in (1, 2, 5, 16, 40):
        corners = [(x, y) for y in range(0, n, region) for x in range(0, y + 1, region)]
        launches, blocks, idle = schemes.grid("square_sg", n, region)
        assert (launches, blocks) == (len(corners), len(corners) * region**2)
        visited = sum(
            1
            for x0, y0 in corners
            for y in range(y0, y0 + region)
            for x in range(x0, x0 + region)
            if x <= y < n
        )
        assert visited == used
        assert idle == blocks - used


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: schemes.tiles(0, 3), "m must be in 1"),
        (lambda: schemes.tiles(3, 0), "b must be in 1"),
        (lambda: schemes.grid("square_tw", 3), "kernel 'square_tw' has no tiles; choose one of"),
        (lambda: schemes.grid("square_sg", 3), "region is for square_sg, which needs it"),
        (lambda: schemes.grid("square_ip", 3, 2), "region is for square_sg"),
        (lambda: schemes.grid("square_sg", 3, 0), "region must be in 1"),
        (lambda: schemes.grid("square_ip", 0), "n must be in 1"),
    ],
)
def test_grids_that_there_are_not(call, message):
    with pytest.raises(ValueError, match=message):
        call()
