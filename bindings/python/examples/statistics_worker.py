#!/usr/bin/env python3
"""A worker with a handler of its own, until Ctrl-C: statistics_worker.py MASTER

The handler takes an array and returns its mean and standard deviation along the axis that the job's params name.
"""

import sys

import dlsched


def statistics(item):
    (array,) = item.inputs
    axis = item.params.get("axis", 0)
    return array.mean(axis), array.std(axis)


def main(master):
    worker = dlsched.Worker(master, models=False)
    worker.handle("statistics", statistics)
    worker.serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
