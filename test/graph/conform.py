"""Runs ONNX's own tests of operators through the engine and says what passed, failed and was refused by which operator.

usage: conform.py [--shrink] FOLDER...

A folder holds suites, a suite tests, a test model.onnx and test_data_set_N/{input,output}_N.pb. A model is run as it is. If
that is refused, it is tried once more with what trained models have as constants made constants: the inputs that say
shapes, axes or limits (FIXED), and with an opset below 7 converted to a later one. Floats of 16 bits go in as float32, which
the engine computes with, and come out so: they differ by what a float of 16 bits rounds.

refused.txt lists the tests that the engine refuses, with the reason. It may only shrink: a listed test that passes is as
wrong as one that is refused and not listed; --shrink takes those that pass out of the list.
"""

import argparse
import collections
import pathlib
import re
import sys
import tempfile
import textwrap

import numpy
import onnx
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from engine import Engine, Failed, Refused

LIST = pathlib.Path(__file__).parent / "refused.txt"
RTOL, ATOL = 1e-3, 1e-7  # those of ONNX's own runner
ROUNDING = {"float16": 1e-3, "bfloat16": 1e-2}  # relative, and absolute for numbers below 1
FIRST_OPSET, CONVERTED_OPSET = 7, 9
# the inputs that models have as constants
FIXED = {
    "Clip": (1, 2), "CenterCropPad": (1,), "Col2Im": (1, 2), "ConstantOfShape": (0,), "CumSum": (1,), "Dropout": (1, 2),
    "Expand": (1,), "MaxUnpool": (2,), "NonMaxSuppression": (2, 3, 4), "OneHot": (1, 2), "Pad": (1, 2, 3),
    "Range": (0, 1, 2), "ReduceL1": (1,), "ReduceL2": (1,), "ReduceLogSum": (1,), "ReduceLogSumExp": (1,),
    "ReduceMax": (1,), "ReduceMean": (1,), "ReduceMin": (1,), "ReduceProd": (1,), "ReduceSum": (1,),
    "ReduceSumSquare": (1,), "Reshape": (1,), "Resize": (1, 2, 3), "Slice": (1, 2, 3, 4), "Split": (1,), "Squeeze": (1,),
    "Tile": (1,), "TopK": (1,), "Trilu": (1,), "Unsqueeze": (1,), "Upsample": (1,),
}


def read_array(path, dtype):
    """The oldest tests keep the bits of bfloat16 as uint16."""
    array = numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))
    bits = dtype == onnx.TensorProto.BFLOAT16 and array.dtype == numpy.uint16
    return array.view(onnx.helper.tensor_dtype_to_np_dtype(dtype)) if bits else array


def read_arrays(folder, kind, ports):
    """The tensors of a data set, None for what is none."""
    arrays = []
    for number, port in enumerate(ports):
        path = folder / f"{kind}_{number}.pb"
        if not path.exists():
            break
        arrays.append(read_array(path, port.type.tensor_type.elem_type) if port.type.HasField("tensor_type") else None)
    return arrays


def widen(array):
    return array.astype(numpy.float32) if array is not None and array.dtype.name in ROUNDING else array


def data_sets(path, model):
    given = {tensor.name for tensor in model.graph.initializer}
    ports = [port for port in model.graph.input if port.name not in given]
    for folder in sorted(path.glob("test_data_set_*")):
        inputs = [widen(array) for array in read_arrays(folder, "input", ports)]
        yield inputs, read_arrays(folder, "output", model.graph.output)


def make_usual(model, arrays):
    """Makes the model what trained ones are like. Returns the new one, and the arrays that are left to be inputs."""
    version = next((entry.version for entry in model.opset_import if not entry.domain), FIRST_OPSET)
    if version < FIRST_OPSET:
        model = onnx.version_converter.convert_version(model, CONVERTED_OPSET)
    usual = onnx.ModelProto()
    usual.CopyFrom(model)
    fixed = {node.input[i] for node in model.graph.node for i in FIXED.get(node.op_type, ()) if i < len(node.input)}
    given = {tensor.name for tensor in model.graph.initializer}
    ports, left = [port for port in usual.graph.input if port.name not in given], []
    for port, array in zip(ports, arrays):
        if port.name in fixed and array is not None:
            usual.graph.initializer.append(numpy_helper.from_array(array, port.name))
            usual.graph.input.remove(port)
        else:
            left.append(array)
    return usual, left


def run(engine, path, arrays):
    engine.load(path)
    if any(array is None for array in arrays):
        raise Refused("an input is no tensor")
    return engine.run(arrays)[1]


def answer(engine, path, model, arrays):
    """The engine's outputs, or Refused."""
    try:
        return run(engine, path, arrays)
    except Refused:
        with tempfile.TemporaryDirectory() as folder:
            usual, left = make_usual(model, arrays)
            other = pathlib.Path(folder) / "model.onnx"
            other.write_bytes(usual.SerializeToString())
            return run(engine, other, left)


def difference(ours, theirs):
    """What is wrong with the outputs, None if nothing is."""
    if len(ours) != len(theirs):
        return f"{len(ours)} outputs instead of {len(theirs)}"
    for number, (a, expected) in enumerate(zip(ours, theirs)):
        b = widen(expected)
        if b is None or (a.dtype, a.shape) != (b.dtype, b.shape):
            wanted = "no tensor" if b is None else f"{b.dtype} {list(b.shape)}"
            return f"output {number} is {a.dtype} {list(a.shape)} instead of {wanted}"
        rounding = ROUNDING.get(expected.dtype.name, 0)
        if not numpy.allclose(a, b, rtol=max(RTOL, rounding), atol=max(ATOL, rounding), equal_nan=True):
            return f"output {number} differs by {numpy.nanmax(numpy.abs(a.astype(float) - b.astype(float))):.3g}"
    return None


def try_test(engine, path):
    """("passed", None), ("failed", why) or ("refused", why)."""
    model = onnx.load(path / "model.onnx", load_external_data=False)
    try:
        for arrays, expected in data_sets(path, model):
            wrong = difference(answer(engine, path / "model.onnx", model, arrays), expected)
            if wrong:
                return "failed", wrong
        return "passed", None
    except Refused as refused:
        return "refused", re.sub(r"^\S*model\.onnx: ", "", str(refused))
    except Failed as failed:
        return "failed", str(failed)


def operator(why):
    """That a refusal names, else the refusal without the names of the model's values."""
    named = re.search(r"operator ([A-Z]\w*)", why) or re.search(r"\(([A-Z]\w*)\)", why)
    return named[1] if named else re.sub(r" '[^']*'", "", why)


def read_list():
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


class Results:
    """Of the suites of a folder, and what is wrong with them."""

    def __init__(self):
        self.counts = collections.defaultdict(collections.Counter)
        self.operators = collections.Counter()
        self.passed, self.tried, self.problems = set(), set(), []

    def add(self, suite, path, listed, outcome, why):
        name = f"{suite}/{path.name}"
        self.tried.add(name)
        self.counts[suite][outcome] += 1
        if outcome == "failed":
            self.problems.append(f"FAILED {name}: {why}")
        elif outcome == "refused":
            self.operators[operator(why)] += 1
            if name not in listed:
                self.problems.append(f"refused, but not in {LIST.name}: {name}: {why}")
        else:
            self.passed.add(name)
            if name in listed:
                self.problems.append(f"passes now, so it must leave {LIST.name}: {name}")

    def check_list(self, listed):
        """No test may be on the list that its suite does not have."""
        for name in sorted(listed.keys() - self.tried):
            if name.split("/")[0] in self.counts:
                self.problems.append(f"there is no such test, so it must leave {LIST.name}: {name}")

    def print(self):
        for suite, counts in self.counts.items():
            print(f"{suite}: {say(counts)}")
        refusals = ", ".join(f"{name} {count}" for name, count in self.operators.most_common())
        print(textwrap.fill(f"refused, by operator or reason: {refusals or 'nothing'}", 120))
        for problem in self.problems:
            print(problem)
        total = sum(self.counts.values(), collections.Counter())
        print(f"total: {say(total)}, of {total.total()}")


def say(counts):
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "failed", "refused"))


def conform(folder, suites=None):
    """Runs all suites of the folder, or those named."""
    listed, results = read_list(), Results()
    with Engine() as engine:
        for path in sorted(folder.glob("*/*/model.onnx")):
            suite, test = path.parent.parent.name, path.parent
            if suites is None or suite in suites:
                results.add(suite, test, listed, *try_test(engine, test))
    results.check_list(listed)
    return results


def shrink(passed):
    lines = LIST.read_text().splitlines(keepends=True)
    LIST.write_text("".join(line for line in lines if line.split(": ")[0] not in passed))


def main():
    parser = argparse.ArgumentParser(description="Runs ONNX's own tests of operators through the engine.")
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--shrink", action="store_true", help=f"take what passes out of {LIST.name}")
    arguments = parser.parse_args()
    wrong = False
    for folder in arguments.folders:
        results = conform(folder)
        if not results.counts:
            sys.exit(f"conform: there are no tests in {folder}: it must hold SUITE/TEST/model.onnx")
        results.print()
        wrong = wrong or bool(results.problems)
        if arguments.shrink:
            shrink(results.passed)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
