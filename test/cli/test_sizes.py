"""A model that leaves sizes open, over a cluster: each item brings its own."""

import json

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from compare import reference


@pytest.fixture
def folder(tmp_path):
    """Means of what a convolution finds in pictures of any size."""
    weights = numpy.random.default_rng(1).standard_normal((4, 3, 3, 3), numpy.float32)
    nodes = [
        helper.make_node("Conv", ["picture", "w"], ["c"]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("ReduceMean", ["r"], ["means"], axes=[2, 3], keepdims=0),
    ]
    ports = [helper.make_tensor_value_info("picture", TensorProto.FLOAT, ["N", 3, "H", "W"])]
    outputs = [helper.make_tensor_value_info("means", TensorProto.FLOAT, ["N", 4])]
    graph = helper.make_graph(nodes, "g", ports, outputs, [numpy_helper.from_array(weights, "w")])
    (tmp_path / "model").mkdir()
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, tmp_path / "model/model.onnx")
    return tmp_path / "model"


@pytest.fixture
def arrays(tmp_path):
    """Files of some sizes, some of them more than once, and one that is too small for the convolution."""
    rng = numpy.random.default_rng(2)
    sides = [(8, 8), (8, 8), (5, 9), (2, 9), (8, 8), (30, 3), (6, 6), (7, 7), (9, 9), (5, 9)]
    paths = [tmp_path / f"{number}.npy" for number in range(len(sides))]
    for path, size in zip(paths, sides):
        numpy.save(path, rng.standard_normal((3, *size), numpy.float32))
    return paths


def check(folder, paths, ended, bad):
    model = (folder / "model.onnx").read_bytes()
    items = ended.items()
    assert [item["item"] for item in items] == list(range(len(paths)))
    for item, path in zip(items, paths):
        if path in bad:
            assert "Conv" in item["text"]
        else:
            expected = reference(model, {"picture": numpy.load(path)[None]})[0][0]
            assert numpy.allclose(item["outputs"][0]["values"], expected, rtol=1e-4, atol=1e-5), item


def test_each_item_brings_its_size(programs, folder, arrays):
    master = programs.master()
    programs.worker(master, "w1")
    check(folder, arrays, programs.submit(master, "run", "--json", folder, *arrays), {arrays[3]})
    check(folder, arrays, programs.local("--json", folder, *arrays), {arrays[3]})


def test_photos_have_the_size_of_the_description(programs, folder, tmp_path):
    """The file leaves the size open, model.json says it."""
    from PIL import Image

    photo = tmp_path / "photo.png"
    Image.linear_gradient("L").resize((40, 30)).convert("RGB").save(photo)
    description = {"inputs": {"picture": {"kind": "image", "resize": {"exact": [9, 12]}, "scale": 0.01}}}
    (folder / "model.json").write_text(json.dumps(description))
    ended = programs.local("--json", folder, photo, photo)
    assert ended.code == 0, ended.err
    assert [len(item["outputs"][0]["values"]) for item in ended.items()] == [4, 4]
    shown = json.loads(programs.run("dls-submit", "model", "show", "--json", folder).out)
    assert shown["batchable"] is True and shown["inputs"][0]["dims"] == [None, 3, None, None]


def test_photos_without_a_size(programs, folder, tmp_path):
    from PIL import Image

    Image.linear_gradient("L").convert("RGB").save(tmp_path / "photo.png")
    (folder / "model.json").write_text(json.dumps({"inputs": {"picture": {"kind": "image"}}}))
    ended = programs.local("--json", folder, tmp_path / "photo.png")
    message = ended.items()[0]["text"]
    assert "float32 [1, 3, ?, ?]" in message and "does not say how large a photo becomes" in message


def test_items_of_no_fitting_shape(programs, folder, tmp_path):
    numpy.save(tmp_path / "grey.npy", numpy.zeros((1, 8, 8), numpy.float32))
    numpy.save(tmp_path / "good.npy", numpy.zeros((1, 3, 8, 8), numpy.float32))
    ended = programs.local("--json", folder, tmp_path / "grey.npy", tmp_path / "good.npy")
    grey, good = ended.items()
    assert "is float32 [1, 3, ?, ?], and this item is float32 [1, 8, 8]" in grey["text"]
    assert good["outputs"][0]["values"] == [0, 0, 0, 0]


def test_model_verbs(programs, folder, arrays, tmp_path):
    """One size at a time; files of the same size are a batch."""
    shown = json.loads(programs.run("dls-submit", "model", "show", "--json", folder).out)
    assert shown["inputs"][0]["dims"] == [None, 3, None, None] and "batchable" not in shown and "plan" not in shown
    assert programs.run("dls-submit", "model", "show", folder).code == 0
    same = [arrays[0], arrays[1], arrays[4]]
    ended = programs.run("dls-submit", "model", "run", "--output", tmp_path / "out.npy", folder, *same)
    assert ended.code == 0, ended.err
    batch = numpy.stack([numpy.load(path) for path in same])
    theirs = reference((folder / "model.onnx").read_bytes(), {"picture": batch})[0]
    assert numpy.allclose(numpy.load(tmp_path / "out.npy"), theirs, rtol=1e-4, atol=1e-5)
    numpy.save(tmp_path / "batch.npy", batch)
    numpy.save(tmp_path / "expected.npy", theirs)
    words = ["--rtol", "1e-4", "--atol", "1e-5", folder, tmp_path / "batch.npy", "--expect", tmp_path / "expected.npy"]
    assert programs.run("dls-submit", "model", "run", *words).code == 0
    ended = programs.run("dls-submit", "model", "run", folder, arrays[0], arrays[2])
    assert ended.code != 0 and "is float32 [1, 3, 8, 8], and this item is float32 [3, 5, 9]" in ended.err
