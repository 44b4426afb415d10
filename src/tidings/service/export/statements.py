"""Sentinels for other installations and programs: the language, YAML, or OPML for feed readers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from email.utils import formatdate
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import quoteattr

from tidings.errors import UnknownNameError
from tidings.language.parser import recall
from tidings.language.times import local_text
from tidings.language.write import printer
from tidings.language.yaml.form import to_yaml
from tidings.model.watch.sentinel import Command, Point
from tidings.record import dataclass
from tidings.service.watch.watchlist import read_meaning
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
    """Statements in an order in which they can be registered, and the names of the secrets that
    they refer to.
    """

    texts: Sequence[str]
    secrets: Sequence[str]

    def write_text(self) -> str:
        """Return them in the sentence form, with the secrets to be set first as a comment."""
        lines = [f"-- first: tidings secret set {name}" for name in self.secrets]
        return "\n\n".join(["\n".join(lines), *self.texts] if lines else self.texts) + "\n"

    def write_yaml(self) -> str:
        """Return them as YAML."""
        lines = [f"# first: tidings secret set {name}\n" for name in self.secrets]
        return "".join(lines) + to_yaml([recall(text) for text in self.texts])


def list_statements(c: Connection, viewer: int | None, names: Sequence[str] = ()) -> Exported:
    """Return the sentinels of `viewer` (None: all), or those of these names.

    Events and defaults of tags come first, then sentinels in order of creation, then the disabled
    ones. Raises `UnknownNameError` for an unknown name.
    """
    rows = _select(c, viewer, names)
    texts = [] if names else [*_list_sources(c, viewer)]
    texts += [row.text for row in rows]
    texts += [printer.to_text(_pause(row)) for row in rows if row.state == "disabled"]
    known = [row.name for row in secrets.listing(c)]
    return Exported(texts, [name for name in known if any(f'secret "{name}"' in text for text in texts)])


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


def _list_sources(c: Connection, viewer: int | None) -> list[str]:
    """Return the statements of the installation, only for those who see everything."""
    if viewer is not None:
        return []
    return [*(row.text for row in outside.listing(c)), *dict.fromkeys(sentinels.list_tag_defaults(c).values())]
