"""What the tests of the Python bindings share: a master of its own for every test, a client and a worker."""

import subprocess

import pytest
from common import BUILD, SECONDS, wait_until

import dlsched


@pytest.fixture
def master(tmp_path):
    """Its address. No test sees another's workers."""
    file = tmp_path / "endpoint"
    process = subprocess.Popen([BUILD / "dls-master", "--bind", "tcp://127.0.0.1:0", "--endpoint-file", file])
    try:
        wait_until(lambda: process.poll() is not None or file.exists() and file.read_text().strip())
        assert process.poll() is None, "dls-master did not start"
        yield file.read_text().strip()
    finally:
        process.terminate()
        process.wait(SECONDS)


@pytest.fixture
def client(master):
    with dlsched.Client(master) as client:
        yield client


@pytest.fixture
def worker(master):
    """Not started yet, so that the test can register handlers."""
    with dlsched.Worker(master, name="python", models=False) as worker:
        yield worker
