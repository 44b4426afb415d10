"""Messages of typical changes: each one alone says what changed and where; `docs/messages/` has
them.
"""

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.acceptance.messages import FILES, FOLDER, ROWS, message, parts_of_letter, table
from tidings.document.text.placed import CELLS, say_path


@pytest.mark.parametrize("name", FILES)
def test_messages_match_the_stored_ones(name):
    """`python -m tests.acceptance.messages` writes them."""
    assert (FOLDER / name).read_text(encoding="utf-8") == FILES[name]()


def test_table_matches_the_messages():
    """Its numbers are those of the files."""
    assert table() in (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("row", ROWS, ids=[row.what for row in ROWS])
def test_html_has_the_same_content(row):
    """Marks are elements, and every heading and label is there."""
    tree = LexborHTMLParser(parts_of_letter(message("email", row, 1))[1])
    text = tree.body.text() if tree.body is not None else ""

    assert all(
        one.heading in text and all(part in text for part in say_path(one.label.strip()).split(CELLS))
        for one in row.found.contexts
    )
    assert tree.css("ins, del, b")


def test_subjects_are_short_and_distinct():
    """They begin with what changed, and name the page."""
    subjects = [message("email", row, number).subject for number, row in enumerate(ROWS, 1)]

    assert max(map(len, subjects)) <= 78
    assert len(ROWS) == len(set(subjects))
    assert all(
        (row.title or row.sentinel).partition(" – ")[0][:12] in subject or row.kind == "items"
        for row, subject in zip(ROWS, subjects, strict=True)
    )
