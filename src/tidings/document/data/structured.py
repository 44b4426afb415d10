"""The text of XML and of calendars.

Of XML lines of words: texts and CDATA of elements, and attribute values in the order of their
names. Of a feed only the texts. HTML inside a feed gives its own text. No DTD, entity or address
is ever loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from lxml import etree

from tidings.document.html.links import base_of
from tidings.document.html.walk import BREAK

_BUILT = frozenset({"lastBuildDate", "pubDate", "updated"})
_FEEDS = frozenset({"channel", "feed"})
_ENTRIES = {"item": frozenset({"channel", "RDF", "rss"}), "entry": frozenset({"feed"})}
_FEED_ROOTS = frozenset({"rss", "rdf", "feed"})
SITEMAPS: Final = frozenset({"urlset", "sitemapindex"})
"""Roots of sitemaps (sitemaps.org)."""

_LISTED = frozenset({"url", "sitemap"})
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_WRITTEN = frozenset({"pubDate", "updated"})
_MOVING = frozenset(
    {"{http://purl.org/rss/1.0/modules/slash/}comments", "{http://purl.org/syndication/thread/1.0}total"}
)
"""Elements of an entry on its dates or number of replies: alone they are no change."""

MOST_FRAGMENTS = 10_000
"""The most texts of a feed that are read as HTML; later ones are compared as written."""

PARSING: Final[Mapping[str, Any]] = {
    "encoding": "utf-8",
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}
"""The options of every XML parser: no DTD, entity or address is ever loaded."""

_TAGGED = re.compile(r"<[A-Za-z/!][^<>]*>")


def root_of(text: str) -> Any:
    """Return the root of an XML text, None if it is not well-formed or nested too deep for the
    parser.
    """
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), etree.XMLParser(**PARSING))
    except (etree.XMLSyntaxError, ValueError):
        return None


def pieces_of_xml(root: Any, pieces_of_html: Callable[[str], list[str]], *, with_attributes: bool) -> list[str]:
    """Return the pieces of the root of an XML text.

    The build date of a feed is left out: it changes at every poll while the entries stay.
    """
    pieces: list[str] = []
    shown = ShownTexts(pieces_of_html)
    for event, element in etree.iterwalk(root, events=("start", "end")):
        pieces.append(BREAK)
        if event == "end":
            pieces.extend(shown.pieces(element.tail))
            continue
        if is_build_date(element):
            continue
        if with_attributes:
            pieces.extend(attributes_of(element))
        pieces.extend(shown.pieces(element.text))
    return pieces


def links_of_xml(roots: Iterable[Any], base: str, out: Collection[Any] = ()) -> list[str]:
    """Return the links below some elements: `link` and `enclosure` of feeds, `loc` of sitemaps,
    none of other XML, without those in `out`.

    They are joined with `xml:base` (itself joined with `base`) if there is one; else they are as
    written.
    """
    links: list[str] = []
    for root in roots:
        top = root.getroottree().getroot()
        is_sitemap = local_name(top) in SITEMAPS
        names = ("loc",) if is_sitemap else ("link", "enclosure") if local_name(top).lower() in _FEED_ROOTS else ()
        for element in root.iter(*(f"{{*}}{name}" for name in names)) if names else ():
            if is_sitemap and local_name(element.getparent()) not in _LISTED:
                continue
            above = (element, *element.iterancestors()) if out else ()
            if not any(place in out for place in above) and (address := address_in(element, base)):
                links.append(address)
    return links


def address_in(element: Any, base: str) -> str:
    """Return the address in the `href`, the `url` or the text of an element, joined with the
    nearest `xml:base` if there is one.
    """
    address = (element.get("href") or element.get("url") or element.text or "").strip()
    bases = [declared for place in (element, *element.iterancestors()) if (declared := place.get(_XML_BASE))]
    if not address or not bases:
        return address
    for declared in reversed(bases):
        base = base_of(base, declared)
    return base_of(base, address)


def attributes_of(element: Any) -> list[str]:
    """Return the attribute values of an element as pieces, in the order of their names, without
    schema locations.
    """
    pieces: list[str] = []
    for name in sorted(element.keys()):
        if not name.endswith("}schemaLocation"):
            pieces.extend((element.get(name), BREAK))
    return pieces


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace, empty for anything else."""
    name = element.tag if element is not None else None
    return name.rpartition("}")[2] if isinstance(name, str) else ""


def namespace_of(element: Any) -> str:
    """Return the namespace of an element in lower case, without an optional trailing sign; empty if
    it has none.
    """
    name = element.tag
    return name[1:].partition("}")[0].rstrip("/#").lower() if isinstance(name, str) and name[:1] == "{" else ""


def is_build_date(element: Any) -> bool:
    """Return whether an element holds only dates or reply counts of its feed or entry, which change
    without its content.
    """
    above = element.getparent()
    within = local_name(above)
    if within in _FEEDS:
        return local_name(element) in _BUILT
    if within not in _ENTRIES or local_name(above.getparent()) not in _ENTRIES[within]:
        return False
    return element.tag in _MOVING or local_name(element) in _WRITTEN


class ShownTexts:
    """The displayed texts of an XML document: HTML ones are rendered, up to a number of them."""

    def __init__(self, pieces_of_html: Callable[[str], list[str]]) -> None:
        self.pieces_of_html = pieces_of_html
        self.left = MOST_FRAGMENTS

    def pieces(self, text: str | None) -> list[str]:
        """Return the pieces of a text."""
        if not text:
            return []
        if self.left and _TAGGED.search(text):
            self.left -= 1
            return self.pieces_of_html(text)
        return [text]


_FOLD = re.compile(r"\r?\n[ \t]")
_SILENT = frozenset({"DTSTAMP", "SEQUENCE", "LAST-MODIFIED", "CREATED"})
"""Properties on when and how often the calendar was written, not on events."""
_BEGIN = re.compile(r"\s*BEGIN:VCALENDAR\s", re.IGNORECASE)


def is_calendar(text: str) -> bool:
    """Return whether a text is a calendar."""
    return _BEGIN.match(text) is not None


def calendar_text(text: str) -> str:
    """Return a calendar with its events, to-dos and the like in the order of their UIDs, long lines
    unfolded, without `_SILENT`.

    Anything outside components stays in place, before them all.
    """
    outside: list[str] = []
    components: list[tuple[str, str, list[str]]] = []
    unfolded: list[str] = []
    depth = 0
    for line in _FOLD.sub("", text).splitlines():
        name = re.split("[:;]", line.strip(), maxsplit=1)[0].upper()
        if name in _SILENT or not line.strip():
            continue
        is_calendar_line = line.strip().upper().endswith(":VCALENDAR")
        depth += (name == "BEGIN") and not is_calendar_line
        (unfolded if depth else outside).append(line.strip())
        if name == "END" and depth:
            depth -= 1
            if not depth:
                components.append((_get_text(unfolded, "UID"), _get_text(unfolded, "RECURRENCE-ID"), unfolded))
                unfolded = []
    lines = (line for _, _, own in sorted(components) for line in own)
    return "\n".join((*outside, *lines, *unfolded))


def _get_text(lines: list[str], name: str) -> str:
    return next((line for line in lines if re.split("[:;]", line, maxsplit=1)[0].upper() == name), "")
