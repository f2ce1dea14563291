"""The main jobs: photos and clothing, in one process and over a master and two workers."""

import json
import os
from unicodedata import combining, east_asian_width

import numpy
import pytest
from programs import wait_until
from seen import SEEN

PICTURES = 10000


def check_photos(ended):
    assert ended.code == 0, ended.err
    items = ended.items()
    assert [item["input"].rsplit("/", 1)[1] for item in items] == list(SEEN)
    for item, (classes, probability) in zip(items, SEEN.values()):
        found = item["outputs"][0]["classes"]
        assert len(found) == 5
        assert [row["index"] for row in found[: len(classes)]] == classes
        assert found[0]["value"] == pytest.approx(probability, abs=0.01)
    rocket = items[list(SEEN).index("rocket.jpg")]["outputs"][0]["classes"]
    assert 812 in [row["index"] for row in rocket]
    assert items[0]["outputs"][0]["classes"][0]["label"] == "tiger cat"


def test_photos_in_one_process(programs, lite0, photos):
    check_photos(programs.local("--json", lite0, *(photos / name for name in SEEN), limit=120))


def test_photos_over_two_workers(programs, lite0, photos):
    master = programs.master()
    for name in ("w1", "w2"):
        programs.worker(master, name)
    ended = programs.submit(
        master, "run", "--json", "--task-items", 1, lite0, *(photos / name for name in SEEN), limit=120
    )
    check_photos(ended)
    assert {item["worker"] for item in ended.items()} <= {"w1", "w2"}
    assert ended.summary()["items"] == len(SEEN)


def test_table_of_photos(programs, lite0, photos):
    ended = programs.local(lite0, photos / "chelsea.png", photos / "coffee.png", limit=120)
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0].split() == ["input", "worker", "ms", "probability", "label"]
    assert lines[1].startswith("chelsea.png ") and "tiger cat" in lines[1]
    assert lines[6].startswith("coffee.png ") and "espresso" in lines[6]
    assert lines[11].startswith("2 items in ")
    assert len(lines) == 12
    assert ended.err == "", "no progress where there is no terminal"


def test_clothing_over_two_workers(programs, fashion, fashion_pictures, tmp_path):
    master = programs.master()
    for name in ("w1", "w2"):
        programs.worker(master, name)
    ended = programs.submit(
        master, "run", fashion, fashion_pictures / "t10k-images-idx3-ubyte", "--output", tmp_path / "classes.npy", limit=180
    )
    assert ended.code == 0, ended.err
    classes = numpy.load(tmp_path / "classes.npy")
    assert (classes == numpy.load(fashion / "expected_top1.npy")).all()
    labels = numpy.fromfile(fashion_pictures / "t10k-labels-idx1-ubyte", numpy.uint8, offset=8)
    assert (classes == labels).sum() == 9350
    assert ended.out.startswith(f"{PICTURES} items in ")


def test_arrays_instead_of_pictures(programs, fashion, fashion_pictures, tmp_path):
    """A .npy file of the model's input gives what the picture gives."""
    data = numpy.fromfile(fashion_pictures / "t10k-images-idx3-ubyte", numpy.uint8, offset=16)[: 28 * 28]
    numpy.save(tmp_path / "input.npy", (data / numpy.float32(255)).astype(numpy.float32).reshape(1, 28, 28))
    ended = programs.local("--json", "--top", 1, fashion, tmp_path / "input.npy")
    assert ended.code == 0, ended.out
    expected = numpy.load(fashion / "expected_first64.npy")[0]
    found = ended.items()[0]["outputs"][0]["classes"]
    assert [row["index"] for row in found] == [expected.argmax()]
    assert found[0]["value"] == pytest.approx(expected.max(), abs=1e-4)


def test_handler_job_in_the_order_of_its_items(programs, numbers):
    master = programs.master()
    for name in ("h1", "h2"):
        programs.handler(master, name)
    ended = programs.submit(master, "run", "--json", "--handler", "number", "--task-items", 1, *numbers(100))
    assert ended.code == 0, ended.err
    assert [item["item"] for item in ended.items()] == list(range(100))
    assert [item["outputs"][0]["values"] for item in ended.items()] == [[number] for number in range(100)]
    assert {worker for worker, _ in programs.journal()} == {"h1", "h2"}
    assert sorted(item for _, item in programs.journal()) == list(range(100))


def test_items_that_fail(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    words = ["run", "--handler", "odd-fails", *numbers(4)]
    ended = programs.submit(master, *words, "--json")
    assert ended.code == 1
    assert [item.get("error") for item in ended.items()] == [None, "DLS_EFORMAT", None, "DLS_EFORMAT"]
    assert ended.items()[1]["text"] == "this number is odd"
    ended = programs.submit(master, *words, "--output", tmp_path / "numbers.npy")
    assert ended.code == 1
    assert numpy.load(tmp_path / "numbers.npy").tolist() == [0, -1, 2, -1]
    assert "1.txt: this number is odd" in ended.err
    ended = programs.submit(master, *words, "--quiet")
    assert (ended.code, ended.out) == (1, "")


def test_list_of_inputs(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    (tmp_path / "list").write_text("".join(f"{path}\n" for path in numbers(20)))
    ended = programs.submit(master, "run", "--json", "--handler", "number", f"@{tmp_path / 'list'}", tmp_path / "0.txt")
    assert ended.code == 0, ended.err
    assert [item["input"].rsplit("/", 1)[1] for item in ended.items()] == [f"{n}.txt" for n in [*range(20), 0]]
    ended = programs.submit(master, "run", "--handler", "number", f"@{tmp_path / 'nolist'}")
    assert (ended.code, "nolist" in ended.err) == (4, True)


def test_list_from_windows(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    lines = [str(path) for path in numbers(3)]
    (tmp_path / "list").write_bytes(b"\xef\xbb\xbf" + "\r\n".join([lines[0], "", *lines[1:]]).encode() + b"\r\n")
    ended = programs.submit(master, "run", "--json", "--handler", "number", f"@{tmp_path / 'list'}")
    assert ended.code == 0, ended.err
    assert [item["input"] for item in ended.items()] == lines


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["0.txt", ""], "the name of input 2 is empty"),
        (["x" * 5000], f'the name of input 1, "{"x" * 32}...", has 5000 bytes; the system takes 4095'),
        (["@"], "@ must be followed by the name of a list of inputs"),
        (["@/dev/null"], "/dev/null lists no inputs"),
        (["0.txt", "@-"], "standard input lists no inputs"),
    ],
)
def test_inputs_without_a_proper_name(programs, words, sentence):
    ended = programs.run("dls-submit", "run", "--handler", "number", *words)
    assert (ended.code, ended.out, ended.err) == (4, "", f"dls-submit: {sentence}\n")


def test_reason_that_stands_behind_a_long_name(programs):
    ended = programs.run("dls-submit", "run", "--handler", "number", "@" + "x" * 3000)
    assert ended.err.endswith("xxx: File name too long\n")


def test_status_and_list(programs, numbers):
    master = programs.master()
    programs.handler(master, "h1")
    programs.submit(master, "run", "--handler", "number", *numbers(10))
    ended = programs.submit(master, "status", "--json")
    assert ended.code == 0
    status = json.loads(ended.out)
    assert [worker["name"] for worker in status["workers"]] == ["h1"]
    assert status["longest_turn_ms"] >= status["recent_turn_ms"] > 0
    text = programs.submit(master, "status")
    assert (text.code, "h1" in text.out, "longest_turn_ms: " in text.out) == (0, True, True)
    assert programs.submit(master, "list").code == 0


def test_list_shows_a_job_that_runs(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    hold = json.dumps({"gate": str(tmp_path / "gate")})
    job = programs.start(
        "dls-submit", "run", "--master", master.endpoint, "--handler", "hold", "--params", hold, *numbers(3)
    )
    wait_until(programs.journal, "the first item")
    jobs = json.loads(programs.submit(master, "list", "--json").out)["jobs"]
    assert [(row["handler"], row["items"]) for row in jobs] == [("hold", 3)]
    (tmp_path / "gate").touch()
    assert job.finish().code == 0


def test_model_show(programs, fashion):
    ended = programs.run("dls-submit", "model", "show", fashion, "--json")
    assert ended.code == 0, ended.err
    shown = json.loads(ended.out)
    assert [port["name"] for port in shown["inputs"]] == ["input"]
    text = programs.run("dls-submit", "model", "show", fashion)
    assert (text.code, "input" in text.out) == (0, True)


def test_progress_without_a_terminal_is_lines(programs, numbers):
    master = programs.master()
    programs.handler(master, "h1")
    ended = programs.submit(master, "run", "--progress", "--handler", "number", *numbers(3))
    assert ended.code == 0
    lines = ended.err.splitlines()
    assert all(line.startswith("[") and "/3" in line for line in lines)
    assert "3/3" in lines[-1] and "\r" not in ended.err


def test_progress_on_a_terminal(programs, numbers, tmp_path, pseudo_terminals):
    """A bar that is written over again and again, and taken away before the table and at the end."""
    master = programs.master()
    programs.handler(master, "h1")
    hold = json.dumps({"gate": str(tmp_path / "gate")})
    ours, theirs = os.openpty()
    job = programs.start(
        "dls-submit", "run", "--master", master.endpoint, "--handler", "hold", "--params", hold, *numbers(3), err=theirs
    )
    os.close(theirs)
    os.set_blocking(ours, False)
    seen = b""

    def see():
        nonlocal seen
        try:
            seen += os.read(ours, 65536)
        except BlockingIOError:
            pass
        except OSError:  # how a pseudo-terminal says that the other end is closed
            return True
        return b"0/3  0/s, 1 worker" in seen and not (tmp_path / "gate").exists()

    wait_until(see, "the bar")
    (tmp_path / "gate").touch()
    wait_until(see, "the end of the terminal")
    os.close(ours)
    assert job.finish().code == 0
    assert seen.startswith(b"\r[") and b"\n" not in seen
    assert seen.endswith(b"\r\x1b[K")


def columns(text):
    """Of a terminal: wide characters take two, those that are put on top of others none."""
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def test_speed_of_the_shortest_job(programs, numbers):
    master = programs.master()
    programs.handler(master, "h1")
    ended = programs.submit(master, "run", "--json", "--handler", "number", *numbers(1))
    assert ended.summary()["items_per_second"] > 0
    assert ended.summary()["seconds"] > 0
    text = programs.submit(master, "run", "--handler", "number", *numbers(1)).out.splitlines()[-1]
    assert text.startswith("1 item in ") and " 0.0 a second" not in text


def test_names_that_are_hard_to_print(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    names = [b'quote".txt', b"back\\slash", b"line\nfeed", b"escape\x1b[2J", b"latin\xe9"]
    names += ["größe".encode(), "写真".encode(), "e\u0301toile".encode(), b"c1\xc2\x9b2J", "ü".encode() * 100]
    paths = [os.path.join(os.fsencode(tmp_path), name) for name in names]
    for path in paths:
        with open(path, "wb") as file:
            file.write(b"x")
    words = ["run", "--handler", "number", *(os.fsdecode(path) for path in paths)]
    ended = programs.submit(master, *words, "--json")
    assert ended.code == 0, ended.err
    shown = [item["input"].rsplit("/", 1)[1] for item in ended.items()]
    assert shown == [name.decode(errors="replace") for name in names]
    table = programs.submit(master, *words)
    assert table.code == 0
    assert "line?feed" in table.out and "escape?[2J" in table.out and "\x1b" not in table.out
    assert "latin?" in table.out and "c1?2J" in table.out and f"...{'ü' * 41} " in table.out
    rows = [row for row in table.out.splitlines() if " h1 " in row]
    assert len(rows) == len(names)
    assert {columns(row[: row.index(" h1 ")]) for row in rows} == {columns("..." + "ü" * 41) + 1}


def test_jobs_are_listed_by_name_and_tag(programs, numbers):
    master = programs.master()
    programs.handler(master, "h1", "zone=a")
    for words in (["--name", "night", "--tag", "a", "--tag", "b"], ["--tag", "b"], []):
        assert programs.submit(master, "run", "--quiet", "--handler", "number", *words, *numbers(1)).code == 0

    def listed(*words):
        return programs.submit(master, "list", "--state", "all", "--json", *words).objects()[0]["jobs"]

    assert [len(listed(*words)) for words in ([], ["--tag", "b"], ["--tag", "a"], ["--name", "day"])] == [3, 2, 1, 0]
    assert (listed("--name", "night")[0]["name"], listed("--name", "night")[0]["tags"]) == ("night", ["a", "b"])
    assert programs.submit(master, "list", "--tag", "a", "--tag", "b").code == 2


def test_a_job_waits_for_a_worker_with_its_label(programs, numbers):
    master = programs.master()
    programs.handler(master, "h1")
    words = ["--handler", "number", "--label", "zone=a", "--json", *numbers(3)]
    job = programs.start("dls-submit", "run", "--master", master.endpoint, *words)
    wait_until(lambda: programs.submit(master, "list", "--json").objects()[0]["jobs"], "the job")
    programs.handler(master, "h2", "zone=a")
    ended = job.finish()
    assert ended.code == 0 and {line["worker"] for line in ended.objects() if "worker" in line} == {"h2"}


def test_a_job_that_asks_for_too_much_is_put_off(programs, numbers):
    master = programs.master()
    programs.handler(master, "h1")
    words = ["--handler", "number", "--resource", "licences=1", "--timeout", 0.5]
    ended = programs.submit(master, "run", *words, *numbers(1))
    assert ended.code == 5 and "asks for 1 licences" in ended.err
    bad = [(["--resource", "cores=0"], "above 0"), (["--tag", "t" * 64], "63"), (["--priority", 1000001], "1000000")]
    for words, part in bad:
        ended = programs.submit(master, "run", "--handler", "number", *words, *numbers(1))
        assert ended.code in (2, 4) and part in ended.err, ended.err


def test_items_that_take_too_long_fail_alone(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    words = ["--handler", "hold", "--params", json.dumps({"gate": str(tmp_path / "gate")}), "--item-time-limit", 0.05]
    ended = programs.submit(master, "run", "--json", "--task-items", 1, *words, *numbers(2))
    assert ended.code == 1
    assert [item["error"] for item in ended.items()] == ["DLS_ETIMEOUT"] * 2
    assert "the job's limit of 0.05 s each" in ended.items()[0]["text"]


def status_of_only_job(programs, master):
    job = programs.submit(master, "list", "--json", "--state", "all").objects()[0]["jobs"][0]["job"]
    return programs.submit(master, "status", job, "--json").objects()[0]


def test_items_that_fail_are_tried_again(programs, numbers):
    """As often as is said, and only those: what has a result is not run again."""
    master = programs.master()
    programs.handler(master, "h1")
    words = ["--handler", "odd-fails", "--json", "--retry", "error=2,0.01", *numbers(4)]
    ended = programs.submit(master, "run", *words)
    assert ended.code == 1
    assert ["error" in item for item in ended.items()] == [False, True, False, True]
    ran = [item for _, item in programs.journal()]
    assert [ran.count(item) for item in range(4)] == [1, 3, 1, 3]
    status = status_of_only_job(programs, master)
    assert (status["failed"], status["retried"]) == (2, 4)


def test_a_late_item_is_tried_again_until_it_is_in_time(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    words = ["--handler", "hold", "--params", json.dumps({"gate": str(tmp_path / "gate")}), "--item-time-limit", 0.05]
    job = programs.start("dls-submit", "run", "--master", master.endpoint, "--retry=time_limit=1000", *words, *numbers(1))
    wait_until(lambda: len(programs.journal()) > 2, "the third attempt")
    status = status_of_only_job(programs, master)
    assert (status["done"], status["failed"]) == (0, 0) and status["retried"] >= 2
    (tmp_path / "gate").touch()
    assert job.finish().code == 0


def test_an_input_that_is_missing_for_a_while_is_read_later(programs, tmp_path):
    """Above 64 KB it is read where it lies, when a worker wants it."""
    file = tmp_path / "large.bin"
    file.write_bytes(bytes(100000))
    master = programs.master()
    words = ["--handler", "reads", "--retry", "input=1000,0.02,0.02", file]
    job = programs.start("dls-submit", "run", "--master", master.endpoint, *words)
    wait_until(lambda: programs.submit(master, "list", "--json").objects()[0]["jobs"], "the job")
    file.rename(tmp_path / "away")
    programs.handler(master, "h1")
    wait_until(lambda: status_of_only_job(programs, master).get("retried", 0) > 2, "the third attempt")
    (tmp_path / "away").rename(file)
    assert job.finish().code == 0


@pytest.mark.parametrize("text", ["error", "errors=1", "error=", "error=1,", "error=1,2,3,4", "error=1,-2", "error=1.5"])
def test_retries_that_are_none(programs, text):
    ended = programs.run("dls-submit", "run", "--handler", "h", "--retry", text, "x")
    assert ended.code == 2 and f'--retry is "{text}"; it is error, time_limit or input' in ended.err


def test_a_job_that_is_late_fails_with_a_sentence(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    words = ["--handler", "hold", "--params", json.dumps({"gate": str(tmp_path / "gate")}), *numbers(1)]
    for option, part in (("--deadline", "the job's deadline has passed"), ("--time-limit", "the job's time limit of 0.1 s")):
        ended = programs.submit(master, "run", option, 0.1, *words)
        assert ended.code == 5 and part in ended.err, ended.err


def test_a_job_waits_for_another(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    params = json.dumps({"gate": str(tmp_path / "gate")})
    run = ["run", "--master", master.endpoint, "--handler"]
    first = programs.start("dls-submit", *run, "hold", "--params", params, *numbers(1))
    name = wait_until(lambda: programs.submit(master, "list", "--json").objects()[0]["jobs"], "the job")[0]["job"]
    second = programs.start("dls-submit", *run, "number", "--after", name, "--quiet", *numbers(1))
    wait_until(lambda: programs.submit(master, "list", "--state", "waiting", "--json").objects()[0]["jobs"], "the other")
    (tmp_path / "gate").touch()
    assert (first.finish().code, second.finish().code) == (0, 0)
    unknown = programs.submit(master, *run[:1], "--handler", "number", "--after", "0" * 32, *numbers(1))
    assert unknown.code == 4 and "the master knows no job" in unknown.err
