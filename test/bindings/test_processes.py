"""Programs that use the bindings: signals end them as they should, and a program that closes nothing still ends."""

import os
import signal
import subprocess
import sys

import pytest
from common import SECONDS, wait_until

# A program that hangs is ended by the alarm, and its exit status says so: nothing here is measured.
PRELUDE = f"""
import os, signal, sys, threading, time, dlsched
signal.alarm({SECONDS})
master = sys.argv[1]
def ready():
    print("ready", flush=True)
def taken_in(worker):
    try:
        return worker.wait(0) is None
    except dlsched.Error:
        return False
def ready_when(condition):
    def watch():
        while not condition():
            time.sleep(0.01)
        ready()
    threading.Thread(target=watch, daemon=True).start()
"""


def start(master, program):
    process = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + program, master], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n", process.communicate(timeout=SECONDS)[1]
    return process


def end(process):
    """Its exit status and what it said."""
    try:
        said = process.communicate(timeout=2 * SECONDS)[1]
        return process.returncode, said
    finally:
        process.kill()


def interrupt(process):
    """Ctrl-C, and its end."""
    process.send_signal(signal.SIGINT)
    return end(process)


@pytest.mark.parametrize("waits", ["job.next()", "job.wait()", "list(job)", "job.next(timeout=1000)"])
def test_ctrl_c_ends_a_waiting_client(master, waits):
    program = f"""
with dlsched.Client(master) as client:
    job = client.job(handler="nobody has it").add(1).submit()
    ready_when(lambda: job._users)
    {waits}
"""
    status, said = interrupt(start(master, program))
    assert status == -signal.SIGINT
    assert said.endswith("KeyboardInterrupt\n")


SERVE = """
worker = dlsched.Worker(master, models=False)
@worker.handler("work")
def work(item):
    ready()
    while True:
        pass
"""


def test_ctrl_c_ends_an_idle_worker(master):
    program = "ready_when(lambda: taken_in(worker)); worker.serve()"
    assert interrupt(start(master, SERVE + program)) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_a_worker(master, client, number):
    """What it runs comes to its end there; what waits there is handed back."""
    program = """
worker = dlsched.Worker(master, name="drained", models=False)
client = dlsched.Client(master)
@worker.handler("work")
def work(item):
    ready()
    while not client.status()["workers"][0]["draining"]:
        time.sleep(0.01)
    return item.number
worker.serve()
client.close()
"""
    job = client.job(handler="work", task_items=1).add(1).add(1).submit()
    process = start(master, program)
    process.send_signal(number)
    result = job.next(SECONDS)
    assert (int(result.value), result.worker) == (0, "drained")
    assert end(process)[0] == 0
    assert (client.describe(job)["done"], client.describe(job)["failed"], client.describe(job)["running"]) == (1, 0, 0)


def draining(client):
    return [worker["draining"] for worker in client.status()["workers"]] == [True]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_a_busy_worker(master, client, number):
    process = start(master, SERVE + "client = dlsched.Client(master); client.job(handler='work').add(1).submit(); worker.serve()")
    process.send_signal(number)
    wait_until(lambda: draining(client))
    process.send_signal(number)
    assert end(process)[0] == 0


def test_who_waits_for_a_worker_to_drain_is_told(master, client):
    process = start(master, SERVE + "client = dlsched.Client(master); client.job(handler='work').add(1).submit(); worker.serve()")
    process.send_signal(signal.SIGTERM)
    assert process.stderr.readline() == "it is draining: what runs comes to its end; a second signal ends it at once\n"
    process.send_signal(signal.SIGTERM)
    assert end(process) == (0, "")


def test_a_third_ctrl_c_ends_a_worker_whose_handler_is_stuck(master, client):
    program = """
worker = dlsched.Worker(master, models=False)
@worker.handler("work")
def work(item):
    ready()
    time.sleep(10 * 60)  # runs no Python that could be interrupted, longer than the alarm
client = dlsched.Client(master)
job = client.job(handler="work").add(1).submit()
ready_when(lambda: worker._closing)
worker.serve()
"""
    process = start(master, program)
    process.send_signal(signal.SIGINT)
    wait_until(lambda: draining(client))
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "ready\n"
    assert interrupt(process)[0] == -signal.SIGINT


def test_signals_of_the_program_are_its_own(master):
    """A worker that serves leaves them alone, and elsewhere than in the main thread it cannot have any."""
    program = """
worker = dlsched.Worker(master, models=False)
signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=worker.close).start())
signal.signal(signal.SIGINT, signal.SIG_IGN)
ready_when(lambda: taken_in(worker))
worker.serve()
assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
with dlsched.Worker(master, models=False) as worker:
    serving = threading.Thread(target=worker.serve)
    serving.start()
"""
    process = start(master, program)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    assert end(process) == (0, "")


def test_a_worker_that_is_forgotten_lives_on(master):
    """Nothing is closed by garbage collection, which would take from the library what it calls."""
    program = """
import gc
def serve():
    worker = dlsched.Worker(master, models=False)
    worker.handle("work", lambda item: item.inputs[0] + 1)
    worker.start()
serve()
gc.collect()
with dlsched.Client(master) as client:
    (result,) = client.job(handler="work").add(1).submit()
    assert result.value == 2
ready()
"""
    assert end(start(master, program)) == (0, "")


def test_a_program_that_closes_nothing_ends(master):
    program = """
client = dlsched.Client(master)
job = client.job(handler="work", task_items=1).add(bytearray(100_000)).add_batch(range(100_000)).submit()
worker = dlsched.Worker(master, models=False)
worker.handle("work", lambda item: item.inputs[0])
worker.start()
job.next()
ready()
"""
    assert end(start(master, program)) == (0, "")


def test_a_handler_is_interrupted_at_the_end_of_the_program(master):
    program = """
worker = dlsched.Worker(master, models=False)
begun = threading.Event()
@worker.handler("work")
def work(item):
    begun.set()
    try:
        while True:
            pass
    except BaseException as error:
        print(type(error).__name__, file=sys.stderr)
        raise
worker.start()
client = dlsched.Client(master)
job = client.job(handler="work").add(1).submit()
begun.wait()
ready()
"""
    assert end(start(master, program)) == (0, "Interrupted\n")


def test_a_forked_child_leaves_the_handles_alone(master):
    program = """
client = dlsched.Client(master)
worker = dlsched.Worker(master, models=False)
worker.handle("work", lambda item: item.inputs[0] + 1)
worker.start()
waiting = client.job(handler="nobody has it").add(1).submit()
threading.Thread(target=lambda: list(waiting), daemon=True).start()
while not waiting._users:
    time.sleep(0.01)
child = os.fork()
if child == 0:
    signal.alarm(10)
    client.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
(result,) = client.job(handler="work").add(1).submit()
assert result.value == 2
ready()
"""
    assert end(start(master, program)) == (0, "")


def test_daemon_threads_end_in_silence_with_the_program(master):
    """One that is told that its handle closed would write a traceback while Python ends, and Python would abort: most
    likely where all threads share a processor."""
    program = """
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
client = dlsched.Client(master)
jobs = [client.job(handler="nobody has it").add(1).submit() for _ in range(8)]
for job in jobs:
    threading.Thread(target=list, args=(job,), daemon=True).start()
while not all(job._users for job in jobs):
    time.sleep(0.01)
ready()
"""
    for _ in range(5):
        assert end(start(master, program)) == (0, "")


DISPLAY = "import os; before = dict(os.environ); import dlsched; assert dict(os.environ) == before"


def displayed(**more):
    """What libgomp says of how its threads wait."""
    unsaid = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    ended = subprocess.run([sys.executable, "-c", DISPLAY], env={**unsaid, "OMP_DISPLAY_ENV": "VERBOSE", **more},
                           capture_output=True, text=True, check=True)
    return next(line.split("'")[1] for line in ended.stderr.splitlines() if "GOMP_SPINCOUNT" in line)


def test_threads_wait_briefly_unless_the_user_says_how():
    assert displayed() == "1000"
    assert displayed(GOMP_SPINCOUNT="7") == "7"
    assert displayed(OMP_WAIT_POLICY="passive") == "0"
