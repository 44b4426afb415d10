"""The effect of a wrong clock on each stored instant in the future."""

from __future__ import annotations

from tests.stores import TABLES
from tidings.storage.write import instants

NAMED = ("at", "until", "since", "next_tick")


def test_each_stored_instant_is_in_exactly_one_table():
    """A new column with an instant must decide what a wrong clock does to it."""
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


def test_only_instants_are_corrected():
    """In JSON, other numbers stay: counts, booleans, the value for never, and rates."""
    now = 1_700_000_000_000_000
    known = {"seen": now + 5, "looks": 3, "is": True, "never": 2**62, "list": [now - 1, {"at": 2 * now}], "rate": 1e16}

    assert {**known, "seen": now, "list": [now - 1, {"at": now}]} == instants.at_latest(known, now)
