"""The start and end of a sentinel, as far as they are known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tidings.clock import DAY, HOUR
from tidings.language.parser import read
from tidings.model.watch.sentinel import Sentinel
from tidings.service.watch.lifespan import DEEPEST, Life, ends, never_starts, starts
from tidings.storage.watches.sentinels import SentinelRow

BEGIN = 1_700_000_000_000_000


def life(
    name: str,
    clauses: str = "",
    *,
    state: str = "created",
    started: int | None = None,
    ended: int | None = None,
) -> Life:
    """Return the life of a sentinel that was made at time `BEGIN`."""
    text = f"Create Sentinel {name} Using https://a.example Monitor any change {clauses}"
    (sentinel,) = read(text, now=BEGIN)
    assert isinstance(sentinel, Sentinel)
    start = BEGIN + sentinel.start.offset if sentinel.start.base == "now" else sentinel.start.instant
    row = SentinelRow(1, name, state, "", 1, text, start, None, BEGIN, started, ended, None, (), 1, BEGIN)  # type: ignore[arg-type]
    return Life.of(row, sentinel)


def find(*lives: Life) -> Callable[[str], Life | None]:
    """Return a function that finds these lives by name."""
    known = {one.row.name: one for one in lives}
    return known.get


NOBODY = find()


def test_past_start_is_known():
    """A start at a date or from now is known in advance."""
    assert BEGIN + 7 == starts(life("a", "From now + 1 day", state="enabled", started=BEGIN + 7), NOBODY)
    assert BEGIN + DAY == starts(life("a", "From now + 1 day"), NOBODY)
    assert BEGIN == starts(life("a"), NOBODY)


def test_start_after_another_sentinel_is_known_once_that_ended():
    """A start before the end of another is known once that end is planned."""
    after, before = life("b", "From end(a) + 2 hour"), life("c", "From end(a) - 2 hour")
    open_, planned = life("a", state="enabled", started=BEGIN), life("a", "For 1 day", state="enabled", started=BEGIN)
    over = life("a", "For 1 day", state="ended", started=BEGIN, ended=BEGIN + HOUR)

    assert [None, None, BEGIN + 3 * HOUR] == [starts(after, find(a)) for a in (open_, planned, over)]
    assert [None, BEGIN + 22 * HOUR, BEGIN] == [starts(before, find(a)) for a in (open_, planned, over)]
    assert starts(after, NOBODY) is None


def test_nothing_starts_before_its_creation():
    """The other sentinel ended long before."""
    over = life("a", state="ended", started=BEGIN - DAY, ended=BEGIN - DAY)

    assert BEGIN == starts(life("b", "From end(a) + 2 hour"), find(over))


@pytest.mark.parametrize(
    ("clauses", "end"),
    [
        ("", None),
        ("For 1 day", BEGIN + HOUR + DAY),
        ("To now + 2 day", BEGIN + 2 * DAY),
        ("To 2023-12-01T00:00Z", 1_701_388_800_000_000),
        ("To first change", None),
    ],
)
def test_end_of_a_sentinel(clauses: str, end: int | None):
    """A span counts from its start, a time from now from its creation."""
    assert end == ends(life("a", clauses, state="enabled", started=BEGIN + HOUR), NOBODY)


def test_past_end_is_known():
    """The actual end may differ from the planned one."""
    assert BEGIN + 9 == ends(life("a", "For 1 day", state="ended", started=BEGIN, ended=BEGIN + 9), NOBODY)


def test_end_with_another_sentinel_is_its_end():
    """A span with an unknown start has no end yet."""
    a = life("a", state="ended", started=BEGIN, ended=BEGIN + DAY)

    assert BEGIN + DAY == ends(life("b", "To end(a)"), find(a))
    assert ends(life("b", "To end(a)"), find(life("a"))) is None
    assert ends(life("b", "From end(a) For 1 day"), find(life("a"))) is None


def test_sentinel_that_waits_for_a_missing_start_never_starts():
    """The other one ended without a start, or does not exist."""
    waits = life("b", "From start(a)")
    gone = life("a", state="ended", ended=BEGIN + HOUR)
    ran = life("a", state="ended", started=BEGIN, ended=BEGIN + HOUR)

    assert [BEGIN, None, BEGIN + HOUR, None] == [
        never_starts(waits, find(*others)) for others in ((), (life("a"),), (gone,), (ran,))
    ]
    assert never_starts(life("b", "From end(a)"), NOBODY) is None
    assert never_starts(life("b", "From start(a)", state="enabled", started=BEGIN), NOBODY) is None


def test_awaited_sentinels_are_those_of_start_and_end():
    """`has_begun` says whether a life is past its start."""
    assert {"a", "c"} == life("b", "From start(a) To end(c)").awaits()
    assert set() == life("b").awaits()
    assert [False, False, True, True] == [
        life("a", state=state).has_begun for state in ("created", "waiting", "enabled", "ended")
    ]


def test_chain_of_lives_is_followed_up_to_a_limit():
    """Cycles are refused by the language, but older texts may have one."""
    count = DEEPEST + 3
    chain = [life(f"s{n}", f"From end(s{n + 1}) - 1 min For 1 day") for n in range(count)]
    last = life(f"s{count}", "For 1 day", state="enabled", started=BEGIN)

    assert starts(chain[0], find(*chain, last)) is None
    assert starts(chain[5], find(*chain, last)) is not None
