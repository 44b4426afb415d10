"""What a selector requires of an element: its names, its place, and its state.

`button[disabled]`, `.badge.sold-out` and `//a[@aria-current]` name an element and require a state
of it. If that element still exists and only lacks the state, nothing is lost that could be found
again: its meaning is gone, and that is a change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from tidings.document.select.chosen import RefusedError
from tidings.document.select.targets import NAMING, Bundle, Healed
from tidings.document.select.trees import HtmlTree
from tidings.model.watch.interest import Selector
from tidings.record import dataclass, replace

_MOST_CLASSES: Final = 5
"""In selectors with more classes, they are removed only one at a time."""
_SIMPLE: Final = re.compile(
    r"""(?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<class>\.(?:[\w-]|\\.|[^\x00-\x7f])+)|(?P<id>\#(?:[\w-]|\\.|[^\x00-\x7f])+)"""
    r"|(?P<attribute>\[)|(?P<pseudo>::?[\w-]+\(?)|(?P<join>[\s>+~,]+)|(?P<other>\\?.)",
    re.DOTALL,
)
_PLACES: Final = frozenset(
    (
        *("first-child", "last-child", "only-child", "first-of-type", "last-of-type", "only-of-type", "root", "scope"),
        *("nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type", "is", "where", "matches"),
    )
)
"""Pseudo-classes on the place or identity of an element: a moved one is found again."""
_NAME: Final = re.compile(r"\[\s*(?:[\w-]*\|)?([\w-]+)")
_POSITION: Final = re.compile(r"\[\s*(?:\d+|(?:position|last)\s*\(.*)\]", re.DOTALL)
_MENTIONED: Final = re.compile(r"@([\w-]+)")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A simple selector, or a predicate of an XPath. `step` numbers the elements of the selector;
    the last one is its target.
    """

    text: str
    kind: str
    step: int


def lacks_a_state(tree: HtmlTree, selector: Selector, place: Selector, *, is_renamed: bool) -> bool:
    """Return whether the match of `place` is the element that `selector` names, only without a
    required state.

    States are attributes that do not name things and pseudo-classes that are no place. A class is
    one if another class or an id remains beside it in the selector, or if the element was given no
    other in its place: then it is not `is_renamed`.

    Args:
        tree: The page.
        selector: The original selector.
        place: A selector of the replacement.
        is_renamed: Whether the element was given another class.
    """
    try:
        here = tree.search(place).nodes
        return any(
            here & tree.search(replace(selector, text=text)).nodes for text in _without_states(selector, is_renamed)
        )
    except RefusedError:
        return False


def has_another_class(bundle: Bundle, healed: Healed) -> bool:
    """Return whether the element has a class that it did not have before."""
    from_before = set(dict(bundle.attributes).get("class", "").split())
    now = set(dict(healed.attributes).get("class", "").split())
    return bool(now - from_before)


def _without_states(selector: Selector, is_renamed: bool) -> Iterator[str]:
    """Yield the selector without its states, and without these and some of its classes."""
    pieces = _predicates(selector.text) if selector.language == "xpath" else _pieces(selector.text)
    last = max((piece.step for piece in pieces), default=0)
    states = {place for place, piece in enumerate(pieces) if piece.kind == "state"}
    classes = [place for place, piece in enumerate(pieces) if piece.kind == "class"]
    most = len(classes) if len(classes) <= _MOST_CLASSES else 1
    for count in range(most + 1):
        for left_out in combinations(classes, count):
            gone = states.union(left_out)
            if gone and all(_is_state(pieces, place, gone, last, is_renamed) for place in left_out):
                yield _write_selector(pieces, gone)


def _is_state(pieces: list[_Piece], place: int, gone: set[int], last: int, is_renamed: bool) -> bool:
    step = pieces[place].step
    if step == last and not is_renamed:
        return True
    return any(
        piece.kind in {"class", "name"} and piece.step == step and other not in gone
        for other, piece in enumerate(pieces)
    )


def _write_selector(pieces: list[_Piece], gone: set[int]) -> str:
    """Return the selector without some pieces; an empty part becomes any element."""
    bare = {piece.step for piece in pieces if piece.kind != "join"} - {
        piece.step for place, piece in enumerate(pieces) if place not in gone and piece.kind != "join"
    }
    parts = []
    for place, piece in enumerate(pieces):
        if place not in gone:
            parts.append(piece.text)
        elif piece.step in bare:
            bare.discard(piece.step)
            parts.append("*")
    return "".join(parts)


def _pieces(text: str) -> list[_Piece]:
    """Return the simple selectors of a CSS selector and their combinators."""
    pieces: list[_Piece] = []
    step = at = 0
    while at < len(text) and (found := _SIMPLE.match(text, at)):
        kind, piece = found.lastgroup or "other", found.group()
        if kind == "attribute" or piece.endswith("("):
            piece = text[at : _find_end(text, at + len(piece), "]" if kind == "attribute" else ")")]
        if kind == "attribute":
            name = _NAME.match(piece)
            attribute = name[1].lower() if name else ""
            kind = "class" if attribute == "class" else "name" if attribute in NAMING else "state"
        elif kind == "pseudo":
            kind = "place" if piece.strip(":").partition("(")[0].lower() in _PLACES else "state"
        elif kind == "id":
            kind = "name"
        step += kind == "join"
        pieces.append(_Piece(piece, kind, step))
        at += len(piece)
    return pieces


def _predicates(text: str) -> list[_Piece]:
    """Return the predicates of an XPath and the text between them."""
    pieces: list[_Piece] = []
    step = at = 0
    while at < len(text):
        start = text.find("[", at)
        if start != at:
            path = text[at : start if start >= 0 else None]
            step += "/" in path
            pieces.append(_Piece(path, "other", step))
            at += len(path)
            continue
        at = _find_end(text, start + 1, "]")
        predicate = text[start:at]
        mentioned = set(_MENTIONED.findall(predicate))
        if _POSITION.fullmatch(predicate):
            kind = "place"
        else:
            kind = "class" if "class" in mentioned else "name" if mentioned & set(NAMING) else "state"
        pieces.append(_Piece(predicate, kind, step))
    return pieces


def _find_end(text: str, at: int, end: str) -> int:
    """Return the end of what was opened before `at`."""
    opened, closers = [end], {"[": "]", "(": ")"}
    while at < len(text) and opened:
        character = text[at]
        if opened[-1] in "\"'":
            at += character == "\\"
            if character == opened[-1]:
                opened.pop()
        elif character in "\"'":
            opened.append(character)
        elif character in closers:
            opened.append(closers[character])
        elif character == opened[-1]:
            opened.pop()
        at += 1
    return at
