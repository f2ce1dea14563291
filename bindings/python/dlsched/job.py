"""A job: the items to run a model or a handler on, and their results."""

import collections
import contextlib
import ctypes
import select
import threading
import time

import numpy

from . import _options as options
from . import errors
from ._arrays import as_array, lend, to_array
from ._handle import SLICE_SECONDS, Handle
from ._library import JobProgress, Result as ResultStruct, Tensor, call, lib

SETTLING_SECONDS = 0.002  # between two looks whether the master has a job

Output = collections.namedtuple("Output", "values indices")
Output.__doc__ = """One output of a model or handler: an array. Where the model folder asks for the highest values only, `values`
are those, highest first, and `indices` says where in the output they stand; else `indices` is None."""

Progress = collections.namedtuple("Progress", "items done failed running workers accepted deferred")
Progress.__doc__ = "How far a job is: counts of items, the workers that can run it, whether the master has it, or has put it off."


class Result:
    """What came of one item.

    `item` is its number in the job, `worker` the name of who did it, `seconds` how long that took. `error` is None, or
    the exception with which the item failed.
    """

    def __init__(self, struct):
        self.item = struct.item
        self.worker = (struct.worker or b"").decode()
        self.seconds = struct.elapsed_ns / 1e9
        self.error = None
        if struct.code:
            self.error = errors.make(struct.code, (struct.error or b"").decode("utf-8", "replace"))
        self._outputs = [self._output(struct.outputs[i]) for i in range(struct.output_count)]

    @staticmethod
    def _output(struct):
        values, indices = to_array(struct.tensor), None
        if struct.indices:
            indices = numpy.array(struct.indices[: values.size], numpy.uint32)
        return Output(values, indices)

    @property
    def outputs(self):
        """The outputs, each an Output; raises the error if the item failed."""
        if self.error is not None:
            raise self.error
        return self._outputs

    @property
    def value(self):
        """The values of the only or first output; raises the error if the item failed."""
        return self.outputs[0].values


class Job(Handle):
    """Made by Client.job(). Add items, submit(), and iterate over the results, which come in the order of the items.

    Every add_ method and submit() return the job, so that calls can be chained. Arrays above 64 KB are not copied: leave
    them unchanged until the job has ended. A job that was iterated to its end is closed by that.
    """

    def __init__(self, pointer, client, forget):
        super().__init__(pointer)
        self.id = lib.dls_job_id(pointer).decode()  # 32 hexadecimal digits, by which any client can name it
        self._client = client
        self._forget = forget
        self._taking = threading.Lock()
        self._last_progress = None
        self._is_submitted = False

    def add_file(self, path):
        """One item from a JPEG, PNG, .npy or .pb file, which a worker decodes; from an idx file as many as it holds."""
        self._call(lib.dls_job_add_file, options.needed_path("path", path))
        return self

    def add_bytes(self, data):
        """One item from the bytes of such a file."""
        try:
            data = memoryview(data).tobytes()
        except TypeError:
            raise options.wrong_type("data", "bytes, or what has some", data) from None
        self._call(lib.dls_job_add_bytes, data, len(data))
        return self

    def add(self, *arrays):
        """One item from an array per input of the model or argument of the handler."""
        arrays = [as_array(f"arrays[{number}]", array) for number, array in enumerate(arrays)]
        with self._use() as pointer:
            tensors = (Tensor * len(arrays))(*map(lend, arrays))
            call(lib.dls_job_add_tensors, pointer, tensors, len(tensors))
        return self

    def add_batch(self, array):
        """As many items as the array's first dimension says, for models and handlers with one input."""
        array = as_array("array", array)
        with self._use() as pointer:
            call(lib.dls_job_add_batch, pointer, lend(array))
        return self

    def submit(self):
        """Hands the job to the master, in the background."""
        self._call(lib.dls_job_submit)
        self._is_submitted = True
        return self

    def _settle(self, timeout):
        """Waits until the master has the job, or will not have it: submit() only sends it on its way."""
        end = time.monotonic() + options.timeout("timeout", timeout)
        while self._is_submitted and self._is_on_its_way() and time.monotonic() < end:
            time.sleep(SETTLING_SECONDS)

    def _is_on_its_way(self):
        progress = self.progress()
        return not (progress.accepted or progress.deferred or self._has_ended())

    def _has_ended(self):
        """Whether wait() would return, or raise, at once."""
        try:
            self.wait(0)
        except errors.ETIMEOUT:
            return False
        except errors.Error:
            pass
        return True

    def next(self, timeout=None):
        """The next Result, or None when all have been taken; ETIMEOUT, a TimeoutError, when none has come in `timeout`
        seconds. An item that failed is a Result too; raised is what ends the whole job."""
        pointer = ctypes.POINTER(ResultStruct)()
        with self._taking:
            if not self._wait(lib.dls_job_next, timeout, errors.ETIMEOUT, pointer):
                return None
        try:
            return Result(pointer.contents)
        finally:
            lib.dls_result_destroy(pointer)

    def __iter__(self):
        while True:
            result = self.next()
            if result is None:
                break
            yield result
        self.close()

    def wait(self, timeout=None):
        """Waits until all results have come, as far as the client's window has room for them."""
        self._wait(lib.dls_job_wait, timeout, errors.ETIMEOUT)

    def cancel(self):
        """Ends the job. What has come can still be taken; then next() raises ECANCELLED."""
        self._call(lib.dls_job_cancel)

    def describe(self, *, timeout=10):
        """What the master says of the job and its tasks: a dict. It remembers the last 4,096 that have ended."""
        return self._client.describe(self, timeout=timeout)

    def explain(self, *, timeout=10):
        """Why it is not running, or not running faster: sentences."""
        return self._client.explain(self, timeout=timeout)

    def watch(self, *, timeout=10):
        """What describe() says, now and whenever that has changed, until it has ended: see Client.watch()."""
        return self._client.watch(self, timeout=timeout)

    def set_priority(self, priority, *, timeout=10):
        """Higher ones go first, for policies that look at it; from -1,000,000 to 1,000,000."""
        self._client.set_priority(self, priority, timeout=timeout)

    def pause(self, *, timeout=10):
        """Nothing more of the job is given out; what runs comes to its end. The master must have it: see Progress."""
        self._client.pause(self, timeout=timeout)

    def resume(self, *, timeout=10):
        """The paused job goes on."""
        self._client.resume(self, timeout=timeout)

    def progress(self):
        """A Progress; of a closed job, the last."""
        if self._last_progress is None:
            with self._use() as pointer:
                return self._progress(pointer)
        return self._last_progress

    @staticmethod
    def _progress(pointer):
        struct = JobProgress()
        lib.dls_job_progress(pointer, struct)
        counts = (struct.items, struct.done, struct.failed, struct.running, struct.workers)
        return Progress(*counts, bool(struct.accepted), bool(struct.deferred))

    def _destroy(self, pointer):
        self._last_progress = self._progress(pointer)
        lib.dls_job_destroy(pointer)
        self._forget(self)


def as_completed(jobs, timeout=None):
    """The Jobs of a list, submitted ones, in the order in which they end: each when its results have come, as far as its
    client's window has room for them, or it has ended otherwise, which going through it raises. ETIMEOUT, a TimeoutError,
    when that takes longer than `timeout` seconds for all of them. They may be of several clients."""
    waiting = options.listed("jobs", jobs)
    for number, job in enumerate(waiting):
        if not isinstance(job, Job):
            raise options.wrong_type(f"jobs[{number}]", "a Job", job)
        if not job._is_submitted:
            raise errors.ESTATE(f"jobs[{number}] has not been submitted")
    return _as_completed(waiting, time.monotonic() + options.timeout("timeout", timeout))


def _as_completed(waiting, end):
    while True:
        ended = [job for job in waiting if job._has_ended()]
        yield from ended
        waiting = [job for job in waiting if job not in ended]
        if not waiting:
            break
        if time.monotonic() >= end:
            raise errors.ETIMEOUT(f"{len(waiting)} jobs have not ended yet")
        _await_news({job._client for job in waiting}, min(SLICE_SECONDS, end - time.monotonic()))


def _await_news(clients, seconds):
    """Waits until a job of one of the clients has news; no longer, for another thread may have been told of them."""
    with contextlib.ExitStack() as uses:
        pointers = [uses.enter_context(client._use()) for client in clients]
        news = select.poll()
        for pointer in pointers:
            news.register(lib.dls_client_fd(pointer), select.POLLIN)
        if news.poll(max(0, seconds) * 1000):
            for pointer in pointers:
                call(lib.dls_client_process, pointer)
