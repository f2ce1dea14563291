"""The connection to a master, over which jobs are submitted."""

import ctypes
import json
import time

from . import _options as options
from . import errors
from ._handle import Context, Handle, create
from ._library import ClientOptions, JobOptions, JobsOptions, TenantOptions, lib
from .job import Job

LOOK_SECONDS = 0.2  # how often watch() asks, as dls-submit watch does
TOLD = ("state", "items", "done", "failed", "running", "priority")  # of a job: what is a change of it


def name_of(name, job):
    """The id of a Job, or what a user wrote to name one."""
    if not isinstance(job, (Job, str)):
        raise options.wrong_type(name, "a Job, or the id of one", job)
    return options.text(name, job.id if isinstance(job, Job) else job)


def names_of(name, jobs):
    """A list of ids; a Job alone is none, for going through one takes its results."""
    each = enumerate(options.listed(name, jobs))
    return options.names(name, [name_of(f"{name}[{number}]", job).decode() for number, job in each])


class Client(Handle):
    """A client of the master at an address such as "tcp://host:port", or of a Master or LocalCluster of this process.

    It connects in the background and reconnects by itself. `data_bind` is where workers fetch inputs above 64 KB, "none"
    if they cannot connect here; `insecure` allows it to lie beyond loopback although nothing is encrypted or
    authenticated. At most `window_items` results of `window_bytes` wait for one job; a slow reader slows the job down.
    Zero means the library's default.
    """

    def __init__(
        self, master, *, tenant=None, data_bind=None, insecure=False, window_items=0, window_bytes=0
    ):
        said = ClientOptions(
            master=options.needed("master", getattr(master, "address", master)),
            tenant=options.text("tenant", tenant),
            data_bind=options.text("data_bind", data_bind),
            insecure=options.flag("insecure", insecure),
            window_items=options.whole("window_items", window_items, 0, options.UINT64),
            window_bytes=options.whole("window_bytes", window_bytes, 0, options.UINT64),
        )
        self._jobs = set()
        self._context = Context()
        super().__init__(self._context.create(lib.dls_client_create, said))

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
        retries=None,
        speculate=True,
        preferred_labels=None,
    ):
        """A new job for a model folder, or for the handlers that workers registered under a name.

        `params` is a dict for the handler. Of another client the same under this `key` is ended by this one, another EEXISTS.
        `task_items` is how many items go to a worker at once (0: chosen from the measured time of an item).
        jobs() finds it by its `name` and by each of its `tags`. `resources` are amounts by name that each of its tasks
        takes of a worker while it runs, {"cores": 2}; `labels` are those that a worker must have,
        `preferred_labels` those by which it is chosen among workers that are equally free.

        `deadline` is in how many seconds from submit() it must be done, `time_limit` how many it may take once it may
        run, or it fails with EEXPIRED; `item_time_limit` how many a task may take for each of its items, or those fail
        that have no result by then. It waits `after` other jobs, Jobs or ids, until all have "ended", have "succeeded",
        or "any" has ended (`after_when`). With `speculate` a task that takes much longer than others may be run a second time
        on another worker, and the first result counts: False where that would spoil what the handler does outside.

        An item that fails is tried again as `retries` says by the way in which it failed, "error", "time_limit" or "input":
        {"error": 3} three times, {"error": (3, 0.5, 60)} after half a second, one and two, but never more than a minute.
        """
        said = JobOptions(
            model=options.path("model", model),
            handler=options.text("handler", handler),
            params=options.json_object("params", params),
            key=options.text("key", key),
            priority=options.whole("priority", priority, -options.PRIORITY, options.PRIORITY),
            task_items=options.whole("task_items", task_items, 0, options.UINT32),
            name=options.text("name", name),
            tags=options.names("tags", tags),
            resources=options.amounts("resources", resources),
            labels=options.names("labels", labels),
            deadline_ms=options.duration("deadline", deadline),
            time_limit_ms=options.duration("time_limit", time_limit),
            item_time_limit_ms=options.duration("item_time_limit", item_time_limit),
            after=names_of("after", after),
            after_when=options.text("after_when", after_when),
            retries=options.retries("retries", retries),
            no_speculation=not options.flag("speculate", speculate),
            preferred_labels=options.names("preferred_labels", preferred_labels),
        )
        with self._use() as pointer:
            job = Job(create(lib.dls_job_create, pointer, said), self, self._jobs.discard)
            self._jobs.add(job)
        return job

    def status(self, *, timeout=10):
        """The master, its workers with their devices, and counts: a dict, as docs/CLI.md describes it."""
        return self._ask(lib.dls_client_command, b'{"command":"status"}', options.milliseconds("timeout", timeout))

    def jobs(self, *, state="live", tenant=None, name=None, tag=None, timeout=10):
        """The jobs of all clients of the master, the oldest first, each a dict. `state` is "live", "ended", "all" or one
        state, such as "paused"; `tenant`, `name` and `tag` leave out those of others, of other names, and without the
        tag. They are asked for as the iterator goes on."""
        wanted = dict(
            state=options.text("state", state),
            tenant=options.text("tenant", tenant),
            name=options.text("name", name),
            tag=options.text("tag", tag),
        )
        return self._pages(wanted, options.milliseconds("timeout", timeout))

    def _pages(self, wanted, timeout_ms):
        after = ""
        while after is not None:
            page = self._ask(lib.dls_client_jobs, JobsOptions(after=after.encode() or None, **wanted), timeout_ms)
            yield from page["jobs"]
            after = page.get("next")

    def describe(self, job, *, timeout=10):
        """A dict about one job and its tasks. Here and below a job is a Job, an id, or how an id begins (8 digits)."""
        return self._ask_of(lib.dls_client_describe, job, timeout)

    def watch(self, job, *, timeout=10):
        """What describe() says of the job, now and whenever that has changed, until the job has ended, which is the last.
        It looks five times a second: what came and went in between it does not see. `timeout` is for each look."""
        name_of("job", job)
        options.timeout("timeout", timeout)
        return self._looks(job, timeout)

    def _looks(self, job, timeout):
        seen = None
        while True:
            found = self.describe(job, timeout=timeout)
            told = [found.get(what) for what in TOLD]
            if told != seen:
                yield found
            if "ended_ms" in found:
                break
            seen = told
            time.sleep(LOOK_SECONDS)

    def explain(self, job, *, timeout=10):
        """Why the job is not running, or not running faster: sentences."""
        return [reason["text"] for reason in self._ask_of(lib.dls_client_explain, job, timeout)["reasons"]]

    def cancel(self, job, *, timeout=10):
        """Ends the job, whoever has submitted it; that one gets ECANCELLED. ENOTFOUND where there is none, ESTATE where it
        has ended already."""
        self._tell_of(lib.dls_client_cancel, job, timeout)

    def pause(self, job, *, timeout=10):
        """Nothing more of the job is given out; what runs comes to its end."""
        self._tell_of(lib.dls_client_pause, job, timeout)

    def resume(self, job, *, timeout=10):
        """The paused job goes on."""
        self._tell_of(lib.dls_client_resume, job, timeout)

    def set_priority(self, job, priority, *, timeout=10):
        """Higher ones go first, for policies that look at it; from -1,000,000 to 1,000,000."""
        priority = options.whole("priority", priority, -options.PRIORITY, options.PRIORITY)
        self._tell_of(lib.dls_client_set_priority, job, timeout, priority)

    def drain(self, worker, *, timeout=10):
        """The worker of this name gets no more tasks; what it runs comes to its end. ENOTFOUND where there is none."""
        self._call(lib.dls_client_drain, options.needed("worker", worker), options.milliseconds("timeout", timeout))

    def undrain(self, worker, *, timeout=10):
        """The worker takes tasks again."""
        self._call(lib.dls_client_undrain, options.needed("worker", worker), options.milliseconds("timeout", timeout))

    def set_policy(self, policy, params=None, *, timeout=10):
        """Another policy decides from now on; `params` is a dict, docs/policies.md lists both. Jobs go on as they are."""
        said = options.needed("policy", policy), options.json_object("params", params)
        self._call(lib.dls_client_set_policy, *said, options.milliseconds("timeout", timeout))

    def set_tenant(self, tenant, *, weight=1, quota=None, timeout=10):
        """What the tenant weighs in policies that share, and amounts by name of what its tasks may take together."""
        weight = options.number("weight", weight) or -1  # zero would be the default in C; the master refuses this
        said = TenantOptions(weight=weight, quota=options.amounts("quota", quota))
        self._call(
            lib.dls_client_set_tenant, options.needed("tenant", tenant), said, options.milliseconds("timeout", timeout)
        )

    def tenants(self, tenant=None, *, timeout=10):
        """What tenants weigh, may take and have used, each a dict, as docs/CLI.md describes it: all of them, or one, of which
        ENOTFOUND says that there is none. They are asked for as the iterator goes on."""
        return self._tenants(options.text("tenant", tenant), options.milliseconds("timeout", timeout))

    def _tenants(self, tenant, timeout_ms):
        after = ""
        while after is not None:
            page = self._ask(lib.dls_client_tenants, tenant, after.encode() or None, timeout_ms)
            yield from page["tenants"]
            after = page.get("next")

    def _tell_of(self, function, job, timeout, *more):
        name, timeout_ms = name_of("job", job), options.milliseconds("timeout", timeout)
        if isinstance(job, Job):
            job._settle(timeout)
        self._call(function, name, *more, timeout_ms)

    def _ask_of(self, function, job, timeout):
        name, timeout_ms = name_of("job", job), options.milliseconds("timeout", timeout)
        if isinstance(job, Job):
            job._settle(timeout)
        return self._ask(function, name, timeout_ms)

    def _ask(self, function, *arguments):
        answer = ctypes.c_void_p()
        self._call(function, *arguments, answer)
        try:
            return json.loads(ctypes.string_at(answer))
        finally:
            lib.dls_free(self._context.pointer, answer)

    def _destroy(self, pointer):
        for job in list(self._jobs):
            job.close()
        lib.dls_client_destroy(pointer)
        self._context.destroy()
