"""What the Makefile makes of its variables: asked with -n, so that nothing is made."""
import os
import subprocess

import pytest


def make(root, *words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(["make", "-n", *words], cwd=root, env=environment, capture_output=True, text=True)


NAMED = [
    ("ranges", ["test_ranges"]),
    ("test/unit/test_ranges.c", ["test_ranges"]),
    ("docs", ["test/docs/"]),
    ("test/docs", ["test/docs/"]),
    ("test/docs/", ["test/docs/"]),
    ("lint", ["lint", "test/lint/"]),
    ("photos", ["test/cli/test_photos.py"]),
    ("test/cli/test_photos.py", ["test/cli/test_photos.py"]),
    ("ranges test/docs photos", ["test_ranges", "test/docs/", "test/cli/test_photos.py"]),
]


@pytest.mark.parametrize("words, tests", NAMED)
def test_tests_are_run_by_name_and_by_path(root, words, tests):
    line = next(line for line in make(root, "tests", f"T={words}", "DEPS=0").stdout.splitlines() if "test/run.sh" in line)
    ran = [word if word.startswith("test/") else word.rsplit("/", 1)[-1] for word in line.split("test/run.sh ")[1].split()]
    assert ran == tests


@pytest.mark.parametrize("words", ["nothing", "test/nothing.py", "README.md", "lib/base/ranges.c"])
def test_what_is_no_test_is_said_to_be_none(root, words):
    made = make(root, "tests", f"T={words}", "DEPS=0")
    assert made.returncode == 2
    assert f"no test is called {words}" in made.stderr


@pytest.mark.parametrize("words, jobs", [([], len(os.sched_getaffinity(0))), (["-j1"], 1), (["-j7"], 7)])
def test_it_runs_as_many_jobs_as_there_are_processors(root, words, jobs):
    rows = [line for line in make(root, "-p", "help", *words).stdout.splitlines() if line.startswith("MAKEFLAGS ")]
    found = [int(word[2:]) for word in rows[0].split() if word.startswith("-j") and word[2:].isdigit()]
    assert (found or [1]) == [jobs]
