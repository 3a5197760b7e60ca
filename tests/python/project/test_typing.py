"""Types: names as literals are those of the extension, and what mypy checks does run."""

import re
import runpy
import sys
from pathlib import Path
from typing import get_args

import pytest

import ttlg
from ttlg import _core, _models
from ttlg._typing import CudaDevice

PROGRAM = Path(__file__).parents[2] / "typing/program.py"


@pytest.mark.parametrize(
    ("device", "inplace", "kernel", "names"),
    [
        ("cpu", False, ttlg.CpuKernel, _core.CPU_KERNELS),
        ("tesla-k40c", False, ttlg.CudaKernel, _core.CUDA_KERNELS),
        ("cpu", True, ttlg.InplaceKernel, _core.CPU_INPLACE_KERNELS),
        ("tesla-k40c", True, ttlg.CudaInplaceKernel, _core.CUDA_INPLACE_KERNELS),
    ],
)
def test_literals_are_the_names_that_the_extension_knows(device, inplace, kernel, names):
    assert get_args(kernel) == names
    with pytest.raises(ValueError, match="unknown kernel '-'") as caught:
        ttlg.plan((2, 3), device=device, inplace=inplace, kernel="-")
    assert tuple(re.findall(r"'(\w+)'", str(caught.value)[20:])) == names
    for name in names:
        assert f'``"{name}"``' in ttlg.plan.__doc__


def test_literals_are_the_devices_that_need_no_number():
    names = {"cuda", *_models._SHORT_NAMES, *_models.shipped()}
    assert names == set(get_args(CudaDevice))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="typing.assert_type came with Python 3.11")
def test_the_typed_program_runs():
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    pytest.importorskip("xarray")
    runpy.run_path(str(PROGRAM), run_name="__main__")
