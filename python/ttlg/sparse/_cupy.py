"""CuPy's sparse COO matrices."""

import sys
from typing import Any

from ttlg.sparse._adapter import Adapter
from ttlg.sparse._cuda import check_algorithm, transpose_coo


class CuPy(Adapter):
    """Matrices of ``cupyx.scipy.sparse``, which are on a device."""

    library = "CuPy"
    formats = ("coo",)

    def owns(self, x: Any) -> bool:
        """Whether `x` is one of CuPy's sparse matrices."""
        return any(cls.__module__.startswith("cupyx.scipy.sparse") for cls in type(x).__mro__)

    def check(self, x: Any) -> None:
        """Refuse compressed matrices."""
        if x.format != "coo":
            raise BufferError(
                f"A has CuPy's format {x.format!r}, and ttlg sorts COO matrices alone on a device; "
                "pass A.tocoo(), or A.get(), which copies A to the host"
            )

    def format(self, x: Any) -> str:
        """Name the format."""
        return str(x.format)

    def transpose_on_device(
        self, x: Any, axes: tuple[int, ...], fmt: str, algorithm: str, sum_duplicates: bool
    ) -> Any:
        """Sort the nonzeros on CuPy's stream of the moment, without waiting for it."""
        cupy = sys.modules["cupy"]
        check_algorithm(algorithm, f"on device {x.data.device.id}", ".get()")
        if fmt != "coo":
            raise BufferError(
                f"format {fmt!r} is made on the host, and A is on device {x.data.device.id}; pass "
                "A.get(), which copies A to the host"
            )
        modes = [cupy.ascontiguousarray(mode) for mode in (x.row, x.col)]
        values = cupy.ascontiguousarray(x.data)
        with x.data.device:
            coords, moved = transpose_coo(
                modes,
                values,
                x.shape,
                axes,
                False,
                empty=lambda count: cupy.empty(count, dtype="uint8"),
                pointer_of=lambda array: array.data.ptr,
                device=x.data.device.id,
                stream=cupy.cuda.get_current_stream().ptr,
            )
        row, col = coords.view(modes[0].dtype).reshape(2, len(values))
        result = type(x)(
            (moved.view(values.dtype), (row, col)), shape=tuple(x.shape[axis] for axis in axes)
        )
        if sum_duplicates:
            result.sum_duplicates()
        return result
