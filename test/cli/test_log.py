"""The log of a master: what it says, and a standard error that takes nothing, which must neither stop the work nor hang
the end, and whose lost lines are counted."""

import contextlib
import os
import re
import signal
import subprocess

import pytest
from programs import wait_until

JOBS = 3000
WARM_UP_JOBS = 1  # of dispatch_tool
FILLER = b"-" * 4095 + b"\n"  # whole pages: nothing more goes in behind the last


@pytest.fixture
def full_pipe():
    """(what to read from, what to write into) of a pipe that is full."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(theirs, FILLER)
    os.set_blocking(theirs, True)
    yield ours, theirs
    os.close(ours)


def run_tiny_jobs(programs, master):
    """Many jobs, of which the log has much to tell."""
    worker = programs.start("bench/dispatch_tool", "worker", master.endpoint, 0, stdin=subprocess.PIPE)
    jobs = programs.start("bench/dispatch_tool", "jobs", master.endpoint, JOBS, 100).finish()
    assert jobs.code == 0, jobs.err
    status = programs.submit(master, "status", "--json").objects()[0]
    assert (status["worker_count"], status["lost_workers"]) == (1, 0)
    worker.process.stdin.close()
    assert worker.finish().code == 0
    return 2 * (WARM_UP_JOBS + JOBS) + 2  # lines: each job is accepted and ends, the worker joins and leaves


class Reader:
    """What comes out of a pipe."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.read = b""

    def sees(self, text):
        with contextlib.suppress(BlockingIOError):
            os.set_blocking(self.descriptor, False)
            self.read += os.read(self.descriptor, 65536)
        return text in self.read

    def rest(self):
        """All lines until its end, without those that filled it."""
        os.set_blocking(self.descriptor, True)
        while more := os.read(self.descriptor, 65536):
            self.read += more
        return [line for line in self.read.decode().splitlines() if not line.startswith("-")]


@pytest.mark.parametrize("waits", [True, False], ids=["waits", "does-not-wait"])
def test_full_standard_error_does_not_stop_the_work(programs, full_pipe, waits):
    """Also where whoever has made it does not want to wait for it: no line is lost uncounted."""
    ours, theirs = full_pipe
    os.set_blocking(theirs, waits)
    master = programs.master("--log-level", "debug", err=theirs)
    os.close(theirs)
    expected = run_tiny_jobs(programs, master)
    reader = Reader(ours)
    wait_until(lambda: reader.sees(b"lines are lost"), "the count of lost lines")
    master.signal(signal.SIGTERM)
    lines = reader.rest()
    assert master.finish().code == 0
    lost = [int(count) for count in re.findall(r"log: (\d+) lines are lost", "\n".join(lines))]
    assert sum(lost) > 0
    assert len(lines) - len(lost) + sum(lost) == expected


def test_full_standard_error_does_not_hang_the_end(programs, full_pipe):
    _, theirs = full_pipe
    master = programs.master("--log-level", "info", err=theirs)
    worker = programs.start("dls-worker", "--master", master.endpoint, "--name", "w1", "--log-level", "info", err=theirs)
    os.close(theirs)
    worker.wait_for("works for")
    assert worker.stop().code == 0
    assert master.stop().code == 0


def test_news_of_workers_and_jobs(programs, numbers):
    master = programs.master("--log-level", "info")
    first = programs.handler(master, "h1")
    assert programs.submit(master, "run", "--handler", "odd-fails", *numbers(4)).code == 1
    first.kill()
    wait_until(lambda: "worker h1 is lost" in master.err(), "news of the lost worker")
    programs.handler(master, "h1").stop()
    said = [re.sub(r"[0-9a-f]{32}", "ID", line.split(" info: master: ")[1]) for line in master.stop().err.splitlines()]
    joined, accepted, ended, lost, joined_again, left = said
    assert re.match(r"worker h1 has joined: data at tcp://127.0.0.1:\d+, devices: 1, runs: .*odd-fails", joined)
    assert re.match(r"job ID of \S+ is accepted: 4 items for odd-fails", accepted)
    assert re.match(r"job ID of \S+ is done after \d+\.\d{3} s: items 4, done 4, of them failed 2$", ended)
    assert lost == "worker h1 is lost; it had 0 tasks"
    assert joined_again.startswith("worker h1 has joined")
    assert left == "worker h1 has left; it had 0 tasks"
