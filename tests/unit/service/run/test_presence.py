"""The roles that a database allows, and the processes that are seen to work."""

from pathlib import Path

import pytest

from tidings.errors import UsageError
from tidings.record import replace
from tidings.service.run.presence import ROLES, SEEN_SECONDS, SeenPollers, check_role, name_process
from tidings.settings import Settings, StoreSettings


@pytest.mark.parametrize("role", ROLES)
def test_separate_role_needs_postgresql(role, tmp_path: Path):
    """With SQLite one process does everything. Pollers need no database."""
    alone = Settings(data=tmp_path)
    check_role(replace(alone, store=StoreSettings(url="postgresql://db.example/tidings")), role)
    if role in {"all", "poller"}:
        check_role(alone, role)
        return

    with pytest.raises(UsageError, match="needs PostgreSQL"):
        check_role(alone, role)


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
