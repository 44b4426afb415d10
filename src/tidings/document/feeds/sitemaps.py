"""Sitemaps: which pages of a site changed when, as the site says (sitemaps.org).

The question, its answer, and the job that reads it where content is parsed (contracts §7), within
bounds. Only the requested addresses are returned. No DTD, entity or address is ever loaded; a
packed file is unpacked up to the 50 MB that the format allows.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Final

from tidings.document.text.packed import unpack
from tidings.record import dataclass

MOST_BYTES: Final = 50_000_000
MOST_URLS: Final = 50_000
MOST_CHILDREN: Final = 1_000
_LONGEST: Final = 2_048


def read(question: SitemapQuestion) -> Sitemap:
    """Return the answer of a sitemap."""
    from lxml import etree  # only where content is parsed

    pages: dict[str, str] = {}
    children: dict[str, str] = {}
    try:
        for number, (kind, loc, lastmod) in enumerate(list_entries(unpack(question.body, most=MOST_BYTES))):
            if number >= MOST_URLS:
                return Sitemap(pages, children, f"it has more than {MOST_URLS:,} entries")
            if kind == "sitemap" and len(children) < MOST_CHILDREN:
                children[loc] = lastmod
            elif kind == "url" and loc in question.wanted:
                pages[loc] = lastmod
    except (etree.XMLSyntaxError, ValueError) as error:
        return Sitemap(pages, children, f"it cannot be read: {str(error)[:200]}")
    return Sitemap(pages, children)


def list_entries(body: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield (url or sitemap, address, date of change), freeing each element once it is read."""
    from lxml import etree

    from tidings.document.data.structured import PARSING

    options = {**PARSING, "encoding": None}  # the file names its own
    for _, element in etree.iterparse(io.BytesIO(body), events=("end",), tag=("{*}url", "{*}sitemap"), **options):
        values = {
            etree.QName(child).localname: (child.text or "").strip()
            for child in element.iterchildren(tag=etree.Element)
        }
        loc = values.get("loc", "")
        if 0 < len(loc) <= _LONGEST:
            yield etree.QName(element).localname, loc, values.get("lastmod", "")[:40]
        element.clear(keep_tail=False)
        while element.getprevious() is not None:
            del element.getparent()[0]


@dataclass(frozen=True, slots=True)
class SitemapQuestion:
    """The body of a sitemap, and the addresses to find, in the forms likely to occur in it."""

    body: bytes
    wanted: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The dates of change of the listed requested pages, and the sitemaps of an index; as written,
    empty if it has none.

    `problem` says why it could not be read to its end; earlier answers hold.
    """

    pages: Mapping[str, str]
    children: Mapping[str, str]
    problem: str = ""
