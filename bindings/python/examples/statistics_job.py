#!/usr/bin/env python3
"""Submits a job for the handlers of statistics_worker.py and prints what comes back: statistics_job.py MASTER"""

import sys

import dlsched
import numpy


def main(master):
    generator = numpy.random.default_rng(seed=1)
    with dlsched.Client(master) as client:
        job = client.job(handler="statistics", params={"axis": 0})
        for mean in range(1, 6):
            job.add(generator.normal(mean, mean, size=(100_000, 2)))
        for result in job.submit():
            mean, deviation = (output.values for output in result.outputs)
            print(f"item {result.item} by {result.worker}: mean {mean.round(1)}, deviation {deviation.round(1)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
