"""A typed program as users write them: mypy checks the types it states, and a test runs it."""

import array
import ctypes
import os
import tempfile
from pathlib import Path
from typing import Any, Literal, assert_type

import jax
import numpy as np
import numpy.typing as npt
import torch
import xarray

import ttlg

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Raw = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], tuple[int, ...]]


def numpy_arrays(x: npt.NDArray[np.float32], matrix: Matrix) -> None:
    assert_type(ttlg.transpose(x), npt.NDArray[np.float32])
    assert_type(ttlg.transpose(x, (1, 0), threads=1), npt.NDArray[np.float32])
    assert_type(ttlg.permute_dims(x, (1, 0)), npt.NDArray[np.float32])
    assert_type(ttlg.transpose(matrix), Matrix)  # the rank stays
    assert_type(ttlg.moveaxis(matrix, (0, np.int64(1)), [1, 0]), Matrix)
    assert_type(ttlg.moveaxis(matrix, 0, -1, out=torch.empty(3, 2)), torch.Tensor)
    assert_type(ttlg.swapaxes(x, 0, np.int8(1), threads=1), npt.NDArray[np.float32])


def named_axes(x: xarray.DataArray, variable: xarray.Variable) -> None:
    assert_type(ttlg.transpose(x, ("y", ...)), xarray.DataArray)
    assert_type(ttlg.permute_dims(x, ("y", "x")), xarray.DataArray)
    assert_type(ttlg.permute(variable, "y", ..., threads=1), xarray.Variable)
    assert_type(ttlg.moveaxis(x, "x", -1), xarray.DataArray)
    assert_type(ttlg.swapaxes(x, "x", "y"), xarray.DataArray)
    assert_type(ttlg.flip(x, "x"), xarray.DataArray)
    assert_type(ttlg.rot90(x, axes=("y", "x")), xarray.DataArray)


def other_spellings(matrix: Matrix, tensor: torch.Tensor, view: memoryview) -> None:
    assert_type(ttlg.permute(matrix, 1, 0), Matrix)
    assert_type(ttlg.permute(tensor, (1, np.int64(0)), threads=1), torch.Tensor)
    assert_type(ttlg.permute(matrix, 1, 0, out=torch.empty(3, 2)), torch.Tensor)
    assert_type(ttlg.permute(view, 1, 0), np.ndarray[Any, Any])
    assert_type(ttlg.movedim(tensor, 0, 1), torch.Tensor)
    assert_type(ttlg.flip(matrix), Matrix)
    assert_type(ttlg.flip(tensor, (0, 1)), torch.Tensor)
    assert_type(ttlg.flip(view, 0), np.ndarray[Any, Any])
    assert_type(ttlg.rot90(matrix, 3, (1, 0)), Matrix)
    assert_type(ttlg.rot90(view, np.int8(2)), np.ndarray[Any, Any])


def contractions(matrix: Matrix, tensor: torch.Tensor, traced: jax.Array) -> None:
    assert_type(ttlg.einsum("ij,kj->ik", matrix, matrix, threads=1), npt.NDArray[np.float32])
    assert_type(ttlg.einsum("ij,kj,kl", matrix, matrix, matrix), npt.NDArray[np.float32])
    assert_type(ttlg.einsum("ij->ji", tensor), torch.Tensor)
    assert_type(ttlg.einsum("ij,kj->ik", traced, traced, optimize=True), jax.Array)
    assert_type(ttlg.einsum("ij->ij", matrix, out=torch.empty(2, 3)), torch.Tensor)
    assert_type(ttlg.einsum(matrix, [0, 1], [0]), Any)
    assert_type(ttlg.tensordot(matrix, matrix, ((1,), (1,))), npt.NDArray[np.float32])
    assert_type(ttlg.tensordot(tensor, tensor, 0, threads=1), torch.Tensor)
    assert_type(ttlg.tensordot(traced, traced, (1, 1)), jax.Array)
    assert_type(ttlg.tensordot(matrix, matrix, (1, 1), out=torch.empty(2, 2)), torch.Tensor)


def sparse_tensors(
    raw: tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], tuple[int, int]],
    tensor: torch.Tensor,
    format: str = "coo",
) -> None:
    assert_type(ttlg.sparse.transpose(raw, (1, 0)), Raw)
    fibers = ttlg.sparse.transpose(raw, format="csf", threads=1)
    assert_type(fibers, ttlg.sparse.CSF)
    assert_type(ttlg.sparse.transpose(fibers), ttlg.sparse.CSF)
    assert_type(ttlg.sparse.transpose(fibers, format="raw"), Raw)
    assert_type(ttlg.sparse.transpose(tensor.to_sparse(), sum_duplicates=True), torch.Tensor)
    assert_type(ttlg.sparse.transpose(tensor.to_sparse(), format="coo"), Any)
    assert_type(ttlg.sparse.transpose(tensor.to_sparse(), format=format), Any)


def libraries(tensor: torch.Tensor, parameter: torch.nn.Parameter, traced: jax.Array) -> None:
    assert_type(ttlg.transpose(tensor), torch.Tensor)
    assert_type(ttlg.transpose(parameter.detach(), (1, 0)), torch.Tensor)
    assert_type(ttlg.transpose(traced), jax.Array)


def buffers(x: Matrix, view: memoryview, out: memoryview) -> None:
    assert_type(ttlg.transpose(view, (1, 0)), np.ndarray[Any, Any])
    assert_type(ttlg.transpose((ctypes.c_int * 3)()), np.ndarray[Any, Any])
    assert_type(ttlg.permute_dims(array.array("d", [1, 2]), (0,)), np.ndarray[Any, Any])
    assert_type(ttlg.moveaxis(view, 0, 1), np.ndarray[Any, Any])
    assert_type(ttlg.swapaxes(view, 0, 1), np.ndarray[Any, Any])
    assert_type(ttlg.transpose(x, out=out), memoryview)
    assert_type(ttlg.transpose(view, out=torch.empty(3, 2)), torch.Tensor)
    ttlg.copyto(out, x.T)


def axes_of_many_kinds(x: Matrix, tensor: torch.Tensor) -> None:
    for axes in ([1, 0], (-1, 0), range(2), np.array([1, 0]), (np.int64(1), np.uint8(0))):
        assert_type(ttlg.transpose(x, axes), Matrix)
    assert_type(ttlg.transpose(x, iter([1, 0])), Matrix)
    assert_type(ttlg.permute_dims(x, torch.tensor([1, 0])), Matrix)
    ttlg.plan(tensor.shape, np.arange(2), tensor.dtype, strides=(4 * n for n in tensor.stride()))


def results_in_given_memory(
    x: Matrix, tensor: torch.Tensor, out: Matrix | None = None
) -> Matrix | torch.Tensor:
    assert_type(ttlg.transpose(x, out=torch.empty(3, 2)), torch.Tensor)
    assert_type(ttlg.transpose(tensor, out=np.empty((3, 2), np.float32)), Matrix)
    assert_type(ttlg.transpose(x, out=out), Matrix)
    return ttlg.transpose(x, out=out)


def plans(x: Matrix, tensor: torch.Tensor) -> None:
    plan = ttlg.plan(x.shape, dtype=x.dtype, tune="measure", kernel="strided_copy")
    assert_type(plan, ttlg.Plan[ttlg.Candidate])
    assert_type(plan(x), Matrix)
    assert_type(plan(x, torch.empty(3, 2)), torch.Tensor)
    assert_type(plan(tensor, out=None), torch.Tensor)
    assert_type(plan.kernel, str)
    assert_type(plan.schema, ttlg.CudaKernel | None)
    assert_type(plan.candidates(), list[ttlg.Candidate])
    for candidate in plan.candidates():
        assert_type(candidate.parameters, dict[str, Any])
        assert_type(candidate.measured_seconds, float | None)
        ttlg.plan(x.shape, dtype=x.dtype, kernel=candidate.kernel)
    on_gpu = ttlg.plan(x.shape, device="tesla-k40c").candidates()
    assert_type(on_gpu, list[ttlg.CudaCandidate])
    assert_type(on_gpu[0].features, dict[str, int])
    in_place = ttlg.plan(x.shape, device="cpu", inplace=True, workspace="1M")
    assert_type(in_place.candidates(), list[ttlg.Candidate])
    either = devices("tesla-k40c")
    assert_type(either, ttlg.Plan)
    assert_type(either.candidates(), list[ttlg.Candidate | ttlg.CudaCandidate])


def devices(name: str) -> ttlg.Plan:
    return ttlg.plan((2, 3), device=name)


def predictions(tensor: torch.Tensor) -> float:
    assert_type(ttlg.predict_time(tensor.shape, (1, 0), tensor.dtype), float)
    assert_type(ttlg.predict_time((2, 3), device="nvidia-h200", output="warm"), float)
    prediction = ttlg.predict_time((2, 3), full=True)
    assert_type(prediction, ttlg.Prediction)
    assert_type(prediction.kernel, str)
    many = ttlg.predict_times([((2, 3), (1, 0)), ([4, 5], None)], np.float64, threads=1)
    assert_type(many, npt.NDArray[np.float64])
    assert_type(ttlg.plan((2, 3)).predicted_time, float)
    return prediction.low


def loops() -> tuple[int, ...]:
    order = ttlg.loop_order((2, 3, 4), (2, 0, 1), np.float64, threads=1)
    assert_type(order, ttlg.LoopOrder)
    assert_type(order.comet_cost, float)
    return order.planned


def forced(kernel: ttlg.CpuKernel | None, tune: Literal["model", "measure"]) -> ttlg.Plan:
    return ttlg.plan((2, 3), kernel=kernel, tune=tune)


@ttlg.threads(1)
def number_of_threads() -> int:
    return ttlg.get_num_threads()


def settings() -> ttlg.CacheInfo:
    assert_type(number_of_threads(), int)
    with ttlg.threads(None):
        ttlg.set_num_threads(None)
    with ttlg.set_result_pool("1GB") as limit:
        assert_type(limit, int)
    assert_type(ttlg.set_result_pool(None), ttlg.ResultPoolLimit)
    assert_type(ttlg.show_config(), ttlg.Config)
    assert_type(ttlg.cache_info().hits, int)
    return ttlg.cache_info()


def files(folder: Path) -> None:
    np.save(folder / "in.npy", np.zeros((2, 3)))
    ttlg.transpose_file(folder / "in.npy", os.path.join(folder, "out.npy"), np.array([1, 0]))


def orders(k: npt.NDArray[np.int64]) -> None:
    assert_type(ttlg.schemes.decode("V1", 3, 9), tuple[int, int])
    columns, rows = ttlg.schemes.decode("V1B", k, 9, 2)
    assert_type(columns, npt.NDArray[np.int64])
    assert_type(ttlg.schemes.encode("V1B", columns, rows, 9, 2), npt.NDArray[np.int64])
    assert_type(ttlg.schemes.encode("V1", 0, rows, 9), npt.NDArray[np.int64])
    assert_type(ttlg.schemes.encode("V1", 1, 2, 9), int)


def main() -> None:
    x = np.zeros((2, 3), np.float32)
    tensor = torch.zeros(2, 3)
    numpy_arrays(x, x)
    libraries(tensor, torch.nn.Parameter(tensor), jax.numpy.zeros((2, 3)))
    array = xarray.DataArray(x, dims=("x", "y"))
    named_axes(array, array.variable)
    other_spellings(x, tensor, x.data)
    contractions(x, tensor, jax.numpy.zeros((2, 3)))
    sparse_tensors((np.array([[0, 1], [2, 0]]), np.ones(2), (2, 3)), tensor)
    buffers(x, x.data, np.zeros((3, 2), np.float32).data)
    axes_of_many_kinds(x, tensor)
    results_in_given_memory(x, tensor, np.empty((3, 2), np.float32))
    plans(x, tensor)
    predictions(tensor)
    loops()
    forced("tile", "model")
    settings()
    orders(np.arange(3))
    with tempfile.TemporaryDirectory() as folder:
        files(Path(folder))


if __name__ == "__main__":
    main()
