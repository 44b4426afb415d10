"""Promise: every stored change is delivered to each subscriber at least once, always with the same
id and bytes.
"""

from __future__ import annotations

import json
from unittest import mock

import pytest

from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.notification.webhook import read_secrets, signature
from tidings.service.run.monitor import Monitor
from tidings.storage.db.database import open_database
from tidings.storage.secrets import Vault
from tidings.storage.watches import deliveries


def _watch(world: World, url: str, rate: str = "immediate", every: str = "1 hour") -> None:
    world.page("/a", "<p>count 0</p>")
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor all words Fetch every {every} slack 1 s Notify By webhook {url} {rate}"
    )


@pytest.mark.roles
def test_webhook_gets_each_change_signed(world: World):
    """One POST per change, with the change record and a signature over id, time and bytes."""
    _watch(world, world.receiver())

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>count 1</p>")
        service.pass_time(HOUR)
    ((headers, message),) = world.received
    (change,) = world.changes()
    (delivery,) = world.deliveries()
    keys = read_secrets(world.read(Vault(world.directory).open, "webhook").value.reveal())
    sent_at = int(headers["webhook-timestamp"]) * SECOND

    assert "change.found" == message["type"]
    assert change == message["data"]
    assert delivery.id == headers["webhook-id"]
    assert signature(delivery.id, sent_at, body=delivery.body, keys=keys) == headers["webhook-signature"]
    assert "delivered" == delivery.status


def test_immediate_news_are_sent_when_they_are_found(world: World):
    """The message follows its poll without a wait; an unchanged page sends none (W-114)."""
    _watch(world, world.receiver(), every="10 min")
    begun = world.clock.now()

    with serve(world) as service:
        service.settle()
        for count in (1, 2):
            world.page("/a", f"<p>count {count}</p>")
            service.pass_time(3 * HOUR)

    assert [10 * MINUTE, 3 * HOUR + 10 * MINUTE] == [
        int(headers["webhook-timestamp"]) * SECOND - begun for headers, _ in world.received
    ]


def test_receiver_that_was_down_for_a_day_gets_everything(world: World):
    """Attempts repeat with the same id and bytes until one succeeds."""
    attempts_that_fail = 5
    _watch(world, world.receiver(statuses=lambda n: 503 if n <= attempts_that_fail else 200))

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>count 1</p>")
        service.pass_time(2 * DAY)

    assert attempts_that_fail + 1 == len(world.received)
    assert 1 == len({headers["webhook-id"] for headers, _ in world.received})
    assert 1 == len({json.dumps(body) for _, body in world.received})
    assert ["delivered"] == [d.status for d in world.deliveries()]
    assert [] == world.violations()


def test_undeliverable_message_becomes_a_dead_letter_that_can_be_replayed(make_world):
    """It is dead after the schedule of 75.6 h; replay sends it with the same id."""
    world: World = make_world(notify__disable_days="30")
    up: list[bool] = []
    _watch(world, world.receiver(statuses=lambda n: 200 if up else 500))

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        world.page("/a", "<p>count 1</p>")
        await world.pass_time(monitor, 6 * DAY)
        (dead,) = world.read(deliveries.listing, dead=True)
        up.append(True)
        database = open_database(world.settings)
        database.write(deliveries.replay, dead.id, world.clock.now())
        database.close()
        await world.pass_time(monitor, HOUR)

    play(world, story)

    (dead,) = world.events("delivery.dead")
    assert 75.6 * 0.8 < (dead.at - world.events("change.found")[0].at) / HOUR < 75.6 * 1.2
    assert 1 == len({headers["webhook-id"] for headers, _ in world.received})
    assert ["delivered"] == [d.status for d in world.deliveries()]


def test_news_survive_a_crash_before_they_are_sent(world: World):
    """The delivery is stored with the change; the next service sends it."""
    url = world.receiver()
    _watch(world, url)

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>count 1</p>")
        world.clock.advance(HOUR)

        with mock.patch.object(service.monitor, "_send", mock.AsyncMock()):
            service.run(service.monitor.step())
            while not service.monitor.quiescent():
                service.run(service.monitor.rest(most=SECOND // 1000))
    before = len(world.received)
    play(world, world.settle)

    assert 0 == before
    assert 1 == len(world.received)
    assert [] == world.violations()


def test_digest_every_four_days_has_all_changes(world: World):
    """`Every 4 day` counts from the sentinel's start; without changes there is no message."""
    _watch(world, world.receiver(), rate="Every 4 day", every="1 day")

    with serve(world) as service:
        service.settle()
        for day in range(1, 4):
            world.page("/a", f"<p>count {day}</p>")
            service.pass_time(DAY)
        assert [] == world.received
        service.pass_time(9 * DAY)
    ((_, message),) = world.received

    assert "change.digest" == message["type"]
    assert [("0", "1"), ("1", "2"), ("2", "3")] == [
        (c["updated"][0]["old"], c["updated"][0]["new"]) for c in message["data"]["changes"]
    ]
    assert [] == world.violations()


def test_ending_sentinel_sends_its_digest(world: World):
    """The digest is sent before its time."""
    world.page("/a", "<p>count 0</p>")
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour slack 1 s For 6 hour "
        f"Notify By webhook {world.receiver()} Every 4 day"
    )

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>count 1</p>")
        service.pass_time(10 * HOUR)

    assert 1 == len(world.received)
    assert "ended" == world.sentinel("s").state
    assert [] == world.violations()


def test_dropped_sentinel_sends_its_digest(world: World):
    """Drop is an end as well."""
    _watch(world, world.receiver(), rate="Every 4 day")

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>count 1</p>")
        service.pass_time(2 * HOUR)
        world.add("Drop s")
        service.pass_time(MINUTE)

    assert 1 == len(world.received)
    assert [] == world.violations()


def test_console_gets_one_line_per_change(world: World):
    """`Notify By console` writes to the service's own output."""
    world.page("/a", "<p>count 0</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour Notify By console immediate")

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>count 1</p>")
        service.pass_time(HOUR)
    (line,) = world.console.getvalue().splitlines()

    assert "s" in line
    assert world.server.url("/a") in line


def test_status_410_disables_the_receiver(world: World):
    """It is an event."""
    _watch(world, world.receiver(statuses=lambda n: 410))

    with serve(world) as service:
        service.settle()
        for count in (1, 2):
            world.page("/a", f"<p>count {count}</p>")
            service.pass_time(HOUR)

    assert 1 == len(world.received)
    assert 2 == len(world.changes())


def test_replay_enables_the_endpoint(world: World):
    """It gets this message and later ones."""
    gone = [True]
    _watch(world, world.receiver(statuses=lambda n: 410 if gone else 200))

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>count 1</p>")
        service.pass_time(HOUR)
        gone.clear()
        (dead,) = world.read(deliveries.listing, dead=True)
        database = open_database(world.settings)
        database.write(deliveries.replay, dead.id, world.clock.now())
        database.close()
        service.pass_time(MINUTE)
        world.page("/a", "<p>count 2</p>")
        service.pass_time(HOUR)

    assert ["delivered", "delivered"] == [d.status for d in world.deliveries()]


def test_first_due_delivery_of_each_endpoint_is_tried(world: World):
    """Two receivers with many changes: the oldest of each is next."""
    world.page("/a", "<p>count 0</p>")
    hooks = [world.receiver(path, statuses=lambda n: 503) for path in ("/x", "/y")]
    clauses = " ".join(f"Notify By webhook {hook} immediate" for hook in hooks)
    world.add(f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour slack 1 s {clauses}")

    with serve(world) as service:
        service.settle()
        for count in (1, 2, 3):
            world.page("/a", f"<p>count {count}</p>")
            service.pass_time(HOUR)
    first = world.read(deliveries.first_due, now=world.clock.now() + 30 * DAY, tried_every=DAY)
    waiting = sorted(world.deliveries(), key=lambda d: (d.last_seq, d.id))

    assert {d.endpoint_id: d.id for d in reversed(waiting)} == {d.endpoint_id: d.id for d in first}
