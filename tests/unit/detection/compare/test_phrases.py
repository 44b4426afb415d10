"""Phrases: each instance is unchanged, reworded, inserted or deleted."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bounded import bound_time
from tidings.detection.compare.instances import RESOLVED, STRICT, Rules, occurrences
from tidings.detection.compare.phrases import (
    MOST_INSTANCES,
    MOST_PAIRS,
    MOST_SHARES,
    adapt,
    compare_phrase,
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

PHRASE = "low risk growth investing".split()
small_pages = st.lists(st.sampled_from(["a", "b", "p", "q", "r"]), max_size=40)
phrases = st.lists(st.sampled_from(["p", "q", "a"]), min_size=1, max_size=4)
rules = st.builds(Rules, box=st.integers(1, 10))
FILLER = [*"abcdefgh", *PHRASE]
LEFT, RIGHT = [f"left{number}" for number in range(10)], [f"right{number}" for number in range(10)]


def report(change):
    return Counter(edit.status for edit in change.edits)


@given(old=small_pages, new=small_pages, phrase=phrases, rules=rules)
def test_counts_agree_with_the_edits(old, new, phrase, rules):
    """They are the numbers of all occurrences, and the edits explain their difference."""
    change = compare_phrase(old, new, phrase, rules)
    marks = report(change)

    assert len(list(occurrences(old, phrase))) == change.old
    assert len(list(occurrences(new, phrase))) == change.new
    assert change.new - change.old == marks["i"] - marks["d"] - marks["u"]
    assert set(marks) <= {"i", "d", "u", "context"}


@given(old=small_pages, new=small_pages, phrase=phrases, rules=rules)
def test_edits_have_the_places_of_their_texts(old, new, phrase, rules):
    """Deleted, reworded and kept text is on the old page, inserted and kept text on the new; no
    place is used twice.
    """
    change = compare_phrase(old, new, phrase, rules)

    for edit in change.edits:
        before, after = old[slice(*edit.old)], new[slice(*edit.new)]
        assert (phrase if edit.status != "i" else []) == before
        assert (phrase if edit.status in {"i", "context"} else []) == after or "u" == edit.status
    starts = [edit.new[0] for edit in change.edits if edit.status in {"i", "context"}]
    assert len(set(starts)) == len(starts)
    olds = [edit.old for edit in change.edits if edit.status != "i"]
    assert len(set(olds)) == len(olds)


@given(old=small_pages, new=small_pages, phrase=phrases, rules=rules)
def test_updated_phrase_is_another_text_in_a_free_place(old, new, phrase, rules):
    """It is not the phrase, is no longer than the limit, and shares no word with an occurrence or
    another update.
    """
    change = compare_phrase(old, new, phrase, rules)
    taken = Counter(at for start in set(occurrences(new, phrase)) for at in range(start, start + len(phrase)))
    taken = Counter(set(taken))
    for edit in change.edits:
        if edit.status == "u":
            assert 0 < edit.new[1] - edit.new[0] <= 2 * len(phrase) + rules.box
            taken.update(range(*edit.new))

    assert {1} >= set(taken.values())


@given(words=small_pages, phrase=phrases, rules=rules)
def test_page_compared_with_itself_has_no_edits(words, phrase, rules):
    """There is no edit of context either."""
    assert () == compare_phrase(words, list(words), phrase, rules).edits


@given(old=small_pages, new=small_pages, phrase=phrases, rules=rules)
def test_swapped_pages_keep_context_edits(old, new, phrase, rules):
    """Without rewording, inserted and deleted are swapped."""
    there, back = report(compare_phrase(old, new, phrase, rules)), report(compare_phrase(new, old, phrase, rules))

    assert there["context"] == back["context"]
    assert (there["i"], there["d"] + there["u"]) == (back["d"] + back["u"], back["i"])


edges = st.lists(st.sampled_from(FILLER), max_size=30)


@given(before=edges, after=edges, new_before=edges, new_after=edges)
def test_change_outside_its_box_does_not_affect_a_phrase(before, after, new_before, new_after):
    """The phrase between its ten and ten words is in no edit."""
    untouched = [*LEFT, *PHRASE, *RIGHT]
    change = compare_phrase([*before, *untouched, *after], [*new_before, *untouched, *new_after], PHRASE)
    here, there = len(before) + len(LEFT), len(new_before) + len(LEFT)

    assert here not in [edit.old[0] for edit in change.edits if edit.status != "i"]
    assert there not in [edit.new[0] for edit in change.edits if edit.status in {"i", "context"}]


@given(seed=st.integers(0, 10_000), share=st.integers(0, 10))
def test_phrase_survives_half_of_its_surroundings(seed, share):
    """W-123: unchanged among new words it is silent, up to half of them; reworded among near words
    it is an update.
    """
    rng = random.Random(seed)
    boxes = [*LEFT, *RIGHT]
    for at in rng.sample(range(20), share):
        boxes[at] = f"new{at}"
    old = [*LEFT, *PHRASE, *RIGHT]

    assert {"context"} >= set(report(compare_phrase(old, [*boxes[:10], *PHRASE, *boxes[10:]], PHRASE)))
    near = [*(f"new{at}" for at in range(8)), *LEFT[8:]], [*RIGHT[:2], *(f"new{at}" for at in range(8))]
    assert {"u": 1} == report(compare_phrase(old, [*near[0], "low", "risk", "bond", "investing", *near[1]], PHRASE))


def test_neighbours_with_the_same_signature_are_reported_in_order():
    """Of three, the first is reworded and the third is gone: the edits are where a reader would
    place them.
    """
    unit = [*LEFT, *PHRASE, *RIGHT]
    reworded = [*LEFT, "low", "risk", "bond", "investing", *RIGHT]
    change = compare_phrase(unit * 3, reworded + unit, PHRASE)

    assert [("u", (10, 14), (10, 14))] == [(e.status, e.old, e.new) for e in change.edits if e.status == "u"]
    assert ["d"] == [e.status for e in change.edits if e.status != "u"]


def test_reworded_phrase_is_found_after_an_empty_place():
    """Of two with the same boxes one is gone and one reworded: both are reported, whichever gap is
    shorter.
    """
    unit = [*LEFT, *PHRASE, *RIGHT]
    change = compare_phrase(unit * 2, [*LEFT, *RIGHT, *LEFT, "low", "risk", "bond", "investing", *RIGHT], PHRASE)

    assert {"d": 1, "u": 1} == report(change)


def test_too_many_occurrences_are_only_counted():
    """The numbers are still right."""
    change = compare_phrase(["a"] * (MOST_INSTANCES + 5), ["a"] * (MOST_INSTANCES + 3), ["a"])

    assert (MOST_INSTANCES + 5, MOST_INSTANCES + 3, (), True) == (change.old, change.new, change.edits, change.counted)


def _page(count, text, words, *, seed=1):
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        made += rng.choices(words, k=10)
        made += text
    return made + rng.choices(words, k=10)


WIDE = [f"w{number}" for number in range(5_000)]
MANY = 10_000
ADVERSARIES = {
    "all reworded": (lambda: _page(MANY, PHRASE, WIDE), lambda: _page(MANY, ["low", "risk", "bond", "investing"], WIDE), {"u": MANY}),
    "all gone": (lambda: _page(MANY, PHRASE, WIDE), lambda: _page(MANY, [], WIDE), {"d": MANY}),
    "all elsewhere": (lambda: _page(MANY, PHRASE, WIDE), lambda: _page(MANY, PHRASE, WIDE, seed=2), {"d": MANY, "i": MANY}),
    "one signature, half gone": (lambda: [*["a"] * 10, *PHRASE] * MANY, lambda: [*["a"] * 10, *PHRASE] * (MANY // 2), {"d": MANY // 2}),
}  # fmt: skip


@pytest.mark.parametrize("name", ADVERSARIES)
def test_ten_thousand_instances_are_compared_in_limited_time(name):
    """Each is reported, without a comparison of each pair."""
    old, new, expected = ADVERSARIES[name]
    before, after = old(), new()
    with bound_time(10):  # at most 0.7 s
        change = compare_phrase(before, after, PHRASE)

    assert expected == report(change)
    assert MANY * MANY > MOST_PAIRS


def test_repeated_word_is_counted_with_overlaps():
    """In a page of only `a`, a thousand fewer are a thousand fewer."""
    with bound_time(5):  # 0.2 s
        change = compare_phrase(["a"] * (MANY + 1), ["a"] * (MANY - 999), ["a", "a"])

    assert {"d": 1_000} == report(change)


def test_frequent_boxes_end_the_search_early():
    """A page of a million words that are all boxes has nothing like the phrase."""
    with bound_time(10):  # 0.7 s
        change = compare_phrase(_page(1_000, PHRASE, ["a"]), ["a"] * 900_000, PHRASE)

    assert {"d": 1_000} == report(change)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("", "", 0), ("a b", "b a", 0), ("a b c d", "a b c e", 0.25), ("a", "b", 1), ("", "a", 1), ("a a", "a", 1 / 3)],
)
def test_share_of_changed_words_is_of_both_versions(old, new, expected):
    """Order does not matter."""
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
def test_signatures_and_updates_depend_on_the_usual_share(shares, box, factor):
    """As many words count as stay unchanged nineteen times in twenty; the factor falls by five
    times the share.
    """
    rules = adapt(shares, RESOLVED)

    assert (box, factor) == (rules.box, pytest.approx(rules.factor[0] / rules.factor[1]))


def test_signatures_and_updates_of_the_thesis_are_fixed():
    """They are ten words and 0.6."""
    assert STRICT == adapt((0.5,) * 8, STRICT)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(1, 10))
def test_rules_of_signatures_have_limits(shares, box):
    """None is longer than asked for, none is empty, and an update keeps at least two of five words."""
    rules = adapt(shares, Rules(box=box))

    assert min(3, box) <= rules.box <= box
    assert 0.4 <= rules.factor[0] / rules.factor[1] <= 0.6


def test_one_rewritten_version_does_not_change_the_usual_share():
    """It is the median of the newest ones."""
    assert 0.01 == usual((0.01, 0.9, 0.01))
    assert 0.0 == usual((0.0,) * MOST_SHARES + (1.0,) * 20)


def test_shares_are_stored_with_a_digest():
    """They have five places; a digest without them has none."""
    digest = Digest("page", 1, "", shares_as_object((0.125, 0.00001)))

    assert (0.125, 0.00001) == shares_in(digest)
    assert () == shares_in(None) == shares_in(Digest("page", 1, "", shares_as_object(())))


WORDS = " ".join(f"w{number}" for number in range(96))


def examine_page(new, reference, known):
    old, body = (Body(data=f"<body>{text}".encode(), content_type="text/html") for text in (reference, new))
    wanted = Wanted(key=1, reference=1, expression=Interest("phrases", terms=("low risk growth investing",)))
    return examine(Job(new=body, references={1: old}, known={1: known} if known else {}, wanted=(wanted,)))


def test_history_of_shares_continues_from_version_to_version():
    """Each job adds its share; earlier ones decide, so that no change is judged by itself."""
    first = examine_page(f"{WORDS} a b c d", f"{WORDS} a b c e", None).digest
    second = examine_page(f"{WORDS} x y z q", f"{WORDS} a b c d", first).digest
    same = examine_page(f"{WORDS} x y z q", f"{WORDS} x y z q", second).digest

    assert (0.01,) == shares_in(first)
    assert (0.04, 0.01) == shares_in(second) == shares_in(same)


def test_phrase_of_a_rewritten_page_is_updated_sooner():
    """With half of it left, it is gone from a stable page, and reworded on one that is rewritten
    each time.
    """
    old, new = (parse(f"<body>{WORDS} {phrase} {WORDS}".encode(), "text/html") for phrase in ("a b c d", "a b x y"))
    (stable,) = Phrases("a b c d").compare(old, new)
    (unstable,) = Phrases("a b c d").compare(replace(old, changed_shares=(0.2,)), new)

    assert (("a b c d",), ()) == (stable.deleted, stable.updated)
    assert ((), (("a b c d", "a b x y"),)) == (unstable.deleted, unstable.updated)
