"""docs/PROTOCOL.md lists every record that the code knows, with its fields in their order."""
import pathlib
import re

ROOT = pathlib.Path(__file__).parent.parent.parent
SIGNED = {"code", "priority"}


def kinds():
    """(number, name, struct) of every record."""
    header = (ROOT / "lib/proto/record.h").read_text()
    return re.findall(r"X\((\w+), (\d+), (\w+)\)", header)


def fields(struct):
    source = (ROOT / "lib/proto/record.c").read_text()
    for kind, name in re.findall(rf"FIELD\((\w+), {struct}, (\w+), [^)]+\)", source):
        if kind == "FRAMES":
            yield name
        else:
            yield f"{'i32' if name in SIGNED else kind.lower()} {name}"


def test_table_is_that_of_the_code():
    page = (ROOT / "docs/PROTOCOL.md").read_text()
    rows = re.findall(r"^\| (\d+) \| ([A-Z]+) \| [^|]+ \| ([^|]*) \|$", page, re.MULTILINE)
    assert rows == [(number, name, ", ".join(fields(struct))) for name, number, struct in kinds()]
