"""Large results of libraries that allocate by malloc: huge pages, in memory that stays theirs."""

import gc
import mmap
import re
from pathlib import Path

import numpy as np
import pytest

import ttlg

MIB = 1 << 20
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@pytest.fixture(autouse=True)
def _kernel_with_huge_pages(plain_malloc):
    if not HUGE_PAGES.exists():
        pytest.skip("this kernel has no transparent huge pages")


def is_advised(address):
    """Whether the mapping that holds the address asks for huge pages (proc_pid_smaps(5))."""
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if bounds := re.match("([0-9a-f]+)-([0-9a-f]+) ", line):
            inside = int(bounds[1], 16) <= address < int(bounds[2], 16)
        elif inside and line.startswith("VmFlags:"):
            return "hg" in line.split()
    raise AssertionError("no mapping holds the address")


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("mib", [4, 5, 17, 33])
def test_new_tensors_ask_for_huge_pages(torch, mib):
    x = torch.arange(mib * MIB // 8, dtype=torch.float64).reshape(-1, 512)
    y = ttlg.transpose(x)
    assert torch.equal(y, x.T)
    assert is_advised(y.data_ptr() + mib * MIB // 2)


def test_tensors_of_out_keep_the_pages_that_they_have(torch):
    x = torch.ones(33 * MIB // 8, dtype=torch.float64).reshape(-1, 512)
    # The allocator might hand out memory that an earlier result asked for.
    fresh = mmap.mmap(-1, x.nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    out = torch.frombuffer(fresh, dtype=x.dtype).reshape(x.T.shape)
    ttlg.transpose(x, out=out)
    assert torch.equal(out, x.T)
    assert not is_advised(out.data_ptr() + 16 * MIB)


def test_operators_and_plans_ask_too(torch):
    x = torch.ones(4096, 1056, dtype=torch.float64, requires_grad=True)
    y = ttlg.transpose(x)
    assert is_advised(y.data_ptr() + 16 * MIB)
    y.sum().backward()
    plan = ttlg.plan_for(x.detach())
    assert is_advised(plan(x.detach()).data_ptr() + 16 * MIB)
    assert is_advised(ttlg.asfortranarray(x.detach()).data_ptr() + 16 * MIB)


def test_a_new_tensor_is_like_any_other(torch, tmp_path):
    x = torch.arange(20 * MIB // 4, dtype=torch.float32).reshape(1280, -1)
    y = ttlg.transpose(x)
    torch.save(y, tmp_path / "y.pt")
    assert (tmp_path / "y.pt").stat().st_size < 20 * MIB + 65536
    assert torch.equal(torch.load(tmp_path / "y.pt"), x.T)
    assert y.untyped_storage().resizable()
    y.resize_(1280, 5000)
    assert torch.equal(y.reshape(-1)[: x.numel()], x.T.reshape(-1))
    y.share_memory_()
    assert y.is_shared()


def test_a_child_shares_a_new_tensor(torch, run_python):
    """In a process of its own, as JAX warns of a fork where it has been imported."""
    run_python("""
        import os, torch, ttlg
        y = ttlg.transpose(torch.zeros(1280, 4096))
        kept = ttlg.transpose(torch.zeros(1280, 4096))
        y.share_memory_()
        child = os.fork()
        if child == 0:
            y[0, 0] = kept[0, 0] = 7
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert (y[0, 0].item(), kept[0, 0].item()) == (7, 0)
    """)


def test_results_of_compiled_jax_programs_ask(torch):
    jax = pytest.importorskip("jax", minversion="0.8")
    x = jax.numpy.arange(33 * MIB // 4, dtype=np.float32).reshape(-1, 512)
    y = jax.jit(lambda x: ttlg.transpose(x, (1, 0)))(x)
    assert is_advised(y.unsafe_buffer_pointer() + 16 * MIB)
    assert np.array_equal(y, np.asarray(x).T)


def test_eager_jax_uses_memory_of_the_pool():
    jax = pytest.importorskip("jax")

    def waiting():
        gc.collect()  # which lets JAX free what it has put off
        return ttlg.show_config()["cpu"]["result_pool_waiting_bytes"]

    x = jax.numpy.arange(33 * MIB // 4, dtype=np.float32).reshape(-1, 512)
    ttlg.set_result_pool(0)
    ttlg.set_result_pool(256 * MIB)
    ttlg._core.set_result_pool_wait(600)
    try:
        y = ttlg.transpose(x)
        address = y.unsafe_buffer_pointer()
        assert is_advised(address + 16 * MIB)
        assert np.array_equal(y, np.asarray(x).T)
        assert waiting() == 0
        del y
        assert waiting() > 33 * MIB
        again = ttlg.transpose(x)
        assert again.unsafe_buffer_pointer() == address
        assert np.array_equal(again, np.asarray(x).T)
    finally:
        ttlg._core.set_result_pool_wait(1)
        ttlg.set_result_pool(None)
