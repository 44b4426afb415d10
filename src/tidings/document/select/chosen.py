"""The matches of selectors in a page: sets of nodes, and what the walk takes of them (contracts
§8).

A selector never changes the tree, so the order of clauses is irrelevant and every selector sees the
original page. Selectors that are too expensive are refused by a bound known before the search
(H-073, H-074): the result is then "could not compare".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field
from math import comb, prod
from typing import Any

from tidings.model.watch.interest import Selector
from tidings.record import dataclass

MOST_NODES = 300_000
"""The most elements of a page, or values of a JSON text, that XPath or JSONPath searches."""

MOST_STEPS = 100_000_000
"""The most nodes that one XPath, and the most combinations that one CSS selector, may have to try:
2 s.
"""

MOST_MATCHES = 100_000
"""The most matches of a selector."""

_WIDE = re.compile(r"(?:ancestor|descendant|following|preceding)(?:-or-self|-sibling)?\s*::")
_SIDEWAYS = re.compile(r"(?:following|preceding)(?:-sibling)?\s*::")
_IN_ATTRIBUTE = re.compile(r"\[[^\]]*\]")
_AROUND = re.compile(r"\s*([>+~,()])\s*")
_DESCENDANT = re.compile(r"\s+")
_TAG = re.compile(r"([A-Za-z][A-Za-z0-9-]*)")
_COMMAS = re.compile(r",(?![^(]*\))")
_STRING = re.compile(r"""'[^']*'|"[^"]*\"""")


class RefusedError(ValueError):
    """A part of a page could not be extracted; the text says why."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The matches of one selector: nodes by id, and texts of attributes by the id of their
    element.
    """

    nodes: frozenset[Any] = frozenset()
    attributes: Mapping[Any, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.nodes or self.attributes)


NOTHING = Chosen()


def check_xpath(text: str, nodes: int, depth: int) -> None:
    """Raise `RefusedError` if an XPath may have to visit too many nodes of a tree of this size and
    depth.

    A predicate is evaluated at each node: one that searches the whole page multiplies by all of
    them, one that searches below or above the node by the depth.
    """
    if nodes > MOST_NODES:
        raise RefusedError(f"the page has more than {MOST_NODES:,} elements, too many for XPath")
    steps = float(max(nodes, 1))
    for level, part in enumerate(_by_level(_STRING.sub("''", text))):
        if level == 0:
            steps *= float(nodes) ** max(0, len(_SIDEWAYS.findall(part)))
        elif _searches_page(part):
            steps *= nodes
        elif "//" in part or _WIDE.search(part):
            steps *= depth
    if steps > MOST_STEPS:
        raise RefusedError(f'xpath "{text}" would have to check {steps:,.0f} elements of this page')


@dataclass(slots=True)
class Shape:
    """The nesting of a page: elements by (depth, number of preceding siblings), the deepest nesting
    of a tag in itself, and the total number of siblings before all elements and their ancestors.
    """

    places: Counter[tuple[int, int]] = field(default_factory=Counter)
    nested: dict[str, int] = field(default_factory=dict)
    counted: int = 0


def check_css(text: str, shape: Callable[[], Shape]) -> None:
    """Raise `RefusedError` if a CSS selector may have to try too many combinations.

    lexbor tries, at each element, every choice of ancestors for descendants (and for `:has`), and
    of preceding siblings for `~`. An ancestor with a tag is one of those that have it; if none has,
    the choices of the others are tried in vain. For `:nth-…` it counts the siblings before an
    element and before its ancestors.
    """
    plain = _IN_ATTRIBUTE.sub("[]", _STRING.sub("''", text.strip()))
    steps = 0
    for part in _COMMAS.split(_AROUND.sub(r"\1", plain)):
        below = len(_DESCENDANT.findall(part)) + part.count(":has(")
        beside, counted = part.count("~"), part.count(":nth-")
        if below < 2 and not beside and not counted:
            continue
        page = shape()
        tags = [found[1].lower() if (found := _TAG.match(one)) else "" for one in _DESCENDANT.split(part)[:-1]]
        most = prod(max(page.nested.get(tag, 0), 1) if tag else MOST_NODES for tag in tags)
        most = most if ":has(" not in part else MOST_STEPS
        for (depth, before), number in page.places.items():
            steps += number * min(comb(depth + 1, below), most) * comb(before + 1, beside)
        if counted:
            deepest = max((depth for depth, _ in page.places), default=0)
            steps += page.counted * min(comb(deepest + 1, below), most) if below > 1 else page.counted
    if steps > MOST_STEPS:
        raise RefusedError(f'css "{text}" would have to be tried in {steps:,} ways on this page')


def check_jsonpath(text: str, nodes: int) -> None:
    """Raise `RefusedError` if a JSONPath may have to visit too many values."""
    levels = list(_by_level(_STRING.sub("''", text)))
    everywhere = sum(part.count("..") for part in levels)
    inside = any("$" in part for part in levels[1:])
    if nodes * (everywhere + 1) > MOST_NODES or (inside and nodes * nodes > MOST_NODES):
        raise RefusedError(f'jsonpath "{text}" would have to check too many of {nodes:,} values')


def check_matches(selector: Selector, number: int) -> None:
    """Raise `RefusedError` if a selector has too many matches."""
    if number > MOST_MATCHES:
        raise RefusedError(
            f'{selector.language} "{selector.text}" matches more than {MOST_MATCHES:,} parts of the page'
        )


def _searches_page(part: str) -> bool:
    return bool(re.search(r"(?<![.\w\])*])//", part) or _SIDEWAYS.search(part))


def _by_level(text: str) -> list[str]:
    """Return the text outside brackets, in brackets, in nested brackets and so on."""
    levels = [""]
    depth = 0
    for letter in text:
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth = max(0, depth - 1)
        if depth == len(levels):
            levels.append("")
        levels[depth] += letter
    return levels
