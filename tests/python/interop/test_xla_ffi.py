"""The handler that compiled JAX programs call, called by hand: XLA itself makes no such mistakes."""

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p

import numpy as np
import pytest

from ttlg import _core

from ..arrays import bits, random_array

F32, S64, U4 = 11, 5, 22
ARRAY, DICTIONARY, SCALAR = 1, 2, 3
INVALID_ARGUMENT = 3
METADATA = 1
PREPARE, EXECUTE = 1, 3


class Extension(Structure):
    _fields_ = (("size", c_size_t), ("type", c_int32), ("next", c_void_p))


class Version(Structure):
    _fields_ = (("size", c_size_t), ("next", c_void_p), ("major", c_int32), ("minor", c_int32))


class Metadata(Structure):
    _fields_ = (("size", c_size_t), ("version", Version), ("traits", c_uint32), ("state", c_int64))


class MetadataExtension(Structure):
    _fields_ = (("base", Extension), ("metadata", POINTER(Metadata)))


class ErrorArguments(Structure):
    _fields_ = (("size", c_size_t), ("next", c_void_p), ("message", c_char_p), ("code", c_int32))


CreateError = ctypes.CFUNCTYPE(c_void_p, POINTER(ErrorArguments))


class Api(Structure):
    _fields_ = (
        *(("size", c_size_t), ("next", c_void_p), ("version", Version), ("internal", c_void_p)),
        ("create_error", CreateError),
    )


class Buffer(Structure):
    _fields_ = (
        *(("size", c_size_t), ("next", c_void_p), ("dtype", c_int32), ("data", c_void_p)),
        *(("rank", c_int64), ("shape", POINTER(c_int64))),
    )


class Operands(Structure):
    _fields_ = (
        *(("size", c_size_t), ("next", c_void_p), ("count", c_int64)),
        *(("types", POINTER(c_int32)), ("values", POINTER(c_void_p))),
    )


class Text(Structure):
    _fields_ = (("data", c_char_p), ("size", c_size_t))


class Array(Structure):
    _fields_ = (("dtype", c_int32), ("size", c_size_t), ("data", c_void_p))


class Scalar(Structure):
    _fields_ = (("dtype", c_int32), ("data", c_void_p))


class Attributes(Structure):
    _fields_ = (
        *(("size", c_size_t), ("next", c_void_p), ("count", c_int64)),
        *(("types", POINTER(c_int32)), ("names", POINTER(POINTER(Text)))),
        ("values", POINTER(c_void_p)),
    )


class CallFrame(Structure):
    _fields_ = (
        *(("size", c_size_t), ("extensions", c_void_p), ("api", POINTER(Api))),
        *(("context", c_void_p), ("stage", c_int32)),
        *(("arguments", Operands), ("results", Operands), ("attributes", Attributes)),
        ("future", c_void_p),
    )


FRAME_BYTES = CallFrame.future.offset
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype = c_void_p
get_pointer.argtypes = (ctypes.py_object, c_char_p)
handler = ctypes.CFUNCTYPE(c_void_p, POINTER(CallFrame))(
    get_pointer(_core.xla_ffi_transpose(), None)
)


def addresses(*values):
    return (c_void_p * len(values))(*(ctypes.cast(ctypes.byref(v), c_void_p) for v in values))


class Call:
    """A call frame for a transposition, which a test may spoil, and everything it points to."""

    def __init__(self, x, out, axes, threads=0):
        self.buffers = [
            Buffer(ctypes.sizeof(Buffer), None, F32, a.ctypes.data, a.ndim, a.ctypes.shape)
            for a in (x, out)
        ]
        self.axes = np.array(axes, np.int64)
        self.threads = c_int64(threads)
        self.attributes = [
            Array(S64, self.axes.size, self.axes.ctypes.data),
            Scalar(S64, ctypes.cast(ctypes.byref(self.threads), c_void_p)),
        ]
        self.attribute_types = (c_int32 * 2)(ARRAY, SCALAR)
        self.names = [Text(b"axes_and_more", 4), Text(b"threads", 7)]
        self.buffer_type = (c_int32 * 1)(1)
        self.stage = EXECUTE
        self.size = FRAME_BYTES
        self.count = 1
        self.error = None

    def run(self):
        """Call the handler; return what it says is wrong, or None."""

        @CreateError
        def create_error(arguments):
            given = arguments.contents
            assert given.size >= ErrorArguments.code.offset + ErrorArguments.code.size
            self.error = (given.code, given.message.decode())
            return 1

        api = Api(create_error=create_error)
        first, second = (
            Operands(40, None, self.count, self.buffer_type, addresses(buffer))
            for buffer in self.buffers
        )
        names = (POINTER(Text) * 2)(*map(ctypes.pointer, self.names))
        values = addresses(*self.attributes)
        attributes = Attributes(48, None, 2, self.attribute_types, names, values)
        frame = CallFrame(
            *(self.size, None, ctypes.pointer(api), None, self.stage, first, second, attributes)
        )
        result = handler(frame)
        assert (result is None) == (self.error is None)
        return self.error


def arrays(shape=(3, 4, 5), axes=(2, 0, 1)):
    x = random_array(shape, "f4")
    out = np.full(x.transpose(axes).shape, 7, "f4")
    return x, out


@pytest.mark.parametrize("threads", [0, 1, 2])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        *((shape, (2, 0, 1)) for shape in [(3, 4, 5), (300, 40, 50), (1, 4, 1), (0, 4, 5)]),
        ((), ()),
        ((2,) * 3 + (1,) * 61, range(63, -1, -1)),
    ],
)
def test_call(shape, axes, threads):
    x, out = arrays(shape, axes)
    assert Call(x, out, axes, threads).run() is None
    assert bits(out) == bits(x.transpose(axes))


def spoil_rank(call):
    extents = (c_int64 * 65)(*[1] * 65)
    for buffer in call.buffers:
        buffer.rank, buffer.shape = 65, extents


def spoil_name(call):
    call.names[0] = Text(b"axis", 4)


SPOILED = {
    "no size in bytes": lambda call: [setattr(b, "dtype", U4) for b in call.buffers],
    "rank 65 exceeds the limit of 64": spoil_rank,
    "another type or shape": lambda call: setattr(call.buffers[1], "dtype", S64),
    "result has another type or shape": lambda call: call.buffers[1].shape.__setitem__(0, 9),
    "one argument": lambda call: setattr(call, "count", 2),
    "a buffer": lambda call: call.buffer_type.__setitem__(0, 2),
    "axes is no permutation of the 3 axes": lambda call: call.axes.__setitem__(0, 1),
    "axes is no permutation": lambda call: setattr(call.attributes[0], "size", 2),
    "axes must be int64": lambda call: setattr(call.attributes[0], "dtype", F32),
    "axes is missing": spoil_name,
    "axes is missing or of another kind": lambda call: call.attribute_types.__setitem__(0, SCALAR),
    "threads must be int64": lambda call: setattr(call.attributes[1], "dtype", F32),
    "threads must be from 0 to 1024": lambda call: setattr(call.threads, "value", -1),
    "threads must be from 0": lambda call: setattr(call.threads, "value", 1025),
    "threads is missing": lambda call: call.attribute_types.__setitem__(1, DICTIONARY),
    "nothing to do at stage 1": lambda call: setattr(call, "stage", PREPARE),
    "call frame is too short": lambda call: setattr(call, "size", FRAME_BYTES - 1),
}


@pytest.mark.parametrize("message", SPOILED)
def test_what_is_wrong_is_an_error_and_nothing_is_written(message):
    x, out = arrays()
    call = Call(x, out, (2, 0, 1))
    SPOILED[message](call)
    code, text = call.run()
    assert code == INVALID_ARGUMENT
    assert text.startswith("ttlg.transpose: ")
    assert message in text
    assert (out == 7).all()


def ask_for_metadata(size):
    metadata = Metadata(size, Version(24), 1, 5)
    extension = MetadataExtension(Extension(32, METADATA), ctypes.pointer(metadata))
    other = Extension(24, 99, ctypes.cast(ctypes.byref(extension), c_void_p))
    frame = CallFrame(FRAME_BYTES, ctypes.cast(ctypes.byref(other), c_void_p), stage=EXECUTE)
    assert handler(frame) is None
    assert metadata.state == 5
    return (metadata.version.major, metadata.version.minor), metadata.traits


def test_metadata():
    version_0_1 = Metadata.traits.offset + Metadata.traits.size
    assert ask_for_metadata(version_0_1) == ((0, 1), 0)
    assert ask_for_metadata(ctypes.sizeof(Metadata)) == ((0, 1), 0)
    # A caller that knows fewer members gets none: XLA then refuses version 0.0.
    assert ask_for_metadata(version_0_1 - 1) == ((0, 0), 1)
