"""The text of XML, as lines of words: what each element says, CDATA too, and what its attributes do, in the order of their names.

Of a feed only the texts. Text inside a feed that is HTML gives its own text. No DTD, no entity and no address is ever loaded.
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
"""Elements of an entry that say when it was published or changed, or how many have answered it: no news of the entry alone."""

MOST_FRAGMENTS = 10_000
"""Most texts of a feed that are read as HTML; what comes after them is compared as it is written."""

PARSING: Final[Mapping[str, Any]] = {
    "encoding": "utf-8",
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}
"""How XML is parsed, always: no DTD, no entity and no address is ever loaded."""

_TAGGED = re.compile(r"<[A-Za-z/!][^<>]*>")


def root_of(text: str) -> Any:
    """Return the root of an XML text, None if it is not well-formed or nested too deep for the parser."""
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), etree.XMLParser(**PARSING))
    except (etree.XMLSyntaxError, ValueError):
        return None


def pieces_of_xml(root: Any, pieces_of_html: Callable[[str], list[str]], *, with_attributes: bool) -> list[str]:
    """Return the pieces of the root of an XML text.

    When a feed itself was built is no text of it: that moves with every look, while the entries stay.
    """
    pieces: list[str] = []
    shown = ShownTexts(pieces_of_html)
    for event, element in etree.iterwalk(root, events=("start", "end")):
        pieces.append(BREAK)
        if event == "end":
            pieces.extend(shown.pieces(element.tail))
            continue
        if says_when_built(element):
            continue
        if with_attributes:
            pieces.extend(attributes_of(element))
        pieces.extend(shown.pieces(element.text))
    return pieces


def links_of_xml(roots: Iterable[Any], base: str, out: Collection[Any] = ()) -> list[str]:
    """Return the links below some elements: `link` and `enclosure` of feeds, `loc` of sitemaps, none of other XML; what stands in `out` is left out.

    Where `xml:base` says so they are joined with it, and it with `base`; else they are as written.
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
    """Return the address that the `href`, the `url` or the text of an element is, joined with the `xml:base` of those around it if one has any."""
    address = (element.get("href") or element.get("url") or element.text or "").strip()
    bases = [said for place in (element, *element.iterancestors()) if (said := place.get(_XML_BASE))]
    if not address or not bases:
        return address
    for said in reversed(bases):
        base = base_of(base, said)
    return base_of(base, address)


def attributes_of(element: Any) -> list[str]:
    """Return what the attributes of an element say, in the order of their names, as pieces; where its schema lies is nothing that it says."""
    pieces: list[str] = []
    for name in sorted(element.keys()):
        if not name.endswith("}schemaLocation"):
            pieces.extend((element.get(name), BREAK))
    return pieces


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace, empty for what is none."""
    name = element.tag if element is not None else None
    return name.rpartition("}")[2] if isinstance(name, str) else ""


def namespace_of(element: Any) -> str:
    """Return the namespace of an element in lower case, without the sign at its end that some leave out; empty if it has none."""
    name = element.tag
    return name[1:].partition("}")[0].rstrip("/#").lower() if isinstance(name, str) and name[:1] == "{" else ""


def says_when_built(element: Any) -> bool:
    """Return whether an element only says when its feed or an entry of it was written, or how many have answered: that moves while what they say stays."""
    above = element.getparent()
    within = local_name(above)
    if within in _FEEDS:
        return local_name(element) in _BUILT
    if within not in _ENTRIES or local_name(above.getparent()) not in _ENTRIES[within]:
        return False
    return element.tag in _MOVING or local_name(element) in _WRITTEN


class ShownTexts:
    """What texts of an XML document show: those that are HTML their own text, up to a number of them."""

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
