"""Which roles a database allows, and who is seen to work."""

from pathlib import Path

import pytest

from tidings.errors import UsageError
from tidings.record import replace
from tidings.service.run.presence import ROLES, SEEN_SECONDS, SeenPollers, check_role, name_process
from tidings.settings import Settings, StoreSettings


@pytest.mark.parametrize("role", ROLES)
def test_a_role_beside_others_needs_a_database_for_several_processes(role, tmp_path: Path):
    """With SQLite one process does everything; pollers have no database."""
    alone = Settings(data=tmp_path)
    check_role(replace(alone, store=StoreSettings(url="postgresql://db.example/tidings")), role)
    if role in {"all", "poller"}:
        check_role(alone, role)
        return

    with pytest.raises(UsageError, match="needs PostgreSQL"):
        check_role(alone, role)


def test_a_poller_is_seen_for_a_while(monkeypatch: pytest.MonkeyPatch):
    """It is named as long as it takes checks."""
    now = 0.0
    monkeypatch.setattr("tidings.service.run.presence.time.monotonic", lambda: now)
    seen = SeenPollers()
    seen.note("one")
    now = SEEN_SECONDS
    seen.note("two")
    assert ["one", "two"] == seen.list_recent()
    now += 1

    assert ["two"] == seen.list_recent()


def test_no_two_processes_have_one_name():
    """Not even two that had the same number."""
    assert name_process() != name_process()
