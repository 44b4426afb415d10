from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.language.times import (
    ends_at,
    instant_of,
    local_text,
    measure,
    point_text,
    read_date,
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
def test_a_date_is_read_and_written_in_one_way(text, canonical, slashed):
    """ISO dates stay, slashes are month/day/year with two-digit years up to 68 in the 2000s; the canonical text reads the same."""
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
def test_what_is_no_date_is_none(text):
    """Days and times that the calendar does not have are no dates."""
    assert read_date(text) is None


def test_a_swapped_date_is_offered():
    """Day/month/year is offered as the ISO date that was meant."""
    assert ("2002-12-25", None, None) == (
        swap_day_and_month("25/12/02"),
        swap_day_and_month("99/99/02"),
        swap_day_and_month("2002-12-25"),
    )


def test_a_date_is_the_start_of_its_day_in_the_zone():
    """Midnight in Paris in summer is 22:00 UTC of the day before; a time with its own offset needs no zone."""
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
def test_a_time_that_is_left_out_means_the_first_instant_after(text, zone, instant):
    """When clocks jump over a local time, it is the instant at which they jump: an hour, half an hour or a whole day."""
    assert utc(instant) == at(text, zone)


def test_a_time_that_comes_twice_means_the_first():
    """02:30 of the night when clocks go back is the one in summer time."""
    assert utc("2026-10-25T00:30") == at("2026-10-25T02:30", "Europe/Paris")


@given(
    st.datetimes(datetime(1980, 1, 1), datetime(2035, 1, 1)),
    st.sampled_from(["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca"]),
)
def test_dates_agree_with_a_search_through_all_instants(local, zone):
    """The instant is the first whose local time is not before the one asked for, found by trying every second around it."""
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


def test_a_duration_is_a_number_of_a_unit():
    """All spellings of a unit are one; fractions are exact to the microsecond."""
    assert [90 * 60 * SECOND, 2 * DAY, 14 * DAY, 3 * SECOND, 1, 0] == [
        measure("1.5", "Hours"),
        measure("2", "d"),
        measure("2", "weeks"),
        measure("3", "secs"),
        measure("0.000001", "s"),
        measure("0.0000001", "s"),
    ]


@given(st.integers(1, 36_525 * DAY))
def test_a_duration_survives_being_spelled(duration):
    """What `spell_duration` prints is measured as the same duration, up to a hundred years."""
    number, unit = spell_duration(duration).split()

    assert duration == measure(number, unit)


def test_only_zones_of_the_database_are_zones():
    """Folders, paths and nonsense are no time zones."""
    assert [None] * 5 == [zone_of(name) for name in ("Paris", "Europe", "../etc/passwd", "", "A" * 5_000)]
    assert zone_of("Europe/Paris") is not None


def test_an_instant_is_written_in_its_zone():
    """The day in the zone; instants beyond the calendar are held at its ends."""
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
def test_a_start_is_an_instant_or_waits_for_an_event(point, life, instant):
    """Dates stay as they are, events that happened mean now, events to come are waited for; a minus needs a planned time."""
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
def test_an_end_is_an_instant_or_waits_for_an_event(life, other, instant):
    """For counts from the start; end(x) is known once x has ended, or before it if x's end is planned."""
    assert instant == ends_at(sentinel(**life), NOW, {"b": other}.get)


def test_a_length_has_no_end_before_it_starts():
    """While a sentinel waits for its start, For gives no end."""
    assert ends_at(sentinel(span=DAY), None, nobody) is None
    assert ends_at(sentinel(end=Point("now", DAY)), None, nobody) is None


def test_a_point_can_move_to_another_zone():
    """The text stays and its instant follows the zone; points that are no date stay as they are."""
    point = Point("at", DAY, "2026-07-01", utc("2026-07-01T00:00"))
    moved = resolve(point, ZoneInfo("Europe/Paris"))

    assert Point("at", DAY, "2026-07-01", utc("2026-06-30T22:00")) == moved
    assert Point("now") == resolve(Point("now"), UTC)
    assert Point("at", text="soon") == resolve(Point("at", text="soon"), UTC)


def test_a_point_is_written_as_it_is_read():
    """Base and offset, with the sign apart."""
    assert ["now", "now + 1 week", "2026-03-01 - 90 min", "end(s1)", "start(s1) + 1 hour"] == [
        point_text(Point("now")),
        point_text(Point("now", 7 * DAY)),
        point_text(Point("at", -90 * 60 * SECOND, "2026-03-01")),
        point_text(Point("end", sentinel="s1")),
        point_text(Point("start", HOUR, sentinel="s1")),
    ]
