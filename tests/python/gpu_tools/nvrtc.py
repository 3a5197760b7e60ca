"""The compiler that CuPy calls at run time. It needs no GPU."""

import contextlib
import ctypes
import ctypes.util
import importlib.util
from pathlib import Path

import ttlg


def _libraries():
    """List those that there may be: of the system, and of Python packages."""
    yield from filter(None, [ctypes.util.find_library("nvrtc")])
    if spec := importlib.util.find_spec("nvidia"):
        for folder in map(Path, spec.submodule_search_locations):
            for path in sorted(folder.glob("*/lib/libnvrtc.so.*")):
                # It looks for this one by its name alone.
                for builtins in path.parent.glob("libnvrtc-builtins.so.*"):
                    ctypes.CDLL(str(builtins))
                yield str(path)


def load():
    for path in _libraries():
        with contextlib.suppress(OSError):
            return Nvrtc(ctypes.CDLL(path))
    return None


class Nvrtc:
    """The library, which finds ttlg's headers."""

    def __init__(self, library):
        self._library = library

    def compile(self, source, *options, kernels=()):
        """Return the PTX, empty if there were errors, and the compiler's log.

        `kernels` names instances of templates.
        """
        program = ctypes.c_void_p()
        created = self._library.nvrtcCreateProgram(
            ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None
        )
        assert created == 0
        for name in kernels:
            assert self._library.nvrtcAddNameExpression(program, name.encode()) == 0
        given = [f"-I{ttlg.get_include()}".encode(), *map(str.encode, options)]
        failed = self._library.nvrtcCompileProgram(
            program, len(given), (ctypes.c_char_p * len(given))(*given)
        )
        result = ("" if failed else self._text(program, "PTX"), self._text(program, "ProgramLog"))
        self._library.nvrtcDestroyProgram(ctypes.byref(program))
        return result

    def _text(self, program, name):
        size = ctypes.c_size_t()
        assert self._library[f"nvrtcGet{name}Size"](program, ctypes.byref(size)) == 0
        buffer = ctypes.create_string_buffer(size.value)
        assert self._library[f"nvrtcGet{name}"](program, buffer) == 0
        return buffer.value.decode().strip()
