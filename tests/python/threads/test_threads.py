"""Threads: the same result for any number, the GIL, and children of fork and spawn."""

import sys
import threading
import time

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 64])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [((1500, 1501), (1, 0)), ((33, 70, 501), (1, 0, 2)), ((9, 8, 7, 6, 5, 40), (5, 3, 1, 0, 2, 4))],
)
def test_any_number_of_threads_gives_the_same_bits(shape, axes, threads):
    x = random_array(shape, "<f8")
    assert bits(ttlg.transpose(x, axes, threads=threads)) == bits(x.transpose(axes))


def ticks_while(call):
    """Count how often another thread gets to run during a call."""
    ticks = 0
    done = False

    def tick():
        nonlocal ticks
        while not done:
            ticks += 1
            time.sleep(1e-4)

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        while not ticks:
            time.sleep(1e-3)
        before = ticks
        call()
        return ticks - before
    finally:
        done = True
        ticker.join()


def test_the_gil_is_released():
    # The plain reference kernel keeps one core busy for a good while.
    x = random_array((1000, 2000), "u1")
    plan = ttlg.plan(x.shape, dtype=x.dtype, kernel="reference")
    out = np.empty(x.T.shape, x.dtype)
    # Never forced to hand over between bytecodes: others run only where the GIL is let go.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        assert any(ticks_while(lambda: plan(x, out)) >= 5 for _ in range(20))
    finally:
        sys.setswitchinterval(interval)


TRANSPOSE = """
    import numpy as np
    import ttlg

    x = np.random.default_rng(0).integers(0, 256, ({rows}, 2001), np.uint8)

    def right():
        assert ttlg.plan(x.shape, dtype="u1", threads=2).parameters["threads"] == 2
        return np.array_equal(ttlg.transpose(x, threads=2), x.T)
"""


@pytest.mark.parametrize("before", ["", "assert right()"], ids=["cold", "after calls"])
def test_fork(run_forking, before):
    again = "assert fork_and_wait() == 0"
    run_forking(TRANSPOSE.format(rows=1500), f"{before}\n{again}\nassert right()\n{again}\n")


@pytest.mark.usefixtures("plain_malloc")
@pytest.mark.parametrize(
    ("rows", "forks"), [(1500, 5), pytest.param(300, 1000, marks=pytest.mark.slow)]
)
def test_fork_while_other_threads_transpose(run_forking, rows, forks):
    run_forking(TRANSPOSE.format(rows=rows), f"fork_beside_threads({forks})")


@pytest.mark.parametrize("given", ["", ", out=out"], ids=["new", "out"])
def test_daemon_threads_at_interpreter_exit(run_python, given):
    # They end their calls, and ask for the GIL, while the interpreter is being finalised.
    script = f"""
        import threading
        import time
        import numpy as np
        import ttlg

        x, out = np.ones((1000, 1000)), np.empty((1000, 1000))

        def keep_going():
            while True:
                ttlg.transpose(x{given})

        for _ in range(2):
            threading.Thread(target=keep_going, daemon=True).start()
        time.sleep(0.1)
    """
    for _ in range(3):
        assert run_python(script).stderr == ""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(run_python, method):
    script = """
        import multiprocessing
        import sys
        import numpy as np
        import ttlg

        def work(arguments):
            plan, x = arguments
            return plan(x), ttlg.transpose(x, threads=2)

        if __name__ == "__main__":
            x = np.random.default_rng(0).integers(0, 256, (1100, 1201), np.uint8)
            plan = ttlg.plan(x.shape, dtype="u1", threads=2)
            assert plan.parameters["threads"] == 2
            assert np.array_equal(plan(x), x.T)
            with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
                for pair in pool.map(work, [(plan, x)] * 4):
                    assert all(np.array_equal(y, x.T) for y in pair)
    """
    run_python(script, method)
