"""The condition `never seen`, for each change type."""

from __future__ import annotations

import pytest

from tests.strategies_language import monitor_of
from tidings.detection.ask.conditions import lines_never_seen, marks_of
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.find.findings import finding_of_words
from tidings.document.parse import parse
from tidings.document.select.extraction import WHOLE
from tidings.model.watch.sentinel import Interest


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
def test_only_content_that_was_never_there_is_new(monitor, make, expected):
    """Plums were there before the last version, pears were not."""
    monitored = monitor_of(f"{monitor} never seen before")
    first, second, third = (
        page(make(*names)) for names in (("apples", "plums"), ("apples",), ("apples", "plums", "pears"))
    )
    seen = frozenset(mark for one in (first, second) for mark in marks_of(monitored, WHOLE, one))

    found = evaluate(monitored, Pair(second, third).knowing(seen))

    assert expected == found.inserted
    assert ((), ()) == (found.deleted, found.updated)


def test_smaller_version_has_nothing_new():
    """All its content was there before."""
    monitored = monitor_of("words never seen before")
    first, second = page(write_list("apples", "plums")), page(write_list("apples"))
    seen = frozenset(marks_of(monitored, WHOLE, first))

    assert not evaluate(monitored, Pair(first, second).knowing(seen))


def test_line_that_only_lost_words_is_not_new():
    """Nothing was inserted into it. A line that got words is new, at its place."""
    old, new = page("<p>one two three<p>four five<p>six"), page("<p>one three<p>four five<p>new six")
    found = lines_never_seen(Interest("words"), frozenset(), new, finding_of_words(old, new))

    assert [("insert", 5, 5, 4, 6)] == [
        (edit.op, edit.old_start, edit.old_end, edit.new_start, edit.new_end) for edit in found.edits
    ]


def test_text_outside_the_selected_part_has_no_mark():
    """What another part of the page has may still be new in this one."""
    monitored = monitor_of('words in css "#a" never seen before')
    marks = [[*marks_of(monitored, WHOLE, page(f"<p id=a>one<p>{other}"))] for other in ("two", "three")]

    assert marks[0] == marks[1]
    assert 1 == len(marks[0])


@pytest.mark.parametrize(
    ("body", "media", "expected"),
    [
        ("<p id=a>one<p>two <a href=/x>three</a>", "text/html", 1),
        ("<p>one<p>two <a href=/x>three</a>", "text/html", 0),
        ("GIF89a one", "image/gif", 0),
    ],
    ids=["part", "missing part", "picture"],
)
def test_only_a_part_that_is_there_has_marks(body, media, expected):
    """An interest without the condition has none."""
    monitored = monitor_of('(words in css "#a" never seen before or links)')

    assert expected == len([*marks_of(monitored, WHOLE, page(body, media))])
