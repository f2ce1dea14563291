"""What an operator sees of jobs and does to them, from another process than the one that has submitted them."""

import json
import signal

from programs import wait_until


class Held:
    """A job whose items wait until the test opens the gate."""

    def __init__(self, programs, master, inputs, gate, *words):
        self.gate = gate
        params = json.dumps({"gate": str(gate)})
        self.program = programs.start(
            "dls-submit", "run", "--master", master.endpoint, "--handler", "hold", "--params", params, *words, *inputs
        )

    def open(self):
        self.gate.touch()
        return self.program.finish()


def jobs(programs, master, *words):
    ended = programs.submit(master, "list", "--json", *words)
    assert ended.code == 0, ended.err
    return [job for page in ended.objects() for job in page["jobs"]]


def only_job(programs, master):
    """The one job there is, once it is there."""
    return wait_until(lambda: jobs(programs, master), "a job")[0]["job"]


def test_status_of_a_job(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    held = Held(programs, master, numbers(2), tmp_path / "gate", "--task-items", 1, "--priority", 5)
    wait_until(programs.journal, "the first item")
    name = only_job(programs, master)
    shown = programs.submit(master, "status", "--json", name[:8]).objects()[0]
    assert (shown["job"], shown["state"], shown["priority"]) == (name, "active", 5)
    assert (shown["items"], shown["done"], shown["running"], shown["waiting"]) == (2, 0, 2, 0)
    assert [(task["first"], task["state"]) for task in shown["tasks"]] == [(0, "running"), (1, "queued")]
    assert {task["worker"] for task in shown["tasks"]} == {"h1"}
    text = programs.submit(master, "status", name)
    assert (text.code, "submitted: 20" in text.out, "queued" in text.out) == (0, True, True)
    assert held.open().code == 0
    shown = programs.submit(master, "status", "--json", name).objects()[0]
    assert (shown["state"], shown["done"], shown["failed"]) == ("done", 2, 0)
    assert [job["job"] for job in jobs(programs, master, "--state", "done")] == [name]
    assert jobs(programs, master) == jobs(programs, master, "--state", "failed") == []


def test_jobs_that_are_not_there(programs):
    master = programs.master()
    for verb in ("status", "watch"):
        ended = programs.submit(master, verb, "0123456789")
        assert (ended.code, ended.out) == (4, "")
        assert "knows no job 0123456789" in ended.err
        ended = programs.submit(master, verb, "mine")
        assert (ended.code, '"mine" names no job' in ended.err) == (4, True)


def test_list_of_one_tenant(programs, numbers):
    master = programs.master()
    programs.handler(master, "h1")
    for tenant in ("anna", "bert", "anna"):
        assert programs.submit(master, "run", "--handler", "number", "--tenant", tenant, *numbers(1)).code == 0
    found = jobs(programs, master, "--tenant", "anna", "--state", "all")
    assert [job["tenant"] for job in found] == ["anna", "anna"]
    assert len(jobs(programs, master, "--state", "all", "--limit", 2)) == 2
    text = programs.submit(master, "list", "--state", "all", "--limit", 2)
    assert "There are more" in text.out


def test_watch_until_the_end(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    everything = programs.start("dls-submit", "watch", "--master", master.endpoint, "--all", "--json")
    held = Held(programs, master, numbers(2), tmp_path / "gate")
    name = only_job(programs, master)
    watch = programs.start("dls-submit", "watch", "--master", master.endpoint, name).wait_for(f"{name} active: 0 of 2 items")
    assert held.open().code == 0
    ended = watch.finish()
    assert ended.code == 0, ended.err
    assert f"{name} done: 2 of 2 items done, 0 failed" in ended.out.splitlines()[-1]
    everything.wait_for('"done"')
    assert everything.stop().code == 143
    seen = [json.loads(line) for line in everything.out().splitlines()]
    assert {job["job"] for job in seen} == {name}
    assert [job["state"] for job in seen][-1] == "done"


def test_watch_of_a_job_that_fails_in_part(programs, numbers):
    master = programs.master()
    programs.handler(master, "h1")
    assert programs.submit(master, "run", "--handler", "odd-fails", *numbers(2)).code == 1
    name = jobs(programs, master, "--state", "ended")[0]["job"]
    ended = programs.submit(master, "watch", name, "--json")
    assert (ended.code, [job["failed"] for job in ended.objects()]) == (1, [1])


def test_cancel_by_another_client(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    held = Held(programs, master, numbers(3), tmp_path / "gate", "--task-items", 1)
    wait_until(programs.journal, "the first item")
    name = only_job(programs, master)
    ended = programs.submit(master, "cancel", "--tenant", "operator", name[:8], "77777777")
    assert (ended.code, ended.out) == (4, f"job {name}: cancelled\n")
    assert "knows no job 77777777" in ended.err
    job = held.program.finish()
    assert job.code == 130
    assert "the job was cancelled by a command of operator" in job.err
    ended = programs.submit(master, "cancel", name)
    assert (ended.code, ended.out) == (4, "")
    assert f"job {name} has ended already: cancelled" in ended.err and "with 0 of its 3 items done" in ended.err
    assert [job["state"] for job in jobs(programs, master, "--state", "ended")] == ["cancelled"]


def test_cancel_says_in_json_what_has_become_of_each(programs):
    master = programs.master()
    ended = programs.submit(master, "cancel", "--json", "77777777", "mine")
    assert ended.code == 4
    assert [(row["job"], row["error"]) for row in ended.objects()] == [
        ("77777777", "DLS_ENOTFOUND"),
        ("mine", "DLS_EINVAL"),
    ]


def test_pause_and_resume(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    held = Held(programs, master, numbers(5), tmp_path / "gate", "--task-items", 1)
    wait_until(programs.journal, "the first item")
    name = only_job(programs, master)
    assert programs.submit(master, "pause", name).out == f"job {name}: paused\n"
    held.gate.touch()  # what has been given out comes to its end, and nothing else begins
    job = wait_until(lambda: [job for job in jobs(programs, master) if job["running"] == 0], "the end of what runs")[0]
    assert job["state"] == "paused"
    assert 0 < job["done"] + job["returned"] < 5
    assert len(programs.journal()) < 5
    assert programs.submit(master, "resume", name).out == f"job {name}: resumed\n"
    assert held.program.finish().code == 0
    assert sorted(item for _, item in programs.journal()) == list(range(5))


def test_priority(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    held = Held(programs, master, numbers(2), tmp_path / "gate")
    name = only_job(programs, master)
    assert programs.submit(master, "priority", name, -7).code == 0
    assert jobs(programs, master)[0]["priority"] == -7
    ended = programs.submit(master, "priority", name, 2**31)
    assert ended.code == 2
    assert f'the priority is "{2**31}"; it is a whole number from -1000000 to 1000000' in ended.err
    assert held.open().code == 0


def test_explain(programs, numbers, tmp_path):
    """A long task before short ones on the only device: they wait, and explain says for what."""
    master = programs.master()
    held = Held(programs, master, numbers(1), tmp_path / "gate")
    name = only_job(programs, master)
    assert "no worker is registered with the master" in programs.submit(master, "explain", name).out
    programs.handler(master, "h1")
    wait_until(programs.journal, "the first item")
    short = programs.start("dls-submit", "run", "--master", master.endpoint, "--handler", "number", *numbers(1))
    wait_until(lambda: len(jobs(programs, master)) == 2, "the short job")
    other = next(job["job"] for job in jobs(programs, master) if job["job"] != name)
    (answer,) = programs.submit(master, "explain", "--json", other).objects()
    (queued,) = [reason for reason in answer["reasons"] if reason["reason"] == "queued"]
    assert [(task["worker"], task["job"]) for task in queued["tasks"]] == [("h1", name)]
    text = programs.submit(master, "explain", other)
    assert (text.code, f"h1 cpu0: job {name}, items 0 to 0, for " in text.out) == (0, True)
    programs.submit(master, "pause", other)
    assert "it is paused" in programs.submit(master, "explain", other).out
    assert held.open().code == short.finish().code == 0
    assert "it has ended" in programs.submit(master, "explain", other).out


def test_a_job_that_waits_behind_another_says_so(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    held = Held(programs, master, numbers(8), tmp_path / "gate", "--task-items", 1)
    wait_until(programs.journal, "the first item")
    short = programs.start("dls-submit", "run", "--master", master.endpoint, "--handler", "number", *numbers(1))
    short.wait_until_said("the job waits: ")
    assert held.open().code == short.finish().code == 0


def test_drain_and_undrain(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    held = Held(programs, master, numbers(8), tmp_path / "gate", "--task-items", 1)
    wait_until(programs.journal, "the first item")
    name = only_job(programs, master)
    ended = programs.submit(master, "admin", "node", "drain", "h1")
    assert (ended.code, ended.out.startswith("worker h1: draining, tasks: ")) == (0, True)
    wait_until(lambda: jobs(programs, master)[0]["running"] == 1, "the others to be handed back")
    assert "the workers that could run it are draining" in programs.submit(master, "explain", name).out
    (page,) = programs.submit(master, "admin", "node", "list", "--json").objects()
    assert [(worker["name"], worker["draining"]) for worker in page["workers"]] == [("h1", True)]
    ended = programs.submit(master, "admin", "node", "drain", "h2")
    assert (ended.code, 'the master has no worker "h2"' in ended.err) == (4, True)
    assert programs.submit(master, "admin", "node", "undrain", "h1").code == 0
    assert held.open().code == 0
    assert sorted(item for _, item in programs.journal()) == list(range(8)), "each item has run once"


def test_what_a_drained_worker_has_not_begun_goes_to_another(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    held = Held(programs, master, numbers(8), tmp_path / "gate", "--task-items", 1)
    wait_until(programs.journal, "the first item")
    name = only_job(programs, master)
    programs.submit(master, "admin", "node", "drain", "h1")
    programs.handler(master, "h2")
    wait_until(lambda: len(programs.journal()) == 2, "the second worker to begin")
    assert held.open().code == 0
    journal = programs.journal()
    assert sorted(item for _, item in journal) == list(range(8))
    assert [worker for worker, _ in journal].count("h1") == 1
    assert programs.submit(master, "status", name, "--json").objects()[0]["state"] == "done"


def test_worker_drains_at_sigterm(programs, fashion, fashion_pictures):
    """One worker leaves in the middle of a job: the other does the rest, and nothing runs twice."""
    master = programs.master()
    first = programs.worker(master, "w1")
    pictures = fashion_pictures / "t10k-images-idx3-ubyte"
    job = programs.start("dls-submit", "run", "--master", master.endpoint, "--json", "--task-items", 16, fashion, pictures)
    job.wait_for('"worker":"w1"')
    programs.worker(master, "w2")
    job.wait_for('"worker":"w2"')
    assert first.stop().code == 0
    ended = job.finish(120)
    assert ended.code == 0, ended.err
    status = programs.submit(master, "status", "--json").objects()[0]
    assert (status["done_items"], status["lost_workers"]) == (10000, 0)
    assert 625 <= status["done_tasks"] <= 626, "each task was done once, and one of them perhaps in two parts"
    assert [worker["name"] for worker in status["workers"]] == ["w2"]


def test_a_long_task_does_not_hold_up_short_ones_where_another_device_is_idle(programs, numbers, tmp_path):
    master = programs.master()
    programs.handler(master, "h1")
    held = Held(programs, master, numbers(1), tmp_path / "gate")
    wait_until(programs.journal, "the long task")
    words = ["--handler", "number", "--task-items", 1, "--json", *numbers(100)]
    short = programs.start("dls-submit", "run", "--master", master.endpoint, *words)
    wait_until(lambda: sum(job["running"] for job in jobs(programs, master)) > 1, "a short task behind the long one")
    programs.handler(master, "h2")
    ended = short.finish()
    assert ended.code == 0, ended.err
    assert {item["worker"] for item in ended.items()} == {"h2"}
    assert held.open().code == 0
    assert len(programs.journal()) == 101, "each item has run once"


def test_100_000_tasks_cancelled_at_once(programs, tmp_path, numbers):
    count = 100_000
    (tmp_path / "many").write_bytes(bytes([0, 0, 8, 1]) + count.to_bytes(4, "big") + bytes(count))
    master = programs.master()
    programs.handler(master, "h1")
    job = programs.start(
        "dls-submit", "run", "--master", master.endpoint, "--handler", "number", "--task-items", 1, "--quiet", tmp_path / "many"
    )
    wait_until(programs.journal, "the first item")
    name = only_job(programs, master)
    assert programs.submit(master, "cancel", name).code == 0
    assert job.finish().code == 130
    (shown,) = jobs(programs, master, "--state", "cancelled")
    assert shown["items"] == count and shown["done"] < count
    assert jobs(programs, master) == []
    assert programs.submit(master, "run", "--handler", "number", *numbers(3)).code == 0
    status = programs.submit(master, "status", "--json").objects()[0]
    assert (status["refused_messages"], status["refused_transitions"]) == (0, 0)


def test_tenants_are_told_what_they_have_used(programs, numbers):
    master = programs.master()
    programs.handler(master, "h1")
    run = programs.submit(master, "run", "--tenant", "anna", "--handler", "odd-fails", *numbers(4))
    assert run.code == 1
    programs.submit(master, "admin", "tenant", "set", "night", "--weight", 2, "--resource", "devices=3")
    (page,) = programs.submit(master, "admin", "tenant", "list", "--json").objects()
    tenants = {tenant["tenant"]: tenant for tenant in page["tenants"]}
    assert {name: tenants["anna"][name] for name in ("jobs", "live_jobs", "items", "failed")} == {
        "jobs": 1,
        "live_jobs": 0,
        "items": 4,
        "failed": 2,
    }
    assert tenants["anna"]["result_bytes"] > 0 and tenants["anna"]["input_bytes"] > 0
    assert (tenants["night"]["weight"], tenants["night"]["quota"], tenants["night"]["jobs"]) == (2, {"devices": 3}, 0)
    shown = programs.submit(master, "admin", "tenant", "show", "anna", "--json").objects()
    assert shown == [tenants["anna"]]
    assert "device_seconds: " in programs.submit(master, "admin", "tenant", "show", "anna").out
    unknown = programs.submit(master, "admin", "tenant", "show", "nobody")
    assert (unknown.code, 'knows no tenant "nobody"' in unknown.err) == (4, True)


def test_one_key_is_one_job(programs, numbers, tmp_path):
    """The same once more takes the place of the first; something else is refused and leaves it alone."""
    master = programs.master()
    programs.handler(master, "h1")
    run = ["run", "--key", "k", "--handler", "hold", "--params", json.dumps({"gate": str(tmp_path / "gate")})]
    first = programs.start("dls-submit", "--master", master.endpoint, *run, *numbers(2))
    wait_until(programs.journal, "the first item")
    for words in ([*run, *numbers(3)], [*run, "--task-items", 1, *numbers(2)]):
        other = programs.submit(master, *words)
        assert (other.code, "there is a job under this key already" in other.err) == (4, True), other.err
    second = programs.start("dls-submit", "--master", master.endpoint, *run, *numbers(2))
    assert first.finish().code == 130
    (tmp_path / "gate").touch()
    assert second.finish().code == 0


def test_a_running_task_stops_between_two_items_when_its_worker_drains(programs, numbers, tmp_path):
    """What is done counts, and only the rest moves."""
    master = programs.master()
    programs.handler(master, "h1")
    held = Held(programs, master, numbers(16), tmp_path / "gate", "--task-items", 8)
    wait_until(programs.journal, "the first item")
    name = only_job(programs, master)
    programs.submit(master, "admin", "node", "drain", "h1")
    wait_until(lambda: jobs(programs, master)[0]["running"] == 8, "the second task to be handed back")
    programs.handler(master, "h2")
    assert held.open().code == 0
    journal = programs.journal()
    assert sorted(item for _, item in journal) == list(range(16)), "each item has run once"
    assert [worker for worker, _ in journal].count("h1") == 1
    assert programs.submit(master, "status", name, "--json").objects()[0]["moves"] == 2


def test_a_task_that_hangs_is_run_by_another_worker(programs, numbers, tmp_path):
    """Two attempts run the same item; the one whose process stands still does not hold the job up."""
    master = programs.master()
    workers = {name: programs.handler(master, name) for name in ("h1", "h2", "h3")}  # both attempts hang until the gate opens
    others = Held(programs, master, numbers(60), tmp_path / "others", "--task-items", 1)
    wait_until(lambda: jobs(programs, master), "the job that shows how long such items take")
    held = Held(programs, master, numbers(1), tmp_path / "gate")
    wait_until(lambda: len(jobs(programs, master)) == 2, "the job that hangs")
    assert others.open().code == 0
    who = wait_until(lambda: (at := [name for name, item in programs.journal() if item == 0])[2:] and at, "the second attempt")
    first, second = who[-2:]
    assert first != second
    (task, twin) = programs.submit(master, "status", only_job(programs, master), "--json").objects()[0]["tasks"]
    assert (task["twin"], twin["twin"]) == (twin["attempt"], task["attempt"])
    workers[first].signal(signal.SIGSTOP)
    ended = held.open()
    workers[first].signal(signal.SIGCONT)
    assert ended.code == 0, ended.err
    status = programs.submit(master, "status", "--json").objects()[0]
    assert (status["second_wins"] >= 1, status["done_items"]) == (True, 61)
