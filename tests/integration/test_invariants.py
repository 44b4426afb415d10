"""`check_invariants` is what fault tests end with, so each of its checks is shown a breach here."""

from __future__ import annotations

import copy
import hashlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes import WebServer
from tests.invariants import Acknowledged, Asked, Limits, Taken, check_invariants
from tests.world import World, serve
from tidings.clock import HOUR, SECOND
from tidings.storage.db.database import open_database
from tidings.storage.secrets import Vault
from tidings.storage.watches import changes

LIMITS = Limits(gap=1.0, rate=1.0, burst=5, longest_wait=4_000)


class Watched:
    """A page of three editions that was watched and reported, with the ledgers that everybody else kept."""

    def __init__(self, world: World) -> None:
        self.world = world
        bodies = [f"<p>edition {n} is out</p>" for n in range(3)]
        url = world.server.url("/a")

        world.page("/a", bodies[0])
        world.add(
            f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 1 hour Notify By webhook {world.receiver()} immediate"
        )
        with serve(world) as service:
            for body in bodies:
                world.page("/a", body)
                service.pass_time(HOUR)
        self.web = [
            Asked(world.server.host, url, 10.0 * n, 10.0 * n + 1, hashlib.sha256(body.encode()).hexdigest())
            for n, body in enumerate(bodies)
        ]
        self.receiver = [Taken(row.id, row.body) for row in world.deliveries()]
        self.acknowledged = Acknowledged(
            changes=[row.row.id for row in world.read(changes.listing)], stored={url: 3}, sentinels=["s"]
        )
        self.outputs = ["ready"]
        self.dials = ["127.0.0.1"]

    def faults(self, *, quiet: bool = True, late: int = 0) -> list[str]:
        return check_invariants(
            self.world.settings,
            web=self.web,
            receiver=self.receiver,
            acknowledged=self.acknowledged,
            limits=LIMITS,
            outputs=self.outputs,
            dials=self.dials,
            quiet=quiet,
            now=self.world.clock.now() + late,
        )

    def write(self, text: str) -> None:
        database = open_database(self.world.settings)
        try:
            database.write(lambda c: c.execute(text))
        finally:
            database.close()


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with WebServer() as server:
        yield Watched(World(tmp_path_factory.mktemp("world") / "data", server, store__blob_file_bytes="0"))


@pytest.fixture
def watched(story: Watched, tmp_path: Path) -> Watched:
    """Return a copy that a test may spoil."""
    shutil.copytree(story.world.directory, tmp_path / "data")
    mine = copy.copy(story)
    mine.world = copy.copy(story.world)
    mine.world.directory = tmp_path / "data"
    mine.web, mine.receiver = list(story.web), list(story.receiver)
    return mine


def test_nothing_is_found_where_all_is_well(watched: Watched):
    """The untouched ledgers agree with the database, and there is something in them."""
    assert [] == watched.faults()
    assert (2, 2) == (len(watched.receiver), len(list(watched.acknowledged.changes)))


def spoil_change(watched: Watched) -> None:
    watched.acknowledged = replace(watched.acknowledged, changes=["gone"])


def spoil_count(watched: Watched) -> None:
    watched.acknowledged = replace(watched.acknowledged, stored={watched.web[0].url: 4})


def spoil_name(watched: Watched) -> None:
    watched.acknowledged = replace(watched.acknowledged, sentinels=["never"])


def spoil_order(watched: Watched) -> None:
    first, second, third = watched.web
    watched.web = [first, replace(second, sha256=third.sha256), replace(third, sha256=second.sha256)]


def spoil_failure(watched: Watched) -> None:
    watched.web[1] = replace(watched.web[1], sha256="")


def spoil_extra(watched: Watched) -> None:
    watched.receiver.append(Taken("stranger", b""))


def spoil_bytes(watched: Watched) -> None:
    watched.receiver.append(replace(watched.receiver[0], body=b"other"))


def spoil_receiver(watched: Watched) -> None:
    watched.receiver.pop()


def spoil_delivery(watched: Watched) -> None:
    watched.write("UPDATE delivery SET status = 'waiting'")


def spoil_owed(watched: Watched) -> None:
    watched.write(
        "INSERT INTO comparison (subscription_id, page_id, from_seq, to_seq, revision, status, at) VALUES (1, 1, 1, 3, 1, 'pending', 0)"
    )


def spoil_chain(watched: Watched) -> None:
    watched.write("DELETE FROM change WHERE to_seq = 2")


def spoil_gap(watched: Watched) -> None:
    watched.web[1] = replace(watched.web[1], at=0.5, done_at=0.6)
    watched.web[0] = replace(watched.web[0], done_at=0.4)


def spoil_connections(watched: Watched) -> None:
    watched.web[0] = replace(watched.web[0], done_at=12.0)


def spoil_charge(watched: Watched) -> None:
    watched.write("UPDATE poll SET cost = 0.5")


def spoil_rate(watched: Watched) -> None:
    last = watched.web[-1]
    watched.web += [replace(last, host=f"h{n}", at=last.at + n / 100, done_at=last.at + n / 100) for n in range(6)]


def spoil_epoch(watched: Watched) -> None:
    watched.write("UPDATE poll SET epoch = 0 WHERE id = 3")


def spoil_files(watched: Watched) -> None:
    folder = watched.world.settings.data / "blobs" / "tmp"
    (folder / "half").write_bytes(b"")


def signing_secret(watched: Watched) -> str:
    opened = watched.world.read(Vault(watched.world.settings.data).open, "webhook")
    assert opened is not None
    return str(opened.value.reveal())


def spoil_secret(watched: Watched) -> None:
    secret = signing_secret(watched)
    watched.write(f"UPDATE delivery SET error = '{secret}' WHERE attempt = 1")


def spoil_output(watched: Watched) -> None:
    watched.outputs = [f"the secret is {signing_secret(watched)}"]


def spoil_dial(watched: Watched) -> None:
    watched.dials = ["10.0.0.1"]


@pytest.mark.parametrize(
    ("spoil", "invariant", "text"),
    [
        (spoil_change, "I-1", "change gone was reported"),
        (spoil_count, "I-1", "4 versions of"),
        (spoil_name, "I-1", "sentinel never"),
        (spoil_order, "I-6", "version 3 of"),
        (spoil_failure, "I-6", "version 2 of"),
        (spoil_extra, "I-3", "which is no delivery"),
        (spoil_bytes, "I-3", "other bytes"),
        (spoil_receiver, "I-3", "never had it"),
        (spoil_delivery, "I-3", "is waiting"),
        (spoil_owed, "I-3", "is still owed"),
        (spoil_chain, "I-3", "a change is missing"),
        (spoil_gap, "I-4", "was asked after 0.500 s"),
        (spoil_connections, "I-4", "answered 2 requests at once"),
        (spoil_charge, "I-5", "3 requests arrived, 2 were charged"),
        (spoil_rate, "I-5", "more than 5 + 1 a second"),
        (spoil_epoch, "I-7", "in epoch 0 after"),
        (spoil_files, "I-8", "blobs/tmp/half"),
        (spoil_secret, "I-9", "stands in the table delivery"),
        (spoil_output, "I-9", "was printed or sent"),
        (spoil_dial, "I-9", "10.0.0.1 was dialled"),
    ],
)
def test_a_breach_is_found(watched: Watched, spoil: Callable[[Watched], None], invariant: str, text: str):
    """Each breach, planted alone, is reported with its invariant."""
    spoil(watched)

    assert any(fault.startswith(invariant) and text in fault for fault in watched.faults()), watched.faults()


def test_a_page_that_waits_too_long_is_found(watched: Watched):
    """I-10: a page that was not polled for longer than declared is reported, unless it shows a reason."""
    assert any(fault.startswith("I-10") for fault in watched.faults(late=2 * HOUR))
    watched.write("UPDATE page SET reason = 'the site is down'")

    assert [] == [fault for fault in watched.faults(late=2 * HOUR) if fault.startswith("I-10")]


def test_what_is_still_to_be_reported_is_no_fault_before_all_is_quiet(watched: Watched):
    """While the service runs a delivery may wait; once quiet it may not."""
    watched.write(f"UPDATE delivery SET status = 'waiting', due_at = {10 * SECOND}")

    assert [] == watched.faults(quiet=False)
    assert [] != watched.faults()
