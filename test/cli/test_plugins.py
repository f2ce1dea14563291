"""Policies in C from a folder of plug-ins: the example, those that fail while jobs run, and what a master does not load."""
import os
import shutil
import subprocess

import pytest

TABLE = """
#include <dlsched/policy.h>
#include <string.h>
static int calls;
static int create(const char *params, void **policy, struct dls_error *err) { *policy = &calls; %(create)s }
static void destroy(void *policy) { (void)policy; }
static int choose(void *policy, const struct dls_policy_view *view, struct dls_policy_choice *choices, size_t limit,
                  struct dls_error *err) {
    size_t count = 0;
    if (view->queue_count && ++calls > 3) { %(late)s }
    for (size_t i = 0; i < view->queue_count; i++)
        choices[count++] = (struct dls_policy_choice){view->queues[i]->jobs[0]->number, view->queues[i]->devices[0]->number, 1};
    return (int)count;
}
const struct dls_policy_ops dls_policy_plugin = {
    %(abi)s, sizeof(struct dls_policy_ops), %(name)s, create, destroy, %(choose)s};
"""
USUAL = {"create": "return 0;", "late": "", "abi": "DLS_POLICY_ABI", "name": '"mine"', "choose": "choose"}


def compile_into(folder, root, text, name="mine.so"):
    folder.mkdir(mode=0o755, exist_ok=True)
    source = folder.parent / "plugin.c"
    source.write_text(text)
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{root}/include", "-o", folder / name, source], check=True)
    (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def make(tmp_path, root):
    """A folder with a plug-in of this kind."""
    return lambda **members: compile_into(tmp_path / "plugins", root, TABLE % {**USUAL, **members})


def status(programs, master):
    return programs.submit(master, "status", "--json").objects()[0]


def run(programs, master, numbers, count):
    ended = programs.submit(master, "run", "--handler", "number", "--task-items", 2, "--json", *numbers(count))
    assert ended.code == 0, ended.err
    assert len(ended.items()) == count


def test_the_example_packs(programs, numbers, tmp_path):
    (tmp_path / "plugins").mkdir(mode=0o755)
    shutil.copy(programs.build / "examples/policies/packed.so", tmp_path / "plugins")
    (tmp_path / "plugins/packed.so").chmod(0o644)
    master = programs.master("--plugins", tmp_path / "plugins")
    shown = programs.submit(master, "admin", "policy", "show").out
    assert shown.startswith("policy: roundrobin\nthere are: roundrobin, ") and shown.endswith(", lua, packed\n")
    ended = programs.submit(master, "admin", "policy", "set", "packed", "--params", '{"least": 1}')
    assert (ended.code, "most" in ended.err) == (4, True)
    assert programs.submit(master, "admin", "policy", "set", "packed", "--params", '{"most":1}').code == 0
    programs.handler(master, "h1")
    programs.handler(master, "h2")
    run(programs, master, numbers, 30)
    said = status(programs, master)
    assert (said["policy"], "policy_failure" in said) == ("packed", False)


@pytest.mark.parametrize(
    "late, words",
    [
        ("return DLS_EIO;", "plug-in mine: "),
        ('strcpy(err->text, "I give up"); return DLS_EHANDLER;', "plug-in mine: I give up"),
        ("memset(err->text, 'x', sizeof err->text); return -77;", "xxx"),
        ("return (int)limit + 1;", "257 choices"),
        ("choices[0].job = 12345; return 1;", "no job"),
        ("choices[0].job = view->queues[0]->jobs[0]->number; choices[0].device = 12345; return 1;", "no device"),
    ],
)
def test_one_that_fails_while_jobs_run(programs, numbers, make, late, words):
    master = programs.master("--plugins", make(late=late), "--policy", "mine")
    programs.handler(master, "h1")
    run(programs, master, numbers, 40)
    said = status(programs, master)
    assert said["policy"] == "roundrobin"
    assert words in said["policy_failure"]
    assert master.err().count("has failed") == 1


@pytest.mark.parametrize(
    "members, says",
    [
        ({"abi": "77"}, "ABI 77"),
        ({"name": '"drf"'}, "drf"),
        ({"name": '"a b"'}, "a-z"),
        ({"name": "0"}, "name"),
        ({"choose": "0"}, "choose"),
    ],
)
def test_what_is_not_loaded(programs, make, members, says):
    folder = make(**members)
    for check in (("--check",), ("--bind", "tcp://127.0.0.1:0")):
        ended = programs.run("dls-master", *check, "--plugins", folder)
        assert (ended.code != 0, says in ended.err, "mine.so" in ended.err) == (True, True, True), ended.err


def refused(programs, folder, *says):
    ended = programs.run("dls-master", "--check", "--plugins", folder)
    assert ended.code != 0 and all(words in ended.err for words in says), ended.err


def test_one_that_does_not_want_to_begin(programs, make):
    folder = make(create='strcpy(err->text, "not today"); return DLS_ESTATE;')
    assert programs.run("dls-master", "--check", "--plugins", folder).code == 0
    ended = programs.run("dls-master", "--check", "--plugins", folder, "--policy", "mine")
    assert (ended.code != 0, "not today" in ended.err) == (True, True), ended.err


def test_files_that_others_could_change(programs, make, tmp_path):
    folder = make()
    for path in (folder, folder / "mine.so"):
        for mode in (0o775, 0o757):
            path.chmod(mode)
            refused(programs, folder, str(path), "chmod go-w")
        path.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(folder / "mine.so", 12345, -1)
        refused(programs, folder, "mine.so", "12345")
        os.chown(folder / "mine.so", 0, -1)
    (folder / "mine.so").rename(tmp_path / "mine.so")
    (folder / "link.so").symlink_to(tmp_path / "mine.so")
    refused(programs, folder, "link.so", "no link")


def test_folders_that_are_none(programs, root, make, tmp_path):
    refused(programs, tmp_path / "none", "none")
    (tmp_path / "file").write_text("")
    refused(programs, tmp_path / "file", "folder")
    compile_into(tmp_path / "other", root, "int nothing;\n")
    refused(programs, tmp_path / "other", "dls_policy_plugin")
    (tmp_path / "other/mine.so").write_text("no object")
    refused(programs, tmp_path / "other", "mine.so")
    shutil.copy(make() / "mine.so", tmp_path / "plugins/again.so")
    refused(programs, tmp_path / "plugins", "mine", "already")
    (tmp_path / "plugins/again.so").rename(tmp_path / "plugins/again.so.old")
    assert programs.run("dls-master", "--check", "--plugins", tmp_path / "plugins", "--policy", "mine").code == 0
