"""Models of float16 and bfloat16, which are computed with as float32: against ONNX Runtime on the same numbers as float32,
which they give exactly, and on the model itself, which rounds all that it computes."""

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.transformers.float16 import convert_float_to_float16

from compare import assert_equal, reference

HALVES = {"float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}
ROUNDING = 1e-2  # of a network of float16, by the largest output


def halve(model, **how):
    return convert_float_to_float16(onnx.ModelProto.FromString(model.SerializeToString()), **how)


def widen(model):
    """The same network in float32, with the weights that the halves have."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    for tensor in wide.graph.initializer:
        if tensor.data_type in HALVES.values():
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(numpy.float32), tensor.name))
    for port in [*wide.graph.input, *wide.graph.output, *wide.graph.value_info]:
        if port.type.tensor_type.elem_type in HALVES.values():
            port.type.tensor_type.elem_type = TensorProto.FLOAT
    for node in wide.graph.node:
        for attribute in node.attribute:
            if attribute.name == "to" and attribute.i in HALVES.values():
                attribute.i = TensorProto.FLOAT
    return wide


@pytest.fixture(scope="module")
def fashion(root):
    return onnx.load(root / "examples/fashion/model.onnx")


@pytest.mark.parametrize("keep_io_types", [False, True], ids=["whole", "cast"])
@pytest.mark.parametrize("batch", [1, 5])
def test_network(engine, fashion, keep_io_types, batch):
    model = halve(fashion, keep_io_types=keep_io_types)
    array = numpy.random.default_rng(batch).random((batch, 1, 28, 28), numpy.float32)
    if keep_io_types:
        array = array.astype(numpy.float16).astype(numpy.float32)
    ours = engine(model.SerializeToString(), [array], batch, [(batch, 10)])
    assert ours[0].dtype == numpy.float32
    assert_equal(ours, reference(widen(model).SerializeToString(), {"input": array}))
    theirs = reference(model.SerializeToString(), {"input": array if keep_io_types else array.astype(numpy.float16)})
    assert numpy.abs(ours[0] - theirs[0].astype(numpy.float32)).max() <= ROUNDING * numpy.abs(theirs[0]).max()


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("raw", [True, False])
def test_weights(engine, name, raw):
    """As DequantizeLinear of weights, and as constants that are cast; in raw data and in int32_data."""
    numbers = [1.0, -2.5, 3e-5, 65504.0 if name == "float16" else 1e30, 0.0, float("inf"), 2.0**-24, -0.1]
    array = numpy.array(numbers, helper.tensor_dtype_to_np_dtype(HALVES[name]))
    weight = (
        numpy_helper.from_array(array, "w")
        if raw
        else helper.make_tensor("w", HALVES[name], [8], array.view(numpy.uint16).tolist() if name == "bfloat16" else numbers)
    )
    assert weight.HasField("raw_data") == raw
    nodes = [helper.make_node("Cast", ["w"], ["wide"], to=TensorProto.FLOAT), helper.make_node("Add", ["x", "wide"], ["y"])]
    ports = [helper.make_tensor_value_info(port, TensorProto.FLOAT, ["N", 8]) for port in "xy"]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    x = numpy.zeros((1, 8), numpy.float32)
    ours = engine(model.SerializeToString(), [x], 1, [(1, 8)])
    expected = numpy_helper.to_array(weight).astype(numpy.float32)[None]
    assert numpy.array_equal(ours[0], expected)
    assert numpy.array_equal(ours[0], reference(model.SerializeToString(), {"x": x})[0])


def test_weights_in_another_file(process, fashion, tmp_path):
    model = halve(fashion)
    array = numpy.random.default_rng(1).random((2, 1, 28, 28), numpy.float32)
    expected = reference(widen(model).SerializeToString(), {"input": array})
    onnx.save_model(model, tmp_path / "model.onnx", save_as_external_data=True, size_threshold=0)
    process.load(tmp_path / "model.onnx")
    assert_equal(process.run([array], 2)[1], expected)
