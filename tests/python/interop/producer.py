"""A DLPack producer whose every field a test can set, right or wrong."""

import ctypes
import threading
from dataclasses import dataclass, field

import numpy as np

CPU, CUDA, VULKAN = 1, 2, 7
READ_ONLY, SUBBYTE_PADDED = 1, 4
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}

_API_NAME = b"dlpack_exchange_api"
_NAMES = {"versioned": b"dltensor_versioned", "unversioned": b"dltensor"}  # must outlive capsules
_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_EXPORT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
_STREAM = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Unversioned(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _DELETER)]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", _DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


class _ExchangeApi(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("export", _EXPORT),
        ("import", ctypes.c_void_p),
        ("borrow", ctypes.c_void_p),
        ("current_stream", _STREAM),
    ]


@dataclass(eq=False)
class Producer:
    """Exports the memory of `array`, described by the other fields where they are given.

    `strides` counts elements; "null" leaves the pointer empty. A `version` of None is the form
    that came before versions. Deleters are counted, with the thread that ran them.
    """

    array: np.ndarray
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | str | None = None
    dtype: tuple[int, int, int] | None = None  # code, bits, lanes
    byte_offset: int = 0
    device: tuple[int, int] = (CPU, 0)
    version: tuple[int, int] | None = (1, 1)
    flags: int = 0
    null_data: bool = False
    exported: int = 0
    deleted_by: list[int] = field(default_factory=list)
    _alive: dict = field(default_factory=dict)

    def export(self):
        """Export once: the managed tensor's address, and the name of its capsule."""
        shape = self.array.shape if self.shape is None else self.shape
        strides = self.strides
        if strides is None:
            strides = tuple(step // self.array.itemsize for step in self.array.strides)
        dtype = self.dtype or (CODES[self.array.dtype.kind], 8 * self.array.itemsize, 1)
        tensor = _Tensor(
            None if self.null_data else self.array.ctypes.data,
            self.device,
            len(shape),
            *dtype,
            (ctypes.c_int64 * len(shape))(*shape),
            None if strides == "null" else (ctypes.c_int64 * len(shape))(*strides),
            self.byte_offset,
        )
        deleter = _DELETER(self._delete)
        if self.version is None:
            managed = _Unversioned(tensor, None, deleter)
            name = _NAMES["unversioned"]
        else:
            managed = _Versioned(self.version, None, deleter, self.flags, tensor)
            name = _NAMES["versioned"]
        self.exported += 1
        self._alive[ctypes.addressof(managed)] = managed
        return ctypes.addressof(managed), name

    def capsule(self):
        """Export once, as Python hands it over."""
        return _new_capsule(*self.export(), None)

    def _delete(self, address):
        del self._alive[address]  # a second call for the same tensor raises
        self.deleted_by.append(threading.get_ident())

    @property
    def released_once(self):
        """Whether every export was deleted, by the thread that asks."""
        me = threading.get_ident()
        return not self._alive and self.deleted_by == [me] * self.exported

    def __dlpack__(self, *, max_version=None):
        return self.capsule()

    def __dlpack_device__(self):
        return self.device


class Silent(Producer):
    """Tells its device only in the capsule."""

    __dlpack_device__ = property()


def exchanging(version=(1, 3), *, name=_API_NAME, status=0, base=Producer):
    """Return a producer class that also lends its functions to compiled callers.

    Its stream on the device with the number `n` has the handle 16 times `n`.
    """

    class Exchanging(base):
        calls = 0  # of __dlpack__
        asked = ()  # the streams that it was called with
        told = ()  # the devices whose streams compiled callers asked for

        def __dlpack__(self, *, stream=None, max_version=None):
            self.calls += 1
            self.asked += (stream,)
            return self.capsule()

    def export(producer, tensor):
        if status == 0:
            tensor[0] = producer.export()[0]
        return status

    def current_stream(device_type, number, stream):
        Exchanging.told += ((device_type, number),)
        stream[0] = 16 * number
        return status

    functions = None, None, _EXPORT(export), None, None, _STREAM(current_stream)
    api = _ExchangeApi(version, *functions)
    Exchanging.lent = api, name  # must outlive the capsule
    Exchanging.__dlpack_c_exchange_api__ = _new_capsule(ctypes.addressof(api), name, None)
    return Exchanging
