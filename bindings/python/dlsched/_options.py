"""Values of Python as the library takes them.

ctypes cuts a number to what its type holds, and a text at its first NUL; so every argument passes one of these first. Each
gets the argument's name and raises one sentence that begins with it: TypeError for what is no such thing at all, EINVAL (a
ValueError) for a value that cannot be. What the library checks itself, lengths and names say, is left to it.
"""

import json
import math
import numbers
import os
import reprlib
from ctypes import c_char_p

from . import errors
from ._library import Resource, Retry

PRIORITY = 1_000_000  # a job's is between this and minus this
UINT32 = 2**32 - 1
INT64 = 2**63 - 1
UINT64 = 2**64 - 1
DAY = 24 * 3600  # seconds
TEN_YEARS = 10 * 365 * DAY
LONGEST_MS = 2**31 - 1  # that a call of the library waits


def wrong_type(name, expected, value):
    return TypeError(f"{name} is {expected}, not {reprlib.repr(value)}")


def text(name, value):
    """None stays None."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise wrong_type(name, "a text", value)
    return _encoded(name, value)


def _encoded(name, value):
    try:
        encoded = value.encode()
    except UnicodeEncodeError as error:
        raise errors.EINVAL(f"{name} has a character that no UTF-8 can say: {error.reason} at {error.start}") from error
    return _without_nul(name, encoded)


def _without_nul(name, encoded):
    if b"\0" in encoded:
        raise errors.EINVAL(f"{name} has a NUL in it, at {encoded.index(0)}; leave it out")
    return encoded


def needed(name, value):
    """A text that must be there."""
    if value is None:
        raise wrong_type(name, "a text", value)
    return text(name, value)


def path(name, value):
    """None stays None."""
    if value is None:
        return None
    try:
        return _without_nul(name, os.fsencode(value))
    except TypeError:
        raise wrong_type(name, "a path", value) from None
    except UnicodeEncodeError as error:
        raise errors.EINVAL(f"{name} cannot be the path of a file: {error}") from error


def needed_path(name, value):
    if value is None:
        raise wrong_type(name, "a path", value)
    return path(name, value)


def listed(name, value):
    """A list or tuple, None for an empty one. A text would be taken apart, and an iterator would be used up."""
    if value is None:
        return []
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise wrong_type(name, "a list", value)
    return list(value)


def names(name, value):
    """A NULL-terminated list of texts, or None where there are none."""
    texts = [needed(f"{name}[{number}]", each) for number, each in enumerate(listed(name, value))]
    return (c_char_p * (len(texts) + 1))(*texts) if texts else None


def amounts(name, value):
    """A list of resources from a dict, ended by a row without a name, or None where there are none."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise wrong_type(name, "a dict of amounts by name", value)
    rows = [(needed(f"a key of {name}", key), number(f"{name}[{key!r}]", amount)) for key, amount in value.items()]
    return (Resource * (len(rows) + 1))(*rows) if rows else None


def retries(name, value):
    """A list of rules from a dict, ended by a row without a failure, or None where there are none."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise wrong_type(name, 'a dict such as {"error": 3} or {"error": (3, 0.5, 60)}', value)
    rows = [Retry(needed(f"a key of {name}", key), *_rule(f"{name}[{key!r}]", rule)) for key, rule in value.items()]
    return (Retry * (len(rows) + 1))(*rows) if rows else None


def _rule(name, value):
    """How often, and the first and the longest wait in milliseconds."""
    rule = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(rule) <= 3:
        raise wrong_type(name, "how often, or (how often, wait, longest wait)", value)
    waits = [duration(f"a wait of {name}", seconds) for seconds in rule[1:]]
    return [whole(name, rule[0], 0, UINT32), *waits]


def number(name, value):
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise wrong_type(name, "a number", value)
    try:
        return float(value)
    except OverflowError:
        raise errors.EINVAL(f"{name} is {reprlib.repr(value)}, which is too large") from None


def whole(name, value, low, high):
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise wrong_type(name, "a whole number", value)
    if not low <= value <= high:
        raise errors.EINVAL(f"{name} is {reprlib.repr(value)}; it must be from {low} to {high}")
    return int(value)


def flag(name, value):
    if not isinstance(value, bool):
        raise wrong_type(name, "True or False", value)
    return value


def json_object(name, value):
    """The text of a dict; None stays None."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise wrong_type(name, "a dict", value)
    try:
        return _encoded(name, json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise errors.EINVAL(f"{name} cannot be written as JSON: {error}") from error


def duration(name, value, most=TEN_YEARS):
    """Whole milliseconds from seconds above 0; None is 0, the library's default, and what is not 0 does not become it."""
    if value is None:
        return 0
    seconds = number(name, value)
    if not 0 < seconds <= most:
        raise errors.EINVAL(f"{name} is {seconds} seconds; it must be above 0 and at most {most}, or None")
    return math.ceil(seconds * 1000)


def timeout(name, value):
    """Seconds to wait, inf for ever, which None is too."""
    if value is None:
        return math.inf
    seconds = number(name, value)
    if not seconds >= 0:
        raise errors.EINVAL(f"{name} is {seconds} seconds; it must be 0 or more, or None to wait for ever")
    return seconds


def milliseconds(name, value):
    """A timeout as the library has it, -1 for ever."""
    seconds = timeout(name, value)
    return -1 if seconds == math.inf else min(math.ceil(seconds * 1000), LONGEST_MS)


def function(name, value):
    if not callable(value):
        raise wrong_type(name, "a function", value)
    return value
