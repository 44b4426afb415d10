"""What becomes of each stored instant that a wrong clock left in the future."""

from __future__ import annotations

from tests.stores import TABLES
from tidings.storage.write import instants

NAMED = ("at", "until", "since", "next_tick")


def test_each_stored_instant_is_decided():
    """A column that holds an instant is in one of the tables, and in one only: whoever adds one says what a wrong clock does to it."""
    stored = {
        (table, name)
        for table, text in TABLES.items()
        for name, definition in text.columns.items()
        if definition.split()[1] == "BIGINT" and (name in NAMED or name.endswith(("_at", "_until", "_since")))
    }
    decided = [
        *((table, name) for table, names in instants.FACTS.items() for name in names),
        *instants.WAITS,
        *instants.HOLDS,
        *instants.BY_PEOPLE,
        *instants.HISTORY,
        *instants.ELSEWHERE,
    ]

    assert len(decided) == len(set(decided))
    assert stored == set(decided)


def test_only_instants_are_taken_back():
    """Within JSON, numbers that are no instant stay: counts, truths, what stands for never, hashes."""
    now = 1_700_000_000_000_000
    known = {"seen": now + 5, "looks": 3, "is": True, "never": 2**62, "list": [now - 1, {"at": 2 * now}], "rate": 1e16}

    assert {**known, "seen": now, "list": [now - 1, {"at": now}]} == instants.at_latest(known, now)
