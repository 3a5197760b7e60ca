"""How many threads calls may use."""

from collections.abc import Iterator
from contextlib import contextmanager

from ttlg import _core
from ttlg._machine import default_threads


def set_num_threads(n: int | None) -> None:
    """Set how many threads ttlg may use in this process.

    Parameters
    ----------
    n : int or None
        From 1 to 1024. None goes back to the default: the environment variable
        ``TTLG_NUM_THREADS``, and where that is unset or empty, what the notes say.

    Raises
    ------
    TypeError
        `n` is no integer.
    ValueError
        `n` or ``TTLG_NUM_THREADS`` is out of range.

    See Also
    --------
    threads : The same for the calls of one block.
    einsum : Whose products are multiplied by PyTorch or NumPy's BLAS: the number limits those too.

    Notes
    -----
    Where nothing is chosen ttlg uses ``OMP_NUM_THREADS``, of a list the first number. Without that
    it uses the processors that this process may run on, by its affinity mask, and no more than its
    control groups (``cpu.max``), such as those of a container, give it time on, rounded up. Tensors
    of PyTorch are then transposed by ``torch.get_num_threads()`` threads at most.
    """
    if n is None:
        _core.set_default_num_threads(default_threads.default())
        _core.choose_num_threads(default_threads.chosen_by_environment())
    else:
        _core.choose_num_threads(_core.resolve_threads(n))


def get_num_threads() -> int:
    """Return how many threads ttlg may use here.

    Returns
    -------
    int
        The number of the enclosing `threads` block, else what `set_num_threads` set, else the
        environment variable ``TTLG_NUM_THREADS``, else the default that `set_num_threads`
        describes.
    """
    return _core.resolve_threads(None)


@contextmanager
def threads(n: int | None) -> Iterator[None]:
    """Let the calls in a ``with`` block, or in a decorated function, use `n` threads at most.

    Parameters
    ----------
    n : int or None
        From 1 to 1024. None stands for the number of the process: the one that `set_num_threads`
        set, or the default.

    Returns
    -------
    context manager
        After the block, also after an exception, the setting is as it was before.

    Raises
    ------
    TypeError
        `n` is no integer.
    ValueError
        `n` is out of range.

    Notes
    -----
    The setting belongs to the block's context (`contextvars`), as NumPy's ``errstate`` does: other
    threads and other asyncio tasks keep their own, and neither the threads of a pool nor new
    threads see it, unless they run in a copy of the context, as with ``asyncio.to_thread``. To
    limit all of them use `set_num_threads`. An argument ``threads=`` overrides both. The products of
    `einsum` are limited for the whole process while a call of the block runs, as its notes say.

    Examples
    --------
    >>> import numpy as np, ttlg
    >>> with ttlg.threads(1):
    ...     y = ttlg.transpose(np.zeros((1000, 1000)))
    ...     ttlg.get_num_threads()
    1
    """
    variable = _core.context_threads()
    token = variable.set(None if n is None else _core.resolve_threads(n))
    try:
        yield
    finally:
        variable.reset(token)


set_num_threads(None)
