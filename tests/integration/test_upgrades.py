"""Promise: a database of any Tidings that has landed opens, whole, with today's (T-22, W-44)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import WebServer
from tests.world import World, play
from tidings.clock import DAY
from tidings.service.assembly import open_archive
from tidings.service.bodies import read_body
from tidings.service.monitor import Monitor
from tidings.service.watchlist import meaning
from tidings.storage import pages, sentinels
from tidings.storage.database import REVISIONS
from tidings.storage.vault import Vault

STORED = sorted((Path(__file__).parents[1] / "stored").glob("*.sql"))


@pytest.fixture(params=STORED, ids=[path.stem for path in STORED])
def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """Give an installation whose database an older Tidings wrote."""
    directory = tmp_path / "data"
    directory.mkdir()
    connection = sqlite3.connect(directory / "tidings.db")
    (directory / "USED").touch()
    if (key := request.param.with_suffix(".key")).exists():
        (directory / "secrets.key").write_bytes(key.read_bytes())
        (directory / "secrets.key").chmod(0o600)
    with WebServer() as server:
        connection.executescript(re.sub(r"(?<=127\.0\.0\.1:)\d+", str(server.port), request.param.read_text()))
        connection.close()
        yield World(directory, server)


def test_every_schema_but_the_newest_has_a_stored_database():
    """A migration that lands leaves a database of the schema before it to be tested with; of 0003 two editions were used."""
    assert list(REVISIONS[:-1]) == sorted({path.stem[:4] for path in STORED})


def test_nothing_is_lost_by_an_upgrade(upgraded: World):
    """Sentinels, versions with their bodies, changes and deliveries are all there, and no invariant is broken."""
    found = upgraded.changes()
    texts = [meaning(row.text).name for row in upgraded.read(sentinels.listing, ended=True)]
    archive = open_archive(upgraded.settings, dialect="sqlite")
    bodies = [
        upgraded.read(read_body, archive, state.page_id, version.seq).data
        for _, state in upgraded.read(pages.listing)
        for version in upgraded.versions(state.page_id)
    ]

    assert ["price", "both", "later", "heir"] == texts
    assert 7 == len(found)
    assert 5 == len(upgraded.deliveries())
    assert 6 == len(bodies)
    assert all(b"<title>" in body for body in bodies)
    assert [] == upgraded.violations()


def test_the_service_goes_on_where_the_older_one_stopped(upgraded: World):
    """The upgraded installation starts, lives a day in which its web is gone, and keeps its invariants and its changes."""
    upgraded.clock.move_to(max(event.at for event in upgraded.events()) + DAY)

    async def story(monitor: Monitor) -> None:
        await upgraded.pass_time(monitor, DAY)

    play(upgraded, story)

    assert 7 == len(upgraded.changes())
    assert [] == upgraded.violations()


def test_an_upgrade_itself_is_no_news(upgraded: World):
    """Pages that stay as the older Tidings last saw them bring no change, though rules have moved on; that one is well again is all that is notified."""
    archive = open_archive(upgraded.settings, dialect="sqlite")
    for identity, state in upgraded.read(pages.listing):
        seq = upgraded.versions(state.page_id)[-1].seq
        body = upgraded.read(read_body, archive, state.page_id, seq).data
        upgraded.page(identity.url[-2:], body)
    upgraded.receiver()
    before, known = upgraded.changes(), {row.id for row in upgraded.deliveries()}
    upgraded.clock.move_to(max(event.at for event in upgraded.events()) + DAY)

    async def story(monitor: Monitor) -> None:
        await upgraded.pass_time(monitor, 3 * DAY)

    play(upgraded, story)

    assert {"unchanged"} == {poll.outcome for poll in upgraded.polls()[-50:]}
    assert before == upgraded.changes()
    (well,) = [row.subject for row in upgraded.deliveries() if row.id not in known]
    assert well.startswith("both: the page can be watched again")
    assert [] == upgraded.violations()


def test_secrets_that_were_kept_plain_are_read_then_sealed(upgraded: World):
    """The secret that signs webhooks is the same after the upgrade; once the service has started, the file holds it no more."""
    vault = Vault(upgraded.directory)
    before = upgraded.read(vault.open, "webhook")

    async def story(monitor: Monitor) -> None:
        await upgraded.settle(monitor)

    play(upgraded, story)
    files = [path for path in upgraded.directory.iterdir() if path.name in {"tidings.db", "tidings.db-wal"}]

    assert before.value == upgraded.read(vault.open, "webhook").value
    assert "signing" == before.kind
    assert files
    assert not [path.name for path in files if before.value.reveal().encode() in path.read_bytes()]
