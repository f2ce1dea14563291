"""Operators that move, choose, sort or resize elements, against ONNX Runtime, at several batch sizes where rows stay apart."""

import zlib

import numpy
import pytest

from compare import assert_equal, reference
from test_ops import floats, ints, made

X = {"x": ("N", 6, 7, 5)}
FIXED = {"x": (2, 6, 7, 5)}
WORDS = {"x": ("N", 8)}


def resize(attributes, scales=None, sizes=None, x=X, opset=13, axes=None):
    """A Resize by scales or to sizes of the axes that are listed."""
    attributes = attributes + (f", axes={axes}" if axes else "")
    if sizes is None:
        return opset, f'y = Resize<{attributes}>(x, "", s)', x, {"s": floats(*scales)}
    return opset, f'y = Resize<{attributes}>(x, "", "", s)', x, {"s": ints(*sizes)}


# What a model makes of float indices: 0 to 3 of four.
INDICES = "m = Abs(x) r = Mul(m, h) c = Min(r, l) i = Cast<to=7>(c)"
LIMITS = {"h": numpy.float32(2), "l": numpy.float32(3)}

CASES = {
    "transpose": (13, "y = Transpose<perm=[0,2,3,1]>(x)", X, {}),
    "transpose-pairs": (13, "y = Transpose<perm=[0,3,2,1]>(x)", X, {}),
    "transpose-batch": (13, "y = Transpose(x)", FIXED, {}),
    "transpose-conv": (13, "t = Transpose<perm=[0,3,1,2]>(x) y = Conv(t, w)", {"x": ("N", 9, 9, 4)}, {"w": (8, 4, 3, 3)}),
    "depth-to-space": (13, "y = DepthToSpace<blocksize=2>(x)", {"x": ("N", 12, 3, 5)}, {}),
    "depth-to-space-crd": (13, 'y = DepthToSpace<blocksize=2, mode="CRD">(x)', {"x": ("N", 12, 3, 5)}, {}),
    "space-to-depth": (13, "y = SpaceToDepth<blocksize=3>(x)", {"x": ("N", 2, 6, 9)}, {}),
    "concat": (13, "a = Relu(x) y = Concat<axis=1>(x, a, x)", X, {}),
    "concat-last": (13, "a = Relu(x) y = Concat<axis=-1>(a, x)", X, {}),
    "concat-token": (13, "h = Shape(x) a = Slice(h, o, i) b = Concat<axis=0>(a, e) t = Expand(c, b) y = Concat<axis=1>(t, x)",
                     {"x": ("N", 3, 4)}, {"o": ints(0), "i": ints(1), "e": ints(1, 4), "c": (1, 1, 4)}),
    "concat-batch": (13, "y = Concat<axis=0>(x, x)", FIXED, {}),
    "split": (13, "a, b, c = Split<axis=1>(x) y = Sub(c, a) z = Relu(b)", X, {}),
    "split-sizes": (13, "a, b = Split<axis=2>(x, s) y = Relu(a) z = Relu(b)", X, {"s": ints(3, 4)}),
    "split-attribute": (11, "a, b = Split<axis=-1, split=[4,1]>(x) y = Relu(a) z = Relu(b)", X, {}),
    "split-parts": (18, "a, b, c = Split<axis=2, num_outputs=3>(x) y = Relu(c) z = Add(a, b)", X, {}),
    "slice": (13, "y = Slice(x, a, b, c)", X, {"a": ints(1, 0), "b": ints(4, -1), "c": ints(1, 3)}),
    "slice-steps": (13, "y = Slice(x, a, b, c, d)", X,
                    {"a": ints(-1, 1), "b": ints(-100, 2**62), "c": ints(1, 2), "d": ints(-2, 3)}),
    "slice-attributes": (9, "y = Slice<axes=[2,3], starts=[-3,1], ends=[100,3]>(x)", X, {}),
    "slice-whole-batch": (13, "y = Slice(x, a, b)", X, {"a": ints(0, 2), "b": ints(2**63 - 1, 5)}),
    "squeeze": (13, "y = Squeeze(x, a)", {"x": ("N", 1, 5, 1)}, {"a": ints(1, -1)}),
    "squeeze-attribute": (11, "y = Squeeze<axes=[3]>(x)", {"x": ("N", 1, 5, 1)}, {}),
    "unsqueeze": (13, "y = Unsqueeze(x, a)", {"x": ("N", 5)}, {"a": ints(1, -1)}),
    "unsqueeze-attribute": (11, "y = Unsqueeze<axes=[2]>(x)", {"x": ("N", 5)}, {}),
    "gather": (13, "y = Gather<axis=2>(x, i)", X, {"i": ints(3, -1, 0)}),
    "gather-scalar": (13, "y = Gather<axis=1>(x, i)", X, {"i": numpy.int64(2)}),
    "gather-matrix": (13, "y = Gather<axis=-1>(x, i)", X, {"i": numpy.array([[0, -2], [4, 1]], numpy.int32)}),
    "embedding": (13, f"{INDICES} y = Gather(w, i)", WORDS, {"w": (4, 3)} | LIMITS),
    "gather-elements": (13, f"{INDICES} y = GatherElements<axis=1>(x, i)", WORDS, LIMITS),
    "gather-elements-0": (13, f"{INDICES} y = GatherElements<axis=0>(w, i)", WORDS, {"w": (4, 8)} | LIMITS),
    "gather-nd": (13, f"{INDICES} u = Unsqueeze(i, e) y = GatherND<batch_dims=1>(x, u)", WORDS, {"e": ints(2)} | LIMITS),
    "gather-nd-table": (13, f"{INDICES} u = Unsqueeze(i, e) y = GatherND(w, u)", WORDS, {"w": (4, 3), "e": ints(2)} | LIMITS),
    "scatter-elements": (13, "y = ScatterElements<axis=1>(x, i, u)", {"x": (2, 4)},
                         {"i": ints(1, -1, 2, 0).reshape(2, 2), "u": (2, 2)}),
    "scatter-add": (18, f'{INDICES} y = ScatterElements<axis=1, reduction="add">(x, i, x)', WORDS, LIMITS),
    "scatter-max": (18, f'{INDICES} y = ScatterElements<axis=1, reduction="max">(x, i, x)', WORDS, LIMITS),
    "scatter-nd": (18, "y = ScatterND(x, i, u)", {"x": (4, 3)}, {"i": ints(2, -4).reshape(2, 1), "u": (2, 3)}),
    "pad": (13, "y = Pad(x, p)", X, {"p": ints(0, 1, 0, 2, 0, 0, 3, 1)}),
    "pad-value": (13, "y = Pad(x, p, v)", X, {"p": ints(0, 1, -2, 2, 0, 0, 3, -1), "v": numpy.float32(0.5)}),
    "pad-attributes": (10, "y = Pad<pads=[0,0,1,1,0,0,0,2], value=2.5>(x)", X, {}),
    "pad-reflect": (13, 'y = Pad<mode="reflect">(x, p)', X, {"p": ints(0, 0, 3, 4, 0, 0, 6, 1)}),
    "pad-edge": (13, 'y = Pad<mode="edge">(x, p)', X, {"p": ints(0, 0, 3, 7, 0, 2, 6, 1)}),
    "pad-wrap": (19, 'y = Pad<mode="wrap">(x, p)', X, {"p": ints(0, 0, 3, 2, 0, 0, 6, 1)}),
    "pad-axes": (18, 'y = Pad(x, p, "", a)', X, {"p": ints(1, 2, 3, 4), "a": ints(-1, 2)}),
    "expand": (13, "y = Expand(x, s)", {"x": ("N", 1, 3)}, {"s": ints(1, 4, 1)}),
    "expand-rank": (13, "y = Expand(x, s)", {"x": (3, 1)}, {"s": ints(2, 1, 4)}),
    "expand-to-rows": (13, "h = Shape(x) a = Slice(h, o, i) b = Concat<axis=0>(a, e) y = Expand(c, b) z = Add(y, x)",
                       {"x": ("N", 2, 3)}, {"o": ints(0), "i": ints(1), "e": ints(2, 3), "c": (1, 1, 3)}),
    "tile": (13, "y = Tile(x, r)", X, {"r": ints(1, 2, 1, 3)}),
    "where": (13, "c = Greater(x, t) y = Where(c, x, t)", X, {"t": (6, 1, 5)}),
    "where-rows": (13, "c = Greater(x, t) a = Relu(x) y = Where(c, t, a)", X, {"t": numpy.float32(0.25)}),
    "cast": (13, "i = Cast<to=6>(x) j = Cast<to=11>(i) y = Cast<to=1>(j)", X, {}),
    "cast-bool": (13, "i = Cast<to=9>(x) y = Cast<to=1>(i)", X, {}),
    "constant-of-shape": (13, "h = Shape(x) c = ConstantOfShape<value=float[1] {2.5}>(h) y = Add(c, x)", X, {}),
    "range": (13, "r = Range(a, b, c) y = Add(x, r)", {"x": ("N", 5)},
              {"a": numpy.float32(2), "b": numpy.float32(-0.1), "c": numpy.float32(-0.5)}),
    "one-hot": (13, f"{INDICES} y = OneHot<axis=1>(i, d, v)", WORDS, {"d": numpy.int64(3), "v": floats(-1, 2)} | LIMITS),
    "eye-like": (13, "e = EyeLike<k=1>(x) y = Add(x, e)", {"x": (4, 5)}, {}),
    "trilu": (14, "y = Trilu(x)", X, {}),
    "trilu-lower": (14, "y = Trilu<upper=0>(x, k)", X, {"k": numpy.int64(-2)}),
    "cum-sum": (14, "y = CumSum(x, a)", X, {"a": numpy.int64(2)}),
    "cum-sum-turned": (14, "y = CumSum<exclusive=1, reverse=1>(x, a)", X, {"a": numpy.int64(-1)}),
    "top-k": (13, "y, i = TopK(x, k) z = Cast<to=1>(i)", X, {"k": ints(3)}),
    "top-k-least": (13, "y, i = TopK<axis=1, largest=0>(x, k) z = Cast<to=1>(i)", X, {"k": ints(4)}),
    "arg-max": (13, "i = ArgMax<axis=1>(x) y = Cast<to=1>(i)", X, {}),
    "arg-min": (13, "i = ArgMin<axis=-1, keepdims=0>(x) y = Cast<to=1>(i)", X, {}),
    "compress": (11, "y = Compress<axis=2>(x, c)", X, {"c": numpy.array([True, False, True, True])}),
    "compress-flat": (11, "y = Compress(x, c)", {"x": (3, 4)}, {"c": numpy.array([False, True, True, False, False, True])}),
    "compress-found": (11, "c = Greater(x, t) y = Compress(x, c)", {"x": (12,)}, {"t": numpy.float32(0)}),
    "unique": (11, "r = Relu(x) y = Unique(r)", {"x": (3, 4)}, {}),
    "resize-nearest": resize('mode="nearest"', scales=(1, 1, 2, 1.7)),
    "resize-nearest-floor": resize('mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric"',
                                   scales=(1, 1, 2, 3)),
    "resize-nearest-down": resize('mode="nearest", nearest_mode="round_prefer_ceil"', sizes=(1, 6, 3, 2),
                                  x={"x": (1, 6, 7, 5)}),
    "resize-linear": resize('mode="linear"', scales=(1, 1, 2, 1.5)),
    "resize-linear-corners": resize('mode="linear", coordinate_transformation_mode="align_corners"', scales=(1, 1, 2, 3)),
    "resize-linear-sizes": resize('mode="linear", coordinate_transformation_mode="pytorch_half_pixel"', sizes=(1, 6, 9, 3),
                                  x={"x": (1, 6, 7, 5)}),
    "resize-linear-asymmetric": resize('mode="linear", coordinate_transformation_mode="asymmetric"', scales=(1, 1, 2, 2)),
    "resize-cubic": resize('mode="cubic"', scales=(1, 1, 1.5, 2)),
    "resize-cubic-outside": resize('mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5', scales=(1, 1, 0.8, 2)),
    "resize-antialias": resize('mode="linear", antialias=1', sizes=(3, 2), axes=[2, 3], opset=18),
    "resize-axes": resize('mode="linear"', sizes=(10, 4), axes=[3, 2], opset=18),
    "resize-of-shape": (13, 'h = Shape(x) a = Slice(h, o, i) b = Concat<axis=0>(a, e) y = Resize<mode="linear">(x, "", "", b)',
                        X, {"o": ints(0), "i": ints(2), "e": ints(9, 10)}),
    "resize-10": (10, 'y = Resize<mode="nearest">(x, s)', X, {"s": floats(1, 1, 2, 2)}),
    "upsample": (7, 'y = Upsample<mode="nearest", scales=[1.0, 1.0, 2.0, 3.0]>(x)', X, {}),
    "upsample-linear": (9, 'y = Upsample<mode="linear">(x, s)', X, {"s": floats(1, 1, 2, 2)}),
}


@pytest.mark.parametrize("name", CASES)
def test_operator(name, engine):
    opset, body, inputs, constants = CASES[name]
    rng = numpy.random.default_rng(zlib.crc32(name.encode()))
    model = made(opset, body, inputs, constants, rng)
    for batch in (1, 2, 5) if "N" in inputs["x"] else (1,):
        array = rng.standard_normal([batch if side == "N" else side for side in inputs["x"]], numpy.float32)
        theirs = reference(model, {"x": array})
        assert_equal(engine(model, [array], batch, [output.shape for output in theirs]), theirs)
