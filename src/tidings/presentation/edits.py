"""The displayed content of one change record (contracts §12), read once for every view."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime, tzinfo
from itertools import chain, islice
from typing import Any, Final, Literal

from tidings.document.text.excerpts import excerpts, label_of, line_of
from tidings.model.observed.change import EditContext
from tidings.model.url import split_url
from tidings.presentation.writing import ELLIPSIS, one_line
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
    "items": "entry",
    "regex": "match",
}
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
    `entry` is the content of an entry whose title replaces its text.
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
    def _above(self) -> str:
        """Return the line above a short text: what an updated value belongs to, else what the text
        follows.
        """
        above = self.context.above
        return above.rstrip(" :") if not above or self.context.of == "updated" else f'after "{above}"'

    @property
    def place(self) -> str:
        """Return the heading and the label of a text (`Status › Database`); empty if unknown."""
        one = self.context
        label = "" if one.before.rstrip(" :").endswith(one.label) else one.label
        return " › ".join(part for part in (AREAS.get(one.area, ""), one.heading, label, self._above) if part)


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
        said = {name: str(one.get(name) or "") for name in ("heading", "label", "above", "link", "area")}
        said = {name: one_line(text) for name, text in said.items()}
        before, after = str(one.get("before") or ""), str(one.get("after") or "")
        said["before"] = one_line(before) + (" " if before[-1:].isspace() else "")
        said["after"] = (" " if after[:1].isspace() else "") + one_line(after)
        found[str(one["of"]), int(one["number"])] = EditContext(str(one["of"]), int(one["number"]), **said)
    return found


def _entries(record: Record) -> dict[tuple[str, int], EntryText]:
    """Return the entries of a record, by list and index."""
    found: dict[tuple[str, int], EntryText] = {}
    for one in record.get("entries") or ():
        said = {name: one_line(str(one.get(name) or "")) for name in ("title", "link", "author", "text")}
        by = (minute(one.get("published_at"), record.get("zone")), f"by {said['author']}" if said["author"] else "")
        edits = tuple(
            (one_line(str(edit["part"])), one_line(str(edit["old"])), one_line(str(edit["new"])))
            for edit in one.get("edits") or ()
        )
        found[str(one["of"]), int(one["number"])] = EntryText(
            said["title"], said["link"], " ".join(filter(None, by)), said["text"], edits
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

    @classmethod
    def of(cls, record: Record) -> _Objects:
        rows: list[Mapping[str, Any]] = list(record.get("counts") or ())
        if not rows:
            return cls()
        told = {name: set(map(str, record.get(name) or ())) for name in ("deleted", "inserted")}
        counted: list[Mapping[str, Any]] = []
        sorts: dict[str, str] = {}
        numbers: dict[str, tuple[int, int]] = {}
        again: dict[str, Counter[str]] = {"deleted": Counter(), "inserted": Counter()}
        for row in rows:
            name, where = str(row["object"]), "inserted" if row["new"] > row["old"] else "deleted"
            is_whole = row.get("kind") in _WHOLES and name not in told[where]
            if row["old"] == row["new"] or is_whole:  # `updated` reports it
                continue
            if row["old"] and row["new"]:
                counted.append(row)
                again[where][name] += abs(row["new"] - row["old"])
            elif name in told[where]:
                sorts[name], numbers[name] = _sort(row), (row["old"], row["new"])
            else:
                counted.append(row)
        return cls(tuple(counted), sorts, numbers, again, _places(record))

    def where(self, change: str, name: str) -> str:
        """Return which occurrences of an object were inserted or deleted, empty if unknown."""
        return where(self.places.get((change, name), ()))

    def list_left(self, record: Record, name: str) -> Iterable[tuple[int, str]]:
        """Return the texts of a list that `counted` does not report, each with its index."""
        texts = enumerate(map(str, record.get(name) or ()))
        return self._untold(texts, Counter(self.again[name])) if self.again.get(name) else texts

    @staticmethod
    def _untold(texts: Iterable[tuple[int, str]], told: Counter[str]) -> Iterator[tuple[int, str]]:
        for number, text in texts:
            if told[text] > 0:
                told[text] -= 1
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
    for number, pair in enumerate(record.get("updated") or ()):
        old, new = str(pair["old"]), str(pair["new"])
        context, entry = contexts.get(("updated", number), NOWHERE), entries.get(("updated", number))
        if entry is None and not context.label and (label := label_of(old, new)):
            old, new = old[len(label) + 2 :], new[len(label) + 2 :]
            context = replace(context, label=one_line(label), before="", after="")
        elif not (context.label or context.before) and (line := line_of(new, context.after, beside=old)):
            old, new = line_of(old, context.after, beside=new), line
            context = replace(context, after="")
        old, new = (old, new) if longest is None else excerpts(old, new, EXCERPT)
        yield EditLine("updated", read(old), read(new), frame=frame, context=context, entry=entry)
    for number, text in objects.list_left(record, "deleted"):
        before, now = objects.numbers.get(text, (None, None))
        sort, place = objects.sorts.get(text, ""), objects.where("deleted", text)
        context, entry = contexts.get(("deleted", number), NOWHERE), entries.get(("deleted", number))
        shown = read(text) if entry is None else entry.title
        yield EditLine(
            "deleted", shown, "", sort, frame, before=before, now=now, where=place, context=context, entry=entry
        )
    for number, text in objects.list_left(record, "inserted"):
        before, now = objects.numbers.get(text, (None, None))
        sort, place = objects.sorts.get(text, ""), objects.where("inserted", text)
        context, entry = contexts.get(("inserted", number), NOWHERE), entries.get(("inserted", number))
        shown = read(text) if entry is None else entry.title
        yield EditLine(
            "inserted", "", shown, sort, frame, before=before, now=now, where=place, context=context, entry=entry
        )
    for number, text in enumerate(record.get("moved") or ()):
        yield EditLine("moved", new=read(text), frame=frame, context=contexts.get(("moved", number), NOWHERE))
    for row in objects.counted:
        was, now = row["old"], row["new"]
        place = objects.where("inserted" if now > was else "deleted", str(row["object"]))
        numbers = f"{was:,} → {now:,}"
        yield EditLine("counted", read(row["object"]), numbers, _sort(row), frame, before=was, now=now, where=place)


def _places(record: Record) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for place in record.get("places") or ():
        found.setdefault((str(place["change"]), str(place["object"])), []).append(place)
    return found


def where(places: Sequence[Mapping[str, Any]]) -> str:
    """Return places in one line: `2 of 3: see the [report] of May`; the text there is in brackets,
    with the words around it.
    """
    said = [_whereabouts(place) for place in places[:MOST_PLACES]]
    rest = len(places) - len(said)
    return "; ".join([*said, *([more(rest)] if rest else [])])


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
    whole = sum(len(record.get(name) or ()) for name in LISTS) + len(objects.counted)
    whole += "status" in record
    for name, again in objects.again.items():
        if again:
            whole -= len(record[name]) - sum(1 for _ in objects.list_left(record, name))
    return whole


def headline(record: Record) -> str:
    """Return one line on what happened."""
    return one_line(summary(record)[:LONGEST])


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


def more(count: int, noun: str = "") -> str:
    """Return `and n more`, with a noun in its number if one is given."""
    plural = "" if count == 1 else "s"
    return f"and {count:,} more" + (f" {noun}{plural}" if noun else "")


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
    said = [f'"{pair["old"]}" → "{pair["new"]}"' for pair in found["updated"]]
    said += [f'+"{text}"' for text in found["inserted"]] + [f'-"{text}"' for text in found["deleted"]]
    if not said:
        return "as it was before"
    rest = f"; and {len(said) - 3} more" if len(said) > 3 else ""
    return "; ".join(said[:3]) + rest
