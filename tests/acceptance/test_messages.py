"""Messages of changes as people meet them: each says by itself what changed and where."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.acceptance.messages import ROWS, SAID
from tidings.detection.ask.summary import summary
from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import compare_bodies
from tidings.model.observed.change import ChangeSet
from tidings.model.watch.sentinel import Interest
from tidings.presentation.presenters import presenter
from tidings.service.show.records import found_record


def found(media: str, kind: str, old: str, new: str) -> ChangeSet:
    """Return what is found between two pages."""
    before, after = (Body(data=text.encode(), content_type=media, url="https://a.example/") for text in (old, new))
    change, problem = compare_bodies(before, after, Interest(kind))
    assert "" == problem
    return change


@pytest.mark.parametrize(("row", "said"), list(zip(ROWS, SAID, strict=True)), ids=[row[0] for row in ROWS])
def test_a_message_stands_alone(row, said):
    """The line for subjects and lists, and the text below it."""
    _, media, kind, old, new = row
    change = found(media, kind, old, new)

    assert said == [summary(change), *presenter("changes", "text").fragment(found_record(change)).splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_html_says_the_same(row):
    """Marks are elements, and every heading and label is there."""
    _, media, kind, old, new = row
    change = found(media, kind, old, new)
    tree = LexborHTMLParser(presenter("changes", "html").fragment(found_record(change)))
    text = tree.body.text() if tree.body is not None else ""

    assert all(one.heading in text and one.label.strip() in text for one in change.contexts)
    assert tree.css("ins, del, b")
