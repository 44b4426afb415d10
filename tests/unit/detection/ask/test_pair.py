"""A pair of versions; keywords and phrases inside AND, OR and NOT (sentinels §4.5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.detection.ask.expression import digests_of, evaluate
from tidings.detection.ask.pair import Pair
from tidings.document.parse import parse
from tidings.model.watch.sentinel import AllOf, AnyOf, Interest, Not

ANY, WORDS, LINKS = (Interest(kind) for kind in ("any", "words", "links"))
OIL, GAS = Interest("keywords", ("oil",)), Interest("keywords", ("gas",))
BOTH = Interest("keywords", ("oil", "gas"))
FEE = Interest("phrases", ("there is no fee at all",))
bodies = st.lists(st.sampled_from(["oil", "Oil", "gas", "one", "two", "no", "fee"]), max_size=20).map(" ".join)


def page(body):
    return parse(f"<!doctype html><body>{body}".encode(), "text/html; charset=utf-8", url="http://x.org/")


def pair(old, new):
    return Pair(page(old), page(new))


def texts(expression, old, new):
    found = evaluate(expression, pair(old, new))
    return found.inserted, found.deleted, found.updated


def test_term_is_searched_once():
    """Two sentinels that ask for it share the search."""
    both = pair("oil", "oil oil")

    assert both.compare(OIL, "oil") is both.compare(Interest("keywords", ("oil",)), "oil")
    assert both.compare(WORDS) is both.compare(Interest("words"))


@pytest.mark.parametrize(
    ("expression", "old", "new", "expected"),
    [
        (BOTH, "oil", "gas", (("gas",), ("oil",), ())),
        (Interest("keywords", ("oil", "OIL")), "x", "oil", (("oil",), (), ())),
        (Interest("keywords", ("oil", "gas"), "inserted"), "oil", "gas", (("gas",), (), ())),
        (AllOf((OIL, GAS)), "oil", "gas", (("gas",), ("oil",), ())),
        (AllOf((OIL, GAS)), "oil", "x", ((), (), ())),
        (AnyOf((OIL, GAS)), "oil", "x", ((), ("oil",), ())),
        (AllOf((OIL, Not(GAS))), "oil", "gas", ((), (), ())),
        (AllOf((OIL, Not(GAS))), "oil gas", "gas", ((), ("oil",), ())),
        (AllOf((BOTH, Not(GAS))), "oil", "gas", ((), ("oil",), ())),
        (AllOf((BOTH, Not(Interest("keywords", ("GAS",), "inserted")))), "oil", "gas", ((), ("oil",), ())),
        (AllOf((BOTH, Not(Interest("keywords", ("gas",), "deleted")))), "oil", "gas", (("gas",), ("oil",), ())),
        (AllOf((OIL, Not(LINKS))), "oil", "<a href=/x>gas</a>", ((), (), ())),
        (AllOf((AnyOf((OIL, LINKS)), Not(OIL))), "oil", "<a href=/x>gas</a>", (("http://x.org/x",), (), ())),
        (AllOf((AnyOf((OIL, LINKS)), Not(WORDS))), "oil", "<a href=/x>gas</a>", ((), (), ())),
    ],
)
def test_each_keyword_of_a_list_is_separate(expression, old, new, expected):
    """NOT removes terms of a sibling, otherwise it is a veto."""
    assert expected == texts(expression, old, new)


@pytest.mark.parametrize(
    ("expression", "old", "new", "expected"),
    [
        (AllOf((WORDS, Not(OIL))), "one two", "one oil two", ((), (), ())),
        (AllOf((WORDS, Not(OIL))), "one two", "one new oil here two", (("new", "here"), (), ())),
        (AllOf((WORDS, Not(OIL))), "oil one two", "one two three oil", (("three",), (), ())),
        (AllOf((WORDS, Not(OIL))), "one oil two", "one gas two", (("gas",), (), ())),
        (AllOf((WORDS, Not(BOTH))), "one oil two", "one gas two", ((), (), ())),
        (AllOf((WORDS, Not(Interest("keywords", ("oil",), "inserted")))), "oil x one", "x one oil", ((), ("oil",), ())),
        (AllOf((WORDS, Not(Interest("keywords", ("oil",), "deleted")))), "oil x one", "x one oil", (("oil",), (), ())),
        (AllOf((WORDS, Not(OIL), Not(GAS))), "oil one gas", "one gas two oil", (("two",), (), ())),
        (AllOf((AllOf((WORDS, Not(OIL))), Not(GAS))), "oil one gas", "one gas two oil", (("two",), (), ())),
        (
            AllOf((AllOf((WORDS, Not(OIL))), Not(Interest("words", direction="deleted")))),
            "oil one x",
            "two one",
            (("two",), (), ()),
        ),
        (AllOf((ANY, Not(OIL))), "one", "<a href=/x>oil</a> one", (("http://x.org/x",), (), ())),
        (AllOf((Interest("words", direction="inserted"), Not(OIL))), "oil one", "two one oil", (("two",), (), ())),
        (AllOf((Interest("words", direction="deleted"), Not(OIL))), "oil one", "two one oil", ((), (), ())),
        (AllOf((WORDS, Not(OIL))), "price 5 oil x", "price 6 gas x", ((), (), (("5", "6 gas"),))),
    ],
)
def test_words_without_keywords(expression, old, new, expected):
    """Edits of the keywords are removed, and the rest is reported."""
    assert expected == texts(expression, old, new)


TERMS = "please note that today {} for any of our services and goods"


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("there is no fee at all", ((), (), ())),
        ("there is some fee at all", ((), (), ())),
        ("", ((), (), ())),
        ("there is no fee at all there is no fee at all", ((), (), ())),
    ],
)
def test_words_without_a_phrase(new, expected):
    """All edits of the phrase are removed, with its rewording."""
    assert expected == texts(AllOf((WORDS, Not(FEE))), TERMS.format("there is no fee at all"), TERMS.format(new))


def test_words_beside_a_phrase_are_reported():
    """The phrase may be unchanged."""
    old, new = TERMS.format("there is no fee at all"), TERMS.format("there is some fee at all") + " but one"

    assert (("but one",), (), ()) == texts(AllOf((WORDS, Not(FEE))), old, new)
    assert ((), (), ()) == texts(AllOf((FEE, Not(Interest("phrases", FEE.terms, "updated")))), old, new)
    assert 1 == len(texts(AllOf((FEE, Not(Interest("phrases", FEE.terms, "inserted")))), old, new)[2])


@given(old=bodies, new=bodies)
def test_words_without_a_keyword_are_those_of_a_page_without_it(old, new):
    """There is a change exactly if other words changed; it has no token of the keyword, and never
    more than before.
    """
    both = pair(old, new)
    whole, left = evaluate(WORDS, both), evaluate(AllOf((WORDS, Not(OIL))), both)
    others = [[token for token in document.tokens if token.lower() != "oil"] for document in (both.old, both.new)]

    assert (others[0] != others[1]) == bool(left)
    for side, document in enumerate((both.old, both.new)):
        reported = _tokens(left, side)
        assert "oil" not in {document.folded[at] for at in reported}
    assert sum(len(_tokens(left, side)) for side in (0, 1)) <= sum(len(_tokens(whole, side)) for side in (0, 1))


def _tokens(found, side):
    spans = [((e.old_start, e.old_end), (e.new_start, e.new_end))[side] for e in found.edits]
    return {at for span in spans for at in range(*span)}


def test_equal_texts_have_equal_terms():
    """The digest of the text decides for keywords and phrases."""
    assert {"text"} == digests_of(AnyOf((BOTH, FEE)))
