"""Scope, Depth and Budget: which pages belong to a collection, how deep it is followed, and what
it may cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from lark import Token

from tidings.language.clauses.clause import Clause, Node, last, read_count, unquote
from tidings.language.times import measure
from tidings.model.url import split_url
from tidings.model.watch.sentinel import DEEPEST, MOST_A_DAY, Scope, Watched

MOST_PATTERNS = 50


def read_scope(node: Node, clause: Clause) -> Scope:
    """Return which pages a Scope clause means; raises `FaultFoundError` (E16)."""
    tokens = cast("list[Token]", node.children[1:])
    patterns = tuple(dict.fromkeys(_read_pattern(token, clause) for token in tokens))
    if len(patterns) > MOST_PATTERNS:
        message = f"{len(patterns)} patterns"
        raise clause.fail(tokens[0].start_pos, "E16", message, expected=f"at most {MOST_PATTERNS}")
    if all(pattern.startswith("!") for pattern in patterns):
        message = "every pattern excludes pages"
        raise clause.fail(tokens[0].start_pos, "E16", message, hint='Scope "/*", "!/old/*"')
    return Scope(patterns)


def read_depth(node: Node, clause: Clause) -> int:
    """Return how many links away from the first pages a page may be; raises `FaultFoundError`
    (E16).
    """
    number = last(node)
    depth = read_count(number, clause, "Depth", least=0, hint="Depth 3")
    if depth > DEEPEST:
        raise clause.fail(number.start_pos, "E16", f"Depth {depth}", expected=f"at most {DEEPEST}")
    return depth


def read_budget(node: Node, clause: Clause) -> float:
    """Return how many requests a day a collection may cost; raises `FaultFoundError` (E16)."""
    _, number, unit = cast("list[Token]", node.children)
    a_day = float(number) * (measure("1", "day") / measure("1", unit)) if len(number) <= 20 else 0.0
    if not 0 < a_day <= MOST_A_DAY:
        message, expected = f"Budget {number[:20]} per {unit}", f"more than 0, at most {MOST_A_DAY:,.0f} per day"
        raise clause.fail(number.start_pos, "E16", message, expected=expected, hint="Budget 500 per day")
    return a_day


def usual_patterns(pages: Iterable[Watched]) -> tuple[str, ...]:
    """Return the patterns of a collection that says none: the folders of its first pages."""
    folders = (split_url(page.url).path.rpartition("/")[0] for page in pages)
    return tuple(dict.fromkeys(f"{folder}/*" for folder in folders))


def _read_pattern(token: Token, clause: Clause) -> str:
    pattern = unquote(token).strip()
    place = pattern.removeprefix("!")
    if not place.startswith(("/", "http://", "https://")) or any(c.isspace() for c in place):
        message = f"{token[:60]} is not a pattern of addresses"
        expected = "a path or an address, with * for any characters"
        raise clause.fail(token.start_pos, "E16", message, expected=expected, hint='Scope "/docs/*"')
    return pattern
