#!/usr/bin/python3
"""How files look: each opens with what it is for, has one include guard of its own, stays short enough to be read,
and is of one version."""
import re

import source

FUNCTION_LINES, FILE_LINES = 70, 600
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
UNMERGED = re.compile(r"^(<{7}|>{7}) .*", re.MULTILINE)


def opens_with_comment(root, path, text):
    if path.suffix == ".c":
        root, name = source.pathlib.Path(root), path.with_suffix(".h")
        return text.startswith("/*") or (root / name).exists() or (
            path.parts[1] == "api" and (root / "include/dlsched" / name.name).exists())
    if path.suffix == ".h":
        return text.startswith("/*")
    body = re.sub(r"\A#!.*\n", "", text)
    return body.startswith(('"""', "#")) or (path.suffix == ".py" and not body.strip())


def long_functions(path, text):
    """By the braces of the first column, where clang-format puts those of functions."""
    begin, name = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            if number - begin + 1 > FUNCTION_LINES:
                yield f"{path}:{begin}: {number - begin + 1} lines of {name}, more than {FUNCTION_LINES}: divide it"
            begin = 0
        elif not begin and re.match(r"\w.*\(", line):
            name = line.split("(")[0].split()[-1].lstrip("*")


def guard(path, text, guards):
    match = re.search(r"^#ifndef (\w+)\n#define \1\b", text, re.MULTILINE)
    name = re.sub(r"\W", "_", path.stem).upper()
    if not match or not re.fullmatch(rf"(DLSI_|DLSCHED_)(\w+_)?{name}_H|{name}_H", match.group(1)):
        yield f"{path}:1: it has no include guard like DLSI_{name}_H"
    elif match.group(1) in guards:
        yield f"{path}:1: its include guard {match.group(1)} is that of {guards[match.group(1)]}: put the room's name in"
    else:
        guards[match.group(1)] = path


def unmerged(root):
    pages = [path.relative_to(root) for path in sorted(source.pathlib.Path(root).glob("*.md"))]
    for path in pages + source.files(root, ".c", ".h", ".py", ".md", ".json", below=(*source.FOLDERS, "docs")):
        text = source.read(root, path)
        for match in UNMERGED.finditer(text):
            yield f"{path}:{source.line_of(text, match.start())}: {match.group()}: two versions stand side by side, keep one"


def rule(root):
    yield from unmerged(root)
    guards = {}
    for path in source.files(root, ".c", ".h", ".py", ".sh"):
        text = source.read(root, path)
        lines = text.count("\n")
        if not opens_with_comment(root, path, text):
            yield f"{path}:1: it does not open with what it is for"
        if lines > FILE_LINES:
            yield f"{path}:{lines}: {lines} lines, more than {FILE_LINES}: divide it by its nouns"
        if path.suffix == ".h":
            yield from guard(path, text, guards)
        if path.suffix in (".c", ".h"):
            yield from long_functions(path, source.bare(text))
        if path.parts[:2] != ("test", "lint"):
            for match in UNFINISHED.finditer(text):
                yield f"{path}:{source.line_of(text, match.start())}: {match.group()}: do it now or leave it out"


if __name__ == "__main__":
    source.main(rule)
