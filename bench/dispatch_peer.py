"""Ray or Dask with two worker processes, which bench/dispatch.py asks for so many tasks, so many at once: a JSON list in, tasks
a second out.

usage: dispatch_peer.py ray|ray_actors|dask

A task gets eight bytes and returns their complement; each result is looked at. One call and one result handle per task.
"""

import json
import os
import sys
import time

WORKERS = 2
os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")


def complement(data):
    return bytes(byte ^ 255 for byte in data)


def check(data, result):
    if result != complement(data):
        raise SystemExit("a result is not that of its task")


class Ray:
    """Tasks."""

    def __init__(self):
        import ray

        self.library = ray
        ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level="error",
                 object_store_memory=200 * 1024 * 1024)
        self.make_call()

    def make_call(self):
        remote = self.library.remote(complement)
        self.call = lambda number, data: remote.remote(data)

    def run(self, count, outstanding):
        handles, number = {}, 0
        while number < count or handles:
            while number < count and len(handles) < outstanding:
                data = number.to_bytes(8, "little")
                handles[self.call(number, data)] = data
                number += 1
            done, _ = self.library.wait(list(handles), num_returns=max(1, len(handles) // 2))
            for handle, result in zip(done, self.library.get(done), strict=True):
                check(handles.pop(handle), result)


class RayActors(Ray):
    """Calls of two actors, which Ray does faster."""

    def make_call(self):
        class Actor:
            def complement(self, data):
                return complement(data)

        actors = [self.library.remote(Actor).remote() for _ in range(WORKERS)]
        self.call = lambda number, data: actors[number % WORKERS].complement.remote(data)


class Dask:
    def __init__(self):
        import distributed

        self.library = distributed
        cluster = distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1")
        self.client = distributed.Client(cluster)

    def run(self, count, outstanding):
        waiting = self.library.as_completed(with_results=True)
        handles, number = {}, 0
        while number < count or handles:
            while number < count and len(handles) < outstanding:
                data = number.to_bytes(8, "little")
                handle = self.client.submit(complement, data, pure=False)
                handles[handle.key] = data
                waiting.add(handle)
                number += 1
            for handle, result in waiting.next_batch(block=True):
                check(handles.pop(handle.key), result)


def main():
    peer = {"ray": Ray, "ray_actors": RayActors, "dask": Dask}[sys.argv[1]]()
    peer.run(100, 10)
    print("ready", flush=True)
    for line in sys.stdin:
        count, outstanding = json.loads(line)
        begin = time.perf_counter()
        peer.run(count, outstanding)
        print(count / (time.perf_counter() - begin), flush=True)


if __name__ == "__main__":
    main()
