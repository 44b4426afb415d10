"""Pages that differ at each poll are distinguished from pages that change often."""

from __future__ import annotations

from collections.abc import Iterable

from tidings.estimation.saturation import POLLS, TRIES, add_poll, is_doubtful
from tidings.model.interval import HOUR, MINUTE
from tidings.model.observed.page import Saturation

UNKNOWN = Saturation()
ALWAYS = [True] * POLLS


def after(polls: Iterable[tuple[int, bool]], known: Saturation = UNKNOWN) -> Saturation:
    """Return what is known after polls, each so long after the one before."""
    at = 0
    for gap, differs in polls:
        known = add_poll(known, at=at + gap, last=at, differs=differs, floor=MINUTE)
        at += gap
    return known


def test_twenty_polls_in_a_row_that_all_differ_are_saturation():
    """Nineteen are not, and one that finds nothing new starts the count again."""
    assert POLLS * MINUTE == after((MINUTE, True) for _ in ALWAYS).since
    assert after((MINUTE, True) for _ in ALWAYS[1:]).since is None
    assert after((MINUTE, number != POLLS // 2) for number in range(POLLS + 5)).since is None


def test_page_that_differs_every_hour_is_polled_again_at_once():
    """It may be news. Three polls in quick succession that differ show that it is not; one that
    finds no change shows that it is.
    """
    hourly = after((HOUR, True) for _ in ALWAYS)

    assert (None, True) == (hourly.since, is_doubtful(hourly))
    assert after([(MINUTE, True)] * 2, hourly).since is None
    assert 3 * MINUTE == after([(MINUTE, True)] * 3, hourly).since
    assert UNKNOWN == after([(MINUTE, True), (MINUTE, False)], hourly)


def test_polls_in_quick_succession_are_given_up():
    """If none follows quickly, e.g. because the budget is spent, the page is polled as before."""
    hourly = after((HOUR, True) for _ in range(POLLS + TRIES))

    assert not is_doubtful(hourly)
    assert hourly == after([(HOUR, True)], hourly)


def test_two_polls_that_find_nothing_new_end_saturation():
    """They need not follow each other; then twenty are needed again."""
    known = after((MINUTE, True) for _ in ALWAYS)
    once = after([(HOUR, False), (HOUR, True)], known)

    assert known.since == once.since
    assert not is_doubtful(once)
    assert UNKNOWN == after([(HOUR, False)], once)


def test_poll_at_a_long_floor_counts_as_quick():
    """If the page may be polled only every ten minutes, ten minutes are quick."""
    known = UNKNOWN
    for number in range(POLLS):
        at = number * 10 * MINUTE
        known = add_poll(known, at=at + 10 * MINUTE, last=at, differs=True, floor=10 * MINUTE)

    assert known.since is not None


def test_first_poll_shows_nothing():
    """There is nothing that it could differ from."""
    assert UNKNOWN == add_poll(UNKNOWN, at=0, last=None, differs=True, floor=MINUTE)
