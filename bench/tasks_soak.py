"""A million items through two workers of which one is killed and started anew every second or so: every item has exactly
one result, which is its own, in order (bench/tasks_tool.c looks at each). Three minutes at most; fails if any of it is
not so. One JSON line per shape: how fast it went all the same.

SEED chooses when and whom to kill.
"""

import os
import random
import subprocess
import time

from tasks import OURS, TASK_ITEMS, first_line, say, start, start_cluster

ITEMS = int(os.environ.get("ITEMS", 1_000_000))
SECONDS = 80  # for each shape
SEED = int(os.environ.get("SEED", time.time_ns() % 10**9))
PAUSE = (0.1, 0.6)  # seconds between two kills


def start_worker(endpoint):
    worker = start(OURS, "worker", endpoint)
    first_line(worker)
    return worker


def soak(shape, chance):
    endpoint, (master, *workers) = start_cluster(OURS)
    client = subprocess.Popen([OURS, "rate", endpoint, str(ITEMS), str(TASK_ITEMS[shape])], stdout=subprocess.PIPE, text=True)
    until, kills = time.monotonic() + SECONDS, 0
    try:
        while client.poll() is None and time.monotonic() < until:
            time.sleep(chance.uniform(*PAUSE))
            victim = chance.randrange(len(workers))
            workers[victim].kill()
            workers[victim].wait()
            workers[victim] = start_worker(endpoint)
            kills += 1
        if client.poll() != 0:
            raise SystemExit(f"tasks_soak: {shape}, seed {SEED}, after {kills} kills: " +
                             ("it failed" if client.poll() else f"not done in {SECONDS} s"))
        return float(client.stdout.read()), kills
    finally:
        for process in [client, master, *workers]:
            process.kill()
            process.wait()


def main():
    chance = random.Random(SEED)
    for shape in TASK_ITEMS:
        rate, kills = soak(shape, chance)
        say(f"tasks.soak.{shape}", [rate], f"items/s of {ITEMS:,} over {kills} killed workers, seed {SEED}", "higher")


if __name__ == "__main__":
    main()
