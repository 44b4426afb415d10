"""Defaults of a sentinel."""

import pytest

from tidings.clock import DAY, HOUR, MINUTE
from tidings.model.watch.sentinel import Compare, FetchEvery, FetchOnChange, Interest, Notify, Rate, Sentinel, Watched


@pytest.mark.parametrize(
    ("fetch", "slack"),
    [
        (FetchEvery(HOUR), 6 * MINUTE),
        (FetchEvery(HOUR, slack=MINUTE), MINUTE),
        (FetchEvery(HOUR, slack=0), 0),
        (FetchEvery(5), 0),
    ],
)
def test_slack_is_a_tenth_of_the_interval_by_default(fetch, slack):
    """A given slack counts instead, also one of 0."""
    assert slack == fetch.effective_slack


def test_short_sentinel_has_defaults():
    """With name, page and change type it is fetched on change, compared pairwise, from now on, and
    shown on the dashboard.
    """
    sentinel = Sentinel(name="news", pages=(Watched("http://a.example/"),), monitor=Interest("any"))

    assert (FetchOnChange(), Compare("pairwise"), "now", None, None) == (
        sentinel.fetch,
        sentinel.compare,
        sentinel.start.base,
        sentinel.end,
        sentinel.span,
    )
    assert [("dashboard", "interactive")] == [(n.channels[0].kind, n.rate.mode) for n in sentinel.notify]


def test_sentinels_with_the_same_meaning_are_equal():
    """They can be kept in sets."""
    one, other = (
        Sentinel(name="news", pages=(Watched("http://a.example/"),), monitor=Interest("words", terms=("a",)))
        for _ in range(2)
    )

    assert 1 == len({one, other})
    assert one != Sentinel(name="news", pages=one.pages, monitor=Interest("words", terms=("b",)))


def test_only_some_rates_have_an_interval():
    """`every` has the given interval, `immediate` has none."""
    assert (0, 4 * DAY) == (Rate("immediate").interval, Notify((), Rate("every", 4 * DAY)).rate.interval)


def test_hash_of_a_sentinel_ignores_its_pages():
    """A sentinel may have 20,000 pages, and is a key of caches that each poll reads."""

    class Unhashable(Watched):
        def __hash__(self) -> int:
            raise AssertionError("a page is hashed")

    pages = (Unhashable(url="https://a.example/"),)

    assert hash(Sentinel(name="many", pages=pages, monitor=Interest("words")))
