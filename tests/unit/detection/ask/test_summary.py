import pytest

from tidings.detection.ask.summary import summary
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount

EDITS = (Edit("insert", 0, 0, 0, 1),)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (ChangeSet(), ""),
        (ChangeSet(("words",), updated=(("5", "6"),), edits=EDITS), '1 text updated: "5" → "6"'),
        (
            ChangeSet(("words",), inserted=("a b", "c"), deleted=("d",), edits=EDITS),
            '2 texts added, 1 text removed: +"a b"; +"c"; -"d"',
        ),
        (ChangeSet(("words",), moved=("x y",), edits=EDITS), '1 text moved: moved "x y"'),
        (
            ChangeSet(("links",), inserted=("http://x/",), objects=(ObjectCount("links", "http://x/", 0, 1),)),
            '1 link added: +"http://x/"',
        ),
        (
            ChangeSet(
                ("words", "images"),
                inserted=("new", "/i"),
                edits=EDITS,
                objects=(ObjectCount("images", "/i", 0, 1),),
            ),
            '1 text added, 1 image added: +"new"; +"/i"',
        ),
        (
            ChangeSet(("body",), deleted=("pdf x",), objects=(ObjectCount("body", "pdf x", 1, 0),)),
            '1 body removed: -"pdf x"',
        ),
    ],
)
def test_one_line_says_what_changed(change, expected):
    """Counts by kind, then the first texts."""
    assert expected == summary(change)


def test_the_line_is_bounded_and_clean():
    """Long texts are cut, control and bidi characters do not reach the line (H-059)."""
    change = ChangeSet(("words",), inserted=("x" * 5_000, "\u202eevil\x1b[31m\n"), edits=EDITS)

    assert len(summary(change)) <= 200
    assert summary(change).isprintable()
    assert len(summary(change, most=40)) <= 40
