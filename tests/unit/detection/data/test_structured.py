"""Logs: only appended text is reported, line by line (detection §5)."""

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.data import structured
from tidings.document.parse import parse
from tidings.model.watch.interest import Interest

LOG = "10:00 started\n10:01 up\n"


def change(old, new):
    return evaluate(Interest("any"), Pair(*(parse(text.encode(), "text/plain") for text in (old, new))))


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (LOG + "10:02 down\n10:03 up\n", ("10:02 down", "10:03 up")),
        (LOG + "\n \n10:02   down", ("10:02 down",)),
        (LOG + "\n --\n", ()),
    ],
)
def test_appended_lines_are_reported_one_by_one(new, expected):
    """Each non-empty new line is an insert; older lines are not reported."""
    found = change(LOG, new)

    assert expected == found.inserted
    assert () == found.deleted + found.updated
    assert bool(expected) is bool(found)


def test_edit_of_a_log_has_the_new_words():
    """Its tokens are the appended ones."""
    new = f"{LOG}10:02 down\n"
    (edit,) = change(LOG, new).edits
    tokens = [parse(text.encode(), "text/plain").tokens for text in (LOG, new)]

    assert (len(tokens[0]),) * 2 == (edit.old_start, edit.old_end)
    assert tokens[1][len(tokens[0]) :] == tokens[1][edit.new_start : edit.new_end]


def test_longer_last_line_is_no_new_line():
    """If its last word continued, the word changed."""
    assert (("up", "upgraded"),) == change("it is up", "it is upgraded").updated


def test_very_many_lines_end_in_one_text(monkeypatch):
    """The lines beyond the limit are reported together, and nothing is lost."""
    monkeypatch.setattr(structured, "MOST_LINES", 2)

    assert ("a", "b", "c d") == change(LOG, f"{LOG}a\nb\nc\nd\n").inserted
