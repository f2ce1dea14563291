"""EfficientNet-Lite0 for pictures of 224 x 224 as an ONNX graph, from its PyTorch weights.

BatchNormalization stays a node of its own, as trainers write it: folding it is the business of whoever runs the model.
TensorFlow's SAME padding is written out as numbers, the odd pixel at the bottom and right.
"""

import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE = 224
CLASSES = 1000
EPSILON = 1e-3  # of the batch normalizations
OPSET, IR_VERSION = 13, 7

# repeats, kernel, stride of the first repeat, expansion, channels out
STAGES = [
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
]
STEM_CHANNELS, HEAD_CHANNELS = 32, 1280


def same_padding(side, kernel, stride):
    """ONNX pads [top, left, bottom, right] with which the output has ceil(side / stride) pixels a side."""
    total = max((-(-side // stride) - 1) * stride + kernel - side, 0)
    return [total // 2, total // 2, total - total // 2, total - total // 2]


class Builder:
    """Collects nodes and weights; every method adds one layer to `value` and returns the new value's name."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.initializers = []
        self.unused = set(weights)
        self.constant("relu6.min", 0.0)
        self.constant("relu6.max", 6.0)

    def constant(self, name, value):
        self.initializers.append(helper.make_tensor(name, TensorProto.FLOAT, [], [value]))

    def weight(self, name, shape):
        array = self.weights[name]
        if array.shape != shape or array.dtype != "float32":
            raise ValueError(f"weight {name} is {array.dtype} {array.shape}, not float32 {shape}")
        self.unused.discard(name)
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op, name, inputs, **attributes):
        output = f"{name}.out"
        self.nodes.append(helper.make_node(op, inputs, [output], name=name, **attributes))
        return output

    def conv(self, value, name, side, channels, kernel=1, stride=1, group=1):
        channels_in, channels_out = channels
        weight = self.weight(f"{name}.weight", (channels_out, channels_in // group, kernel, kernel))
        return self.node(
            "Conv",
            name,
            [value, weight],
            dilations=[1, 1],
            group=group,
            kernel_shape=[kernel, kernel],
            pads=same_padding(side, kernel, stride),
            strides=[stride, stride],
        )

    def norm(self, value, name, channels):
        parts = ["weight", "bias", "running_mean", "running_var"]
        inputs = [value] + [self.weight(f"{name}.{part}", (channels,)) for part in parts]
        return self.node("BatchNormalization", name, inputs, epsilon=EPSILON)

    def relu6(self, value, name):
        return self.node("Clip", name, [value, "relu6.min", "relu6.max"])

    def block(self, value, name, side, channels, kernel, stride, expansion):
        """An inverted residual: widen, filter each channel by itself, narrow, and add the input where shapes agree."""
        channels_in, channels_out = channels
        wide = channels_in * expansion
        x = value
        if expansion > 1:
            x = self.conv(x, f"{name}._expand_conv", side, (channels_in, wide))
            x = self.norm(x, f"{name}._bn0", wide)
            x = self.relu6(x, f"{name}.relu6_0")
        x = self.conv(x, f"{name}._depthwise_conv", side, (wide, wide), kernel, stride, group=wide)
        x = self.norm(x, f"{name}._bn1", wide)
        x = self.relu6(x, f"{name}.relu6_1")
        x = self.conv(x, f"{name}._project_conv", -(-side // stride), (wide, channels_out))
        x = self.norm(x, f"{name}._bn2", channels_out)
        if stride == 1 and channels_in == channels_out:
            x = self.node("Add", f"{name}.add", [x, value])
        return x

    def blocks(self, value, side):
        number, channels_in = 0, STEM_CHANNELS
        for repeats, kernel, first_stride, expansion, channels_out in STAGES:
            for repeat in range(repeats):
                stride = 1 if repeat else first_stride
                channels = (channels_in, channels_out)
                value = self.block(value, f"_blocks.{number}", side, channels, kernel, stride, expansion)
                number, channels_in, side = number + 1, channels_out, -(-side // stride)
        return value, side, channels_in

    def network(self, value):
        x = self.conv(value, "_conv_stem", SIDE, (3, STEM_CHANNELS), kernel=3, stride=2)
        x = self.norm(x, "_bn0", STEM_CHANNELS)
        x = self.relu6(x, "relu6_stem")
        x, side, channels = self.blocks(x, SIDE // 2)
        x = self.conv(x, "_conv_head", side, (channels, HEAD_CHANNELS))
        x = self.norm(x, "_bn1", HEAD_CHANNELS)
        x = self.relu6(x, "relu6_head")
        x = self.node("GlobalAveragePool", "pool", [x])
        x = self.node("Flatten", "flatten", [x], axis=1)
        fc = [self.weight("_fc.weight", (CLASSES, HEAD_CHANNELS)), self.weight("_fc.bias", (CLASSES,))]
        return self.node("Gemm", "_fc", [x] + fc, transB=1)


def build(state):
    """The model as bytes: input `input` float32 [N, 3, 224, 224], output `probabilities` float32 [N, 1000]."""
    weights = {name: array for name, array in state.items() if not name.endswith(".num_batches_tracked")}
    builder = Builder(weights)
    logits = builder.network("input")
    builder.nodes.append(helper.make_node("Softmax", [logits], ["probabilities"], name="softmax", axis=1))
    if builder.unused:
        raise ValueError(f"weights that the network has no place for: {sorted(builder.unused)}")
    graph = helper.make_graph(
        builder.nodes,
        "efficientnet_lite0",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["N", 3, SIDE, SIDE])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", CLASSES])],
        builder.initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="make_lite0")
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model)
    return model.SerializeToString(deterministic=True)
