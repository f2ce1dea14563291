"""The converted EfficientNet-Lite0: the classes that ONNX Runtime and Pillow find in the photos, and the same bytes again."""

import subprocess

import numpy
import onnxruntime
import pytest
from conftest import ROOT
from seen import SEEN, preprocess


@pytest.fixture(scope="module")
def probabilities(lite0, photos):
    batch = numpy.stack([preprocess(photos / name, lite0) for name in SEEN])
    session = onnxruntime.InferenceSession(lite0 / "model.onnx")
    return dict(zip(SEEN, session.run(["probabilities"], {"input": batch})[0]))


@pytest.mark.parametrize("photo", SEEN)
def test_finds_what_is_in_the_photo(probabilities, photo):
    classes, probability = SEEN[photo]
    row = probabilities[photo]
    assert row.argsort()[::-1][: len(classes)].tolist() == classes
    assert row.max() == pytest.approx(probability, abs=0.006)
    assert row.sum() == pytest.approx(1, abs=1e-5)


def test_rocket_may_be_a_space_shuttle(probabilities):
    assert 812 in probabilities["rocket.jpg"].argsort()[::-1][:5]


def test_labels_name_the_thousand_classes(lite0):
    labels = (lite0 / "labels.txt").read_text().split("\n")
    assert labels.pop() == ""
    assert len(labels) == 1000
    assert labels[282] == "tiger cat"
    assert labels[812] == "space shuttle"


def test_made_again_is_the_same(lite0, tmp_path):
    subprocess.run([ROOT / "scripts/make_lite0.py", tmp_path / "again"], check=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == {
        path.name: path.read_bytes() for path in lite0.iterdir()
    }
    assert [path.name for path in tmp_path.iterdir()] == ["again"]
