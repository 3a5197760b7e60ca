"""What a transposition in place is held to."""

import ttlg

from ..arrays import bits


def check(x, axes, kernel=None, **options):
    """Transpose in place and compare with NumPy: elements, shape, dtype, memory and order."""
    expected = x.transpose(axes)
    wanted = bits(expected)  # no copy of `expected`, which would leave padding behind
    memory = x.ctypes.data
    in_c_order = x.flags.c_contiguous
    if kernel is None:
        result = ttlg.transpose_inplace(x, axes, **options)
    else:
        result = ttlg.plan_for(x, axes, inplace=True, kernel=kernel, **options)(x)
    assert result.shape == expected.shape
    assert result.dtype == x.dtype
    assert result.ctypes.data == memory
    assert result.flags.c_contiguous if in_c_order else result.flags.f_contiguous
    assert bits(result) == wanted
    return result
