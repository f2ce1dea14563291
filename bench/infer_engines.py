"""The engines that bench/infer.py measures, each in processes of its own, with the same few methods: `load` a network for a
batch size, and `work`, which repeats that for a while and gives (items, seconds) of each of its processes. Between calls no engine
may use the processor; `settle` waits for that."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test"))
import infer_models
from engine import Engine, Refused

SPINS = "1000"  # of cli/threads.c
CHOICES = ROOT / "build/cache/kernels"  # as a program keeps them in the user's folder for such
MATRIX_SIDE = 2048  # of infer_peer.py's sgemm
UNWANTED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OMP_NUM_THREADS")
QUIET_SECONDS, QUIET_SHARE, SETTLE_SECONDS = 0.02, 0.05, 2


class Peer:
    """A process of bench/infer_peer.py."""

    def __init__(self, kind, threads):
        self.kind, self.batch = kind, 1
        environment = {name: value for name, value in os.environ.items() if name not in UNWANTED}
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "bench/infer_peer.py", kind, str(threads)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=environment | {"OPENBLAS_NUM_THREADS": str(threads)})
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.kind} ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def pids(self):
        return [self.process.pid]

    def load(self, path, batch, outputs=None):
        """Seconds until the first run is over."""
        self.batch = batch
        return self.ask(load=str(path), batch=batch, outputs=outputs)["seconds"]

    def input_and_outputs(self, path, batch):
        """What it was given and what it answered in the first run."""
        with tempfile.TemporaryDirectory() as folder:
            self.load(path, batch, f"{folder}/outputs.npz")
            with numpy.load(f"{folder}/outputs.npz") as arrays:
                return arrays["arr_0"], [arrays[f"arr_{number}"] for number in range(1, len(arrays.files))]

    def work(self, milliseconds):
        answer = self.ask(milliseconds=milliseconds)
        return [(self.batch * answer["runs"], answer["seconds"])]

    def close(self):
        self.process.communicate()


class Ours:
    """The library, with one team of `threads` threads."""

    def __init__(self, threads, streams=1):
        environment = {"OMP_NUM_THREADS": str(threads), "GOMP_SPINCOUNT": SPINS, "MODEL_TOOL_CACHE": str(CHOICES)}
        self.engines = [Engine(environment) for _ in range(streams)]
        for engine in self.engines:
            engine.start()
            try:
                engine.ask("ready?")
            except Refused:
                pass  # it speaks, so it has started

    def pids(self):
        return [engine.process.pid for engine in self.engines]

    def load(self, path, batch):
        return max(self.run_first(engine, path, batch) for engine in self.engines)

    def run_first(self, engine, path, batch):
        self.batch = batch
        seconds = engine.load(path)
        _, dims, _ = engine.inputs[0]
        array = numpy.random.default_rng(1).standard_normal((batch * dims[0], *dims[1:]), numpy.float32)
        spent, self.outputs = engine.run([array], batch)
        return seconds + spent

    def work(self, milliseconds):
        for engine in self.engines:
            engine.begin_time(self.batch, milliseconds)
        return [(self.batch * runs, seconds) for runs, seconds in (engine.end_time() for engine in self.engines)]

    def close(self):
        for engine in self.engines:
            engine.__exit__()


def make(kind, threads):
    if kind == "ours":
        return Ours(threads)
    if kind == "ours_streams":
        return Ours(1, threads)
    return Peer(kind, threads)


def file_for(kind, name):
    return infer_models.find(name) if kind.startswith("ours") else infer_models.for_peers(name)


def thread_seconds(task):
    try:
        return int((task / "schedstat").read_text().split()[0]) / 1e9
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it has ended meanwhile


def processor_seconds(pids):
    """That all threads of the processes have used."""
    return sum(thread_seconds(task) for pid in pids for task in pathlib.Path(f"/proc/{pid}/task").iterdir())


def settle(engines):
    """Waits until the engines use no processor any more: their threads may spin for a while after a run."""
    pids, end = [pid for engine in engines for pid in engine.pids()], time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < end:
        before = processor_seconds(pids)
        time.sleep(QUIET_SECONDS)
        if processor_seconds(pids) - before < QUIET_SECONDS * QUIET_SHARE:
            return
    raise RuntimeError(f"an engine goes on using the processor {SETTLE_SECONDS} s after its run")


def memory(pid, what):
    """VmRSS or VmHWM of a process, in bytes."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(what))
