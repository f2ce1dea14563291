"""The library's engine for Python's tests: ONNX models on numpy arrays."""

import pytest


@pytest.fixture
def engine(process, tmp_path):
    """engine(model bytes, arrays, batch, shapes of the outputs): the outputs, or Refused."""

    def run(model, arrays, batch, shapes):
        (tmp_path / "model.onnx").write_bytes(model)
        process.load(tmp_path / "model.onnx")
        outputs = process.run(arrays, batch)[1]
        assert [array.shape for array in outputs] == [tuple(shape) for shape in shapes]
        return outputs

    return run
