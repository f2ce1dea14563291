"""Values of Python as the library's option structs take them."""

from ctypes import c_char_p

from ._library import Resource


def encode(text):
    return None if text is None else text.encode()


def encode_names(names):
    """A NULL-terminated list of texts; None stays None."""
    if isinstance(names, str):
        raise TypeError(f"expected a list of names, not the text {names!r}")
    texts = [name.encode() for name in names or ()]
    return (c_char_p * (len(texts) + 1))(*texts) if texts else None


def encode_resources(amounts):
    """A list of amounts from a dict, ended by a row without a name."""
    rows = [(name.encode(), amount) for name, amount in (amounts or {}).items()]
    return (Resource * (len(rows) + 1))(*rows) if rows else None
