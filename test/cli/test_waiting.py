"""A job that waits says why: of workers that are not there, of handlers that none has, of a master that is full."""

import pytest

WAITED = "the job is cancelled; it waited: "


def test_no_worker(programs, numbers):
    ended = programs.submit(programs.master(), "run", "--timeout", 0.2, "--handler", "number", *numbers(1))
    assert ended.code == 5
    assert ended.err.endswith(WAITED + "no worker is registered with the master\n")


def test_no_worker_that_has_the_handler(programs, numbers):
    master = programs.master()
    for name in ("h1", "h2"):
        programs.handler(master, name)
    ended = programs.submit(master, "run", "--timeout", 0.2, "--handler", "nunber", *numbers(1))
    assert ended.code == 5
    has = 'no worker of the master has the handler "nunber"; they have number, hold, odd-fails, dies\n'
    assert ended.err.endswith(WAITED + has)


def test_no_worker_that_runs_models(programs, fashion, tmp_path):
    from PIL import Image

    Image.new("L", (28, 28)).save(tmp_path / "grey.png")
    master = programs.master()
    programs.handler(master, "h1")
    ended = programs.submit(master, "run", "--timeout", 0.2, fashion, tmp_path / "grey.png")
    assert ended.code == 5
    assert ended.err.endswith(WAITED + "no worker of the master runs models\n")


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
    master = programs.master()
    programs.handler(master, "h1")
    crowd = programs.start("test/cli/crowd_tool", master.endpoint).wait_for("full")
    job = programs.start("dls-submit", "run", "--master", master.endpoint, "--handler", "number", *words, *numbers(3))
    said = "waiting for room at the master\n" if words else "the job waits: the master has no room for it (busy); it goes on by itself"
    job.wait_until_said(said)
    ended = programs.submit(master, "run", "--timeout", 0.2, "--handler", "number", *numbers(1))
    assert (ended.code, WAITED + "the master has no room for it (busy)\n" in ended.err) == (5, True)
    assert crowd.stop().code == 0
    ended = job.finish()
    assert ended.code == 0, ended.err
    assert words or ended.err.count("\n") == 1
