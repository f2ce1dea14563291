"""The connection to a master, over which jobs are submitted."""

import ctypes
import json
import math
import os

from . import errors
from ._handle import Context, Handle, create
from ._library import ClientOptions, JobOptions, JobsOptions, TenantOptions, call, lib
from ._options import encode, encode_names, encode_resources
from .job import Job


def milliseconds(timeout):
    return -1 if timeout is None else math.ceil(timeout * 1000)


def whole_milliseconds(seconds):
    """As a job's options have them: None is 0, and what is not 0 does not become it."""
    if not seconds:
        return 0
    return math.ceil(seconds * 1000) if seconds > 0 else math.floor(seconds * 1000)


def name_of(job):
    """The id of a Job, or what a user wrote to name one."""
    return encode(job.id if isinstance(job, Job) else job)


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

    def job(
        self,
        *,
        model=None,
        handler=None,
        params=None,
        key=None,
        priority=0,
        task_items=0,
        name=None,
        tags=None,
        resources=None,
        labels=None,
        deadline=None,
        time_limit=None,
        item_time_limit=None,
        after=None,
        after_when=None,
    ):
        """A new job for a model folder, or for the handlers that workers registered under a name.

        `params` is a dict for the handler. A job of another client under the same `key` is ended by this one.
        `task_items` is how many items go to a worker at once (0: chosen from the measured time of an item).
        jobs() finds it by its `name` and by each of its `tags`. `resources` are amounts by name that each of its tasks
        takes of a worker while it runs, {"cores": 2}; `labels` are those that a worker must have.

        `deadline` is in how many seconds from submit() it must be done, `time_limit` how many it may take once it may
        run, or it fails with ELIMIT; `item_time_limit` how many a task may take for each of its items, or those fail
        that have no result by then. It waits `after` other jobs, Jobs or ids, until all have "ended", have "succeeded",
        or "any" has ended (`after_when`).
        """
        options = JobOptions(
            model=None if model is None else os.fsencode(model),
            handler=encode(handler),
            params=None if params is None else json.dumps(params).encode(),
            key=encode(key),
            priority=priority,
            task_items=task_items,
            name=encode(name),
            tags=encode_names(tags),
            resources=encode_resources(resources),
            labels=encode_names(labels),
            deadline_ms=whole_milliseconds(deadline),
            time_limit_ms=whole_milliseconds(time_limit),
            item_time_limit_ms=whole_milliseconds(item_time_limit),
            after=encode_names([name_of(job).decode() for job in after or ()]),
            after_when=encode(after_when),
        )
        with self._use() as pointer:
            job = Job(create(lib.dls_job_create, pointer, options), self, self._jobs.discard)
            self._jobs.add(job)
        return job

    def jobs(self, *, state="live", tenant=None, name=None, tag=None, timeout=10):
        """The jobs of all clients of the master, the oldest first, each a dict. `state` is "live", "ended", "all" or one
        state, such as "paused"; `tenant`, `name` and `tag` leave out those of others, of other names, and without the
        tag. They are asked for as the iterator goes on."""
        after = ""
        while after is not None:
            options = JobsOptions(
                state=encode(state),
                tenant=encode(tenant),
                name=encode(name),
                tag=encode(tag),
                after=encode(after) or None,
            )
            page = self._ask(lib.dls_client_jobs, options, milliseconds(timeout))
            yield from page["jobs"]
            after = page.get("next")

    def describe(self, job, *, timeout=10):
        """A dict about one job and its tasks. Here and below a job is a Job, an id, or how an id begins (8 digits)."""
        return self._ask(lib.dls_client_describe, name_of(job), milliseconds(timeout))

    def explain(self, job, *, timeout=10):
        """Why the job is not running, or not running faster: sentences."""
        answer = self._ask(lib.dls_client_explain, name_of(job), milliseconds(timeout))
        return [reason["text"] for reason in answer["reasons"]]

    def cancel(self, job, *, timeout=10):
        """Ends the job, whoever has submitted it; that one gets ECANCELLED. ENOTFOUND where there is none, ESTATE where it
        has ended already."""
        self._call(lib.dls_client_cancel, name_of(job), milliseconds(timeout))

    def pause(self, job, *, timeout=10):
        """Nothing more of the job is given out; what runs comes to its end."""
        self._call(lib.dls_client_pause, name_of(job), milliseconds(timeout))

    def resume(self, job, *, timeout=10):
        """The paused job goes on."""
        self._call(lib.dls_client_resume, name_of(job), milliseconds(timeout))

    def set_priority(self, job, priority, *, timeout=10):
        """Higher ones go first, for policies that look at it."""
        self._call(lib.dls_client_set_priority, name_of(job), priority, milliseconds(timeout))

    def drain(self, worker, *, timeout=10):
        """The worker of this name gets no more tasks; what it runs comes to its end. ENOTFOUND where there is none."""
        self._call(lib.dls_client_drain, encode(worker), milliseconds(timeout))

    def undrain(self, worker, *, timeout=10):
        """The worker takes tasks again."""
        self._call(lib.dls_client_undrain, encode(worker), milliseconds(timeout))

    def set_policy(self, policy, params=None, *, timeout=10):
        """Another policy decides from now on; `params` is a dict, docs/CLI.md lists both. Jobs go on as they are."""
        text = None if params is None else encode(json.dumps(params))
        self._call(lib.dls_client_set_policy, encode(policy), text, milliseconds(timeout))

    def set_tenant(self, tenant, *, weight=1, quota=None, timeout=10):
        """What the tenant weighs in policies that share, and amounts by name of what its tasks may take together."""
        weight = weight or -1  # zero would be the default in C; the master refuses this
        options = TenantOptions(weight=weight, quota=encode_resources(quota))
        self._call(lib.dls_client_set_tenant, encode(tenant), options, milliseconds(timeout))

    def _ask(self, function, argument, timeout_ms):
        answer = ctypes.c_void_p()
        self._call(function, argument, timeout_ms, answer)
        try:
            return json.loads(ctypes.string_at(answer))
        finally:
            lib.dls_free(self._context.pointer, answer)

    def _destroy(self, pointer):
        for job in list(self._jobs):
            job.close()
        lib.dls_client_destroy(pointer)
        self._context.destroy()
