"""A database with healthy or failing sentinels, and the report of their health."""

from dataclasses import replace

from tests.stores import SECOND
from tidings.clock import HOUR, MINUTE
from tidings.service.health import sources
from tidings.settings import FetchSettings, ScheduleSettings, Settings
from tidings.storage.observed import pages

FLOOR = MINUTE
PACE = HOUR
SETTINGS = Settings(
    fetch=FetchSettings(page_floor_seconds=FLOOR / SECOND), schedule=ScheduleSettings(pace_seconds=PACE / SECOND)
)


def watch(world, *, fetch=None, key="a"):
    """Watch a page and poll it once."""
    row = world.watch(f"news-{key}", key, every=None if fetch is None else HOUR)
    text = f"Create Sentinel news-{key} Using http://{key}.example/ Monitor any change {fetch or ''}"
    world.write(
        lambda c: c.execute("UPDATE sentinel_revision SET text = :text WHERE sentinel_id = :id", text=text, id=row.id)
    )
    page_id = world.read(pages.find_by_key, f"key-{key}")
    world.commit(world.make_unchanged(page_id))
    world.write(lambda c: c.execute("UPDATE subscription SET next_tick = :at WHERE next_tick IS NOT NULL", at=world.at))
    return page_id


def put(world, page_id=1, **more):
    """Write what is known of a page."""
    state = replace(world.state(page_id), **more)
    world.write(pages.update, [(state, state.last_seq)])


def make_polls(world, later, *, polling=True):
    """Return the one line about polls, some time after the last one."""
    return lines(world, "checks", later=later, polling=polling)[0]


def lines(world, source, *, later=HOUR, polling=True):
    """Return what doctor says of one source."""
    now = world.at + later
    return world.read(lambda c: list(sources.findings(c, source, SETTINGS, now=now, is_polled=polling)))
