"""What a worker finds of its machine, where little of it can be seen."""

import subprocess

import pytest


@pytest.fixture
def without_sys():
    """Words that start a program where /sys is empty, as in a bare chroot."""
    words = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", 'mount -t tmpfs none /sys && exec "$0" "$@"']
    try:
        tried = subprocess.run([*words, "/bin/true"], capture_output=True, text=True)
    except FileNotFoundError as error:
        pytest.skip(f"no mount namespaces: {error}")
    if tried.returncode:
        pytest.skip(f"no mount namespaces: {tried.stderr.strip()}")
    return words


def test_worker_without_sys_says_nothing(programs, without_sys, build):
    master = programs.master()
    worker = programs.start(*without_sys, build / "dls-worker", "--master", master.endpoint, "--name", "w1")
    worker.wait_for("works for")
    device = programs.submit(master, "status", "--json").objects()[0]["workers"][0]["devices"][0]
    assert device["cores"] >= 1 and device["memory_bytes"] > 0
    ended = worker.stop()
    assert (ended.code, ended.err) == (0, "")
