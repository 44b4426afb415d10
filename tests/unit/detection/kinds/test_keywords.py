"""Keywords: how often each is on the old and the new page."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.detection.ask.summary import summary
from tidings.detection.job.contract import Body, Job, Wanted
from tidings.detection.job.examiner import examine
from tidings.detection.kinds import aims
from tidings.detection.kinds.keywords import Keywords, distinct, words_of, words_of_term
from tidings.document.parse import parse
from tidings.model.observed.change import ChangeSet, ObjectCount
from tidings.model.watch.interest import Interest

bodies = st.lists(st.sampled_from(["oil", "Oil", "gas", "crude", "low-risk", "low", "risk", "€"]), max_size=30).map(
    " ".join
)


def page(body):
    return parse(f"<!doctype html><body><p>{body}".encode(), "text/html; charset=utf-8")


def rows(keyword, old, new):
    return [row for finding in Keywords(keyword).compare(page(old), page(new)) for row in finding.objects]


@given(old=bodies, new=bodies)
def test_row_of_a_keyword_has_its_counts(old, new):
    """For one word it is its number on each side, without case."""
    before, after = (Counter(body.lower().replace("-", " ").split()) for body in (old, new))
    expected = (
        [ObjectCount("keywords", "risk", before["risk"], after["risk"])] if before["risk"] != after["risk"] else []
    )

    assert expected == rows("risk", old, new)


@given(old=bodies, new=bodies)
def test_swapped_pages_swap_the_counts(old, new):
    """Inserted becomes deleted."""
    there, back = rows("low risk", old, new), rows("low risk", new, old)

    assert [(row.new, row.old) for row in there] == [(row.old, row.new) for row in back]


@pytest.mark.parametrize(
    ("keyword", "old", "new", "expected"),
    [
        ("ALGOR&DATASTRUC", "", "ALGOR&amp;DATASTRUC", (0, 1)),
        ("low risk", "low risk", "low-risk low, risk", (1, 2)),
        ("a a", "a a a", "a a", (2, 1)),
        ("100 €", "100 €", "100 $", (1, 0)),
        ("C++", "C++ and C", "C and C", (1, 0)),
        ("19.99", "19.99", "19.99 19.99 19,99 119.99", (1, 2)),
    ],
)
def test_keyword_of_several_words_needs_them_in_a_row(keyword, old, new, expected):
    """Any white space may separate them, and overlaps count."""
    assert [expected] == [(row.old, row.new) for row in rows(keyword, old, new)]


def test_place_of_a_keyword_does_not_matter():
    """A moved keyword has the same count."""
    assert [] == rows("oil", "oil gas crude", "gas crude oil")


def test_keyword_without_a_term_finds_nothing():
    """Nor does a term without words."""
    assert () == Keywords().compare(page("a"), page("b"))
    assert () == Keywords("...").compare(page("a"), page("b..."))


def test_strict_keyword_has_case_and_no_symbols():
    """This is the way of the thesis."""
    finding = Keywords("Oil €", exact=True).compare(page("oil"), page("Oil"))

    assert [(0, 1)] == [(row.old, row.new) for row in finding[0].objects]


def test_keyword_in_an_unreadable_body_is_reported_as_unknown():
    """The page became a PDF: it is neither silent nor a deletion."""
    (finding,) = Keywords("oil").compare(page("oil"), parse(b"GIF89a ...", "image/gif"))

    assert ("body",) == finding.kinds
    assert () == finding.deleted


def test_spans_of_a_keyword_are_its_places():
    """They are on the side of the direction; a keyword is never updated."""
    old, new = page("x oil y"), page("oil oil")
    keyword = Keywords("OIL")

    assert ([(1, 2)], [(0, 1), (1, 2)]) == keyword.spans(old, new, None)
    assert ([], [(0, 1), (1, 2)]) == keyword.spans(old, new, "inserted")
    assert ([(1, 2)], []) == keyword.spans(old, new, "deleted")
    assert ([], []) == keyword.spans(old, new, "updated")


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (((0, 1),), 'new keyword "k0"'),
        (((3, 2),), 'keyword "k0" 3 → 2'),
        (((1, 2), (2, 0)), 'keyword "k0" 1 → 2; removed keyword "k1"'),
    ],
)
def test_line_has_the_counts_of_both_pages(found, line):
    """It says how often the keyword is there."""
    objects = tuple(ObjectCount("keywords", f"k{place}", *both) for place, both in enumerate(found))
    change = ChangeSet(
        ("keywords",),
        inserted=tuple(row.object for row in objects if row.new > row.old),
        deleted=tuple(row.object for row in objects if row.new < row.old),
        objects=objects,
    )

    assert line == summary(change)


def examine_page(new, old, known=None, terms=("oil",)):
    bodies = [Body(data=f"<body>{text}".encode(), content_type="text/html") for text in (old, new)]
    wanted = Wanted(key=1, reference=0 if known is None else 1, expression=Interest("keywords", terms=terms))
    references = {} if known is None else {1: bodies[0]}
    return examine(Job(new=bodies[1], references=references, known={1: known} if known else {}, wanted=(wanted,)))


def test_old_page_is_read_only_if_the_count_differs():
    """The count of each keyword is stored with its version (W-101)."""
    known = examine_page("oil and gas", "").digest
    same, more = (
        examine_page("gas, then oil, much else", "oil and gas", known),
        examine_page("oil oil", "oil and gas", known),
    )

    assert ((), 1) == (same.found, same.work.bodies)
    assert ([("oil", 1, 2)], 2) == (
        [(row.object, row.old, row.new) for row in more.found[0].change.objects],
        more.work.bodies,
    )


@pytest.mark.parametrize("terms", [("gas",), tuple(f"k{number}" for number in range(aims.MOST_TERMS + 1))])
def test_pages_are_compared_without_a_stored_count(terms):
    """The keyword is new, or there are too many to store a count of each."""
    known = examine_page("oil and gas", "").digest
    found = examine_page("oil and", "oil and gas", known, terms)

    assert 2 == found.work.bodies
    assert bool(found.found) == ("gas" in terms)


def test_unreadable_bodies_are_compared_as_a_whole():
    """Two pictures have no count, and are not equal for that."""
    pictures = [Body(data=b"\x89PNG\r\n\x1a\n" + mark, content_type="image/png") for mark in (b"a", b"b")]
    wanted = (Wanted(key=1, reference=1, expression=Interest("keywords", terms=("oil",))),)
    known = examine(Job(new=pictures[0], references={}, known={}, wanted=())).digest
    found = examine(Job(new=pictures[1], references={1: pictures[0]}, known={1: known}, wanted=wanted)).found

    assert [("body",)] == [one.change.kinds for one in found]


@pytest.mark.parametrize(
    ("term", "folded", "exact"),
    [
        ("ALGOR&DATASTRUC", ("algor", "datastruc"), ("ALGOR", "DATASTRUC")),
        ("Straße", ("strasse",), ("Straße",)),
        ("C++", ("c", "+", "+"), ("C",)),
        ("3.5%", ("3.5",), ("3", "5")),
        ("100 €", ("100", "€"), ("100",)),
        ("cafe\u0301", ("café",), ("café",)),
        ("…", (), ()),
        ("", (), ()),
    ],
)
def test_term_is_split_as_the_page_is(term, folded, exact):
    """Punctuation separates; symbols are words, except in the thesis; case does not matter, except
    in the thesis.
    """
    assert folded == words_of_term(term)
    assert exact == words_of_term(term, exact=True)


def test_equal_terms_are_one():
    """The first spelling is shown; a term without words is left out."""
    assert ("Oil", "low risk", "gas") == distinct(("Oil", "low risk", "OIL", "...", "gas", "Low-Risk", "gas"))


def test_thesis_words_have_their_tokens():
    """Of a page of six tokens the thesis sees four words; ranges lead back to the tokens."""
    document = page("One € two Three + four")
    wording = words_of(document, exact=True)

    assert (["One", "two", "Three", "four"], [0, 2, 3, 5]) == (wording.words, wording.places)
    assert (2, 4) == wording.tokens(1, 3)
    assert (3, 3) == wording.tokens(2, 2)
    assert (6, 6) == wording.tokens(4, 4)
    assert ["one", "€", "two", "three", "+", "four"] == words_of(document).words


def test_keyword_on_an_empty_page_has_an_empty_place():
    """It is at 0."""
    assert (0, 0) == words_of(page("")).tokens(0, 0)
