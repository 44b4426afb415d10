"""Changes as an Atom feed (RFC 4287): one entry per change, written once and never altered.

Pages are untrusted: their texts are escaped twice, once as HTML and once as XML, and characters
that XML forbids are replaced (H-078 to H-085).
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterable
from typing import Final

from tidings.presentation.edits import Record, page_line, summary
from tidings.presentation.presenters import presenter, view_of
from tidings.presentation.writing import cut_text, one_line, subject_line
from tidings.record import dataclass

NAMESPACE: Final = "http://www.w3.org/2005/Atom"
MOST_ENTRIES: Final = 100
"""The most entries of a feed; readers that poll in time have the older ones."""
MOST_CONTENT: Final = 60_000
"""The largest HTML in an entry, in bytes."""
LONGEST_WORDS: Final = 4_000
"""The longest notice or linked address, in characters."""
LONGEST_CATEGORY: Final = 200
_WEB: Final = ("http://", "https://")
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML 1.0 forbids in any form, even as a reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedHead:
    """The head of a feed: `id` never changes, `updated` is an instant in RFC 3339, `address` is its
    URL.
    """

    id: str
    title: str
    updated: str
    address: str
    generator: str


def feed(head: FeedHead, entries: Iterable[str]) -> str:
    """Return a whole feed around entries written by `entry`."""
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="{NAMESPACE}">\n'
        f"<id>{_text(head.id)}</id>\n<title>{_text(one_line(head.title))}</title>\n<updated>{_text(head.updated)}</updated>\n"
        f'<link rel="self" type="application/atom+xml" href="{_text(head.address)}"/>\n'
        f"<author><name>Tidings</name></author>\n<generator>{_text(head.generator)}</generator>\n{''.join(entries)}</feed>\n"
    )


def entry(record: Record, *, presentation: str = "only_change", title: str = "", content: str = "") -> str:
    """Return the entry of a change record or a notice; its id is the change's.

    Args:
        record: The record.
        presentation: How its edits are shown.
        title: The custom title, empty for the default one.
        content: The custom content, as HTML; empty for the default one.
    """
    title = title or subject_line(f"{record['sentinel'] or 'Tidings'}: {summary(record)}") or "changed"
    at = str(record["detected_at"])
    shown = content or _page(record) + presenter(view_of(presentation, record), "html").fragment(
        record, most=MOST_CONTENT
    )
    content = shown or f"<p>{html.escape(cut_text(one_line(summary(record)), LONGEST_WORDS))}</p>\n"
    url = str(record.get("url") or "")
    is_linked = url.lower().startswith(_WEB) and len(url) <= LONGEST_WORDS
    link = f'<link rel="alternate" href="{_text(url)}"/>\n' if is_linked else ""
    terms = (cut_text(one_line(str(record.get(name) or "")), LONGEST_CATEGORY) for name in ("sentinel", "kind"))
    categories = "".join(f'<category term="{_text(term)}"/>\n' for term in terms if term)
    return (
        f"<entry>\n<id>{identity(record)}</id>\n<title>{_text(title)}</title>\n<updated>{_text(at)}</updated>\n"
        f'<published>{_text(at)}</published>\n{link}{categories}<content type="html">{_text(content)}</content>\n</entry>\n'
    )


def _page(record: Record) -> str:
    """Return the line on the page, for one that has a title."""
    return f"<p>{html.escape(page_line(record))}</p>\n" if record.get("title") else ""


def identity(record: Record) -> str:
    """Return the id of an entry: that of the change, or for a notice one derived from its subject;
    the same for the same record.
    """
    if record.get("id"):
        return f"urn:tidings:change:{_text(str(record['id']))}"
    about = "\0".join(str(record.get(name) or "") for name in ("event", "sentinel", "page", "detected_at", "summary"))
    return f"urn:tidings:notice:{hashlib.sha256(about.encode(errors='backslashreplace')).hexdigest()[:32]}"


def _text(text: str) -> str:
    """Return a text escaped for an element or a double-quoted attribute."""
    return html.escape(_FORBIDDEN.sub("\ufffd", text))
