"""Promise: with PostgreSQL, processes of several roles share the work, and each of them may die or
hang.
"""

from __future__ import annotations

import json
import signal
from collections import Counter

import pytest

from tests.roles import Cluster
from tests.services import until
from tidings.storage.db import lock
from tidings.storage.observed import hints

WAIT_SECONDS = 30.0


@pytest.fixture
def cluster(tmp_path, products):
    with products.fresh("postgresql", tmp_path) as settings, Cluster(tmp_path, settings.store.url) as running:
        yield running


def test_planner_that_hangs_or_dies_is_replaced(cluster):
    """No check is made twice, and each change is reported once.

    Screens answer and hints are stored meanwhile. A planner that hung past its lease writes nothing
    more.
    """
    first = cluster.start("planner", "first")
    cluster.start("notifier", ready=False)
    web = cluster.start("web", ready=False)
    second = cluster.start("planner", "second", ready=False)
    cluster.await_told(cluster.edit())
    until(lambda: "standing by" in second.err, WAIT_SECONDS, "the second planner does not stand by")

    first.process.send_signal(signal.SIGSTOP)
    held = cluster.lease()
    edition = cluster.edit()
    hint = json.dumps({"url": cluster.server.url("/")}).encode()
    taken = cluster.ask(web, "/api/v1/signals", data=hint, headers={"Content-Type": "application/json"})
    assert (202, 1) == (taken[0], json.loads(taken[1])["pages"])
    second.wait_ready()
    cluster.await_told(edition)
    first.process.send_signal(signal.SIGCONT)
    until(lambda: "the planner stands by" in first.err, WAIT_SECONDS, "the first planner does not give way")
    assert cluster.lease().epoch == held.epoch + 1
    assert [] == cluster.main.read(hints.list_left)

    second.kill()
    edition = cluster.edit()
    assert [200, 200, 200] == [cluster.ask(web, path)[0] for path in ("/", "/plan", "/healthz")]
    cluster.await_told(edition)

    assert cluster.lease().epoch == held.epoch + 2
    assert [] == cluster.violations()
    assert {1} == {*Counter(cluster.editions_told()).values()}


def test_notifier_that_hangs_or_dies_is_replaced(cluster):
    """Another sends the same message with the same id; the late result is refused."""
    cluster.start("planner")
    first = cluster.start("notifier", "first")
    cluster.holding.set()
    cluster.await_told(cluster.edit())
    first.process.send_signal(signal.SIGSTOP)
    cluster.holding.clear()
    second = cluster.start("notifier", "second")
    until(lambda: len(cluster.taken) == 2, WAIT_SECONDS, "nobody sends it again")
    first.process.send_signal(signal.SIGCONT)
    until(lambda: "was refused" in first.err, WAIT_SECONDS, "the late result is not refused")
    assert 1 == len(set(cluster.taken))

    cluster.holding.set()
    edition = cluster.edit()
    cluster.await_told(edition)
    holder = {row.name: row.holder for row in cluster.main.read(lock.listing)}["endpoint:1"]
    dead, left = (first, second) if f":{first.process.pid}:" in holder else (second, first)
    dead.kill()
    cluster.holding.clear()
    until(lambda: cluster.editions_told().count(edition) == 2, WAIT_SECONDS, "nobody sends it again")

    assert 2 == len(set(cluster.taken))
    cluster.await_told(cluster.edit())
    assert [] == cluster.violations()
    assert (0, True) == (left.terminate()[0], "stopped" in left.err)
