"""Whole networks at several batch sizes against ONNX Runtime, which gets one item at a time: it refuses other batch sizes
than the one that a file of the ONNX model zoo has written into its input and its Reshape."""

import functools
import pathlib

import isa
import numpy
import onnx
import onnxruntime
import pytest

from compare import assert_equal

DATA = pathlib.Path(__file__).parent / "data"
BATCHES = (1, 2, 7)
SEEDED = ("alexnet", "googlenet", "resnet50", "squeezenet", "shufflenet", "densenet121", "vgg19", "zfnet512", "inception_v2")
TRAINED = ("mnist", "ultraface")
LIGHT = ("alexnet", "googlenet", "resnet50", "squeezenet", "shufflenet", *TRAINED)  # that take no seconds on any machine


@pytest.fixture
def path(request, name):
    return (request.getfixturevalue("networks") if name in SEEDED else DATA) / name / "model.onnx"


@functools.lru_cache(maxsize=1)
def items(path):
    """Some inputs, and what ONNX Runtime answers to each alone."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    given = {tensor.name for tensor in onnx.load(path).graph.initializer}
    port = next(port for port in session.get_inputs() if port.name not in given)
    arrays = numpy.random.default_rng(1).standard_normal((max(BATCHES), *port.shape[1:]), numpy.float32)
    answers = [session.run(None, {port.name: array[None]}) for array in arrays]
    answers = [numpy.concatenate(rows) for rows in zip(*answers)]
    for rows in answers:  # else the comparison would prove nothing
        assert numpy.ptp(rows, axis=0).max() > 0.01 * numpy.abs(rows).max()
    return arrays, answers


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", (*SEEDED, *TRAINED))
def test_same_as_item_by_item(process, path, batch):
    process.load(path)
    arrays, answers = items(path)
    ours = process.run([arrays[:batch]], batch)[1]
    assert_equal(ours, [answer[:batch] for answer in answers])


@pytest.mark.parametrize("process", isa.of_machine(), indirect=True, scope="session")
@pytest.mark.parametrize("name", LIGHT)
def test_every_instruction_set(process, path):
    process.load(path)
    arrays, answers = items(path)
    assert_equal(process.run([arrays[:2]], 2)[1], [answer[:2] for answer in answers])


@pytest.mark.parametrize("number", range(3))
def test_expected_digits(process, number):
    data = DATA / f"mnist/test_data_set_{number}"
    given, expected = (onnx.numpy_helper.to_array(onnx.TensorProto.FromString((data / f"{kind}_0.pb").read_bytes()))
                       for kind in ("input", "output"))
    process.load(DATA / "mnist/model.onnx")
    assert_equal(process.run([given])[1], [expected])
