#!/usr/bin/python3
"""Writes what the public headers hold for the bindings, as Python: error codes, element types, limits, the version.

usage: make_python_tables.py >bindings/python/dlsched/_tables.py

An installed package has no header to read; a test compares the committed file with what this script prints.
"""

import pathlib
import re

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include/dlsched"

HEADER = '''"""Tables of the C headers. Written by scripts/make_python_tables.py; do not edit."""
'''


def macro_rows(text, macro):
    """The rows X(...) of an X-macro, each a list of its arguments as text."""
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*)", text).group(1)
    return [re.findall(r'"[^"]*"|[^,\s]+', row) for row in re.findall(r"X\((.*?)\)[\s\\]*(?=X\(|$)", body, re.DOTALL)]


def constant(text, name):
    return re.search(rf"#define {name} (\d+)", text).group(1)


def main():
    error, tensor, version = ((INCLUDE / name).read_text() for name in ("error.h", "tensor.h", "version.h"))
    major, minor, patch = (constant(version, f"DLS_VERSION_{part}") for part in ("MAJOR", "MINOR", "PATCH"))
    print(HEADER)
    print("# name, code, meaning, exit code of the programs, HTTP status, whether the same call may succeed later")
    print("ERRORS = (")
    for name, code, meaning, exit_code, http, retry in macro_rows(error, "DLS_ERROR_TABLE"):
        print(f'    ("{name}", {code}, {meaning}, {exit_code}, {http}, {retry == "1"}),')
    print(")\n\n# numpy's name, value, bytes of one element\nDTYPES = (")
    for _name, value, size, spelling in macro_rows(tensor, "DLS_DTYPE_TABLE"):
        print(f"    ({spelling}, {value}, {size}),")
    print(")\n")
    print(f"ERROR_TEXT_BYTES = {constant(error, 'DLS_ERROR_TEXT_BYTES')}")
    print(f"TENSOR_RANK = {constant(tensor, 'DLS_TENSOR_RANK')}")
    print(f'VERSION = "{major}.{minor}.{patch}"')
    print(f'SONAME = "libdlsched.so.{major}.{minor}"')


if __name__ == "__main__":
    main()
