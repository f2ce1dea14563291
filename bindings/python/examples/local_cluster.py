#!/usr/bin/env python3
"""Counts primes on all processors of this machine: local_cluster.py [WORKERS]

The handler is a function at the top of the file, and the cluster is started under `if __name__ == "__main__"`: each worker is
a process of its own, which reads this file to find it.
"""

import sys

import dlsched
import numpy


def primes(item):
    """How many there are in [start, end)."""
    start, end = item.inputs[0].tolist()
    return sum(all(number % divisor for divisor in range(2, int(number**0.5) + 1)) for number in range(max(2, start), end))


def main(workers=None):
    with dlsched.LocalCluster(workers and int(workers), handlers={"primes": primes}) as cluster:
        bounds = numpy.arange(0, 100_001, 5_000)
        job = cluster.client.job(handler="primes", name="primes", task_items=1)
        job.add_batch(numpy.column_stack([bounds[:-1], bounds[1:]]))
        for (start, end), result in zip(zip(bounds, bounds[1:]), job.submit()):
            print(f"{result.value.item():4} primes from {start} to {end} by {result.worker}")


if __name__ == "__main__":
    main(*sys.argv[1:])
