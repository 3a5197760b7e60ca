"""The tests that need a CUDA device; without one all of them are skipped, with the reason."""

import pytest

import ttlg


@pytest.fixture(autouse=True, scope="session")
def _needs_cuda():
    cuda = ttlg.show_config()["cuda"]
    if not cuda["built"]:
        pytest.skip("ttlg was built without CUDA")
    if not cuda["devices"]:
        pytest.skip(f"no CUDA device: {cuda['status']}")
    import torch

    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no CUDA device")


@pytest.fixture(autouse=True)
def _finish_what_was_launched():
    """Let an asynchronous fault fail the test that caused it."""
    yield
    import torch

    torch.cuda.synchronize()


@pytest.fixture
def stream():
    """Make a stream that does not wait for the default one, when all kernels have been loaded."""
    import torch

    from .streams import AXES, SHAPE

    ttlg.transpose(torch.zeros(SHAPE, dtype=torch.int32, device="cuda"), AXES).zero_()
    torch.cuda._sleep(1)
    torch.cuda.synchronize()
    return torch.cuda.Stream()
