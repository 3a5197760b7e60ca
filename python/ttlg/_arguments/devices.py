"""Arguments that depend on the device."""

from ttlg._typing import Device


def refuse_on_gpu(device: Device, **given: object) -> None:
    """Refuse arguments that only the CPU has, those that are not None, for a GPU."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name}= is for device 'cpu', not {device!r}: leave it out")
