"""Check a statement against the existing sentinels (004 §3.2; sentinels §1.6, E20 to E34).

The verification module of the thesis: names, addresses, the order of dates, and correlated lives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from datetime import tzinfo
from typing import Final
from urllib.parse import unquote, urlsplit

from tidings.language.problems import ProblemReport, did_you_mean
from tidings.language.times import DAY, ends_at, local_text, point_text, starts_at
from tidings.model.interval import Duration, Instant, spell_duration
from tidings.model.watch.interest import AllOf, AnyOf, Expression, Interest, Not
from tidings.model.watch.sentinel import LISTING, FetchAt, FetchEvery, FetchOnDemand, Point, Sentinel
from tidings.record import dataclass, replace

DEEPEST_BASE = 8
"""The longest chain of sentinels made from one another (sentinels §1.3)."""
_YEAR: Duration = 366 * DAY


@dataclass(frozen=True, slots=True)
class KnownSentinel:
    """An existing sentinel: its clauses, its state, and its life so far.

    `start_at` and `end_at` are its start and end as far as fixed, `ended_at` its actual end.
    """

    sentinel: Sentinel
    state: str = "enabled"
    start_at: Instant | None = None
    end_at: Instant | None = None
    ended_at: Instant | None = None


@dataclass(slots=True)
class Names:
    """The sentinels that a statement can name: existing ones, then those of earlier statements of
    the text.
    """

    known: Callable[[str], KnownSentinel | None] | None
    spellings: Iterable[str] = ()
    _here: dict[str, KnownSentinel | None] = field(default_factory=dict)
    _unclear: set[str] = field(default_factory=set)

    def find(self, name: str) -> KnownSentinel | None:
        """Return the sentinel of that name, or None."""
        if name in self._here:
            return self._here[name]
        return self.known(name) if self.known is not None else None

    def is_missing(self, name: str) -> bool:
        """Return whether there is certainly no such sentinel; without `known`, and after a fault,
        that is unknown.
        """
        if name in self._unclear:
            return False
        if name in self._here:
            return self._here[name] is None
        return self.known is not None and self.known(name) is None

    def is_unclear(self, name: str) -> bool:
        """Return whether the text tried to create this sentinel and failed."""
        return name in self._unclear

    def note_made(self, sentinel: Sentinel, now: Instant | None) -> None:
        """Record a sentinel that the text creates."""
        start = starts_at(sentinel, now, self.find) if now is not None else None
        self._here[sentinel.name] = KnownSentinel(sentinel, "created", start, ends_at(sentinel, start, self.find))
        self._unclear.discard(sentinel.name)

    def note_failed(self, name: str) -> None:
        """Record that the text tried to create this sentinel, so that later statements are not
        blamed.
        """
        self._unclear.add(name)

    def note_altered(self, sentinel: Sentinel) -> None:
        """Record an altered sentinel."""
        known = self.find(sentinel.name)
        if known is not None:
            self._here[sentinel.name] = replace(known, sentinel=sentinel)

    def note_dropped(self, name: str) -> None:
        """Record that the text drops this sentinel."""
        self._here[name] = None

    def hint(self, name: str) -> str:
        """Return `did you mean …` for a name that is missing."""
        here = [other for other, known in self._here.items() if known is not None]
        return did_you_mean(name, (*here, *self.spellings))


@dataclass(frozen=True, slots=True)
class Places:
    """The places of the parts of a statement, for messages."""

    name: int
    start: int | None = None
    end: int | None = None
    fetch: int | None = None
    monitor: int | None = None


_PLAIN_ADDRESS: Final = re.compile(r"https?://[a-z0-9][a-z0-9.-]*(?::[1-5]?\d{1,4})?(?:/[\w./~%+=&?-]*)?", re.ASCII)
"""Addresses that need no further check: lists have tens of thousands."""


def check_address(report: ProblemReport, offset: int, url: str, *, files: bool | None = None) -> bool:
    """Record E22 and return False unless `url` has the form of an http or https address; fetching
    decides whether it may be asked.

    Args:
        report: Takes the fault.
        offset: The place of the address in the text.
        url: The address as written.
        files: Whether `file:` is accepted too; None if it is no page.
    """
    if _PLAIN_ADDRESS.fullmatch(url):
        return True
    scheme, _, rest = url.partition("://")
    if scheme.lower() == "file" and files is not None:
        return _check_file(report, offset, url, rest, allowed=files)
    if scheme.lower() not in {"http", "https"}:
        report.fault(offset, "E22", f'cannot watch "{scheme}:" addresses', expected="http:// or https://")
        return False
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and (parts.port is None or parts.port >= 0)
    except ValueError as error:
        report.fault(offset, "E22", f'"{url}" is not an address: {error}')
        return False
    if not has_host:
        report.fault(
            offset, "E22", f'"{url}" names no host', expected=f"{scheme}://host/path" if not rest else "a host"
        )
    return has_host


def _check_file(report: ProblemReport, offset: int, url: str, rest: str, *, allowed: bool) -> bool:
    if not allowed:
        hint = "the operator of Tidings can allow directories: fetch.allow_files"
        report.fault(offset, "E22", "file: addresses are not allowed here", expected="http:// or https://", hint=hint)
    elif not rest.startswith("/") or ".." in unquote(rest).split("/") or "\x00" in unquote(rest):
        report.fault(offset, "E22", f'"{url}" is not a file', expected="a whole path: file:///srv/report.html")
    else:
        return True
    return False


def check_sentinel(
    sentinel: Sentinel,
    places: Places,
    *,
    names: Names,
    zone: tzinfo,
    now: Instant | None,
    floor: Duration | None,
    report: ProblemReport,
    is_new: bool = True,
) -> None:
    """Record faults and warnings on a sentinel as a whole; those of single clauses were recorded
    before.

    Args:
        sentinel: The sentinel.
        places: The places of its clauses.
        names: The existing sentinels.
        zone: The zone in which dates are printed.
        now: The present (µs); None if unknown.
        floor: The least interval (µs); None if unknown.
        report: Takes faults and warnings.
        is_new: Whether it is created, not altered.
    """
    faults = report.faults
    if is_new:
        _check_name(sentinel, places, names, report)
    start, end = places.start or places.name, places.end or places.name
    if not sentinel.correlated:
        if is_new or places.start is not None:
            _check_point(sentinel, sentinel.start, start, names=names, zone=zone, now=now, report=report)
        if sentinel.end is not None and (is_new or places.end is not None):
            _check_point(sentinel, sentinel.end, end, names=names, zone=zone, now=now, report=report)
    if report.faults == faults:
        _check_circle(sentinel, places, names, report)
    if report.faults > faults:
        return
    _check_joined(sentinel, places, report)
    _check_order(sentinel, places, now, report)
    _check_pace(sentinel, places, floor, report)
    if now is not None:
        _warn_of_life(sentinel, places, names=names, zone=zone, now=now, report=report)


def _check_name(sentinel: Sentinel, places: Places, names: Names, report: ProblemReport) -> None:
    if names.find(sentinel.name) is not None:
        message = f'you already have a sentinel "{sentinel.name}"'
        report.fault(places.name, "E21", message, hint="use another name, or Drop it first")
        return
    depth, base = 0, sentinel.base
    while base is not None and depth <= DEEPEST_BASE:
        known = names.find(base)
        depth, base = depth + 1, known.sentinel.base if known is not None else None
    if depth > DEEPEST_BASE:
        message = f'"{sentinel.name}" is made from a sentinel that is made from another, in a chain that is too long'
        report.fault(
            places.name, "E29", message, expected=f"at most {DEEPEST_BASE} steps", hint="write all its clauses"
        )


def _check_joined(sentinel: Sentinel, places: Places, report: ProblemReport) -> None:
    """Record E27 if AND joins content with answers without naming which of several pages is meant,
    or the list of a collection's pages with what is on the pages.
    """
    if places.monitor is not None and sentinel.scope is not None and _joins_listing(sentinel.monitor):
        message = "AND joins the list of pages with what is on a page: the two never change together"
        hint = "write OR: Monitor pages OR price"
        report.fault(places.monitor, "E27", message, hint=hint)
    is_clear = len(sentinel.pages) == 1 or all(page.name is not None for page in sentinel.pages)
    if places.monitor is not None and not is_clear and joins_answers(sentinel.monitor):
        message = "status and headers are combined with other changes of one page, but this sentinel has several pages"
        report.fault(places.monitor, "E27", message, hint="give each page a name: Using … As A, … As B")


def joins_answers(expression: Expression) -> bool:
    """Return whether an AND of parts that name no page joins a status or header with anything
    else.
    """
    match expression:
        case Interest():
            return False
        case Not(part):
            return joins_answers(part)
        case AnyOf(parts):
            return any(map(joins_answers, parts))
        case AllOf(parts):
            kinds = {one.kind in {"status", "header"} for part in parts for one in _interests(part) if one.of is None}
            return len(kinds) > 1 or any(map(joins_answers, parts))


def _joins_listing(expression: Expression) -> bool:
    """Return whether a part, other than by OR, is about both the list of pages and other things."""
    if isinstance(expression, AnyOf):
        return any(map(_joins_listing, expression.parts))
    return len({one.of == LISTING for one in _interests(expression)}) > 1


def _interests(expression: Expression) -> Iterator[Interest]:
    match expression:
        case Interest():
            yield expression
        case Not(part):
            yield from _interests(part)
        case AnyOf(parts) | AllOf(parts):
            for part in parts:
                yield from _interests(part)


def _check_point(
    sentinel: Sentinel,
    point: Point,
    offset: int,
    *,
    names: Names,
    zone: tzinfo,
    now: Instant | None,
    report: ProblemReport,
) -> None:
    if point.sentinel is None:
        return
    if point.sentinel == sentinel.name:
        report.fault(offset, "E20", f'"{sentinel.name}" cannot wait for itself', hint="name another sentinel")
        return
    if names.is_missing(point.sentinel):
        report.fault(offset, "E20", missing(point.sentinel), hint=names.hint(point.sentinel))
        return
    known = names.find(point.sentinel)
    if known is None:
        return
    if _check_passed(point, known, offset, starting=point is sentinel.start, zone=zone, now=now, report=report):
        return
    planned = known.end_at if point.base == "end" else known.start_at
    if point.offset < 0 and planned is None and known.ended_at is None:
        verb = "ends" if point.base == "end" else "starts"
        message = f'nobody knows yet when "{point.sentinel}" {verb}, so a time before it is impossible'
        report.fault(offset, "E34", message, hint=f"{point.base}({point.sentinel}) without a minus")


def _check_passed(
    point: Point,
    known: KnownSentinel,
    offset: int,
    *,
    starting: bool,
    zone: tzinfo,
    now: Instant | None,
    report: ProblemReport,
) -> bool:
    """Record E30 if the event of a point is past for good."""
    event = f"{point.base}({point.sentinel})"
    hint = "start now, or use a sentinel that is still alive" if starting else "give a date, or use For"
    ended_at = known.ended_at
    if ended_at is None and now is not None and known.end_at is not None and known.end_at <= now:
        ended_at = known.end_at  # it has ended, although that was not processed yet
    if ended_at is not None:
        if now is not None and point.base == "end" and ended_at + point.offset > now:
            return False
        day = local_text(ended_at, zone)
        report.fault(offset, "E30", f'{event} has already passed: "{point.sentinel}" ended on {day}', hint=hint)
        return True
    if starting or point.base == "end" or now is None or known.start_at is None or known.start_at + point.offset > now:
        return False
    day = local_text(known.start_at, zone)
    report.fault(offset, "E30", f'{event} has already passed: "{point.sentinel}" started on {day}', hint=hint)
    return True


def _check_circle(sentinel: Sentinel, places: Places, names: Names, report: ProblemReport) -> None:
    """Record E35 if a sentinel waits for one that waits for it (sentinels §2.1)."""
    path = _circle(sentinel, sentinel.name, names, [sentinel.name], set())
    if path:
        message = f"{' → '.join(path)} wait for one another"
        offset = places.start or places.end or places.name
        report.fault(offset, "E35", message, hint="give one of them a date, or now")


def _circle(sentinel: Sentinel, goal: str, names: Names, path: list[str], seen: set[str]) -> list[str]:
    for name in dict.fromkeys(_waits_for(sentinel)):
        if name == goal:
            return [*path, name]
        known = None if name in seen else names.find(name)
        seen.add(name)
        if known is not None and (found := _circle(known.sentinel, goal, names, [*path, name], seen)):
            return found
    return []


def _waits_for(sentinel: Sentinel) -> Iterator[str]:
    for point in (sentinel.start, sentinel.end):
        if point is not None and point.sentinel is not None:
            yield point.sentinel


def _check_order(sentinel: Sentinel, places: Places, now: Instant | None, report: ProblemReport) -> None:
    start, end = sentinel.start, sentinel.end
    if end is None:
        return
    if end.base == "at" and start.base == "at" and end.instant is not None and start.instant is not None:
        is_wrong = end.instant + end.offset <= start.instant + start.offset
    elif end.base == start.base and end.sentinel == start.sentinel and end.base != "event":
        is_wrong = end.offset <= start.offset
    elif end.base == "at" and start.base == "now" and start.offset > 0 and now is not None and end.instant is not None:
        is_wrong = end.instant + end.offset <= now + start.offset
    else:
        is_wrong = False
    if is_wrong:
        message = f"To {point_text(end)} is not after From {point_text(start)}"
        report.fault(places.end or places.name, "E31", message)


def _check_pace(sentinel: Sentinel, places: Places, floor: Duration | None, report: ProblemReport) -> None:
    if floor is None:
        return
    fetch = sentinel.fetch
    if isinstance(fetch, FetchAt | FetchOnDemand):
        return
    shortest = fetch.interval if isinstance(fetch, FetchEvery) else fetch.shortest
    if shortest is not None and shortest < floor:
        asked, floor_text = spell_duration(shortest), spell_duration(floor)
        message = f"Fetch {asked} is shorter than the minimum: the page is checked every {floor_text}"
        report.warn(places.fetch or places.name, "W5", message, hint="fetch.page_floor_seconds sets the minimum")


def _warn_of_life(
    sentinel: Sentinel,
    places: Places,
    *,
    names: Names,
    zone: tzinfo,
    now: Instant,
    report: ProblemReport,
) -> None:
    if sentinel.correlated:
        base = names.find(sentinel.base or "")
        if base is not None and base.ended_at is not None:
            message = f'copies an ended schedule: "{sentinel.base}" ended on {local_text(base.ended_at, zone)}'
            report.warn(places.name, "W2", message, hint="add From now to start it now")
        return
    start = starts_at(sentinel, now, names.find)
    end = ends_at(sentinel, start, names.find)
    if end is not None and end <= now:
        message = f"its end has passed on {local_text(end, zone)}: nothing will be watched"
        report.warn(places.end or places.name, "W11", message, hint="give a later To")
        return
    if sentinel.start.base == "at" and start is not None and start < now:
        message = f"From {point_text(sentinel.start)} has passed: it starts now"
        report.warn(places.start or places.name, "W12", message)
    if end is not None and end - now > _YEAR:
        report.warn(places.end or places.name, "W6", f"ends on {local_text(end, zone)}, more than a year away")


def check_order_word(verb: str, name: str, offset: int, *, names: Names, zone: tzinfo, report: ProblemReport) -> bool:
    """Record E20 or E33 unless the sentinel of an order exists and its state allows the order.

    Args:
        verb: Enable, Disable, Drop or Confirm.
        name: The sentinel.
        offset: The place of the name in the text.
        names: The existing sentinels.
        zone: The zone in which dates are printed.
        report: Takes the fault.
    """
    if names.is_missing(name):
        report.fault(offset, "E20", missing(name), hint=names.hint(name))
        return False
    known = names.find(name)
    if verb != "drop" and known is not None and known.ended_at is not None:
        done = {"confirm": "confirmed", "alter": "altered"}.get(verb, f"{verb}d")
        message = f'"{name}" has ended on {local_text(known.ended_at, zone)} and cannot be {done}'
        report.fault(offset, "E33", message, hint="Drop it, then create it again")
        return False
    if verb == "confirm" and known is not None and known.sentinel.compare.mode != "first":
        message = f'"{name}" has the clause Compare {known.sentinel.compare.mode}, so Confirm has no effect'
        report.warn(offset, "W17", message, hint="Confirm works only with Compare first")
    return True


def check_alteration(
    name: str, known: KnownSentinel, places: Mapping[str, int], *, zone: tzinfo, report: ProblemReport
) -> None:
    """Record W18 if a past start is altered.

    Args:
        name: The sentinel.
        known: Its state.
        places: The places of its clauses.
        zone: The zone in which dates are printed.
        report: Takes the warning.
    """
    if "from" in places and known.start_at is not None and known.state not in {"created", "waiting"}:
        message = f'"{name}" has started on {local_text(known.start_at, zone)}: From has no effect any more'
        report.warn(places["from"], "W18", message, hint="Disable pauses it")


def missing(name: str) -> str:
    """Return the message of E20."""
    return f'there is no sentinel "{name}"'
