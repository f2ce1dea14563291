"""docs/models.md names the operators that the graph knows, and the opsets."""
import pathlib
import re

ROOT = pathlib.Path(__file__).parent.parent.parent
ROW = r'^(?:\t\.name = |[A-Z_]+\(\s*\w+, )"(\w+)"'  # written out, or by a macro of its family


def test_operators_are_those_of_the_code():
    table = [name for path in (ROOT / "lib/op").glob("*.c") for name in re.findall(ROW, path.read_text(), re.M)]
    header = (ROOT / "lib/graph/op.h").read_text()
    lowest, highest = (re.search(rf"DLSI_OPSET_{word}\s+(\d+)", header)[1] for word in ("LOWEST", "HIGHEST"))
    page = (ROOT / "docs/models.md").read_text()
    said = re.search(r"Operators, of opset (\d+) to (\d+): ([^.]+)\.", page)
    assert (said[1], said[2]) == (lowest, highest)
    # Constant is a value to the graph, not an operator (lib/graph/read.c).
    assert re.split(r",\s+", said[3]) == sorted([*table, "Constant"])
