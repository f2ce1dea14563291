"""What Client, Job and Worker have in common: a handle of the library that any thread may use and any thread may close.

A handle is destroyed only when no call uses it. Calls that wait do so in slices, between which Python runs its signal
handlers and sees that another thread closes the handle: Ctrl-C and close() act at once.
"""

import atexit
import contextlib
import ctypes
import math
import os
import threading
import time

from . import _options as options
from . import errors
from ._library import ContextOptions, call, lib

SLICE_SECONDS = 0.05

_open = set()  # those to close before Python ends, when the library's threads can call it no more
_ending = threading.Event()  # Python ends: what other threads still say would be lost, or would stop it halfway


def create(function, *arguments):
    """A new handle from a function that gives it out as its last argument before the error."""
    pointer = ctypes.c_void_p()
    call(function, *arguments, pointer)
    return pointer


class Handle:
    """Use it in a `with` statement, or close() it: nothing is closed by garbage collection, only at Python's end."""

    def __init__(self, pointer):
        self._pointer = pointer
        self._users = 0
        self._closing = False
        self._changed = threading.Condition()
        self._process = os.getpid()
        _open.add(self)

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.close()

    @contextlib.contextmanager
    def _use(self):
        """The pointer, which stays valid inside the `with`."""
        with self._changed:
            self._check_open()
            self._users += 1
        try:
            yield self._pointer
        finally:
            with self._changed:
                self._users -= 1
                self._changed.notify_all()

    def _check_open(self):
        if self._closing:
            if _ending.is_set() and threading.current_thread() is not threading.main_thread():
                raise SystemExit  # ends a thread without a word
            raise errors.ESTATE(f"this {type(self).__name__} is closed")

    def _call(self, function, *arguments):
        with self._use() as pointer:
            return call(function, pointer, *arguments)

    def _wait(self, function, timeout, not_yet, *arguments):
        """Calls a function that waits, for `timeout` seconds (None: for ever) in all; it fails with the class `not_yet`
        when its time is over."""
        end = time.monotonic() + options.timeout("timeout", timeout)
        with self._use() as pointer:
            while True:
                self._check_open()
                left = max(0, min(SLICE_SECONDS, end - time.monotonic()))
                try:
                    return call(function, pointer, math.ceil(left * 1000), *arguments)
                except not_yet:
                    if time.monotonic() >= end:
                        raise

    def close(self):
        """Gives back what the handle holds, when no other thread uses it any more. Does nothing the second time, nor in
        a child that was forked."""
        with self._changed:
            if self._closing or self._process != os.getpid():
                return
            self._closing = True
            self._changed.wait_for(lambda: self._users == 0)
        self._destroy(self._pointer)
        _open.discard(self)

    def _destroy(self, pointer):
        raise NotImplementedError


class Context:
    """A context of the library: the threads of one client or worker."""

    def __init__(self, threads=0):
        threads = options.whole("threads", threads, 0, options.UINT32)
        self.pointer = create(lib.dls_ctx_create, ContextOptions(threads=threads))

    def create(self, function, *arguments):
        """A handle on this context, which goes with it where there comes none."""
        try:
            return create(function, self.pointer, *arguments)
        except BaseException:
            self.destroy()
            raise

    def destroy(self):
        lib.dls_ctx_destroy(self.pointer)


@atexit.register
def _close_all():
    _ending.set()
    for handle in list(_open):
        handle.close()
