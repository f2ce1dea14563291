"""The networks of bench/infer.py: where their files are, how they are made for engines that take the batch size from the file,
and what they cost."""

import math
import pathlib
import sys

import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import make_networks

MODELS = ROOT / "build/cache/models"
PEERS = ROOT / "build/cache/peers"
LISTED = {
    "efficientnet_lite0": MODELS / "efficientnet-lite0/model.onnx",
    "fashion": ROOT / "examples/fashion/model.onnx",
    "mnist": ROOT / "test/models/data/mnist/model.onnx",
    "ultraface": ROOT / "test/models/data/ultraface/model.onnx",
}
NAMES = (*make_networks.NETWORKS, *LISTED)


def find(name):
    """The path of the network's file; the seeded ones are made if they are not there."""
    return LISTED.get(name) or make_networks.make(name, MODELS)


def given(graph):
    return {tensor.name for tensor in graph.initializer}


def open_batch(model):
    """Gives the model a symbolic batch size, also inside Reshape, and takes the weights out of its inputs, where ONNX Runtime
    would not take them for constants."""
    graph = model.graph
    weights = given(graph)
    shapes = {node.input[1] for node in graph.node if node.op_type == "Reshape" and node.input[0] not in weights}
    for tensor in graph.initializer:
        if tensor.name in shapes:
            shape = numpy_helper.to_array(tensor).copy()
            shape[0] = 0 if -1 in shape else -1
            tensor.CopyFrom(numpy_helper.from_array(shape, tensor.name))
    ports = [port for port in graph.input if port.name not in weights]
    graph.ClearField("input")
    graph.input.extend(ports)
    graph.ClearField("value_info")
    for port in (*graph.input, *graph.output):
        port.type.tensor_type.shape.dim[0].dim_param = "N"
    model.ir_version = max(model.ir_version, 4)


def for_peers(name):
    """The path of a file with the same weights that takes any batch size."""
    path, source = PEERS / f"{name}.onnx", find(name)
    if not path.exists() or path.stat().st_mtime < source.stat().st_mtime:
        model = onnx.load(source)
        open_batch(model)
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(".half")
        onnx.save(model, half)
        half.replace(path)
    return path


def count_operations(name):
    """Multiplications and additions of the convolutions and matrix products for one item."""
    model = onnx.load(for_peers(name))
    for port in model.graph.input:
        port.type.tensor_type.shape.dim[0].dim_value = 1
    graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    dims = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        dims[value.name] = [max(1, dim.dim_value) for dim in value.type.tensor_type.shape.dim]
    total = 0
    for node in graph.node:
        if node.op_type == "Conv":
            total += 2 * math.prod(dims[node.output[0]]) * math.prod(dims[node.input[1]][1:])
        elif node.op_type in ("Gemm", "MatMul"):
            transposed = any(entry.name == "transA" and entry.i for entry in node.attribute)
            total += 2 * math.prod(dims[node.output[0]]) * dims[node.input[0]][0 if transposed else -1]
    return total
