"""What ttlg.transform has to return, by NumPy and ml_dtypes alone."""

import ml_dtypes
import numpy as np

TYPES = (
    *["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "int64"],
    *[
        "float8_e4m3fn",
        "float8_e5m2",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ],
)
SMALL = {"bfloat16", "float8_e4m3fn", "float8_e5m2"}


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name) if name in SMALL else name)


def is_integral(dtype):
    return dtype.kind in "biu"


def computed_in(source, result):
    """Return the type of a computation."""
    long = ("uint32", "int32", "int64", "float64", "complex128")
    return np.dtype("f8" if source.name in long or result.name in long else "f4")


def _to_odd(x):
    """Round float64 to float32 so that a second rounding is as good as one."""
    y = x.astype("f4")
    y = np.where(np.abs(y.astype("f8")) > np.abs(x), np.nextafter(y, np.float32(0)), y)
    odd = (y.view("u4") | 1).view("f4")
    return np.where((y == x) | np.isnan(x), y, odd)


def _to_integers(y, dtype, saturate):
    limits = np.iinfo(dtype)
    whole = np.where(np.isnan(y), 0, np.rint(y))
    fits = (whole >= -(2.0**63)) & (whole < 2.0**63)
    inside = np.where(fits, whole, 0).astype("i8")
    if not saturate:
        return inside.astype(dtype)
    above, below = whole >= 2.0**63, whole < -(2.0**63)
    result = np.clip(inside, limits.min, limits.max)
    return np.where(above, limits.max, np.where(below, limits.min, result)).astype(dtype)


def convert(y, dtype, saturate=True):
    """Convert what was computed, of parts of numbers, to a type that is not complex."""
    if dtype.kind == "b":
        return y != 0
    if is_integral(dtype):
        return _to_integers(y, dtype, saturate)
    if dtype.name in SMALL and y.dtype == "f8":
        y = _to_odd(y)
    return y.astype(dtype)


def transform(x, dtype, scale=None, offset=None, beta=None, out=None, conj=False, saturate=True):
    """Compute an array whose axes have been permuted, by values that broadcast."""
    dtype = np.dtype(dtype)
    computes = any(value is not None for value in (scale, offset, beta))
    with np.errstate(all="ignore"):
        if is_integral(x.dtype) and is_integral(dtype) and not computes:
            return _integers(x, dtype, saturate)
        part = computed_in(x.dtype, dtype)
        is_pair = x.dtype.kind == "c" and dtype.kind == "c"
        y = [p.astype(part) for p in ((x.real, x.imag) if is_pair else (x.real,))]
        if conj and is_pair:
            y[1] = -y[1]
        if scale is not None:
            y = _multiply(y, scale, part)
        if offset is not None:
            y = [p + part.type(q) for p, q in zip(y, _parts(offset, part), strict=False)]
        if beta is not None:
            old = [p.astype(part) for p in ((out.real, out.imag) if is_pair else (out.real,))]
            y = [p + q for p, q in zip(y, _multiply(old, beta, part), strict=True)]
        if dtype.kind != "c":
            return convert(y[0], dtype, saturate)
        result = np.zeros(x.shape, dtype)
        result.real = y[0]
        if is_pair:
            result.imag = y[1]
        return result


def _parts(value, part):
    value = np.asarray(value)
    return value.real.astype(part), value.imag.astype(part)


def _multiply(y, factor, part):
    real, imaginary = _parts(factor, part)
    if np.asarray(factor).dtype.kind != "c":
        return [p * real for p in y]
    return [y[0] * real - y[1] * imaginary, y[0] * imaginary + y[1] * real]


def _integers(x, dtype, saturate):
    if dtype.kind == "b" or not saturate:
        return x.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(x.astype("i8"), limits.min, limits.max).astype(dtype)


def hostile(dtype):
    """Return every value of a type of 16 bits, or a choice of what is hard to convert."""
    if dtype.kind == "b":
        return np.array([False, True] * 21)
    if dtype.itemsize <= 2:
        return np.arange(2 ** (8 * dtype.itemsize)).astype(f"u{dtype.itemsize}").view(dtype)
    if dtype.kind == "c":
        parts = hostile(np.dtype(f"f{dtype.itemsize // 2}"))
        return np.concatenate([parts, parts[::-7]])[: parts.size // 2 * 2].view(dtype)
    random = np.random.default_rng(dtype.itemsize)
    if is_integral(dtype):
        limits = np.iinfo(dtype)
        near = np.concatenate(
            [np.arange(-300, 301), *(2**k + np.arange(-3, 4) for k in range(7, 62))]
        )
        known = np.concatenate([near, -near]).clip(limits.min, limits.max).astype(dtype)
        ends = np.array([limits.min, limits.max, limits.max - 1], dtype)
        return np.concatenate([known, ends, random.integers(limits.min, limits.max, 500, dtype)])
    word = f"u{dtype.itemsize}"
    patterns = random.integers(0, 2 ** (8 * dtype.itemsize) - 1, 4000, word, endpoint=True)
    # What float16, bfloat16, float8 and integers round half way, and a unit beside that.
    with np.errstate(all="ignore"):
        halves = [
            (values[:-1].astype("f8") + values[1:].astype("f8")) / 2
            for values in (hostile(dtype_of(name)) for name in ("float16", *sorted(SMALL)))
        ]
        halves.append(np.arange(-70000, 70000, 250.5))
        halves.append(
            np.array([2.0**k + d for k in (7, 8, 15, 16, 31, 32, 63) for d in (-1, -0.5, 0, 1)])
        )
        middle = np.concatenate(halves).astype(dtype)
        middle = np.concatenate([middle, -middle])
        near = [np.nextafter(middle, dtype.type(to)) for to in (-np.inf, np.inf)]
    return np.concatenate([middle, *near, patterns.view(dtype)])


def assert_same(actual, expected):
    """Compare bit for bit; NaN by their signs alone."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if expected.dtype.kind == "c":
        assert_same(actual.real, expected.real)
        assert_same(actual.imag, expected.imag)
        return
    word = f"u{expected.dtype.itemsize}"
    got, wanted = (np.ascontiguousarray(each).view(word) for each in (actual, expected))
    differs = got != wanted
    if not is_integral(expected.dtype):
        with np.errstate(invalid="ignore"):  # which ml_dtypes raises
            differs &= ~(np.isnan(actual) & np.isnan(expected))
    places = np.argwhere(differs)
    assert not places.size, (
        f"{len(places)} of {expected.size} differ, first at {places[0]}: "
        f"{actual[tuple(places[0])]!r}, not {expected[tuple(places[0])]!r}"
    )
