"""The walk: from lexbor's tree to the visible text, and the addresses in it.

Inline elements add nothing, so that `un<b>break</b>able` is one word; every other or unknown
element breaks the text before and after it (detection §1.2). The walk uses `first_child`, `next`
and its own stack: its depth is bounded by memory only, and end tags are where they are in the tree.
"""

from __future__ import annotations

from dataclasses import field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.document.html.frames import FrameElement
from tidings.document.html.images import image_of
from tidings.document.text.cents import POINT, has_cents
from tidings.record import dataclass

BREAK = "\n\n"
"""A word border. Two characters, since equal text nodes of one character may be the same object."""

IN_LINE = frozenset(
    """a abbr acronym b basefont bdi bdo big blink cite code data del dfn em font i img ins kbd label mark nobr q s samp
    small span strike strong sub sup time tspan tt u var wbr""".split()
)
"""The inline elements."""
WITHOUT_TEXT = frozenset("script style noscript template iframe noembed noframes title".split())
"""The elements whose text is invisible."""


_BEFORE = {"frame": "<frameset>"} | dict.fromkeys(("caption", "tr", "td", "th"), "<table>")
"""The required parents of elements that a parser drops elsewhere."""


def _tag_numbers(names: list[str]) -> dict[str, int]:
    """Return lexbor's number of each tag, by asking it: numbers differ from release to release."""
    found: dict[str, int] = {}
    for name in names:
        before = _BEFORE.get(name, "<!-- -->text")
        tree = LexborHTMLParser(f"{before}<{name}>".encode())
        root = tree.root
        if root is not None and root.parent is not None:
            found |= {node.tag: node.tag_id for node in root.parent.traverse(include_text=True) if node.tag is not None}
    return {name: found[name] for name in names}


MARKED = (
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "table",
    "tr",
    "th",
    "td",
    "caption",
    "dl",
    "dt",
    "dd",
    "li",
    "nav",
    "footer",
)
"""The elements whose places are recorded, so that a message can name the heading and the label of a
text.
"""
_NUMBER = _tag_numbers(
    [*IN_LINE, *WITHOUT_TEXT, *MARKED, "area", "base", "frame", "input", "picture", "sup", "svg", "-text", "-comment"]
)
_MARKS = {_NUMBER[name]: name for name in MARKED}
_INLINE = frozenset(_NUMBER[name] for name in IN_LINE)
_SKIPPED = frozenset(_NUMBER[name] for name in [*WITHOUT_TEXT, "-comment"])
_TEXT, _A, _IMG, _AREA = (_NUMBER[name] for name in ("-text", "a", "img", "area"))
_BASE, _INPUT, _SVG, _TITLE, _SCRIPT = (_NUMBER[name] for name in ("base", "input", "svg", "title", "script"))
_SUP, _PICTURE = (_NUMBER[name] for name in ("sup", "picture"))
_FRAME, _IFRAME = (_NUMBER[name] for name in ("frame", "iframe"))

_NOTED = frozenset({_AREA, _BASE, _FRAME, _INPUT})

_PLAIN, _BLOCK, _DRAWING, _LINK, _MARK = 0, 1, 2, 3, 4

Place = tuple[int, int]
"""The range of pieces of a link or an image; that of an image is empty."""

Mark = tuple[int, str]
"""The piece before which an element of `MARKED` begins (its name) or ends (empty)."""


@dataclass(slots=True)
class Walked:
    """The result of a walk. `pieces` are the visible text nodes in order, with `BREAK` between
    words that do not join.

    `links` and `images` are addresses as written, `link_places` and `image_places` the place of
    each, `base` the first `<base href>`, `scripts` the number of executable scripts, `frames` the
    frames and iframes in order, `marks` the starts and ends of headings, cells and labels.
    """

    pieces: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    link_places: list[Place] = field(default_factory=list)
    image_places: list[Place] = field(default_factory=list)
    title: str = ""
    base: str | None = None
    scripts: int = 0
    password: bool = False
    frames: list[FrameElement] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)


def walk(root: LexborNode) -> Walked:
    """Return the text and addresses below `root`.

    Scripts, styles, `noscript`, templates, frames' fallbacks, the title and comments are left out;
    hidden elements are included.
    """
    walked = Walked()
    pieces, links, link_places = walked.pieces, walked.links, walked.link_places
    put, marks = pieces.append, walked.marks
    open_elements: list[tuple[LexborNode, int]] = []
    open_links: list[int] = []
    drawings = 0
    node = root
    while True:
        number = node.tag_id
        if number == _TEXT:
            put(node.text_content or "")
        elif number in _SKIPPED:
            _note_skipped(node, number, walked, inside_drawing=drawings > 0)
        else:
            kind = _PLAIN
            if number not in _INLINE:
                put(BREAK)
                kind = _BLOCK
                if number in _MARKS:
                    marks.append((len(pieces), _MARKS[number]))
                    kind = _MARK
                elif number == _SVG:
                    kind = _DRAWING
                    drawings += 1
                elif number in _NOTED:
                    _note_block(node, number, walked)
            elif number == _A:
                if not drawings and (address := node.attrs.get("href")) is not None:
                    kind = _LINK
                    open_links.append(len(links))
                    links.append(address)
                    link_places.append((at := len(pieces), at))
            elif number == _IMG and (address := image_of(node, in_picture=_is_picture(open_elements))) is not None:
                walked.images.append(address)
                walked.image_places.append((at := len(pieces), at))
            elif number == _SUP and has_cents(node, pieces, BREAK, IN_LINE):
                put(POINT)
            child = node.first_child
            if child is not None:
                open_elements.append((node, kind))
                node = child
                continue
            if kind == _DRAWING:
                drawings -= 1
            elif kind == _LINK:
                open_links.pop()
            elif kind == _MARK:
                marks.append((len(pieces), ""))
        following = node.next
        while following is None:
            if not open_elements:
                return walked
            node, kind = open_elements.pop()
            if kind == _LINK:
                link = open_links.pop()
                link_places[link] = (link_places[link][0], len(pieces))
            elif kind:
                put(BREAK)
                if kind == _MARK:
                    marks.append((len(pieces), ""))
                elif kind == _DRAWING:
                    drawings -= 1
            following = node.next
        node = following


DATA_BLOCKS = frozenset({"application/ld+json", "application/json", "importmap", "speculationrules"})
"""Types of `script` that hold data: browsers do not run them."""


def _is_picture(open_elements: list[tuple[LexborNode, int]]) -> bool:
    return bool(open_elements) and open_elements[-1][0].tag_id == _PICTURE


def _note_skipped(node: LexborNode, number: int, walked: Walked, *, inside_drawing: bool) -> None:
    if number == _SCRIPT:
        walked.scripts += (node.attrs.get("type") or "").strip().lower() not in DATA_BLOCKS
    elif number == _IFRAME:
        attributes = node.attrs
        address, waiting = (attributes.get(name) or "" for name in ("src", "data-src"))
        if not address.strip() or address.strip().lower() == "about:blank":
            address = waiting  # a script fills it in when the place is scrolled into view
        walked.frames.append(
            FrameElement(address, is_inline=True, source=attributes.get("srcdoc"), place=len(walked.pieces))
        )
    elif number == _TITLE and not walked.title and not inside_drawing:
        walked.title = " ".join(node.text().split())


def _note_block(node: LexborNode, number: int, walked: Walked) -> None:
    attributes = node.attrs
    if number == _INPUT:
        walked.password = walked.password or (attributes.get("type") or "").strip().lower() == "password"
        return
    if number == _FRAME:
        walked.frames.append(FrameElement(attributes.get("src") or "", is_inline=False))
        return
    address = attributes.get("href")
    if address is None:
        return
    if number == _AREA:
        walked.links.append(address)
        walked.link_places.append((len(walked.pieces), len(walked.pieces)))
    elif walked.base is None:
        walked.base = address
