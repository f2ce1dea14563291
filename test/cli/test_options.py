"""Options, help, configuration files: what needs no master, no worker and no model."""

import json
import re

import pytest

PROGRAMS = ("dls-master", "dls-worker", "dls-submit")


def options_of(help_text):
    """name -> (word for its value or None, what it says), but for those that every program has."""
    rows = re.findall(r"^  --([a-z-]+)(?: (\S+))?(\s.*\n(?:^ {20,}.*\n)*)", help_text, re.MULTILINE)
    own = {name: (argument, " ".join(text.split())) for name, argument, text in rows}
    return {name: row for name, row in own.items() if name not in ("config", "help", "version")}


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_and_version(programs, program):
    help_ = programs.run(program, "--help")
    assert programs.run(program, "-h").out == help_.out
    assert (help_.code, help_.err) == (0, "")
    assert help_.out.startswith(f"usage: {program} ")
    assert max(map(len, help_.out.splitlines())) <= 100
    version = programs.run(program, "--version")
    assert version.code == 0
    assert re.fullmatch(rf"{program} \d+\.\d+\.\d+\n", version.out)


def test_help_of_a_verb_names_its_options_only(programs):
    for words in (["run", "--help"], ["help", "run"]):
        run = programs.run("dls-submit", *words)
        assert (run.code, "--top" in run.out) == (0, True)
    status = programs.run("dls-submit", "help", "status")
    assert ("--top" in status.out, "--master" in status.out) == (False, True)
    assert programs.run("dls-submit", "help", "model", "show").out.startswith("usage: dls-submit model show ")


WRONG = [
    ("dls-master", ["--heartbeet-ms", "5"], "unknown option --heartbeet-ms; did you mean --heartbeat-ms?"),
    ("dls-master", ["--heartbeat-ms", "0"], '--heartbeat-ms is "0"; it is a whole number from 1 to 3600000'),
    ("dls-master", ["--heartbeat-ms=1e3"], '--heartbeat-ms is "1e3"'),
    ("dls-master", ["--log-level", "loud"], "it is one of: error, warning, info, debug"),
    ("dls-master", ["--bind"], "--bind needs a value"),
    ("dls-master", ["--insecure=maybe"], "it is true or false"),
    ("dls-master", ["stray"], 'unexpected argument "stray"'),
    ("dls-master", ["--help=yes"], "--help takes no value"),
    ("dls-worker", ["-n", "w"], "unknown option -n; options begin with --"),
    ("dls-worker", ["--devices", "65"], "it is a whole number from 1 to 64"),
    ("dls-worker", ["--connect-timeout", "-1"], "it is a number of seconds from 0"),
    ("dls-worker", ["--connect-timeout", "inf"], "it is a number of seconds from 0"),
    ("dls-submit", [], "a verb is missing"),
    ("dls-submit", ["rnu"], 'unknown verb "rnu"; did you mean "run"?'),
    ("dls-submit", ["run"], "run needs MODEL INPUT..."),
    ("dls-submit", ["run", "folder"], "run needs at least one INPUT behind the model"),
    ("dls-submit", ["status", "12345678", "extra"], 'unexpected argument "extra"'),
    ("dls-submit", ["watch"], "watch needs a JOB or --all, and not both"),
    ("dls-submit", ["watch", "--all", "12345678"], "watch needs a JOB or --all, and not both"),
    ("dls-submit", ["status", "--top", "3"], "--top is not an option of status"),
    ("dls-submit", ["run", "--local", "--handler", "h", "x"], "--local runs models only"),
    ("dls-submit", ["xyzzy"], 'unknown verb "xyzzy"; `dls-submit help` lists them'),
    ("dls-submit", ["model"], 'behind "model" comes one of: show, run, profile'),
    ("dls-submit", ["help", "model"], 'behind "model" comes one of: show, run, profile'),
    ("dls-submit", ["model", "shwo", "m"], 'behind "model" comes one of: show, run, profile'),
    ("dls-submit", ["modle", "show", "m"], "unknown verb \"modle\"; `dls-submit help` lists them"),
    ("dls-submit", ["model", "run", "m"], "model run needs MODEL INPUT..."),
    ("dls-submit", ["status", "--xyzzy", "3"], "unknown option --xyzzy; see --help"),
    ("dls-submit", ["run", "--key", "", "m", "i"], "--key is empty"),
    ("dls-submit", ["run", "--key", "k" * 256, "m", "i"], "--key has 256 bytes; it may have 255"),
    ("dls-submit", ["status", "--tenant="], "--tenant is empty"),
    ("dls-submit", ["status", "--tenant", "caf\udce9"], "--tenant is not UTF-8: byte 4 is 0xe9"),
    ("dls-worker", ["--name", "\udcff"], "--name is not UTF-8: byte 1 is 0xff"),
    ("dls-submit", ["run", "--handler", "h", "--params", "", "i"], "--params is empty"),
    ("dls-submit", ["run", "--handler", "h", "--params", "{1}", "i"], "--params is not JSON; the fault is near byte 3"),
    ("dls-submit", ["run", "--handler", "h", "--params", "{} {}", "i"], "--params is not JSON; the fault is near byte 4"),
    ("dls-submit", ["run", "--handler", "h", "--params", "[1]", "i"], "--params is no JSON object"),
    ("dls-submit", ["run", "--devices", "2", "m", "i"], "--devices has no effect without --local"),
    ("dls-submit", ["run", "--threads", "2", "m", "i"], "--threads has no effect without --local"),
    ("dls-submit", ["run", "--cache-dir", "c", "m", "i"], "--cache-dir has no effect without --local"),
    ("dls-submit", ["run", "--local", "--master", "ipc://m", "m", "i"], "--master has no effect with --local"),
    ("dls-submit", ["run", "--local", "--tenant", "t", "m", "i"], "--tenant has no effect with --local"),
    ("dls-submit", ["run", "--local", "--insecure", "m", "i"], "--insecure has no effect with --local"),
    ("dls-submit", ["run", "--params", "{}", "m", "i"], "--params has no effect without --handler: a model takes none"),
    ("dls-submit", ["run", "--top", "1", "--handler", "h", "i"], "--top has no effect with --handler"),
    ("dls-submit", ["run", "--top", "1", "--output", "o.npy", "m", "i"], "--top has no effect with --output"),
    ("dls-submit", ["run", "--quiet", "--progress", "m", "i"], "--progress has no effect with --quiet"),
    ("dls-worker", ["--no-models", "--cache-dir", "c"], "--cache-dir has no effect with --no-models"),
    ("dls-master", ["--bind", "inproc://m"], "use tcp://HOST:PORT or ipc://PATH"),
    ("dls-worker", ["--master", "inproc://m"], "use tcp://HOST:PORT or ipc://PATH"),
    ("dls-submit", ["status", "--master", "inproc://m"], "use tcp://HOST:PORT or ipc://PATH"),
    ("dls-master", ["--bind", "tcp://127.0.0.1:80000"], "is out of range: 65535 is the highest"),
]


@pytest.mark.parametrize("program, words, sentence", WRONG)
def test_wrong_usage(programs, program, words, sentence):
    ended = programs.run(program, *words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"{program}: ") and ended.err.count("\n") == 1
    assert sentence in ended.err


def test_a_configuration_may_name_what_has_no_effect(programs, tmp_path):
    """One file serves all verbs and both ways to run: only the command line is held against the rest of it."""
    (tmp_path / "both.json").write_text('{"devices": 2, "params": "{}", "connect-timeout": 0.1}')
    ended = programs.run("dls-submit", "run", "--config", tmp_path / "both.json", tmp_path / "no", "x")
    assert (ended.code, str(tmp_path / "no") in ended.err) == (4, True)


def test_values_behind_options_may_look_like_options(programs, tmp_path):
    """A name is given by the next word, whatever it is; what stands behind -- is never an option."""
    ended = programs.run("dls-submit", "run", "--priority", "-5", "--connect-timeout=0.1", tmp_path / "no", "--", "--x")
    assert (ended.code, str(tmp_path / "no") in ended.err) == (4, True)


CONFIGS = [
    ('{"bindd": "x"}', 'unknown key "bindd"; did you mean "bind"?'),
    ('{"Bind": "x"}', 'unknown key "Bind"; did you mean "bind"?'),
    ('{"bind": 1}', '"bind" must be a string'),
    ('{"insecure": "yes"}', '"insecure" must be true or false'),
    ('{"heartbeat-ms": "5"}', '"heartbeat-ms" must be a number'),
    ('{"heartbeat-ms": 0.5}', 'it is a whole number from 1 to 3600000'),
    ('{"config": "other"}', 'unknown key "config"'),
    ('{"xyzzy": "other"}', 'unknown key "xyzzy"\n'),
    ('{"bind": ""}', '"bind" is empty'),
    ('{"json": true, "json": true}', 'the key "json" is there twice'),
    ("[]", "must be a JSON object"),
    ('{\n\n"bind":', "is not JSON, from line 3 on"),
    ("", "is not JSON"),
    ('{\n"bind": "tcp://127.0.0.1:0\\u0000x"}', "line 2 has \\u0000, which no key and no value may hold"),
    ('{"bind\\u0000x": "tcp://127.0.0.1:0"}', "line 1 has \\u0000"),
]


@pytest.mark.parametrize("text, sentence", CONFIGS)
def test_wrong_configuration(programs, tmp_path, text, sentence):
    (tmp_path / "master.json").write_text(text)
    ended = programs.run("dls-master", "--config", tmp_path / "master.json")
    assert (ended.code, ended.out) == (2, "")
    assert "master.json" in ended.err and sentence in ended.err


def test_backslash_before_five_characters_is_no_nul(programs, tmp_path):
    (tmp_path / "master.json").write_text('{"bind": "\\\\u0000"}')
    ended = programs.run("dls-master", "--config", tmp_path / "master.json")
    assert (ended.code, '"\\u0000" is not an address' in ended.err) == (2, True)


def test_missing_configuration(programs, tmp_path):
    ended = programs.run("dls-master", "--config", tmp_path / "none.json")
    assert (ended.code, "none.json: No such file" in ended.err) == (2, True)


def test_command_line_wins_over_configuration(programs, tmp_path):
    config = tmp_path / "master.json"
    config.write_text(json.dumps({"bind": "tcp://127.0.0.1:1", "json": True, "endpoint-file": str(tmp_path / "where")}))
    master = programs.start("dls-master", "--bind", "tcp://127.0.0.1:0", "--config", config).wait_for("\n")
    line = json.loads(master.out())
    assert line["event"] == "listening"
    assert re.fullmatch(r"tcp://127\.0\.0\.1:\d{2,}", line["endpoint"])
    assert (tmp_path / "where").read_text() == line["endpoint"] + "\n"
    assert master.stop().code == 0
    assert not (tmp_path / "where").exists()


@pytest.mark.parametrize("program", PROGRAMS)
def test_schema_says_what_help_says(programs, root, program):
    schema = json.loads((root / f"docs/{program}.schema.json").read_text())
    options = options_of(programs.run(program, "--help").out)
    assert list(schema["properties"]) == list(options)
    assert schema["additionalProperties"] is False
    for name, rule in schema["properties"].items():
        argument, text = options[name]
        assert text.startswith(rule["description"].rstrip(".")), name
        assert (rule.get("type") == "boolean") == (not argument), name
        if "default" in rule:
            assert text.endswith(f"(default: {rule['default']})"), name


@pytest.mark.parametrize("program", PROGRAMS)
def test_schema_has_the_limits_of_the_program(programs, root, tmp_path, program):
    """One beyond what the schema allows is refused, and so is a value of another type."""
    words = ["status"] if program == "dls-submit" else []
    schema = json.loads((root / f"docs/{program}.schema.json").read_text())
    for name, rule in schema["properties"].items():
        wrong = [[]]
        wrong += [rule[bound] + step for bound, step in (("minimum", -1), ("maximum", 1)) if bound in rule]
        wrong += ["none of them"] if "enum" in rule else []
        for value in wrong:
            (tmp_path / "c.json").write_text(json.dumps({name: value}))
            ended = programs.run(program, *words, "--config", tmp_path / "c.json")
            assert (ended.code, f'"{name}"' in ended.err) == (2, True), (name, value)
