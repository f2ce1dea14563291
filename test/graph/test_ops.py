"""Every operator, in the forms that it has, against ONNX Runtime on random weights and inputs."""

import itertools
import re
import zlib

import isa
import numpy
import onnx
import onnx.parser
import pytest

from compare import assert_equal, reference
from engine import Refused

# id: operator set, body, inputs, constants. `N` is the batch; a constant is a shape (random), or an array.
X = {"x": ("N", 6, 11, 13)}
F = {"x": ("N", 12)}


def floats(*values):
    return numpy.array(values, numpy.float32)


def ints(*values):
    return numpy.array(values, numpy.int64)


def conv(attributes="", weights=(8, 6, 3, 3), x=X, opset=13, bias=False):
    body = f"y = Conv<{attributes}>(x, w{', k' if bias else ''})".replace("<>", "")
    return opset, body, x, {"w": weights} | ({"k": (weights[0],)} if bias else {})


def pool(operator, attributes, x=X, opset=13):
    return opset, f"y = {operator}<{attributes}>(x)", x, {}


def transpose(attributes="", weights=(6, 8, 3, 3), x=X, opset=13, bias=False):
    case = conv(attributes, weights, x, opset, bias)
    groups = int((re.search(r"group=(\d+)", attributes) or (0, 1))[1])
    return opset, case[1].replace("Conv", "ConvTranspose"), x, case[3] | ({"k": (groups * weights[1],)} if bias else {})


def recurrent(operator, attributes, gates=1, directions=1, names="r, b", opset=14):
    """n: lengths, i and j: initial states, p: peepholes."""
    rows, given = 4 * gates, ["x", "w", *names.split(", ")]
    constants = {"w": (directions, rows, 6), "r": (directions, rows, 4), "b": (directions, 2 * rows),
                 "n": numpy.array([5, 2, 3], numpy.int32), "i": (directions, 3, 4), "j": (directions, 3, 4),
                 "p": (directions, 12)}
    return opset, f"y, h = {operator}<{attributes}>({', '.join(given)})", {"x": (5, 3, 6)}, {
        name: value for name, value in constants.items() if name in given}


def roi_align(attributes, opset=16):
    return opset, f"y = RoiAlign<{attributes}>(x, g, i)", {"x": (2, 6, 11, 13)}, {
        "g": numpy.array([[2, 3, 9.5, 8], [-4, 9, 12, 10.25], [7, 7, 7, 7]], numpy.float32), "i": ints(1, 0, 1)}


def bytes_of(*shape):
    return (numpy.arange(numpy.prod(shape)) * 37 % 64).astype(numpy.uint8).reshape(shape)


def gemm(attributes, x=F, **constants):
    body = f"y = Gemm<{attributes}>(x, {', '.join(constants)})".replace("<>", "")
    return 13, body, x, constants


# q is x as uint8
QUANTIZED = "a = Add(x, h) q = Cast<to=2>(a)"
QUANTA = {"h": floats(9), "p": numpy.uint8(9), "z": numpy.uint8(30), "s": numpy.float32(0.5), "t": numpy.float32(20)}
STATISTICS = {"s": (6,), "b": (6,), "m": (6,), "v": numpy.linspace(0.5, 2, 6, dtype=numpy.float32)}

CASES = {
    "conv": conv(),
    "conv-bias": conv(bias=True),
    "conv-pads": conv("pads=[1,2,0,1]", bias=True),
    "conv-strides": conv("strides=[2,3], pads=[0,1,2,0]"),
    "conv-dilations": conv("dilations=[2,1], pads=[2,1,2,1]"),
    "conv-groups": conv("group=2, pads=[1,1,1,1]", weights=(8, 3, 3, 3), bias=True),
    "conv-depthwise": conv("group=6, pads=[0,0,1,1], strides=[2,2]", weights=(6, 1, 3, 3), bias=True),
    "conv-depthwise-multiplier": conv("group=6", weights=(12, 1, 5, 5)),
    "conv-same-upper": conv("auto_pad=\"SAME_UPPER\", strides=[2,2]", weights=(8, 6, 4, 4)),
    "conv-same-lower": conv("auto_pad=\"SAME_LOWER\", strides=[2,2]", weights=(8, 6, 4, 4)),
    "conv-valid": conv("auto_pad=\"VALID\", kernel_shape=[3,3]", opset=7),
    "conv-1x1": conv(weights=(16, 6, 1, 1), bias=True),
    "conv-3-channels": conv("pads=[1,1,1,1], strides=[2,2]", weights=(32, 3, 3, 3), x={"x": ("N", 3, 20, 20)}),
    "conv-1d": conv("pads=[1,1]", weights=(8, 6, 3), x={"x": ("N", 6, 17)}, bias=True),
    "conv-3d": conv("pads=[1,0,1,1,0,1]", weights=(4, 6, 3, 2, 3), x={"x": ("N", 6, 5, 6, 7)}, opset=22),
    "conv-of-input": (13, "y = Conv(x, w)", {"x": (2, 6, 9, 9), "w": (4, 6, 3, 3)}, {}),
    "conv-transpose": transpose(),
    "conv-transpose-bias": transpose("strides=[2,3], pads=[1,0,2,1]", bias=True),
    "conv-transpose-padding": transpose("strides=[2,3], output_padding=[1,2]"),
    "conv-transpose-groups": transpose("group=3, dilations=[2,1], strides=[2,2]", weights=(6, 4, 3, 3), bias=True),
    "conv-transpose-depthwise": transpose("group=6, strides=[2,2], pads=[1,1,1,1]", weights=(6, 1, 4, 4)),
    "conv-transpose-shape": transpose("strides=[2,3], output_shape=[20,40]"),
    "conv-transpose-shape-upper": transpose("strides=[2,2], output_shape=[20,26], auto_pad=\"SAME_UPPER\""),
    "conv-transpose-larger": transpose("strides=[2,2], output_shape=[24,28]", bias=True),
    "conv-transpose-same-lower": transpose("strides=[2,2], auto_pad=\"SAME_LOWER\""),
    "conv-transpose-valid": transpose("auto_pad=\"VALID\", kernel_shape=[3,3]", opset=7),
    "conv-transpose-1d": transpose("strides=[2]", weights=(6, 4, 3), x={"x": ("N", 6, 9)}),
    "conv-transpose-3d": transpose("strides=[2,1,2]", weights=(6, 4, 2, 3, 2), x={"x": ("N", 6, 4, 5, 3)}),
    "conv-transpose-of-input": (13, "y = ConvTranspose<group=2>(x, w)", {"x": (2, 6, 9, 9), "w": (6, 4, 3, 3)}, {}),
    "conv-integer": (13, f"{QUANTIZED} c = ConvInteger<pads=[1,1,0,1], group=2>(q, w, p, z) y = Cast<to=1>(c)", X,
                     QUANTA | {"w": bytes_of(8, 3, 3, 3)}),
    "conv-integer-plain": (13, f"{QUANTIZED} c = ConvInteger<strides=[2,2]>(q, w) y = Cast<to=1>(c)", X,
                           QUANTA | {"w": bytes_of(8, 6, 3, 3)}),
    "conv-linear": (13, f"{QUANTIZED} c = QLinearConv<pads=[1,1,0,1], group=2>(q, s, p, w, s, z, t, p, k) "
                        "y = Cast<to=1>(c)", X,
                    QUANTA | {"w": bytes_of(8, 3, 3, 3), "k": numpy.arange(8, dtype=numpy.int32) * 100}),
    "conv-clip": (11, "c = Conv<pads=[1,1,1,1]>(x, w) y = Clip(c, l, h)", X,
                  {"w": (8, 6, 3, 3), "l": numpy.float32(0), "h": numpy.float32(0.7)}),
    "conv-add-relu": (13, "c = Conv<pads=[1,1,1,1]>(x, w) a = Add(c, x) y = Relu(a)", X, {"w": (6, 6, 3, 3)}),
    "conv-normal-relu": (15, "c = Conv(x, w) n = BatchNormalization<epsilon=0.001>(c, s, b, m, v) y = Relu(n)", X,
                         {"w": (6, 6, 3, 3)} | STATISTICS),
    "normal": (13, "y = BatchNormalization(x, s, b, m, v)", X, STATISTICS),
    "normal-7": (7, "y = BatchNormalization<epsilon=0.1, momentum=0.5>(x, s, b, m, v)", X, STATISTICS),
    "normal-2d": (14, "y = BatchNormalization<training_mode=0>(x, s, b, m, v)", {"x": ("N", 6)}, STATISTICS),
    "normal-relu": (13, "r = Relu(x) n = BatchNormalization(r, s, b, m, v) y = Clip(n, l)", X,
                    STATISTICS | {"l": numpy.float32(0.2)}),
    "normal-of-input": (13, "y = BatchNormalization(x, s, b, m, m)", {"x": (2, 6, 3), "s": (6,), "b": (6,)},
                        {"m": floats(1, 2, 3, 4, 5, 6)}),
    "relu": (13, "y = Relu(x)", X, {}),
    "clip-attributes": (7, "y = Clip<min=-0.3, max=0.4>(x)", X, {}),
    "clip-max-only": (13, "y = Clip(x, , h)", F, {"h": numpy.float32(0.1)}),
    "clip-crossed": (13, "y = Clip(x, l, h)", F, {"l": numpy.float32(0.5), "h": numpy.float32(0.1)}),
    "clip-constant": (13, "h = Constant<value_float=0.25>() y = Clip(x, , h)", F, {}),
    "clip-of-inputs": (13, "l = ReduceMin<keepdims=0>(a) h = ReduceMax<keepdims=0>(a) y = Clip(x, l, h)",
                       {"x": (2, 6), "a": (3,)}, {}),
    # what is fused is of float32
    "double": (14, "d = Cast<to=11>(x) m = MatMul(d, w) a = Add(m, k) r = Relu(a) y = Cast<to=1>(r)", F,
               {"w": numpy.arange(24, dtype=numpy.float64).reshape(12, 2) - 11, "k": numpy.float64([0.5, -0.25])}),
    "transposes-of-higher-rank": (13, "a = Transpose<perm=[0,2,1]>(x) b = Add(a, k) y = Transpose<perm=[0,1,3,2]>(b)",
                                  {"x": (2, 3, 4)}, {"k": (2, 1, 4, 3)}),
    "double-flatten": (13, "d = Cast<to=11>(x) f = Flatten(d) m = Gemm(f, w, k) c = Clip(m, l) y = Cast<to=1>(c)", X,
                       {"w": numpy.ones((858, 2)), "k": numpy.float64([0.5, -0.25]), "l": numpy.float64(0.125)}),
    "add-same": (13, "r = Relu(x) y = Add(x, r)", X, {}),
    "add-constant": (7, "y = Add(x, c)", X, {"c": (6, 1, 1)}),
    "add-constant-last": (13, "y = Add(c, x)", X, {"c": (13,)}),
    "add-scalar": (13, "y = Add(x, c)", X, {"c": numpy.float32(1.5)}),
    "add-plane": (13, "y = Add(x, c)", X, {"c": (1, 1, 11, 13)}),
    "add-mutual": (13, "y = Add(a, b)", {"a": (4, 1, 3), "b": (5, 1)}, {}),
    "add-two-inputs": (13, "y = Add(a, b)", {"a": ("N", 6, 4), "b": ("N", 6, 4)}, {}),
    "add-after-conv": (13, "c = Conv(x, w) d = Conv(x, u) y = Add(c, d)", X, {"w": (16, 6, 3, 3), "u": (16, 6, 3, 3)}),
    "mul-gate": (13, "c = Conv(x, w) g = GlobalAveragePool(c) s = Sigmoid(g) y = Mul(s, c)", X, {"w": (16, 6, 3, 3)}),
    "mul-constant": (13, "c = Conv(x, w) y = Mul(c, k)", X, {"w": (16, 6, 3, 3), "k": (16, 1, 1)}),
    "mul-scalar": (13, "c = Conv(x, w) y = Mul(c, k)", X, {"w": (16, 6, 3, 3), "k": numpy.float32(0.5)}),
    "mul-plane": (13, "c = Conv(x, w) y = Mul(c, k)", X, {"w": (16, 6, 3, 3), "k": (1, 1, 9, 11)}),
    "sub": (13, "c = Conv(x, w) y = Sub(k, c)", X, {"w": (16, 6, 3, 3), "k": (16, 1, 1)}),
    "sub-constant": (13, "c = Conv(x, w) y = Sub(c, k)", X, {"w": (16, 6, 3, 3), "k": (16, 1, 1)}),
    "div": (13, "a = Abs(x) b = Exp(a) y = Div(x, b)", X, {}),
    "div-blocked": (13, "c = Conv(x, w) d = Conv(x, v) e = Abs(d) f = Add(e, o) g = Div(c, f) y = Conv(g, u)", X,
                    {"w": (11, 6, 3, 3), "v": (11, 6, 3, 3), "o": numpy.float32(1), "u": (16, 11, 1, 1)}),
    "div-mutual": (13, "y = Div(a, b)", {"a": (4, 1, 3), "b": (5, 1)}, {}),
    "div-by-scalar": (13, "y = Div(x, c)", X, {"c": numpy.float32(1.5)}),
    "div-of-scalar": (13, "a = Exp(x) y = Div(c, a)", X, {"c": numpy.float32(1.5)}),
    "max": (13, "c = Conv(x, w) d = Conv(x, v) y = Max(c, d)", X, {"w": (16, 6, 3, 3), "v": (16, 6, 3, 3)}),
    "min-of-three": (13, "y = Min(x, k, l)", X, {"k": (6, 1, 1), "l": (1, 13)}),
    "sum": (13, "c = Conv(x, w) d = Conv(x, v) y = Sum(c, d)", X, {"w": (16, 6, 3, 3), "v": (16, 6, 3, 3)}),
    "activations": (20, """c = Conv(x, w) a = Elu<alpha=0.5>(c) b = LeakyRelu<alpha=0.2>(a) d = HardSwish(b) e = Tanh(d)
                           f = Softplus(e) g = Log(f) h = Gelu(g) i = Gelu<approximate="tanh">(h) j = Mish(i) k = Neg(j)
                           l = HardSigmoid<alpha=0.3, beta=0.4>(k) m = Sqrt(l) n = Abs(m) o = Exp(n) y = Sigmoid(o)""", X,
                    {"w": (11, 6, 3, 3)}),
    "powers": (13, """c = Conv(x, w) a = Pow(c, t) d = Add(a, o) b = Pow(d, h) e = Pow(b, n) f = Reciprocal(e) g = Pow(f, k)
                      i = Selu(c) j = Selu<alpha=0.5, gamma=3.0>(c) l = Sub(i, j) m = Mul(g, l) y = Pow(m, v)""", X,
               {"w": (11, 6, 3, 3), "t": floats(2), "o": floats(1), "h": floats(0.5), "n": floats(-1), "k": floats(1.5),
                "v": numpy.arange(1, 12, dtype=numpy.float32).reshape(11, 1, 1) % 3}),
    "pow-of-number": (13, "y = Pow(k, x)", {"x": (2, 3)}, {"k": floats(2)}),
    "pow-of-more-dimensions": (13, "y = Pow(x, k)", {"x": (2, 3)}, {"k": numpy.full((1, 1, 1), 2, numpy.float32)}),
    "scalars": (13, "a = ReduceSum<keepdims=0>(x) b = ReduceMax<keepdims=0>(x) c = Div(a, b) y = Min(c, b)",
                {"x": (2, 3)}, {}),
    "log-of-ones": (13, "a = Exp(x) b = Div(a, a) y = Log(b)", F, {}),
    "round": (13, "s = Mul(x, c) y = Round(s)", X, {"c": numpy.float32(10)}),
    "hard-sigmoid": (13, "y = HardSigmoid(x)", F, {}),
    "lrn": (13, "c = Conv(x, w) y = LRN<size=5, alpha=0.5, beta=0.6, bias=2.0>(c)", X, {"w": (20, 6, 3, 3)}),
    "mean-of-pixels": (13, "c = Conv(x, w) y = ReduceMean<axes=[2,3]>(c)", X, {"w": (20, 6, 3, 3)}),
    "mean-of-pixels-gemm": (13, "c = Conv(x, w) m = ReduceMean<axes=[-1,-2], keepdims=0>(c) y = MatMul(m, u)", X,
                            {"w": (20, 6, 3, 3), "u": (20, 5)}),
    "mean-of-channels": (13, "c = Conv(x, w) y = ReduceMean<axes=[1]>(c)", X, {"w": (20, 6, 3, 3)}),
    "mean-of-volumes": (13, "y = ReduceMean<axes=[2,3,4], keepdims=0>(x)", {"x": ("N", 3, 5, 6, 7)}, {}),
    "reductions": (13, """a = ReduceMax<axes=[3]>(x) b = ReduceMin<axes=[1]>(x) c = ReduceMean<axes=[1,2], keepdims=0>(x)
                          d = ReduceSumSquare<axes=[-1], keepdims=1>(x) e = ReduceMean<axes=[1,3]>(x)
                          f = Unsqueeze(c, o) g = Sum(a, b) h = Sum(g, d) i = Sum(h, e) y = Sum(i, f)""",
                   {"x": ("N", 6, 21, 37)}, {"o": ints(1, 2)}),
    "reduce-all": (13, "s = ReduceSum(x) m = ReduceMax<axes=[0]>(x) y = Mul(s, m)", {"x": (50, 700)}, {}),
    "args": (13, """a = ArgMax<axis=1>(x) b = ArgMin<axis=-1, select_last_index=1>(x) c = ArgMax<axis=2, select_last_index=1>(x)
                    d = ArgMin<axis=1, keepdims=0>(x) e = Unsqueeze(d, o) f = Add(a, b) g = Add(f, c) h = Add(g, e)
                    y = Cast<to=1>(h)""", {"x": ("N", 6, 21, 37)}, {"o": ints(1)}),
    "softmax-of-channels": (13, "c = Conv(x, w) y = Softmax<axis=1>(c)", X, {"w": (21, 6, 3, 3)}),
    "softmax-of-rows": (13, "y = Softmax<axis=-2>(x)", {"x": ("N", 5, 9, 3)}, {}),
    "layer-normal": (17, "y = LayerNormalization<epsilon=0.1>(x, s, b)", {"x": ("N", 5, 37)}, {"s": (37,), "b": (37,)}),
    "layer-normal-planes": (17, "y = LayerNormalization<axis=-2>(x, s)", {"x": ("N", 5, 9, 7)}, {"s": (9, 7)}),
    "layer-normal-broadcast": (17, "y = LayerNormalization<axis=-2>(x, s)", {"x": ("N", 5, 9, 7)}, {"s": (9, 1)}),
    "rms-normal": (23, "y = RMSNormalization(x, s)", {"x": ("N", 5, 37)}, {"s": (37,)}),
    "instance-normal": (13, "c = Conv(x, w) y = InstanceNormalization(c, s, b)", X, {"w": (7, 6, 3, 3), "s": (7,), "b": (7,)}),
    "resize-in-blocks": (13, """c = Conv(x, w) r = Resize<mode="linear">(c, , s) d = Conv(r, u)
                                y = Resize<mode="nearest", nearest_mode="floor">(d, , t)""", X,
                         {"w": (20, 6, 3, 3), "u": (9, 20, 1, 1), "s": floats(1, 1, 2, 1.7), "t": floats(1, 1, 0.5, 3)}),
    "resize-cubic": (13, """c = Conv(x, w) y = Resize<mode="cubic", coordinate_transformation_mode="align_corners">(c, , s)""", X,
                     {"w": (20, 6, 3, 3), "s": floats(1, 1, 2, 3)}),
    "grid-sample": (16, "y = GridSample(x, g)", {"x": ("N", 6, 11, 13), "g": ("N", 5, 4, 2)}, {}),
    "grid-sample-border": (20, 'y = GridSample<padding_mode="border", align_corners=1>(x, g)',
                           {"x": ("N", 6, 11, 13), "g": ("N", 5, 4, 2)}, {}),
    "grid-sample-reflection": (20, 's = Mul(g, k) y = GridSample<padding_mode="reflection", mode="cubic">(x, s)',
                               {"x": ("N", 6, 11, 13), "g": ("N", 5, 4, 2)}, {"k": floats(3)}),
    "grid-sample-nearest": (20, 'y = GridSample<mode="nearest", padding_mode="reflection">(x, g)',
                            {"x": ("N", 6, 11, 13), "g": ("N", 5, 4, 2)}, {}),
    "grid-sample-volume": (20, "y = GridSample(x, g)", {"x": ("N", 2, 4, 5, 3), "g": ("N", 3, 4, 2, 3)}, {}),
    "log-softmax": (13, "y = LogSoftmax<axis=1>(x)", X, {}),
    "max-pool": pool("MaxPool", "kernel_shape=[2,2], strides=[2,2]"),
    "max-pool-pads": pool("MaxPool", "kernel_shape=[3,3], strides=[2,2], pads=[1,0,1,2]", opset=8),
    "max-pool-ceil": pool("MaxPool", "kernel_shape=[3,3], strides=[2,2], ceil_mode=1", x={"x": ("N", 16, 12, 14)}),
    "max-pool-dilations": pool("MaxPool", "kernel_shape=[2,3], dilations=[2,1]"),
    "max-pool-same": pool("MaxPool", "kernel_shape=[3,3], strides=[2,2], auto_pad=\"SAME_UPPER\""),
    "max-pool-indices": (13, "v, i = MaxPool<kernel_shape=[3,2], strides=[2,1], pads=[1,0,1,1]>(x) y = Cast<to=1>(i)",
                         {"x": (2, 6, 11, 13)}, {}),
    "max-pool-columns": (13, "v, i = MaxPool<kernel_shape=[2,3,1], storage_order=1>(x) y = Cast<to=1>(i)",
                         {"x": (2, 2, 4, 5, 3)}, {}),
    "max-pool-bytes": (13, f"{QUANTIZED} m = MaxPool<kernel_shape=[2,3], pads=[1,1,1,1]>(q) y = Cast<to=1>(m)", X,
                       QUANTA),
    "max-pool-1d": pool("MaxPool", "kernel_shape=[3], strides=[2]", x={"x": ("N", 3, 21)}),
    "max-pool-3d": pool("MaxPool", "kernel_shape=[2,2,2]", x={"x": ("N", 3, 5, 6, 7)}, opset=12),
    "max-pool-after-conv": (13, "c = Conv(x, w) y = MaxPool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(c)", X,
                            {"w": (20, 6, 3, 3)}),
    "average-pool": pool("AveragePool", "kernel_shape=[3,2], strides=[2,1]"),
    "average-pool-exclude": pool("AveragePool", "kernel_shape=[3,3], pads=[1,1,1,1]"),
    "average-pool-include": pool("AveragePool", "kernel_shape=[3,3], pads=[1,2,1,0], count_include_pad=1", opset=7),
    "average-pool-ceil": pool("AveragePool", "kernel_shape=[3,3], strides=[3,3], ceil_mode=1", opset=19),
    "average-pool-dilations": pool("AveragePool", "kernel_shape=[2,3], dilations=[3,2], pads=[1,1,1,0]", opset=22),
    "average-pool-ceil-include": pool(
        "AveragePool", "kernel_shape=[3,4], strides=[2,3], pads=[1,1,1,0], ceil_mode=1, count_include_pad=1", opset=19),
    "average-pool-3d": pool("AveragePool", "kernel_shape=[2,3,2], pads=[1,1,0,0,1,1]", x={"x": ("N", 3, 5, 6, 7)}),
    "lp-pool": pool("LpPool", "kernel_shape=[3,2], strides=[2,1], pads=[1,0,1,1], p=3"),
    "lp-pool-dilations": pool("LpPool", "kernel_shape=[3,2], dilations=[1,2], ceil_mode=1", opset=18),
    "global-lp-pool": pool("GlobalLpPool", "p=1"),
    "global-max-pool": (13, "y = GlobalMaxPool(x)", X, {}),
    "global-max-pool-after-conv": (13, "c = Conv(x, w) y = GlobalMaxPool(c)", X, {"w": (20, 6, 3, 3)}),
    "average-pool-same": pool("AveragePool", "kernel_shape=[3,3], auto_pad=\"SAME_LOWER\""),
    "global-pool": (13, "y = GlobalAveragePool(x)", X, {}),
    "global-pool-1d": (13, "y = GlobalAveragePool(x)", {"x": ("N", 20, 9)}, {}),
    "global-pool-after-conv": (13, "c = Conv(x, w) g = GlobalAveragePool(c) f = Flatten(g) y = Gemm<transB=1>(f, u, k)",
                               X, {"w": (20, 6, 3, 3), "u": (7, 20), "k": (7,)}),
    "flatten": (13, "y = Flatten(x)", X, {}),
    "flatten-0": (13, "y = Flatten<axis=0>(x)", {"x": (2, 3, 4)}, {}),
    "flatten-2": (9, "y = Flatten<axis=2>(x)", {"x": (2, 3, 4)}, {}),
    "flatten-last": (25, "y = Flatten<axis=-1>(x)", {"x": (2, 3, 4)}, {}),
    "flatten-gemm": (13, "c = Conv(x, w) f = Flatten(c) y = Gemm(f, u)", X, {"w": (4, 6, 3, 3), "u": (396, 5)}),
    "reshape": (13, "y = Reshape(x, s)", X, {"s": ints(0, -1, 13)}),
    "reshape-copy": (13, "y = Reshape(x, s)", X, {"s": ints(0, 0, -1)}),
    "reshape-fixed": (13, "y = Reshape(x, s)", {"x": (2, 3, 4)}, {"s": ints(4, 6)}),
    "reshape-scalar": (14, "y = Reshape<allowzero=1>(x, s)", {"x": (1, 1)}, {"s": ints()}),
    "reshape-constant": (8, "w = Reshape(c, s) y = MatMul(x, w)", F, {"c": (3, 4, 2), "s": ints(12, 2)}),
    "gemm": gemm("", w=(12, 5)),
    "gemm-bias": gemm("transB=1", w=(5, 12), k=(5,)),
    "gemm-row-bias": gemm("", w=(12, 5), k=(1, 5)),
    "gemm-scalar": gemm("", w=(12, 5), k=numpy.float32(2)),
    "gemm-alpha-beta": gemm("alpha=0.5, beta=2.0, transB=1", w=(5, 12), k=(5,)),
    "gemm-alpha": gemm("alpha=0.25", w=(12, 5)),
    "gemm-beta-zero": gemm("beta=0.0", w=(12, 5), k=(5,)),
    "gemm-matrix": gemm("beta=0.5", x={"x": (3, 12)}, w=(12, 5), k=(3, 5)),
    "gemm-column": gemm("", x={"x": (3, 12)}, w=(12, 5), k=(3, 1)),
    "gemm-trans-a": gemm("transA=1", x={"x": (12, 3)}, w=(12, 5), k=(5,)),
    "gemm-of-inputs": (11, "y = Gemm<transA=1, transB=1, alpha=0.5, beta=3.0>(a, b, c)",
                       {"a": (4, 3), "b": (5, 4), "c": (1, 5)}, {}),
    "gemm-relu": (13, "g = Gemm(x, w, k) y = Relu(g)", F, {"w": (12, 5), "k": (5,)}),
    "mat-mul": (13, "y = MatMul(x, w)", F, {"w": (12, 5)}),
    "mat-mul-add-relu": (13, "m = MatMul(x, w) a = Add(m, k) y = Relu(a)", F, {"w": (12, 5), "k": (5,)}),
    "mat-mul-stack": (13, "m = MatMul(x, w) y = Relu(m)", {"x": ("N", 3, 12)}, {"w": (12, 5)}),
    "mat-mul-stacks": (13, "y = MatMul(a, b)", {"a": ("N", 3, 4, 5), "b": ("N", 3, 5, 2)}, {}),
    "mat-mul-broadcast": (13, "y = MatMul(a, b)", {"a": (2, 1, 4, 5), "b": (3, 5, 2)}, {}),
    "mat-mul-constant-stack": (13, "y = MatMul(x, w)", {"x": ("N", 3, 4, 5)}, {"w": (3, 5, 2)}),
    "mat-mul-left": (13, "y = MatMul(w, x)", {"x": ("N", 4, 5)}, {"w": (3, 4)}),
    "mat-mul-row": (13, "y = MatMul(a, b)", {"a": (4,), "b": (3, 4, 2)}, {}),
    "mat-mul-column": (13, "y = MatMul(a, b)", {"a": (3, 2, 4), "b": (4,)}, {}),
    "mat-mul-dot": (13, "y = MatMul(a, b)", {"a": (4,), "b": (4,)}, {}),
    "rnn": recurrent("RNN", "hidden_size=4"),
    "rnn-activations": recurrent(
        "RNN", "hidden_size=4, direction=\"bidirectional\", activations=[\"Affine\", \"HardSigmoid\"], "
        "activation_alpha=[0.5, 0.3], activation_beta=[0.1, 0.4], clip=0.7", directions=2),
    "gru": recurrent("GRU", "hidden_size=4, direction=\"reverse\"", gates=3),
    "gru-linear": recurrent("GRU", "hidden_size=4, direction=\"bidirectional\", linear_before_reset=1", 3, 2,
                            names="r, b, n, i"),
    "gru-clip": recurrent("GRU", "hidden_size=4, clip=0.4", gates=3, names="r, b, , i"),
    "lstm": recurrent("LSTM", "hidden_size=4, direction=\"bidirectional\"", 4, 2),
    "lstm-lengths": recurrent("LSTM", "hidden_size=4, direction=\"bidirectional\"", 4, 2, "r, b, n, i, j, p", 22),
    "lstm-peepholes": recurrent("LSTM", "hidden_size=4, input_forget=1, clip=0.6", 4, names="r, , , , , p"),
    "lstm-last": (14, ", y = LSTM<hidden_size=4>(x, w, r)", {"x": (5, 2, 6)}, {"w": (1, 16, 6), "r": (1, 16, 4)}),
    "max-unpool": (13, "v, i = MaxPool<kernel_shape=[2,3], strides=[2,3]>(x) "
                       "y = MaxUnpool<kernel_shape=[2,3], strides=[2,3]>(v, i)", {"x": (2, 6, 10, 12)}, {}),
    "max-roi-pool": (13, "y = MaxRoiPool<pooled_shape=[3,2], spatial_scale=0.5>(x, g)", {"x": (2, 6, 11, 13)},
                     {"g": numpy.array([[1, 2, 3, 19, 17], [0, -4, 9, 30, 2], [0, 7, 7, 7, 7]], numpy.float32)}),
    "roi-align": roi_align("output_height=3, output_width=2, spatial_scale=0.5"),
    "roi-align-max": roi_align("output_height=2, output_width=2, mode=\"max\", sampling_ratio=2"),
    "roi-align-output": roi_align(
        "output_height=2, output_width=3, coordinate_transformation_mode=\"output_half_pixel\""),
    "roi-align-old": roi_align("output_height=2, sampling_ratio=3", 10),
    "col2im": (18, "y = Col2Im<dilations=[2,1], pads=[1,0,0,2], strides=[1,2]>(x, i, k)", {"x": ("N", 12, 20)},
               {"i": ints(6, 7), "k": ints(2, 3)}),
    "softmax": (13, "y = Softmax(x)", F, {}),
    "softmax-axis": (13, "y = Softmax<axis=1>(x)", X, {}),
    "softmax-axis-2": (13, "y = Softmax<axis=-2>(x)", X, {}),
    "softmax-rest": (11, "y = Softmax(x)", X, {}),
    "softmax-rest-2": (11, "y = Softmax<axis=2>(x)", X, {}),
    "softmax-first": (13, "y = Softmax<axis=0>(x)", {"x": (3, 4)}, {}),
    "softmax-after-conv": (13, "c = Conv(x, w) y = Softmax<axis=1>(c)", X, {"w": (20, 6, 3, 3)}),
    "identity": (13, "y = Identity(x)", X, {}),
    "dropout": (7, "d = Dropout<ratio=0.5>(x) y = Relu(d)", X, {}),
    "dropout-13": (13, "d = Dropout(x, r, t) y = Relu(d)", X, {"r": numpy.float32(0.5), "t": numpy.bool_(False)}),
    "two-outputs": (13, "y = Relu(x) z = Add(y, x)", X, {}),
}


def declare(shapes):
    return ", ".join(f"float[{', '.join(map(str, shape))}] {name}" for name, shape in shapes.items())


def made(opset, body, inputs, constants, rng):
    """The model's bytes."""
    outputs = "float y, float z" if "z =" in body else "float y"
    text = f"""<ir_version: {3 if opset < 9 else 8}, opset_import: ["": {opset}]>
        g ({declare(inputs)}) => ({outputs}) {{ {body} }}"""
    model = onnx.parser.parse_model(text)
    for name, value in constants.items():
        if isinstance(value, tuple):
            value = rng.standard_normal(value, numpy.float32) / numpy.float32(numpy.sqrt(max(1, numpy.prod(value[1:]))))
        tensor = onnx.numpy_helper.from_array(numpy.asarray(value), name)
        model.graph.initializer.append(tensor)
        if opset < 9:  # old files list constants as inputs too
            model.graph.input.append(onnx.helper.make_tensor_value_info(name, tensor.data_type, tensor.dims))
    return model.SerializeToString()


@pytest.mark.parametrize("process", isa.of_machine(), indirect=True, scope="session")
@pytest.mark.parametrize("name", CASES)
def test_operator(name, engine):
    opset, body, inputs, constants = CASES[name]
    rng = numpy.random.default_rng(zlib.crc32(name.encode()))
    model = made(opset, body, inputs, constants, rng)
    batched = any("N" in shape for shape in inputs.values())
    for batch in (1, 2, 5) if batched else (1,):
        arrays = {port: rng.standard_normal([batch if side == "N" else side for side in shape], numpy.float32)
                  for port, shape in inputs.items()}
        theirs = reference(model, arrays)
        ours = engine(model, list(arrays.values()), batch, [array.shape for array in theirs])
        assert_equal(ours, theirs)


def shapes(arrays):
    return [array.shape for array in arrays]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if any("N" in shape for shape in case[2].values())])
def test_no_items(name, process, tmp_path):
    """A batch of nothing gives nothing, in the shape that ONNX Runtime gives it; or both refuse it."""
    opset, body, inputs, constants = CASES[name]
    model = made(opset, body, inputs, constants, numpy.random.default_rng(1))
    arrays = {port: numpy.zeros([0 if side == "N" else side for side in shape], numpy.float32) for port, shape in inputs.items()}
    (tmp_path / "model.onnx").write_bytes(model)
    process.load(tmp_path / "model.onnx")
    try:
        theirs = shapes(reference(model, arrays))
    except Exception:  # pylint: disable=broad-except
        with pytest.raises(Refused, match="cannot make float32 .0, 6"):
            process.run(list(arrays.values()), 0)
        return
    assert shapes(process.run(list(arrays.values()), 0)[1]) == theirs


def test_a_leading_one_is_the_batch(process, tmp_path):
    """What a file with a first dimension of 1 gives for several items, of which ONNX Runtime takes no more than one."""
    constants = {"s": ints(1, 2, 6), "t": ints(1, -1), "w": (12, 5)}
    model = made(13, "a = Reshape(x, s) b = Softmax(a) c = Reshape(b, t) y = MatMul(c, w)", {"x": (1, 12)}, constants,
                 numpy.random.default_rng(1))
    items = numpy.random.default_rng(2).standard_normal((5, 12), numpy.float32)
    (tmp_path / "model.onnx").write_bytes(model)
    process.load(tmp_path / "model.onnx")
    alone = numpy.concatenate([reference(model, {"x": item[None]})[0] for item in items])
    assert_equal(process.run([items], 5)[1], [alone])


GEMM_C = (None, (), (1,), (5,), (1, 5), (3, 1), (3, 5))


@pytest.mark.parametrize("constant", ["", "b", "bc"])
@pytest.mark.parametrize("turns", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_gemm_in_every_form(turns, constant, engine):
    """Against the definition in double precision, with B and C as inputs or as constants."""
    rng = numpy.random.default_rng(1)
    for shape, alpha, beta in itertools.product(GEMM_C, (1, 0.5), (1, 0, -2)):
        if shape == () and "c" not in constant:  # the parser has no way to write such an input
            continue
        a, b = (rng.standard_normal(sides, numpy.float32) for sides in ((3, 12), (12, 5)))
        c = None if shape is None else numpy.asarray(rng.standard_normal(shape, numpy.float32))
        theirs = alpha * (a.astype(float) @ b) + (0 if c is None else beta * c.astype(float))
        arrays = {"a": a.T if turns[0] else a, "b": b.T if turns[1] else b} | ({} if c is None else {"c": c})
        inputs = {name: array for name, array in arrays.items() if name not in constant}
        body = f"y = Gemm<transA={turns[0]}, transB={turns[1]}, alpha={alpha:f}, beta={beta:f}>({', '.join(arrays)})"
        model = made(13, body, {name: array.shape for name, array in inputs.items()},
                     {name: array for name, array in arrays.items() if name in constant}, rng)
        assert_equal(engine(model, [numpy.ascontiguousarray(array) for array in inputs.values()], 1, [(3, 5)]), [theirs])


WIDE = {
    "conv": "y = Conv<pads=[1,0,1,2], group=2, dilations=[1,2]>({}, w, k)",
    "conv-relu": "c = Conv<group=2>({}, w) y = Relu(c)",  # nothing is fused that is computed in float32 only
    "conv-add": "c = Conv<group=2, pads=[1,1,1,1]>({0}, w) y = Add(c, {0})",
    "conv-transpose": "y = ConvTranspose<strides=[2,1], group=2>({}, w)",
    "max-pool": "y = MaxPool<kernel_shape=[2,3]>({})",
    "average-pool": "y = AveragePool<kernel_shape=[2,3], pads=[1,1,1,1]>({})",
    "lp-pool": "y = LpPool<kernel_shape=[2,3]>({})",
    "global-pool": "y = GlobalAveragePool({})",
}


@pytest.mark.parametrize("name", WIDE)
def test_float64(name, engine):
    """As with float32, of which ONNX Runtime has more operators."""
    rng = numpy.random.default_rng(1)
    x, w, k = (rng.standard_normal(shape, numpy.float32) for shape in ((2, 6, 9, 8), (6, 3, 3, 3), (6,)))
    constants = {key: value for key, value in (("w", w), ("k", k)) if f", {key}" in WIDE[name]}
    theirs = reference(made(13, WIDE[name].format("x"), {"x": x.shape}, constants, rng), {"x": x})
    wide = WIDE[name].format("d").replace("y =", "e =")
    model = made(13, f"d = Cast<to=11>(x) {wide} y = Cast<to=1>(e)",
                 {"x": x.shape}, {key: value.astype(numpy.float64) for key, value in constants.items()}, rng)
    assert_equal(engine(model, [x], 1, [theirs[0].shape]), theirs)


def test_own_domain_by_its_name(engine):
    """"ai.onnx" is the domain that "" is short for; other domains' operators are refused by name."""
    opset, body, inputs, constants = CASES["clip-constant"]
    model = onnx.load_from_string(made(opset, body, {"x": (1, 12)}, constants, numpy.random.default_rng(1)))
    array = numpy.ones((1, 12), numpy.float32)
    for node in model.graph.node:
        node.domain = "ai.onnx"
    assert_equal(engine(model.SerializeToString(), [array], 1, [(1, 12)]), [array / 4])
    model.graph.node[1].domain = "com.example"
    with pytest.raises(Refused, match="node 'y' uses the operator Clip of 'com.example'"):
        engine(model.SerializeToString(), [array], 1, [(1, 12)])
