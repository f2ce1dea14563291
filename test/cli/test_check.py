"""--check: says what would run or what is wrong, and starts nothing. And the daemons that run: they wait without polling."""

import json
import os

import pytest
from programs import wait_until

GOOD = [
    ("dls-master", ["--bind", "tcp://localhost:7999", "--heartbeat-ms", "50"]),
    ("dls-worker", ["--master", "tcp://127.0.0.1:7999", "--connect-timeout", "0.5", "--name", 'a "name"']),
]


@pytest.mark.parametrize("program, words", GOOD)
def test_good_options_are_shown(programs, program, words):
    ended = programs.run(program, "--check", *words)
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == f"{program} can start with these options:"
    shown = dict(line.split(maxsplit=1) for line in lines[1:])
    for name, value in zip(words[::2], words[1::2]):
        assert shown[name.removeprefix("--")] == value
    assert "check" not in shown and shown["insecure"] == "false"


@pytest.mark.parametrize("program, words", GOOD)
def test_what_is_shown_as_json_is_a_configuration(programs, tmp_path, program, words):
    first = programs.run(program, "--check", "--json", *words)
    assert first.code == 0
    (tmp_path / "again.json").write_text(json.dumps(first.objects()[0]["options"]))
    again = programs.run(program, "--check", "--config", tmp_path / "again.json")
    assert (again.code, again.out) == (0, first.out)


BAD = [
    ("dls-master", ["--bind", "tcp://0.0.0.0:7999"], 4, "insecure"),
    ("dls-master", ["--bind", "tcp://nobody.invalid:7999"], 2, "nobody.invalid"),
    ("dls-master", ["--policy", "rondrobin"], 2, "roundrobin"),
    ("dls-master", ["--worker-timeout-ms", "100"], 2, "heartbeat_ms"),
    ("dls-master", ["--endpoint-file", "/proc/none/endpoint"], 4, "cannot write /proc/none/endpoint"),
    ("dls-master", ["--heartbeat-ms", "x"], 2, "--heartbeat-ms"),
    ("dls-master", ["--config", "/proc/none.json"], 2, "/proc/none.json"),
    ("dls-worker", ["--master", "tcp://nobody.invalid:7999"], 2, "nobody.invalid"),
    ("dls-worker", ["--master", "tcp://192.0.2.1:7999"], 4, "insecure"),
    ("dls-worker", ["--data-bind", "tcp://0.0.0.0:0", "--insecure"], 2, "data_bind"),
    ("dls-worker", ["--resource", "cores"], 2, '--resource is "cores"; it is NAME=AMOUNT, like cores=2'),
    ("dls-worker", ["--resource", "cores=0"], 2, "must be above 0 and at most 1e15"),
    ("dls-worker", ["--resource", "cores=-1"], 2, "must be above 0"),
    ("dls-worker", ["--resource", "cores=nan"], 2, "must be above 0"),
    ("dls-worker", ["--resource", "a=1", "--resource", "a=2"], 2, 'names the resource "a" twice'),
    ("dls-worker", ["--resource", "devices=2"], 2, "devices"),
    ("dls-worker", ["--resource", "a=0.0001"], 2, "0.001 is the least"),
    ("dls-worker", [word for i in range(17) for word in ("--resource", f"r{i}=1")], 2, "more than 16 times"),
    ("dls-worker", ["--label", "x" * 256], 2, "256 bytes"),
    ("dls-worker", [word for i in range(65) for word in ("--label", f"l{i}")], 2, "more than 64 times"),
    ("dls-worker", ["--cache-dir", "/proc/none"], 4, "cannot create the folder /proc/none in /proc"),
    ("dls-worker", ["--cache-dir", "/proc"], 4, "cannot write in the folder /proc"),
    ("dls-worker", ["--cache-dir", "/dev/null/models"], 4, "/dev/null is there and is not a folder"),
]


def test_labels_and_resources_are_a_configuration(programs, tmp_path):
    words = ["--label", "zone=a", "--label", "gpu", "--resource", "cores=1.5", "--resource", "licences=2"]
    shown = programs.run("dls-worker", "--check", "--json", *words).objects()[0]["options"]
    assert (shown["label"], shown["resource"]) == (["zone=a", "gpu"], {"cores": 1.5, "licences": 2})
    (tmp_path / "again.json").write_text(json.dumps(shown))
    again = programs.run("dls-worker", "--check", "--json", "--config", tmp_path / "again.json")
    assert again.objects()[0]["options"] == shown
    (tmp_path / "bad.json").write_text(json.dumps({"resource": {"cores": "two"}}))
    bad = programs.run("dls-worker", "--check", "--config", tmp_path / "bad.json")
    assert (bad.code, 'bad.json: "resource" must be an object of numbers' in bad.err) == (2, True)


@pytest.mark.parametrize("program, words, code, part", BAD)
def test_bad_options_are_one_sentence(programs, program, words, code, part):
    ended = programs.run(program, "--check", *words)
    assert (ended.code, ended.out) == (code, ""), ended.err
    assert ended.err.startswith(f"{program}: ") and ended.err.count("\n") == 1
    assert part in ended.err


def test_an_unknown_instruction_set_is_one_sentence(programs):
    sentence = 'dls-worker: DLS_ISA is "avx": it may be generic, avx2 or avx512\n'
    for words in ([], ["--check"]):
        ended = programs.run("dls-worker", *words, DLS_ISA="avx")
        assert (ended.code, ended.out, ended.err) == (2, "", sentence)
    assert programs.run("dls-worker", "--check", "--no-models", DLS_ISA="avx").code == 0
    assert programs.run("dls-worker", "--check", DLS_ISA="generic").code == 0


def test_nothing_is_started(programs, tmp_path):
    """The port may be in use by the very master whose options are checked."""
    master = programs.master()
    words = ["--bind", master.endpoint, "--endpoint-file", master.endpoint_file]
    assert programs.run("dls-master", "--check", *words).code == 0
    assert master.endpoint_file.read_text().strip() == master.endpoint
    assert list(master.endpoint_file.parent.glob("endpoint*")) == [master.endpoint_file]
    assert programs.run("dls-worker", "--check", "--master", master.endpoint, "--data-bind", master.endpoint).code == 0
    assert json.loads(programs.submit(master, "status", "--json").out)["workers"] == []


def test_the_folder_for_models_is_left_as_it_is(programs, tmp_path):
    assert programs.run("dls-worker", "--check", "--cache-dir", tmp_path / "none/models").code == 0
    assert not (tmp_path / "none").exists()
    kept = tmp_path / "models"
    kept.mkdir()
    left_over = kept / f"{'0' * 64}.1.new"
    left_over.touch()
    os.utime(left_over, (0, 0))
    assert programs.run("dls-worker", "--check", "--cache-dir", kept).code == 0
    assert list(kept.iterdir()) == [left_over]


def switches(process, thread):
    """How often a thread has waited for something, by the name of the thread."""
    for task in (process / "task").iterdir():
        if (task / "comm").read_text().strip() == thread:
            status = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
            return int(status["voluntary_ctxt_switches"])
    raise AssertionError(f"no thread is called {thread}")


def test_a_worker_waits_without_looking_at_a_clock(programs, root):
    """Its main thread sleeps while the loop answers heartbeat after heartbeat."""
    master = programs.master("--heartbeat-ms", 50)
    worker = programs.worker(master, "w1")
    process = type(root)(f"/proc/{worker.process.pid}")
    main, loop = switches(process, "dls-worker"), switches(process, "dls-loop")
    wait_until(lambda: switches(process, "dls-loop") > loop + 100, "the heartbeats")
    assert switches(process, "dls-worker") <= main + 1, "its way into the wait may be the one"
