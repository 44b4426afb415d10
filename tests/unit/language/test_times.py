"""Dates, durations, zones and points in time."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import UsageError
from tidings.language.times import (
    ends_at,
    instant_of,
    local_text,
    measure,
    point_text,
    read_coming,
    read_date,
    read_moment,
    resolve,
    starts_at,
    swap_day_and_month,
    zone_of,
)
from tidings.model.interval import spell_duration
from tidings.model.watch.sentinel import Interest, Point, Sentinel, Watched

SECOND = 1_000_000
HOUR = 3_600 * SECOND
DAY = 24 * HOUR
NOW = 1_700_000_000 * SECOND


@dataclass(frozen=True)
class Life:
    start_at: int | None = None
    end_at: int | None = None
    ended_at: int | None = None


def utc(text):
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND


def sentinel(**life):
    return Sentinel(name="s", pages=(Watched("https://x.example"),), monitor=Interest("any"), **life)


def date(text):
    return read_date(text)


def at(text, zone):
    return instant_of(date(text), ZoneInfo(zone))


def nobody(name):
    return None


DATES = [
    ("2026-03-01", "2026-03-01", False),
    ("2026-3-1", "2026-03-01", False),
    ("2026-03-01T08:00", "2026-03-01T08:00", False),
    ("2026-03-01 08:00:00", "2026-03-01T08:00", False),
    ("2026-03-01T08:00:30Z", "2026-03-01T08:00:30+00:00", False),
    ("2026-03-01t08:00-05:30", "2026-03-01T08:00-05:30", False),
    ("12/02/02", "2002-12-02", True),
    ("1/2/68", "2068-01-02", True),
    ("1/2/69", "1969-01-02", True),
    ("12/31/1999 23:59", "1999-12-31T23:59", True),
]


@pytest.mark.parametrize(("text", "canonical", "slashed"), DATES)
def test_date_is_read_and_written_in_one_form(text, canonical, slashed):
    """ISO dates stay, slashes are month/day/year with two-digit years up to 68 in the 2000s; the
    canonical text is read as the same date.
    """
    reading = date(text)

    assert (canonical, slashed) == (reading.text, reading.slashed)
    assert reading.local == date(canonical).local


@pytest.mark.parametrize(
    "text",
    [
        "25/12/02",
        "2026-02-30",
        "2026-13-01",
        "0000-01-01",
        "2026-03-01T24:00",
        "2026-03-01T08:00+24:00",
        "1.2.2026",
        "now",
    ],
)
def test_impossible_date_is_refused(text):
    """The calendar does not have it."""
    assert read_date(text) is None


def test_swapped_date_has_a_suggestion():
    """Day/month/year is answered with the ISO date."""
    assert ("2002-12-25", None, None) == (
        swap_day_and_month("25/12/02"),
        swap_day_and_month("99/99/02"),
        swap_day_and_month("2002-12-25"),
    )


def test_date_is_the_start_of_its_day_in_the_zone():
    """Midnight in Paris in summer is 22:00 UTC of the day before; a time with its own offset needs
    no zone.
    """
    assert utc("2026-06-30T22:00") == at("2026-07-01", "Europe/Paris")
    assert utc("2026-07-01T02:30") == at("2026-07-01T08:00+05:30", "Europe/Paris")


GAPS = [
    ("2026-03-29T02:30", "Europe/Paris", "2026-03-29T01:00"),
    ("2026-03-29T02:00", "Europe/Paris", "2026-03-29T01:00"),
    ("2026-03-08T02:59:59", "America/New_York", "2026-03-08T07:00"),
    ("2026-10-04T02:15", "Australia/Lord_Howe", "2026-10-03T15:30"),
    ("2011-12-30", "Pacific/Apia", "2011-12-30T10:00"),
    ("2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00"),
]


@pytest.mark.parametrize(("text", "zone", "instant"), GAPS)
def test_skipped_time_means_the_first_instant_after_it(text, zone, instant):
    """The clocks skip an hour, half an hour or a whole day."""
    assert utc(instant) == at(text, zone)


def test_double_time_means_the_first():
    """02:30 of the night when clocks go back is in summer time."""
    assert utc("2026-10-25T00:30") == at("2026-10-25T02:30", "Europe/Paris")


@given(
    st.datetimes(datetime(1980, 1, 1), datetime(2035, 1, 1)),
    st.sampled_from(["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca"]),
)
def test_dates_agree_with_a_search_of_all_instants(local, zone):
    """The instant is the first whose local time is not before the given one, found by trying every
    second around it.
    """
    local = local.replace(microsecond=0)
    where = ZoneInfo(zone)
    found = instant_of(date(local.isoformat()), where)

    def show(instant):
        return (
            (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=instant)).astimezone(where).replace(tzinfo=None)
        )

    assert show(found) >= local
    assert show(found - SECOND) < local
    assert all(show(found - back * HOUR // 4) < local for back in range(1, 8))


def test_duration_is_a_number_with_a_unit():
    """All spellings of a unit are equal; fractions are exact to the microsecond."""
    assert [90 * 60 * SECOND, 2 * DAY, 14 * DAY, 3 * SECOND, 1, 0] == [
        measure("1.5", "Hours"),
        measure("2", "d"),
        measure("2", "weeks"),
        measure("3", "secs"),
        measure("0.000001", "s"),
        measure("0.0000001", "s"),
    ]


@given(st.integers(1, 36_525 * DAY))
def test_written_duration_is_read_as_the_same(duration):
    """`spell_duration` is tested up to a hundred years."""
    number, unit = spell_duration(duration).split()

    assert duration == measure(number, unit)


def test_only_zones_of_the_database_are_accepted():
    """Folders, paths and other words are not."""
    assert [None] * 5 == [zone_of(name) for name in ("Paris", "Europe", "../etc/passwd", "", "A" * 5_000)]
    assert zone_of("Europe/Paris") is not None


def test_instant_is_written_in_its_zone():
    """It is the day in the zone; instants beyond the calendar are its first or last."""
    assert "2023-11-15" == local_text(NOW, ZoneInfo("Asia/Tokyo"))
    assert "2023-11-14T22:13:20+00:00" == local_text(NOW, UTC, clock=True)
    assert "9999-12-30" == local_text(10**30, UTC)
    assert "0001-01-03" == local_text(-(10**30), UTC)


STARTS = [
    (Point("now"), None, NOW),
    (Point("now", HOUR), None, NOW + HOUR),
    (Point("at", DAY, "2001-09-09", 1_000_000_000 * SECOND), None, 1_000_000_000 * SECOND + DAY),
    (Point("start", sentinel="b"), Life(start_at=NOW - DAY), NOW),
    (Point("start", 2 * DAY, sentinel="b"), Life(start_at=NOW - DAY), NOW + DAY),
    (Point("start", sentinel="b"), Life(start_at=NOW + DAY), None),
    (Point("start", -HOUR, sentinel="b"), Life(start_at=NOW + DAY), NOW + DAY - HOUR),
    (Point("start", sentinel="b"), Life(), None),
    (Point("end", sentinel="b"), Life(end_at=NOW + DAY), None),
    (Point("end", HOUR, sentinel="b"), Life(end_at=NOW - DAY, ended_at=NOW - 60), NOW - 60 + HOUR),
    (Point("end", sentinel="b"), Life(ended_at=NOW - DAY), NOW),
    (Point("end", -HOUR, sentinel="b"), Life(end_at=NOW + DAY), NOW + DAY - HOUR),
    (Point("end", sentinel="b"), None, None),
]


@pytest.mark.parametrize(("point", "life", "instant"), STARTS)
def test_start_is_an_instant_or_waits_for_an_event(point, life, instant):
    """Dates stay, past events mean now, and future ones are waited for; a minus needs a planned
    time.
    """
    assert instant == starts_at(sentinel(start=point), NOW, {"b": life}.get)


ENDS = [
    ({}, None, None),
    ({"span": DAY}, None, NOW + DAY),
    ({"end": Point("at", HOUR, "2030-01-01", NOW + 5 * DAY)}, None, NOW + 5 * DAY + HOUR),
    ({"end": Point("now", DAY)}, None, NOW + DAY),
    ({"end": Point("end", DAY, sentinel="b")}, Life(end_at=NOW + DAY), None),
    ({"end": Point("end", DAY, sentinel="b")}, Life(ended_at=NOW), NOW + DAY),
    ({"end": Point("end", -HOUR, sentinel="b")}, Life(end_at=NOW + DAY), NOW + DAY - HOUR),
    ({"end": Point("end", sentinel="b")}, None, None),
    ({"end": Point("start", sentinel="b")}, Life(start_at=NOW + DAY), NOW + DAY),
    ({"end": Point("start", sentinel="b")}, Life(), None),
]


@pytest.mark.parametrize(("life", "other", "instant"), ENDS)
def test_end_is_an_instant_or_waits_for_an_event(life, other, instant):
    """For counts from the start; end(x) is known once x has ended, or before if its end is planned."""
    assert instant == ends_at(sentinel(**life), NOW, {"b": other}.get)


def test_length_has_no_end_before_the_start():
    """While a sentinel waits for its start, For has no end."""
    assert ends_at(sentinel(span=DAY), None, nobody) is None
    assert ends_at(sentinel(end=Point("now", DAY)), None, nobody) is None


def test_point_can_move_to_another_zone():
    """The text stays and the instant follows the zone; points without a date stay."""
    point = Point("at", DAY, "2026-07-01", utc("2026-07-01T00:00"))
    moved = resolve(point, ZoneInfo("Europe/Paris"))

    assert Point("at", DAY, "2026-07-01", utc("2026-06-30T22:00")) == moved
    assert Point("now") == resolve(Point("now"), UTC)
    assert Point("at", text="soon") == resolve(Point("at", text="soon"), UTC)


def test_point_is_written_as_it_is_read():
    """It has base and offset, with a separate sign."""
    assert ["now", "now + 1 week", "2026-03-01 - 90 min", "end(s1)", "start(s1) + 1 hour"] == [
        point_text(Point("now")),
        point_text(Point("now", 7 * DAY)),
        point_text(Point("at", -90 * 60 * SECOND, "2026-03-01")),
        point_text(Point("end", sentinel="s1")),
        point_text(Point("start", HOUR, sentinel="s1")),
    ]


def test_day_as_an_end_is_whole():
    """It is its last instant, also on a day of 23 hours."""
    first = read_moment("2026-03-29", "Europe/Paris", NOW)

    assert 23 * HOUR == read_moment("2026-03-29", "Europe/Paris", NOW, is_end=True) - first + 1
    assert read_moment("2026-03-29T08:00", "UTC", NOW) == read_moment("2026-03-29T08:00", "UTC", NOW, is_end=True)


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_first_and_last_day_of_the_calendar_have_an_end(day):
    """The calendar ends with them."""
    assert DAY == read_moment(day, "UTC", NOW, is_end=True) - read_moment(day, "UTC", NOW) + 1


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("now", NOW),
        ("today", utc("2023-11-14")),
        ("Yesterday", utc("2023-11-13")),
        ("monday", utc("2023-11-13")),
        ("last tuesday", utc("2023-11-14")),
        ("wed", utc("2023-11-08")),
        ("2 days ago", NOW - 2 * DAY),
        ("7d", NOW - 7 * DAY),
        ("last week", NOW - 7 * DAY),
        ("the last 3 hours", NOW - 3 * HOUR),
        ("an hour ago", NOW - HOUR),
        ("2 months ago", NOW - 60 * DAY),
    ],
)
def test_moment_is_read_from_words(text, meant):
    """Now is 2023-11-14 22:13, a Tuesday."""
    assert meant == read_moment(text, "UTC", NOW)


@pytest.mark.parametrize("text", ["soon", "2026-02-30", "", "2 blue", "d ago d"])
def test_unreadable_moment_is_refused(text):
    """The error has examples."""
    with pytest.raises(UsageError, match="2026-03-01"):
        read_moment(text, "UTC", NOW)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2023-12-24", "2023-12-24T00:00"),
        ("2023-12-24 08:30", "2023-12-24T08:30"),
        ("tomorrow 8:00", "2023-11-15T08:00"),
        ("Tomorrow", "2023-11-15T00:00"),
        ("today 23:00", "2023-11-14T23:00"),
        ("23:00", "2023-11-14T23:00"),
        ("8am", "2023-11-15T08:00"),
        ("monday at 9:15", "2023-11-20T09:15"),
        ("next tuesday", "2023-11-21T00:00"),
        ("next week", "2023-11-20T00:00"),
        ("3 days", "2023-11-17T22:13:20"),
        ("in 2h", "2023-11-15T00:13:20"),
        ("a week", "2023-11-21T22:13:20"),
        ("now + 1 day", "2023-11-15T22:13:20"),
    ],
)
def test_coming_times_are_read_as_people_write_them(text: str, meant: str):
    """A day of the week is never today, and a time of day that has passed is tomorrow's."""
    assert utc(meant) == read_coming(text, "UTC", NOW)


@pytest.mark.parametrize("text", ["", "soon", "2020-01-01", "yesterday", "today 8:00", "25:00", "monda y"])
def test_time_that_does_not_come_is_refused(text: str):
    """The message shows what can be written."""
    with pytest.raises(UsageError, match=r"write 2026-12-24, tomorrow|has passed"):
        read_coming(text, "UTC", NOW)
