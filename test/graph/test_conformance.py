"""ONNX's own tests of the operators that the library knows, from Debian's libonnx-testdata: each gives the expected
outputs, or is refused for a reason that is written down here."""

import pathlib

import numpy
import onnx
import pytest

from compare import assert_equal
from engine import Refused

DATA = pathlib.Path("/usr/share/libonnx-testdata/data")
OPERATORS = set("Add AveragePool BatchNormalization Clip Constant Conv Dropout Flatten Gemm GlobalAveragePool Identity MatMul "
                "MaxPool Relu Reshape Softmax".split())
# which inputs the tests give at run time although models have them as constants
CONSTANTS = {"Clip": (1, 2), "Reshape": (1,)}
REFUSED = ("only float32 is computed with", "is in training mode", "is an additional one of its operator", "is no tensor",
           "the model has no inputs", "only float32 goes in and out", "into [3, 4, 0]")


def load(path, kind):
    """The tensors of a test, None for what is none."""
    arrays = []
    for number in range(len(list(path.glob(f"{kind}_*.pb")))):
        tensor = onnx.TensorProto()
        try:
            tensor.ParseFromString((path / f"{kind}_{number}.pb").read_bytes())
            arrays.append(onnx.numpy_helper.to_array(tensor))
        except Exception:  # a sequence or an optional value
            arrays.append(None)
    return arrays


def cases():
    for path in sorted(DATA.glob("*/*/model.onnx")):
        model = onnx.load(path)
        if model.graph.node and all(node.op_type in OPERATORS and not node.domain for node in model.graph.node):
            yield path.parent.name, path.parent, model


CASES = list(cases())


def freeze(model, arrays):
    """Makes constants of the inputs that a model has as constants; returns the arrays that are left."""
    names = {node.input[i] for node in model.graph.node for i in CONSTANTS.get(node.op_type, ()) if i < len(node.input)}
    names.discard(model.graph.input[0].name if model.graph.input else None)
    left = []
    for port, array in zip(list(model.graph.input), arrays):
        if port.name in names:
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, port.name))
            model.graph.input.remove(port)
        else:
            left.append(array)
    return left


@pytest.mark.skipif(not DATA.exists(), reason="libonnx-testdata is not installed")
def test_tests_are_there():
    assert len(CASES) > 150


@pytest.mark.parametrize("path, model", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_onnx(path, model, engine):
    if model.opset_import[0].version < 7:
        model = onnx.version_converter.convert_version(model, 9)
    data = path / "test_data_set_0"
    theirs = load(data, "output")
    arrays = freeze(model, load(data, "input"))
    try:
        ours = engine(model.SerializeToString(), [a for a in arrays if a is not None], 1,
                      [() if a is None else a.shape for a in theirs])
    except Refused as refused:
        assert any(reason in str(refused) for reason in REFUSED), refused
    else:
        assert_equal(ours, theirs)
