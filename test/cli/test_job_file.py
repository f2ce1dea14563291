"""Jobs in files: the schema, the parser and the options of the command line say the same, and a job runs as it is written."""

import json

import jsonschema
import pytest
from test_options import options_of

GOOD = [
    {"model": "m"},
    {"handler": "h"},
    {"handler": "h", "params": {"x": [1, {"y": None}]}},
    {"handler": "h", "inputs": []},
    {"handler": "h", "inputs": ["a", "b/c"]},
    {"handler": "h", "tenant": "anna", "key": "k", "name": "n", "tags": [], "labels": ["l"], "preferred_labels": ["m"]},
    {"handler": "h", "tags": ["t" * 63], "priority": -1000000, "task_items": 4096},
    {"handler": "h", "priority": 1000000.0, "resources": {"cores": 0.5, "licences": 2}},
    {"handler": "h", "deadline_ms": 315360000000, "time_limit_ms": 0, "item_time_limit_ms": 1},
    {"handler": "h", "after": ["0123456789abcdef"], "after_when": "any"},
    {"handler": "h", "retry": {}},
    {"handler": "h", "retry": {"error": {"times": 2, "wait_ms": 100, "wait_most_ms": 1000}, "input": {"times": 0}}},
]
BAD = [
    ({}, "needs either a model or a handler"),
    ({"model": "m", "handler": "h"}, "needs either a model or a handler"),
    ({"model": ""}, "model"),
    ({"handler": "h" * 256}, "handler"),
    ({"handler": 1}, '"handler" must be a text, not a number'),
    ({"handler": "h", "params": "{}"}, '"params" must be an object, not a text'),
    ({"handler": "h", "inputs": "a"}, '"inputs" must be an array, not a text'),
    ({"handler": "h", "inputs": [1]}, '"inputs" must be an array of paths'),
    ({"handler": "h", "inputs": [""]}, '"inputs" must be an array of paths'),
    ({"handler": "h", "tenant": ""}, "tenant"),
    ({"handler": "h", "key": "k" * 256}, "key"),
    ({"handler": "h", "name": ""}, "name"),
    ({"handler": "h", "tags": ["t" * 64]}, "tag"),
    ({"handler": "h", "tags": ["t"] * 17}, '"tags" has 17 entries; it may have 16'),
    ({"handler": "h", "labels": [None]}, '"labels" must be an array of texts'),
    ({"handler": "h", "priority": 1000001}, '"priority" must be a whole number from -1000000 to 1000000'),
    ({"handler": "h", "priority": 0.5}, '"priority"'),
    ({"handler": "h", "task_items": 4097}, '"task_items"'),
    ({"handler": "h", "task_items": None}, '"task_items"'),
    ({"handler": "h", "resources": {"cores": 0}}, "cores"),
    ({"handler": "h", "resources": {"cores": "1"}}, '"resources" must be an object of numbers'),
    ({"handler": "h", "resources": {"devices": 1}}, "devices"),
    ({"handler": "h", "resources": {f"r{i}": 1 for i in range(17)}}, '"resources"'),
    ({"handler": "h", "deadline_ms": -1}, '"deadline_ms"'),
    ({"handler": "h", "time_limit_ms": 315360000001}, '"time_limit_ms"'),
    ({"handler": "h", "item_time_limit_ms": "1 s"}, '"item_time_limit_ms"'),
    ({"handler": "h", "after": ["0123456789abcdef"], "after_when": "never"}, '"after_when" cannot be "never"'),
    ({"handler": "h", "after_when": "any"}, "after_when"),
    ({"handler": "h", "retry": {"errors": {"times": 1}}}, "retry"),
    ({"handler": "h", "retry": {"error": {}}}, 'retry.error: the key "times" is missing'),
    ({"handler": "h", "retry": {"error": {"times": 1001}}}, "retry.error"),
    ({"handler": "h", "retry": {"error": {"times": 1, "wait": 1}}}, "retry.error"),
    ({"handler": "h", "priorty": 1}, 'unknown key "priorty"'),
    ([], "must be an object"),
]

# Keys of a job file and the options that say the same; the model and the inputs stand without an option.
OPERANDS = {"model", "inputs"}
OPTIONS = {"tags": "tag", "labels": "label", "preferred_labels": "prefer", "speculate": "no-speculation", "resources": "resource"}

# Options about the program that submits, not about the job.
PROGRAM = {"master", "connect-timeout", "data-bind", "insecure", "local", "devices", "threads", "cache-dir", "timeout"}
PROGRAM |= {"detach", "top", "output", "progress", "quiet", "json", "log-level", "job"}


@pytest.fixture(scope="module")
def schema(root):
    return json.loads((root / "docs/job.schema.json").read_text())


def submit(programs, tmp_path, job, *words):
    """Exit code 3 says that the file is accepted: then nobody listens there."""
    (tmp_path / "job.json").write_text(job if isinstance(job, str) else json.dumps(job))
    gone = ["--master", f"ipc://{tmp_path}/nobody", "--connect-timeout", 0.05]
    return programs.run("dls-submit", "run", *gone, "--job", tmp_path / "job.json", *words)


@pytest.mark.parametrize("job", GOOD)
def test_what_the_schema_allows_is_accepted(programs, schema, tmp_path, job):
    assert jsonschema.Draft202012Validator(schema).is_valid(job)
    for name in job.get("inputs", []):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "x").write_text("x")
    ended = submit(programs, tmp_path, job, *([] if job.get("inputs") else [tmp_path / "x"]))
    assert ended.code == (4 if "model" in job else 3), ended.err
    if "model" in job:
        assert f"{tmp_path}/m" in ended.err, "relative to the folder of the file"


@pytest.mark.parametrize("job, part", BAD)
def test_what_the_schema_forbids_is_refused(programs, schema, tmp_path, job, part):
    assert not jsonschema.Draft202012Validator(schema).is_valid(job)
    ended = submit(programs, tmp_path, job, tmp_path / "x")
    assert (ended.code, ended.out, ended.err.count("\n")) == (4, "", 1)
    assert "job.json" in ended.err and part in ended.err, ended.err


def test_what_is_no_json_and_what_is_not_there(programs, tmp_path):
    ended = submit(programs, tmp_path, '{"handler": "h",}', "x")
    assert (ended.code, "job.json" in ended.err and "not JSON" in ended.err) == (4, True)
    ended = programs.run("dls-submit", "run", "--job", tmp_path / "none.json", "x")
    assert (ended.code, str(tmp_path / "none.json") in ended.err) == (4, True)
    ended = submit(programs, tmp_path, {"handler": "h"})
    assert (ended.code, "names no inputs" in ended.err) == (4, True)


def test_each_key_has_an_option_and_each_option_a_key(programs, schema):
    keys = {OPTIONS.get(key, key.removesuffix("_ms").replace("_", "-")) for key in set(schema["properties"]) - OPERANDS}
    assert keys == set(options_of(programs.run("dls-submit", "help", "run").out)) - PROGRAM
    for key, rule in schema["properties"].items():
        assert rule["description"].endswith("."), key


def test_a_job_runs_as_its_file_says(programs, tmp_path):
    master = programs.master()
    programs.handler(master, "h1", "zone=a")
    (tmp_path / "inputs").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "inputs" / name).write_text(name)
    job = {
        "handler": "odd-fails",
        "params": {"x": 1},
        "inputs": ["inputs/a", "inputs/b"],
        "tenant": "anna",
        "key": "k",
        "name": "nightly",
        "tags": ["one", "two"],
        "priority": 7,
        "task_items": 1,
        "resources": {"cores": 1},
        "labels": ["zone=a"],
        "deadline_ms": 60000,
        "time_limit_ms": 60000,
        "item_time_limit_ms": 60000,
        "retry": {"error": {"times": 2, "wait_ms": 1}},
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    ended = programs.submit(master, "run", "--json", "--job", tmp_path / "job.json", tmp_path / "inputs/c")
    assert ended.code == 1, ended.err
    assert [(item["input"], "error" in item) for item in ended.items()] == [
        (str(tmp_path / "inputs/a"), False),
        (str(tmp_path / "inputs/b"), True),
        (str(tmp_path / "inputs/c"), False),
    ]
    (shown,) = programs.submit(master, "list", "--state", "all", "--json").objects()[0]["jobs"]
    said = {"tenant": "anna", "name": "nightly", "tags": ["one", "two"], "priority": 7, "items": 3, "failed": 1, "retried": 2}
    assert {key: shown[key] for key in said} == said


def test_the_command_line_wins_over_the_file(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    job = {"handler": "nobody-has-it", "name": "file", "tenant": "anna", "priority": 7, "retry": {"error": {"times": 9}}}
    (tmp_path / "job.json").write_text(json.dumps(job))
    words = ["--handler", "odd-fails", "--name", "line", "--priority", 0, "--retry", "error=1"]
    ended = programs.submit(master, "run", "--job", tmp_path / "job.json", *words, *numbers(2))
    assert ended.code == 1, ended.err
    (shown,) = programs.submit(master, "list", "--state", "all", "--json").objects()[0]["jobs"]
    said = {"handler": "odd-fails", "name": "line", "tenant": "anna", "priority": 0, "retried": 1}
    assert {key: shown[key] for key in said} == said
