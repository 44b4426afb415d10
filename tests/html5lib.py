"""The tree-construction cases of html5lib (`conformance`): a page, and its tree by the HTML
standard.

`expected` reads the tree of a case and says which words and links our rules take from it, by a plain recursion that shares nothing with the
parser and the walk that are tested.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests import data_sets
from tidings.document.html.walk import BREAK, IN_LINE, WITHOUT_TEXT
from tidings.document.parse import parse
from tidings.document.text.words import tokens_of

ARCHIVE = "conformance/html5lib.tar.zst"

_SECTION = re.compile(r"^#(data|errors|new-errors|document-fragment|script-off|script-on|document)$", re.MULTILINE)
_LINE = re.compile(r"\| ( *)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Case:
    """A page, and its tree as html5lib writes it. `is_fragment`: it is parsed inside of an element; `scripting`: None if it means nothing."""

    file: str
    data: str
    tree: str
    is_fragment: bool = False
    scripting: bool | None = None


@dataclass(slots=True)
class Node:
    """An element, a text or a comment of an expected tree."""

    name: str
    text: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)


def cases() -> Iterator[Case]:
    """Yield all cases of all files."""
    for name, content in data_sets.files_of(ARCHIVE):
        if "tree-construction/" in name and name.endswith(".dat"):
            for block in re.split(r"(?m)^(?=#data$)", content.decode("utf-8", "surrogatepass"))[1:]:
                yield _case(name.rpartition("/")[2], block)


def _case(file: str, block: str) -> Case:
    parts = _SECTION.split(block)[1:]
    sections = dict(zip(parts[::2], (part.removeprefix("\n") for part in parts[1::2]), strict=True))
    return Case(
        file,
        sections["data"].removesuffix("\n"),
        sections["document"].rstrip("\n"),
        is_fragment="document-fragment" in sections,
        scripting=False if "script-off" in sections else True if "script-on" in sections else None,
    )


def list_expected(case: Case) -> tuple[list[str], list[str]]:
    """Return the words and links that our rules take of the tree of a case."""
    pieces: list[str] = []
    links: list[str] = []
    _take(_tree(case.tree), pieces, links, in_drawing=False)
    return tokens_of("".join(pieces)), links


def _tree(text: str) -> Node:
    root = Node("#document")
    open_nodes = [root]
    for entry in re.split(r"\n(?=\| )", text):
        if (found := _LINE.fullmatch(entry)) is None:
            continue
        depth, output = len(found[1]) // 2, found[2]
        parent = open_nodes[depth]
        if output.startswith('"'):
            parent.children.append(Node("#text", output[1:-1]))
        elif output.startswith(("<!--", "<!DOCTYPE", "<?")):
            parent.children.append(Node("#comment"))
        elif output.startswith("<"):
            node = Node(output[1:-1].rpartition(" ")[2])
            parent.children.append(node)
            open_nodes[depth + 1 :] = [node]
        elif output == "content":
            open_nodes[depth + 1 :] = [Node("#content")]  # of a template, which is skipped
        else:
            name, _, value = output.partition('="')
            parent.attributes.setdefault(name, value.removesuffix('"'))
    return root


def _take(node: Node, pieces: list[str], links: list[str], *, in_drawing: bool) -> None:
    for child in node.children:
        if child.name == "#text":
            pieces.append(child.text)
        elif child.name == "#comment" or child.name in WITHOUT_TEXT:
            continue
        else:
            is_block = child.name not in IN_LINE
            href = child.attributes.get("href")
            if href is not None and (child.name == "area" or (child.name == "a" and not in_drawing)):
                links.append(href)
            pieces.extend([BREAK] * is_block)
            _take(child, pieces, links, in_drawing=in_drawing or child.name == "svg")
            pieces.extend([BREAK] * is_block)


WHY = {
    "fragment": "parsed inside of an element that the case names; bodies are always whole pages",
    "scripting": "as without scripts; as in a browser, what stands in noscript is text that nobody sees",
    "xml": "begins as XML, which decides by content",
    "writes": "a script writes into the page while it is read; only Render browser runs scripts",
    "selectedcontent": "the text of the chosen option is copied into selectedcontent, which the parser does not know yet: it is there once",
}
"""Why a case is not compared, or why it differs, for people."""


def outcome(case: Case) -> str:
    """Return `agrees`, a key of `WHY`, or `differs` for what nobody has explained."""
    if case.is_fragment:
        return "fragment"
    if case.scripting is False:
        return "scripting"
    document = parse(case.data.encode("utf-8", "surrogatepass"), "text/html; charset=utf-8")
    if document.media != "html":
        return document.media
    if (document.tokens, list(document.links)) == list_expected(case):
        return "agrees"
    if "document.write" in case.data:
        return "writes"
    return "selectedcontent" if "<selectedcontent>" in case.data else "differs"
