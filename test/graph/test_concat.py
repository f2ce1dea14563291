"""Concat in the layouts that convolutions leave, in place and copied, with parts that others use too."""

import zlib

import numpy
import pytest

from compare import assert_equal, reference
from test_ops import made

X = {"x": ("N", 16, 9, 8)}
W = {"v": (16, 16, 3, 3), "w": (32, 16, 1, 1)}
TWO = "a = Conv<pads=[1,1,1,1]>(x, v) b = Conv(x, w)"

CASES = {
    "apart": (f"{TWO} y = Concat<axis=1>(a, b)", X, W),
    "then-conv": (f"{TWO} c = Concat<axis=1>(a, b) y = Conv(c, u)", X, W | {"u": (16, 48, 3, 3)}),
    "part-used-later": (f"{TWO} c = Concat<axis=1>(a, b) d = Conv(c, u) y = Add(d, a)", X, W | {"u": (16, 48, 1, 1)}),
    "part-given-out": (f"{TWO} c = Concat<axis=1>(a, b) y = Relu(c) z = Relu(b)", X, W),
    "part-is-output": (f"{TWO} y = Concat<axis=1>(a, b) z = Add(a, x)", X, W),
    "part-is-output-itself": ("y = Conv(x, w) b = Relu(x) z = Concat<axis=1>(y, b)", X, W),
    "input-itself": ("r = Relu(x) y = Concat<axis=1>(x, r)", X, {}),
    # a dilated convolution is oneDNN's, which adds in place where it may
    "part-added-to": (f"{TWO} c = Concat<axis=1>(b, a) d = Conv<dilations=[2,2], pads=[2,2,2,2]>(x, t) s = Add(d, a)"
                      " y = Relu(s) z = Conv(c, u)", X, W | {"t": (16, 16, 3, 3), "u": (8, 48, 1, 1)}),
    "twice": (f"{TWO} y = Concat<axis=1>(a, b, a)", X, W),
    "grows": (f"{TWO} c = Concat<axis=1>(a, b) d = Conv(c, u) e = Concat<axis=1>(c, d) f = Conv(e, t)"
              " y = Concat<axis=1>(e, f)", X, W | {"u": (16, 48, 1, 1), "t": (32, 64, 1, 1)}),
    "two-wholes": (f"{TWO} c = Concat<axis=1>(a, b) d = Concat<axis=1>(b, a) y = Add(c, d)", X, W),
    "with-input": (f"{TWO} y = Concat<axis=1>(x, a, b)", X, W),
    "reshaped-part": (f"{TWO} c = Concat<axis=1>(a, b) f = Flatten<axis=2>(a) y = Relu(f) z = Relu(c)",
                      {"x": (1, 16, 9, 8)}, W),
    "odd-channels": ("a = Conv(x, v) b = Conv(x, w) y = Concat<axis=1>(a, b)", X, {"v": (5, 16, 1, 1), "w": (7, 16, 1, 1)}),
    "over-height": (f"{TWO} c = Conv(x, v) d = Concat<axis=2>(a, x) y = Relu(d)", {"x": (1, 16, 9, 8)}, W),
    "sum-in-place": (f"{TWO} s = Add(a, x) c = Concat<axis=1>(s, b) y = Conv(c, u) z = Relu(c)", X, W | {"u": (8, 48, 1, 1)}),
    "pooled": (f"{TWO} m = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1]>(x) c = Concat<axis=1>(a, m, b)"
               " y = AveragePool<kernel_shape=[2,2], strides=[2,2]>(c)", X, W),
}


@pytest.mark.parametrize("name", CASES)
def test_concat(name, engine):
    body, inputs, constants = CASES[name]
    rng = numpy.random.default_rng(zlib.crc32(name.encode()))
    model = made(13, body, inputs, constants, rng)
    for batch in (1, 3) if "N" in inputs["x"] else (1,):
        array = rng.standard_normal([batch if side == "N" else side for side in inputs["x"]], numpy.float32)
        theirs = reference(model, {"x": array})
        assert_equal(engine(model, [array], batch, [output.shape for output in theirs]), theirs)
