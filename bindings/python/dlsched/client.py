"""The connection to a master, over which jobs are submitted."""

import json
import os

from . import errors
from ._handle import Context, Handle, create
from ._library import ClientOptions, JobOptions, call, lib
from .job import Job


def encode(text):
    return None if text is None else text.encode()


class Client(Handle):
    """A client of the master at an address such as "tcp://host:port".

    It connects in the background and reconnects by itself. `data_bind` is where workers fetch inputs above 64 KB;
    `insecure` allows it to lie beyond loopback although nothing is encrypted or authenticated. At most `window_items`
    results of `window_bytes` wait for one job; a slow reader slows the job down. Zero means the library's default.
    """

    def __init__(
        self, master, *, tenant=None, data_bind=None, insecure=False, window_items=0, window_bytes=0
    ):
        options = ClientOptions(
            master=encode(master),
            tenant=encode(tenant),
            data_bind=encode(data_bind),
            insecure=insecure,
            window_items=window_items,
            window_bytes=window_bytes,
        )
        self._jobs = set()
        self._context = Context()
        try:
            pointer = create(lib.dls_client_create, self._context.pointer, options)
        except errors.Error:
            self._context.destroy()
            raise
        super().__init__(pointer)

    def wait(self, timeout=None):
        """Waits until the master has answered; EUNREACHABLE, a ConnectionError, when it has not in `timeout` seconds."""
        self._wait(lib.dls_client_wait, timeout, errors.EUNREACHABLE)

    def job(self, *, model=None, handler=None, params=None, key=None, priority=0, task_items=0):
        """A new job for a model folder, or for the handlers that workers registered under a name.

        `params` is a dict for the handler. A job of another client under the same `key` is ended by this one.
        `task_items` is how many items go to a worker at once (0: chosen from the measured time of an item).
        """
        options = JobOptions(
            model=None if model is None else os.fsencode(model),
            handler=encode(handler),
            params=None if params is None else json.dumps(params).encode(),
            key=encode(key),
            priority=priority,
            task_items=task_items,
        )
        with self._use() as pointer:
            job = Job(create(lib.dls_job_create, pointer, options), self._jobs.discard)
            self._jobs.add(job)
        return job

    def _destroy(self, pointer):
        for job in list(self._jobs):
            job.close()
        lib.dls_client_destroy(pointer)
        self._context.destroy()
