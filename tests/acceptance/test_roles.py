"""Promise: with PostgreSQL, processes of several roles share the work, and each of them may die or
hang.
"""

from __future__ import annotations

import json
import re
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from typing import Any
from urllib.error import HTTPError

import pytest

from tests.role_processes import Cluster
from tests.services import until
from tidings.storage.db import lock
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import open_database
from tidings.storage.observed import hints

WAIT_SECONDS = 30.0


SITES = 4


@pytest.fixture
def cluster(tmp_path, products):
    with (
        products.fresh("postgresql", tmp_path) as settings,
        Cluster(tmp_path, settings.store.url, sites=SITES) as running,
    ):
        yield running


def test_planners_divide_the_pages_and_replace_each_other(cluster):
    """No check is made twice, and each change is reported once.

    Screens answer and hints are stored meanwhile. A planner that hung past its lease writes nothing
    more, and gets its part again.
    """
    first = cluster.start("planner", "first")
    cluster.start("notifier", ready=False)
    web = cluster.start("web", ready=False)
    cluster.await_told(*cluster.edit_all())
    second = cluster.start("planner", "second", ready=False)
    cluster.await_divided(first, second)
    second.wait_ready()
    assert {first.process.pid, second.process.pid} == {cluster.find_holder(site) for site in range(SITES)}
    cluster.await_told(*cluster.edit_all())

    first.process.send_signal(signal.SIGSTOP)
    editions = cluster.edit_all()
    hint = json.dumps({"url": cluster.sites[0].server.url("/")}).encode()
    taken = cluster.ask(web, "/api/v1/signals", data=hint, headers={"Content-Type": "application/json"})
    assert (202, 1) == (taken[0], json.loads(taken[1])["pages"])
    cluster.await_divided(second)
    cluster.await_told(*editions)
    first.process.send_signal(signal.SIGCONT)
    until(lambda: "begins again" in first.err, WAIT_SECONDS, "the first planner does not give way")
    cluster.await_divided(first, second)
    assert [] == cluster.main.read(hints.list_left)

    second.kill()
    editions = cluster.edit_all()
    assert [200, 200, 200] == [cluster.ask(web, path)[0] for path in ("/", "/plan", "/healthz")]
    cluster.await_told(*editions)

    cluster.await_divided(first)
    until(
        lambda: (
            {'role="planner"', 'role="notifier"'} <= {*re.findall('role="[a-z]+"', cluster.ask(web, "/metrics")[1])}
        ),
        WAIT_SECONDS,
        "the web process does not show the counters of the others",
        pause=0.5,
    )
    assert [] == cluster.violations()
    assert {1} == {*Counter(cluster.editions_told()).values()}


def test_pages_that_lead_to_a_host_of_another_planner_keep_its_gap(cluster):
    """F-39: its own pages are checked at the same time."""
    gap = 0.25
    cluster.variables["TIDINGS_FETCH_HOST_GAP_SECONDS"] = str(gap)
    services = [cluster.start("planner", name, ready=False) for name in ("first", "second")]
    cluster.await_divided(*services)
    far = cluster.sites[1]
    assert cluster.find_holder(0) != cluster.find_holder(1)
    cluster.sites[0].leads_to = far.server.url("/")
    away = cluster.sites[0].server.url("/away")
    cluster.main.run(
        "add", "-", "--no-check", text=f"Create Sentinel away Using {away} Monitor any change Fetch every 1 s"
    )

    until(lambda: len(far.arrivals) > 10, WAIT_SECONDS, "the host is not asked", pause=0.05)

    assert gap < min(later - earlier for earlier, later in pairwise(far.arrivals))


def test_planner_that_is_stopped_leaves_its_pages_to_the_others_at_once(cluster):
    """The last one releases the lease, so that one process can do everything again."""
    cluster.variables["TIDINGS_SERVE_LEASE_SECONDS"] = str(2 * WAIT_SECONDS)
    first, second = (cluster.start("planner", name, ready=False) for name in ("first", "second"))
    cluster.await_divided(first, second)
    assert 0 == first.terminate()[0]
    cluster.await_divided(second)
    assert 0 == second.terminate()[0]

    assert ("", []) == (cluster.lease().holder, cluster.runs())
    alone = cluster.machine("alone").serve()
    alone.wait_ready()
    cluster.await_told(*cluster.edit_all())
    assert [] == cluster.violations()


def test_web_process_answers_503_while_the_database_is_held_and_goes_on(cluster):
    """F-40: it says when to ask again. It reads meanwhile, and takes what is sent again."""
    cluster.variables["TIDINGS_STORE_BUSY_SECONDS"] = "1"
    cluster.start("planner")
    web = cluster.start("web")
    assert 200 == cluster.ask(web, "/")[0]
    text = json.dumps({"url": cluster.sites[0].server.url("/")})
    hint: dict[str, Any] = {"data": text.encode(), "headers": {"Content-Type": "application/json"}}
    holding, over = threading.Event(), threading.Event()
    database = open_database(cluster.main.settings)

    def hold(c: Connection) -> None:
        holding.set()
        while not over.is_set():  # the server ends a transaction in which nothing is said
            c.value("SELECT pg_sleep(0.05)")

    with closing(database), ThreadPoolExecutor() as pool:
        held = pool.submit(database.write, hold)
        try:
            holding.wait(WAIT_SECONDS)
            with pytest.raises(HTTPError) as refused:
                cluster.ask(web, "/api/v1/signals", **hint)
            with refused.value as answer:
                assert (503, "5") == (answer.code, answer.headers["Retry-After"])
            assert 200 == cluster.ask(web, "/")[0]
        finally:
            over.set()
        held.result()

    assert 202 == cluster.ask(web, "/api/v1/signals", **hint)[0]
    assert (0, True) == (web.terminate()[0], "stopped" in web.err)


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
