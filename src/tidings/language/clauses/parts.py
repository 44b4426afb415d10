"""The selected part of a page, and the consequences of a change: Select, Exclude, Transform,
Then.
"""

from __future__ import annotations

import re
from typing import Any, cast

from lark import Token, Tree

from tidings.language.clauses.clause import (
    Clause,
    Node,
    check_page_name,
    first,
    last,
    parts_of,
    read_count,
    read_list,
    read_positive_duration,
    unquote,
    word_types,
)
from tidings.language.clauses.patterns import read_pattern, read_selector
from tidings.model.watch.interest import HIDDEN, Exclusion, Pattern, Selector, StopWords, Transform
from tidings.model.watch.sentinel import Then

_SELECTS = re.compile(r"[.#\[][A-Za-z_-]")
"""The beginning of a CSS selector of a class, an id or an attribute."""


_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")


def read_select(node: Node, clause: Clause) -> Selector:
    """Return the selected part of the page."""
    return read_selector(cast("Node", node.children[1]), clause)


def read_exclude(node: Node, clause: Clause) -> Exclusion:
    """Return a part of the page, words, or a pattern to ignore."""
    second = node.children[1]
    if isinstance(second, Tree):
        return read_selector(second, clause)
    if second.type == "HIDDEN":
        return HIDDEN
    if second.type == "REGEX":
        return Pattern(read_pattern(last(node), clause))
    if second.type == "STRING" and _SELECTS.match(unquote(second)):
        raise clause.fail(second.start_pos, "E06", f"{second} is a selector", hint=f"write Exclude css {second}")
    if second.type == "STRING" and " " in (text := " ".join(unquote(second).split())):
        return Pattern(_SPECIAL.sub(r"\\\g<0>", text))  # these words in this order, not each of them anywhere
    words = tuple(dict.fromkeys(word for text in read_list(node) for word in text.split(" ")))
    if not all(read_list(node)):
        raise clause.fail(last(node).start_pos, "E07", "empty word in the list", hint="remove the extra comma")
    return StopWords(words)


def read_transform(node: Node, clause: Clause) -> tuple[Transform, ...]:
    """Return the steps of one Transform clause, in order."""
    return tuple(_step(step, clause) for step in node.children if isinstance(step, Tree))


def _step(node: Node, clause: Clause) -> Transform:
    word = first(node)
    verb = cast("Any", "fold" if "CASE" in word_types(node) else word.lower())
    texts = [token for token in node.children if isinstance(token, Token) and token.type == "STRING"]
    if not texts:
        return Transform(verb)
    is_pattern = "REGEX" in word_types(node)
    match = read_pattern(texts[0], clause) if is_pattern else unquote(texts[0])
    if not match:
        raise clause.fail(texts[0].start_pos, "E07", "there is nothing to search for", hint=f'{word} … "views today"')
    replacement = unquote(texts[1]) if verb == "replace" else ""
    return Transform(verb, match, is_pattern, replacement)


def read_then(node: Node, clause: Clause) -> Then:
    """Return the pages to poll when a part has changed, and how soon."""
    parts = parts_of(node)
    names = [token for token in node.children if isinstance(token, Token) and token.type == "NAME"]
    pages = tuple(dict.fromkeys(check_page_name(name, clause) for name in names))
    within = read_positive_duration(parts["duration"], clause)
    least = None
    if "least" in parts:
        number = cast("Token", parts["least"].children[1])
        least = read_count(number, clause, "any")
        if least > len(pages):
            message = f"any {least} of {len(pages)} pages is impossible"
            raise clause.fail(number.start_pos, "E16", message, expected=f"a whole number from 1 to {len(pages)}")
    return Then(within, pages, least)
