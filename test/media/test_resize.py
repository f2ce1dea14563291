"""The resize against Pillow's, over many sizes, filters and contents: every value is equal."""

import random

import numpy
import pytest
from PIL import Image

FILTERS = {
    "bilinear": (0, Image.Resampling.BILINEAR),
    "nearest": (1, Image.Resampling.NEAREST),
    "bicubic": (2, Image.Resampling.BICUBIC),
    "lanczos": (3, Image.Resampling.LANCZOS),
}


def picture(rng, width, height, channels):
    """Noise, or edges: flat rectangles of extreme values, where overshooting filters clip."""
    shape = (height, width, channels)
    if rng.random() < 0.5:
        return numpy.frombuffer(rng.randbytes(width * height * channels), numpy.uint8).reshape(shape)
    pixels = numpy.zeros(shape, numpy.uint8)
    for _ in range(4):
        x, y = rng.randrange(width), rng.randrange(height)
        pixels[y : y + rng.randint(1, height), x : x + rng.randint(1, width)] = rng.choice([0, 255, 128])
    return pixels


def ours(tool, pixels, kind, size, window):
    height, width, channels = pixels.shape
    words, data = tool.call("resize", width, height, channels, kind, *size, *window, data=pixels.tobytes())
    assert words == [str(window[2]), str(window[3]), str(channels)]
    return numpy.frombuffer(data, numpy.uint8).reshape(window[3], window[2], channels)


def pillows(pixels, kind, size):
    image = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    return numpy.asarray(image.resize(size, kind)).reshape(size[1], size[0], pixels.shape[2])


def difference(a, b):
    return int(numpy.abs(a.astype(int) - b.astype(int)).max())


def random_side(rng):
    return rng.choice([rng.randint(1, 8), rng.randint(1, 64), rng.randint(1, 400)])


@pytest.mark.parametrize("name", FILTERS)
def test_equals_pillow(tool, name):
    ours_kind, pillows_kind = FILTERS[name]
    for seed in range(200):
        rng = random.Random(seed)
        pixels = picture(rng, random_side(rng), random_side(rng), rng.choice([1, 3]))
        size = (random_side(rng), random_side(rng))
        got = ours(tool, pixels, ours_kind, size, (0, 0, *size))
        assert difference(got, pillows(pixels, pillows_kind, size)) == 0, f"seed {seed}: {pixels.shape} to {size}"


@pytest.mark.parametrize("name", FILTERS)
def test_a_window_is_cut_from_the_whole(tool, name):
    kind = FILTERS[name][0]
    for seed in range(50):
        rng = random.Random(seed)
        pixels = picture(rng, random_side(rng), random_side(rng), rng.choice([1, 3]))
        width, height = random_side(rng), random_side(rng)
        left, top = rng.randrange(width), rng.randrange(height)
        window = (left, top, rng.randint(1, width - left), rng.randint(1, height - top))
        whole = ours(tool, pixels, kind, (width, height), (0, 0, width, height))
        part = ours(tool, pixels, kind, (width, height), window)
        assert (part == whole[top : top + window[3], left : left + window[2]]).all(), f"seed {seed}"


@pytest.mark.parametrize("size", [(500, 375), (333, 500), (2048, 1536), (97, 4000), (700, 1900), (256, 256)])
def test_shorter_side_to_256_equals_pillow(tool, size):
    pixels = picture(random.Random(1), *size, 3)
    short = min(size)
    target = (256 * size[0] // short, 256 * size[1] // short)
    got = ours(tool, pixels, 0, target, (0, 0, *target))
    assert difference(got, pillows(pixels, Image.Resampling.BILINEAR, target)) == 0
