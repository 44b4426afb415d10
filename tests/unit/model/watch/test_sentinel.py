"""What a sentinel means where its text says nothing."""

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
def test_slack_is_a_tenth_of_the_interval_unless_given(fetch, slack):
    """A poll may be late by the slack that was asked for, none at all included, else by a tenth of the interval."""
    assert slack == fetch.effective_slack


def test_a_short_sentinel():
    """Name, page and change type are enough: fetched on change, compared pairwise, from now on, shown on the dashboard."""
    sentinel = Sentinel(name="news", pages=(Watched("http://a.example/"),), monitor=Interest("any"))

    assert (FetchOnChange(), Compare("pairwise"), "now", None, None) == (
        sentinel.fetch,
        sentinel.compare,
        sentinel.start.base,
        sentinel.end,
        sentinel.span,
    )
    assert [("dashboard", "interactive")] == [(n.channels[0].kind, n.rate.mode) for n in sentinel.notify]


def test_sentinels_of_one_meaning_are_equal():
    """Two texts that mean the same give equal sentinels, which can be kept in sets."""
    one, other = (
        Sentinel(name="news", pages=(Watched("http://a.example/"),), monitor=Interest("words", terms=("a",)))
        for _ in range(2)
    )

    assert 1 == len({one, other})
    assert one != Sentinel(name="news", pages=one.pages, monitor=Interest("words", terms=("b",)))


def test_rates_tell_their_interval_only_where_they_have_one():
    """`immediate` has no interval, `every` has the one given."""
    assert (0, 4 * DAY) == (Rate("immediate").interval, Notify((), Rate("every", 4 * DAY)).rate.interval)


def test_a_sentinel_is_hashed_without_its_pages():
    """A sentinel may name 20,000 pages; it is a key of caches that each poll reads."""

    class Unhashable(Watched):
        def __hash__(self) -> int:
            raise AssertionError("a page is hashed")

    pages = (Unhashable(url="https://a.example/"),)

    assert hash(Sentinel(name="many", pages=pages, monitor=Interest("words")))
