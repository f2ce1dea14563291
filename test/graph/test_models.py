"""Whole models against ONNX Runtime, for several batch sizes, and a model file that is cut off."""

import numpy
import pytest

from compare import assert_equal, reference
from engine import Refused

BATCHES = (1, 3, 32)


def compare(engine, model, shape, batch):
    rng = numpy.random.default_rng(batch)
    array = rng.standard_normal((batch, *shape), numpy.float32)
    theirs = reference(model, {"input": array})
    assert_equal(engine(model, [array], batch, [a.shape for a in theirs]), theirs)


@pytest.mark.parametrize("batch", BATCHES)
def test_lite0(engine, lite0, batch):
    compare(engine, (lite0 / "model.onnx").read_bytes(), (3, 224, 224), batch)


@pytest.mark.parametrize("batch", BATCHES)
def test_fashion(engine, root, batch):
    compare(engine, (root / "examples/fashion/model.onnx").read_bytes(), (1, 28, 28), batch)


def test_all_pictures(engine, root, fashion_pictures):
    pixels = numpy.fromfile(fashion_pictures / "t10k-images-idx3-ubyte", numpy.uint8, offset=16)
    model = (root / "examples/fashion/model.onnx").read_bytes()
    parts = (pixels.astype(numpy.float32) / 255).reshape(4, 2500, 1, 28, 28)
    rows = [engine(model, [part], 2500, [(2500, 10)])[0] for part in parts]
    answers = numpy.concatenate(rows)
    assert numpy.array_equal(answers.argmax(1), numpy.load(root / "examples/fashion/expected_top1.npy"))
    assert_equal([answers[:64]], [numpy.load(root / "examples/fashion/expected_first64.npy")])


@pytest.mark.parametrize("part", (0, 1e-6, 0.0001, 0.001, 0.3, 0.9, 0.999999))
def test_cut_off_file(engine, root, part):
    model = (root / "examples/fashion/model.onnx").read_bytes()
    with pytest.raises(Refused, match="not a whole ONNX file|the file is empty|is 0 bytes|no graph"):
        engine(model[: int(len(model) * part)], [numpy.zeros((1, 1, 28, 28), numpy.float32)], 1, [(1, 10)])
