"""Findings: edits and objects as texts for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.edit_scripts import apply_edits
from tests.strategies import pages
from tidings.detection.compare.words import compare_sequences
from tidings.detection.find.findings import (
    finding_of_objects,
    finding_of_words,
    finding_of_words_without,
    narrow,
    union,
    without_spans,
)
from tidings.document.parse import parse
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount

PARAGRAPH = "this paragraph of ten words wandered off to the end"


def page(text):
    return parse(text.encode(), "text/html")


def words(old, new):
    return finding_of_words(page(old), page(new))


def test_texts_are_those_of_the_page():
    """A replaced run is an update; others are inserted or deleted."""
    found = words("<p>Price: 19.99 today only. <p>gone, all gone", "<p>Price: 24.99 today <i>and</i> tomorrow. only")

    assert (("19.99", "24.99"),) == found.updated
    assert ("and tomorrow",) == found.inserted
    assert ("gone, all gone",) == found.deleted
    assert ("words",) == found.kinds


def test_move_is_reported_once():
    """Its text is only in `moved`; its edits are those that turn old into new."""
    rest = " ".join(f"rest{number}" for number in range(30))
    old, new = page(f"{PARAGRAPH} {rest}"), page(f"{rest} {PARAGRAPH}")
    found = finding_of_words(old, new)

    assert ((), (), (PARAGRAPH,)) == (found.inserted, found.deleted, found.moved)
    assert ["delete", "insert"] == sorted(edit.op for edit in found.edits)
    assert new.tokens == apply_edits(found.edits, old.tokens, new.tokens)


def test_rewritten_page_is_deleted_and_inserted():
    """A long run that replaced another long run is no update."""
    found = words(" ".join(f"a{n}" for n in range(100)), " ".join(f"b{n}" for n in range(100)))

    assert (1, 1, 0) == (len(found.inserted), len(found.deleted), len(found.updated))


@pytest.mark.parametrize(
    ("direction", "inserted", "deleted", "updated"),
    [
        (None, ("new",), ("gone",), (("5", "6"),)),
        ("inserted", ("new", "6"), (), ()),
        ("deleted", (), ("gone", "5"), ()),
        ("updated", (), (), (("5", "6"),)),
    ],
)
def test_direction_selects_texts(direction, inserted, deleted, updated):
    """`inserted` has the new side of an update too, `deleted` the old side; `updated` has pairs
    only.
    """
    found = narrow(words("a 5 b c gone d", "a 6 b new c d"), direction)

    assert (inserted, deleted, updated) == (found.inserted, found.deleted, found.updated)
    assert bool(found.edits)


def test_direction_without_a_text_has_no_finding():
    """A sentinel of additions finds nothing on a page that only lost words (urlwatch 692)."""
    assert ChangeSet() == narrow(words("a b c", "a c"), "inserted")
    assert ChangeSet() == narrow(finding_of_objects("links", [ObjectCount("links", "/a", 1, 0)]), "inserted")


def test_union_has_each_finding_once():
    """It may be in both parts or in one."""
    whole = words("a 5 b c gone d", "a 6 b new c d")
    links = finding_of_objects("links", [ObjectCount("links", "/a", 0, 1)])
    parts = [narrow(whole, "inserted"), narrow(whole, "deleted"), narrow(whole, "updated"), links, links]

    assert ("words", "links") == union(parts).kinds
    assert whole.edits == union(parts).edits
    assert links.objects == union(parts).objects
    assert ("new", "6", "/a") == union(parts).inserted
    assert ChangeSet() == union([])


@given(pages, pages)
def test_change_of_words_is_never_empty(old, new):
    """There is a finding exactly if the words differ, and it turns one page's words into the
    other's.
    """
    before, after = page(old), page(new)
    found = finding_of_words(before, after)

    assert (before.canonical != after.canonical) == bool(found)
    assert after.tokens == apply_edits(found.edits, before.tokens, after.tokens)
    assert bool(found) == bool(found.inserted or found.deleted or found.updated or found.moved)


few_words = st.lists(st.sampled_from("a b c".split()), max_size=12)
some_spans = st.lists(st.tuples(st.integers(0, 11), st.integers(1, 4)), max_size=3)


@given(few_words, few_words, some_spans, some_spans)
def test_comparison_without_words_is_exact(old, new, gone, come):
    """Only the surroundings of the differences are compared, and no edit changes."""
    sides = [
        [(start, min(start + length, len(tokens))) for start, length in spans if start < len(tokens)]
        for tokens, spans in ((old, gone), (new, come))
    ]
    before, after = page(" ".join(old)), page(" ".join(new))
    kept = [
        [at for at in range(len(tokens)) if not any(start <= at < end for start, end in spans)]
        for tokens, spans in zip((old, new), sides, strict=True)
    ]
    places = [[*numbers, len(tokens)] for numbers, tokens in zip(kept, (old, new), strict=True)]
    whole = tuple(
        Edit(
            edit.op,
            *_span(places[0], edit.old_start, edit.old_end),
            *_span(places[1], edit.new_start, edit.new_end),
        )
        for edit in compare_sequences([old[at] for at in kept[0]], [new[at] for at in kept[1]])
    )
    expected = without_spans(ChangeSet(("words",), edits=whole), before, after, (sides[0], sides[1]))

    assert expected == finding_of_words_without(before, after, (sides[0], sides[1]))


def _span(places, start, end):
    return (places[start], places[end - 1] + 1) if start < end else (places[start], places[start])
