"""A page of which a part is pointed at: shown safely, each of its texts a link that names it, and
the parts around a text with what selects them alone.

The links are ours and the only ones (those of the page are texts, decision 0055): they are set
after both readers, in place of an element that the page itself cannot bring. So a part is chosen
in a frame without an origin, with a script or without.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tidings.document.select.trees import HtmlTree
from tidings.presentation.safe.frame import page
from tidings.presentation.safe.markup import escape, write_page
from tidings.presentation.writing import cut_text, one_line
from tidings.record import dataclass

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from tidings.document.document import Document

SANDBOX: Final = "allow-top-navigation-by-user-activation"
"""What the frame may do: its links, when somebody clicks one, lead the whole window on."""
PARTS: Final = 7
"""Parts around a text that are offered, the smallest first."""
LONGEST: Final = 160
MOST_NAMES: Final = 12
"""Classes of an element that are tried."""
_OURS: Final = re.compile(r'<ins id="tidings-pick-(\d+)">')
_PLAIN: Final = re.compile(r"-?[A-Za-z_][\w-]*", re.ASCII)
_GENERATED: Final = re.compile(r"\d{3}|[0-9a-f]{6}|--|__[A-Za-z0-9]{5}")
"""Names that the next version of a page will not have."""
_SHEET: Final = (
    "a.tidings-pick{color:inherit;text-decoration:none}"
    "a.tidings-pick:hover,a.tidings-pick:focus{outline:2px solid #0a666c;background:#e6f1f0;color:#1a1f21}"
)


@dataclass(frozen=True, slots=True)
class PickedPart:
    """A part of a page: the CSS selector that finds it alone, and how its text begins."""

    selector: str
    text: str


def page_to_pick(document: Document, link: str) -> str:
    """Return a page of which each text links to `link`, with its number behind; empty for what is
    no page that was parsed with its tree.

    Args:
        document: The page, parsed with `keep_tree`.
        link: An address of this service, to the end of which a number is put.
    """
    if document.problem or not isinstance(document.tree, HtmlTree):
        return ""

    def name(piece: int, text: str, node: LexborNode) -> str:
        del node
        return f'<ins id="tidings-pick-{piece}">{escape(text)}</ins>' if text.strip() else escape(text)

    made = write_page(document.tree.root, document, {}, at=name)
    address = escape(link)
    made.body = _OURS.sub(
        lambda found: f'<a class="tidings-pick" target="_top" href="{address}{found[1]}">', made.body
    ).replace("</ins>", "</a>")
    made.css += _SHEET
    return page(made)


def parts_at(document: Document, number: int) -> list[PickedPart]:
    """Return the parts around the text with a number, each with a selector of its own, the smallest
    first; none for a number that there is not.
    """
    if document.problem or not isinstance(document.tree, HtmlTree):
        return []
    found: list[LexborNode] = []

    def note(piece: int, text: str, node: LexborNode) -> str:
        if piece == number and text.strip():
            found.append(node)
        return ""

    write_page(document.tree.root, document, {}, at=note)
    if not found:
        return []
    tree = _Selectors(found[0])
    seen: dict[str, PickedPart] = {}
    for node in _around(found[0]):
        text = cut_text(one_line(node.text(deep=True)), LONGEST)
        selector = tree.selector_of(node)
        if selector and text not in seen:
            seen[text] = PickedPart(selector, text)
    return [*seen.values()][:PARTS]


def _around(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the elements around a node, up to the body."""
    at = node.parent
    while at is not None and at.tag not in {None, "body", "html", "-undef"}:
        yield at
        at = at.parent


class _Selectors:
    """Says what selects an element alone of the tree that a node stands in."""

    def __init__(self, node: LexborNode) -> None:
        self._root = node.parser

    def selector_of(self, node: LexborNode) -> str:
        """Return the shortest selector of an element that is found: its id, a class of it, or its
        place below the next element around it that has one; "" where that fails.
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
    """Yield what might name an element: its id, its classes, its kind."""
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
    """Return which one an element is of its kind among its brothers, from 1."""
    place, before = 1, node.prev
    while before is not None:
        place += before.tag == node.tag
        before = before.prev
    return place
