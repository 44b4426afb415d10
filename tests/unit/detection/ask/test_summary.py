import pytest

from tidings.detection.ask.summary import summary
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount

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
            'link added "http://x/"',
        ),
        (
            ChangeSet(
                ("words", "images"),
                inserted=("new", "/i"),
                edits=EDITS,
                objects=(ObjectCount("images", "/i", 0, 1),),
            ),
            'added "new"; image added "/i"',
        ),
        (
            ChangeSet(("body",), deleted=("pdf x",), objects=(ObjectCount("body", "pdf x", 1, 0),)),
            'body removed "pdf x"',
        ),
    ],
)
def test_one_line_says_what_changed(change, expected):
    """The first texts, and what they are if they are no words."""
    assert expected == summary(change)


def test_the_line_is_bounded_and_clean():
    """Long texts are cut, control and bidi characters do not reach the line (H-059)."""
    change = ChangeSet(("words",), inserted=("x" * 5_000, "\u202eevil\x1b[31m\n"), edits=EDITS)

    assert len(summary(change)) <= 200
    assert summary(change).isprintable()
    assert len(summary(change, most=40)) <= 40
