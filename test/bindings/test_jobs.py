"""Jobs that Python handlers run: arrays there and back, errors, and the life of handles."""

import json
import subprocess
import threading

import dlsched
import numpy
import pytest
from common import BUILD, SECONDS, wait_until
from dlsched import _arrays, _tables, errors


def run(client, worker, function, *items, **options):
    """The results of one job over `items`, each a tuple of arrays, with `function` as the handler."""
    worker.handle("tested", function)
    worker.start()
    job = client.job(handler="tested", **options)
    for item in items:
        job.add(*item)
    return list(job.submit())


def test_results_come_in_the_order_of_the_items(client, worker):
    worker.handle("square", lambda item: item.inputs[0] ** 2)
    worker.start()
    batch = numpy.arange(3000, dtype=numpy.float64).reshape(1000, 3)
    results = list(client.job(handler="square").add_batch(batch).submit())
    assert [result.item for result in results] == list(range(1000))
    assert numpy.array_equal([result.value for result in results], batch**2)
    assert {result.worker for result in results} == {"python"}
    assert all(result.error is None and result.seconds > 0 for result in results)


@pytest.mark.parametrize("dtype", [name for name, _, _ in _tables.DTYPES])
def test_every_type_of_element_goes_there_and_back(client, worker, dtype):
    sent = numpy.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    (result,) = run(client, worker, lambda item: item.inputs[0], [sent])
    assert result.value.dtype == sent.dtype
    assert numpy.array_equal(result.value, sent)


@pytest.mark.parametrize(
    "sent",
    [
        numpy.float32(7),
        numpy.zeros((0, 4), numpy.float32),
        numpy.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)[::-1],
        numpy.arange(5, dtype=">i4"),
        numpy.ones((1,) * _tables.TENSOR_RANK),
        [[1.5, 2], [3, 4]],
    ],
    ids=["scalar", "empty", "strided", "big-endian", "most dimensions", "list"],
)
def test_every_shape_of_array_goes_there_and_back(client, worker, sent):
    (result,) = run(client, worker, lambda item: item.inputs[0], [sent])
    assert result.value.shape == numpy.shape(sent)
    assert numpy.array_equal(result.value, sent)


def test_several_inputs_and_outputs(client, worker):
    (result,) = run(client, worker, lambda item: (item.inputs[1], item.inputs[0] + 1), [numpy.arange(3), numpy.ones(2)])
    assert [output.values.tolist() for output in result.outputs] == [[1, 1], [1, 2, 3]]
    assert all(output.indices is None for output in result.outputs)


def test_large_arrays_are_given_back(client, worker):
    sent = numpy.random.default_rng(1).random((4, 200_000))
    (result,) = run(client, worker, lambda item: item.inputs[0] * 2, [sent])
    assert numpy.array_equal(result.value, sent * 2)
    wait_until(lambda: not _arrays._lent)


def test_what_a_handler_knows_of_an_item(client, worker):
    seen = []

    def note(item):
        seen.append((item.number, item.params, len(item.job), item.cancelled()))
        return 0

    run(client, worker, note, [1], [2], [3], params={"scale": 2.5, "name": "ü"})
    assert sorted(seen) == [(number, {"scale": 2.5, "name": "ü"}, 32, False) for number in range(3)]


def test_bytes_come_as_they_are(client, worker):
    worker.handle("reverse", lambda item: item.inputs[0][::-1])
    worker.start()
    (result,) = client.job(handler="reverse").add_bytes(b"a\0b").submit()
    assert result.value.dtype == numpy.uint8
    assert result.value.tobytes() == b"b\0a"


def fail_on_two(item):
    if item.inputs[0] == 2:
        raise KeyError("no such column")
    return item.inputs[0]


def test_an_exception_is_the_error_of_its_item_with_the_traceback(client, worker):
    results = run(client, worker, fail_on_two, [1], [2], [3])
    assert [result.error is None for result in results] == [True, False, True]
    error = results[1].error
    assert type(error) is errors.EHANDLER
    assert str(error).startswith("KeyError: 'no such column'\n")
    assert "in fail_on_two: raise KeyError" in str(error)
    with pytest.raises(errors.EHANDLER, match="no such column"):
        results[1].value


def test_any_exception_is_only_the_error_of_its_item(client, worker):
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    raised = [SystemExit(3), KeyboardInterrupt(), Mute(), ValueError("ü\0\ud800 " * 3000), MemoryError()]

    def fail(item):
        raise raised[item.number]

    results = run(client, worker, fail, *[[0]] * len(raised))
    for result, name in zip(results, ("SystemExit: 3", "KeyboardInterrupt", "", "ValueError: ü??", "MemoryError")):
        assert type(result.error) is errors.EHANDLER
        assert name in str(result.error)


def test_an_error_of_the_library_keeps_its_code(client, worker):
    def refuse(item):
        raise errors.EUNSUPPORTED("only squares")

    (result,) = run(client, worker, refuse, [1])
    assert type(result.error) is errors.EUNSUPPORTED
    assert "only squares" in str(result.error)


def test_a_handler_that_returns_nothing_is_told_to(client, worker):
    (result,) = run(client, worker, lambda item: None, [1])
    assert type(result.error) is errors.EHANDLER
    assert "the handler returned None: return an array" in str(result.error)


@pytest.mark.parametrize("returned", ["text", object(), [{}]], ids=["text", "object", "dict"])
def test_what_is_no_array_cannot_be_returned(client, worker, returned):
    (result,) = run(client, worker, lambda item: returned, [1])
    assert type(result.error) is errors.EINVAL
    assert "cannot be sent" in str(result.error)


def test_what_is_no_array_cannot_be_sent(client):
    job = client.job(handler="any")
    with pytest.raises(ValueError, match=r"arrays\[0\] has elements of type float16, which cannot be sent"):
        job.add(numpy.zeros(3, numpy.float16))
    with pytest.raises(ValueError, match="9 dimensions"):
        job.add(numpy.zeros((1,) * 9))


def test_a_bad_address_is_refused():
    with pytest.raises(errors.EADDRESS):
        dlsched.Client("nowhere")


def test_no_master_is_a_connection_error():
    with dlsched.Client("tcp://127.0.0.1:9") as client:
        with pytest.raises(ConnectionError):
            client.wait(timeout=0.2)


def test_a_wait_ends_with_its_time(client):
    job = client.job(handler="nobody has it").add(1).submit()
    for wait in (job.next, job.wait):
        with pytest.raises(TimeoutError):
            wait(timeout=0.2)
    assert job.progress().done == 0


def test_a_cancelled_job_raises(client):
    job = client.job(handler="nobody has it").add(1).submit()
    job.cancel()
    with pytest.raises(errors.ECANCELLED):
        job.next(timeout=SECONDS)


def test_a_job_iterated_to_its_end_is_closed(client, worker):
    worker.handle("same", lambda item: item.inputs[0])
    worker.start()
    job = client.job(handler="same").add_batch(numpy.arange(5)).submit()
    assert [int(result.value) for result in job] == [0, 1, 2, 3, 4]
    assert job.progress().done == 5
    with pytest.raises(errors.ESTATE, match="this Job is closed"):
        job.next()


def test_closing_a_client_ends_the_wait_of_another_thread(client):
    job = client.job(handler="nobody has it").add(1).submit()
    raised = []

    def wait():
        try:
            job.next()
        except dlsched.Error as error:
            raised.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    client.close()
    thread.join(SECONDS)
    assert [type(error) for error in raised] == [errors.ESTATE]


def test_a_started_worker_takes_no_more_handlers(worker):
    worker.start()
    with pytest.raises(errors.ESTATE):
        worker.handle("late", lambda item: 0)


def test_a_handler_cannot_close_its_own_worker(client, worker):
    def suicidal(item):
        worker.close()

    (result,) = run(client, worker, suicidal, [1])
    assert "cannot close the worker that runs it" in str(result.error)


def test_items_of_a_closed_worker_go_to_another(master, client):
    begun = threading.Event()

    def endless(item):
        begun.set()
        while True:
            pass

    job = client.job(handler="work", task_items=1).add(20).add(21)
    with dlsched.Worker(master, name="first", models=False) as first:
        first.handle("work", endless)
        first.start()
        job.submit()
        assert begun.wait(SECONDS)
    with dlsched.Worker(master, name="second", models=False) as second:
        second.handle("work", lambda item: item.inputs[0] * 2)
        second.start()
        assert [(int(result.value), result.worker) for result in job] == [(40, "second"), (42, "second")]


def test_a_worker_that_serves_ends_with_what_ends_it(master):
    """Another worker of its name takes its place."""
    first = dlsched.Worker(master, name="twin", models=False).start()
    first.wait(SECONDS)
    with dlsched.Worker(master, name="twin", models=False) as second:
        second.start()
        with pytest.raises(errors.EEXISTS):
            first.serve()
    with pytest.raises(errors.ESTATE, match="this Worker is closed"):
        first.wait()


def test_closing_a_worker_ends_its_service(master):
    worker = dlsched.Worker(master, models=False)
    serving = threading.Thread(target=worker.serve)
    serving.start()
    wait_until(lambda: worker._users)
    worker.close()
    serving.join(SECONDS)
    assert not serving.is_alive()


def test_a_worker_says_its_labels_and_resources(master):
    with dlsched.Worker(master, models=False, labels=["zone=a"], resources={"licences": 2}) as worker:
        worker.handle("echo", lambda item: item.inputs[0])
        worker.start()
        worker.wait(SECONDS)
        text = subprocess.run([BUILD / "dls-submit", "status", "--json", "--master", master], capture_output=True).stdout
    shown = json.loads(text)["workers"][0]
    assert shown["labels"] == ["zone=a"] and shown["resources"]["licences"] == 2
    with pytest.raises(errors.EINVAL, match="must be above 0"):
        dlsched.Worker(master, resources={"licences": 0})
    with pytest.raises(TypeError, match="labels is a list, not 'gpu'"):
        dlsched.Worker(master, labels="gpu")


def test_jobs_say_what_they_are_and_ask_for(client, master):
    with dlsched.Worker(master, name="a", models=False, labels=["zone=a"], resources={"licences": 2}) as worker:
        worker.handle("echo", lambda item: item.inputs[0])
        worker.start()
        options = dict(name="night", tags=["x", "y"], resources={"licences": 1.5}, labels=["zone=a"], priority=-7)
        job = client.job(handler="echo", **options).add(numpy.zeros(1)).submit()
        assert [result.worker for result in job] == ["a"]
    for found in (client.jobs(state="all", tag="y"), client.jobs(state="all", name="night")):
        assert [(shown["name"], shown["tags"], shown["priority"]) for shown in found] == [("night", ["x", "y"], -7)]
    assert not list(client.jobs(state="all", tag="z"))


@pytest.mark.parametrize(
    "options, sentence",
    [
        (dict(resources={"cores": -1}), "a job names -1 of the resource"),
        (dict(resources={"devices": 1}), "devices"),
        (dict(labels=["x"] * 17), "one more than the 16"),
        (dict(tags=["x"] * 17), "one more than the 16"),
        (dict(tags=["x" * 64]), "from 1 to 63 bytes, not 64"),
        (dict(name="x" * 256), "from 1 to 255 bytes, not 256"),
        (dict(priority=1000001), "from -1000000 to 1000000"),
    ],
)
def test_job_options_out_of_range_are_one_sentence(client, options, sentence):
    with pytest.raises(errors.EINVAL, match=sentence):
        client.job(handler="echo", **options)


def test_jobs_have_limits_and_wait_for_others(client, worker):
    worker.handle("sleepy", lambda item: wait_until(item.cancelled) or item.inputs[0])
    worker.handle("echo", lambda item: item.inputs[0])
    worker.start()
    late = client.job(handler="sleepy", item_time_limit=0.05).add(numpy.zeros(1)).submit()
    after = client.job(handler="echo", after=[late], after_when="ended").add(numpy.zeros(1)).submit()
    assert [type(result.error) for result in late] == [errors.ETIMEOUT]
    assert [result.error for result in after] == [None]
    with pytest.raises(errors.EEXPIRED, match="deadline"):
        list(client.job(handler="sleepy", deadline=0.05).add(numpy.zeros(1)).submit())
    for options in (dict(deadline=-0.001), dict(after_when="ended"), dict(after=["x"], after_when="never")):
        with pytest.raises(errors.EINVAL):
            client.job(handler="echo", **options)


def test_handles_of_jobs(client, worker):
    """What is asked of a job that has just been submitted waits until the master has it."""
    opened = threading.Event()
    worker.handle("gated", lambda item: opened.wait(SECONDS) and item.number)
    worker.start()
    for _ in range(20):
        client.job(handler="gated").add(0).submit().pause()
    first = client.job(handler="gated", priority=3).add(0).submit()
    assert first.describe()["priority"] == 3
    first.set_priority(-5)
    assert client.describe(first)["priority"] == -5
    assert first.explain()
    looks = first.watch()
    assert next(looks)["priority"] == -5
    opened.set()
    assert (last := list(looks)[-1])["state"] == "done" and last["done"] == 1
    assert [look["state"] for look in client.watch(first.id)] == ["done"]
    assert first.describe()["state"] == "done"


def test_a_refused_job_is_not_waited_for(client):
    job = client.job(handler="any", after=["f" * 32]).add(0).submit()
    with pytest.raises(errors.ENOTFOUND):
        job.describe()


def test_jobs_as_they_end(master, client):
    gates = [threading.Event() for _ in range(3)]
    with dlsched.Worker(master, devices=3, credits=1, models=False) as worker, dlsched.Client(master) as other:
        worker.handle("gated", lambda item: gates[int(item.inputs[0])].wait(SECONDS) and item.number)
        worker.start()
        jobs = [each.job(handler="gated").add(number).submit() for number, each in enumerate((client, other, client))]
        ending = dlsched.as_completed(jobs)
        for number in (1, 2, 0):
            gates[number].set()
            assert next(ending) is jobs[number]
            assert [int(result.value) for result in jobs[number]] == [0]
        assert list(ending) == [] == list(dlsched.as_completed([]))
    cancelled, endless = (client.job(handler="nobody has it").add(0).submit() for _ in range(2))
    cancelled.cancel()
    ending = dlsched.as_completed([endless, cancelled], timeout=0.2)
    assert next(ending) is cancelled
    with pytest.raises(TimeoutError, match="1 jobs have not ended yet"):
        next(ending)
    with pytest.raises(errors.ESTATE, match=r"jobs\[0\] has not been submitted"):
        dlsched.as_completed([client.job(handler="any")])


def test_items_are_tried_again(client, worker):
    seen = []

    def fail_twice(item):
        seen.append(item.number)
        if seen.count(item.number) < 3:
            raise KeyError("not yet")
        return item.number

    worker.handle("tried", fail_twice)
    worker.start()
    job = client.job(handler="tried", retries={"error": (2, 0.01), "input": 1}).add(0).add(0).submit()
    assert [int(result.value) for result in job] == [0, 1]
    assert sorted(seen) == [0, 0, 0, 1, 1, 1]
    seen.clear()
    (result,) = client.job(handler="tried", retries={"error": 1}).add(0).submit()
    assert "not yet" in str(result.error) and seen == [0, 0]
    with pytest.raises(errors.EINVAL, match="anything"):
        client.job(handler="tried", retries={"anything": 1})


def test_what_tenants_use(master, client, worker):
    worker.handle("same", lambda item: item.inputs[0])
    worker.start()
    with dlsched.Client(master, tenant="night") as night:
        assert len(list(night.job(handler="same").add(1).add(2).submit())) == 2
        wait_until(lambda: [used["items"] for used in client.tenants("night")] == [2])
        assert "night" in [used["tenant"] for used in client.tenants()]
    with pytest.raises(errors.ENOTFOUND):
        list(client.tenants("nobody"))
