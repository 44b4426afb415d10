from __future__ import annotations

import random

import pytest

from tidings.clock import DAY, HOUR
from tidings.language.parser import read
from tidings.model.watch.sentinel import Sentinel
from tidings.record import replace
from tidings.service.notify.life_steps import MISSED, NEVER_STARTED, OVER, RESUMED, UNSTARTED, play_lives
from tidings.service.watch.lifespan import Life
from tidings.storage.watches.sentinels import SentinelRow

BEGIN = 1_700_000_000_000_000


def life(number: int, name: str, clauses: str = "", *, at: int = BEGIN, state: str = "created") -> Life:
    """Return the life of a sentinel that was made at an instant."""
    text = f"Create Sentinel {name} Using https://a.example Monitor any change {clauses}"
    (sentinel,) = read(text, now=at)
    assert isinstance(sentinel, Sentinel)
    start = at + sentinel.start.offset if sentinel.start.base == "now" else sentinel.start.instant
    end = sentinel.end.instant if sentinel.end is not None else None
    row = SentinelRow(number, name, state, "", 1, text, start, end, at, None, None, None, (), 1, at)  # type: ignore[arg-type]
    return Life.of(row, sentinel)


def play(lives: list[Life], *, now: int) -> list[tuple[str, str, int, str]]:
    """Return the steps until `now` as (name, state, hours since the beginning, reason)."""
    names = {life.row.id: life.row.name for life in lives}
    moves = play_lives(lives, now=now).moves
    return [(names[m.sentinel_id], m.state, (m.at - BEGIN) // HOUR, m.reason) for m in moves]


def test_overdue_steps_are_in_order_and_have_their_own_instants():
    """A chain of sentinels had steps while the service was stopped."""
    lives = [
        life(1, "a", "For 1 day"),
        life(2, "b", "From end(a) + 2 hour For 10 day"),
        life(3, "c", "From start(b) For 30 day"),
    ]
    lives[0].state, lives[0].started_at = "enabled", BEGIN

    steps = play(lives, now=BEGIN + 2 * DAY)

    assert [("a", "ended", 24, "its end has come"), ("b", "enabled", 26, ""), ("c", "enabled", 26, "")] == [
        step for step in steps if step[1] != "waiting"
    ]
    assert ["ended", "enabled", "enabled"] == [x.state for x in lives]


def test_at_one_instant_ends_come_before_starts():
    """Then the order of creation counts, so that the result is deterministic."""
    lives = [
        life(1, "late", "From now + 1 day"),
        life(2, "x", "For 1 day"),
        life(3, "y", "To end(x)"),
        life(4, "next", "From end(y)"),
    ]
    play_lives(lives, now=BEGIN)

    assert [
        ("x", "ended", 24, "its end has come"),
        ("y", "ended", 24, "its end has come"),
        ("late", "enabled", 24, ""),
        ("next", "enabled", 24, ""),
    ] == play(lives, now=BEGIN + DAY)


@pytest.mark.parametrize(
    ("clauses", "reason"),
    [
        ("From now + 1 day For 1 day", MISSED),
        ("To now + 1 day", MISSED),
        ("To 2001-01-01", OVER),
        ("From end(x) To 2001-01-01", OVER),
        ("From end(x) To now + 1 day", UNSTARTED),
    ],
)
def test_only_a_life_between_start_and_end_is_missed(clauses: str, reason: str):
    """An end that was written in the past is over, and one before the start came first."""
    lives = [life(1, "x"), life(2, "a", clauses)]

    steps = play(lives, now=BEGIN + 5 * DAY)

    assert [reason] == [why for name, state, _, why in steps if (name, state) == ("a", "ended")]


def test_life_in_the_past_is_missed():
    """A sentinel that waits for its start never starts. One that waits for its end does."""
    lives = [
        life(1, "a", "From now + 1 day For 1 day"),
        life(2, "with", "From start(a)"),
        life(3, "after", "From end(a)"),
    ]

    steps = play(lives, now=BEGIN + 5 * DAY)

    assert ("a", "ended", 48, MISSED) in steps
    assert ("with", "ended", 48, NEVER_STARTED) in steps
    assert ("after", "enabled", 48, "") in steps


def test_negative_offset_uses_the_planned_instant():
    """`end(x) - 6 hour` comes before x ends, and moves with the end of x."""
    lives = [life(1, "x", "For 2 day"), life(2, "before", "From end(x) - 6 hour For 1 hour")]

    assert [("x", "enabled", 0, ""), ("before", "waiting", 0, "")] == play(lives, now=BEGIN)
    assert [("before", "enabled", 42, "")] == play(lives, now=BEGIN + 42 * HOUR)
    assert [("before", "ended", 43, "its end has come")] == play(lives, now=BEGIN + 43 * HOUR)


def test_next_instant_is_known_in_advance():
    """The service wakes up at it. A sentinel that waits for an event needs no wake-up."""
    lives = [life(1, "a", "From now + 1 day For 1 day"), life(2, "b", "From end(a)")]

    assert BEGIN + DAY == play_lives(lives, now=BEGIN).next_at
    assert BEGIN + 2 * DAY == play_lives(lives, now=BEGIN + DAY).next_at
    assert None is play_lives(lives, now=BEGIN + 2 * DAY).next_at


def test_disabled_sentinel_ends_in_time_and_starts_nothing():
    """Disabled time counts towards its life. One that was disabled before its start does not start."""
    running, unstarted = life(1, "a", "For 1 day"), life(2, "b", "For 1 day")
    running.state, running.started_at, unstarted.state = "disabled", BEGIN, "disabled"

    assert [("a", "ended", 24, "its end has come"), ("b", "ended", 24, "its end has come")] == play(
        [running, unstarted], now=BEGIN + 2 * DAY
    )


CLAUSES = ("", "For {d} day", "From now + {d} day", "From now + {d} day For {e} day", "From end({x})", "From start({x}) + {d} hour",
           "From start({x}) To end({x}) + {e} hour", "To end({x})", "From end({x}) - {d} hour For {e} day", "To start({x}) + {e} day")  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_stops_of_the_service_do_not_change_lives(seed: int):
    """The steps have the same instants if they are made every hour or rarely (sentinels §2.3).
    Lives that were missed completely, with all that depends on them, are an exception.
    """
    rng = random.Random(seed)

    def lives() -> list[Life]:
        made: list[Life] = []
        draw = random.Random(seed)
        for number in range(12):
            clause = draw.choice(CLAUSES if made else CLAUSES[:4])
            other = draw.choice(made).row.name if made else ""
            made.append(
                life(number + 1, f"s{number}", clause.format(d=draw.randint(1, 9), e=draw.randint(1, 9), x=other))
            )
        return made

    steady, broken = lives(), lives()
    wakes = sorted(rng.sample(range(1, 40 * 24), 6))
    first = [m for hour in range(40 * 24) for m in play_lives(steady, now=BEGIN + hour * HOUR).moves]
    second = [m for hour in [0, *wakes, 40 * 24 - 1] for m in play_lives(broken, now=BEGIN + hour * HOUR).moves]

    if not any(m.reason in {MISSED, NEVER_STARTED, UNSTARTED} for m in second):
        assert [m for m in first if m.state != "waiting"] == [m for m in second if m.state != "waiting"]
        assert [(x.state, x.started_at, x.ended_at) for x in steady] == [
            (x.state, x.started_at, x.ended_at) for x in broken
        ]


def pause(number: int, name: str, *, started: int | None, hours: int, clauses: str = "") -> Life:
    """Return the life of a disabled sentinel whose pause ends by itself."""
    begun = life(number, name, clauses, state="disabled")
    row = replace(begun.row, resume_at=BEGIN + hours * HOUR, started_at=started)
    return Life.of(row, begun.sentinel)


def test_pause_with_an_end_is_over_at_its_instant():
    """One that never started then waits for its start; an end of its life comes first."""
    lives = [
        pause(1, "a", started=BEGIN, hours=5),
        pause(2, "b", started=None, hours=3),
        pause(3, "c", started=BEGIN, hours=30, clauses="For 1 day"),
    ]

    assert 3 * HOUR == (play_lives(lives, now=BEGIN + HOUR).next_at or 0) - BEGIN
    assert [
        ("b", "created", 3, RESUMED),
        ("b", "enabled", 3, ""),
        ("a", "enabled", 5, RESUMED),
        ("c", "ended", 24, "its end has come"),
    ] == play(lives, now=BEGIN + 2 * DAY)
