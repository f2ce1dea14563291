"""A worker whose handlers are Python functions."""

import ctypes
import json
import logging
import math
import select
import threading
import time
import traceback

from . import _options as options
from . import errors
from ._arrays import as_array, describe, to_array
from ._handle import SLICE_SECONDS, Context, Handle
from ._signals import Signals
from ._library import RUN, TENSORS, HandlerOps, Tensor, WorkerOptions, call, lib


POLL_SECONDS = 0.01
NOTE_SECONDS = 1  # of draining, after which whoever has sent the signal is told

LOG = logging.getLogger("dlsched")


class Interrupted(BaseException):
    """Raised inside a handler that still runs when its worker is closed. Nobody waits for its result any more."""


class Item:
    """One item of a job, as a handler sees it.

    `inputs` are its arrays; an encoded file comes as uint8 of one dimension. `params` is the job's dict. An item may be
    run more than once, here or elsewhere, and only one result counts: guard effects outside by (job, number, attempt).
    """

    def __init__(self, task, index, params):
        self._task = task
        self.number = lib.dls_task_item_number(task, index)
        self.job = lib.dls_task_job(task).decode()
        self.attempt = lib.dls_task_attempt(task)
        self.params = params
        tensors, count = TENSORS(), ctypes.c_uint32()
        call(lib.dls_task_item, task, index, tensors, count)
        self.inputs = [to_array(tensors[i]) for i in range(count.value)]

    def cancelled(self):
        """True if nobody waits for the item any more. Only while the handler runs."""
        return bool(lib.dls_task_cancelled(self._task))


def explain(error):
    """An exception as the sentence of an item's error, then its traceback with the innermost call first: what does not
    fit in the end is the least telling."""
    lines = ["".join(traceback.format_exception_only(type(error), error)).strip()]
    frames = traceback.extract_tb(error.__traceback__)
    lines += [
        f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}: {frame.line}'
        for frame in reversed(frames)
        if frame.filename != __file__
    ]
    return "\n".join(lines).replace("\0", "?").encode("utf-8", "replace")


def as_outputs(value):
    """What a handler returned as a list of arrays: a tuple or list is one output each, anything else the only one."""
    if value is None:
        raise errors.EHANDLER("the handler returned None: return an array, or a tuple of arrays, for each item")
    outputs = value if isinstance(value, (tuple, list)) else [value]
    return [as_array(f"output {number} of the handler", output) for number, output in enumerate(outputs)]


def as_struct(
    master, *, cache_dir, devices, credits, models, threads, labels, resources, name=None, data_bind=None, insecure=False
):
    """The options of a Worker, checked as far as types go."""
    return WorkerOptions(
        master=options.needed("master", getattr(master, "address", master)),
        name=options.text("name", name),
        data_bind=options.text("data_bind", data_bind),
        insecure=options.flag("insecure", insecure),
        cache_dir=options.path("cache_dir", cache_dir),
        devices=options.whole("devices", devices, 0, options.UINT32),
        credits=options.whole("credits", credits, 0, options.UINT32),
        no_models=not options.flag("models", models),
        threads=options.whole("threads", threads, 0, options.UINT32),
        labels=options.names("labels", labels),
        resources=options.amounts("resources", resources),
    )


class Worker(Handle):
    """A worker for the master at an address such as "tcp://host:port".

    Register handlers, then start() it, or serve() until SIGTERM or Ctrl-C. `devices` tasks run at once, each on its own
    thread, and `credits` of them wait at each device. A task has its model computed on `threads` threads. With models=False
    it runs handlers only. Zero means the library's default. `labels` are names that jobs can ask a worker to have,
    `resources` amounts by name for the tasks of all devices together: "cores" and "memory_bytes" are the machine's unless
    they are there.
    """

    def __init__(
        self,
        master,
        *,
        name=None,
        data_bind=None,
        insecure=False,
        cache_dir=None,
        devices=0,
        credits=0,
        models=True,
        threads=0,
        labels=None,
        resources=None,
    ):
        said = as_struct(
            master,
            name=name,
            data_bind=data_bind,
            insecure=insecure,
            cache_dir=cache_dir,
            devices=devices,
            credits=credits,
            models=models,
            threads=threads,
            labels=labels,
            resources=resources,
        )
        self._is_started = False
        self._callbacks = []  # the library calls them as long as the worker lives
        self._running = set()  # threads inside a handler
        self._running_lock = threading.Lock()
        self._context = Context()
        super().__init__(self._context.create(lib.dls_worker_create, said))

    def handle(self, name, function):
        """Registers `function` for jobs that name this handler; before start().

        It is called with an Item and returns an array, or a tuple or list of arrays. An exception becomes the item's
        error, with its traceback; an Error keeps its code. Several calls may run at once, on threads of the library.
        """

        name, function = options.needed("name", name), options.function("function", function)

        @RUN
        def run(_arg, task):
            self._run_task(function, task)
            return 0

        self._callbacks.append(run)
        self._call(lib.dls_worker_handle, name, HandlerOps(run=run))

    def handler(self, name):
        """The same as a decorator: @worker.handler("square")."""
        options.needed("name", name)

        def register(function):
            self.handle(name, function)
            return function

        return register

    def start(self):
        """Asks the master for work."""
        self._call(lib.dls_worker_start)
        self._is_started = True
        return self

    def wait(self, timeout=None):
        """Waits until a master has taken the worker in; errors as Client.wait()."""
        self._wait(lib.dls_worker_wait, timeout, errors.EUNREACHABLE)

    def drain(self, timeout=None):
        """Begins nothing more and waits until what runs is done and its results are where they belong; then close() loses
        nothing. ETIMEOUT when that takes longer than `timeout` seconds; the worker goes on draining."""
        self._wait(lib.dls_worker_drain, timeout, errors.ETIMEOUT)

    def serve(self):
        """Starts the worker, unless start() has, and runs it until SIGTERM or Ctrl-C, or until another thread closes it; raises
        what ends it for good. At the signal it drains: what runs comes to its end, what has not begun goes to other workers.
        A second one closes it at once, as close() does. Signals that the program handles itself, and those of a program
        that calls this elsewhere than in its main thread, are left alone."""
        self._check_open()
        try:
            with Signals() as signals:
                if not self._is_started:
                    self.start()
                self._serve(signals)
        except errors.ESTATE:
            if not self._closing:
                raise
        finally:
            self.close()

    def _serve(self, signals):
        self._stay(signals)
        if signals.caught == 1:
            self._leave(signals)

    def _stay(self, signals):
        with self._use() as pointer:
            news = select.poll()
            news.register(lib.dls_worker_fd(pointer), select.POLLIN)
            while not self._closing and not signals.caught:
                if news.poll(SLICE_SECONDS * 1000):
                    call(lib.dls_worker_process, pointer)

    def _leave(self, signals):
        """Drains, until it is done, closed, or a second signal comes."""
        note = time.monotonic() + NOTE_SECONDS
        while signals.caught == 1 and not self._drains_in(SLICE_SECONDS):
            if time.monotonic() >= note:
                LOG.warning("it is draining: what runs comes to its end; a second signal ends it at once")
                note = math.inf

    def _drains_in(self, seconds):
        try:
            self.drain(seconds)
        except errors.ETIMEOUT:
            return False
        return True

    def _run_task(self, function, task):
        thread = threading.get_ident()
        try:
            with self._running_lock:
                if self._closing:
                    raise Interrupted
                self._running.add(thread)
            try:
                params = json.loads(lib.dls_task_params(task))
                for index in range(lib.dls_task_items(task)):
                    if lib.dls_task_stopped(task):
                        break
                    self._run_item(function, task, index, params)
            finally:
                with self._running_lock:
                    self._running.discard(thread)
        except Interrupted:
            # Items without a result would fail if the task returned before the library has cancelled it.
            while not lib.dls_task_cancelled(task):
                time.sleep(POLL_SECONDS)

    def _run_item(self, function, task, index, params):
        try:
            arrays = as_outputs(function(Item(task, index, params)))
            tensors = (Tensor * len(arrays))(*map(describe, arrays))
            call(lib.dls_task_result, task, index, tensors, len(tensors))
        except Interrupted:
            raise
        except BaseException as error:
            code = error.code if isinstance(error, errors.Error) and error.code else errors.EHANDLER.code
            lib.dls_task_fail(task, index, code, explain(error))

    def _interrupt(self):
        """Raises Interrupted in the handlers that run, as soon as each executes Python."""
        with self._running_lock:
            for thread in self._running:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Interrupted))

    def close(self):
        """Ends the worker: interrupts its handlers and tells the master, who gives their items to another."""
        if threading.get_ident() in self._running:
            raise errors.ESTATE("a handler cannot close the worker that runs it")
        super().close()

    def _destroy(self, pointer):
        self._interrupt()
        # In a thread, because it waits for the handlers, and Ctrl-C must be able to end this wait too.
        ending = threading.Thread(target=lib.dls_worker_destroy, args=(pointer,), daemon=True)
        try:
            ending.start()
        except RuntimeError:  # at Python's end some versions start no more threads
            lib.dls_worker_destroy(pointer)
        else:
            ending.join()
        self._context.destroy()
