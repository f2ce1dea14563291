"""A model whose weights lie in files beside it: the same answers as with all in one file, here and over a cluster."""

import shutil

import onnx
import pytest


@pytest.fixture
def pictures(tmp_path):
    from PIL import Image

    paths = []
    for shade in (40, 128, 250):
        paths.append(tmp_path / f"{shade}.png")
        Image.linear_gradient("L").resize((28, 28)).point(lambda v, s=shade: v * s // 255).save(paths[-1])
    return paths


@pytest.fixture
def folder(fashion, tmp_path):
    return shutil.copytree(fashion, tmp_path / "model")


def move_weights(folder, **how):
    """Puts the weights of the model into other files."""
    model = onnx.load(folder / "model.onnx")
    (folder / "model.onnx").unlink()
    onnx.save_model(model, folder / "model.onnx", save_as_external_data=True, size_threshold=0, **how)
    assert len(list(folder.glob("*"))) > 3


def answers(ended):
    assert ended.code == 0, ended.err
    return [(item["item"], item["outputs"]) for item in ended.items()]


def check(found, expected):
    """The same classes, and values but for rounding: each process chooses its kernels by measuring."""
    for (item, outputs), (other, others) in zip(found, expected, strict=True):
        for one, two in zip(outputs[0]["classes"], others[0]["classes"], strict=True):
            assert (item, one["index"]) == (other, two["index"])
            assert one["value"] == pytest.approx(two["value"], abs=1e-4)


@pytest.mark.parametrize("how", [{"location": "weights.bin"}, {"all_tensors_to_one_file": False}], ids=["one", "many"])
def test_same_answers(programs, fashion, folder, pictures, how):
    move_weights(folder, **how)
    (folder / "notes of mine (1).txt").write_text("no part of the model")
    master = programs.master()
    programs.worker(master, "w1")
    expected = answers(programs.submit(master, "run", "--json", fashion, *pictures))
    assert len(expected) == 3
    check(answers(programs.submit(master, "run", "--json", folder, *pictures)), expected)
    check(answers(programs.local("--json", folder, *pictures)), expected)


def test_worker_keeps_the_weights(programs, folder, pictures):
    """A second job on another worker with the same cache, which has all files of the model in it."""
    move_weights(folder, location="weights.bin")
    master = programs.master()
    first = programs.worker(master, "w1")
    expected = answers(programs.submit(master, "run", "--json", folder, *pictures))
    cached = {path.stat().st_size for path in (programs.folder / "cache").rglob("*") if path.is_file()}
    assert {(folder / name).stat().st_size for name in ("model.onnx", "model.json", "weights.bin")} <= cached
    first.stop()
    programs.worker(master, "w2")
    check(answers(programs.submit(master, "run", "--json", folder, *pictures)), expected)


def test_other_weights_are_another_model(programs, folder, pictures):
    move_weights(folder, location="weights.bin")
    master = programs.master()
    programs.worker(master, "w1")
    before = answers(programs.submit(master, "run", "--json", folder, *pictures))
    (folder / "weights.bin").write_bytes(bytes((folder / "weights.bin").stat().st_size))
    assert answers(programs.submit(master, "run", "--json", folder, *pictures)) != before


def test_refused(programs, folder, pictures):
    """In one sentence, before any master is asked."""
    move_weights(folder, location="weights.bin")
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    model.graph.initializer[0].external_data[0].value = "../weights.bin"
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    shutil.copy(folder / "weights.bin", folder.parent)
    master = "tcp://127.0.0.1:1"
    for ended in (programs.local(folder, *pictures), programs.run("dls-submit", "run", "--master", master, folder, *pictures)):
        assert (ended.code, ended.out, ended.err.count("\n")) == (4, "", 1), ended.err
        assert "model.onnx" in ended.err and "'../weights.bin', which is no file beside the model" in ended.err
