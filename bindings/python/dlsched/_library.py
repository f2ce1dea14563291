"""The shared library: found and loaded once, its functions and structs declared as the C headers have them.

ctypes releases Python's lock while one of its functions runs.
"""

import contextlib
import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

from ._tables import ERROR_TEXT_BYTES, SONAME, TENSOR_RANK
from .errors import ErrorStruct, check

SONAME = "libdlsched.so.0.1"

RELEASE = CFUNCTYPE(None, c_void_p, c_void_p)
RUN = CFUNCTYPE(c_int, c_void_p, c_void_p)


class Sized(ctypes.Structure):
    """A struct that starts with its size. Members that are not given are zero: the documented default."""

    def __init__(self, **members):
        super().__init__(size=ctypes.sizeof(self), **members)


class Tensor(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("dtype", c_int),
        ("rank", c_uint32),
        ("dims", c_int64 * TENSOR_RANK),
        ("data", c_void_p),
        ("bytes", c_size_t),
        ("release", RELEASE),
        ("release_arg", c_void_p),
    ]


class ContextOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("log", c_void_p),
        ("log_arg", c_void_p),
        ("log_level", c_int),
        ("resize", c_void_p),
        ("resize_arg", c_void_p),
        ("threads", c_uint32),
        ("cache_dir", c_char_p),
    ]


class Resource(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("amount", c_double)]


class ClientOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("master", c_char_p),
        ("tenant", c_char_p),
        ("data_bind", c_char_p),
        ("insecure", c_int),
        ("window_items", c_uint64),
        ("window_bytes", c_uint64),
    ]


class Retry(ctypes.Structure):
    _fields_ = [("failure", c_char_p), ("times", c_uint32), ("wait_ms", c_uint64), ("wait_most_ms", c_uint64)]


class JobOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("model", c_char_p),
        ("handler", c_char_p),
        ("params", c_char_p),
        ("key", c_char_p),
        ("priority", c_int32),
        ("task_items", c_uint32),
        ("notify", c_void_p),
        ("notify_arg", c_void_p),
        ("name", c_char_p),
        ("tags", POINTER(c_char_p)),
        ("resources", POINTER(Resource)),
        ("labels", POINTER(c_char_p)),
        ("deadline_ms", c_int64),
        ("time_limit_ms", c_uint64),
        ("item_time_limit_ms", c_uint64),
        ("after", POINTER(c_char_p)),
        ("after_when", c_char_p),
        ("retries", POINTER(Retry)),
        ("no_speculation", c_int),
        ("detached", c_int),
        ("preferred_labels", POINTER(c_char_p)),
    ]


class JobProgress(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("items", c_uint64),
        ("done", c_uint64),
        ("failed", c_uint64),
        ("running", c_uint64),
        ("workers", c_uint32),
        ("accepted", c_int),
        ("deferred", c_int),
        ("deferred_text", c_char * ERROR_TEXT_BYTES),
    ]


class JobsOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("state", c_char_p),
        ("tenant", c_char_p),
        ("after", c_char_p),
        ("limit", c_uint32),
        ("name", c_char_p),
        ("tag", c_char_p),
    ]


class TenantOptions(Sized):
    _fields_ = [("size", c_size_t), ("weight", c_double), ("quota", POINTER(Resource))]


class Output(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("indices", POINTER(c_uint32))]


class Result(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("item", c_uint64),
        ("code", c_int),
        ("error", c_char_p),
        ("output_count", c_uint32),
        ("outputs", POINTER(Output)),
        ("worker", c_char_p),
        ("elapsed_ns", c_uint64),
    ]


class WorkerOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("master", c_char_p),
        ("name", c_char_p),
        ("data_bind", c_char_p),
        ("insecure", c_int),
        ("cache_dir", c_char_p),
        ("devices", c_uint32),
        ("credits", c_uint32),
        ("no_models", c_int),
        ("threads", c_uint32),
        ("labels", POINTER(c_char_p)),
        ("resources", POINTER(Resource)),
    ]


class MasterOptions(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("bind", c_char_p),
        ("insecure", c_int),
        ("policy", c_char_p),
        ("heartbeat_ms", c_uint32),
        ("worker_timeout_ms", c_uint32),
        ("client_timeout_ms", c_uint32),
        ("policy_params", c_char_p),
        ("plugins", c_char_p),
        ("job_memory_bytes", c_uint64),
        ("speculation", c_char_p),
        ("data", c_char_p),
    ]


class HandlerOps(Sized):
    _fields_ = [("size", c_size_t), ("run", RUN), ("run_arg", c_void_p)]


HANDLE_OUT = POINTER(c_void_p)
ERROR = POINTER(ErrorStruct)
TENSORS = POINTER(Tensor)
TEXT_OUT = POINTER(c_void_p)  # freed with dls_free

# what it returns, and its arguments; those that end with ERROR are called by `call`
FUNCTIONS = {
    "dls_ctx_create": (c_int, [POINTER(ContextOptions), HANDLE_OUT, ERROR]),
    "dls_ctx_destroy": (None, [c_void_p]),
    "dls_client_create": (c_int, [c_void_p, POINTER(ClientOptions), HANDLE_OUT, ERROR]),
    "dls_client_destroy": (None, [c_void_p]),
    "dls_client_wait": (c_int, [c_void_p, c_int, ERROR]),
    "dls_client_fd": (c_int, [c_void_p]),
    "dls_client_process": (c_int, [c_void_p, ERROR]),
    "dls_client_command": (c_int, [c_void_p, c_char_p, c_int, TEXT_OUT, ERROR]),
    "dls_client_cancel": (c_int, [c_void_p, c_char_p, c_int, ERROR]),
    "dls_client_pause": (c_int, [c_void_p, c_char_p, c_int, ERROR]),
    "dls_client_resume": (c_int, [c_void_p, c_char_p, c_int, ERROR]),
    "dls_client_set_priority": (c_int, [c_void_p, c_char_p, c_int32, c_int, ERROR]),
    "dls_client_describe": (c_int, [c_void_p, c_char_p, c_int, TEXT_OUT, ERROR]),
    "dls_client_drain": (c_int, [c_void_p, c_char_p, c_int, ERROR]),
    "dls_client_undrain": (c_int, [c_void_p, c_char_p, c_int, ERROR]),
    "dls_client_set_policy": (c_int, [c_void_p, c_char_p, c_char_p, c_int, ERROR]),
    "dls_client_set_tenant": (c_int, [c_void_p, c_char_p, POINTER(TenantOptions), c_int, ERROR]),
    "dls_client_tenants": (c_int, [c_void_p, c_char_p, c_char_p, c_int, TEXT_OUT, ERROR]),
    "dls_client_explain": (c_int, [c_void_p, c_char_p, c_int, TEXT_OUT, ERROR]),
    "dls_client_jobs": (c_int, [c_void_p, POINTER(JobsOptions), c_int, TEXT_OUT, ERROR]),
    "dls_job_id": (c_char_p, [c_void_p]),
    "dls_job_create": (c_int, [c_void_p, POINTER(JobOptions), HANDLE_OUT, ERROR]),
    "dls_job_destroy": (None, [c_void_p]),
    "dls_job_add_file": (c_int, [c_void_p, c_char_p, ERROR]),
    "dls_job_add_bytes": (c_int, [c_void_p, c_char_p, c_size_t, ERROR]),
    "dls_job_add_tensors": (c_int, [c_void_p, TENSORS, c_uint32, ERROR]),
    "dls_job_add_batch": (c_int, [c_void_p, TENSORS, ERROR]),
    "dls_job_submit": (c_int, [c_void_p, ERROR]),
    "dls_job_next": (c_int, [c_void_p, c_int, POINTER(POINTER(Result)), ERROR]),
    "dls_result_destroy": (None, [POINTER(Result)]),
    "dls_job_wait": (c_int, [c_void_p, c_int, ERROR]),
    "dls_job_cancel": (c_int, [c_void_p, ERROR]),
    "dls_job_progress": (c_int, [c_void_p, POINTER(JobProgress)]),
    "dls_free": (None, [c_void_p, c_void_p]),
    "dls_model_open": (c_int, [c_void_p, c_char_p, HANDLE_OUT, ERROR]),
    "dls_model_destroy": (None, [c_void_p]),
    "dls_model_label": (c_char_p, [c_void_p, c_uint32]),
    "dls_model_describe": (c_int, [c_void_p, POINTER(c_char_p), ERROR]),
    "dls_model_run": (c_int, [c_void_p, TENSORS, c_uint32, POINTER(TENSORS), POINTER(c_uint32), ERROR]),
    "dls_model_read": (c_int, [c_void_p, c_uint32, POINTER(c_char_p), c_uint32, POINTER(TENSORS), ERROR]),
    "dls_model_profile": (c_int, [c_void_p, TENSORS, c_uint32, c_int64, c_uint32, POINTER(c_char_p), ERROR]),
    "dls_master_create": (c_int, [c_void_p, POINTER(MasterOptions), HANDLE_OUT, ERROR]),
    "dls_master_endpoint": (c_char_p, [c_void_p]),
    "dls_master_destroy": (None, [c_void_p]),
    "dls_processors": (c_uint32, []),
    "dls_worker_create": (c_int, [c_void_p, POINTER(WorkerOptions), HANDLE_OUT, ERROR]),
    "dls_worker_handle": (c_int, [c_void_p, c_char_p, POINTER(HandlerOps), ERROR]),
    "dls_worker_start": (c_int, [c_void_p, ERROR]),
    "dls_worker_wait": (c_int, [c_void_p, c_int, ERROR]),
    "dls_worker_fd": (c_int, [c_void_p]),
    "dls_worker_process": (c_int, [c_void_p, ERROR]),
    "dls_worker_drain": (c_int, [c_void_p, c_int, ERROR]),
    "dls_worker_destroy": (None, [c_void_p]),
    "dls_task_items": (c_uint32, [c_void_p]),
    "dls_task_item_number": (c_uint64, [c_void_p, c_uint32]),
    "dls_task_job": (c_char_p, [c_void_p]),
    "dls_task_attempt": (c_uint64, [c_void_p]),
    "dls_task_params": (c_char_p, [c_void_p]),
    "dls_task_item": (c_int, [c_void_p, c_uint32, POINTER(TENSORS), POINTER(c_uint32), ERROR]),
    "dls_task_result": (c_int, [c_void_p, c_uint32, TENSORS, c_uint32, ERROR]),
    "dls_task_fail": (c_int, [c_void_p, c_uint32, c_int, c_char_p]),
    "dls_task_cancelled": (c_int, [c_void_p]),
    "dls_task_stopped": (c_int, [c_void_p]),
}


# How often a thread of a team looks for its next piece of work before it sleeps, as the programs have it. libgomp's own
# 300,000 times take the processors from other programs, and from other threads of this one.
SPINS = {"GOMP_SPINCOUNT": "1000"}


@contextlib.contextmanager
def wait_briefly():
    """libgomp reads the environment while it is being loaded, which numpy for instance may have done before."""
    said = "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ
    os.environ.update({} if said else SPINS)
    try:
        yield
    finally:
        for name in () if said else SPINS:
            del os.environ[name]


def load():
    path = os.environ.get("DLSCHED_LIBRARY", SONAME)
    try:
        with wait_briefly():
            library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"{path} cannot be loaded ({error}): install libdlsched, or set DLSCHED_LIBRARY to where it lies"
        ) from error
    for name, (returns, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = returns, arguments
    return library


lib = load()


def call(function, *arguments):
    """Calls a function of `lib` that takes a trailing struct dls_error, and raises what it fails with."""
    error = ErrorStruct()
    return check(function(*arguments, error), error)
