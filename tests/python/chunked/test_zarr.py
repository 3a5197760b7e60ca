"""Switching ttlg on and off in Zarr, by functions, by the environment, and not by installing it."""

from importlib import metadata
from pathlib import Path

import pytest

pytest.importorskip("zarr", minversion="3.1")

import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.registry import get_codec_class

import ttlg.zarr

from ..project import test_docs

pytestmark = pytest.mark.usefixtures("default_settings_of_zarr")


def used():
    return default_buffer_prototype().nd_buffer, get_codec_class("transpose")


ZARRS = (zarr.core.buffer.cpu.NDBuffer, zarr.codecs.TransposeCodec)
OURS = (ttlg.zarr.NDBuffer, ttlg.zarr.TransposeCodec)


@pytest.mark.parametrize("function", [ttlg.zarr.enable, ttlg.zarr.disable, ttlg.zarr.enabled])
def test_docstrings(function):
    test_docs.test_docstrings_name_every_parameter(function)


def test_examples():
    failed, attempted = test_docs.doctest.testmod(ttlg.zarr)
    assert failed == 0
    assert attempted > 15


def test_importing_changes_no_setting():
    assert used() == ZARRS


def test_enable_and_disable():
    for switch, expected in ((ttlg.zarr.enable, OURS), (ttlg.zarr.disable, ZARRS)):
        for _ in range(2):
            switch()
            assert used() == expected


def test_enabled_is_undone_at_the_end():
    before = zarr.config.to_dict() if hasattr(zarr.config, "to_dict") else dict(zarr.config.config)
    with ttlg.zarr.enabled():
        assert used() == OURS
        with ttlg.zarr.enabled():
            assert used() == OURS
        assert used() == OURS
    assert used() == ZARRS
    with pytest.raises(KeyError), ttlg.zarr.enabled():
        raise KeyError
    assert used() == ZARRS
    assert dict(zarr.config.config) == before


def test_enabled_puts_back_what_was_set_before():
    ttlg.zarr.enable()
    with ttlg.zarr.enabled():
        pass
    assert used() == OURS
    ttlg.zarr.disable()
    with ttlg.zarr.enabled():
        ttlg.zarr.disable()
        assert used() == ZARRS
    assert used() == ZARRS


@pytest.mark.parametrize("switch", [ttlg.zarr.enable, lambda: ttlg.zarr.enabled().__enter__()])
def test_buffers_on_a_gpu_are_refused(switch):
    with zarr.config.enable_gpu():
        with pytest.raises(
            RuntimeError, match=r'zarr\.config\.set\(\{"buffer": "zarr\.buffer\.cpu'
        ):
            switch()
        assert zarr.config.get("ndbuffer") == "zarr.buffer.gpu.NDBuffer"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Let new processes find ttlg's entry points, as if it were installed."""
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in points.items())]
    folder = tmp_path / "site/of_a_test-1.dist-info"
    folder.mkdir(parents=True)
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: of-a-test\nVersion: 1\n")
    assert len(list(metadata.Distribution.at(folder).entry_points)) == 2
    return {"PYTHONPATH": ":".join([str(folder.parent), str(Path(ttlg.__file__).parents[1])])}


REPORT = """
import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.registry import get_codec_class

print(default_buffer_prototype().nd_buffer.__module__, get_codec_class("transpose").__module__)
"""


def test_installed_it_is_switched_on_by_the_environment_alone(run_python, installed):
    names = {"NDBUFFER": "ttlg.zarr.NDBuffer", "CODECS__TRANSPOSE": "ttlg.zarr.TransposeCodec"}
    on = {f"ZARR_{name}": value for name, value in names.items()}
    assert all(f"{name}={value}" in ttlg.zarr.enable.__doc__ for name, value in on.items())
    for environment, used in (
        ({}, "zarr.core.buffer.cpu zarr.codecs.transpose"),
        (on, "ttlg.zarr ttlg.zarr"),
    ):
        done = run_python(REPORT, **installed, **environment)
        assert (done.stdout, done.stderr) == (f"{used}\n", "")
