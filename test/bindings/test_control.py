"""What a client sees of the jobs of all clients, and does to them."""

import threading

import dlsched
import pytest
from common import SECONDS, wait_until
from dlsched import errors


class Gate:
    """A handler that answers with the item's number, once the test has opened it."""

    def __init__(self, worker):
        self.opened = threading.Event()
        self.begun = 0
        worker.handle("gated", self)
        worker.start()

    def __call__(self, item):
        self.begun += 1
        assert self.opened.wait(SECONDS)
        return item.number


@pytest.fixture
def gate(worker):
    gate = Gate(worker)
    yield gate
    gate.opened.set()


def begin(client, gate, items, **options):
    job = client.job(handler="gated", task_items=1, **options)
    for _ in range(items):
        job.add([0.0])
    job.submit()
    wait_until(lambda: gate.begun)
    return job


def test_jobs_of_all_clients(master, client, gate):
    job = begin(client, gate, 3, priority=4)
    with dlsched.Client(master, tenant="operator") as other:
        (seen,) = other.jobs()
        assert (seen["job"], seen["items"], seen["priority"], seen["state"]) == (job.id, 3, 4, "active")
        assert list(other.jobs(tenant="operator")) == list(other.jobs(state="paused")) == []
        assert other.describe(job.id[:8])["tasks"][0]["state"] == "running"
        other.set_priority(job.id, -2)
        assert other.describe(job)["priority"] == -2
        with pytest.raises(errors.ENOTFOUND, match="knows no job"):
            other.describe("77777777")
        with pytest.raises(errors.EINVAL, match="names no job"):
            other.cancel("mine")
    gate.opened.set()
    assert [result.value.item() for result in job] == [0, 1, 2]
    wait_until(lambda: [seen["job"] for seen in client.jobs(state="done")] == [job.id])


def test_cancel_by_another_client(master, client, gate):
    job = begin(client, gate, 3)
    with dlsched.Client(master, tenant="operator") as other:
        other.cancel(job.id)
        with pytest.raises(errors.ESTATE, match="has ended already: cancelled"):
            other.cancel(job.id)
    with pytest.raises(errors.ECANCELLED, match="by a command of operator"):
        job.next(SECONDS)


def test_pause_and_resume(client, gate):
    job = begin(client, gate, 100)
    job.pause()
    gate.opened.set()
    wait_until(lambda: client.describe(job)["running"] == 0)
    assert client.describe(job)["state"] == "paused"
    assert gate.begun < 100
    job.resume()
    assert len(list(job)) == 100


def test_a_job_that_the_master_does_not_have(client):
    job = client.job(handler="gated")
    assert len(job.id) == 32
    with pytest.raises(errors.ENOTFOUND):
        job.pause()


def test_drain_and_undrain(client, gate):
    job = begin(client, gate, 20)
    client.drain("python")
    with pytest.raises(errors.ENOTFOUND, match="no worker \"other\""):
        client.drain("other")
    wait_until(lambda: client.describe(job)["running"] == 1)  # the others have been handed back
    assert "draining" in client.explain(job)[0]
    client.undrain("python")
    gate.opened.set()
    assert [result.value.item() for result in job] == list(range(20))
    assert gate.begun == 20


def test_a_worker_that_drains_loses_nothing(client, worker, gate):
    job = begin(client, gate, 20)
    with pytest.raises(errors.ETIMEOUT, match="still has tasks"):
        worker.drain(0.1)
    gate.opened.set()
    worker.drain(SECONDS)
    assert gate.begun == 1
    assert client.describe(job)["done"] == 1


def test_policies_and_weights(client, worker, gate):
    job = begin(client, gate, 20)
    client.set_policy("priority", {"ageing_ms": 100})
    client.set_tenant("night", weight=0.5, quota={"devices": 3, "cores": 2.5})
    client.set_tenant("night")
    with pytest.raises(errors.EINVAL, match="no policy fastest"):
        client.set_policy("fastest")
    with pytest.raises(errors.EINVAL, match="ageing_ms"):
        client.set_policy("priority", {"aging_ms": 100})
    for weight in (0, -1, 1e9, float("nan")):
        with pytest.raises(errors.EINVAL, match="weight"):
            client.set_tenant("night", weight=weight)
    with pytest.raises(errors.EINVAL, match="cores"):
        client.set_tenant("night", quota={"cores": 0})
    gate.opened.set()
    assert [result.value.item() for result in job] == list(range(20))
