"""Where the programs write: descriptors that are closed or full, files that are none, limits of the system."""

import json
import os
import socket
import stat

import pytest
from programs import wait_until
from test_faults import interrupt

PROGRAMS = ("dls-master", "dls-worker", "dls-submit")
SPECIAL = ("device", "link", "dangling", "fifo", "socket", "folder")


def shell(programs, script, *words):
    """Starts a program behind shell code, with its path as $0."""
    return programs.start("/bin/sh", "-c", f'exec {script}', programs.build / words[0], *words[1:])


@pytest.mark.parametrize("words", [["--help"], ["help", "run"], ["--version"], ["model", "show"], ["run", "--local"]])
@pytest.mark.parametrize("place", ["> /dev/full", ">&-"])
def test_output_that_cannot_be_written(programs, fashion, tmp_path, words, place):
    if "run" in words[:1] or "show" in words:
        words = [*words, fashion]
    if "--local" in words:
        words.append(tmp_path / "grey.png")
        (tmp_path / "grey.png").touch()
    ended = shell(programs, f'"$0" "$@" {place}', "dls-submit", *words).finish()
    assert (ended.code, ended.err) == (4, "dls-submit: cannot write to standard output\n")


@pytest.mark.parametrize("verb", ["status", "list"])
def test_answer_that_cannot_be_written(programs, verb):
    master = programs.master()
    ended = shell(programs, '"$0" "$@" > /dev/full', "dls-submit", verb, "--master", master.endpoint).finish()
    assert (ended.code, ended.err) == (4, "dls-submit: cannot write to standard output\n")


@pytest.mark.parametrize("program", ["dls-master", "dls-worker"])
def test_help_that_cannot_be_written(programs, program):
    ended = shell(programs, '"$0" --help > /dev/full', program).finish()
    assert (ended.code, ended.err) == (4, f"{program}: cannot write to standard output\n")


def descriptors(process):
    return {int(fd): os.readlink(f"/proc/{process}/fd/{fd}") for fd in os.listdir(f"/proc/{process}/fd")}


def test_closed_standard_descriptors_are_not_given_away(programs, tmp_path):
    """What is printed would go to whatever has their numbers."""
    endpoint = tmp_path / "endpoint"
    words = ["--bind", "tcp://127.0.0.1:0", "--endpoint-file", endpoint]
    master = shell(programs, '"$0" "$@" <&- >&- 2>&-', "dls-master", *words)
    wait_until(endpoint.exists, "the endpoint file")
    words = ["--master", endpoint.read_text().strip()]
    worker = shell(programs, '"$0" "$@" <&- >&- 2>&-', "dls-worker", *words)
    status = ["status", "--json", *words]
    wait_until(lambda: json.loads(programs.run("dls-submit", *status).out)["workers"], "the worker")
    for program in (master, worker):
        assert [descriptors(program.process.pid)[fd] for fd in range(3)] == ["/dev/null"] * 3
        assert program.stop().code == 0


def test_program_that_started_anew_keeps_its_name(programs):
    """It does so to set the threads of its libraries; ps, top and pgrep show the name."""
    worker = programs.worker(programs.master(), "w1", "--threads", 3)
    with open(f"/proc/{worker.process.pid}/comm", encoding="ascii") as name:
        assert name.read() == "dls-worker\n"


def make(kind, path):
    """Something at the path that is no regular file; what it is afterwards."""
    if kind == "device":
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("only root can make a device")
    elif kind == "link":
        path.with_name("target").write_text("kept")
        path.symlink_to("target")
    elif kind == "dangling":
        path.symlink_to("nowhere")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(os.fspath(path))
    else:
        path.mkdir()
    return path.lstat()


def same(path, before):
    now = path.lstat()
    return (now.st_ino, now.st_mode, now.st_rdev) == (before.st_ino, before.st_mode, before.st_rdev)


@pytest.mark.parametrize("kind", SPECIAL)
def test_output_is_written_in_the_place_of_a_file_only(programs, fashion, tmp_path, kind):
    place = tmp_path / "place"
    before = make(kind, place)
    (tmp_path / "grey.png").touch()
    outputs = (
        programs.local("--output", place, fashion, tmp_path / "grey.png"),
        programs.run("dls-master", "--bind", "tcp://127.0.0.1:0", "--endpoint-file", place),
        programs.run("dls-master", "--bind", "tcp://127.0.0.1:0", "--endpoint-file", place, "--check"),
    )
    for ended in outputs:
        assert (ended.code, ended.out) == (4, ""), ended.err
        assert f"{place} is there and is not a regular file" in ended.err
        assert same(place, before)
    left = {path.name for path in tmp_path.iterdir()} - {"cache", "grey.png", "place", "target"}
    assert all(name[0].isdigit() for name in left), "nothing else is left"


def test_file_at_its_limit(programs, fashion, fashion_pictures, tmp_path):
    """The file that is not whole goes, and so does that of a master which cannot say where it listens."""
    (tmp_path / "out").mkdir()
    (tmp_path / "empty").touch()
    assert programs.local(fashion, tmp_path / "empty").code == 1  # the model is in the cache now
    pictures = fashion_pictures / "t10k-images-idx3-ubyte"
    words = ["run", "--local", "--output", tmp_path / "out/classes.npy", fashion, pictures]
    script = 'ulimit -f 1; exec "$0" "$@" > /dev/null'
    ended = programs.start("/bin/sh", "-c", script, programs.build / "dls-submit", *words).finish(120)
    assert (ended.code, "classes.npy: File too large" in ended.err) == (4, True), ended.err
    script = 'ulimit -f 0; exec "$0" "$@" > /dev/null 2>&1'
    words = ["--bind", "tcp://127.0.0.1:0", "--endpoint-file", tmp_path / "out/endpoint"]
    assert programs.start("/bin/sh", "-c", script, programs.build / "dls-master", *words).finish().code == 4
    assert not list((tmp_path / "out").iterdir())


def test_interrupt_while_files_are_added(programs, tmp_path):
    """Of so many files that it takes a while."""
    count = 300000
    (tmp_path / "item").write_text("x")
    (tmp_path / "list").write_text(f"{tmp_path / 'item'}\n" * count)
    words = ["--master", "tcp://127.0.0.1:1", "--handler", "number", f"@{tmp_path / 'list'}"]
    job = programs.start("dls-submit", "run", *words)
    interrupt(job)
    ended = job.finish()
    assert ended.code == 130
    assert int(ended.err.split("interrupted: 0 of ")[1].split()[0]) < count


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_was_typed_is_printed_without_control_characters(programs, program):
    ended = programs.run(program, "--mas\x1b[2J\nter", "x")
    assert ended.code == 2
    assert "--mas?[2J?ter" in ended.err and ended.err.count("\n") == 1 and "\x1b" not in ended.err
