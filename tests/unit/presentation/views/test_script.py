"""The edit script of two texts: deleted, inserted and moved words."""

import pytest
from hypothesis import given

from tests.strategies import edit_pairs, texts
from tidings.detection.compare.words import compare_sequences
from tidings.document.document import Document
from tidings.document.text.words import tokens_of
from tidings.model.observed.change import Edit
from tidings.presentation.views.script import Script, script_of


def document(text: str) -> Document:
    """Return a text as a document."""
    return Document(media="html", pieces=(text,))


def script(old: Document, new: Document) -> Script:
    """Return the script of all words."""
    return script_of(compare_sequences(old.tokens, new.tokens), old, new)


def texts_of(marks: Script, old: Document, new: Document) -> tuple[list[str], list[str]]:
    """Return the words of both versions, read from the new text and the marks."""
    sides: tuple[list[str], list[str]] = ([], [])
    at = 0
    for mark in marks.marks:
        for side in sides:
            side.append(new.text[at : mark.start])
        at = mark.end
        if mark.kind in {"deleted", "away"}:
            gone = old.text[mark.old_start : mark.old_end]
            for side, text in zip(sides, (gone, ""), strict=True):
                side.append(f"{' ' * mark.before}{text}{' ' * mark.behind}")
        else:
            sides[1].append(new.text[mark.start : mark.end])
    for side in sides:
        side.append(new.text[at:])
    return tokens_of("".join(sides[0])), tokens_of("".join(sides[1]))


@given(edit_pairs())
def test_marks_contain_both_versions(pair):
    """Without deleted or inserted words, the new text has the words of one version or the other."""
    old, new = (document(" ".join(words)) for words in pair)

    assert texts_of(script(old, new), old, new) == (old.tokens, new.tokens)


@given(texts, texts)
def test_marks_contain_both_versions_without_spaces(first, second):
    """Words stand side by side in Chinese, and beside signs and hyphens; a single joiner belongs to
    no word.
    """
    old, new = (document(text.replace("\u200d", "")) for text in (first, second))

    assert texts_of(script(old, new), old, new) == (old.tokens, new.tokens)


def test_edits_of_other_versions_mark_nothing():
    """They reach beyond the text."""
    with pytest.raises(ValueError, match="not of these two documents"):
        script_of([Edit("insert", 0, 0, 5, 9)], document("a"), document("a b"))


def test_overlapping_edits_are_marked_once():
    """A sentinel of words and of a keyword among them has two edits of it."""
    old, new = document("a b"), document("a c d b")

    found = script_of([Edit("insert", 1, 1, 1, 3), Edit("insert", 1, 1, 2, 3)], old, new)

    assert [(0, "c d")] == [(mark.edit, new.text[mark.start : mark.end]) for mark in found.marks]


def test_unchanged_brackets_are_outside_the_mark():
    """A number in brackets changes inside them."""
    old, new = document("in (14) days"), document("in (7) days")
    found = script(old, new)

    assert [("deleted", "14"), ("inserted", "7")] == [
        (mark.kind, old.text[mark.old_start : mark.old_end] or new.text[mark.start : mark.end]) for mark in found.marks
    ]


def test_deleted_inserted_and_moved_words_are_counted():
    """Ten moved words are neither new nor deleted."""
    run, rest = [f"run{at}" for at in range(10)], [f"rest{at}" for at in range(30)]
    found = script(document(" ".join([*run, *rest])), document(" ".join([*rest, "new", *run])))

    assert (0, 1, 10) == (found.went, found.came, found.moved)
