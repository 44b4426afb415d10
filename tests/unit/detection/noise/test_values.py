"""Values that are noise by their form: times, counters, the present date and time."""

from datetime import UTC, datetime
from random import Random

import pytest

from tidings.detection.noise import values
from tidings.detection.noise.values import LONGEST_LINE, are_paired, values_of

AT = int(datetime(2026, 11, 28, 5, 30, tzinfo=UTC).timestamp()) * 1_000_000

NOISE = [
    ("Posted 3 hours ago by Bob", [("time", "3 hours ago")]),
    ("an hour ago", [("time", "an hour ago")]),
    ("just now", [("time", "just now")]),
    ("yesterday", [("time", "yesterday")]),
    ("vor 5 Minuten", [("time", "vor 5 Minuten")]),
    ("il y a 3 heures", [("time", "il y a 3 heures")]),
    ("hace 2 días", [("time", "hace 2 días")]),
    ("há 4 horas", [("time", "há 4 horas")]),
    ("3 ore fa", [("time", "3 ore fa")]),
    ("2 dagen geleden", [("time", "2 dagen geleden")]),
    ("för 5 minuter sedan", [("time", "för 5 minuter sedan")]),
    ("5 минут назад", [("time", "5 минут назад")]),
    ("5 分钟前", [("time", "5 分钟前")]),
    ("12時間前", [("time", "12時間前")]),
    ("3시간 전", [("time", "3시간 전")]),
    ("1,234 views", [("count", "1,234 views")]),
    ("1.2K likes", [("count", "1.2K likes")]),
    ("Views: 5|Price 3", [("count", "Views: 5")]),
    ("57 users online, 55 guests", [("count", "57 users online"), ("count", "55 guests")]),
    ("1 234 просмотра", [("count", "1 234 просмотра")]),
    ("Page generated in 0.123 seconds", [("took", "generated in 0.123 seconds")]),
    ("Sat, 28 Nov 2026 05:29:01", [("date", "Sat, 28 Nov 2026"), ("clock", "05:29:01")]),
    ("2026-11-28T05:30:00Z", [("date", "2026-11-28"), ("clock", "05:30:00")]),
    ("28.11.2026", [("date", "28.11.2026")]),
    ("November 28, 2026", [("date", "November 28, 2026")]),
    ("2026年11月28日", [("date", "2026年11月28日")]),
]
NEWS = [
    "Price $12.99", "€5", "$5 likes to be spent", "born 13 years ago", "in 3 days", "29 Nov 2027", "He said yesterday that it was not", "10 comments",
    "3 left in stock", "version 6.7.2", "call 0123 456", "28 November 2025", "3 of 5 seats",
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), NOISE)
def test_times_counters_and_the_present_are_values(line, expected):
    """They are ages, views, durations, and the date and time of the poll, in several languages."""
    assert expected == [(value.label, line[value.start : value.end]) for value in values_of(line, AT)]


@pytest.mark.parametrize("line", NEWS)
def test_watched_content_is_no_value(line):
    """Prices, appointments, stock, versions and years are never a class of values."""
    assert () == values_of(line, AT)


def test_present_time_needs_the_time_of_the_poll():
    """Without it no date is the present one."""
    assert () == values_of("28 Nov 2026, 05:30")


@pytest.mark.parametrize(
    ("new", "elapsed", "expected"), [("06:31", 3600, True), ("06:31", 7200, False), ("05:31", 86_400, True)]
)
def test_clock_is_noise_only_if_it_runs_with_the_polls(new, elapsed, expected):
    """An opening time that moved by an hour between two polls of a day is news."""
    (old,), (now,) = values_of("05:30", AT), values_of(new, AT)

    assert expected == are_paired(old, now, elapsed)


@pytest.mark.parametrize("text", ["1 ", "1,111,", "vor ", "views: ", "generated a ", "20:2", "2026-"])
def test_every_line_is_read_in_limited_time(text):
    """Each pattern is limited by the length of a line: its match in the longest one ends there."""
    line = (text * LONGEST_LINE)[:LONGEST_LINE]

    assert all(0 <= value.start < value.end <= LONGEST_LINE for value in values_of(line, AT))


WORDS = (
    "12 1,234 3.5k views Views: Aufrufe: просмотров ago hours just now vor 3 Stunden il y a 5 min hace días 3시간 전 5分钟前 2026-11-29 14:05 "
    "rendered in 12ms guests online \u017fecs 3 m\u0130n ago \u0661 heute moments K"
).split(" ")


@pytest.mark.parametrize("seed", range(40))
def test_quick_exclusion_by_re2_is_exact(seed: int) -> None:
    """The values of a line are those of all patterns together, each tried at every letter."""
    rng = Random(seed)
    for _ in range(25):
        line = " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 9)))

        for label, patterns in values._TABLE:
            whole = [match.span() for match in values._pattern(patterns).finditer(line)]
            may = tuple(one for one in patterns if values._may_have(line, (one,)))
            assert whole == [match.span() for match in values._pattern(may).finditer(line)], (label, line)
            assert not whole or values._may_have(line, patterns), (label, line)
