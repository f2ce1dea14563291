"""Strangers at the master's port: whatever comes, it goes on working and does not grow."""

import ctypes
import json
import random
import socket
import struct

import pytest
from programs import Master

BLOBS = 10000
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)


def ready(**properties):
    """ZMTP's READY command with its properties, as a frame."""
    body = b"\x05READY"
    for key, value in properties.items():
        name = key.replace("_", "-").encode()
        body += bytes([len(name)]) + name + struct.pack(">I", len(value)) + value
    return bytes([0x04, len(body)]) + body


def connect(master, greet, identity=b""):
    """A connection to the master, greeted as a DEALER of ZeroMQ if wished, which may claim to be somebody."""
    stranger = socket.create_connection(("127.0.0.1", master.port()), timeout=10)
    stranger.settimeout(10)
    if greet:
        stranger.sendall(GREETING + ready(Socket_Type=b"DEALER", Identity=identity))
        received = b""
        while len(received) < 64 + 2:
            more = stranger.recv(4096)
            assert more
            received += more
    return stranger


def resident_bytes(program):
    with open(f"/proc/{program.process.pid}/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096


def still_works(programs, master, numbers):
    programs.handler(master, "h1")
    ended = programs.submit(master, "run", "--json", "--handler", "number", *numbers(10))
    assert ended.code == 0, ended.err
    assert master.process.poll() is None


def frame(body, more=False):
    return struct.pack(">BQ", 2 | more, len(body)) + body


def test_random_blobs(programs, numbers):
    """Ten thousand: bare ones at the port, and as messages behind a proper greeting; some begin as ours do."""
    random.seed(20191211)
    master = programs.master()
    stranger = None
    before = resident_bytes(master)
    for number in range(BLOBS):
        blob = random.randbytes(random.choice((0, 1, 8, 40, 41, 100, 3000)))
        try:
            if number % 100 == 0:
                with connect(master, greet=False) as bare:
                    bare.sendall(blob)
                continue
            if not stranger:
                stranger = connect(master, greet=True)
            head = random.choice((b"", b"DLS1", b"DLS1\x01\x00" + struct.pack("<HHH", 1, 0, 0)))
            stranger.sendall(frame(head + blob))
        except (BrokenPipeError, ConnectionResetError):
            stranger = None  # the master may hang up on those who talk nonsense
    if stranger:
        stranger.close()
    still_works(programs, master, numbers)
    assert resident_bytes(master) - before < 100 * 2**20
    status = json.loads(programs.submit(master, "status", "--json").out)
    assert status["refused_messages"] > BLOBS / 100, "they came as far as the reader of messages"


@pytest.mark.parametrize("length", [2**40, 2**62, 2**63 + 5, 2**64 - 1])
def test_announced_length(programs, numbers, length):
    """A frame that says how long it will be, and never comes."""
    master = programs.master()
    before = resident_bytes(master)
    with connect(master, greet=True) as stranger:
        stranger.sendall(struct.pack(">BQ", 2, length) + b"x" * 100)
        still_works(programs, master, numbers)
    assert resident_bytes(master) - before < 100 * 2**20


def test_announced_lengths_inside_a_message(programs, numbers):
    """The header of a message whose one record says that it is as long as can be."""
    master = programs.master()
    before = resident_bytes(master)
    with connect(master, greet=True) as stranger:
        for length in (2**31, 2**32 - 1):
            header = b"DLS1\x01\x00" + struct.pack("<HHHI", 1, 0, 0, length) + bytes(24)
            stranger.sendall(frame(header + struct.pack("<HHI", 1, 0, length) + b"x" * 50))
        still_works(programs, master, numbers)
    assert resident_bytes(master) - before < 100 * 2**20


def test_many_silent_connections(programs, numbers):
    master = programs.master()
    silent = [connect(master, greet=False) for _ in range(200)]
    still_works(programs, master, numbers)
    for stranger in silent:
        stranger.close()


def test_more_connections_than_descriptors_at_the_start(programs, numbers):
    """A thousand are the usual limit; it can be raised, and is. Silent connections are hung up on only after a while."""
    words = ["-c", 'ulimit -S -n 64; exec "$0" "$@"', programs.build / "dls-master", "--bind", "tcp://127.0.0.1:0"]
    master = programs.start("/bin/sh", *words, kind=Master)
    silent = [connect(master, greet=False) for _ in range(200)]
    still_works(programs, master, numbers)
    for stranger in silent:
        stranger.close()


def random_numbers(count):
    """The first values of the C library's rand() in a process that does not seed it."""
    library = ctypes.CDLL(None)
    library.srand(1)
    return [library.rand() for _ in range(count)]


def test_claimed_routing_ids(programs, numbers):
    """libzmq ends a process that gives a connection the number which a stranger has claimed."""
    low, high = random_numbers(2)
    first = (low | high << 31) & 0xFFFFFFFF
    master = programs.master()
    claims = [connect(master, greet=True, identity=struct.pack(">BI", 0, first + i)) for i in range(20)]
    for stranger in claims:
        stranger.sendall(frame(b"hello"))
    still_works(programs, master, numbers)
    for stranger in claims:
        stranger.close()
