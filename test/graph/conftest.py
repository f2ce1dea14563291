"""The library's engine for Python: ONNX models on numpy arrays, through a small program of its own."""

import subprocess

import numpy
import pytest

from compare import Refused


@pytest.fixture
def engine(build, tmp_path):
    """engine(model bytes, arrays, batch, shapes of the outputs): the outputs, or Refused."""

    def run(model, arrays, batch, shapes):
        (tmp_path / "model.onnx").write_bytes(model)
        inputs = [tmp_path / f"input{i}" for i in range(len(arrays))]
        outputs = [tmp_path / f"output{i}" for i in range(len(shapes))]
        for path, array in zip(inputs, arrays):
            path.write_bytes(numpy.ascontiguousarray(array).tobytes())
        command = [build / "test/graph/model_tool", tmp_path / "model.onnx", str(batch), *inputs, "--", *outputs]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode:
            assert done.returncode in (2, 4), done
            raise Refused(done.stderr)
        return [numpy.fromfile(path, numpy.float32).reshape(shape) for path, shape in zip(outputs, shapes)]

    return run
