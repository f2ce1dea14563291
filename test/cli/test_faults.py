"""What goes wrong while jobs run: processes that die, users who lose patience."""

import json
import os
import signal

import pytest
from programs import wait_until

ITEMS = 12


@pytest.fixture
def gate(tmp_path):
    """Handlers of the job wait until it is opened."""

    class Gate:
        path = tmp_path / "gate"
        params = json.dumps({"gate": str(path)})

        def open(self):
            self.path.touch()

    return Gate()


@pytest.fixture
def held(programs, numbers, gate):
    """A job that has begun and does not end before the gate opens."""

    def start(master, *words, handler="hold", items=ITEMS):
        words = [*words, "--task-items", 1, "--handler", handler, "--params", gate.params, *numbers(items)]
        return programs.start("dls-submit", "run", "--json", "--master", master.endpoint, *words)

    return start


def workers_of(ended):
    return [item["worker"] for item in ended.items()]


def test_killed_worker_loses_nothing(programs, held, gate):
    master = programs.master()
    workers = {name: programs.handler(master, name) for name in ("h1", "h2")}
    job = held(master)
    wait_until(lambda: len({worker for worker, _ in programs.journal()}) == 2, "both workers to have begun")
    lost = {item for worker, item in programs.journal() if worker == "h1"}
    workers["h1"].kill()
    gate.open()
    ended = job.finish()
    assert ended.code == 0, ended.err
    assert [item["outputs"][0]["values"] for item in ended.items()] == [[number] for number in range(ITEMS)]
    assert workers_of(ended) == ["h2"] * ITEMS
    assert lost <= {item for worker, item in programs.journal() if worker == "h2"}


def test_worker_that_dies_of_its_task(programs, held, gate):
    """The items are given to the one that comes next."""
    master = programs.master()
    first = programs.handler(master, "h1")
    job = held(master, handler="dies", items=3)
    assert first.finish().code == 9
    gate.open()
    programs.handler(master, "h2")
    ended = job.finish()
    assert (ended.code, workers_of(ended)) == (0, ["h2"] * 3), ended.err


def test_stopped_worker_hands_its_items_back(programs, held, gate):
    master = programs.master()
    workers = {name: programs.handler(master, name) for name in ("h1", "h2")}
    job = held(master)
    wait_until(lambda: len({worker for worker, _ in programs.journal()}) == 2, "both workers to have begun")
    assert workers["h1"].stop().code == 0
    gate.open()
    ended = job.finish()
    assert (ended.code, workers_of(ended)) == (0, ["h2"] * ITEMS), ended.err


def test_job_waits_for_its_first_worker(programs, numbers):
    master = programs.master()
    job = programs.start("dls-submit", "run", "--master", master.endpoint, "--handler", "number", *numbers(3))
    wait_until(lambda: "no worker is registered" in job.err(), "being told why nothing happens")
    programs.handler(master, "h1")
    assert job.finish().code == 0


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_cancels_the_job(programs, held, number, code):
    master = programs.master()
    programs.handler(master, "h1")
    job = held(master)
    wait_until(programs.journal, "the first item")
    job.signal(number)
    ended = job.finish(5)
    assert ended.code == code
    assert f"interrupted: 0 of {ITEMS} items are done, the job is cancelled" in ended.err
    wait_until(lambda: not json.loads(programs.submit(master, "list", "--json").out)["jobs"], "the job to be gone")


def test_signal_says_how_many_are_done(programs, numbers, gate, held):
    """Items below the one that is held are done, also when others above it are too."""
    master = programs.master()
    programs.handler(master, "h1")
    first = programs.submit(master, "run", "--handler", "number", *numbers(5))
    assert first.code == 0
    job = held(master)
    wait_until(lambda: len(programs.journal()) > 5, "the first item that is held")
    job.signal(signal.SIGINT)
    assert f"0 of {ITEMS}" in job.finish(5).err


def signals(process, mask):
    """The signals in one of the masks of /proc/PID/status."""
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        masks = dict(line.split(":\t", 1) for line in status if ":\t" in line)
    return {number for number in range(1, 64) if int(masks[mask], 16) >> (number - 1) & 1}


def interrupt(program):
    """Sends SIGINT when the program has a handler for it, and waits until that has run."""
    process = program.process.pid
    wait_until(lambda: signal.SIGINT in signals(process, "SigCgt"), "the program to take signals")
    program.signal(signal.SIGINT)
    wait_until(
        lambda: program.process.poll() is not None
        or signal.SIGINT not in signals(process, "ShdPnd") | signals(process, "SigPnd"),
        "the signal to be taken",
    )


@pytest.mark.skipif("TSAN_OPTIONS" in os.environ, reason="the thread sanitizer puts signals off until fopen returns")
def test_second_signal_ends_at_once(programs, tmp_path):
    """Where the first one finds the program deep in something else: a list of inputs that never comes."""
    os.mkfifo(tmp_path / "list")
    job = programs.start("dls-submit", "run", "--handler", "number", f"@{tmp_path / 'list'}")
    interrupt(job)
    assert job.process.poll() is None
    interrupt(job)
    assert job.finish(3).code == 130


@pytest.mark.parametrize("before", [None, "old"])
def test_killed_client_leaves_no_half_of_an_output(programs, held, gate, tmp_path, before):
    folder = tmp_path / "out"
    folder.mkdir()
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        pytest.skip("this file system has no files without a name")
    if before:
        (folder / "numbers.npy").write_text(before)
    master = programs.master()
    programs.handler(master, "h1")
    job = held(master, "--output", folder / "numbers.npy")
    wait_until(programs.journal, "the first item")
    job.kill()
    assert {path.name: path.read_text() for path in folder.iterdir()} == ({"numbers.npy": before} if before else {})
    gate.open()
    assert held(master, "--output", folder / "numbers.npy").finish().code == 0
    assert [path.name for path in folder.iterdir()] == ["numbers.npy"]
    assert (folder / "numbers.npy").read_bytes().startswith(b"\x93NUMPY")


def test_interrupt_while_no_master_answers(programs, numbers):
    words = ["--master", "tcp://127.0.0.1:1", "--connect-timeout", 60, "--handler", "number", *numbers(1)]
    job = programs.start("dls-submit", "run", *words)
    interrupt(job)
    assert job.finish(5).code == 130


def test_timeout(programs, held):
    master = programs.master()
    programs.handler(master, "h1")
    ended = held(master, "--timeout", 0.5).finish(8)
    assert ended.code == 5
    assert f"not done after 0.5 s: 0 of {ITEMS} items are done, the job is cancelled" in ended.err


def test_restarted_master_goes_on_with_the_job(programs, held, gate):
    master = programs.master("--heartbeat-ms", 100, "--worker-timeout-ms", 1000)
    programs.handler(master, "h1")
    job = held(master)
    wait_until(programs.journal, "the first item")
    master.kill()
    again = programs.master("--heartbeat-ms", 100, "--worker-timeout-ms", 1000, bind=master.endpoint)
    assert again.endpoint == master.endpoint
    gate.open()
    ended = job.finish()
    assert ended.code == 0, ended.err
    assert [item["outputs"][0]["values"] for item in ended.items()] == [[number] for number in range(ITEMS)]
    assert f"the master at {master.endpoint} is lost" in ended.err


def test_master_that_ends_leaves_the_worker_waiting(programs):
    master = programs.master()
    worker = programs.worker(master, "w1")
    assert master.stop().code == 0
    wait_until(lambda: f"the master at {master.endpoint} is lost" in worker.err(), "being told")
    assert worker.process.poll() is None
    assert worker.stop().code == 0


@pytest.mark.parametrize("program", ["dls-master", "dls-worker"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_programs_end_at_a_signal(programs, program, number):
    master = programs.master()
    started = master if program == "dls-master" else programs.worker(master, "w1")
    started.signal(number)
    ended = started.finish(5)
    assert (ended.code, ended.err) == (0, "")


def test_worker_whose_name_is_taken_over_ends(programs):
    master = programs.master()
    first = programs.worker(master, "w1")
    second = programs.worker(master, "w1")
    ended = first.finish()
    assert ended.code == 4
    assert "another worker has registered under this worker's name" in ended.err
    assert second.process.poll() is None


def test_worker_waits_for_its_master_to_come_back(programs):
    master = programs.master()
    worker = programs.worker(master, "w1")
    master.kill()
    wait_until(lambda: "lost" in worker.err(), "the worker to notice")
    again = programs.master(bind=master.endpoint)
    wait_until(lambda: json.loads(programs.submit(again, "status", "--json").out)["workers"], "the worker to be back")
    assert worker.stop().code == 0
