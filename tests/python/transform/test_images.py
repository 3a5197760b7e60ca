"""ttlg.images beside NumPy."""

import numpy as np
import pytest

import ttlg
import ttlg.images

from . import oracle

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
IMAGES = np.random.default_rng(0).integers(0, 256, (5, 20, 31, 3), np.uint8)


def planes_of(images, mean, std, dtype, top):
    mean, std = (np.reshape(np.asarray(value), (-1, 1, 1)) for value in (mean, std))
    return oracle.transform(images.transpose(0, 3, 1, 2), dtype, 1 / (top * std), -mean / std)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("source", "top"), [("u1", 255), ("u2", 65535), ("f4", 1)])
def test_planes_and_back(source, top, dtype):
    images = IMAGES.astype(source)
    planes = ttlg.images.to_planes(images, MEAN, STD, dtype)
    oracle.assert_same(planes, planes_of(images, MEAN, STD, oracle.dtype_of(dtype), top))
    assert planes.flags.c_contiguous
    if dtype in ("float32", "float64"):
        back = ttlg.images.to_pixels(planes, MEAN, STD, source)
        assert np.allclose(back, images, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize(
    ("channels", "view"),
    [
        ((2, 1, 0), np.s_[..., ::-1]),
        ((0, 1), np.s_[..., :2]),
        ([1], np.s_[..., 1:2]),
        ((2, 0), np.s_[..., ::-2]),
    ],
)
def test_channels(channels, view):
    count = len(channels)
    planes = ttlg.images.to_planes(IMAGES, MEAN[:count], 0.5, channels=channels)
    expected = planes_of(IMAGES[view], MEAN[:count], 0.5, "f4", 255)
    oracle.assert_same(planes, expected)
    pixels = ttlg.images.to_pixels(planes, MEAN[:count], 0.5, channels=range(count)[::-1])
    assert np.array_equal(pixels, IMAGES[view][..., ::-1])


def test_one_image_and_a_list_of_them():
    one = ttlg.images.to_planes(IMAGES[0], MEAN, STD)
    together = ttlg.images.to_planes(list(IMAGES), MEAN, STD)
    oracle.assert_same(together, ttlg.images.to_planes(IMAGES, MEAN, STD))
    oracle.assert_same(one, together[0])
    out = np.zeros((5, 3, 20, 62), np.float32)[..., ::2]
    assert ttlg.images.to_planes(tuple(IMAGES), MEAN, STD, out=out) is out
    assert np.array_equal(out, together)
    assert np.array_equal(ttlg.images.to_pixels(one, MEAN, STD), IMAGES[0])


def test_tensors():
    torch = pytest.importorskip("torch")
    planes = ttlg.images.to_planes(torch.from_numpy(IMAGES), MEAN, STD, torch.bfloat16)
    assert planes.dtype == torch.bfloat16
    expected = torch.from_numpy(planes_of(IMAGES, MEAN, STD, "f4", 255)).to(torch.bfloat16)
    assert torch.equal(planes, expected)
    into = torch.empty_like(planes)
    assert ttlg.images.to_planes(IMAGES, MEAN, STD, out=into) is into
    assert torch.equal(into, planes)
    many = ttlg.images.to_planes(list(torch.from_numpy(IMAGES)), MEAN, STD, "bfloat16")
    assert torch.equal(many, planes)
    swapped = ttlg.images.to_planes(torch.from_numpy(IMAGES), channels=(2, 1, 0))
    assert torch.equal(swapped[:, 0], torch.from_numpy(IMAGES)[..., 2] * torch.tensor(1 / 255))


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    planes = ttlg.images.to_planes(jax.numpy.asarray(IMAGES), MEAN, STD)
    assert isinstance(planes, jax.Array)
    many = ttlg.images.to_planes([jax.numpy.asarray(image) for image in IMAGES], MEAN, STD)
    assert isinstance(many, jax.Array)
    assert np.array_equal(many, planes)
    oracle.assert_same(np.asarray(planes), planes_of(IMAGES, MEAN, STD, "f4", 255))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ttlg.images.to_planes(IMAGES[0, 0]), r"have axes \(H, W, C\).*\(31, 3\)"),
        (lambda: ttlg.images.to_planes(IMAGES, channels=(3,)), "channels must be of 0 to 2"),
        (lambda: ttlg.images.to_planes(IMAGES, channels=(0, 2, 1)), "at equal steps"),
        (lambda: ttlg.images.to_planes(IMAGES, std=(1, 0, 1)), "std has a zero"),
        (lambda: ttlg.images.to_planes(IMAGES, mean=(1, 2)), "offset has 2 numbers"),
        (lambda: ttlg.images.to_planes([IMAGES[0], IMAGES[0, 1:]]), "of one shape"),
        (lambda: ttlg.images.to_planes([]), "of one shape"),
        (lambda: ttlg.images.to_planes([IMAGES[0]], out=np.zeros(3)), r"shape \(1, 3, 20, 31\)"),
        (lambda: ttlg.images.to_pixels(IMAGES[0, 0]), r"have axes \(C, H, W\)"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_refuses_planes_of_integers():
    with pytest.raises(TypeError, match="of floating-point numbers, not uint8"):
        ttlg.images.to_planes(IMAGES, dtype="uint8")
