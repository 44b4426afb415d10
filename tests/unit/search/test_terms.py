"""Terms: what stands in the index for a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.search.terms import line_of_terms, places_of_terms, terms_of


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Café ZÜRICH costs 19.99", ("cafe", "zurich", "costs", "19.99")),
        ("STRASSE Straße", ("strasse", "strasse")),
        ("東京の天気", ("東", "京", "の", "天", "気")),
        ("Москва й", ("москва", "й")),
        ("non-stop 5 € -5", ("non", "stop", "5", "€", "-5")),
        ("", ()),
    ],
)
def test_terms(text, terms):
    """Case and the marks of Latin letters mean nothing, other letters keep theirs, numbers are
    whole.
    """
    assert terms == terms_of(text)


@given(st.text(st.characters(exclude_categories=["M", "Cf", "Cs"]), max_size=60))
def test_a_term_has_a_place(text):
    """Term by term in their places, and all at once, a text has the same terms; none has a space or
    a quotation mark.
    """
    found = [term for _, _, term in places_of_terms(text)]

    assert line_of_terms(text).split() == found
    assert not [term for term in found if any(c.isspace() or c == '"' for c in term)]
