"""The programs in bindings/python/examples do what they say."""

import subprocess
import sys

from common import BUILD, PACKAGE, SECONDS
from seen import SEEN

EXAMPLES = PACKAGE / "examples"


def lines_of(worker, job):
    """What the program `job` prints while the program `worker` runs."""
    process = subprocess.Popen(worker)
    try:
        return subprocess.run(job, check=True, capture_output=True, text=True, timeout=SECONDS).stdout.splitlines()
    finally:
        process.terminate()
        process.wait(SECONDS)


def test_statistics(master):
    lines = lines_of(
        [sys.executable, EXAMPLES / "statistics_worker.py", master],
        [sys.executable, EXAMPLES / "statistics_job.py", master],
    )
    assert len(lines) == 5
    for item, line in enumerate(lines):
        assert line.startswith(f"item {item} by ")
        assert line.endswith(f"mean [{item + 1}. {item + 1}.], deviation [{item + 1}. {item + 1}.]")


def test_classify(master, lite0, photos, tmp_path):
    paths = [photos / name for name in SEEN] + [photos.with_name("photos-bad") / "truncated.jpg"]
    lines = lines_of(
        [BUILD / "dls-worker", "--master", master, "--cache-dir", tmp_path / "cache"],
        [sys.executable, EXAMPLES / "classify.py", master, lite0, *paths],
    )
    labels = (lite0 / "labels.txt").read_text().splitlines()
    for path, line, (classes, probability) in zip(paths, lines, SEEN.values()):
        assert line.startswith(f"{path}: {labels[classes[0]]} {probability:.2f}, ")
    assert lines[-1].startswith(f"{paths[-1]}: ")
    assert "damaged or cut short" in lines[-1]


def test_local_cluster():
    said = subprocess.run([sys.executable, EXAMPLES / "local_cluster.py", "2"], check=True, capture_output=True, text=True).stdout
    lines = said.splitlines()
    assert len(lines) == 20 and lines[0].startswith(" 669 primes from 0 to 5000 by local-")
    assert sum(int(line.split()[0]) for line in lines) == 9592
