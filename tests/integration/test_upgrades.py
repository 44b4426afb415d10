"""Promise: a database of any Tidings that has landed opens, whole, with today's (W-44)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import WebServer
from tests.world import World, play, serve
from tidings.clock import DAY
from tidings.model.event_type import EventType
from tidings.model.observed.unit import EndpointMove, Event
from tidings.model.secret import Secret
from tidings.model.watch.notifying import secret_of
from tidings.notification.webhook import make_secret
from tidings.service.examine.stored_versions import read_body
from tidings.service.run.from_settings import open_archive
from tidings.service.run.monitor import Monitor
from tidings.service.secrets.references import KEY
from tidings.service.sentinels.apply import apply
from tidings.service.watch.watchlist import meaning
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import REVISIONS
from tidings.storage.observed import pages
from tidings.storage.secrets import Vault
from tidings.storage.watches import endpoints, events, sentinels

STORED = sorted((Path(__file__).parents[1] / "stored").glob("*.sql"))
PLAIN = [path for path in STORED if path.stem < "0004"]
"""Databases in which addresses of receivers stand written out; in later ones they are encrypted from the start."""
with_plain_addresses = pytest.mark.parametrize("upgraded", PLAIN, indirect=True, ids=[path.stem for path in PLAIN])


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


def test_every_schema_that_has_landed_has_a_stored_database():
    """Of 0003 two editions were used."""
    landed = (STORED[0].parent / "landed.sha256").read_text().split()[1::2]

    assert sorted({path.stem[:4] for path in STORED}) == [name[:4] for name in landed]
    assert set(REVISIONS[:-1]) <= {name[:4] for name in landed}


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

    with serve(upgraded) as service:
        service.pass_time(DAY)

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

    with serve(upgraded) as service:
        service.pass_time(DAY)

    assert {"unchanged"} == {poll.outcome for poll in upgraded.polls()[-20:]}
    assert before == upgraded.changes()
    (well,) = [row.subject for row in upgraded.deliveries() if row.id not in known]
    assert ("the page can be watched again", "both") == (well.partition(",")[0], well.rpartition(" · ")[2])
    assert [] == upgraded.violations()


def test_secrets_that_were_kept_plain_are_read_then_sealed(upgraded: World):
    """The secret that signs webhooks is the same after the upgrade; once the service has started, the file holds it no more."""
    vault = Vault(upgraded.directory)
    before = upgraded.read(vault.open, "webhook")

    with serve(upgraded) as service:
        service.settle()
    files = [path for path in upgraded.directory.iterdir() if path.name in {"tidings.db", "tidings.db-wal"}]

    assert before.value == upgraded.read(vault.open, "webhook").value
    assert "signing" == before.kind
    assert files
    assert not [path.name for path in files if before.value.reveal().encode() in path.read_bytes()]


@with_plain_addresses
def test_addresses_that_were_kept_plain_are_encrypted_once_and_news_that_waited_goes_out(upgraded: World):
    """Texts of every revision, defaults, endpoints and what was noted of attempts refer to secrets; ids stay, nothing is told anew, the file forgets."""
    hook, chat = upgraded.server.url("/hook"), "ntfy://t0ken@ntfy.example/t0pic"
    ids = upgraded.write(_as_older_versions_left_it, hook, chat)
    upgraded.receiver()
    upgraded.clock.move_to(max(event.at for event in upgraded.events()) + DAY)

    async def story(monitor: Monitor) -> None:
        await upgraded.settle(monitor)

    play(upgraded, story)
    texts = [text for _, _, text in upgraded.read(sentinels.texts)] + [upgraded.read(sentinels.get_tag_default, "shop")]
    rows = upgraded.read(endpoints.listing)
    named = {row.kind: secret_of(row.address) for row in rows}
    vault = Vault(upgraded.directory)
    play(upgraded, story)

    assert ids == {row.id: row.kind for row in rows}
    assert {"webhook": hook, "apprise": chat} == {
        kind: upgraded.read(vault.open, name).value.reveal() for kind, name in named.items() if name
    }
    assert "ntfy" == next(row.scheme for row in rows if row.kind == "apprise")
    assert f'Notify by webhook secret "{named["webhook"]}"' in meaning_text(upgraded, "price")
    assert [f'Errors to secret "{named["apprise"]}"'] == [
        line.strip() for line in texts[-1].splitlines() if "Errors" in line
    ]
    assert ["waits"] == [message["data"].get("was") for _, message in upgraded.received if "was" in message["data"]]
    assert [text for _, _, text in upgraded.read(sentinels.texts)] == texts[:-1]
    assert rows == upgraded.read(endpoints.listing)
    assert 7 == len(upgraded.changes())
    files = [path for path in upgraded.directory.iterdir() if path.name in {"tidings.db", "tidings.db-wal"}]
    assert files
    for plain in (b"/hook", b"t0ken", b"t0pic"):
        assert not [path.name for path in files if plain in path.read_bytes()], plain
    assert [] == upgraded.violations()


def test_a_file_that_made_a_sentinel_before_the_upgrade_says_the_same_after_it(upgraded: World):
    """`apply` of the statements as they were written finds nothing to alter, also before the service has started."""
    text = {row.name: row.text for row in upgraded.read(sentinels.listing)}
    done = upgraded.write(apply, {"a.txt": text["price"]}, settings=upgraded.settings, now=upgraded.clock.now())

    assert [("price", "unchanged")] == [(step.name, step.action) for step in done.steps]
    assert "secret " in upgraded.sentinel("price").text


@with_plain_addresses
def test_addresses_stay_plain_and_in_use_where_they_cannot_be_encrypted(
    upgraded: World, caplog: pytest.LogCaptureFixture
):
    """Without a key that opens what names addresses nothing is half done: the log says why, news goes on."""
    vault = Vault(upgraded.directory)
    upgraded.write(vault.put, KEY, Secret("00"), kind="naming", at=1)
    (upgraded.directory / "secrets.key").unlink()
    vault.key_file.add()
    upgraded.write(vault.put, "webhook", Secret(make_secret()), kind="signing", at=1)
    before = upgraded.read(endpoints.listing)
    upgraded.clock.move_to(max(event.at for event in upgraded.events()) + DAY)

    with serve(upgraded) as service:
        service.settle()

    assert [row.address for row in before] == [row.address for row in upgraded.read(endpoints.listing)]
    assert "stay unencrypted, as an older version stored them" in caplog.text


def meaning_text(world: World, name: str) -> str:
    """Return the newest text of a sentinel, dropped or not."""
    return str(next(row.text for row in world.read(sentinels.listing, ended=True) if row.name == name))


def _as_older_versions_left_it(c: Connection, hook: str, chat: str) -> dict[int, str]:
    """Add what a longer life leaves: a service of Apprise, defaults, a dead letter, a reason, news that waits; return the endpoints."""
    defaults = f"Defaults For Tags shop\n  Notify by webhook {hook}, {chat} every 1 day\n  Errors to {chat}"
    sentinels.put_tag_default(c, "shop", defaults)
    other = endpoints.ensure(c, "apprise", chat)
    endpoints.move(c, [EndpointMove(endpoint_id=other, failing_since=1, reason=f"no answer from {chat}")])
    events.append(c, [Event(type=EventType.DELIVERY_DEAD, at=1, data={"address": hook, "reason": f"at {chat}"})])
    body = b'{"type": "change.found", "data": {"was": "waits"}}'
    c.execute(
        "UPDATE delivery SET status = 'waiting', attempt = 1, finished_at = NULL, body = :body, error = :error WHERE id ="
        " (SELECT min(d.id) FROM delivery d JOIN endpoint e ON e.id = d.endpoint_id WHERE e.kind = 'webhook')",
        body=body,
        error=f"{hook} did not answer",
    )
    return {row.id: row.kind for row in endpoints.listing(c)}
