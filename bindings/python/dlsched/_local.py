"""The workers of a LocalCluster: in this process, or each in a process of its own, which this file is the program of.

A process lives for its cluster alone. It holds the one end of a pipe whose other end only the cluster has, and says through
it that it is ready; when the other end goes, because the cluster is closed or its process is dead, however it died, it ends
within GRACE_SECONDS whatever its handlers do. SIGTERM makes it drain and end.
"""

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
from multiprocessing import resource_tracker

from . import errors
from ._signals import Signals
from .worker import Worker

GRACE_SECONDS = 2  # that handlers have to end in
LOOK_SECONDS = 1  # between two looks whether the parent lives, where somebody else has come to hold its end of the pipe
WAY_OUT = "define it at the top of a file, or say processes=False"

processes = multiprocessing.get_context("spawn")  # a fork of a process that has threads could stand still for ever


def make(address, name, options, handlers):
    worker = Worker(address, name=name, **options)
    try:
        for handler, function in handlers.items():
            worker.handle(handler, function)
        return worker.start()
    except BaseException:
        worker.close()
        raise


class Inside:
    """A worker in this process; its handlers run on threads of it."""

    def __init__(self, address, name, options, handlers):
        self.name = name
        self._worker = make(address, name, options, handlers)

    def await_ready(self, timeout):
        self._worker.wait(timeout)

    def is_alive(self):
        return True

    def begin_leaving(self):
        try:
            self._worker.drain(0)
        except errors.ETIMEOUT:
            pass

    def await_left(self, timeout):
        self._worker.drain(timeout)
        self._worker.close()

    def begin_end(self):
        pass  # end() does it

    def end(self):
        self._worker.close()


class Apart:
    """A worker in a process of its own. `handlers` are pickled functions."""

    def __init__(self, address, name, options, handlers):
        self.name = name
        self._is_leaving = False
        self._pipe, theirs = processes.Pipe()
        self._process = processes.Process(
            target=run, name=f"dlsched {name}", args=(theirs, os.getpid(), address, name, options, handlers)
        )
        resource_tracker.ensure_running()  # else start() does, which unblocks signals
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the process has it so until it can ignore it
        try:
            self._process.start()
        except BaseException:
            self._pipe.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()

    def await_ready(self, timeout):
        try:
            if not self._pipe.poll(timeout):
                raise errors.ETIMEOUT(f"the process of the worker {self.name} is not ready yet")
            said = self._pipe.recv()
        except (EOFError, OSError):
            if self._pipe.closed:
                raise errors.ESTATE("this LocalCluster is closed") from None
            self._process.join()
            raise errors.ELOST(
                f"the process of the worker {self.name} ended with {self._process.exitcode} before it was ready; "
                "its standard error says why"
            ) from None
        if said:
            raise errors.make(*said)

    def is_alive(self):
        return self._process is not None and self._process.is_alive()

    def begin_leaving(self):
        if not self._is_leaving:  # a second signal would end it at once
            self._is_leaving = True
            self._process.terminate()

    def await_left(self, timeout):
        self._process.join(timeout)
        if self._process.is_alive():
            raise errors.ETIMEOUT(f"the worker {self.name} still has tasks")
        self.end()

    def begin_end(self):
        self._pipe.close()

    def end(self):
        self._pipe.close()
        process, self._process = self._process, None
        if process is not None:
            process.join(GRACE_SECONDS + 1)
            process.kill()  # nothing where it has ended
            process.join()
            process.close()


def pickled(name, function):
    """For another process, which finds the function by its name and its module's."""
    try:
        return pickle.dumps(function)
    except Exception as error:
        raise errors.EINVAL(f"handlers[{name!r}] cannot be sent to another process ({error}); {WAY_OUT}") from error


def unpickled(name, function):
    try:
        return pickle.loads(function)
    except Exception as error:
        raise errors.EHANDLER(f"handlers[{name!r}] is not found in another process ({error}); {WAY_OUT}") from error


def end_with(parent, pipe, signals):
    """Ends this process when nobody has the other end of the pipe any more, from which nothing is ever sent."""
    while os.getppid() == parent and not pipe.poll(LOOK_SECONDS):
        pass
    signals.caught = 2
    time.sleep(GRACE_SECONDS)
    os._exit(1)


def run(pipe, parent, address, name, options, handlers):
    """What such a process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program that has the cluster
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    with Signals() as signals:
        threading.Thread(target=end_with, args=(parent, pipe, signals), daemon=True).start()
        try:
            functions = {handler: unpickled(handler, function) for handler, function in handlers.items()}
            worker = make(address, name, options, functions)
        except errors.Error as error:
            tell(pipe, (error.code, str(error)))
            return
        try:
            worker.wait()
            tell(pipe, None)
            worker._serve(signals)
        finally:
            worker.close()


def tell(pipe, what):
    with contextlib.suppress(OSError):  # nobody is there any more, which end_with() has seen
        pipe.send(what)
