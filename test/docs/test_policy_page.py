"""docs/policies.md shows the scripts of examples/policies as they are, and names the policies that there are."""
import re


def test_the_page_shows_the_examples(root):
    page = (root / "docs/policies.md").read_text()
    for name in re.findall(r"`(examples/policies/\w+\.lua)`", page):
        assert f"```lua\n{(root / name).read_text()}```" in page
    assert len(re.findall(r"```lua", page)) == len(list((root / "examples/policies").glob("*.lua")))


def test_the_page_names_all_policies(programs, root):
    ended = programs.run("dls-master", "--check", "--policy", "none")
    named = ended.err.split("there are: ")[1].strip().split(", ")
    page = (root / "docs/policies.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == named
