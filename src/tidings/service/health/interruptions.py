"""Interruptions of the whole service: a wrong clock, a data directory that could not be written, an
unreachable database, a search index that lags; and sentinels silenced by masks.

Sources of `service/health/sources.py`. A past interruption is a trouble for a day, and a note for a
week.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, MINUTE, PLAUSIBLE
from tidings.errors import StoreBusyError, StoreError
from tidings.service.health.trouble import Trouble
from tidings.service.show.finding import spell_count, spell_instant, spell_since
from tidings.service.show.notices import CLOCK_WRONG, OUTAGE, SILENCED, STALLED
from tidings.service.show.records import spell_gap
from tidings.storage.observed import estimates, indexed
from tidings.storage.observed.estimates import KEPT
from tidings.storage.watches import events
from tidings.storage.write import instants

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidings.model.interval import Duration, Instant
    from tidings.service.health.reading import HealthReading
    from tidings.service.health.trouble import Severity

RECENT: Final[Duration] = 7 * DAY
"""How long a past interruption is shown."""
LATE: Final[Duration] = 15 * MINUTE
"""How long a version may wait while the search index cannot be written."""
SET_CLOCK: Final = "date -u; timedatectl set-ntp true"


def clock(reading: HealthReading) -> Iterator[Trouble]:
    """Yield that the machine's clock is wrong, or was."""
    last, newest, now = instants.latest(reading.c), events.newest(reading.c, CLOCK_WRONG), reading.now
    if now < PLAUSIBLE:
        words = f"the machine's clock says {spell_instant(now)}: it was not set since the machine started"
        yield Trouble(brief="clock", words=words, mend=SET_CLOCK, severity="fail", is_general=True)
    elif last is not None and last > now + MINUTE:
        words = (
            f"the newest record is from {spell_since(last, now)}: the clock was ahead then, or is behind now."
            " If it is right now, the next check corrects these times"
        )
        yield Trouble(brief="clock", words=words, mend=SET_CLOCK, is_general=True)
    elif newest is not None and now - newest.at < RECENT:
        yield _over("clock", newest.data["summary"], SET_CLOCK, newest.at, now)


def stalls(reading: HealthReading) -> Iterator[Trouble]:
    """Yield that nothing could be stored for some time."""
    now = reading.now
    if found := events.since(reading.c, STALLED, now - RECENT + 1):
        last = found[-1]
        since = spell_since(last.data["since"], now)
        words = f"{spell_count(len(found), 'time')} in the last 7 days nothing could be stored, the last time since {since}: {last.data['reason']}"
        yield _over("stalled", words, "df -h; ulimit -a  # as the user that runs Tidings", last.at, now)


def find_search_lag(reading: HealthReading) -> Iterator[Trouble]:
    """Yield that a running service does not update the search index."""
    if not reading.is_polled or not reading.settings.search.index:
        return
    from tidings.storage.search.index import peek  # few commands need the index

    mend = "tidings search --rebuild  # as the user that runs Tidings; it shows what is wrong"
    try:
        found = peek(reading.settings.data)
    except StoreBusyError:
        return
    except StoreError as error:
        yield Trouble(brief="search", words=str(error), mend=mend)
        return
    if found is None:  # a service creates it before it polls, a lone check does not
        return
    progress, written_at = found
    first = indexed.first_behind(reading.c, *progress)
    if first is None or reading.now - max(first, written_at) < LATE:
        return
    many = spell_count(indexed.count_behind(reading.c, *progress), "version")
    since = spell_since(first, reading.now)
    words = f"{many} cannot be searched, the first from {since}: the search index cannot be written"
    yield Trouble(brief="search", words=words, mend=mend, since=first)


def outages(reading: HealthReading) -> Iterator[Trouble]:
    """Yield outages of the database, as the running service has seen them."""
    now = reading.now
    if found := events.since(reading.c, OUTAGE, now - RECENT + 1):
        last = found[-1]
        lasted = spell_gap(last.at - int(last.data["since"]))
        words = (
            f"the database was unreachable {spell_count(len(found), 'time')} in the last 7 days, the last time for "
            f"{lasted} until {spell_since(last.at, now)}: {last.data['reason']}"
        )
        yield _over("outage", words, "read the log of PostgreSQL; the service continues by itself", last.at, now)


def _over(brief: str, words: str, mend: str, at: Instant, now: Instant) -> Trouble:
    severity: Severity = "warn" if now - at < DAY else "note"
    return Trouble(brief=brief, words=words, mend=mend, severity=severity, since=at, is_general=True)


def list_silenced(reading: HealthReading) -> Iterator[Trouble]:
    """Note the sentinels whose latest changes were all left out as noise, while one of these masks
    is on.
    """
    newest = {
        (event.sentinel_id, event.page_id): event
        for event in events.since(reading.c, SILENCED, reading.now - RECENT + 1)
    }
    for (sentinel_id, page_id), event in newest.items():
        owner, said = reading.owners.get(sentinel_id or 0), estimates.get(reading.c, KEPT, page_id or 0) or {}
        if owner is None or set(event.data["masks"]) <= set(said.get("names", ())):
            continue
        yield Trouble(
            brief="silenced",
            words=f"everything that {owner.name} would have reported in its last checks was ignored as noise, at {spell_since(event.at, reading.now)}",
            mend=f"tidings mask {owner.name}  # --off MASK reports it again",
            severity="note",
            since=event.at,
            sentinels=(owner.name,),
        )
