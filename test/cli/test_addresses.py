"""Addresses: nobody there, names that do not resolve, ports in use, and what may be bound without --insecure."""

import socket

import pytest


@pytest.fixture
def dead_port():
    """A port of this machine on which nobody listens, kept from others."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def test_no_master_at_the_address(programs, fashion, dead_port, root):
    address = f"tcp://127.0.0.1:{dead_port}"
    for words in (["status"], ["list"], ["run", fashion, fashion / "expected_top1.npy"]):
        ended = programs.run("dls-submit", *words, "--master", address, "--connect-timeout", 0.5)
        assert ended.code == 3, ended.err
        assert address in ended.err and ended.err.count("\n") == 1
        assert 0.5 <= ended.seconds < 8


def test_five_seconds_are_waited(programs, dead_port):
    ended = programs.run("dls-submit", "status", "--master", f"tcp://127.0.0.1:{dead_port}")
    assert ended.code == 3
    assert 5 <= ended.seconds < 8


def test_worker_gives_up_if_told_to(programs, dead_port):
    address = f"tcp://127.0.0.1:{dead_port}"
    ended = programs.run("dls-worker", "--master", address, "--connect-timeout", 0.5)
    assert (ended.code, address in ended.err) == (3, True), ended.err


def test_worker_waits_for_its_master(programs):
    address = programs.master()
    address.stop()
    worker = programs.start("dls-worker", "--master", address.endpoint)
    programs.master(bind=address.endpoint)
    worker.wait_for("works for")


def test_endpoint_file_is_that_of_the_master_that_listens(programs):
    first = programs.master()
    file = first.endpoint_file
    ended = programs.run("dls-master", "--bind", first.endpoint, "--endpoint-file", file)
    assert (ended.code, file.read_text()) == (2, first.endpoint + "\n"), "a second one started by mistake"
    words = ["--bind", "tcp://127.0.0.1:0", "--endpoint-file", file]
    second = programs.start("dls-master", *words).wait_for("listens at")
    endpoint = second.out().split()[-1]
    assert first.stop().code == 0
    assert file.read_text() == endpoint + "\n", "the first one leaves what is the second one's"
    second.kill()
    third = programs.start("dls-master", *words).wait_for("listens at")
    assert file.read_text() == third.out().split()[-1] + "\n", "in place of what a killed one has left"
    assert third.stop().code == 0
    assert not file.exists()


@pytest.mark.parametrize(
    "program, words",
    [("dls-master", ["--bind"]), ("dls-worker", ["--master"]), ("dls-submit", ["status", "--master"])],
)
def test_name_that_does_not_resolve(programs, program, words):
    ended = programs.run(program, *words, "tcp://nobody.invalid:7700", "--insecure")
    assert ended.code == 2, ended.err
    assert "nobody.invalid" in ended.err and "resolved" in ended.err
    assert ended.seconds < 8


def test_master_beyond_loopback_needs_insecure(programs):
    """192.0.2.0/24 is nobody's, by RFC 5737."""
    for program, words in (("dls-worker", []), ("dls-submit", ["status"])):
        ended = programs.run(program, *words, "--master", "tcp://192.0.2.1:7700")
        assert ended.code == 4, ended.err
        assert "192.0.2.1" in ended.err and "insecure" in ended.err


@pytest.mark.parametrize("address", ["", "nonsense", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:99999", "udp://127.0.0.1:1"])
def test_what_is_no_address(programs, address):
    for program, words in (
        ("dls-master", ["--bind", address]),
        ("dls-worker", ["--master", address]),
        ("dls-submit", ["status", "--master", address]),
    ):
        ended = programs.run(program, *words)
        assert ended.code == 2, (program, ended.err)
        assert address in ended.err


def test_port_in_use(programs):
    master = programs.master()
    ended = programs.run("dls-master", "--bind", master.endpoint)
    assert ended.code == 2
    assert master.endpoint in ended.err and "in use" in ended.err
    assert ended.seconds < 8


@pytest.mark.parametrize("address", ["tcp://0.0.0.0:0", "tcp://*:0"])
def test_beyond_loopback_needs_insecure(programs, address):
    ended = programs.run("dls-master", "--bind", address)
    assert ended.code == 4, ended.err
    assert address in ended.err and "insecure" in ended.err
    master = programs.start("dls-master", "--bind", address, "--insecure").wait_for("listens at")
    assert master.stop().code == 0


def test_data_beyond_loopback_needs_insecure(programs):
    master = programs.master()
    for program, words in (("dls-worker", []), ("dls-submit", ["run", "--handler", "none", __file__])):
        ended = programs.run(program, *words, "--master", master.endpoint, "--data-bind", "tcp://0.0.0.0:0")
        assert ended.code == 4, (program, ended.err)
        assert "0.0.0.0" in ended.err and "insecure" in ended.err


def test_client_that_nobody_can_connect_to(programs, lite0, photos):
    """It listens nowhere: the model and the photos reach the workers over connections that it opens."""
    master = programs.master()
    for name in ("first", "second"):
        programs.worker(master, name)
    paths = sorted(photos.iterdir()) * 3
    ended = programs.submit(master, "run", "--json", "--data-bind", "none", "--task-items", "1", lite0, *paths, limit=120)
    assert ended.code == 0, ended.err
    assert len(ended.items()) == len(paths) and ended.summary()["failed"] == 0
    assert {item["worker"] for item in ended.items()} == {"first", "second"}


def test_worker_must_be_connected_to(programs):
    ended = programs.run("dls-worker", "--data-bind", "none")
    assert ended.code in (2, 4), ended.err
    assert "none" in ended.err


def test_policy_that_does_not_exist(programs):
    ended = programs.run("dls-master", "--bind", "tcp://127.0.0.1:0", "--policy", "rondrobin")
    assert ended.code == 2
    assert "rondrobin" in ended.err and "roundrobin" in ended.err


def test_silence_shorter_than_three_heartbeats(programs):
    ended = programs.run("dls-master", "--bind", "tcp://127.0.0.1:0", "--worker-timeout-ms", 100)
    assert ended.code == 2
    assert "100" in ended.err and "1000" in ended.err


def test_something_else_listens_there(programs, tmp_path):
    """A server that is no master: it takes the connection and says nothing that ZeroMQ understands."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        ended = programs.run("dls-submit", "status", "--master", address, "--connect-timeout", 1)
    assert ended.code in (3, 4)
    assert ended.seconds < 8
    assert address in ended.err
