"""ONNX's own tests of operators, from Debian's libonnx-testdata: what the engine does not refuse, it computes right, and
what it refuses is listed in refused.txt. `make conform` runs the tests of later opsets too."""

import pathlib
import shutil

import conform
import isa
import numpy
import onnx
import pytest

DATA = pathlib.Path("/usr/share/libonnx-testdata/data")
SUITES = {"node": 932, "pytorch-converted": 82, "pytorch-operator": 35, "simple": 23}

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="libonnx-testdata is not installed")


@pytest.mark.parametrize("path", isa.of_machine())
@pytest.mark.parametrize("suite", SUITES)
def test_suite(suite, path, monkeypatch):
    monkeypatch.setenv("DLS_ISA", path)
    results = conform.conform(DATA, {suite})
    assert results.problems == []
    assert results.counts[suite].total() == SUITES[suite]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with one suite of one test that passes, and a list of its own, empty."""
    shutil.copytree(DATA / "node/test_relu", tmp_path / "data/node/test_relu")
    (tmp_path / "refused.txt").touch()
    monkeypatch.setattr(conform, "LIST", tmp_path / "refused.txt")
    return tmp_path / "data"


def problems(folder):
    return conform.conform(folder).problems


def test_wrong_values_are_found(folder):
    path = folder / "node/test_relu/test_data_set_0/output_0.pb"
    expected = onnx.numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))
    assert problems(folder) == []
    path.write_bytes(onnx.numpy_helper.from_array(expected + numpy.float32(0.01)).SerializeToString())
    assert problems(folder) == ["FAILED node/test_relu: output 0 differs by 0.01"]
    path.write_bytes(onnx.numpy_helper.from_array(expected[0]).SerializeToString())
    assert problems(folder) == ["FAILED node/test_relu: output 0 is float32 [3, 4, 5] instead of float32 [4, 5]"]


def test_refusals_are_listed_and_only_they(folder):
    model = onnx.load(folder / "node/test_relu/model.onnx")
    conform.LIST.write_text("node/test_relu: a reason\n")
    assert problems(folder) == ["passes now, so it must leave refused.txt: node/test_relu"]
    conform.shrink({"node/test_relu"})
    assert problems(folder) == []
    model.graph.node[0].op_type = "Rely"
    onnx.save(model, folder / "node/test_relu/model.onnx")
    assert [problem.split(" node '")[0] for problem in problems(folder)] == [
        "refused, but not in refused.txt: node/test_relu:"]
    conform.LIST.write_text("node/test_relu: a reason\n")
    assert problems(folder) == []
    conform.LIST.write_text("node/test_relu: a reason\nnode/test_gone: another\n")
    assert problems(folder) == ["there is no such test, so it must leave refused.txt: node/test_gone"]
