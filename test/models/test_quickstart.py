"""The two quickstart scripts, and the numbers that a cluster gives for the photos beside ONNX Runtime's."""

import json
import os
import pathlib
import pty
import re
import subprocess
import time

import numpy
import onnxruntime
import pytest
from conftest import ROOT
from seen import SEEN, preprocess

BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
os.environ["DLS_PROGRAMS"] = str(BUILD)
SECONDS = 120


def quickstart(name):
    return subprocess.run(
        [ROOT / "scripts" / name], check=True, stdout=subprocess.PIPE, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL
    ).stdout


def processes_of(said):
    return [int(number) for number in re.findall(r"\(process (\d+)\)", said)]


def alive(process):
    return pathlib.Path(f"/proc/{process}").exists()


def test_quickstart_names_what_is_in_the_photos(lite0, photos):
    said = quickstart("quickstart.sh")
    labels = (lite0 / "labels.txt").read_text().splitlines()
    for photo, (classes, probability) in SEEN.items():
        row = re.search(rf"{photo} +(w[12]) +[\d.]+ +([\d.]+)  (.+)$", said, re.MULTILINE)
        assert float(row.group(2)) == pytest.approx(probability, abs=0.01)
        assert row.group(3) == labels[classes[0]]
    assert len(processes_of(said)) == 3
    assert not any(alive(process) for process in processes_of(said))


def test_quickstart_batch_gives_the_expected_answers(fashion_pictures):
    said = quickstart("quickstart-batch.sh")
    assert "accuracy: 9,350 of 10,000 right" in said
    assert "answers that differ from ONNX Runtime's: 0" in said
    assert not any(alive(process) for process in processes_of(said))


def test_ctrl_c_stops_all_that_was_started(lite0, photos, pseudo_terminals):
    process, terminal = pty.fork()
    if process == 0:
        os.execv(ROOT / "scripts/quickstart.sh", ["quickstart.sh"])
    said, interrupted = "", 0
    try:
        while True:
            said += os.read(terminal, 4096).decode()
            if "$ dls-submit" in said and not interrupted:
                interrupted = time.monotonic()
                os.write(terminal, b"\x03")
    except OSError:  # the other end is closed
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 130
    assert time.monotonic() - interrupted < 10
    assert len(processes_of(said)) == 3
    assert not any(alive(process) for process in processes_of(said))


def run_local(folder, *inputs):
    """The five classes and values that dls-submit gives for each input."""
    command = [BUILD / "dls-submit", "run", "--local", "--json", folder, *inputs]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=SECONDS).stdout.splitlines()
    rows = [json.loads(line)["outputs"][0]["classes"] for line in lines if "outputs" in json.loads(line)]
    assert len(rows) == len(inputs)
    return [{row["index"]: row["value"] for row in classes} for classes in rows]


@pytest.fixture(scope="module")
def expected(lite0, photos):
    batch = numpy.stack([preprocess(photos / name, lite0) for name in SEEN])
    session = onnxruntime.InferenceSession(lite0 / "model.onnx")
    return batch, session.run(["probabilities"], {"input": batch})[0]


def test_the_same_tensor_gives_the_same_probabilities(lite0, expected, tmp_path):
    batch, probabilities = expected
    files = [tmp_path / f"{photo}.npy" for photo in SEEN]
    for file, tensor in zip(files, batch):
        numpy.save(file, tensor)
    for classes, row in zip(run_local(lite0, *files), probabilities):
        assert list(classes) == row.argsort()[::-1][:5].tolist()
        assert max(abs(row[index] - value) for index, value in classes.items()) <= 1e-4 * row.max()


def test_the_same_photo_gives_nearly_the_same_probabilities(lite0, photos, expected):
    _, probabilities = expected
    for classes, row in zip(run_local(lite0, *(photos / name for name in SEEN)), probabilities):
        assert next(iter(classes)) == row.argmax()
        assert max(abs(row[index] - value) for index, value in classes.items()) <= 0.01
