"""Models that are broken, or as wrong as somebody could make them: each is refused in one sentence that names what is wrong,
or runs, and nothing crashes, hangs or takes memory without bound."""

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from compare import reference
from engine import Refused

TRIALS = 200
SENTENCE_BYTES = 512
HUGE = 1 << 40


def sentence(refused):
    """That with which something was refused: one, for people to read."""
    text = str(refused.value if hasattr(refused, "value") else refused)
    assert text and len(text.encode()) < SENTENCE_BYTES and text.isprintable(), text
    return text


@pytest.fixture(params=["fashion", "mnist", "ultraface"])
def path(root, request):
    folders = {"fashion": root / "examples/fashion"}
    return folders.get(request.param, root / "test/models/data" / request.param) / "model.onnx"


# ---- files that were damaged


def test_cut_off(process, path):
    """The last field of a file may be one that nobody needs."""
    process.load(path)
    size = path.stat().st_size
    for length in numpy.random.default_rng(1).integers(0, size - 100, TRIALS):
        with pytest.raises(Refused) as refused:
            process.damage(length)
        assert "not a whole ONNX file" in sentence(refused) or "no graph" in str(refused.value) or "empty" in str(refused.value)


def structure(model):
    """The places of the bytes that are no weights."""
    whole, places, at = model.SerializeToString(), [], 0
    for tensor in sorted((t for t in model.graph.initializer if len(t.raw_data) > 64), key=lambda t: whole.find(t.raw_data)):
        begin = whole.find(tensor.raw_data, at)
        places.append(numpy.arange(at, begin))
        at = begin + len(tensor.raw_data)
    return numpy.concatenate([*places, numpy.arange(at, len(whole))]), whole


def test_turned_bits(process, path, tmp_path):
    """In what is not a weight; weights may be anything."""
    places, whole = structure(onnx.load(path))
    (tmp_path / "model.onnx").write_bytes(whole)
    process.load(tmp_path / "model.onnx")
    rng, refusals = numpy.random.default_rng(2), 0
    for at, bit in zip(rng.choice(places, 5 * TRIALS), rng.integers(0, 8, 5 * TRIALS)):
        try:
            process.damage(len(whole), at, bit)
        except Refused as refused:
            refusals += bool(sentence(refused))
    assert refusals > TRIALS // 5


def small_model():
    """Every form of tensors, and operators that take shapes and axes."""
    rng = numpy.random.default_rng(3)
    weights = [
        numpy_helper.from_array(rng.standard_normal((4, 2, 3, 3), numpy.float32), "k"),
        helper.make_tensor("b", TensorProto.FLOAT, [4], [1.0, 2.0, 3.0, 4.0]),
        helper.make_tensor("s", TensorProto.INT64, [2], [0, -1]),
        numpy_helper.from_array(rng.standard_normal((36, 5)).astype(numpy.float16), "f"),
        numpy_helper.from_array(numpy.array([1, 3], numpy.int64), "axes"),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "k", "b"], ["c"], pads=[0, 1, 0, 1], strides=[2, 2]),
        helper.make_node("Clip", ["c", "", "six"], ["r"]),
        helper.make_node("Constant", [], ["six"], value_float=6.0),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[1, 1], ceil_mode=1, pads=[1, 0, 1, 1]),
        helper.make_node("Reshape", ["p", "s"], ["flat"]),
        helper.make_node("Gemm", ["flat", "f"], ["g"], alpha=0.5),
        helper.make_node("Softmax", ["g"], ["y"]),
        helper.make_node("ReduceSum", ["p", "axes"], ["z"], keepdims=0),
    ]
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 6, 6])]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "yz"]
    return make_model(nodes, ports, outputs, weights)


def make_model(nodes, inputs, outputs, weights=(), opset=13):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def test_turned_bits_that_run(process, tmp_path):
    """Every bit of a small file: what is still accepted runs, or is refused."""
    whole, x = small_model().SerializeToString(), numpy.ones((2, 2, 6, 6), numpy.float32)
    accepted = 0
    for number in range(0, 8 * len(whole), 3):
        file = bytearray(whole)
        file[number // 8] ^= 1 << number % 8
        (tmp_path / "model.onnx").write_bytes(file)
        try:
            process.load(tmp_path / "model.onnx")
            process.run([x], 2)
            accepted += 1
        except Refused as refused:
            sentence(refused)
    assert accepted > TRIALS


# ---- files that are wrong


def value(name, dims, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def weight(name, array):
    return numpy_helper.from_array(numpy.asarray(array), name)


def one(op, *inputs, weights=(), dims=(1, 4), opset=13, **attributes):
    """A model of one node that computes y of x and weights."""
    node = helper.make_node(op, list(inputs), ["y"], name="the node", **attributes)
    return make_model([node], [value("x", dims)], [value("y", None)], weights, opset)


def nested(depth):
    """An If whose branches are an If whose branches are one."""
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [], [value("y", [1])])
    for _ in range(depth):
        node = helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=helper.make_graph([], "e", [], []))
        graph = helper.make_graph([node], "g", [], [value("y", [1])])
    node = helper.make_node("If", ["c"], ["y"], name="the node", then_branch=graph, else_branch=graph)
    return make_model([node], [value("c", [], TensorProto.BOOL), value("x", [1])], [value("y", [1])])


def cycle():
    nodes = [helper.make_node("Add", ["x", "b"], ["a"], name="the node"), helper.make_node("Relu", ["a"], ["b"])]
    return make_model(nodes, [value("x", [1])], [value("b", [1])])


def raw(name, dims, data, dtype=TensorProto.FLOAT):
    return TensorProto(name=name, dims=dims, raw_data=data, data_type=dtype)


def outside(location):
    entry = onnx.StringStringEntryProto(key="location", value=location)
    return TensorProto(name="w", dims=[4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL, external_data=[entry])


def ints(*numbers):
    return weight("w", numpy.array(numbers, numpy.int64))


WRONG = {
    "opset 99": (one("Relu", "x", opset=99), "operator set 99; sets 7 to 28"),
    "opset 6": (one("Relu", "x", opset=6), "operator set 6"),
    "no opset": (onnx.ModelProto(ir_version=8, graph=one("Relu", "x").graph), "operator set 0"),
    "format 99": (onnx.ModelProto(ir_version=99, graph=one("Relu", "x").graph), "format version is 99"),
    "no graph": (onnx.ModelProto(ir_version=8), "no graph"),
    "cycle": (cycle(), "cycle"),
    "nothing computes an input": (one("Add", "x", "w"), "'the node'", "'w', which nothing computes"),
    "nothing computes an output": (make_model([helper.make_node("Relu", ["x"], ["z"])], [value("x", [1])], [value("y", [1])]),
                                   "nothing computes the output 'y'"),
    "defined twice": (one("Add", "x", "w", weights=[weight("w", [1.0]), weight("w", [2.0])]), "'w' is defined twice"),
    "unknown operator": (one("Frobnicate", "x"), "'the node'", "Frobnicate"),
    "another domain": (one("Gelu", "x", domain="com.microsoft"), "Gelu of 'com.microsoft'"),
    "unknown attribute": (one("Relu", "x", slope=3), "'the node'", "'slope'"),
    "attribute of another type": (one("Softmax", "x", axis="one"), "'the node'", "'axis'"),
    "axis that is not there": (one("Softmax", "x", axis=7), "'the node'"),
    "too many inputs": (one("Relu", "x", "x"), "'the node'", "2 inputs"),
    "too few inputs": (one("Add", "x"), "'the node'", "lacks its input 1"),
    "types that do not fit": (one("Add", "x", "w", weights=[ints(1)]), "'the node'", "int64"),
    "a type that is none": (one("Cast", "x", to=99), "'the node'"),
    "an input of text": (make_model([helper.make_node("Relu", ["x"], ["y"])], [value("x", [1], TensorProto.STRING)],
                                    [value("y", [1])]), "'x'", "string"),
    "weights of text": (one("Add", "x", "w", weights=[raw("w", [1], b"", TensorProto.STRING)]), "'w'", "string"),
    "too few bytes": (one("Add", "x", "w", weights=[raw("w", [4], bytes(15))]), "'w'", "15 bytes", "16"),
    "too many bytes": (one("Add", "x", "w", weights=[raw("w", [4], bytes(17))]), "'w'", "17 bytes", "16"),
    "too few elements": (one("Add", "x", "w", weights=[TensorProto(name="w", dims=[4], data_type=1, float_data=[1, 2])]), "'w'", "2"),
    "negative dimension": (one("Add", "x", "w", weights=[raw("w", [-4], bytes(16))]), "'w'", "impossible shape"),
    "huge weights": (one("Add", "x", "w", weights=[raw("w", [HUGE, HUGE], bytes(16))]), "'w'", "impossible shape"),
    "weights as large as memory": (one("Add", "x", "w", weights=[raw("w", [HUGE], bytes(16))]), "'w'", "16 bytes"),
    "huge input": (one("Relu", "x", dims=[1, HUGE, HUGE]), "'x'", "larger than any memory"),
    "rank 9": (one("Relu", "x", dims=[1] * 9), "'x'", "9 dimensions"),
    "weights of rank 9": (one("Add", "x", "w", weights=[raw("w", [1] * 9, bytes(4))]), "'w'", "9 dimensions"),
    "reshape to another size": (one("Reshape", "x", "w", weights=[ints(3, 3)]), "'the node'"),
    "reshape to two open sizes": (one("Reshape", "x", "w", weights=[ints(-1, -1)]), "'the node'"),
    "huge expansion": (one("Expand", "x", "w", weights=[ints(HUGE, HUGE, 1)]), "'the node'"),
    "huge tiles": (one("Tile", "x", "w", weights=[ints(HUGE, HUGE)]), "'the node'"),
    "huge pads": (one("Pad", "x", "w", weights=[ints(0, HUGE, 0, 2**62)]), "'the node'"),
    "huge convolution": (one("Conv", "x", "w", weights=[weight("w", numpy.ones((1, 1, 3), numpy.float32))], dims=[1, 1, 8],
                             pads=[2**62, 2**62]), "'the node'"),
    "no step": (one("Conv", "x", "w", weights=[weight("w", numpy.ones((1, 1, 3), numpy.float32))], dims=[1, 1, 8], strides=[0]),
                "'the node'"),
    "no groups": (one("Conv", "x", "w", weights=[weight("w", numpy.ones((1, 1, 3), numpy.float32))], dims=[1, 1, 8], group=0),
                  "'the node'"),
    "window larger than the picture": (one("MaxPool", "x", dims=[1, 1, 8], kernel_shape=[9]), "'the node'"),
    "parts that are not the whole": (one("Split", "x", "w", weights=[ints(1, 2)], axis=1), "'the node'"),
    "matrices that do not fit": (one("MatMul", "x", "w", weights=[weight("w", numpy.ones((3, 2), numpy.float32))]), "'the node'"),
    "data in another folder": (one("Add", "x", "w", weights=[outside("../w.bin")]), "'w'", "'../w.bin'", "no file beside the model"),
    "data that is missing": (one("Add", "x", "w", weights=[outside("w.bin")]), "'w'", "'w.bin'", "cannot open"),
    "a branch": (nested(0), "'the node'", "If"),
    "branches in branches": (nested(9), "'the node'", "If"),
    "sparse weights": (make_model([helper.make_node("Relu", ["x"], ["y"])], [value("x", [1])], [value("y", [1])]), "sparse"),
    "no inputs": (make_model([helper.make_node("Relu", ["w"], ["y"])], [], [value("y", [1])], [weight("w", [1.0])]), "no inputs"),
    "no outputs": (make_model([helper.make_node("Relu", ["x"], ["y"])], [value("x", [1])], []), "no outputs"),
}
WRONG["sparse weights"][0].graph.sparse_initializer.append(onnx.SparseTensorProto(dims=[4]))


@pytest.mark.parametrize("name", WRONG)
def test_wrong(process, tmp_path, name):
    model, *words = WRONG[name]
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(Refused) as refused:
        process.load(tmp_path / "model.onnx")
    assert [word for word in words if word not in sentence(refused)] == [], str(refused.value)


def test_index_that_is_not_there(process, tmp_path):
    """It is found when the model runs, and the next run is none the worse."""
    model = make_model(
        [helper.make_node("Gather", ["w", "x"], ["y"], name="the node")],
        [value("x", ["N"], TensorProto.INT64)], [value("y", None)], [weight("w", numpy.ones(4, numpy.float32))])
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    process.load(tmp_path / "model.onnx")
    for index in (4, -5, 1 << 40, -1 << 62):
        with pytest.raises(Refused, match="'the node'") as refused:
            process.run([numpy.array([index])], 1)
        sentence(refused)
        assert process.run([numpy.array([3])], 1)[1][0] == 1


def test_nothing_of_a_huge_shape(engine):
    """No elements need no memory, whatever the other dimensions are."""
    model = one("Tile", "x", "w", weights=[ints(1, HUGE)], dims=["N", 1])
    x = numpy.zeros((0, 1), numpy.float32)
    assert engine(model.SerializeToString(), [x], 1, [(0, HUGE)])[0].size == 0


# ---- numbers that are none


def numberless(array, rng):
    array = array.copy()
    array.reshape(-1)[rng.integers(array.size)] = numpy.nan
    return array


def numbered(op, *shapes, dims=(2, 3, 8, 8), **attributes):
    rng = numpy.random.default_rng(4)
    weights = [weight(f"w{i}", numberless(rng.uniform(0.5, 1.5, shape).astype(numpy.float32), rng)) for i, shape in enumerate(shapes)]
    names = [tensor.name for tensor in weights]
    return one(op, "x", *names, weights=weights, dims=["N", *dims[1:]], opset=17, **attributes), dims


NUMBERLESS = {
    "Conv": numbered("Conv", (4, 3, 3, 3), (4,)),
    "depthwise Conv": numbered("Conv", (3, 1, 3, 3), (3,), group=3),
    "1x1 Conv": numbered("Conv", (16, 32, 1, 1), dims=(2, 32, 8, 8)),
    "ConvTranspose": numbered("ConvTranspose", (3, 4, 3, 3)),
    "Gemm": numbered("Gemm", (24, 5), (5,), dims=(2, 24)),
    "MatMul": numbered("MatMul", (8, 5)),
    "BatchNormalization": numbered("BatchNormalization", *[(16,)] * 4, dims=(2, 16, 4, 4)),
    "LayerNormalization": numbered("LayerNormalization", (8,), (8,)),
    "Add": numbered("Add", (3, 1, 8)),
    "Mul": numbered("Mul", (3, 1, 8)),
    "Div": numbered("Div", (3, 1, 8)),
    "PRelu": numbered("PRelu", (3, 1, 1)),
}


def same(ours, theirs):
    assert ours.shape == theirs.shape
    assert numpy.array_equal(numpy.isnan(ours), numpy.isnan(theirs))
    assert numpy.allclose(ours, theirs, rtol=1e-3, atol=1e-4, equal_nan=True)


ROWS = numpy.array([[1, 2, 3, 0], [-numpy.inf, 1, 2, 0], [0] + [-numpy.inf] * 3, [-numpy.inf] * 4, [3e38, -3e38, 3e38, 1],
                    [numpy.inf, 1, 2, 0], [1, numpy.nan, 2, 0], [numpy.inf, -numpy.inf, 0, 1]], numpy.float32)
MASKED = 5  # rows before those that have no answer


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("times, inner", [(1, 1), (2, 1), (7, 1), (64, 1), (1, 3), (1, 16)])
def test_softmax_of_what_is_masked(engine, op, times, inner):
    """Minus infinity is what masks put there. A row with NaN or infinity has NaN in it, though not everywhere."""
    x = numpy.repeat(numpy.concatenate([ROWS] * times, axis=1)[:, :, None], inner, axis=2)
    model = one(op, "x", dims=["N", *x.shape[1:]], axis=1, opset=13).SerializeToString()
    theirs, = reference(model, {"x": x})
    ours, = engine(model, [x], len(x), [x.shape])
    same(ours[:MASKED], theirs[:MASKED])
    assert numpy.isnan(ours[MASKED:]).any(axis=1).all()


@pytest.mark.parametrize("name", NUMBERLESS)
def test_weights_that_are_no_numbers(engine, name):
    model, dims = NUMBERLESS[name]
    x = numpy.random.default_rng(5).standard_normal(dims, numpy.float32)
    theirs = reference(model.SerializeToString(), {"x": x})
    assert numpy.isnan(theirs[0]).any() and not numpy.isnan(theirs[0]).all()
    same(engine(model.SerializeToString(), [x], dims[0], [theirs[0].shape])[0], theirs[0])
