"""The README's walk-through for several machines: a master, workers and a client that have a network between them and nothing
else. The machines are network namespaces of this one, on a bridge; without the right to make them the test is left out."""

import os
import re
import subprocess

import pytest
from programs import Program

NETWORK = "10.77.0."
MACHINES = {"master": 1, "worker-a": 2, "worker-b": 3, "desk": 4}


def ip(*words, inside=None):
    within = ["nsenter", f"--net=/proc/{inside.process.pid}/ns/net"] if inside else []
    subprocess.run([*within, "ip", *map(str, words)], check=True, capture_output=True, text=True)


@pytest.fixture
def machines(tmp_path):
    """name -> a process that keeps the machine's network namespace. One that is killed takes its network along."""
    made = {}

    def make(name):
        folder = tmp_path / f"machine-{name}"
        folder.mkdir()
        made[name] = Program(["unshare", "--net", "sh", "-c", "echo ready; exec sleep 600"], folder, os.environ)
        made[name].wait_for("ready")
        ip("link", "set", "lo", "up", inside=made[name])

    try:
        try:
            make("switch")
            ip("link", "add", "bridge", "type", "bridge", inside=made["switch"])
        except (AssertionError, OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no network namespaces can be made here: {getattr(error, 'stderr', error)}")
        ip("link", "set", "bridge", "up", inside=made["switch"])
        for name, number in MACHINES.items():
            make(name)
            plug(made["switch"], made[name], number)
        yield made
    finally:
        for machine in made.values():
            machine.kill()


def plug(switch, machine, number):
    """A cable: one end is the machine's only interface, the other one hangs on the bridge."""
    end = f"port{number}"
    ip("link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", machine.process.pid, inside=switch)
    ip("link", "set", end, "master", "bridge", "up", inside=switch)
    ip("addr", "add", f"{NETWORK}{number}/24", "dev", "eth0", inside=machine)
    ip("link", "set", "eth0", "up", inside=machine)


class Site:
    """Runs the README's command lines on the machines that it names."""

    def __init__(self, programs, machines, readme):
        self.programs, self.machines = programs, machines
        part = readme.split("## Several machines")[1].split("\n## ")[0]
        self.lines = re.findall(r"^    ([\w-]+)\$ (.+)$", part, re.MULTILINE)

    def start(self, line, *more):
        machine, command = line
        program, *words = command.replace("10.0.0.1", f"{NETWORK}1").split()
        folder = self.programs.folder / f"{machine}.{program}.{words[0]}"
        folder.mkdir()
        environment = {**self.programs.environment, "XDG_CACHE_HOME": str(folder / "cache")}
        within = ["nsenter", f"--net=/proc/{self.machines[machine].process.pid}/ns/net"]
        started = Program([*within, self.programs.build / program, *words, *more], folder, environment)
        self.programs.running.append(started)
        return started


@pytest.fixture
def site(programs, machines, root):
    return Site(programs, machines, (root / "README.md").read_text())


def test_the_walk_through(site, lite0, photos):
    """Photos of a third machine, by a model that only it has, on the workers of two others."""
    master, *workers, status, run = site.lines
    assert [line[0] for line in (master, *workers, status, run)] == ["master", "worker-a", "worker-b", "desk", "desk"]
    site.start(master).wait_for("listens at")
    for line in workers:
        site.start(line).wait_for("works for")
    seen = site.start(status, "--json").finish().objects()[0]
    assert sorted(worker["name"] for worker in seen["workers"]) == ["worker-a", "worker-b"]

    machine, command = run
    verb, names = command.split(" MODEL ")
    assert names == "PHOTO..."
    job = (machine, verb)
    paths = sorted(photos.iterdir()) * 4
    ended = site.start(job, "--json", "--task-items", "1", lite0, *paths).finish(120)
    assert ended.code == 0, ended.err
    assert len(ended.items()) == len(paths) and ended.summary()["failed"] == 0
    assert {item["worker"] for item in ended.items()} == {"worker-a", "worker-b"}


@pytest.mark.parametrize("bind", ["tcp://127.0.0.1:*", "none"])
def test_desk_that_nobody_can_connect_to(site, lite0, photos, bind):
    """As behind a firewall: the address that the desk tells is of no use to others, or it tells none."""
    master, *workers, _, run = site.lines
    site.start(master).wait_for("listens at")
    for line in workers:
        site.start(line).wait_for("works for")
    machine, command = run
    verb, _ = command.split(" MODEL ")
    paths = sorted(photos.iterdir()) * 2
    ended = site.start((machine, verb), "--json", "--data-bind", bind, "--task-items", "1", lite0, *paths).finish(120)
    assert ended.code == 0, ended.err
    assert len(ended.items()) == len(paths) and ended.summary()["failed"] == 0
    assert {item["worker"] for item in ended.items()} == {"worker-a", "worker-b"}
