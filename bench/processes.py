"""The processes of a benchmark: starting and ending them, and asking one for its numbers."""

import contextlib
import os
import pathlib
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bench"
OURS, LIBZMQ, GEARMAN = BENCH / "dispatch_tool", BENCH / "dispatch_libzmq_tool", BENCH / "dispatch_gearman_tool"
LONGEST_S = 900


def start(*command, **more):
    return subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more)


def first_line(process):
    line = process.stdout.readline().strip()
    if not line:
        raise SystemExit(f"{process.args} does not start")
    return line


def ask(*command):
    """The numbers that a program prints."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, timeout=LONGEST_S)
    if done.returncode:
        raise SystemExit(f"{done.args} failed")
    return [float(number) for number in done.stdout.split()]


def stop(processes):
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()


@contextlib.contextmanager
def running(process):
    try:
        yield process
    finally:
        stop([process])


@contextlib.contextmanager
def started(*commands):
    """The processes, each of which has said its first line, and those lines."""
    processes = []
    try:
        processes = [start(*command) for command in commands]
        yield processes, [first_line(process) for process in processes]
    finally:
        stop(processes)


@contextlib.contextmanager
def cluster(workers, credits=0, part=("worker",)):
    """Ours: (endpoint, master, workers)."""
    with started((OURS, "master")) as ((master,), (endpoint,)):
        name, *arguments = part
        command = (OURS, name, endpoint, *(arguments or (credits,)))
        with started(*[command] * workers) as (processes, _):
            yield endpoint, master, processes


@contextlib.contextmanager
def libzmq_cluster(workers, credit):
    with started((LIBZMQ, "master", workers, credit)) as (_, (endpoint,)):
        with started(*[(LIBZMQ, "worker", endpoint)] * workers):
            yield endpoint


@contextlib.contextmanager
def gearman_cluster(workers):
    """Its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = start("gearmand", "--listen=127.0.0.1", f"--port={port}", "--log-file=none")
    try:
        until = time.monotonic() + 10
        while time.monotonic() < until:
            with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
        with started(*[(GEARMAN, "worker", port)] * workers):
            yield port
    finally:
        stop([server])


def resident_bytes(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))
