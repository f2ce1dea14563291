"""What a worker costs while it has nothing to do, and how its threads wait for each other."""

import os
import pathlib
import time

import pytest

SECONDS = 3
SHARE_MOST = 0.02  # of one processor; it takes 0.0004, and a thread that waits actively all of it


@pytest.fixture
def environment(programs):
    """That in which the tests say nothing of how threads wait."""
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS"):
        programs.environment.pop(name, None)
    return programs.environment


def environment_of(program):
    text = pathlib.Path(f"/proc/{program.process.pid}/environ").read_bytes().decode()
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


def processor_seconds(program):
    """Of all its threads, also those that have ended."""
    fields = pathlib.Path(f"/proc/{program.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_worker_with_a_model_waits_asleep(programs, environment, fashion, fashion_pictures):
    master = programs.master()
    worker = programs.worker(master, "w1", "--threads", 2)
    ended = programs.submit(master, "run", "--json", fashion, fashion_pictures / "t10k-images-idx3-ubyte", limit=120)
    assert ended.code == 0, ended.err
    before = processor_seconds(worker)
    assert before > 0
    time.sleep(SECONDS)
    assert processor_seconds(worker) - before <= SECONDS * SHARE_MOST


def test_threads_wait_briefly_unless_the_user_says_how(programs, environment):
    master = programs.master()
    found = environment_of(programs.worker(master, "w1"))
    assert found["GOMP_SPINCOUNT"] == "1000" and "OMP_WAIT_POLICY" not in found
    environment["OMP_WAIT_POLICY"] = "passive"
    assert "GOMP_SPINCOUNT" not in environment_of(programs.worker(master, "w2"))
    del environment["OMP_WAIT_POLICY"]
    environment["GOMP_SPINCOUNT"] = "7"
    assert environment_of(programs.worker(master, "w3"))["GOMP_SPINCOUNT"] == "7"
