"""The report of a page: paces and their effect, and the hours of its changes."""

from __future__ import annotations

import math

import pytest

from tidings.clock import DAY, HOUR
from tidings.service.explain.page_report import PageReport, infer, paces, when


def test_more_checks_see_changes_sooner_and_miss_fewer() -> None:
    """At 2 changes and 4 checks a day, half are seen within 3 h, and 1 − (1 − e^(−½))/½ are missed."""
    fewer, now, more, twice = paces(2.0, 4.0)

    assert (3.0, 4.0, 5.0, 8.0) == (fewer.a_day, now.a_day, more.a_day, twice.a_day)
    assert now.is_now
    assert 3 * HOUR == now.delay
    assert 1 - (1 - math.exp(-0.5)) / 0.5 == pytest.approx(now.missed)
    assert fewer.delay > now.delay > more.delay > twice.delay
    assert fewer.missed > now.missed > more.missed > twice.missed


def test_rarely_checked_page_is_compared_with_half_and_double() -> None:
    """No pace is below 0."""
    assert [0.25, 0.5, 0.75, 1.0] == [pace.a_day for pace in paces(0.1, 0.5)]


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        ({}, ""),
        ({(0, 9): 9}, ""),
        ({(day, hour): 2 for day in range(5) for hour in (9, 10, 11)}, "Monday to Friday, 09:00 to 12:00"),
        ({(day, 23): 1 for day in range(7)} | {(day, 0): 1 for day in range(7)}, "23:00 to 01:00"),
        ({(2, 7): 12}, "Monday to Friday, 07:00 to 08:00"),
        ({(6, hour): 1 for hour in range(24)}, "Saturday and Sunday"),
        ({(day, hour): 1 for day in range(7) for hour in range(24)}, ""),
    ],
)
def test_hours_are_named_if_they_are_significant(hours: dict[tuple[int, int], int], expected: str) -> None:
    """A few changes, or changes at all hours, are not."""
    total = sum(hours.values())

    assert (f"changes mostly {expected} ({total} changes in 90 days)" if expected else "") == when(hours)


def test_report_shows_the_effect_of_one_more_check() -> None:
    """The screen and the command have the same sentences."""
    report = PageReport(1, "https://a.example/", "", 2.0, 1.5, 2.6, list(paces(2.0, 4.0)), {}, "", ["clock: ticks"])

    assert [
        "changes 2 times a day (1.5 to 2.6 times a day, sure to 95 %)",
        "4 checks a day: half of its changes are seen within 3 h, 21.3% are missed because of a newer one",
        "    3 checks a day: within 4 h, 27.0% missed",
        "    5 checks a day: within 2 h 24 min, 17.6% missed",
        "    8 checks a day: within 1 h 30 min, 11.5% missed",
        "with one check more a day you would be notified 36 min sooner",
        "ignored as noise: clock: ticks",
    ] == [*report.lines()]
    assert DAY // 8 == report.paces[1].delay


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ((0.5, 4.6e-16, 4.9), "changes once in 2 days (0 to 4.9 times a day, sure to 95 %)"),
        ((0.9, 0.5, 4.9), "changes 0.9 times a day (0.5 to 4.9 times a day, sure to 95 %)"),
        ((0.0, 0.0, 0.01), "changes once in 1,000 days (0 to 0.01 times a day, sure to 95 %)"),
    ],
)
def test_small_rate_is_shown_in_days(rates: tuple[float, float, float], expected: str) -> None:
    """4.6e-16 times a day would be unreadable."""
    assert expected == next(PageReport(1, "https://a.example/", "", *rates, [], {}, "", []).lines())


@pytest.mark.parametrize("every", [HOUR, 6 * HOUR, DAY])
@pytest.mark.parametrize("found", [10, 30])
def test_rate_of_a_page_with_fixed_times_is_inferred_from_its_checks(every: int, found: int) -> None:
    """It is near the number of changes by the time, and above it if each check may hide changes."""
    made = [(n * every, n % 4 == 0 and 0 < n <= 4 * found) for n in range(4 * found + 1)]

    rate = infer(made)["rate"]

    at_least = found / (4 * found * every / DAY)
    assert at_least * 0.85 < rate["shape"] / rate["scale"] < at_least * 1.6


@pytest.mark.parametrize("made", [[], [(0, False)], [(DAY, True)]])
def test_nothing_is_inferred_from_one_check(made: list[tuple[int, bool]]) -> None:
    """There is no interval yet."""
    assert {} == infer(made)


def test_rate_of_a_page_that_changes_at_each_of_many_checks_is_inferred_from_the_newest() -> None:
    """The rate says that there are several changes in each interval."""
    rate = infer([(n * HOUR, True) for n in range(20_000)])["rate"]

    assert 24 < rate["shape"] / rate["scale"] < 24 * 10


def test_rate_of_a_page_that_never_changed_is_low() -> None:
    """It falls with the time that was watched."""
    week, month = (infer([(n * DAY, False) for n in range(days)])["rate"] for days in (8, 31))

    assert 0.05 > week["shape"] / week["scale"] > month["shape"] / month["scale"] > 0
