"""Failures that are noted, so that one of them does not discard everything else of a run."""

import contextlib
from collections.abc import Iterator, MutableMapping

import torch

# The key under which the loss of the device is noted.
DEVICE = "device"


class DeviceLostError(Exception):
    """The GPU answers no more after a failure: nothing else can be measured in this process."""


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@contextlib.contextmanager
def noting(failures: MutableMapping[str, str], name: str) -> Iterator[None]:
    """Note an exception of the body under a name, and go on after it.

    Where the device was lost with it, note that too and raise DeviceLostError.
    """
    try:
        yield
    except DeviceLostError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a library raises
        failures[name] = _described(error)
        try:
            torch.cuda.synchronize()
        except Exception as lost:  # noqa: BLE001
            failures[DEVICE] = _described(lost)
            raise DeviceLostError from None


def is_fault(failure: str) -> bool:
    """Say whether something was done wrongly: too little memory is no fault."""
    return not failure.startswith("OutOfMemoryError:")
