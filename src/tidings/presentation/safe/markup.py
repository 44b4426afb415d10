"""A parsed page rewritten: rendering elements, their harmless attributes, and escaped texts.

Other elements become `span` or `div`, so that their text stays; invisible text is dropped. Links
become text that shows the address; images within the page stay, others become their
words in a box. The walk is
that of `document/html/walk`, so that each text is found by the number of its piece. The result goes
through nh3, which parses it independently with the same lists (decision 0055).
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Final

import nh3
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.document.document import Document
from tidings.document.html.images import image_of
from tidings.document.html.walk import BREAK, IN_LINE, WITHOUT_TEXT
from tidings.document.select.trees import HtmlTree
from tidings.document.text.cents import POINT, has_cents
from tidings.presentation.writing import cut_text, one_line, tame
from tidings.record import dataclass

MOST_CSS: Final = 200_000
"""The most characters of all styles of a page that are read; the rest is dropped."""
MOST_DEEP: Final = 6
"""The deepest nesting of rules that is read."""
_GROUPS: Final = frozenset(("media", "supports", "layer", "container"))
"""The group rules that are kept; `@import`, `@font-face`, `@namespace` and all others are
dropped.
"""
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_STOP: Final = re.compile(r"""[{};"'()]""")
_HARM: Final = re.compile(
    r"[\\<>@]|url|image|src\s*\(|element\s*\(|paint\s*\(|expression|behaviou?r|binding|script|data\s*:|vbscript|attr\s*\(|progid",
    re.IGNORECASE,
)
"""Anything that fetches, runs or escapes, anywhere in a declaration; `\\` could spell any of it."""
_POSITION: Final = re.compile(r"^\s*position\s*:\s*(?:fixed|sticky)", re.IGNORECASE)
_DECLARATION: Final = re.compile(r"^\s*-{0,2}[a-z][a-z0-9-]*\s*:[^\x00-\x08\x0e-\x1f\x7f]*$", re.IGNORECASE)
_SELECTOR: Final = re.compile(r"""^[\w\s.#:,>+~*()\[\]="'^$|%-]+$""")
_OURS: Final = re.compile(r"tidings|\bins\b|\bdel\b", re.IGNORECASE)
"""Names of our marks, which pages may not style."""
_PRELUDE: Final = re.compile(r"""^[\w\s:,()./<>=%-]*$""")


def safe_style(text: str) -> str:
    """Return the harmless declarations of a `style` attribute; perhaps none."""
    return ";".join(_declarations(_COMMENT.sub(" ", text[:MOST_CSS])))


def safe_sheet(text: str) -> str:
    """Return the harmless rules of a style sheet. Nothing in it can end its element."""
    rules = "".join(_rules(_COMMENT.sub(" ", text[:MOST_CSS]), MOST_DEEP))
    return "" if "</" in rules or "<!" in rules else rules


def _rules(text: str, deep: int) -> Iterator[str]:
    at = 0
    while at < len(text):
        head, stop, at = _until(text, at, "{;}")
        if stop != "{":
            continue  # an @import, a stray end
        body, _, at = _until(text, at, "}")
        yield from _rule(head.strip(), body, deep)


def _rule(head: str, body: str, deep: int) -> Iterator[str]:
    if head.startswith("@"):
        name = head[1:].split(None, 1)[0].split("(", maxsplit=1)[0].lower() if len(head) > 1 else ""
        prelude = head[1 + len(name) :]
        is_kept = name in _GROUPS and deep and _PRELUDE.match(prelude) and "<" not in prelude
        inside = "".join(_rules(body, deep - 1)) if is_kept else ""
        if inside:
            yield f"@{name}{prelude}{{{inside}}}"
        return
    if not head or not _SELECTOR.match(head) or _OURS.search(head) or "{" in body:
        return
    declarations = ";".join(_declarations(body))
    if declarations:
        yield f"{head}{{{declarations}}}"


def _declarations(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        one, _, at = _until(text, at, ";")
        if (
            _DECLARATION.match(one)
            and not _HARM.search(one)
            and not _POSITION.match(one)
            and "{" not in one
            and "}" not in one
        ):
            yield one.strip()


def _until(text: str, at: int, stops: str) -> tuple[str, str, int]:
    """Return the text up to one of `stops` outside strings, brackets and blocks, the stop (empty:
    the end), and the next position.
    """
    start, round_open, curly_open = at, 0, 0
    while (found := _STOP.search(text, at)) is not None:
        sign, at = found[0], found.end()
        if sign in "\"'":
            end = text.find(sign, at)
            line = text.find("\n", at, end if end >= 0 else len(text))
            if end < 0 and line < 0:
                break
            at = (line if line >= 0 else end) + 1  # a string ends at its line at the latest
        elif sign == "(":
            round_open += 1
        elif sign == ")":
            round_open = max(0, round_open - 1)
        elif round_open:
            continue
        elif sign in stops and not curly_open:
            return text[start : found.start()], sign, at
        elif sign == "{":
            curly_open += 1
        elif sign == "}":
            curly_open = max(0, curly_open - 1)
    return text[start:], "", len(text)


HARMLESS_ATTRIBUTES: Final = frozenset(
    """abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd details dfn dir div dl dt em
    figcaption figure footer font h1 h2 h3 h4 h5 h6 header hgroup hr i img kbd li main mark menu nav ol p pre q rp rt ruby s samp section
    small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr""".split()
)
"""The elements that keep their names."""
_VOID: Final = frozenset(("br", "col", "hr", "img", "wbr"))
_ANYWHERE: Final = frozenset(
    ("align", "bgcolor", "class", "color", "dir", "height", "hidden", "id", "lang", "style", "title", "valign", "width")
)
_ATTRIBUTES: Final[dict[str, frozenset[str]]] = {
    "col": frozenset(("span",)),
    "colgroup": frozenset(("span",)),
    "details": frozenset(("open",)),
    "font": frozenset(("face", "size")),
    "img": frozenset(("alt", "src")),
    "li": frozenset(("value",)),
    "ol": frozenset(("reversed", "start", "type")),
    "table": frozenset(("border", "cellpadding", "cellspacing")),
    "td": frozenset(("colspan", "nowrap", "rowspan")),
    "th": frozenset(("colspan", "nowrap", "rowspan", "scope")),
    "ul": frozenset(("type",)),
}
LONGEST_ATTRIBUTE: Final = 2_000
LONGEST_ADDRESS: Final = 300
"""The longest displayed address, in characters."""
MOST_OPEN: Final = 200
"""The deepest nesting of elements; deeper ones leave only their text, since parsers give up at
different depths.
"""
_MARKS: Final = frozenset(("ins", "del"))
_STAND_INS: Final = dict.fromkeys(("textarea", "listing", "xmp", "plaintext"), "pre") | {"ins": "u", "del": "s"}
"""Replacements of elements that render alike: `ins` and `del` are reserved for our marks."""
_FOREIGN: Final = frozenset(("svg", "math"))
_PICTURE: Final = re.compile(r"data:image/(?:png|gif|jpeg|webp);base64,[A-Za-z0-9+/=\s]*")
LONGEST_PICTURE: Final = 100_000
"""The longest inline picture, in characters."""
_NAME: Final = re.compile(r"[\w:.\-]+(?: +[\w:.\-]+)*")
_ID: Final = re.compile(r"[\w:.\-]+")

Mark = Callable[[int, str], str]
"""Formats a text node, given the number of its piece and its text."""
MarkAt = Callable[[int, str, LexborNode], str]
"""Formats a text node, given the node too."""


@dataclass(slots=True)
class Written:
    """A rewritten page: `body` is its content, `css` its own styles, `attributes` the kept ones of
    `html` and `body`.
    """

    body: str = ""
    css: str = ""
    title: str = ""
    attributes: dict[str, str] = field(default_factory=dict)


def write_page(
    tree: LexborHTMLParser | LexborNode | None,
    document: Document,
    mark: Mark | None = None,
    at: MarkAt | None = None,
) -> Written:
    """Return a rewritten page, through nh3.

    Args:
        tree: The root of the parse tree; None for none.
        document: The document, for its base address and its pieces.
        mark: Formats the texts; None for unchanged.
        at: Formats the texts from their nodes, in place of `mark`.
    """
    root = tree.root if isinstance(tree, LexborHTMLParser) else tree
    writer = _Writer(document, mark, at)
    if root is not None:
        writer.write(root)
    return Written(clean("".join(writer.out)), "".join(writer.css), document.title, writer.attributes)


def clean(markup: str) -> str:
    """Return the allowed part of a markup fragment, as nh3 parses it."""
    return _CLEANER.clean(markup)


class _Writer:
    """Writes while walking like `walk`; `piece` counts the pieces of `walk`."""

    def __init__(self, document: Document, mark: Mark | None, at: MarkAt | None = None) -> None:
        self.document, self.mark, self.at = document, mark, at
        self.out: list[str] = []
        self.css: list[str] = []
        self.attributes: dict[str, str] = {}
        self.piece = 0
        self.foreign = 0
        self.left_of_css = MOST_CSS

    def write(self, root: LexborNode) -> None:
        """Write everything below a root."""
        open_elements: list[tuple[LexborNode, str, bool]] = []
        node: LexborNode | None = root
        while node is not None:
            child = None
            if node.is_text_node:
                self._text(node)
            elif node.is_element_node:
                child = self._open(node, open_elements)
            if child is not None:
                node = child
                continue
            following = node.next
            while following is None:
                if not open_elements:
                    return
                node, end, is_block = open_elements.pop()
                self.out.append(end)
                self.piece += is_block
                self.foreign -= self.foreign > 0 and node.tag in _FOREIGN
                following = node.next
            node = following

    def _text(self, node: LexborNode) -> None:
        text = node.text_content or ""
        if self.at is not None:
            self.out.append(self.at(self.piece, text, node))
            self.piece += 1
            return
        self.out.append(self.mark(self.piece, text) if self.mark is not None else escape(text))
        self.piece += 1

    def _open(self, node: LexborNode, open_elements: list[tuple[LexborNode, str, bool]]) -> LexborNode | None:
        """Write the start of an element; return its first child if it has any to walk."""
        tag = node.tag or ""
        if tag in WITHOUT_TEXT:
            if tag == "style" and not self.foreign:
                self._style(node)
            return None
        is_block = tag not in IN_LINE
        if is_block or (tag == "sup" and self._is_cents(node)):
            self.piece += 1
        begin, end = self._element(node, tag, is_block, len(open_elements))
        self.out.append(begin)
        child = node.first_child
        if child is not None:
            open_elements.append((node, end, is_block))
            self.foreign += tag in _FOREIGN
        else:
            self.out.append(end)
        return child

    def _is_cents(self, node: LexborNode) -> bool:
        pieces = self.document.pieces
        if self.piece >= len(pieces) or pieces[self.piece] != POINT:
            return False
        return has_cents(node, pieces[max(0, self.piece - _NEAR) : self.piece], BREAK, IN_LINE)

    def _element(self, node: LexborNode, tag: str, is_block: bool, deep: int) -> tuple[str, str]:
        """Return the start and end of an element."""
        if tag in {"html", "body"}:
            self.attributes |= {
                name: text for name, text in _keep_harmless("div", node.attributes).items() if name != "height"
            }
            return "", ""
        if tag == "head" or self.foreign or deep > MOST_OPEN:
            return ("\n", "\n") if is_block else ("", "")
        if tag == "img":
            return self._image(node), ""
        attributes = node.attributes
        name = tag if tag in HARMLESS_ATTRIBUTES else _STAND_INS.get(tag) or ("div" if is_block else "span")
        harmless = _keep_harmless(name, attributes)
        if tag in {"a", "area"} and (address := attributes.get("href")) is not None:
            harmless["class"] = "tidings-link"
            harmless["title"] = cut_text(tame(" ".join(address.split())), LONGEST_ADDRESS)
        return f"<{name}{_write_attributes(harmless)}>", "" if name in _VOID else f"</{name}>"

    def _image(self, node: LexborNode) -> str:
        harmless = _keep_harmless("img", node.attributes)
        address = image_of(node) or ""
        if _PICTURE.fullmatch(address) and len(address) <= LONGEST_PICTURE:
            harmless["src"] = address
        else:
            harmless["class"] = "tidings-image"
            harmless = {name: text for name, text in harmless.items() if name in {"class", "alt", "title"}}
        harmless.setdefault("alt", "")
        return f"<img{_write_attributes(harmless)}>"

    def _style(self, node: LexborNode) -> None:
        text = node.text(deep=True)[: self.left_of_css]
        self.left_of_css -= len(text)
        self.css.append(safe_sheet(text))


_NEAR: Final = 60
"""Pieces before a `sup` that are tested for cents."""


def _keep_harmless(name: str, attributes: Mapping[str, str | None]) -> dict[str, str]:
    """Return the harmless attributes of an element."""
    allowed = _ATTRIBUTES.get(name, frozenset())
    harmless: dict[str, str] = {}
    for key, value in attributes.items():
        text = value or ""
        if (key not in _ANYWHERE and key not in allowed) or len(text) > LONGEST_ATTRIBUTE:
            continue
        if key == "style":
            text = safe_style(text)
            if not text:
                continue
        elif (key == "class" and not _NAME.fullmatch(text.strip())) or (key == "id" and not _ID.fullmatch(text)):
            continue
        harmless[key] = text
    if "class" in harmless and "tidings" in harmless["class"].lower():
        del harmless["class"]
    return harmless


def _write_attributes(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{escape(text)}"' for name, text in attributes.items())


def escape(text: str) -> str:
    """Return a page text escaped for an element or an attribute, without characters that parsers
    drop.
    """
    return html.escape(text.replace("\0", ""))


_CLEANER: Final = nh3.Cleaner(
    tags=set(HARMLESS_ATTRIBUTES | _MARKS),
    clean_content_tags={"script", "style", "template", "noscript", "iframe", "object", "embed", "title", "svg", "math"},
    attributes={"*": set(_ANYWHERE), "ins": {"id"}, "del": {"id"}}
    | {tag: set(names) for tag, names in _ATTRIBUTES.items()},
    url_schemes={"data"},
    url_relative="deny",
    link_rel=None,
    strip_comments=True,
)
"""The second sanitiser: another parser, the same lists."""


POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"
"""The document's policy: inline styles, and embedded pictures."""

HEADERS: Final[dict[str, str]] = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": f"{POLICY}; frame-ancestors 'self'; sandbox",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, no-store",
}
"""The headers of the answer with a page; without cookies."""

SHEET: Final = """
img{max-width:100%}img.tidings-image{display:inline-block;border:1px dashed #85888a;padding:.1em .4em;min-width:1em;min-height:1em;font-size:.85em}
.tidings-link{text-decoration:underline dotted;cursor:help}
ins.tidings.tidings,del.tidings.tidings{all:unset;display:inline!important;visibility:visible!important;opacity:1!important;border-radius:2px!important;
padding:0 .15em!important;position:static!important;font-weight:600!important}
ins.tidings.tidings{color:#0f5a35!important;background:#dcf1e2!important;text-decoration:underline!important}
del.tidings.tidings{color:#8f2219!important;background:#fae3df!important;text-decoration:line-through!important}
.tidings-moved.tidings-moved.tidings-moved{color:#0a666c!important;background:#e6f1f0!important;outline:1px dotted!important}
"""
"""Our marks, overriding the page's styles: underlined and struck, so that no colour is needed."""


def rewrite(document: Document, mark: Mark | None = None) -> Written | None:
    """Return the rewritten content of a page that was parsed with its tree; None for any other
    document. `mark` formats its texts.
    """
    if document.problem or not isinstance(document.tree, HtmlTree) or not document.extraction.is_whole:
        return None
    return write_page(document.tree.root, document, mark)


def page(made: Written) -> str:
    """Return a whole document around rewritten content."""
    attributes = {name: text for name, text in made.attributes.items() if name in {"lang", "dir"}}
    body = {
        name: text for name, text in made.attributes.items() if name in {"class", "id", "style", "bgcolor", "align"}
    }
    return (
        f'<!doctype html>\n<html{_write_attributes(attributes)}><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        f'<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(cut_text(one_line(made.title), 200))}</title><style>{made.css}</style><style>{SHEET}</style></head>\n"
        f"<body{_write_attributes(body)}>{made.body}</body></html>\n"
    )


def frame(address: str, title: str) -> str:
    """Return the frame for a page served at `address`, with a `title`."""
    return (
        f'<iframe class="copy" sandbox="" src="{escape(address)}" title="{escape(cut_text(one_line(title), 200))}" '
        'referrerpolicy="no-referrer" loading="lazy" width="100%" height="800"></iframe>'
    )
