"""Operators behind values whose size their elements tell, as detection models end with: against ONNX Runtime."""

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from compare import reference
from engine import Refused

BOXES, CLASSES = 30, 3


def make(nodes, inputs, outputs, **weights):
    initializers = [numpy_helper.from_array(numpy.asarray(array), name) for name, array in weights.items()]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in inputs.items()]
    ends = [helper.make_tensor_value_info(name, dtype, None) for name, dtype in outputs.items()]
    graph = helper.make_graph(nodes, "g", ports, ends, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def ints(*numbers):
    return numpy.array(numbers, numpy.int64)


@pytest.fixture
def check(process, tmp_path):
    def run(model, feeds):
        (tmp_path / "model.onnx").write_bytes(model)
        process.load(tmp_path / "model.onnx")
        shapes = []
        for feed in feeds:
            theirs, ours = reference(model, feed), process.run(list(feed.values()), 1)[1]
            assert [(array.shape, array.dtype) for array in ours] == [(array.shape, array.dtype) for array in theirs]
            assert all(numpy.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(ours, theirs))
            shapes.append(ours[0].shape)
        return shapes

    return run


@pytest.fixture(scope="module")
def detector():
    """A convolution in front, and behind it the best boxes with their scores and classes, a row each."""
    nodes = [
        helper.make_node("Relu", ["s"], ["positive"]),
        helper.make_node("Sigmoid", ["positive"], ["scores"]),
        helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["chosen"]),
        helper.make_node("Gather", ["chosen", "two"], ["places"], axis=1),
        helper.make_node("Gather", ["chosen", "one"], ["classes"], axis=1),
        helper.make_node("Squeeze", ["boxes", "first"], ["all"]),
        helper.make_node("Gather", ["all", "places"], ["rows"]),
        helper.make_node("GatherND", ["scores", "chosen"], ["values"]),
        helper.make_node("Unsqueeze", ["values", "last"], ["column"]),
        helper.make_node("Cast", ["classes"], ["names"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["names", "last"], ["kinds"]),
        helper.make_node("Mul", ["rows", "scale"], ["large"]),
        helper.make_node("Concat", ["large", "column", "kinds"], ["found"], axis=1),
        helper.make_node("Transpose", ["found"], ["turned"]),
        helper.make_node("ReduceSum", ["found", "first"], ["sums"], keepdims=0),
        helper.make_node("Shape", ["found"], ["shape"]),
        helper.make_node("Slice", ["found", "from", "to"], ["best"]),
    ]
    outputs = {"found": 1, "turned": 1, "sums": 1, "shape": 7, "best": 1, "values": 1}
    return make(
        nodes, {"boxes": [1, BOXES, 4], "s": [1, CLASSES, BOXES]}, outputs, most=ints(8), overlap=numpy.float32([0.4]),
        least=numpy.float32([0.6]), two=numpy.int64(2), one=numpy.int64(1), first=ints(0), last=ints(-1),
        scale=numpy.float32([10, 10, 20, 20]), **{"from": ints(0), "to": ints(5)})


def test_detector(check, detector):
    """Some boxes, none and all that may be; also none after some."""
    rng = numpy.random.default_rng(1)
    feeds = []
    for shift in (0, -0.5, -9, 1, 0, -9, 3):
        corners = rng.random((1, BOXES, 2), numpy.float32)
        boxes = numpy.concatenate([corners, corners + rng.random((1, BOXES, 2), numpy.float32)], 2)
        feeds.append({"boxes": boxes, "s": rng.standard_normal((1, CLASSES, BOXES), numpy.float32) + numpy.float32(shift)})
    counts = [shape[0] for shape in check(detector, feeds)]
    assert 0 in counts and max(counts) > 10 and len(set(counts)) > 3, counts


def test_places_of_what_is_not_zero(check):
    """With arithmetic that would be fused and reshaped if its sizes were known."""
    nodes = [
        helper.make_node("NonZero", ["x"], ["places"]),
        helper.make_node("Transpose", ["places"], ["rows"]),
        helper.make_node("GatherND", ["x", "rows"], ["values"]),
        helper.make_node("Unsqueeze", ["values", "last"], ["column"]),
        helper.make_node("Reshape", ["column", "open"], ["flat"]),
        helper.make_node("Unsqueeze", ["flat", "last"], ["again"]),
        helper.make_node("MatMul", ["again", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["y"]),
        helper.make_node("Softmax", ["sum"], ["z"]),
        helper.make_node("Transpose", ["z"], ["t"]),
        helper.make_node("Transpose", ["t"], ["u"]),
    ]
    rng = numpy.random.default_rng(2)
    model = make(nodes, {"x": [4, 6]}, {"y": 1, "z": 1, "u": 1}, last=ints(-1), open=ints(-1),
                 w=rng.standard_normal((1, 5), numpy.float32), b=rng.standard_normal(5, numpy.float32))
    feeds = [{"x": (rng.random((4, 6)) < part).astype(numpy.float32) * numpy.float32(2)} for part in (0.5, 0, 1, 0.1)]
    assert check(model, feeds)[1] == (0, 5)


def test_one_size_decides_the_next(check):
    """Compress behind Compress, and Unique of what is left."""
    nodes = [
        helper.make_node("Greater", ["x", "zero"], ["positive"]),
        helper.make_node("Compress", ["x", "positive"], ["some"]),
        helper.make_node("Greater", ["some", "one"], ["large"]),
        helper.make_node("Compress", ["some", "large"], ["few"]),
        helper.make_node("Round", ["few"], ["whole"]),
        helper.make_node("Unique", ["whole"], ["y"]),
    ]
    rng = numpy.random.default_rng(3)
    model = make(nodes, {"x": [40]}, {"y": 1}, zero=numpy.float32(0), one=numpy.float32(1))
    feeds = [{"x": rng.standard_normal(40).astype(numpy.float32) * scale} for scale in (1, 5, 0, 2)]
    assert len(set(check(model, feeds))) > 2


def test_what_does_not_fit_what_was_found(process, tmp_path):
    """A Reshape for ten numbers runs on ten and is refused on others; the next run is none the worse."""
    nodes = [helper.make_node("Greater", ["x", "zero"], ["p"]), helper.make_node("Compress", ["x", "p"], ["some"]),
             helper.make_node("Reshape", ["some", "shape"], ["y"], name="the node")]
    (tmp_path / "model.onnx").write_bytes(make(nodes, {"x": [10]}, {"y": 1}, zero=numpy.float32(0), shape=ints(2, 5)))
    process.load(tmp_path / "model.onnx")
    good = numpy.arange(1, 11, dtype=numpy.float32)
    for x in (good, good - 3, good):
        if (x > 0).all():
            assert numpy.array_equal(process.run([x], 1)[1][0], x.reshape(2, 5))
        else:
            with pytest.raises(Refused, match="'the node'"):
                process.run([x], 1)
