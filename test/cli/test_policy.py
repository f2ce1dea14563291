"""Policies and tenants by command, on real processes."""

import json

import pytest


def admin(programs, master, *words):
    return programs.submit(master, "admin", *words)


def test_policy_is_shown_and_exchanged_while_a_job_runs(programs, numbers):
    master = programs.master()
    programs.handler(master, "h1")
    assert admin(programs, master, "policy", "show").out.startswith("policy: roundrobin\nthere are: roundrobin, leastloaded, ")
    job = programs.start("dls-submit", "run", "--master", master.endpoint, "--handler", "number", "--json", *numbers(400))
    for name in ("leastloaded", "priority", "feedback", "deadline", "drf", "ddrf", "roundrobin"):
        assert admin(programs, master, "policy", "set", name).out == f"policy: {name}\n"
    ended = job.finish()
    assert ended.code == 0, ended.err
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [line["item"] for line in lines[:-1]] == list(range(400))
    assert lines[-1]["summary"]["failed"] == 0


@pytest.mark.parametrize(
    "words, code, says",
    [
        (["policy", "set", "fastest"], 4, "there is no policy fastest"),
        (["policy", "set", "drf", "--params", '{"x": 1}'], 4, '"x"'),
        (["policy", "set", "priority", "--params", '{"ageing_ms": -1}'], 4, "ageing_ms"),
        (["policy", "set", "priority", "--params", "[]"], 2, "params"),
        (["tenant", "set", "a", "--weight", "0"], 4, "weight"),
        (["tenant", "set", "a", "--weight", "1e9"], 4, "weight"),
        (["policy", "set"], 2, "NAME"),
        (["policy", "set", "lua"], 4, "script"),
        (["policy", "set", "lua", "--script", "/nowhere.lua"], 4, "/nowhere.lua"),
        (["policy", "set", "lua", "--script", "x", "--params", "{}"], 2, "one of them"),
    ],
)
def test_what_cannot_be_is_said(programs, words, code, says):
    master = programs.master()
    ended = admin(programs, master, *words)
    assert ended.code == code, ended.err
    assert says in ended.err
    assert admin(programs, master, "policy", "show").out.startswith("policy: roundrobin\n")


def test_parameters_and_weights(programs):
    master = programs.master()
    ended = admin(programs, master, "policy", "set", "priority", "--params", '{"ageing_ms": 0}')
    assert (ended.code, ended.out) == (0, "policy: priority\n")
    assert admin(programs, master, "tenant", "set", "night", "--weight", "0.5").out == "tenant night: weight 0.5\n"
    ended = admin(programs, master, "tenant", "set", "day", "--weight", "3", "--json")
    said = json.loads(ended.out)
    assert {name: said[name] for name in ("tenant", "weight", "quota")} == {"tenant": "day", "weight": 3, "quota": {}}
    ended = admin(programs, master, "tenant", "set", "day", "--resource", "cores=2.5", "--resource", "devices=4")
    assert ended.out == "tenant day: weight 1, at most 4 devices, at most 2.5 cores\n"



def test_a_script_is_sent_as_text(programs, tmp_path):
    master = programs.master()
    (tmp_path / "my.lua").write_text("function choose(view) return {} end")
    ended = admin(programs, master, "policy", "set", "lua", "--script", tmp_path / "my.lua")
    assert (ended.code, ended.out) == (0, "policy: lua\n")
    (tmp_path / "my.lua").write_text("function choose(view) return {} ende")
    ended = admin(programs, master, "policy", "set", "lua", "--script", tmp_path / "my.lua")
    assert (ended.code, "script:1" in ended.err) == (4, True)
    assert admin(programs, master, "policy", "show").out.startswith("policy: lua\n")
