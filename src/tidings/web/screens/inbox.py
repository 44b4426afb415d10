"""The inbox: changes, newest first, by day, sentinel and burst, with their marks; and live: a line
to each open screen whenever a change is found, with the number of unread ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from tidings.clock import DAY, MINUTE
from tidings.model.url import split_url
from tidings.notification.channel import PULLED
from tidings.record import dataclass
from tidings.service.show.records import change_record
from tidings.storage.observed import pages, polls
from tidings.storage.watches import changes, deliveries, inbox, sentinels
from tidings.storage.watches.deliveries import DeliveryStatus
from tidings.web import request_body
from tidings.web.api.stream import EventStream, Follower, begin_at, check_room
from tidings.web.markup import charts, formats, lines
from tidings.web.markup.translations import sentence, sentences, translate
from tidings.web.screens.desk import back, reader_zone

if TYPE_CHECKING:
    from datetime import tzinfo

    from markupsafe import Markup
    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.model.interval import Instant
    from tidings.storage.db.connection import Connection
    from tidings.storage.observed.polls import Beats
    from tidings.storage.watches.inbox import Filter, InboxCounts, InboxItem
    from tidings.web.access import Asker
    from tidings.web.inside import StreamRight
    from tidings.web.screens.desk import Desk

PAGE: Final = 50
"""Changes per screen."""
BURST: Final = 30 * MINUTE
"""Changes of one sentinel closer together than this are a burst."""
CHOICES: Final = 40
"""Most choices of a menu; of more sentinels it offers those of the shown changes."""
STAND: Final = 2
"""Number of a burst's newest changes shown; the others are folded."""
"""Most screens open at a time."""
TIMES: Final = dict(zip(sentences("today", "7 days", "30 days"), (DAY, 7 * DAY, 30 * DAY), strict=True))
_KEYS: Final = ("s", "q", "sentinel", "tag", "kind", "time", "before")


@dataclass(frozen=True, slots=True)
class Line:
    """A change as a line of the inbox."""

    id: str
    line: Markup
    plain: str
    context: Markup
    why: str
    words: int
    url: str
    at: Markup
    is_read: bool
    is_kept: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Changes of one sentinel in one burst: shown ones and folded ones."""

    sentinel: str
    title: str
    host: str
    fact: str
    beat: Markup
    shown: Sequence[Line]
    folded: Sequence[Line]
    begins: Markup


@dataclass(frozen=True, slots=True)
class _FoundChanges:
    items: Sequence[InboxItem]
    counts: InboxCounts
    titles: Mapping[int, str]
    beats: Mapping[int, Beats]
    names: Sequence[str]
    watched: int
    tags: Sequence[str]
    kinds: Sequence[str]
    spent: float
    sent: Mapping[str, Sequence[tuple[str, DeliveryStatus]]]


def read_filter(request: Request, now: Instant) -> Filter:
    """Return the filter in an address; invalid values are ignored."""
    given = request.query_params
    shown = given.get("s", "unread")
    age = TIMES.get(given.get("time", ""))
    return inbox.Filter(
        shown=shown if shown in inbox.SHOWN else "unread",
        sentinel=given.get("sentinel", "")[:200],
        tag=given.get("tag", "")[:200],
        kind=given.get("kind", "")[:200],
        text=given.get("q", "").strip()[:200],
        since=None if age is None else now - age,
        before=given.get("before", "")[:64],
        viewer=request.state.asker.viewer,
        reader=request.state.asker.owner_id,
    )


async def show(request: Request, desk: Desk) -> Response:
    """Return the inbox."""
    now = desk.clock.wall()
    zone = reader_zone(request)
    asked = read_filter(request, now)
    found = await desk.store.read(_read, asked, now, zone)
    items, older = found.items[:PAGE], found.items[PAGE - 1].change.row.id if len(found.items) > PAGE else ""
    health = await desk.health_for(request.state.asker)
    midnight = _midnight(now, zone)
    budget = desk.settings.budget.polls_per_day
    is_filtered = any((asked.sentinel, asked.tag, asked.kind, asked.text, asked.since))
    return await desk.page(
        request,
        "inbox.html",
        title=translate("Inbox"),
        here="inbox",
        unread=found.counts.by_shown["unread"],
        watched=found.watched,
        is_empty=not found.names and not found.counts.by_shown["all"],
        wanted=asked,
        counts=found.counts.by_shown,
        groups=[(day, list(groups)) for day, groups in _days(items, found, now, zone)],
        summary=_describe(items, now, zone, has_more=bool(older)),
        menus=_menus(found, asked, request),
        link=lambda **changed: _link(request, changed),
        here_url=str(request.url.path) + (f"?{request.url.query}" if request.url.query else ""),
        older=older,
        newest=items[0].change.row.id if items else "",
        read_url=f"/inbox/all-read?{urlencode({**_parameters(request), 'back': _link(request, {})})}",
        is_filtered=is_filtered,
        nothing=translate("No change matches this filter.") if is_filtered else _rest(found),
        today={
            "notified": found.counts.notified_since,
            "quiet": found.counts.quiet_since,
            "spent": found.spent,
            "budget": budget,
            "share": min(1.0, found.spent / budget) if budget else 0.0,
            "day": (now - midnight) / DAY,
        },
        troubles=[one for one in health.troubles if one.severity != "note"][:6],
    )


async def act(request: Request, desk: Desk) -> Response:
    """Apply a button of the list, to one change or to all selected ones."""
    form = await request_body.read_form(request)
    now, asker = desk.clock.wall(), request.state.asker
    selected = await desk.store.read(_keep_visible, form.every("c"), asker)
    for name in ("read", "keep"):
        if one := form.one(name):
            await desk.store.write(_toggle, one, name, now, request.state.asker)
    match form.one("all"):
        case "read":
            await desk.store.write(inbox.mark, selected, at=now, is_read=True, reader=asker.owner_id)
        case "keep":
            await desk.store.write(inbox.mark, selected, at=now, is_kept=True, reader=asker.owner_id)
        case _:
            pass
    return back(request)


async def all_read(request: Request, desk: Desk) -> Response:
    """Mark every unread change of a list as read that had arrived when the list was shown."""
    form, now = await request_body.read_form(request), desk.clock.wall()
    await desk.store.write(inbox.mark_all_read, read_filter(request, now), at=now, newest=form.one("newest"))
    return back(request)


def _toggle(c: Connection, change_id: str, name: str, now: Instant, asker: Asker) -> None:
    item = inbox.get(c, change_id, reader=asker.owner_id)
    if item is None or not _keep_visible(c, [change_id], asker):
        return
    if name == "read":
        inbox.mark(c, [change_id], at=now, is_read=item.read_at is None, reader=asker.owner_id)
    else:
        inbox.mark(c, [change_id], at=now, is_kept=item.kept_at is None, is_read=True, reader=asker.owner_id)


def _keep_visible(c: Connection, ids: Sequence[str], asker: Asker) -> list[str]:
    """Return those changes that the asker may see."""
    found = changes.of(c, ids)
    return [id_ for id_, one in found.items() if sentinels.is_seen(c, one.row.sentinel_id, asker.viewer)]


def _read(c: Connection, asked: Filter, now: Instant, zone: tzinfo) -> _FoundChanges:
    items = inbox.listing(c, asked, limit=PAGE + 1)
    page_ids = {item.change.row.page_id for item in items}
    midnight = _midnight(now, zone)
    names = sentinels.names(c, viewer=asked.viewer, limit=CHOICES + 1)
    return _FoundChanges(
        items,
        inbox.count_all(c, viewer=asked.viewer, reader=asked.reader, since=midnight),
        pages.titles(c, page_ids),
        charts.read_beats(c, page_ids, now),
        names if len(names) <= CHOICES else sorted({item.change.sentinel for item in items}),
        sentinels.count(c, viewer=asked.viewer),
        sentinels.tags(c, viewer=asked.viewer),
        inbox.kinds(c, viewer=asked.viewer),
        polls.sum_costs(c, midnight),
        deliveries.list_sent(c, [item.change.row.id for item in items]),
    )


def _midnight(now: Instant, zone: tzinfo) -> Instant:
    at = formats.local(now, zone)
    return now - (at.hour * 3600 + at.minute * 60 + at.second) * 1_000_000


def _days(
    items: Sequence[InboxItem], found: _FoundChanges, now: Instant, zone: tzinfo
) -> Iterator[tuple[str, Iterator[Group]]]:
    def day_of(item: InboxItem) -> str:
        return formats.day(item.change.row.detected_at, now, zone)

    for day, of_day in groupby(items, day_of):
        yield day, _groups(list(of_day), found, now, zone)


def _groups(items: Sequence[InboxItem], found: _FoundChanges, now: Instant, zone: tzinfo) -> Iterator[Group]:
    by_sentinel: dict[int, list[list[InboxItem]]] = {}
    order: list[list[InboxItem]] = []
    for item in items:
        bursts = by_sentinel.setdefault(item.change.row.sentinel_id, [])
        if bursts and bursts[-1][-1].change.row.detected_at - item.change.row.detected_at <= BURST:
            bursts[-1].append(item)
        else:
            bursts.append([item])
            order.append(bursts[-1])
    for burst in order:
        first, last = burst[0].change, burst[-1].change
        length = first.row.detected_at - last.row.detected_at
        shown = [_line(item, found.sent.get(item.change.row.id, ()), now, zone) for item in burst]
        is_folding = len(burst) > STAND + 1
        yield Group(
            first.sentinel,
            found.titles.get(first.row.page_id) or first.sentinel,
            split_url(first.url).hostname or "",
            translate("burst of {many} in {time}", many=len(burst), time=formats.span(length))
            if is_folding and length
            else "",
            charts.draw_beats(found.beats.get(first.row.page_id, charts.NONE)),
            shown[:STAND] if is_folding else shown,
            shown[STAND:] if is_folding else [],
            formats.stamp(last.row.detected_at, now, zone),
        )


def _line(item: InboxItem, sent: Sequence[tuple[str, DeliveryStatus]], now: Instant, zone: tzinfo) -> Line:
    row = item.change.row
    record = change_record(row, sentinel=item.change.sentinel, url=item.change.url)
    why = str(record["kind"])
    if row.noise:
        why = translate("{kind}, ignored for noise", kind=why)
    elif row.quiet:
        why = translate("{kind}, quiet", kind=why)
    why = " · ".join([why, *_list_sent(sent)])
    return Line(
        row.id,
        lines.line(record),
        lines.plain(record),
        lines.context(record),
        why,
        lines.words(record),
        item.change.url,
        formats.stamp(row.detected_at, now, zone, is_day_known=True),
        item.read_at is not None,
        item.kept_at is not None,
    )


_SENT: Final[Mapping[DeliveryStatus, str]] = {
    "delivered": sentence("sent by {kinds}"),
    "waiting": sentence("waiting for {kinds}"),
    "dead": sentence("not delivered by {kinds}"),
}


def _list_sent(sent: Sequence[tuple[str, DeliveryStatus]]) -> Iterator[str]:
    """Yield what became of the messages about a change."""
    for status, label in _SENT.items():
        if kinds := [translate(kind) for kind, one in sent if one == status and kind not in PULLED]:
            yield translate(label, kinds=", ".join(kinds))


def _describe(items: Sequence[InboxItem], now: Instant, zone: tzinfo, *, has_more: bool) -> str:
    if not items:
        return ""
    named = len({item.change.sentinel for item in items})
    oldest = formats.short(items[-1].change.row.detected_at, now, zone)
    sentinels = formats.count(named, "sentinel")
    if has_more:
        return translate(
            "the newest {many}, from {sentinels}, since {time}", many=len(items), sentinels=sentinels, time=oldest
        )
    return translate("from {sentinels}, the oldest from {time}", sentinels=sentinels, time=oldest)


def _rest(found: _FoundChanges) -> str:
    return translate(
        "Nothing new. {sentinels} on checking.",
        sentinels=formats.count(found.watched, "sentinel goes", "sentinels go"),
    )


def _menus(found: _FoundChanges, asked: Filter, request: Request) -> list[tuple[str, str, str, list[tuple[str, str]]]]:
    def menu(label: str, key: str, current: str, values: Sequence[str]) -> tuple[str, str, str, list[tuple[str, str]]]:
        """Return a menu: its label, its key, the current value, and the first values to choose."""
        return label, key, current, [(value, value) for value in values[:CHOICES]]

    made = [menu(translate("Sentinel"), "sentinel", asked.sentinel, found.names)]
    if found.tags:
        made.append(menu(translate("Tag"), "tag", asked.tag, found.tags))
    made.append(menu(translate("Kind"), "kind", asked.kind, found.kinds))
    times = [(value, translate(value)) for value in TIMES]
    made.append((translate("Time"), "time", translate(request.query_params.get("time", "")), times))
    return made


def _parameters(request: Request) -> dict[str, str]:
    return {key: request.query_params[key] for key in _KEYS if key in request.query_params and key != "before"}


def _link(request: Request, changed: dict[str, Any]) -> str:
    parameters = _parameters(request)
    parameters.update({key: str(value) for key, value in changed.items()})
    query = urlencode({key: value for key, value in parameters.items() if value})
    return f"/?{query}" if query else "/"


async def follow(request: Request, desk: Desk) -> Response:
    """Return the stream of one open screen."""
    check_room(desk.arrivals, request.state.stream_right)
    return EventStream(OpenScreen(desk, request.state.asker, request.state.stream_right))


class OpenScreen(Follower):
    """An open screen: it is written the number of unread changes whenever one arrives."""

    def __init__(self, desk: Desk, asker: Asker, admission: StreamRight) -> None:
        super().__init__(desk.arrivals, admission, begin=begin_at(0))
        self._desk = desk
        self._own = inbox.Filter(viewer=asker.viewer, reader=asker.owner_id)
        self._written = -1

    async def _read(self) -> tuple[bytes, bool]:
        if self._written == self.arrivals.count:
            return b"", True
        self._written = self.arrivals.count
        place = (self._own, self._written)
        unread = await self._desk.readings.at(place, lambda: self._desk.store.read(inbox.count, self._own))
        return b"event: unread\ndata: %d\n\n" % unread, True
