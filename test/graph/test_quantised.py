"""A whole network of 8-bit integers, made of one of float32 by ONNX Runtime's own tools: what comes out may be off by one
step of the last quantisation."""

import numpy
import onnx
import pytest
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

from compare import reference

PICTURES = 3


class Pictures(CalibrationDataReader):
    def __init__(self, name, pictures):
        self.items = iter([{name: picture} for picture in pictures])

    def get_next(self):
        return next(self.items, None)


def reshape_weights(graph):
    """Puts weights into the shape that a Reshape gives them, without which the tools leave them alone."""
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in [node for node in graph.node if node.op_type == "Reshape" and node.input[0] in tensors]:
        array, shape = (onnx.numpy_helper.to_array(tensors[name]) for name in node.input)
        graph.initializer.append(onnx.numpy_helper.from_array(array.reshape(shape), node.output[0]))
        graph.node.remove(node)


@pytest.fixture
def network(root, tmp_path):
    """The file, its input, and pictures; of an operator set that has the operators on integers."""
    folder = root / "test/models/data/mnist"
    model = onnx.load(folder / "model.onnx")
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [port for port in model.graph.input if port.name not in constants]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.opset_import[0].version, model.ir_version = 13, 8
    reshape_weights(model.graph)
    onnx.save(model, tmp_path / "float.onnx")
    pictures = [onnx.numpy_helper.to_array(onnx.load_tensor(folder / f"test_data_set_{i}/input_0.pb")) for i in range(PICTURES)]
    return tmp_path / "float.onnx", inputs[0].name, pictures


# Full 8 bits of signed weights are left out: without VNNI ONNX Runtime's sums of two products saturate at 16 bits, so that
# it is a fifth of the range off; ours do not.
STATIC = {
    "uint8": {"quant_format": QuantFormat.QOperator, "weight_type": QuantType.QUInt8},
    "int8": {"quant_format": QuantFormat.QOperator, "weight_type": QuantType.QInt8, "per_channel": True, "reduce_range": True},
    "qdq": {"quant_format": QuantFormat.QDQ, "weight_type": QuantType.QInt8, "per_channel": True},
}


def last_step(model):
    """The scale with which the last product is made integers."""
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    return max(float(constants[node.input[6]]) for node in model.graph.node if node.op_type == "QLinearMatMul")


@pytest.mark.parametrize("form", STATIC)
def test_static(process, network, tmp_path, form):
    source, name, pictures = network
    quantize_static(source, tmp_path / "model.onnx", Pictures(name, pictures), activation_type=QuantType.QUInt8,
                    op_types_to_quantize=["Conv", "MatMul"], **STATIC[form])
    model = onnx.load(tmp_path / "model.onnx")
    operators = {node.op_type for node in model.graph.node}
    whole = {"QuantizeLinear", "DequantizeLinear"} | (set() if form == "qdq" else {"QLinearConv", "QLinearMatMul"})
    assert whole <= operators
    process.load(tmp_path / "model.onnx")
    for picture in pictures:
        exact, = reference(source.read_bytes(), {name: picture})
        theirs, = reference(model.SerializeToString(), {name: picture})
        ours, = process.run([picture], 1)[1]
        step = 1e-3 * abs(theirs).max() if form == "qdq" else last_step(model)
        assert abs(ours - theirs).max() <= step
        assert abs(ours - exact).max() <= 0.05 * abs(exact).max() and ours.argmax() == exact.argmax()


def test_dynamic(process, network, tmp_path):
    source, name, pictures = network
    quantize_dynamic(source, tmp_path / "model.onnx", op_types_to_quantize=["Conv", "MatMul"], weight_type=QuantType.QUInt8)
    model = onnx.load(tmp_path / "model.onnx")
    assert {"DynamicQuantizeLinear", "ConvInteger", "MatMulInteger"} <= {node.op_type for node in model.graph.node}
    process.load(tmp_path / "model.onnx")
    for picture in pictures:
        exact, = reference(source.read_bytes(), {name: picture})
        theirs, = reference(model.SerializeToString(), {name: picture})
        ours, = process.run([picture], 1)[1]
        assert abs(ours - theirs).max() <= 1e-4 * abs(theirs).max()
        assert abs(ours - exact).max() <= 0.05 * abs(exact).max() and ours.argmax() == exact.argmax()


def test_a_batch_gives_what_its_items_give(process, network, tmp_path):
    source, name, pictures = network
    quantize_static(source, tmp_path / "model.onnx", Pictures(name, pictures), activation_type=QuantType.QUInt8,
                    op_types_to_quantize=["Conv", "MatMul"], **STATIC["uint8"])
    process.load(tmp_path / "model.onnx")
    alone = [process.run([picture], 1)[1][0] for picture in pictures]
    assert numpy.array_equal(process.run([numpy.concatenate(pictures)], PICTURES)[1][0], numpy.concatenate(alone))


def test_weights_with_several_zero_points(process, tmp_path):
    """They are packed with their zero points, once for each."""
    weights, x = (numpy.random.default_rng(1).integers(0, 256, shape).astype(numpy.uint8) for shape in ((7, 5), (3, 7)))
    zeros = [numpy.uint8(0), numpy.uint8(200), numpy.array([1, 2, 3, 4, 255], numpy.uint8)]
    nodes = [onnx.helper.make_node("Cast", ["x"], ["bytes"], to=onnx.TensorProto.UINT8)]
    nodes += [onnx.helper.make_node("MatMulInteger", ["bytes", "w", "", f"z{i}"], [f"y{i}"]) for i in range(len(zeros))]
    constants = [onnx.numpy_helper.from_array(numpy.asarray(zero), f"z{i}") for i, zero in enumerate(zeros)]
    graph = onnx.helper.make_graph(
        nodes, "g", [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", 7])],
        [onnx.helper.make_tensor_value_info(f"y{i}", onnx.TensorProto.INT32, ["N", 5]) for i in range(len(zeros))],
        [onnx.numpy_helper.from_array(weights, "w"), *constants])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, tmp_path / "model.onnx")
    process.load(tmp_path / "model.onnx")
    for ours, zero in zip(process.run([x.astype(numpy.float32)], len(x))[1], zeros):
        assert numpy.array_equal(ours, x.astype(int) @ (weights.astype(int) - zero.astype(int)))
