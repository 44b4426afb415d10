"""The canonical text of a statement: ISO dates, one clause per line, default clauses left out.

Laws (tested): parsing a printed statement gives the same statement, and printing it again the same
text. Of a sentinel made from another one all clauses are printed, so that it does not depend on its
base.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tidings.language.expressions import number_text
from tidings.language.write.table import FIELDS, ORDER
from tidings.language.write.texts import clause_lines, page_text, source_text
from tidings.model.watch.interest import Interest
from tidings.model.watch.sentinel import (
    Alter,
    Clauses,
    Command,
    CreateEvent,
    Defaults,
    DropEvent,
    Sentinel,
    Statement,
)

__all__ = ["clauses_of", "number_text", "to_text"]

COLLECTION = "Create Collection "
"""How the text of a collection begins."""
PLAINEST = Sentinel(name="plainest", pages=(), monitor=Interest("any"))
"""A sentinel with only default clauses."""
_LIFE = frozenset({"from", "to", "for"})


def to_text(statement: Statement) -> str:
    """Return a statement in the language, without a line end after the last line."""
    match statement:
        case Command():
            return f"{statement.verb.capitalize()} {statement.name}{' fresh' if statement.fresh else ''}"
        case Alter():
            moved = f" Using {', '.join(map(page_text, statement.pages))}" if statement.pages else ""
            return _text(f"Alter {statement.name}{moved}", statement.clauses)
        case Defaults():
            return _text(f"Defaults For Tags {', '.join(statement.tags)}", statement.clauses)
        case CreateEvent(name, source):
            return f"Create Event {name} Using {source_text(source)}"
        case DropEvent(name):
            return f"Drop Event {name}"
        case Sentinel():
            target = statement.base or ", ".join(map(page_text, statement.pages))
            what = "Sentinel" if statement.scope is None else "Collection"
            return _text(f"Create {what} {statement.name} Using {target}", clauses_of(statement))


def clauses_of(sentinel: Sentinel) -> Clauses:
    """Return the clauses of a sentinel that differ from the defaults.

    All of them if it was made from another one, but those of its life only if that differs from its
    base's.
    """
    return Clauses(tuple(_list_clauses(sentinel, everything=sentinel.base is not None)))


def meaning_of(sentinel: Sentinel, word: str) -> Any:
    """Return the value of a clause of a sentinel."""
    if word in FIELDS:
        return getattr(sentinel, FIELDS[word])
    asked = sentinel.asking
    match word:
        case "monitor":
            return sentinel.monitor, sentinel.window, sentinel.lasting
        case "header":
            return asked.headers
        case "render":
            return asked.render, asked.screenshot, asked.steps
        case "robots":
            return asked.robots_ignored
    return getattr(asked, word)


def _list_clauses(sentinel: Sentinel, *, everything: bool) -> Iterator[tuple[str, Any]]:
    for word in ORDER:
        meaning = meaning_of(sentinel, word)
        if word in _LIFE:
            if not sentinel.correlated and _has_to_say(sentinel, word, everything=everything):
                yield word, meaning
        elif word in {"life", "scope"} and meaning is None:
            continue  # it is learned; it is no collection
        elif everything or word == "monitor" or meaning != meaning_of(PLAINEST, word) or _is_posted(sentinel, word):
            yield word, meaning


def _has_to_say(sentinel: Sentinel, word: str, *, everything: bool) -> bool:
    """Return whether a clause of the life must be printed: only one of To and For, and an empty one
    only if all clauses are printed.
    """
    if word == "from":
        return everything or sentinel.start != PLAINEST.start
    if word == "for":
        return sentinel.span is not None
    return sentinel.end is not None or (everything and sentinel.span is None)


def _is_posted(sentinel: Sentinel, word: str) -> bool:
    """Return whether this is the Method of a sentinel with a Body, whose default is POST."""
    return word == "method" and sentinel.asking.body is not None


def _text(head: str, clauses: Clauses) -> str:
    return "\n  ".join([head, *(line for word, meaning in clauses.said for line in clause_lines(word, meaning))])
