"""The displayed content of one change record (contracts §12), read once for every view."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime, tzinfo
from itertools import chain, islice
from typing import Any, Final, Literal

from tidings.document.text.excerpts import common_ends, excerpts
from tidings.document.text.placed import (
    LinkPair,
    PlacedText,
    join_updates,
    pair_links,
    place_text,
    place_update,
)
from tidings.model.observed.change import EditContext
from tidings.model.url import split_url
from tidings.presentation.writing import ELLIPSIS, more, one_line, point_arrows
from tidings.record import dataclass, replace

Record = Mapping[str, Any]
EditKind = Literal["updated", "deleted", "inserted", "moved", "counted", "said", "hunk"]
PieceKind = Literal["same", "deleted", "inserted", "moved"]
Piece = tuple[PieceKind, str]

LONGEST: Final = 8_000
"""The longest text that a bounded view examines, in characters; no message shows more."""
EXCERPT: Final = 200
"""The longest text of each side of an update in a bounded view, around the difference."""
LONGEST_TITLE: Final = 120
"""The longest title of a page in a message, in characters."""
MOST_PLACES: Final = 3
"""The most occurrences of one object that are shown in context."""
NOTHING: Final = "no difference in what is watched"
NOWHERE: Final = EditContext("", 0)
WEIGHED: Final = 200
"""The most edits with contexts that are sorted by importance."""
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
AREAS: Final = {"footer": "in the footer", "nav": "in the menu"}
_QUOTED: Final = re.compile(r'"([^"]*)"')
_PRICE: Final = re.compile(r"[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY)\b")
LISTS: Final = ("updated", "deleted", "inserted", "moved")
_SORTS: Final = {
    "links": "link",
    "pages": "page",
    "images": "image",
    "keywords": "keyword",
    "phrases": "phrase",
    "table": "row",
    "list": "item",
    "items": "item",
    "regex": "match",
}
_LINKED: Final = frozenset({"link", "page"})
"""Objects that have a text and an address."""
_WHOLES: Final = frozenset({"status", "body"})
"""Things of which there is exactly one, so that another value is an update."""


@dataclass(frozen=True, slots=True)
class EntryText:
    """The content of an entry besides its title, escaped: link, author and date, the beginning of
    its text; and its changed parts.
    """

    title: str
    link: str = ""
    by: str = ""
    text: str = ""
    edits: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class EditLine:
    """A line of a view: the deleted (`old`) and the inserted text (`new`), escaped, each in one
    line.

    `moved` has its text in `new`; `counted` in `old` the object, and in `new` the counts (`3 → 2`).
    `sort` is the type of an object (`link`, `image`, …), empty for words of the page. `frame` is
    the address of the frame or, among several pages, of the page, empty for a single page. `said`:
    `new` is a remark on one page among several. `hunk`: `pieces` is a passage of the page before
    and now, with the text around its changes. `before` and `now` are an object's counts, `where`
    which of its occurrences were inserted or deleted; `context` is the escaped context of a text.
    `entry` is the content of an entry whose title replaces its text; of a link, its text and
    address. An update of several places of one sentence has its `pieces`.
    """

    kind: EditKind
    old: str = ""
    new: str = ""
    sort: str = ""
    frame: str = ""
    pieces: tuple[Piece, ...] = ()
    before: int | None = field(default=None, compare=False)
    now: int | None = field(default=None, compare=False)
    where: str = ""
    context: EditContext = field(default=NOWHERE, compare=False)
    entry: EntryText | None = field(default=None, compare=False)

    @property
    def around(self) -> str:
        """Return where an object is, beside the title of its entry: without this title."""
        return self.where if self.entry is None else self.where.replace(f"[{self.entry.title}]", f"[{ELLIPSIS}]")

    @property
    def above(self) -> str:
        """Return the line above a short text: what an updated value belongs to, else what the text
        follows.
        """
        above = self.context.above
        return above.rstrip(" :") if not above or self.context.of == "updated" else f'after "{above}"'

    @property
    def place(self) -> str:
        """Return the heading and the label of a text (`Status › Database`); empty if unknown."""
        one = self.context
        label = "" if one.before.rstrip(" :：").endswith(one.label) else one.label
        return " › ".join(part for part in (AREAS.get(one.area, ""), one.heading, label, self.above) if part)


WEB: Final = ("http://", "https://")


def is_said(edit: EditLine, line: str) -> bool:
    """Return whether one text of a line on a change (`headline`) has the whole edit."""
    if edit.kind in {"said", "hunk"} or edit.frame or edit.pieces:
        return False
    one, title = edit.context, "" if edit.entry is None else edit.entry.title
    around = [AREAS.get(one.area, ""), one.heading, one.label, one.above, one.before.strip(), one.after.strip()]
    if not all(text.rstrip(" :：") in line for text in around):
        return False
    quoted = _QUOTED.findall(line)
    if edit.entry is not None and edit.entry.edits:
        return edit.entry.title in quoted
    if is_moved_address(edit):
        return all(any(url.endswith(text) for text in quoted[-2:]) for url in (edit.old, edit.new))
    if edit.where and edit.entry is None:
        return False
    texts = (edit.old,) if edit.kind == "counted" else (edit.old, edit.new)
    return all(text in quoted for text in ((title,) if title else texts) if text)


def is_moved_address(edit: EditLine) -> bool:
    """Return whether an edit is another address of a link."""
    return edit.kind == "updated" and edit.old.startswith(WEB) and edit.new.startswith(WEB)


def by_importance(edits: Sequence[EditLine]) -> tuple[list[EditLine], list[EditLine]]:
    """Return edits without those of footers and menus, and these; all are important if there are no
    others.
    """
    less = [edit for edit in edits if edit.context.area and not edit.frame]
    return ([edit for edit in edits if edit not in less], less) if len(less) < len(edits) else (list(edits), [])


def narrow(old: str, new: str) -> tuple[str, str, str, str]:
    """Return the words that two texts begin with, those that only the old and only the new text
    has, and the words that both end with.
    """
    was, now = old.split(), new.split()
    head, tail = common_ends(was, now)
    return (" ".join(now[:head]), " ".join(was[head : len(was) - tail]),
            " ".join(now[head : len(now) - tail]), " ".join(now[len(now) - tail :]))  # fmt: skip


def in_place(record: Record) -> Record:
    """Return a record whose edits are shown in place: its hunks (`merged`), if it has any, replace
    its lists.
    """
    return {**record, "hunks": record["merged"]} if record.get("merged") else record


def edits_of(record: Record, *, most: int | None = None, longest: int | None = LONGEST) -> tuple[list[EditLine], int]:
    """Return the first `most` edits (None: all) and how many more there are. `longest` is where a
    single text is cut.

    An object of both versions is reported once, by its counts. Of a page with frames the edits are
    grouped by frame, of a change of several pages by page.
    """
    parts = _parts(record)
    objects = [_Objects.of(part) for _, part in parts]
    every = chain.from_iterable(
        _weigh(part, _edits(part, rows, longest, frame)) for (frame, part), rows in zip(parts, objects, strict=True)
    )
    found = list(islice(every, most))
    number = sum(_number(part, rows) for (_, part), rows in zip(parts, objects, strict=True))
    return found, number - len(found)


def _weigh(record: Record, edits: Iterator[EditLine]) -> Iterator[EditLine]:
    """Yield edits with known contexts by importance: prices first, footers and menus last."""
    if record.get("context") and "hunks" not in record:
        yield from sorted(islice(edits, WEIGHED), key=_weight)
    yield from edits


def _weight(edit: EditLine) -> int:
    if edit.kind == "said":
        return 0
    if edit.context.area:
        return 3
    return 1 if _PRICE.search(f"{edit.old}{edit.new}{edit.context.before[-4:]}{edit.context.after[:4]}") else 2


def _contexts(record: Record) -> dict[tuple[str, int], EditContext]:
    """Return the contexts of the texts of a record, by list and index."""
    found: dict[tuple[str, int], EditContext] = {}
    for one in record.get("context") or ():
        texts = {name: str(one.get(name) or "") for name in ("heading", "label", "above", "link", "area")}
        texts = {name: one_line(text) for name, text in texts.items()}
        before, after = str(one.get("before") or ""), str(one.get("after") or "")
        texts["before"], texts["after"] = (_beside(text, one_line(text)) for text in (before, after))
        texts["before"], texts["after"] = texts["before"].lstrip(), texts["after"].rstrip()
        found[str(one["of"]), int(one["number"])] = EditContext(str(one["of"]), int(one["number"]), **texts)
    return found


def _beside(text: str, shown: str) -> str:
    """Return a text as it is shown, with a space where the text begins or ends with one."""
    return f"{' ' if text[:1].isspace() else ''}{shown}{' ' if text[-1:].isspace() else ''}"


def _entries(record: Record) -> dict[tuple[str, int], EntryText]:
    """Return the entries of a record, by list and index."""
    found: dict[tuple[str, int], EntryText] = {}
    for one in record.get("entries") or ():
        texts = {name: one_line(str(one.get(name) or "")) for name in ("title", "link", "author", "text")}
        by = (minute(one.get("published_at"), record.get("zone")), f"by {texts['author']}" if texts["author"] else "")
        edits = tuple(
            (one_line(str(edit["part"])), one_line(str(edit["old"])), one_line(str(edit["new"])))
            for edit in one.get("edits") or ()
        )
        found[str(one["of"]), int(one["number"])] = EntryText(
            texts["title"], texts["link"], " ".join(filter(None, by)), texts["text"], edits
        )
    return found


def _parts(record: Record) -> list[tuple[str, Record]]:
    """Return the parts of a record, each with its heading line."""
    parts = () if "hunks" in record else record.get("parts") or record.get("frames") or ()
    return [(one_line(str(part["url"])), part) for part in parts] or [("", record)]


def _describe_page(part: Record) -> str:
    """Return the heading line of one page of several: the compared versions and the time, or why
    there are no edits.
    """
    if part["status"] != "changed":
        return str(part["summary"])
    when = minute(part.get("polled_at"), part.get("zone"))
    return f"version {part['from_version']} → {part['to_version']}{f', {when}' if when else ''}"


def starts_of_frames(edits: Sequence[EditLine]) -> Iterator[tuple[EditLine, str]]:
    """Yield each edit with the address of its frame if it is the first of that frame, else with an
    empty text.
    """
    before = ""
    for edit in edits:
        yield edit, edit.frame if edit.frame != before else ""
        before = edit.frame


@dataclass(frozen=True, slots=True)
class _Objects:
    """The multiset rows of a record, by where they are reported."""

    counted: tuple[Mapping[str, Any], ...] = ()
    """rows reported by their counts"""
    sorts: Mapping[str, str] = field(default_factory=dict)
    """object → its type, for inserted and deleted ones"""
    numbers: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """object → its counts before and now, for inserted and deleted ones"""
    again: Mapping[str, Counter[str]] = field(default_factory=dict)
    """`inserted` or `deleted` → texts there that rows of `counted` already report, and how often"""
    places: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """(`inserted` or `deleted`, object) → the places of its occurrences"""
    names: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(`inserted` or `deleted`, address) → the text of its link"""
    pairs: Sequence[LinkPair] = ()
    """links with another address, in no list"""

    @classmethod
    def of(cls, record: Record) -> _Objects:
        rows: list[Mapping[str, Any]] = list(record.get("counts") or ())
        if not rows:
            return cls()
        changed = {name: set(map(str, record.get(name) or ())) for name in ("deleted", "inserted")}
        counted: list[Mapping[str, Any]] = []
        sorts: dict[str, str] = {}
        numbers: dict[str, tuple[int, int]] = {}
        again: dict[str, Counter[str]] = {"deleted": Counter(), "inserted": Counter()}
        for row in rows:
            name, where = str(row["object"]), "inserted" if row["new"] > row["old"] else "deleted"
            is_whole = row.get("kind") in _WHOLES and name not in changed[where]
            if row["old"] == row["new"] or is_whole:  # `updated` reports it
                continue
            if row["old"] and row["new"]:
                counted.append(row)
                again[where][name] += abs(row["new"] - row["old"])
            elif name in changed[where]:
                sorts[name], numbers[name] = _sort(row), (row["old"], row["new"])
            else:
                counted.append(row)
        for one in record.get("context") or ():  # the text of a new link is shown with its address
            if (of := str(one["of"])) in again and (url := str(one.get("link") or "")) in sorts and url in changed[of]:
                again[of][url] = max(1, again[of][url])
                sorts.pop(url)
        places = _places(record)
        names = {key: str(found[0]["text"]) for key, found in places.items() if found[0].get("text")}
        sides = (
            {url: names.get((kind, url), "") for url in map(str, record.get(kind) or ()) if sorts.get(url) in _LINKED}
            for kind in ("deleted", "inserted")
        )
        pairs = pair_links(*sides, is_same="page" in sorts.values())
        for pair in pairs:
            again["deleted"][pair.old] += 1
            again["inserted"][pair.new] += 1
        return cls(tuple(counted), sorts, numbers, again, places, names, pairs)

    def where(self, change: str, name: str) -> str:
        """Return which occurrences of an object were inserted or deleted, empty if unknown."""
        return where(self.places.get((change, name), ()))

    def list_left(self, record: Record, name: str) -> Iterable[tuple[int, str]]:
        """Return the texts of a list that `counted` does not report, each with its index."""
        texts = enumerate(map(str, record.get(name) or ()))
        return self._skip_counted(texts, Counter(self.again[name])) if self.again.get(name) else texts

    @staticmethod
    def _skip_counted(texts: Iterable[tuple[int, str]], counted: Counter[str]) -> Iterator[tuple[int, str]]:
        for number, text in texts:
            if counted[text] > 0:
                counted[text] -= 1
                continue
            yield number, text


def _edits(record: Record, objects: _Objects, longest: int | None, frame: str) -> Iterator[EditLine]:
    def read(text: object) -> str:
        whole = str(text)
        return one_line(whole if longest is None or len(whole) <= longest else f"{whole[:longest]}{ELLIPSIS}")

    if "hunks" in record:
        for hunk in record["hunks"]:
            yield EditLine("hunk", pieces=tuple((kind, read(text)) for kind, text in hunk))
        return
    if "status" in record:
        yield EditLine("said", new=read(_describe_page(record)), frame=frame)
    contexts, entries = _contexts(record), _entries(record)
    for one, entry in _updates(record, contexts, entries):
        old, new = (one.old, one.new) if longest is None else excerpts(one.old, one.new, EXCERPT)
        between = () if longest is not None and len(one.old + one.new) > 2 * EXCERPT else one.between
        pieces: list[Piece] = []
        for was, came, then in between:
            pieces += [("deleted", read(was)), ("inserted", read(came))]
            if then:
                pieces.append(("same", _beside(then, read(then))))
        yield EditLine("updated", read(old), read(new), "", frame, tuple(pieces), context=one.context, entry=entry)
    for pair in objects.pairs:
        yield _link_line(pair, read, frame)
    for kind in ("deleted", "inserted"):
        for number, whole in objects.list_left(record, kind):
            before, now = objects.numbers.get(whole, (None, None))
            sort, place = objects.sorts.get(whole, ""), objects.where(kind, whole)
            entry = entries.get((kind, number))
            text, context = place_text(whole, contexts.get((kind, number), NOWHERE))
            if entry is None and sort in _LINKED and (name := objects.names.get((kind, whole))):
                entry = EntryText(read(name), read(whole))
            shown = read(text) if entry is None or sort in _LINKED else entry.title
            old, new = (shown, "") if kind == "deleted" else ("", shown)
            yield EditLine(
                kind, old, new, sort, frame, before=before, now=now, where=place, context=context, entry=entry
            )
    for number, text in enumerate(record.get("moved") or ()):
        yield EditLine("moved", new=read(text), frame=frame, context=contexts.get(("moved", number), NOWHERE))
    for row in objects.counted:
        was, now = row["old"], row["new"]
        place = objects.where("inserted" if now > was else "deleted", str(row["object"]))
        numbers = f"{was:,} → {now:,}"
        yield EditLine("counted", read(row["object"]), numbers, _sort(row), frame, before=was, now=now, where=place)


def _updates(
    record: Record, contexts: Mapping[tuple[str, int], EditContext], entries: Mapping[tuple[str, int], EntryText]
) -> Iterator[tuple[PlacedText, EntryText | None]]:
    """Yield the updates of a record, those of one sentence as one; an item with its content."""
    placed: list[PlacedText] = []
    for number, pair in enumerate(record.get("updated") or ()):
        old, new, context = str(pair["old"]), str(pair["new"]), contexts.get(("updated", number), NOWHERE)
        if (entry := entries.get(("updated", number))) is not None:
            yield PlacedText(old, new, context), entry
        else:
            placed.append(place_update(old, new, context))
    yield from ((one, None) for one in join_updates(placed))


def _link_line(pair: LinkPair, read: Callable[[object], str], frame: str) -> EditLine:
    """Return a link with another address, and another text if it has one."""
    if pair.was == pair.now:
        label = replace(NOWHERE, of="updated", label=f'link "{read(pair.now)}"')
        return EditLine("updated", read(pair.old), read(pair.new), frame=frame, context=label)
    old, new = (f"{read(name)} ({read(url)})" for name, url in ((pair.was, pair.old), (pair.now, pair.new)))
    return EditLine("updated", old, new, frame=frame, context=replace(NOWHERE, of="updated", label="link"))


def _places(record: Record) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for place in record.get("places") or ():
        found.setdefault((str(place["change"]), str(place["object"])), []).append(place)
    return found


def where(places: Sequence[Mapping[str, Any]]) -> str:
    """Return places in one line: `2 of 3: see the [report] of May`; the text there is in brackets,
    with the words around it.
    """
    places_text = [_whereabouts(place) for place in places[:MOST_PLACES]]
    rest = len(places) - len(places_text)
    return "; ".join([*places_text, *([more(rest)] if rest else [])])


def _whereabouts(place: Mapping[str, Any]) -> str:
    number = f"{place['number']:,} of {place['of']:,}: " if place["of"] > 1 else ""
    around = " ".join(part for part in (place["before"], f"[{place['text'] or ELLIPSIS}]", place["after"]) if part)
    return number + one_line(around)


def nothing(record: Record) -> str:
    """Return the text shown if there are no edits; empty for a notice, which has none."""
    return NOTHING if any(name in record for name in LISTS) else ""


def _sort(row: Mapping[str, Any]) -> str:
    kind = str(row.get("kind") or "")
    return _SORTS.get(kind, one_line(kind))


def _number(record: Record, objects: _Objects) -> int:
    if "hunks" in record:
        return len(record["hunks"])
    whole = sum(len(record.get(name) or ()) for name in LISTS) + len(objects.counted) + len(objects.pairs)
    if record.get("context") and len(record.get("updated") or ()) > 1:
        updates = _updates(record, _contexts(record), _entries(record))
        whole -= len(record["updated"]) - sum(1 for _ in updates)
    whole += "status" in record
    for name, again in objects.again.items():
        if again:
            whole -= len(record[name]) - sum(1 for _ in objects.list_left(record, name))
    return whole


def headline(record: Record) -> str:
    """Return one line on what happened."""
    return point_arrows(one_line(summary(record)[:LONGEST]))


def summary(record: Record) -> str:
    """Return the record's summary (which may quote the page), else the counts, else the change
    type.
    """
    if record.get("summary"):
        return str(record["summary"])
    counts = ", ".join(f"{len(record[name]):,} {name}" for name in LISTS if record.get(name))
    return counts or str(record.get("kind") or "changed")


def page_line(record: Record) -> str:
    """Return the title of the page and its host: `Steel kettle – Kettle shop · shop.example`; only
    the host without a title.
    """
    host = host_of(str(record.get("url") or ""))
    title = one_line(str(record.get("title") or "")[:LONGEST_TITLE])
    return " · ".join(part for part in (title, one_line(host)) if part)


def host_of(url: str) -> str:
    """Return the host of an address, empty if it has none."""
    return split_url(url).hostname or ""


def times(record: Record) -> str:
    """Return when a change was seen and published: `seen Fri 2026-11-27 08:00 UTC`, or in the zone
    of the record (`in_zone`).

    Empty if the record has neither.
    """
    seen, published = (minute(record.get(name), record.get("zone")) for name in ("detected_at", "modified_at"))
    return ", ".join(part for part in (seen and f"seen {seen}", published and f"published {published}") if part)


def in_zone(record: Record, zone: tzinfo) -> Record:
    """Return a record whose instants are shown in a time zone."""
    parts = [{**part, "zone": zone} for part in record.get("parts") or ()]
    return {**record, "zone": zone, **({"parts": parts} if parts else {})}


def minute(stamp: object, zone: tzinfo | None = None) -> str:
    """Return an instant of a record as `Fri 2026-11-27 08:00 UTC`; empty for none."""
    stamp = str(stamp or "")
    if len(stamp) < 16:
        return ""
    at = datetime.fromisoformat(stamp).astimezone(UTC if zone is None else zone)
    return f"{_DAYS[at.weekday()]} {at:%Y-%m-%d %H:%M %Z}"


_EDITS = ("inserted", "deleted", "updated")


def newest_first(records: Sequence[Record], *, net: bool = False) -> list[Record]:
    """Return records (given oldest first) in reading order: by page, the last changed page and the
    newest change first.

    With `net`, a page that changed more than once begins with its net effect: a change record from
    the first version to the last, whose summary begins with `3 changes, net:`; a change of several
    pages has none.
    """
    pages: dict[Any, list[Record]] = {}
    for record in reversed(records):
        pages.setdefault(record.get("url"), []).append(record)
    return [record for page in pages.values() for record in ((*_nets(page), *page) if net else page)]


def _nets(newest_first: Sequence[Record]) -> list[Record]:
    """Return the net effect on a page, for each kind of change that occurs more than once."""
    kinds: dict[Any, list[Record]] = {}
    for record in reversed(newest_first):
        if record.get("record") == "change" and not record.get("parts") and all(name in record for name in _EDITS):
            kinds.setdefault(record.get("kind"), []).append(record)
    return [_net(changes) for changes in kinds.values() if len(changes) > 1]


def _net(records: Sequence[Record]) -> Record:
    inserted: list[str] = []
    deleted: list[str] = []
    updated: dict[str, list[str]] = {}
    """current text → earlier texts"""
    for record in records:
        for pair in record["updated"]:
            if pair["old"] in inserted:
                inserted[inserted.index(pair["old"])] = pair["new"]
            else:
                updated.setdefault(pair["new"], []).append(_was(updated, pair["old"]))
        for text in record["deleted"]:
            if text in inserted:
                inserted.remove(text)
            else:
                deleted.append(_was(updated, text))
        for text in record["inserted"]:
            if text in deleted:
                deleted.remove(text)
            else:
                inserted.append(text)
    first, last = records[0], records[-1]
    pairs = [{"old": old, "new": new} for new, olds in updated.items() for old in olds if old != new]
    found = {"inserted": inserted, "deleted": deleted, "updated": pairs, "moved": []}
    whole = {k: v for k, v in last.items() if k not in {"counts", "places", "frames", "context"}} | found
    whole |= {"from_version": first.get("from_version"), "summary": f"{len(records)} changes, net: {_spell(found)}"}
    return whole


def _was(updated: dict[str, list[str]], text: str) -> str:
    """Remove and return the first text of an updated one; the text itself, if it was not
    updated.
    """
    olds = updated.get(text)
    return olds.pop(0) if olds else text


def _spell(found: Record) -> str:
    """Return the first few edits in one line."""
    updates = [f'"{pair["old"]}" → "{pair["new"]}"' for pair in found["updated"]]
    updates += [f'+"{text}"' for text in found["inserted"]] + [f'-"{text}"' for text in found["deleted"]]
    if not updates:
        return "as it was before"
    rest = f"; {more(len(updates) - 3, 'change')}" if len(updates) > 3 else ""
    return "; ".join(updates[:3]) + rest
