"""A whole cluster on this machine: a master and workers, for as long as a `with` statement lasts."""

import atexit
import multiprocessing.util  # at Python's end it waits for processes; what is registered after it is done before  # noqa: F401
import os
import threading
import time

from . import _local, errors
from . import _options as options
from ._library import lib
from .client import Client
from .master import Master
from .worker import as_struct

MOST_WORKERS = 256

_open = set()  # to close before Python waits for their processes


class LocalCluster:
    """A master and `workers` workers on this machine, connected over loopback, and a client of them.

        def square(item):
            return item.inputs[0] ** 2

        if __name__ == "__main__":
            with dlsched.LocalCluster(4, handlers={"square": square}) as cluster:
                job = cluster.client.job(handler="square").add_batch(numpy.arange(100.0)).submit()
                print(sum(result.value for result in job))

    `handlers` are functions by the names that jobs use, as for Worker.handle(). Each worker is a process of its own, so that
    handlers run at the same time; as for every program that starts processes with multiprocessing's "spawn", they are
    defined at the top of a file, and what starts the cluster is guarded by `if __name__ == "__main__"`. With processes=False
    workers are threads of this program, whose handlers can be any functions and take turns. That is the default without
    handlers, for models need no Python to run.

    Without `workers` there is a process for each processor, or one worker in this program. The other options are those of
    Worker and of Master, for all of them; `threads` is by default each worker's share of the processors. Every worker says
    that it has all of the machine's cores and memory, unless `resources` says otherwise. The cluster is there when all
    workers are, which may take `timeout` seconds.

    `client` is a client of it, closed with it; `address` is for others, in this or another program: dlsched.Client(cluster),
    or dls-submit --master. close() ends it at once, as the end of the `with` statement does and the end of the program, in
    whatever way; handlers that run are interrupted. No process outlives it for more than some seconds.
    """

    def __init__(
        self,
        workers=None,
        *,
        handlers=None,
        processes=None,
        policy=None,
        policy_params=None,
        devices=0,
        credits=0,
        models=True,
        threads=0,
        labels=None,
        resources=None,
        cache_dir=None,
        timeout=60,
    ):
        handlers = self._checked(handlers)
        is_apart = bool(handlers) if processes is None else options.flag("processes", processes)
        count = self._count(workers, is_apart)
        self._kind = _local.Apart if is_apart else _local.Inside
        self._handlers = {name: _local.pickled(name, each) for name, each in handlers.items()} if is_apart else handlers
        self._options = dict(
            devices=devices, credits=credits, models=models, labels=labels, resources=resources, cache_dir=cache_dir
        )
        self._options["threads"] = self._share(count, devices, threads)
        self._workers = []
        self._begun = 0  # workers so far, which number the next one
        self._scaling = threading.Lock()
        self._process = os.getpid()
        self._is_closed = False
        as_struct("", **self._options)  # what is wrong with them is said here, not in every process
        options.timeout("timeout", timeout)
        self._master = Master(policy=policy, policy_params=policy_params)
        self.address = self._master.address
        self.client = None
        _open.add(self)
        try:
            self.client = Client(self.address)
            self.scale(count, timeout=timeout)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _checked(handlers):
        if handlers is None:
            return {}
        if not isinstance(handlers, dict):
            raise options.wrong_type("handlers", "a dict of functions by name", handlers)
        for name, function in handlers.items():
            options.needed("a key of handlers", name)
            options.function(f"handlers[{name!r}]", function)
        return dict(handlers)

    @staticmethod
    def _count(workers, is_apart):
        if workers is None:
            return lib.dls_processors() if is_apart else 1
        return options.whole("workers", workers, 0, MOST_WORKERS)

    @staticmethod
    def _share(workers, devices, threads):
        """The threads of a device: what the environment says of it is left to the library."""
        devices = options.whole("devices", devices, 0, options.UINT32)
        if options.whole("threads", threads, 0, options.UINT32) or "OMP_NUM_THREADS" in os.environ:
            return threads
        return max(1, lib.dls_processors() // max(1, workers * max(1, devices)))

    @property
    def workers(self):
        """The names of the workers that live."""
        return [worker.name for worker in self._workers if worker.is_alive()]

    def scale(self, workers, *, timeout=None):
        """Makes it have so many workers, 0 to 256, and returns when it has. New ones take the place of those that have died.
        Those that leave, the youngest first, drain: what they run comes to its end, the rest goes to others. ETIMEOUT when
        that takes longer than `timeout` seconds; then new ones are given up, and those that leave go on leaving."""
        workers = options.whole("workers", workers, 0, MOST_WORKERS)
        end = time.monotonic() + options.timeout("timeout", timeout)
        with self._scaling:
            if self._is_closed:
                raise errors.ESTATE("this LocalCluster is closed")
            self._forget_dead()
            self._leave(workers, end)
            self._grow(workers, end)

    def _forget_dead(self):
        for worker in [worker for worker in self._workers if not worker.is_alive()]:
            worker.end()
            self._workers.remove(worker)

    def _leave(self, workers, end):
        leaving = self._workers[workers:]
        for worker in leaving:
            worker.begin_leaving()
        for worker in leaving:
            worker.await_left(_left(end))
            self._workers.remove(worker)

    def _grow(self, workers, end):
        before = len(self._workers)
        try:
            while len(self._workers) < workers:
                self._begin()
            for worker in self._workers[before:]:
                worker.await_ready(_left(end))
        except BaseException:
            _end(self._workers[before:])
            del self._workers[before:]
            raise

    def _begin(self):
        name = f"local-{self._begun}"
        self._begun += 1
        self._workers.append(self._kind(self.address, name, self._options, self._handlers))

    def close(self):
        """Ends it. Does nothing the second time, nor in a child that was forked."""
        if self._is_closed or self._process != os.getpid():
            return
        self._is_closed = True
        try:
            if self.client:
                self.client.close()
        finally:
            _end(list(self._workers))
            self._master.close()
            _open.discard(self)

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.close()

    def __repr__(self):
        return f"<LocalCluster at {self.address} with {len(self.workers)} workers>"


def _left(end):
    """Seconds until a time, None for ever."""
    left = end - time.monotonic()
    return None if left == float("inf") else max(0, left)


def _end(workers):
    """All at the same time."""
    for worker in workers:
        worker.begin_end()
    for worker in workers:
        worker.end()


@atexit.register
def _close_all():
    for cluster in list(_open):
        cluster.close()
