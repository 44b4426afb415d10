"""How much a page matters: Importance, Urgency, Life, Watch, Class; and Tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from lark import Token, Tree

from tidings.language.clauses.clause import (
    Clause,
    Node,
    check_name,
    last,
    parts_of,
    read_count,
    read_duration,
    read_new_name,
    read_positive_duration,
)
from tidings.model.watch.sentinel import ChangeLife, Urgency

WATCH: Mapping[str, tuple[ChangeLife, Urgency]] = {
    "ARCHIVE": (ChangeLife("forever"), Urgency("uniform")),
    "FRONT": (ChangeLife("overwrite"), Urgency("uniform")),
    "BULLETIN": (ChangeLife("forever"), Urgency("window", 0)),
    "TICKER": (ChangeLife("overwrite"), Urgency("window", 0)),
}
"""The four extreme scenarios of paper 000, Figures 2 and 3: changes append or overwrite, timeliness
is critical (a window of 0) or is not. archive: "a searchable resume database"; front page:
"front-page news stories for long term archival"; bulletin: "Internet security bulletins, health
risk alerts"; ticker: "stock market price fluctuations, online auction maximum bid".
"""


def read_importance(node: Node, clause: Clause) -> float:
    """Return the importance of a page: 0 < w ≤ 1 (W_i of paper 000)."""
    number = cast("Token", node.children[1])
    weight = float(number)
    if not 0 < weight <= 1:
        message = f"importance {number[:20]} is out of range"
        raise clause.fail(number.start_pos, "E19", message, expected="a number above 0, at most 1")
    return weight


def read_urgency(node: Node, clause: Clause) -> Urgency:
    """Return how the worth of a change decreases with the delay of its capture."""
    mode: Any = cast("Token", node.children[1]).lower()
    duration = parts_of(node).get("duration")
    if duration is None:
        return Urgency(mode)
    return Urgency(mode, (read_duration if mode == "window" else read_positive_duration)(duration, clause))


def read_life(node: Node, clause: Clause) -> ChangeLife:
    """Return how long the information of a change stays on the page."""
    second = node.children[1]
    if isinstance(second, Tree):
        return ChangeLife("window", span=read_positive_duration(second, clause))
    if second.type == "NUMBER":
        hint = "Life overwrite: until the next change"
        return ChangeLife("changes", changes=read_count(second, clause, "Life", hint=hint))
    return ChangeLife(cast("Any", second.lower()))


def read_watch(node: Node, _clause: Clause) -> tuple[ChangeLife, Urgency]:
    """Return the life and urgency of one of the four scenarios."""
    return WATCH[cast("Token", node.children[1]).type]


def read_class(node: Node, clause: Clause) -> str:
    """Return the name of a budget class."""
    return check_name(last(node), clause)


def read_tags(node: Node, clause: Clause) -> tuple[str, ...]:
    """Return the tags, without duplicates, in order."""
    names = [read_new_name(cast("Token", name), clause, "a tag") for name in node.children[1:]]
    return tuple(dict.fromkeys(names))
