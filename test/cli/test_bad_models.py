"""Models that cannot be used: one sentence that names the file and the thing, exit code 4, before any master is asked."""

import json
import shutil

import onnx_files as onnx
import pytest

SOON_SECONDS = 10


@pytest.fixture
def folder(fashion, tmp_path):
    """A copy of the clothing model, to be spoilt."""
    return shutil.copytree(fashion, tmp_path / "model")


@pytest.fixture
def picture(tmp_path):
    from PIL import Image

    Image.new("L", (28, 28), 128).save(tmp_path / "grey.png")
    return tmp_path / "grey.png"


@pytest.fixture
def refused(programs, folder, picture):
    """Runs the model in this process and as a job, and looks at it: all three must refuse it with these words."""

    def check(*words):
        for ended in (
            programs.local(folder, picture),
            programs.run("dls-submit", "run", "--master", "tcp://127.0.0.1:1", folder, picture),
            programs.run("dls-submit", "model", "show", folder),
        ):
            assert (ended.code, ended.out) == (4, ""), ended.err
            assert ended.err.startswith("dls-submit: ") and ended.err.count("\n") == 1
            assert [word for word in words if word not in ended.err] == [], ended.err
            assert ended.seconds < SOON_SECONDS

    return check


def use(folder, model_bytes):
    """The folder as one of that model alone, which takes and gives tensors."""
    (folder / "model.onnx").write_bytes(model_bytes)
    for name in ("model.json", "labels.txt"):
        (folder / name).unlink()


def test_missing_folder(refused, folder):
    shutil.rmtree(folder)
    refused(str(folder))


def test_missing_model(refused, folder):
    (folder / "model.onnx").unlink()
    refused("model.onnx")


def test_empty_model(refused, folder):
    (folder / "model.onnx").write_bytes(b"")
    refused("model.onnx")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.999])
def test_truncated_model(refused, folder, share):
    whole = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(whole[: int(len(whole) * share)])
    refused("model.onnx")


def test_no_onnx_at_all(refused, folder):
    (folder / "model.onnx").write_text("This is the model, is it not?\n" * 100)
    refused("model.onnx")


def test_unsupported_operator(refused, folder):
    nodes = [onnx.node("Frobnicate", ["x"], ["y"], "the_odd_one")]
    use(folder, onnx.model(onnx.graph(nodes, [onnx.value("x", ["N", 4])], [onnx.value("y", ["N", 4])])))
    refused("model.onnx", "Frobnicate", "the_odd_one")


def test_nested_graphs(refused, folder):
    use(folder, onnx.nested(20000))
    refused("model.onnx", "nest")


def test_cyclic_graph(refused, folder):
    nodes = [onnx.node("Relu", ["b"], ["a"], "first"), onnx.node("Relu", ["a"], ["b"], "second")]
    use(folder, onnx.model(onnx.graph(nodes, [onnx.value("x", [1, 4])], [onnx.value("b", [1, 4])])))
    refused("model.onnx", "cycle", "Relu")


def test_missing_labels(refused, folder):
    (folder / "labels.txt").unlink()
    refused("labels.txt")


def test_too_few_labels(refused, folder):
    (folder / "labels.txt").write_text("shirt\ntrouser\n")
    refused("labels.txt", "2", "10")


def test_unknown_key(refused, folder):
    spec = json.loads((folder / "model.json").read_text())
    spec["inputs"]["input"]["colr"] = spec["inputs"]["input"].pop("colour")
    (folder / "model.json").write_text(json.dumps(spec))
    refused("model.json", "colr", "colour")


def test_spec_that_is_not_json(refused, folder):
    (folder / "model.json").write_text('{"inputs": ')
    refused("model.json")


def test_input_that_the_model_does_not_have(refused, folder):
    spec = json.loads((folder / "model.json").read_text())
    spec["inputs"]["image"] = spec["inputs"].pop("input")
    (folder / "model.json").write_text(json.dumps(spec))
    refused("model.json", "image", "input")


def test_photo_cannot_become_the_input(refused, folder):
    """Three colours for an input of one."""
    spec = json.loads((folder / "model.json").read_text())
    spec["inputs"]["input"].update(colour="rgb", mean=[0, 0, 0], std=[1, 1, 1])
    (folder / "model.json").write_text(json.dumps(spec))
    refused("input", "3", "1")


def test_picture_of_another_size_than_the_input(refused, folder):
    spec = json.loads((folder / "model.json").read_text())
    spec["inputs"]["input"]["resize"] = {"exact": [32, 32]}
    (folder / "model.json").write_text(json.dumps(spec))
    refused("input", "32", "28")
