"""The roles that a database allows, and the processes that are seen to work."""

import asyncio
import logging
from pathlib import Path

import pytest

from tidings.clock import SECOND
from tidings.errors import StoreFullError, UsageError
from tidings.record import replace
from tidings.service.run.presence import ROLES, SEEN_SECONDS, Presence, SeenPollers, check_role, name_process
from tidings.settings import Settings, StoreSettings


@pytest.mark.parametrize("role", ROLES)
def test_separate_role_needs_postgresql(role, tmp_path: Path):
    """With SQLite one process does everything. Pollers need no database."""
    alone = Settings(data=tmp_path)
    check_role(replace(alone, store=StoreSettings(url="postgresql://127.0.0.1/tidings")), role)
    if role in {"all", "poller"}:
        check_role(alone, role)
        return

    with pytest.raises(UsageError, match="needs PostgreSQL"):
        check_role(alone, role)


@pytest.mark.parametrize("role", ROLES)
def test_separate_role_needs_tls_to_a_database_on_another_machine(role, tmp_path: Path):
    """The role does not start without it, and says what to write."""
    exposed = replace(Settings(data=tmp_path), store=StoreSettings(url="postgresql://me:hidden@db.example/tidings"))
    check_role(replace(exposed, store=StoreSettings(url=f"{exposed.store.url}?sslmode=verify-full")), role)
    if role in {"all", "poller"}:
        check_role(exposed, role)
        return

    with pytest.raises(UsageError, match=r"add .sslmode=verify-full to store\.url") as refused:
        check_role(exposed, role)
    assert "hidden" not in str(refused.value)


def test_poller_is_listed_for_a_while(monkeypatch: pytest.MonkeyPatch):
    """A poller is listed while it takes checks."""
    now = 0.0
    monkeypatch.setattr("tidings.service.run.presence.time.monotonic", lambda: now)
    seen = SeenPollers()
    seen.note("one")
    now = SEEN_SECONDS
    seen.note("two")
    assert ["one", "two"] == seen.list_recent()
    now += 1

    assert ["two"] == seen.list_recent()


def test_each_process_has_its_own_name():
    """Process ids are reused, so the name must not depend on them alone."""
    assert name_process() != name_process()


def test_full_disk_of_the_database_ends_no_process(caplog: pytest.LogCaptureFixture):
    """Screens must still show that the disk is full, so a note that cannot be stored is left out."""

    class FullStore:
        async def write(self, *args: object, **kw: object) -> None:
            raise StoreFullError("the disk of the database is full")

    async def note_twice() -> list[int]:
        presence = Presence(FullStore(), "web", "a:1", 30 * SECOND)  # type: ignore[arg-type]
        made = []
        for now in (SECOND, 2 * SECOND, 12 * SECOND):
            notes = await presence.due(now)
            await asyncio.gather(*notes)
            made.append(len(notes))
        return made

    with caplog.at_level(logging.WARNING, logger="tidings.service"):
        assert [1, 0, 1] == asyncio.run(note_twice())
    assert 2 == caplog.text.count("the disk of the database is full")
