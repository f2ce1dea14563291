"""Photos of every kind against Pillow: the pixels that it sees, of PNG files made bit by bit and of JPEG files with four colours."""

import io
import struct
import zlib

import numpy
import pytest
from PIL import Image

GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}
KINDS = [(GREY, depth) for depth in (1, 2, 4, 8, 16)]
KINDS += [(PALETTE, depth) for depth in (1, 2, 4, 8)]
KINDS += [(RGB, depth) for depth in (8, 16)]
KINDS = [(colour, depth, hidden) for colour, depth in KINDS for hidden in (False, True)]
KINDS += [(colour, depth, False) for colour in (GREY_ALPHA, RGBA) for depth in (8, 16)]
PASSES = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def decode(tool, data):
    (width, height, channels), pixels = tool.call("decode", data=data)
    return numpy.frombuffer(pixels, numpy.uint8).reshape(int(height), int(width), int(channels))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed(samples, depth):
    """Rows as they are compressed: a filter that does nothing, and samples from the highest bit on."""
    rows = b""
    for row in samples.reshape(len(samples), -1):
        bits = (row[:, None] >> numpy.arange(depth)[::-1] & 1).astype(numpy.uint8)
        rows += b"\0" + numpy.packbits(bits.reshape(-1)).tobytes()
    return rows


def png(colour, depth, samples, interlaced, before=b""):
    """`samples`: [height, width, channels]; `before`: chunks in front of the pixels."""
    parts = [samples[y::down, x::right] for y, x, down, right in PASSES] if interlaced else [samples]
    rows = b"".join(packed(part, depth) for part in parts if part.size)
    header = struct.pack(">IIBBBBB", samples.shape[1], samples.shape[0], depth, colour, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def transparency(colour, depth, samples):
    """A colour of the picture that shall not be seen; of a palette, how much each of its first ones is seen."""
    if colour == PALETTE:
        return chunk(b"tRNS", bytes(range(100, 100 + (1 << depth) // 2)))
    return chunk(b"tRNS", samples[0, 0].astype(">u2").tobytes())


def seen_by_pillow(data):
    """Grey or RGB without alpha. Pillow would clip 16 bits of grey to 8; the high byte of its samples is what counts."""
    image = Image.open(io.BytesIO(data))
    if image.mode.startswith("I;16"):
        return (numpy.asarray(image).astype(numpy.uint16) >> 8)[:, :, None]
    if image.mode in ("1", "L", "LA"):
        return numpy.asarray(image.convert("L"))[:, :, None]
    return numpy.asarray(image.convert("RGBA").convert("RGB"))


@pytest.mark.parametrize("interlaced", [0, 1], ids=["", "interlaced"])
@pytest.mark.parametrize("colour, depth, hidden", KINDS)
def test_png_pictures(tool, colour, depth, hidden, interlaced):
    rng = numpy.random.default_rng(colour * 100 + depth)
    for height, width in ((9, 13), (1, 1), (3, 5), (16, 8)):
        samples = rng.integers(0, 1 << depth, (height, width, CHANNELS[colour]))
        before = chunk(b"PLTE", rng.bytes(3 << depth)) if colour == PALETTE else b""
        before += transparency(colour, depth, samples) if hidden else b""
        data = png(colour, depth, samples, interlaced, before)
        found, expected = decode(tool, data), seen_by_pillow(data)
        if colour in (GREY, GREY_ALPHA):
            assert found.shape[2] == 1
        assert (found == expected).all(), (height, width)


def marker(data, code):
    """Where the segment of this code begins and ends."""
    at = 2
    while data[at + 1] != code:
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return at, at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")


def four_colours(kind, sampling):
    """CMYK as Pillow writes it, the same numbers called YCCK, or without the word of Adobe that says which."""
    base = Image.radial_gradient("L").resize((53, 40))
    image = Image.merge("CMYK", [base, base.rotate(180), base.rotate(90), base.point(lambda value: 255 - value // 3)])
    file = io.BytesIO()
    image.save(file, "JPEG", quality=95, subsampling=sampling)
    data = bytearray(file.getvalue())
    begin, end = marker(data, 0xEE)
    assert data[begin + 4 : begin + 9] == b"Adobe" and data[end - 1] == 0
    if kind == "YCCK":
        data[end - 1] = 2
    if kind == "unmarked":
        del data[begin:end]
    return bytes(data)


@pytest.mark.parametrize("sampling", [0, 2])
@pytest.mark.parametrize("kind", ["CMYK", "YCCK", "unmarked"])
def test_jpeg_photos_of_four_colours(tool, kind, sampling):
    data = four_colours(kind, sampling)
    image = Image.open(io.BytesIO(data))
    assert image.mode == "CMYK"
    found, expected = decode(tool, data).astype(int), numpy.asarray(image.convert("RGB")).astype(int)
    assert found.shape == expected.shape
    assert numpy.abs(found - expected).max() <= 1
    assert expected.std() > 10  # the picture shows something


def test_photos_of_four_colours_differ_by_what_they_are_called(tool):
    assert numpy.abs(decode(tool, four_colours("CMYK", 0)).astype(int) - decode(tool, four_colours("YCCK", 0))).max() > 20
