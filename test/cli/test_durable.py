"""Detached jobs: a master with a data folder keeps them through every end of its own."""

import ctypes
import os
import random
import time

import pytest
from programs import wait_until

ITEMS = 12
KILLS = 20


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def detach(programs, numbers):
    """Submits a detached job of the handler `number` and returns its id."""
    files = numbers(ITEMS)

    def submit(master, *words, handler="number"):
        ended = programs.submit(master, "run", "--detach", "--handler", handler, "--task-items", 2, *words, *files)
        assert ended.code == 0, ended.err
        return ended.out.strip()

    submit.files = files
    return submit


def check(programs, folder):
    return programs.run("dls-master", "check", "--json", folder)


def fetch(programs, master, job):
    return programs.submit(master, "results", "--json", job)


def assert_whole(ended):
    """Every item once, in order."""
    assert ended.code == 0, ended.err
    assert [item["outputs"][0]["values"] for item in ended.items()] == [[number] for number in range(ITEMS)]


def again(programs, master, data, *words):
    """The same master after its end."""
    return programs.master("--data", data, *words, bind=master.endpoint)


def test_results_for_another_process(programs, detach, data):
    master = programs.master("--data", data)
    programs.handler(master, "h1")
    job = detach(master)
    assert_whole(fetch(programs, master, job))
    assert_whole(fetch(programs, master, job))
    table = programs.submit(master, "results", job)
    assert table.code == 0 and "[11] " in table.out
    assert programs.submit(master, "cancel", job).code == 4
    assert programs.submit(master, "forget", job).out == f"job {job}: forgotten\n"
    gone = fetch(programs, master, job)
    assert gone.code == 4 and "keeps no detached job of this id" in gone.err


def test_job_waits_for_its_worker_through_restarts(programs, detach, data):
    master = programs.master("--data", data)
    job = detach(master)
    master.kill()
    master = again(programs, master, data)
    reader = programs.start("dls-submit", "results", "--json", "--master", master.endpoint, job)
    time.sleep(0.2)
    master.kill()
    master = again(programs, master, data)
    programs.handler(master, "h1")
    assert_whole(reader.finish())


def test_key_names_the_same_job(programs, detach, data):
    master = programs.master("--data", data)
    programs.handler(master, "h1")
    job = detach(master, "--key", "nightly")
    assert_whole(fetch(programs, master, job))
    assert detach(master, "--key", "nightly") == job
    assert len(programs.journal()) == ITEMS


def test_killed_at_any_moment(programs, detach, data):
    """What was accepted comes to its end with each item once, whenever the master is killed."""
    chance = random.Random(7)
    master = programs.master("--data", data, "--worker-timeout-ms", 600, "--heartbeat-ms", 100)
    handlers = [programs.handler(master, name) for name in ("h1", "h2")]
    jobs = []
    for kill in range(KILLS):
        running = [
            programs.start(
                "dls-submit", "run", "--detach", "--handler", "number", "--task-items", 1, "--master", master.endpoint,
                "--connect-timeout", 20, *detach.files,
            )
            for _ in range(3)
        ]  # fmt: skip
        time.sleep(chance.random() * 0.3)
        master.kill()
        checked = check(programs, data)
        assert checked.code == 0, f"kill {kill}: {checked.err}"
        master = again(programs, master, data, "--worker-timeout-ms", 600, "--heartbeat-ms", 100)
        for submission in running:
            ended = submission.finish()
            assert ended.code == 0, ended.err
            jobs.append(ended.out.strip())
    assert len(set(jobs)) == 3 * KILLS
    for job in jobs:
        assert_whole(fetch(programs, master, job))
    assert all(handler.process.poll() is None for handler in handlers)
    master.stop()
    found = check(programs, data).objects()[0]
    assert found["jobs"] == 3 * KILLS and found["unfinished_jobs"] == 0
    master = again(programs, master, data)
    for job in jobs:
        assert_whole(fetch(programs, master, job))


def test_torn_end_is_cut(programs, detach, data):
    master = programs.master("--data", data)
    detach(master)
    master.kill()
    log = data / "log-0000000000000001"
    with open(log, "ab") as file:
        file.write(b"\x20\x00\x00\x00torn")
    found = check(programs, data).objects()[0]
    assert found["torn_bytes"] == 8 and found["unfinished_jobs"] == 1
    master = again(programs, master, data)
    master.stop()
    assert check(programs, data).objects()[0]["torn_bytes"] == 0


def test_damage_is_named_and_refused(programs, detach, data):
    master = programs.master("--data", data)
    detach(master)
    detach(master)
    master.stop()
    log = data / "log-0000000000000001"
    content = bytearray(log.read_bytes())
    content[150] ^= 4
    log.write_bytes(content)
    for ended in (check(programs, data), programs.run("dls-master", "--bind", "tcp://127.0.0.1:0", "--data", data)):
        assert ended.code == 4
        assert f"{log} is damaged at offset 104" in ended.err
    content[150] ^= 4
    log.write_bytes(content)
    assert check(programs, data).code == 0
    log.unlink()
    ended = check(programs, data)
    assert ended.code == 4 and "which was there once" in ended.err


def test_folder_has_one_master(programs, data):
    programs.master("--data", data)
    ended = programs.run("dls-master", "--bind", "tcp://127.0.0.1:0", "--data", data)
    assert ended.code == 4 and "is in use by another process" in ended.err
    assert "is in use by another process" in check(programs, data).err


def test_what_cannot_be_kept(programs, detach, data, tmp_path, numbers):
    plain = programs.master()
    ended = programs.submit(plain, "run", "--detach", "--handler", "number", *numbers(1))
    assert ended.code == 4
    programs.handler(plain, "h1")
    ended = programs.submit(plain, "run", "--detach", "--handler", "number", *numbers(1))
    assert ended.code == 4 and "has no data folder (--data)" in ended.err
    master = programs.master("--data", data)
    large = tmp_path / "large.txt"
    large.write_bytes(bytes(100_000))
    ended = programs.submit(master, "run", "--detach", "--handler", "number", large)
    assert ended.code == 4 and "inputs must fit 65536 bytes" in ended.err
    ended = programs.submit(master, "results", "0" * 31)
    assert ended.code == 4 and "32 hexadecimal digits" in ended.err
    missing = programs.run("dls-master", "check", tmp_path / "nowhere")
    assert missing.code == 4 and "nowhere" in missing.err


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 1 MB, of which `fill` takes what is left."""
    libc = ctypes.CDLL(None, use_errno=True)
    folder = tmp_path / "disk"
    folder.mkdir()
    if libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, b"size=1m"):
        pytest.skip("no disk can be mounted here")
    yield folder
    libc.umount2(os.fsencode(folder), 2)


def test_full_disk(programs, detach, small_disk):
    """Nothing is promised that is not on the disk; what waits goes on when there is room again."""
    master = programs.master("--data", small_disk / "data")
    programs.handler(master, "h1")
    kept = detach(master)
    filler = small_disk / "filler"
    with open(filler, "wb", buffering=0) as file:
        with pytest.raises(OSError):
            while True:
                file.write(bytes(4096))
    stuck = [
        programs.start(
            "dls-submit", "run", "--detach", "--handler", "number", "--master", master.endpoint, *detach.files
        )
        for _ in range(12)
    ]
    master.wait_until_said("no detached job is taken")
    refused = programs.submit(master, "run", "--detach", "--handler", "number", *detach.files)
    assert refused.code == 4 and "cannot write its log" in refused.err
    filler.unlink()
    master.wait_until_said("detached jobs are taken")
    ended = [program.finish() for program in stuck]
    assert all(program.code == 0 or "cannot write its log" in program.err for program in ended)
    accepted = [program.out.strip() for program in ended if program.code == 0]
    assert accepted
    for job in (kept, *accepted, detach(master)):
        assert_whole(fetch(programs, master, job))
    master.stop()
    assert check(programs, small_disk / "data").code == 0
