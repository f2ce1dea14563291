"""Concat in the layouts that convolutions leave, in place and copied, with parts that others use too."""

import zlib

import numpy
import pytest

import isa
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
    # what lies in a whole is there from its first part on, while others come and go
    "part-long-before": ("a = Conv<pads=[1,1,1,1]>(x, v) p = Conv<pads=[1,1,1,1]>(x, p1) q = Conv<pads=[1,1,1,1]>(p, p2)"
                         " r = Conv<pads=[1,1,1,1]>(q, p2) b = Conv(r, w2) c = Concat<axis=1>(a, b) y = Conv(c, u)", X,
                         {"v": (16, 16, 3, 3), "p1": (48, 16, 3, 3), "p2": (48, 48, 3, 3), "w2": (32, 48, 1, 1),
                          "u": (16, 48, 1, 1)}),
    "chain-long-before": ("a = Conv<pads=[1,1,1,1]>(x, v) b = Conv(x, w) c = Concat<axis=1>(a, b)"
                          " p = Conv<pads=[1,1,1,1]>(x, p1) q = Conv<pads=[1,1,1,1]>(p, p2)"
                          " r = Conv<pads=[1,1,1,1]>(q, p2) e = Concat<axis=1>(c, r)"
                          " f = Conv<pads=[1,1,1,1]>(r, p3) g = Conv<pads=[1,1,1,1]>(f, p3) h = Concat<axis=1>(e, g)"
                          " y = Conv(h, u)", X,
                          W | {"p1": (96, 16, 3, 3), "p2": (96, 96, 3, 3), "p3": (96, 96, 3, 3), "u": (16, 240, 1, 1)}),
    # a dilated convolution may add to the whole in place, unless a part is needed later
    "whole-added-to": (f"{TWO} c = Concat<axis=1>(a, b) k = Conv(x, k1) d = Conv<dilations=[2,2], pads=[2,2,2,2]>(k, t)"
                       " s = Add(d, c) y = Conv(s, u) z = Conv(a, g)", X,
                       W | {"k1": (48, 16, 1, 1), "t": (48, 48, 3, 3), "u": (8, 48, 1, 1), "g": (8, 16, 1, 1)}),
    "chain-added-to": (f"{TWO} c = Concat<axis=1>(a, b) q = Conv(x, q1) e = Concat<axis=1>(q, c) k = Conv(x, k1)"
                       " d = Conv<dilations=[2,2], pads=[2,2,2,2]>(k, t) s = Add(d, e) y = Conv(s, u) z = Conv(a, g)", X,
                       W | {"q1": (16, 16, 1, 1), "k1": (64, 16, 1, 1), "t": (64, 64, 3, 3), "u": (8, 64, 1, 1),
                            "g": (8, 16, 1, 1)}),
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


# With AVX-512 convolutions leave all channels of a pixel together, with less they leave blocks of some
@pytest.mark.parametrize("process", isa.of_machine(), indirect=True, scope="session")
@pytest.mark.parametrize("name", CASES)
def test_concat(name, engine):
    body, inputs, constants = CASES[name]
    rng = numpy.random.default_rng(zlib.crc32(name.encode()))
    model = made(13, body, inputs, constants, rng)
    for batch in (1, 3) if "N" in inputs["x"] else (1,):
        array = rng.standard_normal([batch if side == "N" else side for side in inputs["x"]], numpy.float32)
        theirs = reference(model, {"x": array})
        assert_equal(engine(model, [array], batch, [output.shape for output in theirs]), theirs)
