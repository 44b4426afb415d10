from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.model.wall import local_of
from tidings.model.watch.telling import Cap, Channel, Notify, Quiet, Rate
from tidings.service.notify.quiet_hours import free_at, tick_after

ZONES = ("UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia")
INSTANTS = st.integers(1_600_000_000, 1_800_000_000).map(lambda second: second * SECOND)
CLOCKS = st.integers(0, 1439)


AT_ONCE = Rate("immediate")


def clause(rate: Rate = AT_ONCE, quiet: Quiet | None = None, cap: Cap | None = None) -> Notify:
    return Notify((Channel("console"),), rate, quiet, cap)


@given(start=INSTANTS, later=st.integers(0, 400 * 24).map(lambda hours: hours * HOUR + 7), hours=st.integers(1, 200))
def test_hourly_intervals_count_from_the_start(start: int, later: int, hours: int):
    """An interval that is not a whole number of days has its instants at start + i·d, in any time
    zone.
    """
    interval = hours * HOUR if hours % 24 else hours * HOUR + MINUTE
    tick = tick_after(Rate("every", interval), start + later, start=start, zone=ZoneInfo("Europe/Paris"))

    assert tick is not None
    assert 0 == (tick - start) % interval
    assert start + later < tick <= start + later + interval


@given(start=INSTANTS, days=st.integers(1, 30), zone=st.sampled_from(ZONES), number=st.integers(1, 400))
def test_daily_intervals_keep_the_local_time(start: int, days: int, zone: str, number: int):
    """The i-th instant is at the time of day of the start, i intervals later in calendar days. None
    is missing or repeated.
    """
    wall, rate = ZoneInfo(zone), Rate("every", days * DAY)
    begun = local_of(start, wall).replace(tzinfo=None)
    ticks, at = [], start + (number - 1) * days * DAY
    for _ in range(3):
        tick = tick_after(rate, at, start=start, zone=wall)
        assert tick is not None
        ticks.append(tick)
        at = tick
    dates = [local_of(tick, wall).replace(tzinfo=None) - begun for tick in ticks]

    assert all(
        abs(passed - timedelta(days=round(passed / timedelta(days=1)))) <= timedelta(hours=1) for passed in dates
    )
    assert [days, days] == [round((second - first) / timedelta(days=1)) for first, second in itertools.pairwise(dates)]
    assert ticks == sorted(ticks)


@given(at=INSTANTS, begins=CLOCKS, ends=CLOCKS, zone=st.sampled_from(ZONES))
def test_message_is_sent_at_once_or_after_quiet_hours(at: int, begins: int, ends: int, zone: str):
    """The sender wakes up at the end of quiet hours."""
    if begins == ends:
        return
    wall, quiet = ZoneInfo(zone), Quiet(begins, ends)
    free = free_at(clause(quiet=quiet), at, sent=(), zone=wall)
    local = local_of(free, wall)
    minute = local.hour * 60 + local.minute
    inside = begins <= minute < ends if begins < ends else minute >= begins or minute < ends

    assert free == at or free == tick_after(Rate("at", clocks=(quiet.ends,)), at, start=at, zone=wall)
    assert not inside or _is_shifted(free, wall)
    assert free == free_at(clause(quiet=quiet), free, sent=(), zone=wall)


def _is_shifted(instant: int, wall: ZoneInfo) -> bool:
    """Return whether clocks change within a day, where quiet hours may be shortened by missing or repeated hours."""
    offsets = {local_of(instant + hours * HOUR, wall).utcoffset() for hours in (-25, 0, 25)}
    return len(offsets) > 1


@given(
    sent=st.lists(st.integers(0, 100).map(lambda n: n * MINUTE), max_size=12).map(sorted),
    count=st.integers(1, 4),
    per=st.integers(1, 60).map(lambda n: n * MINUTE),
    later=st.integers(0, 90).map(lambda n: n * MINUTE),
)
def test_no_window_has_more_messages_than_the_cap(sent: list[int], count: int, per: int, later: int):
    """This holds for each window of the given length."""
    capped = clause(cap=Cap(count, per))
    kept: list[int] = []
    for at in sent:
        kept.append(free_at(capped, max([at, *kept]), sent=kept, zone=ZoneInfo("UTC")))
    last = free_at(capped, max([later, *kept]), sent=kept, zone=ZoneInfo("UTC"))

    for end in (*kept, last):
        assert count >= sum(end - per < at <= end for at in (*kept, last))


def test_clause_with_quiet_hours_or_a_cap_is_not_plain():
    """Only `immediate` without both is."""
    assert clause().is_plain
    assert not clause(quiet=Quiet(0, 60)).is_plain
    assert not clause(cap=Cap(1, HOUR)).is_plain
    assert not clause(Rate("best_effort")).is_plain


def test_rate_without_a_time_has_no_tick():
    """Such a rate counts changes, or is immediate."""
    zone = ZoneInfo("UTC")

    assert tick_after(Rate("every", changes=3), 0, start=0, zone=zone) is None
    assert tick_after(Rate("immediate"), 0, start=0, zone=zone) is None
    assert datetime(1970, 1, 1, 8, tzinfo=zone) == local_of(
        tick_after(Rate("at", clocks=(480,)), 0, start=0, zone=zone) or 0, zone
    )
