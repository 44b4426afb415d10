"""Pages that look different each time are told from pages that change often."""

from __future__ import annotations

from collections.abc import Iterable

from tidings.estimation.saturation import LOOKS, TRIES, add_poll, is_doubtful
from tidings.model.interval import HOUR, MINUTE
from tidings.model.observed.page import Saturation

UNKNOWN = Saturation()
ALWAYS = [True] * LOOKS


def after(looks: Iterable[tuple[int, bool]], known: Saturation = UNKNOWN) -> Saturation:
    """Return what is known after looks, each so long after the one before."""
    at = 0
    for gap, differs in looks:
        known = add_poll(known, at=at + gap, last=at, differs=differs, floor=MINUTE)
        at += gap
    return known


def test_twenty_looks_right_after_one_another_that_all_differ_are_saturation():
    """One less is none, and one that found nothing new begins the count anew."""
    assert after((MINUTE, True) for _ in ALWAYS).since == LOOKS * MINUTE
    assert after((MINUTE, True) for _ in ALWAYS[1:]).since is None
    assert after((MINUTE, number != LOOKS // 2) for number in range(LOOKS + 5)).since is None


def test_a_page_that_is_new_at_each_hourly_look_is_asked_again_right_away():
    """It may be news; three looks that come right after another say that it is none, one that finds it as it was that it is."""
    hourly = after((HOUR, True) for _ in ALWAYS)

    assert (None, True) == (hourly.since, is_doubtful(hourly))
    assert after([(MINUTE, True)] * 2, hourly).since is None
    assert after([(MINUTE, True)] * 3, hourly).since == 3 * MINUTE
    assert UNKNOWN == after([(MINUTE, True), (MINUTE, False)], hourly)


def test_nobody_asks_for_ever():
    """Where no look comes right after another, since the budget is spent say, the page is looked at as before."""
    hourly = after((HOUR, True) for _ in range(LOOKS + TRIES))

    assert not is_doubtful(hourly)
    assert hourly == after([(HOUR, True)], hourly)


def test_two_looks_that_find_nothing_new_end_it():
    """In all, not in a row; then it takes twenty again."""
    known = after((MINUTE, True) for _ in ALWAYS)
    once = after([(HOUR, False), (HOUR, True)], known)

    assert known.since == once.since
    assert not is_doubtful(once)
    assert UNKNOWN == after([(HOUR, False)], once)


def test_a_floor_that_is_long_is_no_less_soon():
    """Who may not look sooner than every ten minutes has looked right after another when ten minutes have passed."""
    known = UNKNOWN
    for number in range(LOOKS):
        at = number * 10 * MINUTE
        known = add_poll(known, at=at + 10 * MINUTE, last=at, differs=True, floor=10 * MINUTE)

    assert known.since is not None


def test_the_first_look_says_nothing():
    """There is nothing that it could differ from."""
    assert UNKNOWN == add_poll(UNKNOWN, at=0, last=None, differs=True, floor=MINUTE)
