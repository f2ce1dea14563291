"""A cluster on this machine, as programs use it: what it computes, how it grows and shrinks, and that nothing is left of it."""

import os
import pathlib
import signal
import subprocess
import sys
import threading

import dlsched
import numpy
import pytest
from common import ROOT, SECONDS, wait_until
from dlsched import errors

# What every program begins with. Its handlers are found by the processes of its workers because it is a file.
PRELUDE = f"""
import os, pathlib, signal, sys, threading, time
import dlsched, numpy

signal.alarm({3 * SECONDS})
folder = pathlib.Path(__file__).parent

def square(item):
    return item.inputs[0] ** 2

def meet(item):
    \"\"\"Returns when as many processes are in it as its input says.\"\"\"
    (folder / f"met.{{os.getpid()}}").touch()
    while len(list(folder.glob("met.*"))) < item.inputs[0]:
        time.sleep(0.01)
    return os.getpid()

def sleep(item):
    (folder / f"asleep.{{item.number}}").touch()
    time.sleep(600)  # runs no Python that could be interrupted

def fail(item):
    raise KeyError("no such column")

def gated(item):
    (folder / f"begun.{{item.number}}.{{item.attempt}}").touch()
    while not (folder / "open").exists():
        time.sleep(0.01)
    return item.number

def await_files(pattern, count):
    while len(list(folder.glob(pattern))) < count:
        time.sleep(0.01)
"""


def launch(tmp_path, *words):
    """A program in a group of its own, as a shell starts it."""
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return subprocess.Popen([sys.executable, *words], start_new_session=True, env=environment, **pipes)


def start(tmp_path, body):
    path = tmp_path / "program.py"
    path.write_text(PRELUDE + "\nif __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    return launch(tmp_path, path)


def await_ready(process):
    assert process.stdout.readline() == "ready\n", (process.wait(SECONDS), process.stderr.read())


def group(number):
    """The processes of a group that live."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _parent, its_group = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == number and state != "Z":
            found.append(int(stat.parent.name))
    return found


def end(process):
    """Its exit status, what it printed and what it said; nothing of its group outlives it for long."""
    try:
        out, err = process.communicate(timeout=4 * SECONDS)
        wait_until(lambda: not group(process.pid))
        return process.returncode, out, err
    finally:
        for left in group(process.pid):
            os.kill(left, signal.SIGKILL)


def run(tmp_path, body):
    """What a program printed that ends well."""
    status, out, err = end(start(tmp_path, body))
    assert (status, err) == (0, "")
    return out.splitlines()


def test_workers_run_handlers_at_the_same_time(tmp_path):
    found = run(
        tmp_path,
        """
with dlsched.LocalCluster(3, handlers={"meet": meet}, credits=1) as cluster:
    job = cluster.client.job(handler="meet", task_items=1).add(3).add(3).add(3).submit()
    pids = [int(result.value) for result in job]
    print(len(set(pids)), os.getpid() in pids, *sorted(cluster.workers))
""",
    )
    assert found == ["3 False local-0 local-1 local-2"]


def test_other_clients_and_errors_of_handlers(tmp_path):
    found = run(
        tmp_path,
        """
with dlsched.LocalCluster(1, handlers={"square": square, "fail": fail}) as cluster:
    with dlsched.Client(cluster, tenant="other") as other:
        print([int(result.value) for result in other.job(handler="square").add_batch(numpy.arange(4)).submit()])
        (result,) = other.job(handler="fail").add(1).submit()
        print(type(result.error).__name__, str(result.error).splitlines())
""",
    )
    assert found[0] == "[0, 1, 4, 9]"
    assert found[1].startswith("EHANDLER [\"KeyError: 'no such column'\"")
    assert "in fail: raise KeyError" in found[1]


def test_nothing_is_left_behind(tmp_path):
    found = run(
        tmp_path,
        """
import multiprocessing.connection, socket
with dlsched.LocalCluster(1, handlers={"square": square}) as cluster:
    pass  # what Python itself opens for its processes, it opens once
before = len(os.listdir("/proc/self/fd")), threading.active_count(), sorted(folder.rglob("*"))
with dlsched.LocalCluster(2, handlers={"square": square}) as cluster:
    print(int(next(iter(cluster.client.job(handler="square").add(3).submit())).value))
    port = int(cluster.address.rsplit(":")[-1])
cluster.close()
print(before == (len(os.listdir("/proc/self/fd")), threading.active_count(), sorted(folder.rglob("*"))))
print(multiprocessing.active_children(), socket.socket().connect_ex(("127.0.0.1", port)) != 0)
try:
    cluster.scale(1)
except dlsched.errors.ESTATE as error:
    print(error)
""",
    )
    assert found == ["9", "True", "[] True", "this LocalCluster is closed"]


def test_scales(tmp_path):
    found = run(
        tmp_path,
        """
def names():
    return sorted(worker["name"] for worker in cluster.client.status()["workers"])
with dlsched.LocalCluster(1, handlers={"square": square}) as cluster:
    print(*names())
    cluster.scale(3)
    print(*names(), repr(cluster).endswith("with 3 workers>"))
    cluster.scale(1)
    while len(names()) > 1:
        time.sleep(0.01)
    print(*names(), *cluster.workers)
    cluster.scale(0)
    print(cluster.workers)
    cluster.scale(2)
    print(*cluster.workers, [int(result.value) for result in cluster.client.job(handler="square").add_batch(range(3)).submit()])
""",
    )
    assert found == ["local-0", "local-0 local-1 local-2 True", "local-0 local-0", "[]", "local-3 local-4 [0, 1, 4]"]


def test_workers_that_leave_lose_nothing(tmp_path):
    """What they run comes to its end, and what waits at them goes to the others: nothing runs twice."""
    found = run(
        tmp_path,
        """
with dlsched.LocalCluster(2, handlers={"gated": gated}) as cluster:
    job = cluster.client.job(handler="gated", task_items=1).add_batch(range(20)).submit()
    await_files("begun.*", 2)
    try:
        cluster.scale(1, timeout=0.2)
    except TimeoutError as error:
        print(error)
    (folder / "open").touch()
    cluster.scale(1)
    print([int(result.value) for result in job] == list(range(20)), len(list(folder.glob("begun.*"))), *cluster.workers)
""",
    )
    assert found == ["the worker local-1 still has tasks", "True 20 local-0"]


def test_a_worker_that_dies_is_replaced(tmp_path):
    """Its items are done by the others meanwhile."""
    found = run(
        tmp_path,
        """
with dlsched.LocalCluster(2, handlers={"meet": meet, "square": square}, credits=1) as cluster:
    pids = {int(result.value) for result in cluster.client.job(handler="meet", task_items=1).add(2).add(2).submit()}
    os.kill(pids.pop(), signal.SIGKILL)
    while len(cluster.workers) > 1:
        time.sleep(0.01)
    cluster.scale(2)
    print(len(cluster.workers), "local-2" in cluster.workers)
    print([int(result.value) for result in cluster.client.job(handler="square").add_batch(range(9)).submit()][-1])
""",
    )
    assert found == ["2 True", "64"]


def test_an_exception_ends_it(tmp_path):
    status, out, err = end(
        start(
            tmp_path,
            """
with dlsched.LocalCluster(2, handlers={"sleep": sleep}, credits=1) as cluster:
    cluster.client.job(handler="sleep", task_items=1).add(1).add(2).submit()
    await_files("asleep.*", 2)
    raise LookupError("in the middle")
""",
        )
    )
    assert (status, out) == (1, "")
    assert err.endswith("LookupError: in the middle\n") and err.count("Traceback") == 1


WAITS = """
cluster = dlsched.LocalCluster(2, handlers={"sleep": sleep}, credits=1)
job = cluster.client.job(handler="sleep", task_items=1).add(1).add(2).submit()
await_files("asleep.*", 2)
print("ready", flush=True)
"""


def test_ctrl_c_ends_it(tmp_path):
    """A terminal sends it to all processes of the program."""
    process = start(tmp_path, WAITS + "with cluster:\n    list(job)")
    await_ready(process)
    os.killpg(process.pid, signal.SIGINT)
    status, _out, err = end(process)
    assert status == -signal.SIGINT
    assert err.endswith("KeyboardInterrupt\n") and err.count("Traceback") == 1


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_kill_of_the_program_ends_it(tmp_path, number):
    process = start(tmp_path, WAITS + "list(job)")
    await_ready(process)
    os.kill(process.pid, number)
    assert end(process)[0] == -number


def test_a_program_that_closes_nothing_ends(tmp_path):
    assert run(tmp_path, WAITS) == ["ready"]


def test_a_process_that_cannot_begin_says_so(tmp_path):
    """Here the program starts its cluster also where it is only read."""
    path = tmp_path / "unguarded.py"
    path.write_text(PRELUDE + 'dlsched.LocalCluster(1, handlers={"square": square})')
    status, _out, err = end(launch(tmp_path, path))
    assert status == 1
    assert "if __name__ == '__main__':" in err
    assert "ELOST: the process of the worker local-0 ended with 1 before it was ready" in err.splitlines()[-1]


def test_handlers_that_another_process_would_not_find():
    here = 7
    for function in (lambda item: here, threading.Lock().acquire):
        with pytest.raises(errors.EINVAL, match=r"handlers\['nine'\] cannot be sent .*; define it at the top of a file, or say"):
            dlsched.LocalCluster(1, handlers={"nine": function})


def test_a_handler_that_another_process_does_not_find(tmp_path):
    """A function of a program that is no file."""
    program = """
import dlsched
def square(item):
    return item.inputs[0] ** 2
try:
    dlsched.LocalCluster(1, handlers={"square": square})
except dlsched.errors.EHANDLER as error:
    print(error)
"""
    status, out, err = end(launch(tmp_path, "-c", program))
    assert (status, err) == (0, "")
    assert out.startswith("handlers['square'] is not found in another process") and "define it at the top of a file" in out


def test_threads_run_any_function():
    seen = []
    handlers = {"note": lambda item: seen.append(item.number) or item.number}
    with dlsched.LocalCluster(2, handlers=handlers, processes=False) as cluster:
        job = cluster.client.job(handler="note").add_batch(numpy.arange(10)).submit()
        assert [int(result.value) for result in job] == sorted(seen) == list(range(10))
        cluster.scale(1)
        assert cluster.workers == ["local-0"]
        cluster.scale(2)
        assert cluster.workers == ["local-0", "local-2"]


def test_models_need_no_processes(tmp_path):
    pictures = numpy.random.default_rng(1).random((6, 1, 28, 28), numpy.float32)
    with dlsched.Model(ROOT / "examples/fashion") as model:
        best = model(pictures).argmax(1)
    with dlsched.LocalCluster(2, cache_dir=tmp_path / "cache") as cluster:
        job = cluster.client.job(model=ROOT / "examples/fashion").add_batch(pictures).submit()
        assert [result.outputs[0].indices[0] for result in job] == best.tolist()


def test_a_cluster_has_the_options_of_its_parts():
    handlers = {"echo": lambda item: item.inputs[0]}
    options = dict(policy="priority", policy_params={"ageing_ms": 5}, labels=["zone=a"], resources={"licences": 2}, devices=3)
    with dlsched.LocalCluster(1, handlers=handlers, processes=False, **options) as cluster:
        status = cluster.client.status()
        (worker,) = status["workers"]
        assert status["policy"] == "priority"
        assert (worker["labels"], worker["resources"]["licences"], len(worker["devices"])) == (["zone=a"], 2, 3)
    with pytest.raises(errors.EINVAL, match="no policy"):
        dlsched.LocalCluster(1, policy="fastest")
    with pytest.raises(errors.EINVAL, match="65 devices"):
        dlsched.LocalCluster(1, devices=65)


def test_a_master_of_ones_own():
    with dlsched.Master(policy="feedback", heartbeat=0.5) as master:
        with dlsched.Client(master) as client, dlsched.Worker(master, models=False) as worker:
            worker.handle("echo", lambda item: item.inputs[0])
            worker.start()
            assert [int(result.value) for result in client.job(handler="echo").add(5).submit()] == [5]
            assert client.status()["policy"] == "feedback"
        with pytest.raises(errors.EADDRESS):
            dlsched.Master(master.address)
    with pytest.raises(errors.ENOTFOUND, match="no plug-ins here"):
        dlsched.Master(plugins="no plug-ins here")
