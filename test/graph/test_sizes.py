"""Models whose files leave sizes open beside the batch, as exporters write them: against ONNX Runtime, on one size after
another."""

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from compare import assert_equal, reference
from engine import Refused

WORDS, WIDTH, HEADS = 50, 24, 3


class Network:
    """Nodes and seeded weights, by and by."""

    def __init__(self):
        self.nodes, self.weights, self.rng = [], [], numpy.random.default_rng(5)

    def weight(self, array):
        self.weights.append(numpy_helper.from_array(array, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def random(self, *dims):
        return self.weight(self.rng.standard_normal(dims, numpy.float32) * numpy.float32(dims[0] ** -0.5))

    def ints(self, *numbers):
        return self.weight(numpy.array(numbers, numpy.int64))

    def add(self, op, *inputs, **attributes):
        self.nodes.append(helper.make_node(op, list(inputs), [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def model(self, inputs, outputs):
        """`inputs` and `outputs` by name: type and dims."""
        for name, computed in zip(outputs, self.results):
            self.nodes.append(helper.make_node("Identity", [computed], [name]))
        ports = [[helper.make_tensor_value_info(name, *port) for name, port in some.items()] for some in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, "g", *ports, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def attention(network, x, mask):
    """Heads by the shape of x, as torch.onnx writes it."""
    batch, length = (
        network.add("Unsqueeze", network.add("Gather", network.add("Shape", x), network.weight(numpy.int64(axis))), network.ints(0))
        for axis in (0, 1)
    )
    heads = network.add("Concat", batch, length, network.ints(HEADS), network.ints(WIDTH // HEADS), axis=0)
    q, k, v = (
        network.add("Reshape", network.add("MatMul", x, network.random(WIDTH, WIDTH)), heads) for _ in range(3)
    )
    q, v = (network.add("Transpose", part, perm=[0, 2, 1, 3]) for part in (q, v))
    scores = network.add("Add", network.add("MatMul", q, network.add("Transpose", k, perm=[0, 2, 3, 1])), mask)
    mixed = network.add("Transpose", network.add("MatMul", network.add("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    whole = network.add("Concat", batch, length, network.ints(WIDTH), axis=0)
    return network.add("MatMul", network.add("Reshape", mixed, whole), network.random(WIDTH, WIDTH))


def normalize(network, x):
    scale, bias = (network.weight(network.rng.uniform(0.5, 1.5, WIDTH).astype(numpy.float32)) for _ in range(2))
    return network.add("LayerNormalization", x, scale, bias, axis=-1)


@pytest.fixture(scope="module")
def encoder():
    """A transformer encoder of two layers: ids and a mask, both [batch, sequence]."""
    network = Network()
    x = network.add("Gather", network.random(WORDS, WIDTH), "ids")
    mask = network.add("Cast", network.add("Unsqueeze", "mask", network.ints(1, 2)), to=TensorProto.FLOAT)
    mask = network.add("Mul", network.add("Sub", network.weight(numpy.float32(1)), mask), network.weight(numpy.float32(-1e4)))
    for _ in range(2):
        x = normalize(network, network.add("Add", x, attention(network, x, mask)))
        wide = network.add("Relu", network.add("MatMul", x, network.random(WIDTH, 2 * WIDTH)))
        x = normalize(network, network.add("Add", x, network.add("MatMul", wide, network.random(2 * WIDTH, WIDTH))))
    first = network.add("Gather", x, network.weight(numpy.int64(0)), axis=1)
    network.results = (x, network.add("Gemm", first, network.random(WIDTH, 4)))
    ids = (TensorProto.INT64, ["batch", "sequence"])
    return network.model(
        {"ids": ids, "mask": ids},
        {"states": (TensorProto.FLOAT, ["batch", "sequence", WIDTH]), "logits": (TensorProto.FLOAT, ["batch", 4])},
    )


@pytest.fixture(scope="module")
def segmenter():
    """Every pixel its class: down, up to the size of the picture again, and a skip."""
    network = Network()
    down = network.add("Relu", network.add("Conv", "picture", network.random(8, 3, 3, 3), pads=[1] * 4, strides=[2, 2]))
    low = network.add("Relu", network.add("Conv", down, network.random(8, 8, 3, 3), pads=[1] * 4))
    shape = network.add("Shape", "picture")
    sides = network.add("Slice", shape, network.ints(2), network.ints(4))
    wanted = network.add("Concat", network.add("Slice", network.add("Shape", low), network.ints(0), network.ints(2)), sides, axis=0)
    up = network.add("Resize", low, "", "", wanted, mode="linear", coordinate_transformation_mode="half_pixel")
    joined = network.add("Concat", up, "picture", axis=1)
    network.results = (network.add("Conv", joined, network.random(5, 11, 1, 1)),)
    return network.model(
        {"picture": (TensorProto.FLOAT, ["N", 3, "H", "W"])}, {"classes": (TensorProto.FLOAT, ["N", 5, "H", "W"])}
    )


@pytest.fixture
def run(process, tmp_path):
    def run(model, feeds):
        (tmp_path / "model.onnx").write_bytes(model)
        process.load(tmp_path / "model.onnx")
        return [compare(process, model, feed) for feed in feeds]

    def compare(process, model, feed):
        theirs = reference(model, feed)
        ours = process.run(list(feed.values()), 0)[1]
        assert_equal(ours, theirs)
        return [array.shape for array in ours]

    return run


def test_encoder(run, encoder):
    """Also one whose sizes were given up meanwhile."""
    rng = numpy.random.default_rng(1)
    sizes = [(1, 7), (3, 7), (2, 1), (1, 20), (4, 33), (2, 8), (1, 9), (3, 7)]
    feeds = [{"ids": rng.integers(0, WORDS, size), "mask": rng.integers(0, 2, size) | (numpy.arange(size[1]) == 0)} for size in sizes]
    assert run(encoder, feeds) == [[(batch, length, WIDTH), (batch, 4)] for batch, length in sizes]


def test_segmenter(run, segmenter):
    rng = numpy.random.default_rng(1)
    sizes = [(1, 3, 16, 16), (2, 3, 16, 16), (1, 3, 17, 30), (3, 3, 5, 4)]
    shapes = run(segmenter, [{"picture": rng.standard_normal(size, numpy.float32)} for size in sizes])
    assert shapes == [[(batch, 5, *sides)] for batch, _, *sides in sizes]


def test_one_model_after_another_on_the_same_sizes(run, encoder, segmenter):
    ones = {"ids": numpy.ones((2, 5), numpy.int64), "mask": numpy.ones((2, 5), numpy.int64)}
    picture = {"picture": numpy.ones((2, 3, 8, 8), numpy.float32)}
    for _ in range(2):
        run(encoder, [ones])
        run(segmenter, [picture])


@pytest.mark.parametrize(
    "shapes, sentence",
    [
        (((2, 5), (2, 6)), "node '.*'"),
        (((2, 5), (10,)), r"the input 'mask' is int64 \[10\]; the model takes int64 \[\?, \?\]"),
    ],
)
def test_sizes_that_do_not_fit(process, encoder, tmp_path, shapes, sentence):
    (tmp_path / "model.onnx").write_bytes(encoder)
    process.load(tmp_path / "model.onnx")
    with pytest.raises(Refused, match=sentence):
        process.run([numpy.ones(shape, numpy.int64) for shape in shapes], 0)
