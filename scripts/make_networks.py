#!/usr/bin/env python3
"""Makes networks of the ONNX model zoo with seeded weights, for tests and benches: the right shapes, trained for nothing.

usage: make_networks.py FOLDER [NAME...]

Each becomes FOLDER/NAME/model.onnx, the same bytes on every machine; all of them take 1.5 GB. The topologies are those
that the Python package `onnx` carries for its own tests, with constants where the zoo has trained weights; so run this
with the Python of build/venv. A file is as the zoo's is: opset 9, IR version 3, a batch of one in the input and in
Reshape, weights that are listed as inputs too.
"""

import argparse
import os
import pathlib
import sys
import zlib

import numpy
import onnx
from onnx import helper, numpy_helper

LIGHT = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"

# The file of the topology, and by how much the last layer's weights are scaled beside He's rule: with it the logits of
# random pictures differ by some units, so that neither one class has all the probability nor all have the same.
NETWORKS = {
    "alexnet": ("bvlc_alexnet", 0.4),
    "googlenet": ("inception_v1", 10),
    "resnet50": ("resnet50", 0.3),
    "squeezenet": ("squeezenet", 0.4),
    "shufflenet": ("shufflenet", 0.008),
    "densenet121": ("densenet121", 1),
    "vgg19": ("vgg19", 0.7),
    "zfnet512": ("zfnet512", 1.2),
    "inception_v2": ("inception_v2", 0.3),
}
SHAPE = "__SHAPE"  # behind a weight's name, that of the input of the node which makes it
RESIDUAL = 0.5  # the scale of a batch normalization that goes into a sum, lest 16 sums in a row grow without bound


class Weights:
    """What a weight is for decides about its values; that is found by following it to the first node that computes."""

    def __init__(self, graph, seed, gain):
        self.users = {}
        for node in graph.node:
            for index, name in enumerate(node.input):
                self.users.setdefault(name, []).append((node, index))
        self.rng = numpy.random.default_rng(seed)
        self.last = [node for node in graph.node if node.op_type in ("Conv", "Gemm")][-1]
        self.gain = gain

    def use(self, name):
        """The node and the number of the input that the weight `name` ends in, None for one that nobody uses."""
        node, index = self.users.get(name, [(None, 0)])[0]
        return self.use(node.output[0]) if node and node.op_type in ("Reshape", "Unsqueeze") else (node, index)

    def make(self, name, dims):
        node, index = self.use(name)
        kind = node and node.op_type
        if kind in ("Conv", "Gemm") and index == 1:
            scale = numpy.sqrt(2 / numpy.prod(dims[1:])) * (self.gain if node is self.last else 1)
            return self.rng.standard_normal(dims, numpy.float32) * numpy.float32(scale)
        if (kind, index) in (("BatchNormalization", 1), ("BatchNormalization", 4), ("Mul", 1)):
            into_sum = index == 1 and any(user.op_type == "Sum" for user, _ in self.users[node.output[0]])
            return self.rng.uniform(0.75, 1.25, dims).astype(numpy.float32) * numpy.float32(RESIDUAL if into_sum else 1)
        return self.rng.standard_normal(dims, numpy.float32) * numpy.float32(0.1)


def build(name):
    """The network as an ONNX model."""
    file, gain = NETWORKS[name]
    model = onnx.load(LIGHT / f"light_{file}.onnx")
    graph = model.graph
    weights = Weights(graph, zlib.crc32(name.encode()), gain)
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    made = {node.output[0]: shapes[node.input[0]] for node in graph.node if node.op_type == "ConstantOfShape"}
    floats = [tensor for tensor in graph.initializer if tensor.data_type == onnx.TensorProto.FLOAT]
    made |= {tensor.name: numpy.array(tensor.dims) for tensor in floats}

    kept = [tensor for tensor in graph.initializer if tensor.name not in made and not tensor.name.endswith(SHAPE)]
    ports = [port for port in graph.input if port.name not in made and not port.name.endswith(SHAPE)]
    for weight in sorted(made):
        kept.append(numpy_helper.from_array(weights.make(weight, tuple(made[weight].tolist())), weight))
        ports.append(helper.make_tensor_value_info(weight, onnx.TensorProto.FLOAT, made[weight].tolist()))
    nodes = [node for node in graph.node if node.op_type != "ConstantOfShape"]
    for field, values in (("initializer", kept), ("input", ports), ("node", nodes)):
        values = list(values)
        graph.ClearField(field)
        getattr(graph, field).extend(values)
    return model


def make(name, folder):
    """Writes the file, whole or not at all, if it is not there."""
    path = folder / name / "model.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(f".{os.getpid()}")
        half.write_bytes(build(name).SerializeToString())
        half.replace(path)
    return path


def main():
    parser = argparse.ArgumentParser(description="Makes networks of the ONNX model zoo with seeded weights.")
    parser.add_argument("folder", type=pathlib.Path, help="where a folder of each network is made")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NETWORKS)}; none: all")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(NETWORKS)
    if unknown:
        parser.error(f"there is no network {min(unknown)}; there are {', '.join(NETWORKS)}")
    if not LIGHT.is_dir():
        sys.exit("make_networks: this Python's onnx has no topologies in it: use build/venv/bin/python")
    for name in arguments.names or NETWORKS:
        print(f"made {make(name, arguments.folder)}")


if __name__ == "__main__":
    main()
