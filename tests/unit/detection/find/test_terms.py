import pytest

from tidings.detection.find.terms import distinct, words_of, words_of_term
from tidings.document.parse import parse


def page(body):
    return parse(f"<!doctype html><body><p>{body}".encode(), "text/html; charset=utf-8")


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
def test_a_term_is_cut_as_the_page_is(term, folded, exact):
    """Punctuation separates; symbols are words, but not to the thesis; case means nothing, but to the thesis."""
    assert folded == words_of_term(term)
    assert exact == words_of_term(term, exact=True)


def test_terms_that_mean_the_same_are_one():
    """It is told as it was written first; what has no words is left out."""
    assert ("Oil", "low risk", "gas") == distinct(("Oil", "low risk", "OIL", "...", "gas", "Low-Risk", "gas"))


def test_words_know_their_tokens():
    """Of a page of six tokens the thesis sees four words; ranges lead back to the tokens."""
    document = page("One € two Three + four")
    wording = words_of(document, exact=True)

    assert (["One", "two", "Three", "four"], [0, 2, 3, 5]) == (wording.words, wording.places)
    assert (2, 4) == wording.tokens(1, 3)
    assert (3, 3) == wording.tokens(2, 2)
    assert (6, 6) == wording.tokens(4, 4)
    assert ["one", "€", "two", "three", "+", "four"] == words_of(document).words


def test_an_empty_page_has_an_empty_place():
    """Nothing stands at 0."""
    assert (0, 0) == words_of(page("")).tokens(0, 0)
