"""Queries: what somebody typed. Terms: what the index holds for a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import UsageError
from tidings.search.query import (
    Phrase,
    Query,
    find_similar,
    holds,
    is_of_site,
    line_of_terms,
    parse,
    places_of_terms,
    places_that_matter,
    terms_of,
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("price list", "list price"),
        ('"Price List" -shoes', '"price list" -shoes'),
        ("price OR tariff fee", "fee price OR tariff"),
        ("shop*", "shop*"),
        ('"Filter Cof*"', '"filter cof*"'),
        ('"-5"', '"-5"'),
        ("non-stop", '"non stop"'),
        ("東京", '"東 京"'),
        ("http://example.org/a", '"http example org a"'),
        ("OR a", "a"),
        ("b AND a", "a b"),
        ('"unfinished phrase', '"unfinished phrase"'),
    ],
)
def test_query_has_words_phrases_and_operators(text, message):
    """Words in any order, phrases, alternatives, exclusions and beginnings; whatever is no operator
    is a word.
    """
    assert message == str(parse(text))


def test_filter_is_no_word():
    """Only known filters are; an unknown name is a word like any other."""
    found = parse("site:example.org tag:money kind:pdf price note:that")

    assert {"site": "example.org", "tag": "money", "kind": "pdf"} == found.filters
    assert 'price "note that"' == " ".join(str(group[0]) for group in found.groups)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "say a word"),
        ("-only -these", "say a word"),
        ("site:example.org", "say a word"),
        ("x" * 1001, "1,000 characters"),
        (" ".join(f"w{n}" for n in range(33)), "32 words"),
        ("a kind:song", "html, feed"),
    ],
)
def test_query_without_a_word_is_refused(text, why):
    """The message says what can be done."""
    with pytest.raises(UsageError, match=why):
        parse(text)


@given(st.text(max_size=80))
def test_any_text_is_a_query_or_is_refused(text):
    """A query that is written out and read again is the same query."""
    try:
        found = parse(text)
    except UsageError:
        return

    assert str(found) == str(parse(str(found)))


def test_overlapping_phrases_are_counted():
    """A beginning ends anywhere in the last word."""
    terms = ["a", "a", "a", "bee"]

    assert 2 == holds(Phrase(("a", "a")), terms)
    assert 1 == holds(Phrase(("a", "b"), is_prefix=True), terms)
    assert 0 == holds(Phrase(("b",)), terms)
    assert ("a", "bee") == Query(((Phrase(("a", "bee")), Phrase(("a",))),)).terms


def test_site_includes_its_subdomains():
    """`www.` is the same site; a name with the same ending is not."""
    assert is_of_site("www.example.org", "example.org")
    assert is_of_site("docs.example.org", "www.example.org")
    assert not is_of_site("notexample.org", "example.org")


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
def test_terms_ignore_case_and_accents(text, terms):
    """Latin letters lose their marks, other letters keep theirs, and a number is one term."""
    assert terms == terms_of(text)


@given(st.text(st.characters(exclude_categories=["M", "Cf", "Cs"]), max_size=60))
def test_each_term_has_a_place(text):
    """Read one by one or all at once, a text has the same terms; none has a space or a quotation
    mark.
    """
    found = [term for _, _, term in places_of_terms(text)]

    assert line_of_terms(text).split() == found
    assert not [term for term in found if any(c.isspace() or c == '"' for c in term)]


@given(
    st.text(st.sampled_from("aAeé -.5$€京ßſİ\u0301\u00ad\n"), max_size=60), st.sampled_from(["a", "a e", "5*", "é -5"])
)
def test_no_place_of_a_phrase_is_missed(text, query):
    """What is left out is no part of a phrase: the places of its terms are those of all terms."""
    phrases = parse(query).phrases
    wanted = {phrase.terms[-1] for phrase in phrases}
    every, some = (
        [place for place in places if any(place[2].startswith(term) for term in wanted)]
        for places in (places_of_terms(text), places_that_matter(text, phrases))
    )

    assert every == some


@pytest.mark.parametrize(
    ("term", "found"),
    [
        ("ketle", ["kettle", "ketel"]),
        ("ekttle", ["kettle"]),
        ("kettle", ["kettles"]),
        ("tee", []),
        ("teh4", []),
        ("porcelian", ["porcelain"]),
        ("porselian", ["porcelain"]),
        ("茶壺茶壺", []),
    ],
)
def test_similar_terms_are_those_a_slip_away(term, found):
    """One error up to seven letters, two from eight on; the nearest and most frequent are first."""
    known = [("ketel", 1), ("kettle", 5), ("kettles", 9), ("cattle", 3), ("tea", 9), ("the4", 1), ("porcelain", 2)]

    assert found == find_similar(term, known)
