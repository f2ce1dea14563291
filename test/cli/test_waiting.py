"""A job that waits says why: of workers that are not there, of handlers that none has, of a master that is full."""

import signal

import pytest

GOES_ON = "; it goes on by itself, Ctrl-C ends it\n"
TIMEOUT_SECONDS = 6  # to be accepted, and to have asked why nothing happens


@pytest.fixture
def expect_reason(programs):
    """Runs a job until it says that it waits, for this reason, and ends it."""

    def run(master, reason, *words):
        job = programs.start("dls-submit", "run", "--master", master.endpoint, *words)
        job.wait_until_said("the job waits: ")
        job.wait_until_said(GOES_ON)
        assert job.err() == f"dls-submit: the job waits: {reason}{GOES_ON}"
        job.signal(signal.SIGINT)
        assert job.finish().code == 130

    return run


def expect_timeout(programs, master, reason, *words):
    ended = programs.submit(master, "run", "--timeout", TIMEOUT_SECONDS, *words)
    assert ended.code == 5
    assert ended.err.endswith(f"the job is cancelled; it waited: {reason}\n")


def test_no_worker(programs, numbers):
    expect_timeout(programs, programs.master(), "no worker is registered with the master", "--handler", "number", *numbers(1))


def test_no_worker_that_has_the_handler(programs, numbers, expect_reason):
    master = programs.master()
    for name in ("h1", "h2"):
        programs.handler(master, name)
    has = 'no worker of the master has the handler "nunber"; they have number, hold, odd-fails, reads, dies'
    expect_reason(master, has, "--handler", "nunber", *numbers(1))


def test_no_worker_that_runs_models(programs, fashion, tmp_path, expect_reason):
    from PIL import Image

    Image.new("L", (28, 28)).save(tmp_path / "grey.png")
    master = programs.master()
    programs.handler(master, "h1")
    expect_reason(master, "no worker of the master runs models", fashion, tmp_path / "grey.png")


def test_a_job_that_only_takes_long_has_no_reason(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    words = ["--handler", "hold", "--params", f'{{"gate": "{tmp_path / "gate"}"}}']
    ended = programs.submit(master, "run", "--timeout", 0.5, *words, *numbers(1))
    (tmp_path / "gate").touch()
    assert (ended.code, ended.err.endswith("the job is cancelled\n")) == (5, True)


def test_silence_is_explained_once(programs, numbers):
    master = programs.master()
    job = programs.start("dls-submit", "run", "--master", master.endpoint, "--handler", "number", *numbers(3))
    job.wait_until_said("the job waits: no worker is registered with the master; it goes on by itself")
    programs.handler(master, "h1")
    ended = job.finish()
    assert (ended.code, ended.err.count("\n")) == (0, 1)


@pytest.mark.parametrize("words", [[], ["--progress"]], ids=["silent", "progress"])
def test_a_full_master_is_said_to_be_full_and_tried_again(programs, numbers, words):
    master = programs.master("--job-memory", 4)
    programs.handler(master, "h1")
    crowd = programs.start("test/cli/crowd_tool", master.endpoint).wait_for("full")
    job = programs.start("dls-submit", "run", "--master", master.endpoint, "--handler", "number", *words, *numbers(3))
    full = "the jobs of this client and their inputs take as much room as the master has left for others; it is asked again"
    said = "waiting for room at the master\n" if words else f"the job waits: {full}; it goes on by itself"
    job.wait_until_said(said)
    if not words:
        expect_timeout(programs, master, full, "--handler", "number", *numbers(1))
    assert crowd.stop().code == 0
    ended = job.finish()
    assert ended.code == 0, ended.err
    assert words or ended.err.count("\n") == 1


def test_worker_without_a_master_says_so_once(programs):
    gone = programs.master()
    gone.stop()
    worker = programs.start("dls-worker", "--master", gone.endpoint, "--name", "alone")
    worker.wait_until_said("It goes on trying, Ctrl-C ends it\n")
    worker.signal(signal.SIGTERM)
    assert worker.finish().code == 0
    assert worker.err() == (f"dls-worker: no master answers at {gone.endpoint}; is it running? "
                            "It goes on trying, Ctrl-C ends it\n")
