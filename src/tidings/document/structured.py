"""The text of XML, as lines of words: what each element says, CDATA too, and what its attributes do, in the order of their names.

Of a feed only the texts. Text inside a feed that is HTML gives its own text. No DTD, no entity and no address is ever loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from lxml import etree

from tidings.document.walk import BREAK

_BUILT = frozenset({"lastBuildDate", "pubDate", "updated"})
_FEEDS = frozenset({"channel", "feed"})
_ENTRIES = {"item": frozenset({"channel", "RDF", "rss"}), "entry": frozenset({"feed"})}
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


def pieces_of_xml(
    root: Any, pieces_of_html: Callable[[str], list[str]], *, with_attributes: bool
) -> tuple[list[str], list[str], str]:
    """Return (pieces, links, title) of the root of an XML text.

    Links are what feeds call so: the text or `href` of `link`. The title is the first element of that name. When a feed itself was
    built is no text of it: that moves with every look, while the entries stay.
    """
    pieces: list[str] = []
    links: list[str] = []
    title = ""
    shown = Shown(pieces_of_html)
    for event, element in etree.iterwalk(root, events=("start", "end")):
        pieces.append(BREAK)
        if event == "end":
            pieces.extend(shown.pieces(element.tail))
            continue
        if says_when_built(element):
            continue
        name, content = local_name(element), element.text
        if name == "link":
            links.append(element.get("href") or (content or "").strip())
        elif name == "title" and not title:
            title = " ".join((content or "").split())
        if with_attributes:
            pieces.extend(attributes_of(element))
        pieces.extend(shown.pieces(content))
    return pieces, links, title


def attributes_of(element: Any) -> list[str]:
    """Return what the attributes of an element say, in the order of their names, as pieces; where its schema lies is nothing that it says."""
    pieces: list[str] = []
    for name in sorted(element.keys()):
        if not name.endswith("}schemaLocation"):
            pieces.extend((element.get(name), BREAK))
    return pieces


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace, empty for what is none."""
    return etree.QName(element).localname if element is not None and isinstance(element.tag, str) else ""


def says_when_built(element: Any) -> bool:
    """Return whether an element only says when its feed or an entry of it was written, or how many have answered: that moves while what they say stays."""
    above = element.getparent()
    within = local_name(above)
    if within in _FEEDS:
        return local_name(element) in _BUILT
    if within not in _ENTRIES or local_name(above.getparent()) not in _ENTRIES[within]:
        return False
    return element.tag in _MOVING or local_name(element) in _WRITTEN


class Shown:
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
