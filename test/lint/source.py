"""What the rules share: finding the files of a tree, and C source without what the compiler does not see either."""
import pathlib
import re
import sys

FOLDERS = ("include", "lib", "cli", "examples", "bench", "test", "bindings", "scripts", ".ci")
TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def files(root, *suffixes, below=FOLDERS):
    """The tree's files with one of the suffixes, as sorted paths relative to its root."""
    root = pathlib.Path(root)
    found = (path for folder in below for path in (root / folder).rglob("*") if path.suffix in suffixes)
    return sorted(path.relative_to(root) for path in found if path.is_file() and "__pycache__" not in path.parts)


def read(root, path):
    return (pathlib.Path(root) / path).read_text(encoding="utf-8")


def bare(text):
    """C without its comments and the contents of its strings; every line stays on its number."""
    def blank(match):
        token = match.group()
        if token.startswith("/"):
            return " " + "\n" * token.count("\n")
        return token[0] + token[-1]

    return TOKENS.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def includes(text):
    """(line, name, whether it is in quotes) of each include."""
    for match in INCLUDE.finditer(text):
        yield line_of(text, match.start(1)), match.group(2), match.group(1) == '"'


def main(rule):
    """Runs rule(root), which yields the places that break it, over the tree that the command line names."""
    broken = list(rule(sys.argv[1] if len(sys.argv) > 1 else "."))
    for place in broken:
        print(place)
    sys.exit(bool(broken))
