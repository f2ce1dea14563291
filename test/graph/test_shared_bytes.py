"""Constants of several shapes that lie at one place of a file: each kernel packs what it needs of them, and no more."""

import numpy
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from compare import assert_equal


def away(name, shape):
    entries = {"location": "weights.bin", "offset": "0", "length": str(4 * numpy.prod(shape))}
    tensor = TensorProto(name=name, dims=shape, data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


def floats(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


CASES = {
    "turned": ("MatMul", ("N", 256), (256, 512), (512, 256), {}),
    "larger": ("MatMul", ("N", 256), (256, 512), (512, 512), {}),
    "conv": ("Conv", ("N", 16, 20, 20), (64, 16, 3, 3), (16, 64, 3, 3), {"pads": [1, 1, 1, 1]}),
    "larger conv": ("Conv", ("N", 32, 20, 20), (64, 32, 3, 3), (128, 64, 3, 3), {"pads": [1, 1, 1, 1]}),
    "pixels": ("Conv", ("N", 32, 20, 20), (64, 32, 1, 1), (128, 64, 1, 1), {}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("batch", [1, 8])
def test_two_shapes_of_one_place(process, tmp_path, case, batch):
    operator, shape, first, second, attributes = CASES[case]
    count = max(numpy.prod(first), numpy.prod(second))
    weights = numpy.random.default_rng(1).standard_normal(count) / numpy.sqrt(numpy.prod(second[1:]))
    weights.astype(numpy.float32).tofile(tmp_path / "weights.bin")
    nodes = [helper.make_node(operator, ["x", "v"], ["a"], **attributes), helper.make_node(operator, ["a", "w"], ["y"], **attributes)]
    graph = helper.make_graph(nodes, "g", [floats("x", shape)], [floats("y", None)], [away("v", first), away("w", second)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), tmp_path / "model.onnx")
    x = numpy.random.default_rng(2).standard_normal((batch, *shape[1:])).astype(numpy.float32)

    process.load(tmp_path / "model.onnx")
    ours = process.run([x], batch)[1]
    assert_equal(ours, reference_in(tmp_path, x))


def reference_in(folder, x):
    session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})
