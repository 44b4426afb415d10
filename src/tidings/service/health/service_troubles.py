"""Troubles of the service and of its notifications: a wrong clock, a data directory that could not
be written, an index that lags; dead letters, failing receivers, impossible events, results that
could not be stored.

Sources of `service/health/sources.py`. A past interruption is a trouble for a day, and a note for a
week.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, MINUTE, PLAUSIBLE
from tidings.errors import StoreBusyError, StoreError
from tidings.model.event_type import EventType
from tidings.model.url import split_url
from tidings.model.watch.notifying import secret_of
from tidings.model.watch.sentinel import WHOLE
from tidings.notification.addresses import mask_address
from tidings.service.health.trouble import Trouble
from tidings.service.show.finding import spell_count, spell_instant, spell_since
from tidings.service.show.notices import CLOCK_WRONG, DAMAGED, OUTAGE, SILENCED, STALLED
from tidings.service.show.records import class_of, spell_gap
from tidings.storage.observed import estimates, indexed
from tidings.storage.observed.estimates import SWITCHED_MASKS
from tidings.storage.watches import deliveries, endpoints, events, sentinels
from tidings.storage.watches import outside as sources
from tidings.storage.write import instants

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.service.health.trouble import HealthReading, Severity
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.storage.watches.endpoints import EndpointRow
    from tidings.storage.watches.events import EventRow

LATE_DELIVERY: Final[Duration] = 10 * MINUTE
RECENT: Final[Duration] = 7 * DAY
"""How long a past interruption is shown."""
MANY: Final = 100


def list_undelivered(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the sentinels whose messages could not be delivered, or are late (F-28)."""
    dead = deliveries.listing(reading.c, dead=True, limit=MANY + 1, viewer=reading.viewer)
    for name, rows in _by_sentinel(dead).items():
        newest = rows[0]
        ended = newest.created_at if newest.finished_at is None else newest.finished_at
        count = spell_count(len(rows), "undelivered message")
        yield Trouble(
            brief="dead letters",
            words=f"{'at least ' if len(dead) > MANY else ''}{count} of {name}; the newest given up at {spell_since(ended, reading.now)}: {newest.error or 'no reason was stored'}",
            mend=f"tidings deliveries --dead; tidings deliveries replay {newest.id}",
            since=min(row.created_at for row in rows),
            sentinels=(name,),
        )
    late = deliveries.due(reading.c, now=reading.now - LATE_DELIVERY - 1, limit=MANY + 1)
    for name, rows in _by_sentinel(
        [row for row in late if reading.viewer is None or row.sentinel_id in reading.owners]
    ).items():
        since = min(row.due_at for row in rows)
        yield Trouble(
            brief="news waits",
            words=f"a message to {name} waits since {spell_since(since, reading.now)}",
            mend="tidings deliveries" if reading.is_polled else "tidings serve  # or `tidings check`",
            since=since,
            sentinels=(name,),
        )


def _by_sentinel(rows: list[DeliveryRow]) -> dict[str, list[DeliveryRow]]:
    found: dict[str, list[DeliveryRow]] = {}
    for row in rows:
        found.setdefault(row.sentinel, []).append(row)
    return found


def failing_endpoints(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the receivers that were switched off, only fail, or get nothing, with the sentinels
    that notify them or whose messages wait; e-mail without a mail server too.
    """
    yield from _list_unmailed(reading)
    failing = [row for row in endpoints.listing(reading.c) if row.is_failing]
    if not failing:
        return
    from tidings.service.health.intents import list_notifying  # it loads the grammar

    notifying = list_notifying(reading.owners.values())
    for row in failing:
        waiting = deliveries.list_waiting(reading.c, row.id, viewer=reading.viewer)
        own = (owner.name for owner in notifying.get((row.kind, row.address), ()))
        names = dict.fromkeys((*own, *waiting))
        if not names:
            continue  # nobody uses it any more
        since = f" since {spell_since(row.failing_since, reading.now)}" if row.failing_since is not None else ""
        reason = f": {row.reason}" if row.reason else ""
        takes = "is switched off after failures"
        if row.enabled:
            takes = "gets no messages" if row.failing_since is None else "accepts no messages"
        yield Trouble(
            brief="not delivered" if row.enabled else "switched off",
            words=f"{spell_endpoint(row)} {takes}{since}{reason}{_spell_waiting(waiting)}",
            mend="tidings deliveries"
            if row.enabled
            else f"tidings deliveries{'' if waiting else ' --dead'}"
            "  # correct the receiver, then `tidings deliveries replay ID`",
            since=row.failing_since,
            sentinels=tuple(names),
        )


def _spell_waiting(waiting: Mapping[str, int]) -> str:
    """Return how many messages wait for a receiver, empty for none."""
    count = sum(waiting.values())
    return f"; {spell_count(count, 'message')} {'waits' if count == 1 else 'wait'} for it" if count else ""


def _list_unmailed(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the sentinels that notify by e-mail although no mail server is set."""
    named = [] if reading.settings.notify.smtp_host else sentinels.list_with_text(reading.c, "email ")
    if not named:
        return
    from tidings.service.health.intents import list_mailing  # it loads the grammar

    if names := list_mailing([owner for owner in named if owner.id in reading.owners]):
        yield Trouble(
            brief="no mail server",
            words=f"{spell_count(len(names), 'sentinel')} should notify by e-mail, but no mail server is set:"
            " no e-mail is sent",
            mend="tidings settings notify  # set notify.smtp_host and notify.mail_from",
            sentinels=names,
        )


def spell_endpoint(row: EndpointRow) -> str:
    """Return a name that is safe in a report: addresses of channels hold tokens, so only their
    secret's name or a web host is shown.
    """
    if secret_of(row.address) is not None:
        return f"{row.kind} {mask_address(row.kind, row.address)}"
    parts = split_url(row.address)
    place = f" at {parts.hostname}" if parts.scheme in {"http", "https"} and parts.hostname else ""
    return f"{row.kind} {row.id}{place}"


def impossible_events(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the events that cannot happen, since their file or command cannot be read, with the
    sentinels that name them.
    """
    failing = [row for row in sources.listing(reading.c) if row.problem]
    if not failing:
        return
    from tidings.service.health.intents import waiting  # it loads the grammar

    names = waiting(reading.c, reading.viewer)
    for row in failing:
        if row.name not in names:
            continue
        yield Trouble(
            brief="event fails",
            words=f"{row.name} cannot happen: {row.problem}",
            mend=f"tidings show {row.name}",
            sentinels=tuple(names[row.name]),
        )


def list_lost_classes(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the sentinels that name a budget class that is not configured (any more)."""
    named = reading.settings.budget.map_names()
    for owner in sentinels.list_with_text(reading.c, "Class "):
        if owner.id in reading.owners and (name := class_of(owner.text)) not in {WHOLE, *named}:
            yield Trouble(
                brief="no such class",
                words=f"{owner.name} names the class {name}, which is not defined; the budget of all checks is used",
                mend=f'tidings settings budget  # budget.classes = ["{name}: 500 per day"]',
                sentinels=(owner.name,),
            )


def list_unreadable(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the sentinels whose stored text cannot be read, as the service reported them."""
    last = events.newest(reading.c, DAMAGED)
    reported = last.data.get("sentinels", ()) if last is not None else ()
    owners = [reading.owners[id_] for id_ in reported if id_ in reading.owners]
    if last is None or not owners:
        return
    from tidings.service.health.intents import meaning_of  # it loads the grammar

    for owner in owners:
        if meaning_of(owner) is None:
            yield Trouble(
                brief="unreadable",
                words=f"the stored text of {owner.name} cannot be read, so its pages are not checked",
                mend=f"tidings drop {owner.name}  # then write its statement again",
                severity="fail",
                since=last.at,
                sentinels=(owner.name,),
            )


def list_unstored(reading: HealthReading) -> Iterator[Trouble]:
    """Yield what could not be written in the last days, and parts of the service and rules that
    failed (events `problem.unit`, `problem.rule`).
    """
    yield from _list_failed_rules(reading)
    found = [e for e in events.listing(reading.c, types=(EventType.PROBLEM_UNIT,)) if reading.now - e.at < RECENT]
    seen = [event for event in found if reading.viewer is None or reading.names(event.page_id or 0)]
    if unstored := [event for event in seen if "part" not in event.data]:
        last = unstored[-1]
        where = f" of page {last.page_id}" if last.page_id is not None else ""
        names = {name: None for event in unstored for name in reading.names(event.page_id or 0)}
        yield Trouble(
            brief="not stored",
            words=f"{spell_count(len(unstored), 'outcome')} could not be stored in the last 7 days; the last{where} at {spell_since(last.at, reading.now)}: {last.data.get('error', '')}",
            mend="tidings doctor --deep",
            since=unstored[0].at,
            sentinels=tuple(names),
        )
    parts: dict[str, list[EventRow]] = {}
    for event in found:
        if "part" in event.data:
            parts.setdefault(event.data["part"], []).append(event)
    for part, failures in parts.items():
        last = failures[-1]
        yield Trouble(
            brief="part failed",
            words=f"{PARTS.get(part, part)} failed {spell_count(len(failures), 'time')} in the last 7 days and paused for ten minutes each time; the last time at {spell_since(last.at, reading.now)}: {last.data['error']}",
            mend="tidings doctor --deep  # the log of the service has the details",
            since=failures[0].at,
            is_general=True,
        )


def _list_failed_rules(reading: HealthReading) -> Iterator[Trouble]:
    found: dict[int, list[EventRow]] = {}
    for event in events.listing(reading.c, types=(EventType.PROBLEM_RULE,)):
        if reading.now - event.at < RECENT and event.sentinel_id is not None:
            found.setdefault(event.sentinel_id, []).append(event)
    for sentinel_id, failures in found.items():
        last, name = failures[-1], sentinels.get(reading.c, sentinel_id).name
        yield Trouble(
            brief="rule failed",
            words=f"the rules of {name} failed {spell_count(len(failures), 'time')} in the last 7 days, so messages may"
            f" be missing; the last time at {spell_since(last.at, reading.now)}:"
            f" {last.data['rule']}: {last.data['error']}",
            mend=f"tidings history {name}  # shows all changes; the log of the service has the details",
            since=failures[0].at,
            sentinels=(name,),
        )


PARTS: Final = {
    "time": "the clock of the service",
    "lives": "starting and ending sentinels",
    "rules": "rules and reports",
    "polls": "starting checks",
    "messages": "sending messages",
    "memories": "storing what was learned",
    "collector": "deleting old versions",
    "Sources": "events from files and commands",
    "Subscriber": "WebSub",
    "Sitemaps": "reading sitemaps",
    "Discovery": "finding pages of collections",
    "Signals": "hints about pages",
    "Heartbeat": "the ping that says that Tidings runs",
    "WeeklyReport": "the weekly report",
    "Presence": "the list of processes",
    "ServerClock": "the clock of the database server",
}
"""Parts of the service's step (`run.monitor`), as users read them."""
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
        owner, switched = (
            reading.owners.get(sentinel_id or 0),
            estimates.get(reading.c, SWITCHED_MASKS, page_id or 0) or {},
        )
        if owner is None or set(event.data["masks"]) <= set(switched.get("names", ())):
            continue
        yield Trouble(
            brief="silenced",
            words=f"everything that {owner.name} would have reported in its last checks was ignored as noise, at {spell_since(event.at, reading.now)}",
            mend=f"tidings mask {owner.name}  # --off MASK reports it again",
            severity="note",
            since=event.at,
            sentinels=(owner.name,),
        )
