"""A policy that its user has written, in a master with workers: good ones, and those that fail while jobs run."""
import json

import pytest
from programs import wait_until

GIVE = "local c = {} for _, q in ipairs(view.queues) do c[#c + 1] = {q.jobs[1], q.devices[1]} end return c"


def script(tmp_path, text, name="policy.lua"):
    path = tmp_path / name
    path.write_text(text)
    return path


def run(programs, master, numbers, count):
    ended = programs.submit(master, "run", "--handler", "number", "--task-items", 2, "--json", *numbers(count))
    assert ended.code == 0, ended.err
    assert len(ended.items()) == count


def status(programs, master):
    return programs.submit(master, "status", "--json").objects()[0]


def test_a_script_decides(programs, numbers, tmp_path):
    path = script(tmp_path, f"function choose(view) {GIVE} end")
    master = programs.master("--policy", "lua", "--policy-script", path)
    programs.handler(master, "h1")
    programs.handler(master, "h2")
    run(programs, master, numbers, 30)
    said = status(programs, master)
    assert (said["policy"], "policy_failure" in said) == ("lua", False)


@pytest.mark.parametrize(
    "statement, words",
    [
        ("while true do pcall(function() while true do end end) end", "steps"),
        ("error('I give up')", "I give up"),
        ("return {{view.queues[1].jobs[1], {number = 99999}}}", "no device"),
        ("return 7", "not a list"),
    ],
)
def test_a_script_that_fails_while_jobs_run(programs, numbers, tmp_path, statement, words):
    text = f"n = 0 function choose(view) n = n + 1 if n > 4 and #view.queues > 0 then {statement} end {GIVE} end"
    master = programs.master("--policy", "lua", "--policy-script", script(tmp_path, text))
    programs.handler(master, "h1")
    run(programs, master, numbers, 40)
    said = status(programs, master)
    assert said["policy"] == "roundrobin"
    assert words in said["policy_failure"]
    wait_until(lambda: words in master.err(), "a line in the log")
    assert master.err().count("has failed") == 1


def test_what_is_refused_at_the_start(programs, tmp_path):
    for words, says in (
        (("--policy", "lua"), "script"),
        (("--policy", "lua", "--policy-script", script(tmp_path, "choose = ", "half.lua")), "script:1"),
        (("--policy", "lua", "--policy-script", tmp_path / "none"), "none"),
        (("--policy-script", script(tmp_path, "function choose() return {} end")), "script"),
        (("--policy-params", "{}", "--policy-script", tmp_path / "x"), "one of them"),
        (("--policy", "priority", "--policy-params", json.dumps({"ageing_ms": -1})), "ageing_ms"),
        (("--policy", "priority", "--policy-params", "{"), "parameters"),
    ):
        for check in (("--check",), ("--bind", "tcp://127.0.0.1:0")):
            ended = programs.run("dls-master", *check, *words)
            assert (ended.code != 0, says in ended.err) == (True, True), ended.err
