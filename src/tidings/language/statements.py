"""The meaning of a statement: its clauses, what it inherits, its life, and their consistency."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import tzinfo
from typing import Any, cast

from lark import Token, Tree

from tidings.language.clauses.all_clauses import (
    Values,
    alter,
    create,
    in_order,
    inherit,
    reach_of,
    read_clauses,
    with_defaults,
)
from tidings.language.clauses.clause import (
    Clause,
    FaultFoundError,
    Node,
    bare,
    check_name,
    first,
    read_new_name,
    unquote,
)
from tidings.language.clauses.outside import check_words, read_event
from tidings.language.clauses.scope import usual_patterns
from tidings.language.clauses.when import read_pause
from tidings.language.event_names import EventNames, events_of
from tidings.language.grammar.syntax import Alike, Compound, EventPart, Order, Part, Unclear
from tidings.language.problems import ProblemReport
from tidings.language.times import zone_of
from tidings.language.verify import (
    KnownSentinel,
    Names,
    Places,
    check_address,
    check_alteration,
    check_order_word,
    check_sentinel,
    missing,
)
from tidings.language.write.printer import page_text
from tidings.model.interval import Duration, Instant
from tidings.model.watch.asking import url_of
from tidings.model.watch.interest import Interest
from tidings.model.watch.sentinel import (
    LISTING,
    Alter,
    Clauses,
    Command,
    CreateEvent,
    Defaults,
    DropEvent,
    Scope,
    Sentinel,
    Statement,
    Watched,
)
from tidings.record import dataclass, replace


@dataclass(frozen=True, slots=True)
class ParseContext:
    """The context of a text; see `parser.parse`."""

    zone: tzinfo
    now: Instant | None = None
    floor: Duration | None = None
    secrets: Container[str] | None = None
    defaults: Callable[[str], Clauses | None] | None = None
    files: bool = False
    is_stored: bool = False
    events: Mapping[str, Iterable[str]] | None = None
    anew: bool = False


@dataclass(frozen=True, slots=True)
class _Model:
    """A sentinel without a fault, a warning or a reference to another, the zone of its dates, and
    the places of its parts.
    """

    sentinel: Sentinel
    zone: tzinfo
    places: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Reader:
    """Interprets the statements of one text, in order: later ones may name earlier ones, and use
    their defaults.
    """

    report: ProblemReport
    names: Names
    outside: ParseContext
    _groups: dict[str, Clauses] = field(default_factory=dict)
    _unclear_groups: set[str] = field(default_factory=set)
    _models: dict[int, _Model] = field(default_factory=dict)
    """by the identity of the statement: sentinels that serve as models of similar ones"""
    _events: EventNames | None = field(init=False)

    def __post_init__(self) -> None:
        known = self.outside.events
        object.__setattr__(self, "_events", None if known is None else EventNames(known))

    def forget(self, parts: Iterable[Part]) -> None:
        """Treat the sentinels and events that statements create as not existing until then."""
        for part in parts:
            if isinstance(part, Alike):
                self.names.note_dropped(str(part.span.name))
            elif isinstance(part, Compound) and part.head.data == "head":
                self.names.note_dropped(str(_name_of(part)))
            elif isinstance(part, EventPart) and part.node.data == "event" and self._events is not None:
                self._events.note_dropped(str(part.node.children[2]))

    def statement(self, part: Part) -> tuple[Statement | None, Mapping[str, int]]:
        """Return the meaning of a statement, None if it has a fault, and the places of its parts.

        The names that it creates, alters or drops are recorded.
        """
        match part:
            case Unclear(name):
                self.names.note_failed(name)
                return None, {}
            case Order():
                return self._order(part)
            case EventPart(node):
                return self._event(node)
            case Alike():
                return self._another(part)
        places: dict[str, int] = {}
        match part.head.data:
            case "head":
                return self._creation(part, places), places
            case "alter_head":
                return self._alteration(part, places), places
        return self._defaults(part, places), places

    def _event(self, node: Node) -> tuple[CreateEvent | DropEvent | None, Mapping[str, int]]:
        """Return the meaning of a statement on an outside event."""
        places: dict[str, int] = {"event": first(node).start_pos or 0}
        try:
            return read_event(node, self._clause((), self.outside.zone, places)), places
        except FaultFoundError:
            return None, places

    def _order(self, order: Order) -> tuple[Command | None, Mapping[str, int]]:
        verb, name = order.word.lower(), str(bare(order.name))
        places = {"name": order.name.start_pos or 0, verb: order.word.start_pos or 0}
        is_fresh = isinstance(order.further, Token)
        places |= {"fresh": order.further.start_pos or 0} if isinstance(order.further, Token) else {}
        zone = self.outside.zone
        if not check_order_word(verb, name, places["name"], names=self.names, zone=zone, report=self.report):
            return None, places
        if verb == "drop":
            self.names.note_dropped(name)
            if self._events is not None:
                self._events.note_used(name, ())
        until = None
        if isinstance(order.further, Tree):
            try:
                until = read_pause(order.further, self._clause((), zone, places))
            except FaultFoundError:
                return None, places
        return Command(cast("Any", verb), name, is_fresh, until), places

    def _creation(self, creation: Compound, places: dict[str, int]) -> Sentinel | None:
        faults = self.report.faults
        sentinel = self._sentinel(creation, places)
        if sentinel is None or self.report.faults > faults:
            self.names.note_failed(str(_name_of(creation)))
            return None
        self.names.note_made(sentinel, self.outside.now)
        self._note_events(sentinel)
        return sentinel

    def _another(self, part: Alike) -> tuple[Statement | None, Mapping[str, int]]:
        """Return the meaning of a statement with the clauses of an earlier one for another page."""
        model = self._models.get(id(part.model))
        if model is None:
            return self.statement(part.read())
        faults, span = self.report.faults, part.span
        places = {word: offset + part.shift for word, offset in model.places.items()} | {
            "name": span.name.start_pos or 0
        }
        head = self._clause((), self.outside.zone, places)
        try:
            name, url = check_name(span.name, head), str(span.url)
            if check_address(self.report, span.url.start_pos or 0, url, files=False):
                sentinel = replace(model.sentinel, name=name, pages=(Watched(url),))
                self._check(sentinel, places, model.zone)
                if self.report.faults == faults:
                    self.names.note_made(sentinel, self.outside.now)
                    return sentinel, places
        except FaultFoundError:
            pass
        self.names.note_failed(str(span.name))
        return None, places

    def _note_events(self, sentinel: Sentinel) -> None:
        if self._events is not None:
            self._events.note_used(sentinel.name, events_of(sentinel))

    def _sentinel(self, creation: Compound, places: dict[str, int]) -> Sentinel | None:
        """Return the sentinel of a Create statement, None if it has a fault."""
        faults, noted = self.report.faults, self.report.noted
        name = _name_of(creation)
        places["name"] = name.start_pos or 0
        made, target = _split_head(creation)
        head = self._clause((), self.outside.zone, places)
        base: Sentinel | None = None
        pages: tuple[Watched, ...] = ()
        is_child = target[0].data == "base"
        try:
            read_new_name(made, head, "a sentinel")
            if is_child:
                base = self._base(cast("Token", target[0].children[0]), head)
                pages = base.pages if base is not None else ()
            else:
                pages = _pages(target, head)
        except FaultFoundError:
            pass
        zone = self._zone(creation.clauses, base)
        is_collection = _is_collection(creation) or (base is not None and base.scope is not None)
        is_collection |= any(node.data in {"scope", "depth", "budget"} for node in creation.clauses)
        values = read_clauses(creation.clauses, name, self._clause(_page_names(pages, is_collection), zone, places))
        if not creation.whole:
            return None
        if is_collection:
            _complete_scope(values, pages, None if base is None else base.scope)
        if not is_child:
            zone, values = self._add_tag_defaults(values, zone)
        self._check_presence(name, values, places, needs_monitor=not is_child)
        has_no_monitor = "monitor" not in values and not is_child  # its tag's defaults had a fault
        if self.report.faults > faults or has_no_monitor or (is_child and base is None):
            return None
        now = self.outside.now
        if base is None:
            sentinel = create(str(name), pages, values, zone=zone, now=now)
        else:
            sentinel = inherit(str(name), base, values, zone=zone, now=now)
        if self.report.noted == noted and _stands_alone(sentinel):
            self._models[id(creation)] = _Model(sentinel, zone, dict(places))
        self._check(sentinel, places, zone)
        return sentinel

    def _check(self, sentinel: Sentinel, places: Mapping[str, int], zone: tzinfo, *, is_new: bool = True) -> None:
        check_sentinel(
            sentinel,
            Places(
                places["name"],
                places.get("from"),
                places.get("to", places.get("for")),
                places.get("fetch"),
                None if self.outside.is_stored else places.get("monitor"),
            ),
            names=self.names,
            zone=zone,
            now=self.outside.now,
            floor=self.outside.floor,
            report=self.report,
            is_new=is_new,
        )

    def _alteration(self, part: Compound, places: dict[str, int]) -> Alter | None:
        faults = self.report.faults
        word, name, *target = cast("list[Any]", part.head.children)
        name = bare(name)
        places["alter"], places["name"] = word.start_pos or 0, name.start_pos or 0
        zone = self.outside.zone
        check_order_word("alter", name, places["name"], names=self.names, zone=zone, report=self.report)
        known = self.names.find(name)
        before = known.sentinel if known is not None else None
        pages = self._move_pages(before, target, name) if target else ()
        page_names = None if before is None else _page_names(before.pages, before.scope is not None)
        zone = self._zone(part.clauses, before)
        values = read_clauses(part.clauses, name, self._clause(page_names, zone, places))
        if before is not None and "scope" in values:
            _complete_scope(values, pages or before.pages, before.scope)
        if not part.whole:
            return None
        self._check_presence(name, values, places, needs_monitor=False)
        if self.report.faults > faults:
            return None
        after = None
        if known is not None:
            moved = replace(known.sentinel, pages=pages) if pages else known.sentinel
            after = alter(moved, values, zone=zone, now=self.outside.now)
            self._check(after, places, zone, is_new=False)
            check_alteration(name, known, places, zone=zone, report=self.report)
            if self.report.faults > faults:
                return None
            self.names.note_altered(after)
            self._note_events(after)
        return Alter(str(name), in_order(values), after, "C" if pages else reach_of(values), pages)

    def _move_pages(self, before: Sentinel | None, target: Iterable[Node], name: Token) -> tuple[Watched, ...]:
        """Return the replacement pages of a sentinel, one for each under the same name; empty if
        there is a fault.
        """
        try:
            pages = _pages(target, self._clause((), self.outside.zone, {}))
        except FaultFoundError:
            return ()
        pages_before = pages if before is None else before.pages
        if len(pages) == 1 == len(pages_before) and pages[0].name is None:
            return (replace(pages[0], name=pages_before[0].name),)
        if [page.name for page in pages] != [page.name for page in pages_before]:
            listed = ", ".join(map(page_text, pages_before))
            message = f'"{name}" has other pages: give one new address for each page, in order'
            self.report.fault(name.start_pos or 0, "E36", message, hint=f"it has {listed}")
            return ()
        return pages

    def _defaults(self, part: Compound, places: dict[str, int]) -> Defaults | None:
        faults = self.report.faults
        words = cast("list[Token]", part.head.children)
        places["name"] = places["defaults"] = words[0].start_pos or 0
        zone = self._zone(part.clauses, None)
        clause = self._clause((), zone, places)
        tags: list[str] = []
        for tag in words[3:]:
            try:
                tags.append(check_name(tag, clause))
            except FaultFoundError:
                continue
        values = read_clauses(part.clauses, words[3], clause)
        if "tags" in values:
            hint = "Defaults For Tags a, b names the tags"
            self.report.fault(places["tags"], "E42", "Tags cannot be a default", hint=hint)
        if "scope" in values:
            hint = "Create Collection NAME Using URL"
            self.report.fault(places["name"], "E42", "a scope cannot be a default", hint=hint)
        self._check_presence(words[0], values, places, needs_monitor=False)
        if not part.clauses and self.outside.defaults is not None:
            for tag in words[3:]:
                if self._group(tag) is None:
                    message = f'the tag "{tag}" has no defaults to remove'
                    self.report.fault(tag.start_pos or 0, "E42", message, hint="Defaults For Tags NAME Fetch 1 hour")
        if self.report.faults > faults or not part.whole:
            self._unclear_groups.update(str(tag) for tag in words[3:])
            return None
        clauses = in_order(values)
        self._groups.update(dict.fromkeys(tags, clauses))
        return Defaults(tuple(dict.fromkeys(tags)), clauses)

    def _group(self, tag: str) -> Clauses | None:
        if tag in self._groups:
            return self._groups[tag] if self._groups[tag].stated else None
        return self.outside.defaults(tag) if self.outside.defaults is not None else None

    def _add_tag_defaults(self, own: Values, zone: tzinfo) -> tuple[tzinfo, Values]:
        """Return clauses with the defaults of their tags, and the resulting zone."""
        groups = [group for tag in own.get("tags", ()) if (group := self._group(tag)) is not None]
        if not groups:
            return zone, own
        values = with_defaults(own, groups)
        if "zone" not in own and values.get("zone") is not None:
            zone = zone_of(values["zone"]) or zone
        return zone, values

    def _clause(self, names: tuple[str, ...] | None, zone: tzinfo, places: dict[str, int]) -> Clause:
        outside = self.outside
        return Clause(self.report, names, zone, outside.secrets, outside.files, outside.is_stored, places, self._events)

    def _base(self, name: Token, head: Clause) -> Sentinel | None:
        if "://" in (name := bare(name)):
            message = "write an address without quotes"
            raise head.fail(name.start_pos, "E22", message, hint=f"write Using {name.strip()}")
        check_name(name, head)
        known: KnownSentinel | None = self.names.find(name)
        if known is None and not self.names.is_unclear(name):
            raise head.fail(name.start_pos, "E20", missing(name), hint=self.names.hint(name))
        return known.sentinel if known is not None else None

    def _zone(self, clauses: Sequence[Node], base: Sentinel | None) -> tzinfo:
        """Return the zone of dates, which must be known before they are read."""
        for node in clauses:
            if node.data == "zone":
                return zone_of(cast("Token", node.children[1])) or self.outside.zone
            if node.data == "none" and cast("Token", node.children[0]).type == "ZONE":
                return self.outside.zone
        if base is not None and base.zone is not None:
            return zone_of(base.zone) or self.outside.zone
        return self.outside.zone

    def _check_presence(self, name: Token, values: Values, places: Mapping[str, int], *, needs_monitor: bool) -> None:
        offset = name.start_pos or 0
        is_unclear = self._unclear_groups & set(values.get("tags", ()))
        if needs_monitor and "monitor" not in values and "monitor" not in places and not is_unclear:
            message = f'sentinel "{name}" has no Monitor clause'
            self.report.fault(offset, "E25", message, expected="a Monitor clause", hint="Monitor any change")
        if "to" in places and "for" in places:
            self.report.fault(offset, "E32", "To and For both set the end", hint="keep one")


def _split_head(creation: Compound) -> tuple[Token, list[Node]]:
    """Return the name of a Create statement as it is written, and what it uses."""
    name, *target = creation.head.children[2 if _is_collection(creation) else 1 :]
    return cast("Token", name), cast("list[Node]", target)


def _is_collection(creation: Compound) -> bool:
    """Return whether a Create statement says that it makes a collection."""
    word = cast("Token", creation.head.children[1])
    return word.type == "COLLECTION"


def _page_names(pages: Iterable[Watched], is_collection: bool) -> tuple[str, ...]:
    names = tuple(page.name for page in pages if page.name is not None)
    return (*names, LISTING) if is_collection else names


def _complete_scope(values: Values, pages: Sequence[Watched], before: Scope | None) -> None:
    """Let a collection that says no patterns have those of before, or those of its first pages;
    one that has no Monitor clause is about its pages.
    """
    scope = values.get("scope", before or Scope(()))
    patterns = scope.patterns or (before.patterns if before is not None else usual_patterns(pages))
    values["scope"] = replace(scope, patterns=patterns)
    if before is None:
        values.setdefault("monitor", (Interest("links", of=LISTING), None, None))


def _stands_alone(sentinel: Sentinel) -> bool:
    """Return whether a sentinel watches one unnamed page and refers to no other sentinel and no
    event.
    """
    points = [point for point in (sentinel.start, sentinel.end) if point is not None]
    is_free = not (sentinel.base or sentinel.then or any(p.sentinel or p.event for p in points) or events_of(sentinel))
    return is_free and len(sentinel.pages) == 1 and sentinel.pages[0].name is None


def _pages(target: Iterable[Node], head: Clause) -> tuple[Watched, ...]:
    pages: list[Watched] = []
    known_names, known_urls = set[str](), set[str]()
    for node in target:
        address, *names = cast("list[Token]", node.children)
        if isinstance(address, Tree):
            address = _command(address, head)
        elif address.type == "BARE_HOST":
            expected = "a URL or the name of a sentinel"
            raise head.fail(
                address.start_pos, "E22", f'found "{address}"', expected=expected, hint=f"write https://{address}"
            )
        elif not check_address(head.report, address.start_pos or 0, address, files=head.files):
            raise FaultFoundError
        if address.lower().startswith("file:"):
            head.note("file", address.start_pos)
        page = Watched(str(address), read_new_name(names[0], head, "a page") if names else None)
        if page.name is not None and page.name in known_names:
            raise head.fail(
                names[0].start_pos, "E27", f'two pages are called "{page.name}"', hint="give each its own name"
            )
        if page.url in known_urls:
            raise head.fail(address.start_pos, "E17", f"{address} is listed twice", hint="leave one out")
        if page.name is not None:
            known_names.add(page.name)
        known_urls.add(page.url)
        pages.append(page)
    return tuple(pages)


def _command(node: Node, head: Clause) -> Token:
    """Return the address of a command."""
    word, *texts = cast("list[Token]", node.children)
    check_words(texts, head)
    return Token("URL", url_of([unquote(text) for text in texts]), start_pos=word.start_pos)


def _name_of(creation: Compound) -> Token:
    """Return the name of a Create statement, without quotes."""
    return bare(_split_head(creation)[0])
