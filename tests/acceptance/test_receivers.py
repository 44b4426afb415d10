"""Promise: news arrive in order and complete at any receiver, and the owner is notified when one
refuses them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.world import World, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.service.health import sources
from tidings.service.run.monitor import Monitor
from tidings.storage.db.database import open_database

Answer = Callable[[int, dict[str, Any]], "tuple[int, dict[str, str]]"]
UP: tuple[int, dict[str, str]] = (200, {})


class Receiver:
    """A receiver of webhooks with the answers of its test; it records messages and the time of each
    attempt.
    """

    def __init__(self, world: World, path: str = "/hook") -> None:
        self._world = world
        self.answer: Answer = lambda number, message: UP
        self.taken: list[dict[str, Any]] = []
        self.attempts: list[int] = []
        self.ids: list[str] = []
        world.server.pages[path] = self._take
        self.url = world.server.url(path)

    def _take(self, seen: Any, wire: Any) -> None:
        message = json.loads(seen.body)
        self.attempts.append(self._world.clock.now())
        status, headers = self.answer(len(self.attempts), message)
        if 200 <= status < 300:
            self.taken.append(message)
            self.ids.append(seen.headers["webhook-id"])
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        wire.send(f"HTTP/1.1 {status} Said\r\n{lines}Content-Length: 0\r\n\r\n".encode())

    def counts(self, sentinel: str = "s") -> list[str]:
        """Return the counts received for a sentinel, in order."""
        return [
            pair["new"]
            for message in self.taken
            if message["data"].get("sentinel") == sentinel
            for record in message["data"].get("changes", [message["data"]])
            for pair in record.get("updated", ())
        ]

    def summaries(self) -> list[str]:
        """Return the other messages received."""
        return [message["data"]["summary"] for message in self.taken if "event" in message["data"]]


@pytest.fixture
def hook(world: World) -> Receiver:
    """Return the receiver of these stories."""
    return Receiver(world)


def _watch(world: World, notify: str, *, names: str = "s", interval: str = "1 hour") -> None:
    world.page("/a", "<p>count 0</p>")
    for name in names:
        world.add(f"Create Sentinel {name} Using {{/a}} Monitor all words Fetch every {interval} slack 1 s {notify}")


async def _changes(world: World, monitor: Monitor, counts: Iterator[int] | range, *, every: int = HOUR) -> None:
    await world.settle(monitor)
    for count in counts:
        world.page("/a", f"<p>count {count}</p>")
        await world.pass_time(monitor, every)


def _down(*statuses: int) -> Answer:
    """Answer with these statuses in turn, without Retry-After."""
    return lambda number, message: (statuses[number % len(statuses)], {})


@pytest.mark.roles
@pytest.mark.parametrize("statuses", [(503,), (502, 429, 504)])
def test_news_arrive_in_order_after_an_outage(world: World, hook: Receiver, statuses: tuple[int, ...]):
    """A receiver is down for ten hours while six sentinels have news: it gets all of each, in order
    of events.
    """
    names = "abcdef"
    _watch(world, f"Notify By webhook {hook.url}", names=names)
    hook.answer = _down(*statuses)

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 11)))
        hook.answer = lambda number, message: UP
        service.pass_time(2 * HOUR)

    expected = [str(count) for count in range(1, 11)]
    assert dict.fromkeys(names, expected) == {name: hook.counts(name) for name in names}
    assert [] == world.violations()


@pytest.mark.parametrize("hours", [1, 12, 70])
def test_news_arrive_within_half_an_hour_of_recovery(world: World, hook: Receiver, hours: int):
    """This holds after any outage; a message is not given up because it failed often."""
    _watch(world, f"Notify By webhook {hook.url}")
    hook.answer = _down(503)

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, hours + 1)))
        hook.answer = lambda number, message: UP
        world.page("/a", f"<p>count {hours}</p>")
        service.pass_time(31 * MINUTE)

    assert [str(count) for count in range(1, hours + 1)] == hook.counts()


def test_permanent_refusal_is_a_dead_letter_at_once(world: World, hook: Receiver):
    """It is given up after one attempt and delays no later message."""
    _watch(world, f"Notify By webhook {hook.url}")
    hook.answer = lambda number, message: (404, {}) if number == 1 else UP

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 4)))

    assert ["2", "3"] == hook.counts()
    assert ["dead", "delivered", "delivered"] == [d.status for d in reversed(world.deliveries())]
    assert 3 == len(hook.attempts)


def test_other_refusal_delays_no_later_message(world: World, hook: Receiver):
    """An answer that does not concern the receiver as a whole is retried."""
    _watch(world, f"Notify By webhook {hook.url}")
    hook.answer = lambda number, message: (409, {}) if message["data"]["updated"][0]["new"] == "1" else UP

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 4)))

    assert ["2", "3"] == hook.counts()
    assert {"waiting": 1, "delivered": 2} == _statuses(world)


def test_message_that_alone_fails_is_overtaken_after_an_hour(world: World, hook: Receiver):
    """The receiver answers 500 to one message: the others wait little more than an hour."""
    _watch(world, f"Notify By webhook {hook.url}", interval="10 minutes")
    hook.answer = lambda number, message: (500, {}) if message["data"]["updated"][0]["new"] == "1" else UP

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 10), every=10 * MINUTE))
        assert [str(count) for count in range(2, 10)] == hook.counts()
        world.add("Alter s Fetch every 1 day slack 1 s")
        service.pass_time(4 * DAY)

    assert {"dead": 1, "delivered": 8} == _statuses(world)


def test_retry_after_applies_to_the_endpoint(world: World, hook: Receiver):
    """All sentinels wait the twenty minutes, with new news too."""
    _watch(world, f"Notify By webhook {hook.url}", names="abcde", interval="1 minute")
    hook.answer = lambda number, message: (503, {"Retry-After": "1200"}) if number == 1 else UP

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 25), every=MINUTE))

    assert hook.attempts[1] - hook.attempts[0] >= 20 * MINUTE
    assert {"delivered": len(hook.attempts) - 1} == _statuses(world)


def test_hold_set_by_a_wrong_clock_is_ignored(world: World, hook: Receiver):
    """A hold until a year from now cannot be right."""
    _watch(world, f"Notify By webhook {hook.url}")

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 2)))
        _write(world, _hold, world.clock.now() + 365 * DAY)
        service.run(_changes(world, service.monitor, range(2, 3)))

    assert ["1", "2"] == hook.counts()


def test_dead_delivery_frees_the_news_behind_it(world: World, hook: Receiver):
    """Best effort has one pending message; after a dead letter the gathered news are sent as one."""
    _watch(world, f"Notify By webhook {hook.url} best effort")
    hook.answer = _down(503)

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 91)))  # 90 hours; the first message dies after some 76
        hook.answer = lambda number, message: UP
        service.pass_time(DAY)

    assert {"dead": 1, "delivered": 2} == _statuses(world)  # what gathered until it died, and since
    assert "90" == hook.counts()[-1]
    assert [] == world.violations()


@pytest.mark.parametrize("status", [404, 410])
def test_refused_best_effort_message_frees_the_news_behind_it(world: World, hook: Receiver, status: int):
    """Any cause counts (410, once its endpoint is enabled again)."""
    _watch(world, f"Notify By webhook {hook.url} best effort")
    hook.answer = lambda number, message: (status, {}) if number == 1 else UP

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 3)))
        if status == 410:
            _write(world, _switch_on)
        service.run(_changes(world, service.monitor, range(3, 5)))

    assert ["2", "3", "4"] == hook.counts()


def _notices(world: World) -> list[str]:
    return [event.type for event in world.events("endpoint.failing", "endpoint.off", "endpoint.ok")]


def test_dead_letter_is_notified_by_another_endpoint_once(world: World, hook: Receiver):
    """The owner's other endpoint gets one message on failure and one on recovery."""
    other = Receiver(world, "/other")
    _watch(world, f"Notify By webhook {hook.url}, webhook {other.url}")
    hook.answer = _down(404)

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 5)))
        hook.answer = lambda number, message: UP
        service.run(_changes(world, service.monitor, range(5, 7)))

    assert ["endpoint.failing", "endpoint.ok"] == _notices(world)
    first, second = other.summaries()
    assert "refused a message permanently (404 Not Found)" in first
    assert "accepts messages again" in second
    assert [str(count) for count in range(1, 7)] == other.counts()


def test_endpoint_that_fails_for_an_hour_is_notified(world: World, hook: Receiver):
    """This is long before the first dead letter; `Errors to` or an endpoint of another sentinel is
    used.
    """
    errors, other = Receiver(world, "/errors"), Receiver(world, "/other")
    _watch(world, f"Notify By webhook {hook.url} Errors to webhook {errors.url}")
    _watch(world, f"Notify By webhook {hook.url}, webhook {other.url}", names="t")
    hook.answer = _down(503)

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 4)))

    assert ["endpoint.failing"] == _notices(world)
    assert [1, 1] == [len(errors.summaries()), len(other.summaries())]
    assert "has accepted no message for" in errors.summaries()[0]


@pytest.mark.parametrize("status", [410, 503])
def test_disabled_endpoint_is_notified(world: World, hook: Receiver, status: int):
    """At once after 410, after five days of other failures."""
    other = Receiver(world, "/other")
    _watch(world, f"Notify By webhook {hook.url}, webhook {other.url}", interval="1 day")
    hook.answer = _down(status)

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 3), every=DAY))
        service.pass_time(5 * DAY)
        service.run(_changes(world, service.monitor, range(3, 4), every=DAY))

    assert "endpoint.off" == _notices(world)[-1]
    assert "is switched off" in other.summaries()[-1]


@pytest.mark.parametrize("status", [404, 409, 413, 503])
def test_hiccup_long_after_a_failure_switches_nothing_off(world: World, hook: Receiver, status: int):
    """One message is given up, a week without news follows: the next message is retried."""
    _watch(world, f"Notify By webhook {hook.url}")
    hook.answer = _down(status)

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 2)))
        service.pass_time(7 * DAY)
        hook.answer = _down(503)
        service.run(_changes(world, service.monitor, range(2, 3)))
        hook.answer = lambda number, message: UP
        service.pass_time(HOUR)

    assert "endpoint.off" not in _notices(world)
    assert ["2"] == hook.counts()


def test_week_in_which_tidings_did_not_run_switches_nothing_off(world: World, hook: Receiver):
    """A message waits for its retry; the receiver is not tried meanwhile."""
    _watch(world, f"Notify By webhook {hook.url}")
    hook.answer = _down(503)

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 2)))
    world.clock.advance(7 * DAY)
    with serve(world) as service:
        service.pass_time(HOUR)
        hook.answer = lambda number, message: UP
        service.pass_time(HOUR)

    assert ["1"] == hook.counts()


def test_refusals_of_single_messages_switch_nothing_off(world: World, hook: Receiver):
    """Each was judged by a receiver that works: its owner is notified once."""
    _watch(world, f"Notify By webhook {hook.url}", interval="12 hours")
    hook.answer = _down(413)

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 16), every=12 * HOUR))
        hook.answer = lambda number, message: UP
        service.run(_changes(world, service.monitor, range(16, 17), every=12 * HOUR))

    assert ["endpoint.failing", "endpoint.ok"] == _notices(world)
    assert ["16"] == hook.counts()


@pytest.mark.roles
def test_messages_wait_for_the_key_as_long_as_it_is_away(world: World, hook: Receiver):
    """Six days, one more than a receiver may fail, are no attempt; all come in order within half an
    hour, and the owner was notified once. Doctor names the cause meanwhile.
    """
    _watch(world, f"Notify By webhook {hook.url}, console")
    with serve(world) as service:
        service.settle()
    path = world.directory / "secrets.key"
    away = path.rename(world.directory.parent / "elsewhere")

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 7), every=DAY))
        (troubled,) = (t for t in world.read(_list_failing, world) if "gets no messages" in t)
    away.rename(path)
    with serve(world) as service:
        service.pass_time(31 * MINUTE)

    assert "secrets.key is missing" in troubled
    assert [str(count) for count in range(1, 7)] == hook.counts()
    assert ["endpoint.failing", "endpoint.ok"] == _notices(world)
    assert {"delivered"} == {delivery.status for delivery in world.deliveries()}
    assert [] == world.violations()


def test_email_waits_for_the_mail_server_as_long_as_it_is_not_set(world: World):
    """A setting was removed: what was made before waits without an attempt."""
    world.flags |= {"notify.smtp_host": "127.0.0.1", "notify.smtp_port": "9", "notify.mail_from": "t@example.org"}
    _watch(world, "Notify By email a@example.org")
    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 2)))
    made = world.deliveries()[0].attempt
    del world.flags["notify.smtp_host"]
    with serve(world) as service:
        service.pass_time(10 * DAY)

    (delivery,) = world.deliveries()
    assert ("waiting", made) == (delivery.status, delivery.attempt)
    assert "e-mail is not set up" in delivery.error


def _list_failing(connection: Any, world: World) -> list[str]:
    """Return what doctor says of receivers."""
    findings = sources.findings(connection, "receivers", world.settings, now=world.clock.now(), is_polled=True)
    return [finding.detail for finding in findings]


def test_one_notice_per_endpoint_for_many_sentinels(world: World, hook: Receiver):
    """Thirty sentinels share both endpoints."""
    other = Receiver(world, "/other")
    for number in range(30):
        _watch(world, f"Notify By webhook {hook.url}, webhook {other.url}", names=[f"s{number}"])  # type: ignore[arg-type]
    hook.answer = _down(403)

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 3)))

    assert 1 == len(other.summaries())


def test_receiver_without_another_endpoint_gets_no_notice(world: World, hook: Receiver):
    """No message is made for the failing endpoint itself; the event can be listed."""
    _watch(world, f"Notify By webhook {hook.url}")
    hook.answer = _down(404)

    with serve(world) as service:
        service.run(_changes(world, service.monitor, range(1, 3)))

    assert {"dead": 2} == _statuses(world)
    assert ["endpoint.failing"] == _notices(world)


def _statuses(world: World) -> dict[str, int]:
    found: dict[str, int] = {}
    for delivery in world.deliveries():
        found[delivery.status] = found.get(delivery.status, 0) + 1
    return found


def _write(world: World, change: Callable[..., None], *values: Any) -> None:
    """Write to the database as another process would."""
    database = open_database(world.settings)
    database.write(change, *values)
    database.close()


def _hold(connection: Any, until: int) -> None:
    connection.execute("UPDATE endpoint SET held_until = :until", until=until)


def _switch_on(connection: Any) -> None:
    connection.execute("UPDATE endpoint SET enabled = 1, failing_since = NULL")
