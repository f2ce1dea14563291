"""Every parameter of every public function refuses what it cannot take with one sentence that names it.

The functions are found by looking at the package, so that one that comes new needs a line here before the tests pass.
"""

import inspect

import dlsched
import numpy
import pytest
from common import ROOT

NAN = float("nan")
JOB_ITSELF = object()  # stands for a Job, where a list of them is expected
TEXT = [7, b"bytes", ["text"], "a\0b", "\ud800"]
NEEDED = [None, *TEXT]
PATH = [7, ["path"], "a\0b"]
NAMES = ["text", 7, [7], [None], ["a\0b"], {"a": 1}, iter(["a"])]
AMOUNTS = [7, "a", ["a"], {"a": "2"}, {"a": None}, {"a": True}, {"a": 10**400}, {7: 1}, {"a\0b": 1}]
COUNT = ["1", 1.5, None, True, [], -1, NAN]
SECONDS = ["1", [], True, NAN, -1, -0.001]
DURATION = [*SECONDS, 0, 10**400, 1e300]
FLAG = [None, 0, 1, "yes"]
OBJECT = [7, "{}", [], {"a": object()}, {"a": NAN}, {(1, 2): 3}, {"a\ud800": 1, b"b": 2}]
RULES = ["3", -1, 2**32, None, (), (1, 2, 3, 4), (1, -1), (1, "2"), (1, 1, NAN)]
JOB = [None, 7, b"bytes", ["00000000"], "a\0b"]
ARRAY = [None, object(), "text", numpy.zeros(2, numpy.float16), numpy.zeros((1,) * 9), [[1], [2, 3]]]

BAD = {
    "address": NEEDED,
    "after": [*NAMES, JOB_ITSELF],
    "after_when": TEXT,
    "array": ARRAY,
    "arrays": ARRAY,
    "batch": [*COUNT, 2**63],
    "bind": NEEDED,
    "cache_dir": PATH,
    "client_timeout": [*DURATION, 10**6],
    "credits": [*COUNT, 2**32],
    "data": [None, 7, "text", [1, 2]],
    "data_bind": TEXT,
    "deadline": DURATION,
    "devices": [*COUNT, 2**32],
    "function": [None, 7, "name"],
    "handler": TEXT,
    "handlers": [7, ["a"], {"a": 7}, {"a": None}, {7: len}, {"a\0b": len}],
    "heartbeat": [*DURATION, 10**6],
    "input": [*COUNT, 2**32],
    "insecure": FLAG,
    "item_time_limit": DURATION,
    "job": JOB,
    "jobs": ["text", 7, ["00000000"], [None], JOB_ITSELF],
    "key": TEXT,
    "labels": NAMES,
    "master": NEEDED,
    "model": PATH,
    "models": FLAG,
    "name": TEXT,
    "params": OBJECT,
    "path": [None, *PATH],
    "paths": [None, *PATH],
    "plugins": PATH,
    "policy": TEXT,
    "policy_params": OBJECT,
    "preferred_labels": NAMES,
    "priority": ["1", 1.5, None, True, NAN, 2**32, 2**64, -(2**31) - 1, 1_000_001],
    "processes": [0, 1, "yes"],
    "quota": AMOUNTS,
    "resources": AMOUNTS,
    "retries": [7, "error", ["error"], {7: 1}, {"a\0b": 1}, *({"error": rule} for rule in RULES)],
    "runs": [*COUNT, 2**32],
    "speculate": FLAG,
    "state": TEXT,
    "tag": TEXT,
    "tags": NAMES,
    "task_items": [*COUNT, 2**32],
    "tenant": TEXT,
    "threads": [*COUNT, 2**32],
    "time_limit": DURATION,
    "timeout": SECONDS,
    "weight": ["1", None, True, []],
    "window_bytes": [*COUNT, 2**64],
    "window_items": [*COUNT, 2**64],
    "worker": NEEDED,
    "worker_timeout": [*DURATION, 10**6],
    "workers": ["1", 1.5, True, [], -1, 257, 2**32],
}

# Where the same name means something narrower, or wider.
ELSEWHERE = {
    ("Client.set_policy", "policy"): NEEDED,
    ("Client.set_tenant", "tenant"): NEEDED,
    ("LocalCluster.scale", "workers"): [None, *BAD["workers"]],
    ("Model.profile", "arrays"): [7, "text", iter([])],
    ("Model.run", "arrays"): [None, 7, "text", iter([]), [object()], {"input": object()}],
    ("Worker.handle", "name"): NEEDED,
    ("Worker.handler", "name"): NEEDED,
}

# What a function must be given besides the parameter that is looked at.
NEEDS = {
    "Client": {"master": "tcp://127.0.0.1:9"},
    "Client.job": {"handler": "any"},
    "Client.set_policy": {"policy": "priority"},
    "Client.set_priority": {"job": "00000000", "priority": 0},
    "Client.set_tenant": {"tenant": "any"},
    "LocalCluster": {"workers": 1},
    "LocalCluster.scale": {"workers": 1},
    "Model": {"path": ROOT / "examples/fashion"},
    "Worker": {"master": "tcp://127.0.0.1:9"},
    "Worker.handle": {"name": "any", "function": len},
    "as_completed": {"jobs": []},
    **{f"Client.{verb}": {"job": "00000000"} for verb in ("describe", "watch", "explain", "cancel", "pause", "resume")},
    **{f"Client.{verb}": {"worker": "any"} for verb in ("drain", "undrain")},
    **{f"Job.{verb}": {"priority": 0} for verb in ("set_priority",)},
}


def functions():
    """By the name by which a program calls it."""
    for name in dlsched.__all__:
        thing = getattr(dlsched, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif hasattr(thing, "close"):  # made by programs, not for them
            if thing is not dlsched.Job:
                yield name, thing.__init__
            for verb, method in inspect.getmembers(thing, inspect.isfunction):
                if verb == "__call__" or not verb.startswith("_"):
                    yield f"{name}.{verb}", method


def cases():
    for name, function in functions():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name != "self":
                for value in ELSEWHERE.get((name, parameter.name), BAD[parameter.name]):
                    yield name, parameter, value


@pytest.fixture(scope="module")
def objects():
    with dlsched.Master() as master, dlsched.Client(master) as client, dlsched.Worker(master, models=False) as worker:
        with dlsched.Model(ROOT / "examples/fashion") as model, dlsched.LocalCluster(1, models=False) as cluster:
            yield {"Client": client, "Worker": worker, "Model": model, "LocalCluster": cluster, "Job": client.job(handler="any")}


def shown(value):
    return repr(value)[:40].encode("ascii", "replace").decode()


@pytest.mark.parametrize("name, parameter, value", list(cases()), ids=shown)
def test_a_bad_argument_is_named(objects, name, parameter, value):
    owner, _, verb = name.partition(".")
    function = getattr(objects[owner], verb) if verb else getattr(dlsched, name)
    value = objects["Job"] if value is JOB_ITSELF else value
    with pytest.raises((TypeError, ValueError)) as caught:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            function(value)
        else:
            function(**{**NEEDS.get(name, {}), parameter.name: value})
    sentence = str(caught.value)
    assert parameter.name in sentence and "\n" not in sentence, sentence
    assert "<lambda>" not in sentence and "__init__" not in sentence, sentence


def test_what_is_right_passes(objects):
    """As far as numpy's numbers, and the limits themselves."""
    client = objects["Client"]
    for options in (
        dict(priority=numpy.int64(-1_000_000), task_items=2**32 - 1, deadline=numpy.float32(0.5), time_limit=10 * 365 * 86400),
        dict(tags=("x", "y"), labels={"zone=a"}, resources={"cores": numpy.float64(0.5)}, params={}),
        dict(name="ü", key="k", after=[], item_time_limit=1e-9),
        dict(retries={"error": (3, 0.5), "input": 1, "time_limit": [2, None, 60]}),
    ):
        client.job(handler="any", **options).close()
    with pytest.raises(dlsched.Error, match="knows no job"):
        client.describe("00000000", timeout=float("inf"))
