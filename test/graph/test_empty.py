"""Tensors without elements that have one huge dimension beside the empty one, through every operator that ONNX's own tests
have: an operator looks at the elements that there are, and comes to its end at once or is refused."""

import itertools
import threading

import numpy
import onnx
import pytest

import conform
from engine import Engine, Failed, Refused
from test_conformance import DATA

HUGE = 1 << 40
SECONDS = 30  # what takes a thousandth of one takes so long only if it never ends

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="libonnx-testdata is not installed")


def by_operator():
    """ONNX's tests of an operator alone, by its name."""
    found = {}
    for path in sorted((DATA / "node").glob("*/model.onnx")):
        model = onnx.load(path)
        if len(model.graph.node) == 1 and not any(port.type.WhichOneof("value") != "tensor_type" for port in model.graph.input):
            found.setdefault(model.graph.node[0].op_type, []).append((path.parent, model))
    return found


TESTS = by_operator()


def places(rank):
    """Where the empty and the huge dimension are."""
    return itertools.permutations(range(rank), 2)


def emptied(model, arrays, empty, huge):
    """The model and its inputs, of which those with the shape of the first have another one."""
    shape = arrays[0].shape
    new = [0 if i == empty else HUGE if i == huge else size for i, size in enumerate(shape)]
    arrays = [numpy.zeros(new, array.dtype) if array.shape == shape else array for array in arrays]
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for port, array in zip(changed.graph.input, arrays):
        port.CopyFrom(onnx.helper.make_tensor_value_info(port.name, port.type.tensor_type.elem_type, array.shape))
    for port in changed.graph.output:
        port.type.tensor_type.ClearField("shape")
    return changed, arrays


def run(engine, path, model, arrays):
    """What gives many elements out of none may be refused, or find no memory."""
    path.write_bytes(model.SerializeToString())
    try:
        engine.load(path)
        engine.run(arrays)
    except Refused:
        pass
    except Failed as failed:
        if "memory" not in str(failed):
            raise


@pytest.fixture
def watched():
    """An engine that is killed if it takes too long, which then fails the test."""
    with Engine() as engine:
        engine.start()
        watch = threading.Timer(SECONDS, engine.process.kill)
        watch.start()
        yield engine
        watch.cancel()


@pytest.mark.parametrize("operator", sorted(TESTS))
def test_operator(operator, watched, tmp_path):
    for folder, model in TESTS[operator]:
        arrays, _ = next(conform.data_sets(folder, model))
        usual, left = conform.make_usual(model, arrays)
        if not left or left[0] is None or left[0].ndim < 2:
            continue
        for empty, huge in places(left[0].ndim):
            run(watched, tmp_path / "model.onnx", *emptied(usual, left, empty, huge))
