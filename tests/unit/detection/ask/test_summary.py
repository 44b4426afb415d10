"""The summary of a change in one line."""

import pytest

from tidings.detection.ask.summary import summary
from tidings.model.observed.change import ChangeSet, Edit, EditContext, ObjectCount, ObjectPlace

EDITS = (Edit("insert", 0, 0, 0, 1),)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (ChangeSet(), ""),
        (ChangeSet(("words",), updated=(("5", "6"),), edits=EDITS), '"5" → "6"'),
        (
            ChangeSet(("words",), inserted=("a b", "c"), deleted=("d",), edits=EDITS),
            'added "a b"; added "c"; removed "d"',
        ),
        (ChangeSet(("words",), moved=("x y",), edits=EDITS), 'moved "x y"'),
        (
            ChangeSet(("links",), inserted=("http://x/",), objects=(ObjectCount("links", "http://x/", 0, 1),)),
            'new link "http://x/"',
        ),
        (
            ChangeSet(
                ("words", "images"),
                inserted=("new", "/i"),
                edits=EDITS,
                objects=(ObjectCount("images", "/i", 0, 1),),
            ),
            'added "new"; new image "/i"',
        ),
        (
            ChangeSet(("body",), deleted=("pdf x",), objects=(ObjectCount("body", "pdf x", 1, 0),)),
            'removed body "pdf x"',
        ),
    ],
)
def test_summary_has_the_first_texts(change, expected):
    """For other objects it says what they are."""
    assert expected == summary(change)


def test_summary_is_short_and_clean():
    """Long texts are cut, and control and bidi characters do not reach it (H-059)."""
    change = ChangeSet(("words",), inserted=("x" * 5_000, "\u202eevil\x1b[31m\n"), edits=EDITS)

    assert len(summary(change)) <= 200
    assert summary(change).isprintable()
    assert len(summary(change, most=40)) <= 40


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("https://a.example/x/f.pdf", "https://a.example/x/f-2.pdf", 'link "form": "/f.pdf" → "/f-2.pdf"'),
        ("https://a.example/f", "https://b.example/f", 'link "form": "https://a.example/f" → "https://b.example/f"'),
        ("https://a.example/f", "http://a.example/f", 'link "form": "https://a.example/f" → "http://a.example/f"'),
        ("mailto:a@x.example", "mailto:b@x.example", 'link "form": "mailto:a@x.example" → "mailto:b@x.example"'),
        ("https://a.example/", "https://a.example/new/", 'link "form": "/" → "/new/"'),
    ],
)
def test_changed_link_has_both_addresses(old, new, text):
    """The old one comes first; their common start is left out if it is at least scheme and host."""
    change = ChangeSet(
        ("links",),
        inserted=(new,),
        deleted=(old,),
        objects=(ObjectCount("links", old, 1, 0), ObjectCount("links", new, 0, 1)),
        places=(
            ObjectPlace("links", old, "delete", 1, 1, 0, 1, text="form"),
            ObjectPlace("links", new, "insert", 1, 1, 0, 1, text="form"),
        ),
    )

    assert text == summary(change)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({"before": "The fee is ", "after": " € per day."}, 'The fee is "6" (was "5") € per day.'),
        ({"before": "Now ", "after": " EUR"}, 'Now "6" (was "5") EUR'),
        ({"after": " people answered."}, '"6" (was "5") people answered.'),
        ({"after": " EUR"}, '"5" → "6" EUR'),
        ({"label": "Price", "before": "Price: ", "after": " EUR"}, 'Price "5" → "6" EUR'),
        ({"above": "Queue"}, 'Queue "5" → "6"'),
        ({"heading": "Fees"}, 'Fees: "5" → "6"'),
        ({"area": "footer", "label": "Visits"}, 'in the footer: Visits "5" → "6"'),
    ],
)
def test_sentence_can_be_read_as_it_is_now(context, expected):
    """Between words the new text comes first; behind a label the old one does."""
    change = ChangeSet(("words",), updated=(("5", "6"),), edits=EDITS, contexts=(EditContext("updated", 0, **context),))

    assert expected == summary(change)


def test_footer_is_no_news_beside_other_changes():
    """It is neither said nor counted."""
    contexts = (EditContext("updated", 1, area="footer"),)
    change = ChangeSet(("words",), updated=(("5", "6"), ("7", "8")), edits=EDITS, contexts=contexts)

    assert '"5" → "6"' == summary(change)
