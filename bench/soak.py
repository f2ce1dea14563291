"""A million items through two workers of which one is killed and started anew every second or so: every item has exactly
one result, which is its own, in order (bench/dispatch_tool.c looks at each). Three minutes at most; fails if any of it is
not so. One JSON line per shape: how fast it went all the same.

SEED chooses when and whom to kill.
"""

import os
import random
import time

from figures import tell
from processes import OURS, cluster, first_line, start, stop

ITEMS = int(os.environ.get("ITEMS", 1_000_000))
SECONDS = 80  # for each shape
SEED = int(os.environ.get("SEED", time.time_ns() % 10**9))
PAUSE = (0.1, 0.6)  # seconds between two kills
TASK_ITEMS = {"single": 1, "divided": 0}  # one item a task, and as many as the master finds right


def soak(shape, task_items, chance):
    with cluster(2) as (endpoint, _, workers):
        client = start(OURS, "batch", endpoint, ITEMS, task_items)
        until, kills = time.monotonic() + SECONDS, 0
        try:
            while client.poll() is None and time.monotonic() < until:
                time.sleep(chance.uniform(*PAUSE))
                victim = chance.randrange(len(workers))
                stop([workers[victim]])
                workers[victim] = start(OURS, "worker", endpoint, 0)
                first_line(workers[victim])
                kills += 1
            if client.poll() != 0:
                raise SystemExit(f"soak: {shape}, seed {SEED}, after {kills} kills: " +
                                 ("it failed" if client.poll() else f"not done in {SECONDS} s"))
            return float(first_line(client)), kills
        finally:
            stop([client])


def main():
    chance = random.Random(SEED)
    for shape, task_items in TASK_ITEMS.items():
        rate, kills = soak(shape, task_items, chance)
        tell(f"soak.{shape}", rate, rate, rate, f"items/s of {ITEMS:,} over {kills} killed workers, seed {SEED}", "higher")


if __name__ == "__main__":
    main()
