"""The clothing model in examples/fashion: what its README says about the pictures and the expected answers."""

import json

import numpy
import onnxruntime
import pytest
from conftest import ROOT

FOLDER = ROOT / "examples/fashion"


@pytest.fixture(scope="module")
def answers(fashion_pictures):
    spec = json.loads((FOLDER / "model.json").read_text())["inputs"]["input"]
    pixels = numpy.fromfile(fashion_pictures / "t10k-images-idx3-ubyte", numpy.uint8, offset=16).astype(numpy.float32)
    values = (pixels * spec["scale"] - numpy.float32(spec["mean"])) / numpy.float32(spec["std"])
    session = onnxruntime.InferenceSession(FOLDER / "model.onnx")
    return session.run(["output"], {"input": values.reshape(-1, 1, 28, 28)})[0]


def test_answers_are_the_expected_ones(answers):
    assert numpy.array_equal(answers.argmax(1), numpy.load(FOLDER / "expected_top1.npy"))
    assert numpy.allclose(answers[:64], numpy.load(FOLDER / "expected_first64.npy"), atol=1e-6)


def test_accuracy(answers, fashion_pictures):
    labels = numpy.fromfile(fashion_pictures / "t10k-labels-idx1-ubyte", numpy.uint8, offset=8)
    assert (answers.argmax(1) == labels).sum() == 9350
    names = (FOLDER / "labels.txt").read_text().splitlines()
    assert names[labels[0]] == "Ankle boot"


def test_no_picture_is_a_close_call(answers):
    first, second = numpy.sort(answers, axis=1)[:, :-3:-1].T
    assert (first - second).min() == pytest.approx(0.00076, abs=1e-5)
