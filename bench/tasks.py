"""Tasks that do next to nothing: how many a second, and how long one takes, through master, two workers and client as
processes over tcp loopback, and inside one process; beside libzmq alone with messages of the same sizes, and Gearman
where its server and library are installed. All take turns, so that what else the machine does hits all.

`single` is one job of many items with one item a task, `divided` with as many a task as the master finds right, `jobs`
is a job for each item, as a task is with Gearman.

One JSON line per figure. `peer` names whom a ratio compares with, or whose figure a line is. Handlers get eight bytes
an item and return eight that depend on them; the client looks at each. See docs/PERFORMANCE.md.
"""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bench"
OURS, LIBZMQ, GEARMAN = BENCH / "tasks_tool", BENCH / "tasks_libzmq_tool", BENCH / "tasks_gearman_tool"
ROUNDS = int(os.environ.get("ROUNDS", 5))
CREDIT = 64  # tasks that a worker holds at once
OUTSTANDING = 64  # of Gearman, whose eight workers take one task at a time; more make it slower
JOBS_OUTSTANDING = 1000
ITEMS = {"single": 60_000, "divided": 300_000}  # one item a task, and as many as the master finds right
TASK_ITEMS = {"single": 1, "divided": 0}
JOBS = 20_000  # of one item each
LATENCY_ITEMS = 1000
GROWTH_ITEMS = 1_000_000


def start(*command):
    return subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def first_line(process):
    line = process.stdout.readline().strip()
    if not line:
        raise SystemExit(f"{process.args} does not start")
    return line


def ask(*command):
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, timeout=120)
    return [float(number) for number in done.stdout.split()]


@contextlib.contextmanager
def running(processes):
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def start_cluster(tool, *master_arguments):
    master = start(tool, "master", *master_arguments)
    endpoint = first_line(master)
    workers = [start(tool, "worker", endpoint) for _ in range(2)]
    for worker in workers:
        first_line(worker)
    return endpoint, [master, *workers]


def start_gearman():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = start("gearmand", "--listen=127.0.0.1", f"--port={port}", "--log-file=none")
    until = time.monotonic() + 10
    while time.monotonic() < until:
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            break
    workers = [start(GEARMAN, "worker", port) for _ in range(8)]
    for worker in workers:
        first_line(worker)
    return port, [server, *workers]


def say(figure, values, unit, better, peer=None):
    def shorten(value):
        return float(f"{value:.4g}")

    print(json.dumps({"figure": figure, "value": shorten(statistics.median(values)), "min": shorten(min(values)),
                      "max": shorten(max(values)), "unit": unit, "better": better, "goal": None, "peer": peer}), flush=True)


def measure(endpoint, credit_endpoint, port):
    """One turn of everybody: {figure: value}."""
    turn = {}
    for place, master in [("tcp", endpoint), ("inside", "inside")]:
        for shape, items in ITEMS.items():
            turn[f"{place}.{shape}"], = ask(OURS, "rate", master, items, TASK_ITEMS[shape])
        turn[f"{place}.jobs"], = ask(OURS, "jobs", master, JOBS, JOBS_OUTSTANDING)
        turn[f"{place}.p50"], turn[f"{place}.p99"] = ask(OURS, "latency", master, LATENCY_ITEMS)
    turn["libzmq.single"], = ask(LIBZMQ, "rate", credit_endpoint, 4 * ITEMS["single"])
    turn["libzmq.p50"], turn["libzmq.p99"] = ask(LIBZMQ, "latency", credit_endpoint, LATENCY_ITEMS)
    if port:
        turn["gearman.jobs"], = ask(GEARMAN, "rate", port, JOBS, OUTSTANDING)
        turn["gearman.p50"], turn["gearman.p99"] = ask(GEARMAN, "latency", port, LATENCY_ITEMS)
    return turn


def tell(turns):
    peers = {"libzmq": "libzmq alone, one task a message", "gearman": "Gearman, 8 workers, 64 outstanding"}
    for name in turns[0]:
        who, what = name.split(".")
        values = [turn[name] for turn in turns]
        unit, better = ("us", "lower") if what.startswith("p") else ("items/s", "higher")
        say(f"tasks.{name}", values, unit, better, peers.get(who))
    for peer, text in peers.items():
        for what, unit in [("single", "rate"), ("jobs", "rate"), ("p50", "latency"), ("p99", "latency")]:
            if f"{peer}.{what}" in turns[0]:
                say(f"tasks.tcp.{what}.vs_{peer}", [turn[f"tcp.{what}"] / turn[f"{peer}.{what}"] for turn in turns],
                    f"ratio of {unit}", "higher" if unit == "rate" else "lower", text)


def resources(process):
    """Resident kilobytes, and open descriptors."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return resident, len(os.listdir(f"/proc/{process.pid}/fd"))


def tell_growth(endpoint, processes):
    """What a million tasks leave behind in the processes that they went through."""
    ask(OURS, "rate", endpoint, GROWTH_ITEMS, 1)
    before = [resources(process) for process in processes]
    ask(OURS, "rate", endpoint, GROWTH_ITEMS, 1)
    after = [resources(process) for process in processes]
    for name, (old_kb, old_fds), (new_kb, new_fds) in zip(["master", "worker"], before, after):
        say(f"tasks.growth.{name}.memory", [new_kb - old_kb], "KiB after 1,000,000 tasks", "lower")
        say(f"tasks.growth.{name}.descriptors", [new_fds - old_fds], "after 1,000,000 tasks", "lower")


def main():
    with contextlib.ExitStack() as stack:
        endpoint, ours = start_cluster(OURS)
        stack.enter_context(running(ours))
        credit_endpoint, theirs = start_cluster(LIBZMQ, CREDIT)
        stack.enter_context(running(theirs))
        port, gearman = start_gearman() if GEARMAN.exists() and shutil.which("gearmand") else (None, [])
        stack.enter_context(running(gearman))
        if not port:
            print(json.dumps({"figure": "tasks.gearman.jobs", "skipped":
                              "gearman-job-server and libgearman-dev are not installed"}))
        tell([measure(endpoint, credit_endpoint, port) for _ in range(ROUNDS)])
        tell_growth(endpoint, ours)


if __name__ == "__main__":
    main()
