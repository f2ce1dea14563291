"""Writes the tests of operators that the Python package `onnx` computes, those of opset 18 and later, in the layout that
conform.py reads.

usage: make_cases.py FOLDER

FOLDER/opset18/TEST appears whole or not at all; where it is, nothing is done.
"""

import pathlib
import shutil
import sys
import warnings

import numpy
import onnx
from onnx import numpy_helper

FIRST_OPSET = 18
SUITE = "opset18"


def opset(case):
    return max((entry.version for entry in case.model.opset_import if not entry.domain), default=0)


def message(value, port):
    """The value as the protobuf message of its kind."""
    if isinstance(value, onnx.TensorProto):
        return value
    if port.type.HasField("sequence_type"):
        return numpy_helper.from_list(value, port.name)
    if port.type.HasField("optional_type"):
        return numpy_helper.from_optional(value, port.name)
    return numpy_helper.from_array(numpy.asarray(value), port.name)


def write(case, folder):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, data_set in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for kind, values, ports in zip(("input", "output"), data_set, (case.model.graph.input, case.model.graph.output)):
            for index, (value, port) in enumerate(zip(values, ports)):
                (data / f"{kind}_{index}.pb").write_bytes(message(value, port).SerializeToString())


def main():
    target = pathlib.Path(sys.argv[1]) / SUITE
    if target.exists():
        return
    half = target.with_name(f".{SUITE}")
    shutil.rmtree(half, ignore_errors=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cases divide by zero on purpose
        from onnx.backend.test.case.node import collect_testcases

        cases = [case for case in collect_testcases(None) if opset(case) >= FIRST_OPSET]
    for case in cases:
        write(case, half / case.name)
    half.rename(target)
    print(f"made {len(cases)} tests in {target}")


if __name__ == "__main__":
    main()
