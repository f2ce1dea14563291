"""Whole items against Pillow and numpy: photos and arrays become the very values that the same steps give in Python."""

import io
import json
import random

import numpy
import onnx
import pytest
from conftest import Refused
from PIL import Image, ImageOps

FLOAT32, UINT8, INT64 = 1, 4, 9
FILTERS = {"bilinear": Image.Resampling.BILINEAR, "nearest": Image.Resampling.NEAREST}
FILTERS |= {"bicubic": Image.Resampling.BICUBIC, "lanczos": Image.Resampling.LANCZOS}


def encode(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def prepare(tool, how, dtype, shape, data):
    text = json.dumps({"inputs": {"x": how}}).encode()
    _, item = tool.call("prepare", len(text), dtype, len(shape), *shape, data=text + data)
    return numpy.frombuffer(item, numpy.float32 if dtype == FLOAT32 else numpy.uint8).reshape(shape)


def pair(size):
    return (size, size) if isinstance(size, int) else tuple(size)


def resized(image, how):
    kind = FILTERS[how.get("filter", "bilinear")]
    resize = how.get("resize", {})
    if "shorter" in resize:
        short, long = sorted(image.size)
        new = (2 * resize["shorter"] * long + short) // (2 * short)
        size = (resize["shorter"], new) if image.width <= image.height else (new, resize["shorter"])
        return image.resize(size, kind)
    if "exact" in resize:
        height, width = pair(resize["exact"])
        return image.resize((width, height), kind)
    if "fit" in resize:
        height, width = pair(resize["fit"])
        pad = resize.get("pad", 0)
        return ImageOps.pad(image, (width, height), kind, color=pad if image.mode == "L" else (pad,) * 3)
    return image


def cropped(image, how):
    if "crop" not in how:
        return image
    height, width = pair(how["crop"])
    top, left = (image.height - height) // 2, (image.width - width) // 2
    return image.crop((left, top, left + width, top + height))


def reference(image, how):
    """The item in float64, with a leading 1."""
    image = ImageOps.exif_transpose(image).convert("L" if how.get("colour") == "grey" else "RGB")
    values = numpy.asarray(cropped(resized(image, how), how)).astype(float)
    values = values.reshape(*values.shape[:2], -1)
    if how.get("colour") == "bgr":
        values = values[:, :, ::-1]
    values = (values * how.get("scale", 1) - numpy.array(how.get("mean", 0))) / numpy.array(how.get("std", 1))
    return (values if how.get("layout") == "nhwc" else values.transpose(2, 0, 1))[numpy.newaxis]


def random_description(rng):
    grey = rng.random() < 0.3
    how = {"kind": "image", "colour": "grey" if grey else rng.choice(["rgb", "bgr"])}
    how["layout"] = rng.choice(["nchw", "nhwc"])
    how["filter"] = rng.choice(list(FILTERS))
    size = [rng.randint(1, 90), rng.randint(1, 90)]
    resize = rng.choice([{"shorter": size[0]}, {"exact": size}, {"fit": size, "pad": rng.randint(0, 255)}, None])
    if resize:
        how["resize"] = resize
    how["scale"] = rng.choice([1, 1 / 255, 0.5])
    how["mean"] = rng.choice([0, 127, [0.5] if grey else [0.485, 0.456, 0.406]])
    how["std"] = rng.choice([1, 128, [0.25] if grey else [0.229, 0.224, 0.225]])
    return how


def random_photo(rng):
    mode, channels = rng.choice([("L", 1), ("RGB", 3)])
    width, height = rng.randint(1, 150), rng.randint(1, 150)
    pixels = numpy.frombuffer(rng.randbytes(width * height * channels), numpy.uint8)
    image = Image.fromarray(pixels.reshape((height, width) if channels == 1 else (height, width, 3)), mode)
    exif = Image.Exif()
    exif[0x0112] = rng.randint(1, 8)
    return encode(image, "PNG", exif=exif)


def shows_nothing(image, how):
    """Pillow lets a photo that is too narrow for "fit" vanish; here it keeps one pixel."""
    if "fit" not in how.get("resize", {}):
        return False
    height, width = how["resize"]["fit"]
    return 0 in ImageOps.contain(ImageOps.exif_transpose(image), (width, height)).size


def test_photos_become_what_pillow_and_numpy_make_of_them(tool):
    for seed in range(400):
        rng = random.Random(seed)
        how, data = random_description(rng), random_photo(rng)
        expected = reference(Image.open(io.BytesIO(data)), how)
        if shows_nothing(Image.open(io.BytesIO(data)), how):
            continue
        if "fit" not in how.get("resize", {}) and rng.random() < 0.5:
            high, wide = expected.shape[1:3] if how["layout"] == "nhwc" else expected.shape[2:]
            how["crop"] = [rng.randint(1, high), rng.randint(1, wide)]
            expected = reference(Image.open(io.BytesIO(data)), how)
        got = prepare(tool, how, FLOAT32, expected.shape, data)
        assert (got == expected.astype(numpy.float32)).all(), f"seed {seed}: {how}"


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"subsampling": 0}, {"quality": 100}], ids=str)
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_jpeg_photos(tool, mode, options):
    base = Image.radial_gradient("L").resize((211, 160))
    image = Image.merge("RGB", [base, base.rotate(180), base.rotate(90)]).convert(mode)
    data = encode(image, "JPEG", **options)
    how = {"kind": "image", "resize": {"shorter": 128}, "crop": 112}
    expected = reference(Image.open(io.BytesIO(data)), how)
    got = prepare(tool, how, FLOAT32, (1, 3, 112, 112), data)
    assert numpy.abs(got - expected).max() <= 1


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_png_pictures_of_every_mode(tool, mode):
    base = Image.radial_gradient("L").resize((40, 30))
    image = Image.merge("RGBA", [base, base.rotate(180), base.rotate(90), base.rotate(7)]).convert(mode)
    how = {"kind": "image", "resize": {"exact": [20, 24]}}
    plain = image.convert("RGBA").convert("RGB") if "A" in mode else image  # alpha is dropped
    got = prepare(tool, how, FLOAT32, (1, 3, 20, 24), encode(image, "PNG"))
    assert (got == reference(plain, how)).all()


def npy(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


def tensor(array):
    return onnx.numpy_helper.from_array(array).SerializeToString()


def test_pixels_in_npy_files_are_treated_as_photos(tool):
    rng = random.Random(1)
    pixels = numpy.frombuffer(rng.randbytes(30 * 20 * 3), numpy.uint8).reshape(30, 20, 3)
    how = {"kind": "image", "resize": {"shorter": 16}, "crop": 16, "scale": 1 / 255}
    expected = reference(Image.fromarray(pixels), how).astype(numpy.float32)
    assert (prepare(tool, how, FLOAT32, (1, 3, 16, 16), npy(pixels)) == expected).all()
    grey = pixels[:, :, 0]
    expected = reference(Image.fromarray(grey), how).astype(numpy.float32)
    for shape in [(30, 20), (30, 20, 1), (1, 30, 20), (1, 1, 30, 20, 1)]:
        assert (prepare(tool, how, FLOAT32, (1, 3, 16, 16), npy(grey.reshape(shape))) == expected).all(), shape


def test_values_of_the_inputs_own_shape_are_taken_as_they_are(tool):
    values = numpy.linspace(-1, 1, 3 * 4 * 5, dtype=numpy.float32).reshape(1, 3, 4, 5)
    for how in [{"kind": "tensor"}, {"kind": "image", "resize": {"exact": [4, 5]}, "mean": 5}]:
        for given in [values, values[0]]:
            assert (prepare(tool, how, FLOAT32, values.shape, npy(given)) == values).all()


def test_uint8_inputs_take_samples_as_they_are(tool):
    rng = random.Random(2)
    pixels = numpy.frombuffer(rng.randbytes(6 * 5 * 3), numpy.uint8).reshape(6, 5, 3)
    how = {"kind": "image", "colour": "bgr", "layout": "nhwc"}
    assert (prepare(tool, how, UINT8, (6, 5, 3), npy(pixels)) == pixels[:, :, ::-1]).all()


PHOTO = encode(Image.new("RGB", (60, 40)), "PNG")
IMAGE = {"kind": "image", "resize": {"exact": 8}}
BAD = [
    # the model's input cannot be a picture
    (IMAGE, FLOAT32, (1, 1, 8, 8), PHOTO, "float32 [1, 1, 8, 8], and a photo becomes float32 [1, 3, 8, 8]"),
    (IMAGE, FLOAT32, (1, 3, 8, 9), PHOTO, "float32 [1, 3, 8, 9], and a photo becomes float32 [1, 3, 8, 8]"),
    (IMAGE, FLOAT32, (1, 8, 8, 3), PHOTO, "float32 [1, 8, 8, 3], and a photo becomes float32 [1, 3, 8, 8]"),
    (IMAGE, FLOAT32, (2, 3, 8, 8), PHOTO, "float32 [2, 3, 8, 8], and a photo becomes"),
    (IMAGE, FLOAT32, (10,), PHOTO, "float32 [10], and a photo becomes float32 [3, 8, 8]"),
    ({"kind": "image", "resize": {"shorter": 8}}, FLOAT32, (1, 1, 8, 8), PHOTO, "float32 [1, 3, ?, ?]"),
    (IMAGE, INT64, (1, 3, 8, 8), PHOTO, "int64; photos become float32 or uint8 only"),
    (IMAGE | {"mean": 1}, UINT8, (1, 3, 8, 8), PHOTO, "remove scale, mean and std"),
    # this photo cannot become the input
    ({"kind": "image"}, FLOAT32, (1, 3, 8, 8), PHOTO, "[1, 3, 8, 8], and this photo becomes float32 [1, 3, 40, 60]"),
    ({"kind": "image", "resize": {"shorter": 8}}, FLOAT32, (3, 8, 8), PHOTO, "this photo becomes float32 [3, 8, 12]"),
    ({"kind": "image", "crop": 50}, FLOAT32, (3, 50, 50), PHOTO, "becomes 60x40, too small to cut 50x50"),
    ({"kind": "tensor"}, FLOAT32, (10,), PHOTO, "describe it as kind image"),
    (IMAGE, FLOAT32, (1, 3, 8, 8), b"GIF89a", "must be a JPEG or PNG file, and this is a GIF file"),
    (IMAGE, FLOAT32, (1, 3, 8, 8), PHOTO[:-20], "cut short"),
    # nor can this array
    (IMAGE, FLOAT32, (1, 3, 8, 8), npy(numpy.zeros((3, 9, 8), "f4")), "and this item is float32 [3, 9, 8]; give pixels"),
    (IMAGE, FLOAT32, (1, 3, 8, 8), npy(numpy.zeros((8, 8, 4), "u1")), "and this item is uint8 [8, 8, 4]"),
    (IMAGE, FLOAT32, (1, 3, 8, 8), npy(numpy.zeros((0, 8), "u1")), "has no pixels"),
    ({"kind": "tensor"}, FLOAT32, (4,), npy(numpy.zeros(4, "f8")), "float32 [4], and this item is float64 [4]"),
    ({"kind": "tensor"}, FLOAT32, (4,), npy(numpy.zeros(5, "f4")), "float32 [4], and this item is float32 [5]"),
    ({"kind": "tensor"}, FLOAT32, (4,), npy(numpy.zeros((2, 2), "f4", "F")), "Fortran"),
    ({"kind": "tensor"}, FLOAT32, (4,), tensor(numpy.zeros(5, "f4")), "float32 [4], and this item is float32 [5]"),
    ({"kind": "tensor"}, FLOAT32, (4,), tensor(numpy.zeros(4, "complex64")), "complex64, which is not supported"),
    ({"kind": "tensor"}, FLOAT32, (4,), tensor(numpy.zeros(4, "f4"))[:-1], "not a whole tensor of ONNX"),
]


@pytest.mark.parametrize("how, dtype, shape, data, words", BAD, ids=[words for *_, words in BAD])
def test_what_cannot_be_names_both_shapes(tool, how, dtype, shape, data, words):
    with pytest.raises(Refused) as refused:
        prepare(tool, how, dtype, shape, data)
    assert words in refused.value.sentence


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
def test_npy_files_of_numpy_in_every_version(tool, dtype):
    codes = ["f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"]
    array = numpy.array([[0, 1, 1], [1, 0, 1]], dtype)
    for version in [(1, 0), (2, 0), (3, 0)]:
        file = io.BytesIO()
        numpy.lib.format.write_array(file, array, version)
        text = json.dumps({}).encode()
        _, item = tool.call("prepare", len(text), codes.index(dtype) + 1, 2, 2, 3, data=text + file.getvalue())
        assert item == array.tobytes()


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
def test_tensor_files_of_onnx_in_every_form(tool, dtype, raw):
    """With and without the dimension of a batch, as its test data come."""
    codes = ["f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"]
    array = numpy.array([[0, 1, 1], [1, 0, 1]], dtype)
    kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    for shape in [(2, 3), (1, 2, 3)]:
        tensor = onnx.helper.make_tensor("x", kind, shape, array.tobytes() if raw else array.flatten().tolist(), raw)
        text = json.dumps({}).encode()
        data = text + tensor.SerializeToString()
        _, item = tool.call("prepare", len(text), codes.index(dtype) + 1, 2, 2, 3, data=data)
        assert item == array.tobytes()


def test_pixels_in_tensor_files_are_treated_as_photos(tool):
    pixels = numpy.frombuffer(random.Random(4).randbytes(30 * 20 * 3), numpy.uint8).reshape(30, 20, 3)
    how = {"kind": "image", "resize": {"shorter": 16}, "crop": 16, "scale": 1 / 255}
    expected = reference(Image.fromarray(pixels), how).astype(numpy.float32)
    assert (prepare(tool, how, FLOAT32, (1, 3, 16, 16), tensor(pixels)) == expected).all()
