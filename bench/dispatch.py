"""Tasks that do next to nothing: how many a second and how long one takes, through client, master and workers as processes of
their own over loopback, beside libzmq alone, Gearman, Ray and Dask. All take turns, so that what else the machine does hits
all. `make bench-dispatch` runs it.

Shape *batch* is one job of many items that the master divides, shape *each* a call and a result handle for each task
(<dlsched/call.h>), *jobs* a job for each. libzmq
alone is a loop that passes messages of the same sizes on, one task each. A peer counts with the number of outstanding tasks
at which it is fastest. Every task returns something that depends on its own input, and the client looks at each.

Environment: ONLY chooses among what is measured (the keys of PARTS), ROUNDS is how many turns each has.
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from figures import skip, tell, tell_ratio, tell_values
from processes import GEARMAN, LIBZMQ, OURS, ask, cluster, first_line, gearman_cluster, libzmq_cluster, resident_bytes, \
    running, start, started

ROUNDS = int(os.environ.get("ROUNDS", 5))
BARE = "libzmq alone, one task a message"

BATCH_ITEMS, BARE_ITEMS = 1_000_000, 100_000
BATCH_WORKERS, BATCH_CREDITS = (2, 8), (8, 64)

CALLS, JOBS, OUTSTANDING = 1_000_000, 50_000, 10_000
GEARMAN_WORKERS, GEARMAN_TASKS, GEARMAN_OUTSTANDING = 8, 20_000, (16, 64, 256, 1024, 10_000)
PYTHON_TASKS = {"ray": 4000, "ray_actors": 8000, "dask": 2000}
PYTHON_OUTSTANDING = (100, 1000, 10_000)

LATENCY_ITEMS = 1000
PAYLOAD_BYTES, PAYLOAD_ITEMS, PAYLOAD_CREDITS = 3 * 224 * 224 * 4, 1024, (1, 2, 4, 16)
MANY_WORKERS, SOME_WORKERS, MANY_ITEMS = 100, 8, 3_000_000  # not a matter of who connects first
QUEUED_JOBS, RUN_ITEMS = 1_000_000, 10_000_000


def in_turns(**measures):
    """{name: its values}, one per round, A B A B."""
    values = {name: [] for name in measures}
    for _ in range(ROUNDS):
        for name, measure in measures.items():
            values[name].append(measure())
    return values


def best_of(choices, measure):
    return max(choices, key=measure)


# ---- beside libzmq

def rate(*command):
    return ask(*command)[0]


def measure_batch():
    for workers in BATCH_WORKERS:
        for credit in BATCH_CREDITS:
            with cluster(workers, credit) as (endpoint, _, _), libzmq_cluster(workers, credit) as bare:
                values = in_turns(ours=lambda: rate(OURS, "batch", endpoint, BATCH_ITEMS, 0),
                                  single=lambda: rate(OURS, "batch", endpoint, BARE_ITEMS, 1),
                                  bare=lambda: rate(LIBZMQ, "batch", bare, BARE_ITEMS))
            name = f"dispatch.w{workers}.c{credit}"
            tell_values(name, values["ours"], "items/s", "higher")
            tell_values(f"{name}.single", values["single"], "tasks/s of one item", "higher")
            tell_values(f"{name}.libzmq", values["bare"], "items/s", "higher", peer=BARE)
            tell_ratio(f"{name}.vs_libzmq", values["ours"], values["bare"], 1.0, peer=BARE)
            tell_ratio(f"{name}.single.vs_libzmq", values["single"], values["bare"], None, peer=BARE)


def measure_latency():
    with cluster(2) as (endpoint, _, _), libzmq_cluster(2, 64) as bare:
        values = in_turns(ours=lambda: ask(OURS, "latency", endpoint, LATENCY_ITEMS),
                          bare=lambda: ask(LIBZMQ, "latency", bare, LATENCY_ITEMS))
    for place, what in enumerate(("p50", "p99")):
        ours, theirs = ([turn[place] for turn in values[who]] for who in ("ours", "bare"))
        tell_values(f"dispatch.latency.{what}", ours, "us", "lower")
        tell_values(f"dispatch.latency.{what}.libzmq", theirs, "us", "lower", peer=BARE)
        if what == "p50":
            tell_ratio("dispatch.latency.vs_bare", ours, theirs, 1.3, "lower", peer=BARE)


def bare_payload(credit):
    with started((LIBZMQ, "payload", 2, credit, PAYLOAD_ITEMS, PAYLOAD_BYTES)) as ((client,), (endpoint,)):
        with started(*[(LIBZMQ, "reader", endpoint)] * 2):
            return float(first_line(client))


def measure_payload():
    credit = best_of(PAYLOAD_CREDITS, bare_payload)
    peer = f"libzmq alone, zero-copy tcp straight to the worker, {credit} at once"
    with cluster(2) as (endpoint, _, _):
        values = in_turns(ours=lambda: rate(OURS, "payload", endpoint, PAYLOAD_ITEMS, PAYLOAD_BYTES),
                          bare=lambda: bare_payload(credit))
    tell_values("dispatch.payload", values["ours"], f"tasks/s of {PAYLOAD_BYTES} bytes", "higher")
    tell_values("dispatch.payload.libzmq", values["bare"], f"tasks/s of {PAYLOAD_BYTES} bytes", "higher", peer=peer)
    tell_ratio("dispatch.payload.vs_libzmq", values["ours"], values["bare"], 1.3, peer=peer)


def measure_many():
    with cluster(SOME_WORKERS) as (some, _, _), cluster(MANY_WORKERS) as (many, _, _):
        values = in_turns(many=lambda: rate(OURS, "batch", many, MANY_ITEMS, 0),
                          some=lambda: rate(OURS, "batch", some, MANY_ITEMS, 0))
    tell_values("dispatch.w100", values["many"], "items/s", "higher")
    tell_ratio("dispatch.w100.vs_w8", values["many"], values["some"], 0.8)


# ---- beside those who take a call per task

@contextlib.contextmanager
def gearman():
    """Tasks a second with its best number outstanding, and what that number is."""
    if not GEARMAN.exists() or not shutil.which("gearmand"):
        skip("dispatch.vs_gearman", "gearman-job-server and libgearman-dev are not installed")
        yield None
        return
    with gearman_cluster(GEARMAN_WORKERS) as port:
        def measure(outstanding):
            return rate(GEARMAN, "each", port, GEARMAN_TASKS, outstanding)

        outstanding = best_of(GEARMAN_OUTSTANDING, measure)
        yield lambda: measure(outstanding), f"Gearman, {GEARMAN_WORKERS} workers, {outstanding} outstanding"


class PythonPeer:
    """One that is a process of Python's."""

    def __init__(self, kind):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
        script = pathlib.Path(__file__).with_name("dispatch_peer.py")
        self.kind = kind
        self.process = start(sys.executable, script, kind, env=environment, stderr=subprocess.DEVNULL)
        first_line(self.process)

    def rate(self, outstanding):
        self.process.stdin.write(json.dumps([PYTHON_TASKS[self.kind], outstanding]) + "\n")
        self.process.stdin.flush()
        return float(first_line(self.process))

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


@contextlib.contextmanager
def python_peer(*kinds):
    """The same of the fastest of these kinds."""
    found = {}
    for kind in kinds:
        with contextlib.closing(PythonPeer(kind)) as peer:
            found |= {(kind, outstanding): peer.rate(outstanding) for outstanding in PYTHON_OUTSTANDING}
    kind, outstanding = max(found, key=found.get)
    with contextlib.closing(PythonPeer(kind)) as peer:
        yield lambda: peer.rate(outstanding), f"{kind}, 2 workers, {outstanding} outstanding"


def measure_each():
    peers = {"gearman": (gearman(), 10), "ray": (python_peer("ray", "ray_actors"), 50), "dask": (python_peer("dask"), 200)}
    with cluster(2) as (endpoint, _, _):
        tell_values("dispatch.jobs", in_turns(jobs=lambda: rate(OURS, "jobs", endpoint, JOBS, OUTSTANDING))["jobs"], "jobs/s",
                    "higher")
        for name, (running, goal) in peers.items():
            with running as peer:
                if not peer:
                    continue
                measure, what = peer
                values = in_turns(ours=lambda: rate(OURS, "calls", endpoint, CALLS, OUTSTANDING), theirs=measure)
            tell_values(f"dispatch.each.beside_{name}", values["ours"], "tasks/s", "higher")
            tell_values(f"dispatch.each.{name}", values["theirs"], "tasks/s", "higher", peer=what)
            tell_ratio(f"dispatch.vs_{name}", values["ours"], values["theirs"], goal, peer=what)


# ---- inside one process, and what it costs the master

def measure_inside():
    values = in_turns(batch=lambda: rate(OURS, "batch", "inside", BATCH_ITEMS, 0),
                      each=lambda: rate(OURS, "calls", "inside", CALLS, OUTSTANDING),
                      jobs=lambda: rate(OURS, "jobs", "inside", JOBS, OUTSTANDING),
                      p50=lambda: ask(OURS, "latency", "inside", LATENCY_ITEMS)[0])
    tell_values("dispatch.inside.batch", values["batch"], "items/s", "higher")
    tell_values("dispatch.inside.each", values["each"], "tasks/s", "higher")
    tell_values("dispatch.inside.jobs", values["jobs"], "jobs/s", "higher")
    tell_values("dispatch.inside.p50", values["p50"], "us", "lower")


def tell_growth(figure, queue, count, per, **more):
    """What is queued with a master that has no workers, by a program that says when it is."""
    with started((OURS, "master")) as ((master,), (endpoint,)):
        with started((OURS, queue, endpoint, 100)):
            before = resident_bytes(master)
        with started((OURS, queue, endpoint, count)):
            grown = (resident_bytes(master) - before) / per
    tell(figure, grown, grown, grown, "bytes", "lower", **more)


def measure_memory():
    """Of the master's process, as the system counts it."""
    tell_growth("sched.bytes.per_task", "queue", QUEUED_JOBS, QUEUED_JOBS, goal=400, tasks=QUEUED_JOBS)
    tell_growth("sched.bytes.job10m", "queue_run", RUN_ITEMS, 1, goal=1_000_000, items=RUN_ITEMS)
    with cluster(2) as (endpoint, master, _):
        rate(OURS, "run", endpoint, RUN_ITEMS // 10)
        before, most = resident_bytes(master), 0
        with running(start(OURS, "run", endpoint, RUN_ITEMS)) as job:
            while job.poll() is None:
                most = max(most, resident_bytes(master))
                time.sleep(0.02)
            if job.returncode:
                raise SystemExit("the job of many items failed")
    tell("sched.bytes.job10m.passing", most - before, most - before, most - before, "bytes, with results on their way", "lower",
         items=RUN_ITEMS)


PARTS = {"batch": measure_batch, "each": measure_each, "latency": measure_latency, "payload": measure_payload,
         "w100": measure_many, "inside": measure_inside, "memory": measure_memory}


def main():
    chosen = os.environ.get("ONLY", " ".join(PARTS)).split()
    unknown = set(chosen) - set(PARTS)
    if unknown:
        sys.exit(f"dispatch: there is no part {min(unknown)}; there are {', '.join(PARTS)}")
    for name in chosen:
        PARTS[name]()


if __name__ == "__main__":
    main()
