"""What a statement means: its clauses gathered, what it inherits, its life, and whether all of that makes sense together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import Any, Literal, cast

from lark import Token

from tidings.language.asking import ASKING_READERS, asking
from tidings.language.clauses import READERS, Timed, check_name, read_notify, refuse
from tidings.language.dates import instant_of, local_text, read_date, resolved, zone_of
from tidings.language.later import LATER
from tidings.language.monitor import Clause, FaultFoundError, read_monitor
from tidings.language.problems import Report
from tidings.language.syntax import Creation, Node, Order, Part, Unclear
from tidings.language.verify import Known, Names, Places, check_address, check_order_word, check_sentinel, missing
from tidings.model.asking import PLAIN
from tidings.model.interval import Duration, Instant
from tidings.model.sentinel import Command, Point, Sentinel, Statement, Watched

REPEATABLE = frozenset({"then", "exclude", "header", "notify"})
"""Clauses that may stand more than once."""


_FIELDS = (
    ("monitor", "monitor"),
    ("fetch", "fetch"),
    ("from", "start"),
    ("to", "end"),
    ("for", "span"),
    ("zone", "zone"),
    ("notify", "notify"),
    ("compare", "compare"),
    ("tags", "tags"),
    ("importance", "importance"),
)
"""Clauses and the fields of `Sentinel` that hold them."""


_READERS: Mapping[str, Callable[[Node, Any], Any]] = {**READERS, **ASKING_READERS}


@dataclass(frozen=True, slots=True)
class _Clauses:
    """The clauses of a statement: where each begins, and what those mean that have no fault."""

    seen: Mapping[str, int]
    values: Mapping[str, Any]
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class Reader:
    """Gives the statements of one text their meaning, in order: later ones may name earlier ones."""

    report: Report
    names: Names
    zone: tzinfo
    now: Instant | None
    floor: Duration | None

    def statement(self, part: Part) -> Statement | None:
        """Return what a statement means, or None if it has a fault; the names that it makes or drops are remembered."""
        match part:
            case Unclear(name):
                self.names.failed(name)
                return None
            case Order():
                return self._order(part)
            case Creation():
                return self._creation(part)

    def _order(self, order: Order) -> Command | None:
        verb, name = order.word.lower(), str(order.name)
        if verb == "alter":
            later = LATER["alter"]
            message = f'"{later.word}" is understood but not supported yet'
            self.report.fault(order.word.start_pos or 0, "E40", message, hint=later.hint)
            return None
        offset = order.name.start_pos or 0
        if not check_order_word(verb, name, offset, names=self.names, zone=self.zone, report=self.report):
            return None
        if verb == "drop":
            self.names.dropped(name)
        return Command(cast("Literal['enable', 'disable', 'drop']", verb), name)

    def _creation(self, creation: Creation) -> Sentinel | None:
        faults = self.report.faults
        sentinel = self._sentinel(creation)
        if sentinel is None or self.report.faults > faults:
            self.names.failed(str(creation.head.children[1]))
            return None
        self.names.made(sentinel, self.now)
        return sentinel

    def _sentinel(self, creation: Creation) -> Sentinel | None:
        """Return the sentinel of a Create statement, None if it has a fault."""
        faults = self.report.faults
        name = cast("Token", creation.head.children[1])
        target = cast("list[Node]", creation.head.children[2:])
        head = Clause(self.report, ())
        base: Sentinel | None = None
        pages: tuple[Watched, ...] = ()
        try:
            check_name(name, head)
            if target[0].data == "base":
                base = self._base(cast("Token", target[0].children[0]), head)
                pages = base.pages if base is not None else ()
            else:
                pages = _pages(target, head)
        except FaultFoundError:
            pass
        clauses = self._clauses(creation, pages, base)
        if not creation.whole:
            return None
        self._check_presence(name, clauses, needs_monitor=target[0].data != "base")
        if self.report.faults > faults or (target[0].data == "base" and base is None):
            return None
        sentinel = self._built(str(name), pages, clauses, base)
        places = Places(
            name.start_pos or 0,
            clauses.seen.get("from"),
            clauses.seen.get("to", clauses.seen.get("for")),
            clauses.seen.get("fetch"),
        )
        check_sentinel(
            sentinel,
            places,
            names=self.names,
            zone=clauses.zone,
            now=self.now,
            floor=self.floor,
            report=self.report,
        )
        return sentinel

    def _base(self, name: Token, head: Clause) -> Sentinel | None:
        check_name(name, head)
        known: Known | None = self.names.find(name)
        if known is None and not self.names.is_unclear(name):
            raise head.fail(name.start_pos, "E20", missing(name), hint=self.names.hint(name))
        return known.sentinel if known is not None else None

    def _clauses(self, creation: Creation, pages: Sequence[Watched], base: Sentinel | None) -> _Clauses:
        """Read all clauses, the zone first since dates depend on it."""
        zone = self._zone(creation.clauses, base)
        clause = Timed(self.report, tuple(page.name for page in pages if page.name is not None), zone)
        name = cast("Token", creation.head.children[1])
        seen: dict[str, int] = {}
        values: dict[str, Any] = {}
        for node in creation.clauses:
            rule = str(node.data)
            offset = cast("Token", node.children[0]).start_pos or 0
            if rule in seen and rule not in REPEATABLE:
                self._refuse_second(rule, offset, seen[rule])
                continue
            seen.setdefault(rule, offset)
            try:
                if rule == "monitor":
                    values["monitor"] = read_monitor(node, name, clause)
                elif rule == "notify":
                    values["notify"] = (*values.get("notify", ()), read_notify(node, clause))
                else:
                    reader: Callable[[Node, Any], Any] = _READERS.get(rule, refuse)
                    value = reader(node, clause)
                    values[rule] = (*values.get(rule, ()), value) if rule in REPEATABLE else value
            except FaultFoundError:
                continue
        return _Clauses(seen, values, zone)

    def _zone(self, clauses: Sequence[Node], base: Sentinel | None) -> tzinfo:
        for node in clauses:
            if node.data == "zone":
                return zone_of(cast("Token", node.children[1])) or self.zone
        if base is not None and base.zone is not None:
            return zone_of(base.zone) or self.zone
        return self.zone

    def _refuse_second(self, rule: str, offset: int, first: int) -> None:
        word = "ChangeHistory" if rule == "history" else rule.capitalize()
        self.report.fault(
            offset, "E23", f"second {word} clause", hint=f"the first is on line {self.report.line(first)}"
        )

    def _check_presence(self, name: Token, clauses: _Clauses, *, needs_monitor: bool) -> None:
        offset = name.start_pos or 0
        if needs_monitor and "monitor" not in clauses.seen:
            message = f'sentinel "{name}" says nothing to watch for'
            self.report.fault(offset, "E25", message, expected="a Monitor clause", hint="Monitor any change")
        if "to" in clauses.seen and "for" in clauses.seen:
            self.report.fault(offset, "E32", "To and For both fix the end", hint="keep one")

    def _built(self, name: str, pages: tuple[Watched, ...], clauses: _Clauses, base: Sentinel | None) -> Sentinel:
        """Return the sentinel with all its effective clauses: its own, else those of its base, else the defaults."""
        values = clauses.values
        given = {field: values[rule] for rule, field in _FIELDS if rule in values}
        if "to" in values:
            given["end"] = self._fixed(values["to"])
        if ASKING_READERS.keys() & values.keys():
            given["asking"] = asking(base.asking if base is not None else PLAIN, values)
        if base is None:
            return Sentinel(name=name, pages=pages, **given)
        return replace(base, name=name, base=base.name, **_inherited_life(base, clauses), **given)

    def _fixed(self, end: Point) -> Point:
        """Return `To now + 7 day` as the time that it means today, so that it does not move when it is read again."""
        if end.base != "now" or end.offset <= 0 or self.now is None:
            return end
        reading = read_date(local_text(self.now + end.offset, UTC, clock=True))
        return end if reading is None else Point("at", 0, reading.text, instant_of(reading, UTC))


def _inherited_life(base: Sentinel, clauses: _Clauses) -> dict[str, Any]:
    """Return what a sentinel takes over of its base's life: all of it, resolved as it happens, unless it says From, To or For."""
    if not {"from", "to", "for"} & clauses.seen.keys():
        start, end = Point("start", sentinel=base.name), Point("end", sentinel=base.name)
        return {"start": start, "end": end, "span": None, "correlated": True}
    kept: dict[str, Any] = {"correlated": False}
    if "from" not in clauses.seen:
        kept["start"] = resolved(base.start, clauses.zone)
    if "to" in clauses.seen:
        kept["span"] = None
    elif "for" in clauses.seen:
        kept["end"] = None
    elif base.end is not None:
        kept["end"] = resolved(base.end, clauses.zone)
    return kept


def _pages(target: Sequence[Node], head: Clause) -> tuple[Watched, ...]:
    pages: list[Watched] = []
    for node in target:
        address, *names = cast("list[Token]", node.children)
        if address.type == "BARE_HOST":
            expected = "a URL or the name of a sentinel"
            raise head.fail(
                address.start_pos, "E22", f'found "{address}"', expected=expected, hint=f"write https://{address}"
            )
        if not check_address(head.report, address.start_pos or 0, address):
            raise FaultFoundError
        page = Watched(str(address), check_name(names[0], head) if names else None)
        if page.name is not None and page.name in {other.name for other in pages}:
            raise head.fail(
                names[0].start_pos, "E27", f'two pages are called "{page.name}"', hint="give each its own name"
            )
        if page.url in {other.url for other in pages}:
            raise head.fail(address.start_pos, "E17", f"{address} is listed twice", hint="leave one out")
        pages.append(page)
    return tuple(pages)
