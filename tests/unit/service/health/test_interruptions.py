"""Interruptions of all polls are reported in the table of health: for a day as a trouble, for a
week as a note.
"""

import os
from contextlib import closing
from dataclasses import replace

import pytest

from tests.stores import World
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.model.observed.unit import Event, Unit
from tidings.service.health.sources import health_of
from tidings.service.watch import noise
from tidings.settings import SearchSettings, Settings
from tidings.storage.observed import indexed
from tidings.storage.search.index import SearchIndex


@pytest.fixture
def world(products, tmp_path):
    """Yield a fresh SQLite database with a page that was polled."""
    with products.fresh("sqlite", tmp_path / "data") as settings:
        world = World(settings)
        world.watch("news", "a")
        world.commit(world.make_unchanged(1))
        yield world
        world.database.close()


def add_event(world, kind, *, data, **more):
    """Store an event at the present time."""
    world.commit(Unit(at=world.at, epoch=world.epoch, events=(Event(type=kind, at=world.at, data=data, **more),)))


def troubles(world, brief, *, later=HOUR):
    """Return the troubles of a kind at a later time."""
    found = world.read(health_of, Settings(), now=world.at + later, is_polled=True)
    return [trouble for trouble in found.troubles if trouble.brief == brief]


@pytest.mark.parametrize(
    ("kind", "brief", "text"),
    [
        ("service.stalled", "stalled", "1 time in the last 7 days nothing could be stored"),
        ("store.outage", "outage", "the database was unreachable 1 time in the last 7 days"),
        ("clock.wrong", "clock", "the clock was ahead"),
    ],
)
def test_past_interruption_is_a_trouble_for_a_day_and_a_note_for_a_week(world, kind, brief, text):
    """The trouble affects all sentinels, and has its fix."""
    data = {"since": world.at - 60 * SECOND, "reason": "no room", "summary": "the clock was ahead", "told_at": None}
    add_event(world, kind, data=data)
    (today,) = troubles(world, brief)
    (tomorrow,) = troubles(world, brief, later=2 * DAY)

    assert text in today.words
    assert ("warn", True, True) == (today.severity, today.is_general, bool(today.mend))
    assert "note" == tomorrow.severity
    assert [] == troubles(world, brief, later=8 * DAY)


def test_clock_behind_stored_records_or_unset_is_a_trouble(world):
    """The trouble ends with a right clock."""
    (behind,) = troubles(world, "clock", later=-DAY)
    (unset,) = troubles(world, "clock", later=10 * SECOND - world.at)

    assert ("warn", "fail") == (behind.severity, unset.severity)
    assert "the clock was ahead then, or is behind now" in behind.words
    assert [] == troubles(world, "clock")


def test_stale_search_index_is_a_trouble(world, tmp_path):
    """A version has waited for 15 minutes, or the file is no index."""

    def lagging(later=HOUR, **search):
        settings = replace(Settings(), data=tmp_path, search=SearchSettings(**search))
        found = world.read(health_of, settings, now=world.at + later, is_polled=True)
        return [trouble.words for trouble in found.troubles if trouble.brief == "search"]

    world.commit(world.make_stored(b"<p>one</p>"))
    assert [] == lagging()
    index = SearchIndex(tmp_path)
    index.begin(world.read(indexed.source))
    index.close()
    path = tmp_path / "search.db"
    os.utime(path, (0, 0))

    (words,) = lagging()
    assert words.startswith("1 version cannot be searched, the first from")
    assert [] == lagging(10 * MINUTE)
    assert [] == lagging(index=False)
    os.utime(path, ns=(0, (world.at + HOUR - MINUTE) * 1_000))
    assert [] == lagging()
    with closing(SearchIndex(tmp_path)) as index:
        index.put([], cursor=0, moved_to=1)
    os.utime(path, (0, 0))
    assert [] == lagging()
    path.write_bytes(b"none" * 2_000)
    (words,) = lagging()
    assert "cannot be used" in words


def test_mask_that_silences_a_sentinel_is_noted_until_it_is_off(world):
    """The note names the command."""
    add_event(
        world, "sentinel.silenced", sentinel_id=1, page_id=1, data={"masks": ["ab12"], "words": [], "endpoints": []}
    )
    (trouble,) = troubles(world, "silenced")
    world.write(noise.switch, 1, frozenset({"ab12"}), at=world.at)

    assert ("note", ("news",)) == (trouble.severity, trouble.sentinels)
    assert trouble.mend.startswith("tidings mask news")
    assert [] == troubles(world, "silenced")
