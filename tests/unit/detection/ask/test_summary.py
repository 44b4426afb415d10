import pytest

from tidings.detection.ask.summary import summary
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount, ObjectPlace

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


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("https://a.example/x/f.pdf", "https://a.example/x/f-2.pdf", 'link "form": "/f.pdf" → "/f-2.pdf"'),
        ("https://a.example/f", "https://b.example/f", 'link "form": "https://a.example/f" → "https://b.example/f"'),
        ("https://a.example/f", "http://a.example/f", 'link "form": "https://a.example/f" → "http://a.example/f"'),
        ("mailto:a@x.example", "mailto:b@x.example", 'link "form": "mailto:a@x.example" → "mailto:b@x.example"'),
        ("https://a.example/", "https://a.example/new/", 'link "form": "/" → "/new/"'),
    ],
)
def test_a_link_that_leads_elsewhere_names_both_addresses_the_old_one_first(old, new, said):
    """What they share is left out if it is the scheme and the host at least."""
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

    assert said == summary(change)
