"""Sentinels for other installations and programs: the language, YAML, or OPML for feed readers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from email.utils import formatdate
from itertools import accumulate
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import quoteattr

from tidings.errors import UnknownNameError, UnreadableTextError
from tidings.language import parser
from tidings.language.parser import recall
from tidings.language.times import local_text
from tidings.language.write import printer
from tidings.language.yaml.form import to_yaml
from tidings.model.watch.sentinel import Command, Point, Sentinel
from tidings.record import dataclass, replace
from tidings.service.watch import by_name
from tidings.service.watch.lifespan import Life, ends, starts
from tidings.service.watch.watchlist import meaning, read_meaning
from tidings.storage import secrets
from tidings.storage.observed import versions
from tidings.storage.watches import outside, sentinels, subscriptions

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow

FEEDS: Final = ("rss", "atom", "xml", "feed+json")
"""Parts of the media types of feeds."""


@dataclass(frozen=True, slots=True)
class Exported:
    """Statements in an order in which they can be registered, the names of the secrets that they
    refer to, and what cannot be carried over, a line for each.
    """

    texts: Sequence[str]
    secrets: Sequence[str]
    left: Sequence[str] = ()

    def write_text(self) -> str:
        """Return them in the sentence form, with the secrets to be set first as a comment."""
        lines = [*(f"-- not carried over: {one}" for one in self.left)]
        lines += [f"-- first: tidings secret set {name}" for name in self.secrets]
        return "\n\n".join(["\n".join(lines), *self.texts] if lines else self.texts) + "\n"

    def write_yaml(self) -> str:
        """Return them as YAML."""
        lines = [*(f"# not carried over: {one}\n" for one in self.left)]
        lines += [f"# first: tidings secret set {name}\n" for name in self.secrets]
        return "".join(lines) + to_yaml([recall(text) for text in self.texts])


def list_statements(c: Connection, viewer: int | None, names: Sequence[str] = (), *, zone: str = "UTC") -> Exported:
    """Return the sentinels of `viewer` (None: all), or those of these names, as an installation
    without any can read them, whatever its own zone.

    Events come first, then sentinels in order of creation, but each after those on which its start
    or end depends, then defaults of tags, which change no sentinel before them, then the disabled
    ones. Raises `UnknownNameError` for an unknown name.

    Args:
        c: The connection.
        viewer: The owner whose view is exported; None for all.
        names: The sentinels; empty for all.
        zone: The zone of sentinels that name none.
    """
    rows = {row.name: row for row in _select(c, viewer, names)}
    found, left = _settle_all(c, rows.values(), zone)
    own = viewer is None and not names
    texts = [row.text for row in outside.listing(c)] if own else []
    texts += [printer.to_text(sentinel) for sentinel in _sort(found)]
    texts += dict.fromkeys(sentinels.list_tag_defaults(c).values()) if own else ()
    texts += [printer.to_text(_pause(row)) for name, row in rows.items() if row.state == "disabled" and name in found]
    texts, refused = _check(texts)
    known = [row.name for row in secrets.listing(c)]
    needed = [name for name in known if any(f'secret "{name}"' in text for text in texts)]
    return Exported(texts, needed, [*left, *refused])


def _settle_all(c: Connection, rows: Iterable[SentinelRow], zone: str) -> tuple[dict[str, Sentinel], list[str]]:
    """Return the sentinels by name, each with its zone and with dates instead of starts and ends of
    sentinels that are not among them; and what gets lost.
    """
    found: dict[str, Sentinel] = {}
    left: list[str] = []
    lives: dict[str, Life] = {}
    for row in rows:
        try:
            found[row.name] = meaning(row.text)
        except UnreadableTextError as error:
            left.append(f"{row.name}: {error}".partition("\n")[0])
        else:
            lives[row.name] = Life.of(row, found[row.name])
    find = by_name.lives(c, dropped=True)
    for name, sentinel in found.items():
        start, end = sentinel.start, sentinel.end
        if start.sentinel not in {None, *found}:
            start = _fix(starts(lives[name], find)) or Point("now")
            if start.base == "now":
                left.append(_LOST.format(name=name, what="start", other=sentinel.start.sentinel))
        if end is not None and end.sentinel not in {None, *found}:
            end = _fix(ends(lives[name], find))
            if end is None and sentinel.end is not None:
                left.append(_LOST.format(name=name, what="end", other=sentinel.end.sentinel))
        found[name] = replace(sentinel, zone=sentinel.zone or zone, start=start, end=end)
    return found, left


_LOST: Final = "{name}: its {what}, because it depends on {other}, which is not in this export"


def _fix(at: Instant | None) -> Point | None:
    """Return a date for an instant."""
    return None if at is None else Point("at", text=local_text(at, UTC, clock=True), instant=at)


def _sort(found: Mapping[str, Sentinel]) -> list[Sentinel]:
    """Return sentinels after those on which their starts and ends depend."""
    placed: dict[str, Sentinel] = {}

    def place(name: str) -> None:
        sentinel = found[name]
        for point in (sentinel.start, sentinel.end):
            other = None if point is None else point.sentinel
            if other is not None and other in found and other not in placed:
                place(other)
        placed.setdefault(name, sentinel)

    for name in found:
        place(name)
    return [*placed.values()]


def _check(texts: list[str]) -> tuple[list[str], list[str]]:
    """Return the texts that can be read where nothing is stored, and why others cannot."""
    left: dict[str, str] = {}
    while True:
        parsed = parser.parse("\n\n".join(texts), known=lambda _: None, events={}, files=True)
        if not parsed.problems:
            return texts, [*left.values()]
        lines = [*accumulate((text.count("\n") + 2 for text in texts), initial=1)]
        refused = {bisect_right(lines, problem.line) - 1: problem for problem in reversed(parsed.problems)}
        for place, problem in sorted(refused.items()):
            head = texts[place].partition("\n")[0]
            name = getattr(parser.recall(texts[place]), "name", "") or head
            left.setdefault(name, f"{name}: {problem.code} {problem.message}")
        texts = [text for place, text in enumerate(texts) if place not in refused]


def _pause(row: SentinelRow) -> Command:
    """Return the statement that disables a sentinel for as long as it is."""
    text = None if row.resume_at is None else local_text(row.resume_at, UTC, clock=True)
    return Command("disable", row.name, until=None if text is None else Point("at", text=text, instant=row.resume_at))


def list_opml(c: Connection, viewer: int | None, names: Sequence[str], *, at: Instant) -> str:
    """Return the pages as OPML 2.0: feeds as `rss` with `xmlUrl`, other pages as `link` with `url`.

    Args:
        c: The connection.
        viewer: The owner whose view is exported; None for all.
        names: The sentinels; empty for all.
        at: The time of the export (µs).
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<opml version="2.0">', "<head><title>Tidings</title>"]
    lines += [f"<dateCreated>{formatdate(at / 1_000_000, usegmt=True)}</dateCreated></head>", "<body>"]
    for row in _select(c, viewer, names):
        sentinel = read_meaning(row)
        category = f" category={quoteattr(','.join(sentinel.tags))}" if sentinel.tags else ""
        known = {str(sub.label): sub.page_id for sub in subscriptions.listing(c, sentinel_id=row.id)}
        for page in sentinel.pages:
            newest = versions.newest(c, known[page.name or ""]) if (page.name or "") in known else None
            is_feed = newest is not None and any(word in newest.content_type for word in FEEDS)
            address = quoteattr(page.url)
            kind = f'type="rss" xmlUrl={address}' if is_feed else f'type="link" url={address}'
            lines.append(f"<outline text={quoteattr(row.name)} {kind}{category}/>")
    return "\n".join([*lines, "</body>", "</opml>", ""])


def _select(c: Connection, viewer: int | None, names: Sequence[str]) -> list[SentinelRow]:
    rows = sentinels.listing(c, viewer=viewer)
    for name in names:
        if name not in {row.name for row in rows}:
            raise UnknownNameError(f"there is no sentinel {name}; `tidings list` shows all")
    return [row for row in rows if not names or row.name in names]
