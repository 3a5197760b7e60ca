"""An interrupt while elements move is delivered when all have moved."""

import json

import pytest

INTERRUPT = """
    import json, os, signal, sys, threading
    import numpy as np
    import ttlg

    shape, axes, workspace, library = json.loads(sys.argv[1])
    x = np.arange(np.prod(shape), dtype="<i4").reshape(shape)
    elements = x.reshape(-1)
    expected = x.transpose(axes).reshape(-1)
    probes = np.linspace(1, elements.size - 2, 5000).astype(int)
    start = elements[probes]
    array = x
    if library == "torch":
        import torch
        array = torch.from_numpy(x)

    def interrupt(seen):
        while np.array_equal(elements[probes], start):
            pass
        seen.append(elements[probes])
        os.kill(os.getpid(), signal.SIGINT)

    def was_interrupted():
        "Whether a signal was sent while elements moved and ended the call."
        elements[:] = np.arange(elements.size)
        seen = []
        thread = threading.Thread(target=interrupt, args=[seen])
        thread.start()
        returned = False
        try:
            ttlg.transpose_inplace(array, axes, threads=1, workspace=workspace)
            returned = True
            thread.join()
        except KeyboardInterrupt:
            thread.join()
        return not returned and not np.array_equal(seen[0], expected[probes])

    for count in range(1, 101):  # a busy machine may send it too late
        interrupted = was_interrupted()
        assert np.array_equal(elements, expected)
        if library == "torch":
            assert array._version == count
        if interrupted:
            break
    else:
        sys.exit("no signal came while elements moved")
"""


def check_interrupted(run_python, *arguments):
    run_python(INTERRUPT, json.dumps(arguments))


@pytest.mark.parametrize(
    ("shape", "axes", "workspace"),
    [
        ((5000, 4999), (1, 0), 4 << 20),
        ((5000, 5000), (1, 0), None),
        ((70, 80, 65, 66), (1, 0, 3, 2), 1 << 20),
    ],
)
def test_an_interrupt_waits_for_the_last_element(run_python, shape, axes, workspace):
    check_interrupted(run_python, shape, axes, workspace, "numpy")


def test_autograd_learns_of_an_interrupted_write(run_python):
    pytest.importorskip("torch")
    check_interrupted(run_python, (5000, 4999), (1, 0), 4 << 20, "torch")
