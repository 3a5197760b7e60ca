"""What `transpose_file` refuses: files that are not whole ``.npy`` files, and wrong arguments."""

import numpy as np
import pytest

import ttlg
from ttlg._files import npy as _npy

from ..arrays import random_array, saved
from .conftest import names


def damaged(folder):
    """Yield files that are not whole ``.npy`` files, and what is said of each."""
    good = saved(np.zeros((3, 4), "<f4"))
    header = good[:128]
    for content, message in [
        (b"", "not a readable .npy file"),
        (b"PK\x03\x04 a zip archive", "not a readable .npy file"),
        (b"\x93NUMPY\x04\x00" + good[8:], r"unknown format version \(4, 0\)"),
        (b"\x93NUMPY\x03\x00\x04\x00\x00\x00\xff\xff\xff\xff", "not a readable .npy file"),
        (header[:60], "not a readable .npy file"),
        (header.replace(b"(3, 4)", b"(3, -4"), "not a readable .npy file"),
        (header.replace(b"(3, 4)", b"(-1,4)"), r"not a readable .*: shape \(-1, 4\) has a neg"),
        (header.replace(b"<f4", b"<q9"), "not a readable .npy file"),
        (header.replace(b"shape", b"sharp"), "not a readable .npy file"),
        (good[:-1], r"truncated: shape \(3, 4\) of float32 needs 176 bytes, found 175"),
        (header, "needs 176 bytes, found 128"),
    ]:
        path = folder / "in.npy"
        path.write_bytes(content)
        yield path, message


def test_a_damaged_source_is_refused(tmp_path):
    for path, message in damaged(tmp_path):
        with pytest.raises(ValueError, match=message):
            ttlg.transpose_file(path, tmp_path / "out.npy")
        assert names(tmp_path) == ["in.npy"]


def test_objects_are_refused(tmp_path):
    np.save(tmp_path / "in.npy", np.array([[1, None]], object), allow_pickle=True)
    with pytest.raises(TypeError, match=r"in\.npy has dtype object"):
        ttlg.transpose_file(tmp_path / "in.npy", tmp_path / "out.npy")
    assert names(tmp_path) == ["in.npy"]


def test_wrong_arguments_are_refused(source, tmp_path):
    target = tmp_path / "out.npy"
    with pytest.raises(ValueError, match=r"axes \(0, 1\) do not fit shape \(40, 30, 20\)"):
        ttlg.transpose_file(source, target, (0, 1))
    with pytest.raises(ValueError, match="threads must be from 1 to"):
        ttlg.transpose_file(source, target, threads=0)
    assert names(tmp_path) == ["in.npy"]


@pytest.mark.parametrize(
    ("memory", "error", "message"),
    [
        *(
            (text, ValueError, f"memory of {text!r} is not a size such as 268435456")
            for text in ("1 parsec", "-1", "", "nan")
        ),
        *(
            (memory, ValueError, f"memory of {memory} bytes is too little for elements of 4 bytes")
            for memory in (-1, 0, 10)
        ),
        (_npy.MIN_MEMORY - 1, ValueError, "is too little .*; pass at least 1048576 bytes"),
        ("1MB", ValueError, "memory of 1000000 bytes is too little"),
        (True, TypeError, "memory must be a whole number of bytes, not True"),
        (1e30, TypeError, r"memory must be a whole number of bytes, not 1e\+30"),
    ],
)
def test_memory_that_is_refused(source, tmp_path, memory, error, message):
    with pytest.raises(error, match=message):
        ttlg.transpose_file(source, tmp_path / "out.npy", memory=memory)
    assert names(tmp_path) == ["in.npy"]


def test_the_least_memory(source, tmp_path):
    for memory in ("1M", _npy.MIN_MEMORY):
        ttlg.transpose_file(source, tmp_path / "out.npy", memory=memory)
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), np.load(source).T)


def test_memory_holds_an_element_twice(monkeypatch, tmp_path):
    monkeypatch.setattr(_npy, "DEFAULT_MEMORY", _npy.MIN_MEMORY)
    x = random_array((2, 3), "V600000")
    np.save(tmp_path / "in.npy", x)
    with pytest.raises(ValueError, match="elements of 600000 bytes; pass at least 1200000 bytes"):
        ttlg.transpose_file(tmp_path / "in.npy", tmp_path / "out.npy", memory=_npy.MIN_MEMORY)
    ttlg.transpose_file(tmp_path / "in.npy", tmp_path / "out.npy")  # the default grows
    assert (tmp_path / "out.npy").read_bytes() == saved(x.T)
