"""The structs that ttlg declares of DLPack and XLA, held to the libraries' own headers."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# The header that declares them, and a member that is another one's, which must be noticed.
HEADERS = {
    "dlpack": ("bindings/dlpack.hpp", "std::uint64_t byte_offset;", "std::uint32_t byte_offset;"),
    "xla": ("xla/ffi.hpp", "void (*others[8])();", "void (*others[7])();"),
}


def _package_headers(name):
    if name == "dlpack":
        torch = pytest.importorskip("torch")
        return Path(torch.__file__).parent / "include"
    return Path(pytest.importorskip("jax.ffi").include_dir())


@pytest.fixture
def compile_against():
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")

    def run(name, own_headers):
        own = ROOT / "tests" / "cpp"
        source = (own / HEADERS[name][0]).with_name(f"{name}_layout.cpp")
        include = (f"-I{own_headers}", f"-I{own}", f"-isystem{_package_headers(name)}")
        command = (compiler, "-std=c++20", "-fsyntax-only", *include, source)
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("name", HEADERS)
def test_structs_lie_as_the_library_declares_them(compile_against, name):
    compiled = compile_against(name, ROOT / "cpp")
    assert compiled.returncode == 0, compiled.stderr


@pytest.mark.parametrize("name", HEADERS)
def test_a_struct_that_differs_does_not_compile(compile_against, name, tmp_path):
    header, member, other = HEADERS[name]
    text = (ROOT / "cpp" / header).read_text()
    assert member in text
    (tmp_path / header).parent.mkdir()
    (tmp_path / header).write_text(text.replace(member, other))
    assert "static assertion failed" in compile_against(name, tmp_path).stderr
