"""The worth of a change of a page to all its subscriptions together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tidings.estimation.worth import InterestShare
from tidings.fetching import address
from tidings.language import parser
from tidings.model.observed.page import PageState
from tidings.model.watch.sentinel import ChangeLife, Sentinel
from tidings.scheduling.population import HALF_LIFE, LifeKind, UrgencyKind
from tidings.service.plan.worth import LearnedWorth, Worth, weight, worth
from tidings.service.watch.watchlist import Subscription, WatchedPage, WatchedSentinel
from tidings.storage.watches.sentinels import SentinelRow
from tidings.storage.watches.subscriptions import SubscriptionRow

HOUR = 3_600_000_000
USUAL = Worth(UrgencyKind.EXPONENTIAL, HALF_LIFE, LifeKind.FOREVER, 0)
TICKER = Worth(UrgencyKind.WINDOW, 0, LifeKind.OVERWRITE, 0)


def page(*clauses, monitor="Monitor any change"):
    """Return a page with a sentinel for each text of clauses."""
    held = WatchedPage(address.identify("http://a.example/"), PageState(page_id=1))
    for number, text in enumerate(clauses):
        (sentinel,) = parser.parse(f"Create Sentinel s{number} Using http://a.example/ {monitor} {text}").statements
        assert isinstance(sentinel, Sentinel)
        row = SentinelRow(number, sentinel.name, "enabled", "", 1, "", None, None, 0, 0, None, None, (), 1)
        sub = SubscriptionRow(number, number, 1, "", 1, 0, (), None, None, active=True)
        held.subscriptions[number] = Subscription(sub, WatchedSentinel(row, sentinel, {}))
    return held


@pytest.mark.parametrize(
    ("clauses", "asked"),
    [
        ("", USUAL),
        ("Urgency uniform", USUAL._replace(urgency_kind=UrgencyKind.UNIFORM, urgency_scale=0)),
        ("Urgency exponential 1 hour", USUAL._replace(urgency_scale=HOUR)),
        ("Urgency window 2 hour", USUAL._replace(urgency_kind=UrgencyKind.WINDOW, urgency_scale=2 * HOUR)),
        ("Life overwrite", USUAL._replace(life_kind=LifeKind.OVERWRITE)),
        ("Life 1 hour", USUAL._replace(life_kind=LifeKind.WINDOW, life_scale=HOUR)),
        ("Life 20 changes", USUAL._replace(life_kind=LifeKind.CHANGES, life_scale=20)),
        ("Watch as ticker", TICKER),
    ],
)
def test_clauses_become_columns_of_the_population(clauses, asked):
    """Each kind of Urgency and Life has its code, and its parameter in microseconds or changes."""
    assert asked == worth(page(clauses))


@pytest.mark.parametrize(
    ("wishes", "granted"),
    [
        (("Urgency exponential 1 hour", "Importance 0.9"), USUAL),
        (("Urgency uniform", "Urgency exponential 1 hour"), USUAL._replace(urgency_scale=HOUR)),
        (
            ("Urgency window 1 hour", "Urgency exponential 50 min"),
            USUAL._replace(urgency_kind=UrgencyKind.WINDOW, urgency_scale=HOUR),
        ),
        (
            ("Life 1 hour", "Life 2 changes", "Life 1 changes", ""),
            USUAL._replace(life_kind=LifeKind.CHANGES, life_scale=1),
        ),
        (("", "Watch as ticker Fetch every 1 hour"), USUAL),
    ],
    ids=[
        "most important",
        "shortest half-life",
        "area under the urgency",
        "shortest life",
        "fixed intervals do not count",
    ],
)
def test_most_important_clause_counts(wishes, granted):
    """Ties go to the least patient one, then to the shortest life. Order does not matter."""
    assert granted == worth(page(*wishes)) == worth(page(*reversed(wishes)))


def knowing(held, number, known):
    """Return the page with a learned worth of one subscription."""
    sub = held.subscriptions[number]
    sub.row = replace(sub.row, learned=known.text)
    return held


def test_learned_life_is_used_without_a_clause():
    """A clause is preferred, also `Life forever`."""
    known = LearnedWorth(life=ChangeLife("window", span=HOUR))

    assert USUAL._replace(life_kind=LifeKind.WINDOW, life_scale=HOUR) == worth(knowing(page(""), 0, known))
    assert USUAL == worth(knowing(page("Life forever"), 0, known))
    assert USUAL._replace(life_kind=LifeKind.OVERWRITE) == worth(knowing(page("Life overwrite"), 0, known))


def test_weight_of_a_page_is_the_sum_over_its_sentinels():
    """Each counts its importance times the share of changes that it reports. Sentinels with a fixed
    interval do not count.
    """
    few = page("", "Importance 1", "Importance 1 Fetch every 1 hour", monitor='Monitor keywords "x"')
    reports = LearnedWorth(InterestShare(8, 5))

    assert 0.5 * 0.5 + 1 * 0.5 == weight(few)
    assert 0.5 * 0.6 + 1 * 0.5 == pytest.approx(weight(knowing(few, 0, reports)))
    assert 0.5 + 1 == weight(page("", "Importance 1"))
