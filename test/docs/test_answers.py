"""docs/CLI.md shows the answers of `dls-submit status --json`, `list --json` and `status JOB --json` with the fields that they
have."""
import json
import re

from programs import wait_until


def shape(value):
    """Names and types, in their order; of a list what its first entry is."""
    if isinstance(value, dict):
        return [(name, shape(member)) for name, member in value.items()]
    if isinstance(value, list):
        return [shape(value[0])]
    return float if type(value) is int else type(value)


def said(page, verb):
    """The example of an answer, and the fields that the table behind it explains."""
    part = page.split(f"Of `{verb} --json`:")[1]
    table = re.search(r"\|---\|---\|\n((\|.*\n)+)", part + "\n")[1]
    explained = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    return json.loads(re.search(r"```json\n(.*?)```", part, re.DOTALL)[1]), explained


def without(value, left_out):
    if isinstance(value, dict):
        return {name: without(member, left_out) for name, member in value.items() if name not in left_out}
    return [without(member, left_out) for member in value] if isinstance(value, list) else value


def names(value):
    if isinstance(value, dict):
        return set(value).union(*map(names, value.values()))
    return set().union(*map(names, value)) if isinstance(value, list) else set()


def test_answers_have_the_fields_of_the_page(programs, root, tmp_path):
    page = (root / "docs/CLI.md").read_text()
    master = programs.master()
    programs.handler(master, "h1", "zone=a")
    words = ["--handler", "hold", "--params", json.dumps({"gate": str(tmp_path / "gate")}), root / "LICENSE"]
    job = programs.start("dls-submit", "run", "--master", master.endpoint, *words)
    wait_until(programs.journal, "the first item")
    plain = {"jobs", "policy", "tasks", "workers", "devices", "name", "labels", "handler", "priority"}  # say themselves what they are
    name = programs.submit(master, "list", "--json").objects()[0]["jobs"][0]["job"]
    for verb in ("status", "list", "status JOB"):
        example, explained = said(page, verb)
        answer = programs.submit(master, *verb.replace("JOB", name).split(), "--json").objects()[0]
        unmeasured = {"expected_ms"} if verb == "status JOB" else set()  # no item has come to its end yet
        example = without(example, unmeasured)
        explained -= unmeasured
        assert shape(answer) == shape(example), verb
        assert names(answer) - plain <= explained <= names(answer), verb
    (tmp_path / "gate").touch()
    assert job.finish().code == 0
