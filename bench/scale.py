"""How much faster 1, 20, 40, 60, 80 and 100 workers are, each a process of its own on this machine, with a master that
divides as it does by default, over real sockets. Compute is emulated: a worker sleeps as long as a device would need. So the
figures tell of the scheduler and of nothing else. `make bench-scale` runs it.

A device's time for n items is runs * RUN + n * ITEM, at most BATCH items a run, as measured of the engine (SERVICE). It is
divided by a factor that the lines name, so that one worker, whose time is measured and not computed, needs SECONDS_ALONE for
50,000 items. Inputs are references that are not read: each item is a number, the worker returns something that depends on it,
and the client looks at each.

Environment: MODELS, WORKERS and ITEMS choose among what is measured.
"""

import os
import sys
from statistics import correlation

from figures import tell
from processes import OURS, ask, cluster

# Milliseconds of one core of a Xeon with AVX-512: of a run, of an item, and the largest batch of a run.
SERVICE = {"alexnet": (8.2, 8.5, 32), "googlenet": (0.8, 20.7, 32), "resnet50": (3.2, 69.0, 32)}
SECONDS_ALONE, ITEMS_ALONE = 400, 50_000
ITEMS = int(os.environ.get("ITEMS", ITEMS_ALONE))
WORKERS = [int(word) for word in os.environ.get("WORKERS", "1 20 40 60 80 100").split()]
LINEAR_FROM = 20


def factor(model):
    run_ms, item_ms, batch = SERVICE[model]
    return (run_ms / batch + item_ms) / 1000 * ITEMS_ALONE / SECONDS_ALONE


def measure(model, workers):
    """Items a second."""
    run_ms, item_ms, batch = SERVICE[model]
    part = ("emulated", batch, int(run_ms * 1e6 / factor(model)), int(item_ms * 1e6 / factor(model)))
    with cluster(workers, part=part) as (endpoint, _, _):
        return ask(OURS, "batch", endpoint, ITEMS, 0)[0]


def tell_model(model):
    rates = {workers: measure(model, workers) for workers in WORKERS}
    speedups = {workers: rate / rates[WORKERS[0]] for workers, rate in rates.items()}
    emulated = f"emulated compute, {factor(model):.1f} times as fast as measured; inputs are references that are not read"
    for workers, speedup in speedups.items():
        goal = 95 if workers == 100 else None
        tell(f"scale.{model}.n{workers}", speedup, speedup, speedup, f"times one worker ({emulated})", "higher", goal,
             items_per_second=round(rates[workers], 1), seconds=round(ITEMS / rates[workers], 3))
    points = [(workers, speedup) for workers, speedup in speedups.items() if workers >= LINEAR_FROM]
    if len(points) > 2:
        fit = correlation(*zip(*points, strict=True)) ** 2
        tell(f"scale.{model}.r2", round(fit, 6), fit, fit, f"R2 of a line from 20 to 100 workers ({emulated})", "higher", 0.999)
    return speedups


def main():
    chosen = os.environ.get("MODELS", " ".join(SERVICE)).split()
    unknown = set(chosen) - set(SERVICE)
    if unknown:
        sys.exit(f"scale: there is no model {min(unknown)}; there are {', '.join(SERVICE)}")
    table = {model: tell_model(model) for model in chosen}
    print(f"\nSpeed-up over one worker, {ITEMS:,} items, EMULATED compute, inputs as references that are not read\n")
    print("workers " + "".join(f"{model:>12}" for model in table))
    for workers in WORKERS:
        print(f"{workers:7} " + "".join(f"{speedups[workers]:12.2f}" for speedups in table.values()))


if __name__ == "__main__":
    main()
