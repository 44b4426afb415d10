from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.detection.compare.instances import RESOLVED, STRICT, Rules
from tidings.detection.compare.stability import (
    MOST_SHARES,
    adapt,
    measure_changed_share,
    shares_as_object,
    shares_in,
    usual,
)
from tidings.detection.job.contract import Body, Job, Wanted
from tidings.detection.job.examiner import examine
from tidings.detection.kinds.keywords import Phrases
from tidings.document.parse import parse
from tidings.model.observed.version import Digest
from tidings.model.watch.interest import Interest


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("", "", 0), ("a b", "b a", 0), ("a b c d", "a b c e", 0.25), ("a", "b", 1), ("", "a", 1), ("a a", "a", 1 / 3)],
)
def test_share_of_words_that_changed(old, new, expected):
    """Of both versions together; order means nothing."""
    assert expected == pytest.approx(measure_changed_share(old.split(), new.split()))


@pytest.mark.parametrize(
    ("shares", "box", "factor"),
    [
        ((), 10, 0.6),
        ((0.0,), 10, 0.6),
        ((0.002, 0.9, 0.001), 10, 0.59),
        ((0.005, 0.005), 5, 0.575),
        ((0.02,), 3, 0.5),
        ((0.3,), 3, 0.4),
        ((1.0,), 3, 0.4),
    ],
)
def test_signatures_are_shorter_and_updates_wider_where_much_changes(shares, box, factor):
    """The usual share decides: as many words as stay untouched nineteen times in twenty; the factor falls by five times the share."""
    rules = adapt(shares, RESOLVED)

    assert (box, factor) == (rules.box, pytest.approx(rules.factor[0] / rules.factor[1]))


def test_in_the_thesis_way_both_are_fixed():
    """Ten words and 0.6, whatever the page did."""
    assert STRICT == adapt((0.5,) * 8, STRICT)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(1, 10))
def test_rules_stay_in_their_bounds(shares, box):
    """No signature is longer than asked for, none empty, and an update keeps at least two of five words."""
    rules = adapt(shares, Rules(box=box))

    assert min(3, box) <= rules.box <= box
    assert 0.4 <= rules.factor[0] / rules.factor[1] <= 0.6


def test_one_rewritten_version_makes_no_page_unstable():
    """The middle one of the newest counts."""
    assert 0.01 == usual((0.01, 0.9, 0.01))
    assert 0.0 == usual((0.0,) * MOST_SHARES + (1.0,) * 20)


def test_shares_ride_along_with_a_digest():
    """They are written with five places; a digest without them has none."""
    digest = Digest("page", 1, "", shares_as_object((0.125, 0.00001)))

    assert (0.125, 0.00001) == shares_in(digest)
    assert () == shares_in(None) == shares_in(Digest("page", 1, "", shares_as_object(())))


WORDS = " ".join(f"w{number}" for number in range(96))


def examine_page(new, reference, known):
    old, body = (Body(data=f"<body>{text}".encode(), content_type="text/html") for text in (reference, new))
    wanted = Wanted(key=1, reference=1, expression=Interest("phrases", terms=("low risk growth investing",)))
    return examine(Job(new=body, references={1: old}, known={1: known} if known else {}, wanted=(wanted,)))


def test_the_history_of_a_page_goes_on_from_version_to_version():
    """Each job adds its share; what was there before decides, so that no change is judged by itself."""
    first = examine_page(f"{WORDS} a b c d", f"{WORDS} a b c e", None).digest
    second = examine_page(f"{WORDS} x y z q", f"{WORDS} a b c d", first).digest
    same = examine_page(f"{WORDS} x y z q", f"{WORDS} x y z q", second).digest

    assert (0.01,) == shares_in(first)
    assert (0.04, 0.01) == shares_in(second) == shares_in(same)


def test_a_phrase_of_a_page_that_is_always_rewritten_is_updated_sooner():
    """With half of it left it is gone from a stable page, and reworded on one where much is rewritten each time."""
    old, new = (parse(f"<body>{WORDS} {phrase} {WORDS}".encode(), "text/html") for phrase in ("a b c d", "a b x y"))
    (stable,) = Phrases("a b c d").compare(old, new)
    (unstable,) = Phrases("a b c d").compare(replace(old, changed_shares=(0.2,)), new)

    assert (("a b c d",), ()) == (stable.deleted, stable.updated)
    assert ((), (("a b c d", "a b x y"),)) == (unstable.deleted, unstable.updated)
