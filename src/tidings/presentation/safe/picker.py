"""A page for picking a part: shown safely, each of its texts a link that names it, and the parts
around a text with their selectors.

The links are ours and the only ones (those of the page become text, decision 0055): they are added
after both sanitisers, in place of an element that the page itself cannot contain. So a part is
picked in a frame without an origin, with or without scripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tidings.document.select.trees import HtmlTree
from tidings.document.select.within import text_below
from tidings.presentation.safe.markup import escape, page, write_page
from tidings.presentation.writing import cut_text, one_line
from tidings.record import dataclass

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from tidings.document.document import Document

SANDBOX: Final = "allow-top-navigation-by-user-activation"
"""The frame's permission: its links, when clicked, navigate the whole window."""
PARTS: Final = 7
"""The number of parts offered around a text, the smallest first."""
LONGEST: Final = 160
MOST_NAMES: Final = 12
"""The most classes of an element that are tried."""
_OURS: Final = re.compile(r'<ins id="tidings-pick-(\d+)">')
_PLAIN: Final = re.compile(r"-?[A-Za-z_][\w-]*", re.ASCII)
_GENERATED: Final = re.compile(r"\d{3}|[0-9a-f]{6}|--|__[A-Za-z0-9]{5}")
"""Generated names, which the next version of a page will not have."""
_SHEET: Final = (
    "a.tidings-pick{color:inherit;text-decoration:none}"
    "a.tidings-pick:hover,a.tidings-pick:focus{outline:2px solid #0a666c;background:#e6f1f0;color:#1a1f21}"
)


@dataclass(frozen=True, slots=True)
class PickedPart:
    """A part of a page: the CSS selector that matches only it, and the beginning of its text."""

    selector: str
    text: str


def page_to_pick(document: Document, link: str) -> str:
    """Return a page on which each text links to `link` plus its number; empty if it was not parsed
    as a page with its tree.

    Args:
        document: The page, parsed with `keep_tree`.
        link: An address of this service, to which a number is appended.
    """
    if document.problem or not isinstance(document.tree, HtmlTree):
        return ""

    def name(piece: int, text: str, node: LexborNode) -> str:
        del node
        return f'<ins id="tidings-pick-{piece}">{escape(text)}</ins>' if text.strip() else escape(text)

    made = write_page(document.tree.root, document, at=name)
    address = escape(link)
    made.body = _OURS.sub(
        lambda found: f'<a class="tidings-pick" target="_top" href="{address}{found[1]}">', made.body
    ).replace("</ins>", "</a>")
    made.css += _SHEET
    return page(made)


def parts_at(document: Document, number: int) -> list[PickedPart]:
    """Return the parts around the text with a number, each with a selector, the smallest first;
    empty for an unknown number.
    """
    if document.problem or not isinstance(document.tree, HtmlTree):
        return []
    found: list[LexborNode] = []

    def note(piece: int, text: str, node: LexborNode) -> str:
        if piece == number and text.strip():
            found.append(node)
        return ""

    write_page(document.tree.root, document, at=note)
    if not found:
        return []
    tree = _Selectors(found[0])
    seen: dict[str, PickedPart] = {}
    for node in _around(found[0]):
        text = cut_text(one_line(text_below(node)), LONGEST)
        selector = tree.selector_of(node)
        if selector and text not in seen:
            seen[text] = PickedPart(selector, text)
    return [*seen.values()][:PARTS]


def _around(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the ancestors of a node, up to the body."""
    at = node.parent
    while at is not None and at.tag not in {None, "body", "html", "-undef"}:
        yield at
        at = at.parent


class _Selectors:
    """Finds selectors that match a single element of a tree."""

    def __init__(self, node: LexborNode) -> None:
        self._root = node.parser

    def selector_of(self, node: LexborNode) -> str:
        """Return the shortest selector found for an element: its id, a class, or its position below
        the nearest ancestor that has one; "" if there is none.
        """
        steps: list[str] = []
        at: LexborNode | None = node
        while at is not None and at.tag not in {None, "body", "html", "-undef"}:
            for name in _names(at):
                whole = " > ".join([name, *steps])
                if self._is_alone(whole, node):
                    return whole
            steps.insert(0, f"{at.tag}:nth-of-type({_place(at)})")
            at = at.parent
        whole = " > ".join(["body", *steps])
        return whole if self._is_alone(whole, node) else ""

    def _is_alone(self, selector: str, node: LexborNode) -> bool:
        try:
            found = self._root.css(selector)
        except (ValueError, RuntimeError):
            return False
        return len(found) == 1 and found[0].mem_id == node.mem_id


def _names(node: LexborNode) -> Iterator[str]:
    """Yield possible names of an element: its id, its classes, its tag."""
    attributes = node.attributes
    id_ = attributes.get("id") or ""
    if _is_lasting(id_):
        yield f"#{id_}"
    for name in (attributes.get("class") or "").split()[:MOST_NAMES]:
        if _is_lasting(name):
            yield f".{name}"
            yield f"{node.tag}.{name}"
    if node.tag in {"main", "article", "table", "h1"}:
        yield node.tag


def _is_lasting(name: str) -> bool:
    return _PLAIN.fullmatch(name) is not None and _GENERATED.search(name) is None


def _place(node: LexborNode) -> int:
    """Return the position of an element among siblings of its tag, from 1."""
    place, before = 1, node.prev
    while before is not None:
        place += before.tag == node.tag
        before = before.prev
    return place
