"""Unseen: what no version had before, by type of change."""

from __future__ import annotations

import pytest

from tests.strategies_language import monitor_of
from tidings.detection.ask.conditions import marks_of
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.document.parse import parse
from tidings.document.select.extraction import WHOLE


def page(body: str, media: str = "text/html"):
    """Return a page."""
    return parse(body.encode(), media, url="https://a.example/", keep_tree=True)


def rows(*names: str) -> str:
    """Return a table with a row for each name."""
    cells = "".join(f"<tr><td>{name}</td><td>1</td></tr>" for name in names)
    return f"<table><tr><th>Name</th><th>Number</th></tr>{cells}</table>"


def write_list(*names: str) -> str:
    """Return a list with a link for each name."""
    return f"<ul>{''.join(f'<li><a href=/{name}>An offer of {name}</a></li>' for name in names)}</ul>"


@pytest.mark.parametrize(
    ("monitor", "make", "expected"),
    [
        ("links", write_list, ("https://a.example/pears",)),
        ("list", write_list, ("An offer of pears",)),
        ("words", write_list, ("An offer of pears",)),
        ("items", write_list, ("An offer of pears https://a.example/pears",)),
        ("table", rows, ("pears | 1",)),
        ('regex "of [a-z]+"', write_list, ("of pears",)),
    ],
)
def test_only_what_was_never_there(monitor, make, expected):
    """Plums were there before the last version: they are no news, pears are."""
    monitored = monitor_of(f"{monitor} never seen before")
    first, second, third = (
        page(make(*names)) for names in (("apples", "plums"), ("apples",), ("apples", "plums", "pears"))
    )
    seen = frozenset(mark for one in (first, second) for mark in marks_of(monitored, WHOLE, one))

    found = evaluate(monitored, Pair(second, third).knowing(seen))

    assert expected == found.inserted
    assert ((), ()) == (found.deleted, found.updated)


def test_what_goes_is_nothing_new():
    """A version with less has nothing that was never there."""
    monitored = monitor_of("words never seen before")
    first, second = page(write_list("apples", "plums")), page(write_list("apples"))
    seen = frozenset(marks_of(monitored, WHOLE, first))

    assert not evaluate(monitored, Pair(first, second).knowing(seen))
