"""What a refresh improves, by hand, by sorting all results again, and by the paper's examples."""

import itertools
import math
import random
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.search.query import parse, terms_of
from tidings.search.ranking import (
    HALF_LIFE,
    LEAST_IDF,
    USUAL_EXPONENT,
    Statistics,
    bm25,
    curve_of,
    fade,
    knee,
    rate,
    single_terms,
    sum_of_powers,
    value_of_move,
    value_of_refresh,
    viewing_exponent,
)

POWER = curve_of([r**-0.7 for r in range(1, 201)], 1.5)
SCORE = st.integers(0, 1_000).map(lambda n: n / 7)


def quality(shown, true, exponent=1.5):
    """Return what searchers get: the results in the order of their shown scores, with their true
    worth.
    """
    order = sorted((page for page in shown if shown[page] > 0), key=lambda page: -shown[page])
    return math.fsum(rank**-exponent * true[page] for rank, page in enumerate(order, 1))


def by_sorting(scores, page, after, exponent=1.5):
    """Return what a refresh of a page improved, by sorting before and after."""
    true = {**scores, page: after}
    return quality(true, true, exponent) - quality(scores, true, exponent)


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [(5**-0.7, 20.5**-0.7, 0.0084319), (50**-0.7, 9.5**-0.7, 0.0016764), (1.0, 3.5**-0.7, 0.1366136)],
)
def test_improvement_agrees_with_values_by_hand(before, after, value):
    """A page falls, one rises, and one leaves the first rank; scores are `r ** -0.7`."""
    scores = {rank: rank**-0.7 for rank in range(1, 201)}
    page = round(before ** (-1 / 0.7))

    assert value == pytest.approx(value_of_move(POWER, before, after), abs=5e-8)
    assert value == pytest.approx(by_sorting(scores, page, after), abs=5e-8)


@pytest.mark.parametrize("exponent", [0.8, 1.5, 2.2])
def test_improvement_agrees_with_sorting_of_two_hundred_pages(exponent):
    """It agrees to seven digits for every move; the page may be new, or gone."""
    chance = random.Random(7)
    for _ in range(60):
        scores = {page: chance.random() ** 3 for page in range(200)}
        page, after = chance.randrange(201), chance.choice([0.0, chance.random() ** 3])
        before = scores.setdefault(page, 0.0)
        curve = curve_of(scores.values(), exponent)

        found = value_of_move(curve, before, after)

        assert found == pytest.approx(by_sorting(scores, page, after, exponent), abs=1e-9, rel=1e-7)


@given(st.lists(SCORE, min_size=1, max_size=12, unique=True), SCORE, st.floats(0.3, 3))
def test_refresh_never_harms(scores, after, exponent):
    """If the curve is exact, what searchers get does not fall."""
    for before in (*scores, 0.0):
        assert value_of_move(curve_of(scores, exponent), before, after) >= -1e-9


def test_short_form_has_corrected_signs():
    """It is I(r1) F(r1 + 1) - I(r2) F(r2) - sum of I(r) x decrease; the paper's print leaves the
    signs out (002 §5.1).
    """
    score = POWER.score_at
    for r1, r2 in itertools.combinations((1, 2, 5, 20, 60, 199), 2):
        long = math.fsum(((r - 1) ** -1.5 - r**-1.5) * score(r) for r in range(r1 + 1, r2 + 1))
        middle = math.fsum(r**-1.5 * (score(r) - score(r + 1)) for r in range(r1 + 1, r2))

        assert long == pytest.approx(r1**-1.5 * score(r1 + 1) - r2**-1.5 * score(r2) - middle)


@pytest.mark.parametrize(("first", "last"), [(1, 5), (2, 10), (10, 20), (10, 1_000), (9, 200_000), (1, 3_000)])
def test_sums_of_powers_are_nearly_exact(first, last):
    """They are exact for few or for the first ranks; otherwise the midpoints are good to half a
    thousandth.
    """
    exact = math.fsum(k**-1.5 for k in range(first, last + 1))

    assert exact == pytest.approx(sum_of_powers(first, last, 1.5), rel=5e-4)
    if last - first <= 32:
        assert exact == pytest.approx(sum_of_powers(first, last, 1.5), rel=1e-12)
    assert 0 == sum_of_powers(5, 4, 1.5)


def test_long_list_is_approximated_by_pieces():
    """Ten thousand results are known by the best 256 and three pieces: values are within two
    percent of the exact ones.
    """
    scores = [1000 * (r + 20) ** -0.9 for r in range(1, 10_001)]
    short, exact = curve_of(scores, 1.5), curve_of(scores, 1.5, exact=10_000)

    assert (256, 3, 10_000) == (len(short.top), len(short.pieces), short.last)
    for r1, r2 in ((300, 9_000), (9_000, 300), (40, 5_000), (5_000, 3), (700, 800)):
        before, after = scores[r1 - 1], scores[r2 - 1] * 0.9999
        expected = value_of_move(exact, before, after)
        assert value_of_move(short, before, after) == pytest.approx(expected, rel=0.02), (r1, r2)
    for rank in (1, 256, 257, 1_000, 9_999, 10_000):
        assert short.score_at(rank) == pytest.approx(scores[rank - 1], rel=0.02)
        assert short.count_above(short.score_at(rank) * (1 - 1e-9)) == rank
    assert 0 == curve_of([], 1.5).count_above(1.0)
    assert 0 == short.score_at(10_001)


@given(st.integers(0, 10**9))
def test_all_scores_have_a_curve(seed):
    """The worth of a refresh of the best page is near the exact value, even for scores that fall
    steeply.
    """
    chance = random.Random(seed)
    ordered = sorted((10 ** chance.uniform(-9, 3) for _ in range(chance.randint(257, 300))), reverse=True)
    short, exact = curve_of(ordered, 1.5), curve_of(ordered, 1.5, exact=len(ordered))
    before, after = chance.choice(ordered[:250]), chance.choice([0.0, 10 ** chance.uniform(-9, 3)])

    found, expected = (value_of_move(curve, before, after) for curve in (short, exact))

    assert found == pytest.approx(expected, rel=0.05, abs=1e-3 * ordered[0])


WEB = {
    "p1": "New Technology: A new thyroid cancer therapy",
    "p2": "Seminar: Important traffic laws and rules",
    "p3": "Cancer Management: Early tests to detect breast cancer",
    "p4": "",
}
STORED = {
    "p1": "New Technology: A new chipset designed for cell phones",
    "p2": "Seminar: Cancer symptoms",
    "p3": "",
    "p4": "Cancer association seeking volunteers to help raise awareness",
}


def tf_idf(counts: Mapping[str, float], length: int, known: Statistics) -> float:
    """Return the TF-IDF score of a text as Lucene computes it, which the paper used (002 §5.2)."""
    if not length:
        return 0.0
    return sum(
        math.sqrt(count) * (1 + math.log(known.documents / (known.frequency.get(term, 0) + 1))) ** 2
        for term, count in counts.items()
        if count
    ) / math.sqrt(length)


def score_terms(text):
    """Return the TF-IDF of each term of a page, among a thousand pages of which ten have it."""
    terms = terms_of(text)
    known = Statistics(1_000, 8.0, dict.fromkeys(terms, 10))
    return {term: tf_idf({term: terms.count(term)}, len(terms), known) for term in terms}


def test_tf_idf_agrees_with_a_value_by_hand():
    """It is sqrt(4) (1 + ln(100 / 2))² / sqrt(16)."""
    known = Statistics(100, 50.0, {"rare": 1, "common": 60})
    assert 12.0642 == pytest.approx(tf_idf({"rare": 4}, 16, known), abs=1e-3)


@pytest.mark.parametrize("order", list(itertools.permutations(WEB)))
def test_four_discrepancies_of_the_paper_are_refreshed(order):
    """The paper's first table has pages that rose, fell, are new, or are gone. Each refresh is
    worth what sorting says, in any order, and their sum is all that there was to gain.
    """
    scores = {page: score_terms(text).get("cancer", 0.0) for page, text in STORED.items()}
    true = {page: score_terms(text).get("cancer", 0.0) for page, text in WEB.items()}
    assert true["p1"] > scores["p1"]
    assert true["p2"] < scores["p2"]

    for page in order:
        curves = {"cancer": curve_of(scores.values(), 1.5)}
        value = value_of_refresh(score_terms(STORED[page]), score_terms(WEB[page]), curves, {"cancer": 3.0})
        assert value == pytest.approx(3 * by_sorting(scores, page, true[page]), abs=1e-12)
        assert value >= 0
        scores[page] = true[page]

    assert quality(true, true) == quality(scores, true)


@given(st.integers(0, 10**9))
def test_query_of_several_words_is_valued_exactly_by_a_curve_of_its_own(seed):
    """Only pages with all its words are results; that agrees with ranking all pages again."""
    chance = random.Random(seed)
    pages = {page: {word: chance.random() for word in "abc" if chance.random() < 0.6} for page in range(9)}
    new = {word: chance.random() for word in "abc" if chance.random() < 0.6}
    queries = {"a": 1.0, "a b": 2.0, "b c": 0.5, "a b c": 3.0}

    def score(words):
        return {q: sum(words[w] for w in q.split()) for q in queries if words.keys() >= set(q.split())}

    found = {page: score(words) for page, words in pages.items()}
    curves = {q: curve_of([scores.get(q, 0.0) for scores in found.values()], 1.5) for q in queries}
    exact = sum(
        often * by_sorting({page: scores.get(q, 0.0) for page, scores in found.items()}, 0, score(new).get(q, 0.0))
        for q, often in queries.items()
    )

    assert exact == pytest.approx(value_of_refresh(found[0], score(new), curves, queries))


def test_sum_over_words_values_a_page_that_a_query_does_not_find():
    """A page that gets one of two words is no result of both; the sum over the words counts it."""
    workload = [(parse("seminar databases"), 1.0)]
    curves = {"seminar": curve_of([3.0, 2.0], 1.5), "databases": curve_of([2.0], 1.5)}

    assert value_of_refresh({}, {"seminar": 4.0}, curves, single_terms(workload)) > 0
    assert 0 == value_of_refresh({}, {}, {"seminar databases": curve_of([4.0], 1.5)}, {"seminar databases": 1.0})


def test_only_searched_words_make_a_refresh_worthwhile():
    """Words that nobody searches for may change; a new subject that people search for is worth a
    refresh.
    """
    workload = single_terms([(parse("seminar databases"), 2.0), (parse("databases"), 1.0)])
    curves = {term: curve_of([3.0, 2.0, 1.0], 1.5) for term in workload}
    page = "weekly seminar {} brought to you by {}"

    def value(old, new):
        return value_of_refresh(score_terms(page.format(*old)), score_terms(page.format(*new)), curves, workload)

    assert {"seminar": 2.0, "databases": 3.0} == workload
    assert 0 == value(("databases", "soap"), ("databases", "beer"))
    assert value(("graphics", "soap"), ("databases", "soap")) > 0


def test_rate_is_a_ratio_of_sums():
    """It is not a mean of ratios (.166667 here); a page of which nothing was gained keeps a chance."""
    assert 0.175 == pytest.approx(rate(0.4 + 1.4 + 0.3, 2 + 7 + 3, usual=0, weight=0))
    assert 0 < rate(0.0, 100.0, usual=0.2, weight=10.0) < 0.2
    assert 0 == rate(0.0, 0.0, usual=1.0, weight=0.0)


KNOWN = Statistics(100, 50.0, {"rare": 1, "common": 60})


def test_bm25_agrees_with_a_value_by_hand():
    """It is ln((100 - 1 + .5) / 1.5) for a text of average length that has the term once; a common
    term weighs next to nothing.
    """
    assert 4.1947 == pytest.approx(bm25({"rare": 1}, 50, KNOWN), abs=1e-4)
    assert LEAST_IDF == pytest.approx(bm25({"common": 1}, 50, KNOWN))
    assert bm25({"rare": 1}, 20, KNOWN) > bm25({"rare": 1}, 80, KNOWN)
    assert 0 == bm25({"rare": 0}, 50, KNOWN)


def test_searches_fade_by_half_in_thirty_days():
    """Nothing grows if a clock is set back."""
    assert 4.0 == fade(8.0, HALF_LIFE)
    assert 8.0 == fade(8.0, -HALF_LIFE)


@pytest.mark.parametrize("exponent", [0.4, 1.0, 1.5, 2.3])
def test_viewing_curve_is_fitted_to_clicks(exponent):
    """The exponent of the curve that drew the clicks is found again; clicks on later screens mean
    nothing.
    """
    ranks = np.arange(1, 21)
    shares = ranks**-exponent / np.sum(ranks**-exponent)
    drawn = np.random.default_rng(5).multinomial(40_000, shares)
    clicks = dict(zip(ranks.tolist(), drawn.tolist(), strict=True))

    assert exponent == pytest.approx(viewing_exponent({**clicks, 400: 9_000}), abs=0.05)


def test_few_clicks_keep_the_usual_curve():
    """Below a thousand clicks the curve is the usual one."""
    assert USUAL_EXPONENT == viewing_exponent({1: 999})
    assert USUAL_EXPONENT < viewing_exponent({1: 1_000})
    assert 0 == pytest.approx(viewing_exponent({20: 1_000}), abs=1e-9)


def test_scores_before_the_knee_are_kept():
    """Forty queries have similar scores, then there is a fall: the knee is where it begins. Without
    a fall all are kept.
    """
    of_these = [100 * 0.99**n for n in range(40)]
    of_others = [10 * 0.5**n for n in range(1, 21)]

    assert of_these[-1] == pytest.approx(knee([*of_others, *of_these]), rel=0.05)
    assert 0 == knee([1.0] * 50)
    assert 0 == knee([5.0, 4.0, 0.1])
