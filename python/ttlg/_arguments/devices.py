"""Arguments that depend on the device."""


def refuse_on_gpu(device: str, **given: object) -> None:
    """Refuse arguments that only the CPU has, those that are not None, for a GPU."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name}= is for device 'cpu', not {device!r}: leave it out")
