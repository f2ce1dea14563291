"""What goes wrong: one exception class per error code of the library.

Each is an `Error`. Those that Python has a word for are that too, so `except TimeoutError` works as one expects.
"""

import ctypes

from . import _tables

_BUILTIN = {
    "DLS_EINVAL": (ValueError,),
    "DLS_ENOMEM": (MemoryError,),
    "DLS_ENOTFOUND": (FileNotFoundError,),
    "DLS_ETIMEOUT": (TimeoutError,),
    "DLS_EEXPIRED": (TimeoutError,),
    "DLS_EUNREACHABLE": (ConnectionError,),
}


class Error(Exception):
    """A failed call or item. `str()` is the library's sentence, which names the thing that is wrong and the way out."""

    code = 0  # negative, as in the C header error.h
    name = ""  # DLS_ETIMEOUT, say
    temporary = False  # the same call may succeed later without anything being corrected
    os_error = 0  # errno of the system call that failed, or 0


class ErrorStruct(ctypes.Structure):
    """struct dls_error"""

    _fields_ = [("code", ctypes.c_int), ("os_error", ctypes.c_int), ("text", ctypes.c_char * _tables.ERROR_TEXT_BYTES)]


def _class(name, code, meaning, temporary):
    fields = {"__doc__": meaning[0].upper() + meaning[1:] + ".", "__module__": __name__}
    fields.update(code=code, name=name, temporary=temporary)
    return type(name.removeprefix("DLS_"), (Error, *_BUILTIN.get(name, ())), fields)


_CLASSES = {code: _class(name, code, meaning, retry) for name, code, meaning, _, _, retry in _tables.ERRORS}
globals().update({cls.__name__: cls for cls in _CLASSES.values()})  # errors.ETIMEOUT, and so on


def make(code, text="", os_error=0):
    """The exception for a code and the library's sentence; a code that this version does not know is a plain Error."""
    cls = _CLASSES.get(code, Error)
    error = cls(text or cls.__doc__)
    error.code, error.os_error = code, os_error
    return error


def check(result, error):
    """The result of a call that filled the ErrorStruct `error` if it failed: raises, or returns the result as it is."""
    if result < 0:
        raise make(result, error.text.decode("utf-8", "replace"), error.os_error)
    return result
