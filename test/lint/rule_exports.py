#!/usr/bin/python3
"""The shared library exports exactly the functions that are defined with DLS_EXPORT: lib/libdlsched.map lists them, and a
public header declares each. `make exports` writes the list anew."""
import pathlib
import re
import sys

import source

MAP = pathlib.Path("lib/libdlsched.map")
DEFINED = re.compile(r"\bDLS_EXPORT\b[^;{}()]*?\b(\w+)\s*\(")
DECLARED = re.compile(r"(?<!\(\*)\b(dls_\w+)\s*\(")
DIRECTIVE = re.compile(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)


def found(root, folder, suffix, pattern):
    """name -> place of every match in the code of a folder."""
    names = {}
    for path in source.files(root, suffix, below=[folder]):
        text = DIRECTIVE.sub(lambda match: "\n" * match.group().count("\n"), source.bare(source.read(root, path)))
        for match in pattern.finditer(text):
            names.setdefault(match.group(1), f"{path}:{source.line_of(text, match.start(1))}")
    return names


def rule(root):
    defined, declared = found(root, "lib", ".c", DEFINED), found(root, "include", ".h", DECLARED)
    listed = set(re.findall(r"^\t(\w+);", source.read(root, MAP), re.MULTILINE))
    for name in sorted(set(defined) - set(declared)):
        yield f"{defined[name]}: {name} is exported but declared in no public header"
    for name in sorted(set(defined) - listed):
        yield f"{defined[name]}: {name} is exported but not listed in {MAP}: run `make exports`"
    for name in sorted(listed - set(defined)):
        yield f"{MAP}: {name} is listed but not defined with DLS_EXPORT: run `make exports`"


def write(root):
    names = sorted(found(root, "lib", ".c", DEFINED))
    listed = "".join(f"\t{name};\n" for name in names)
    (pathlib.Path(root) / MAP).write_text(f"DLSCHED_0 {{\nglobal:\n{listed}local:\n\t*;\n}};\n", encoding="utf-8")


if __name__ == "__main__":
    if "--write" in sys.argv:
        write(".")
    else:
        source.main(rule)
