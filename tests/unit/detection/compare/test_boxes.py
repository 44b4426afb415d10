"""Boxes: the words before and after an instance of a phrase."""

from hypothesis import given
from hypothesis import strategies as st

from tidings.detection.compare import thesis as module
from tidings.detection.compare.thesis import Boxes

words = st.lists(st.sampled_from("abcx"), max_size=30)
box = st.lists(st.sampled_from("abc"), max_size=4)


def naive_gaps(words, lower, upper, most):
    ends = [at + len(lower) for at in range(len(words)) if words[at : at + len(lower)] == lower] if lower else [0]
    starts = [at for at in range(len(words)) if words[at : at + len(upper)] == upper] if upper else [len(words)]
    found = [(end, start) for end in ends for start in starts if 0 <= start - end <= most]
    return sorted(found, key=lambda gap: (gap[1] - gap[0], gap[0]))


@given(words=words, lower=box, upper=box, most=st.integers(0, 12))
def test_gaps_are_the_texts_between_boxes(words, lower, upper, most):
    """The shortest comes first; an empty box is the start or the end of the page."""
    page = Boxes(words, "abc")

    assert naive_gaps(words, lower, upper, most) == page.gaps(page.encode(lower), page.encode(upper), most)


@given(words=words, lower=box, upper=box)
def test_nearest_gap_is_the_shortest(words, lower, upper):
    """Its length does not matter."""
    page = Boxes(words, "abc")
    (best, *_) = naive_gaps(words, lower, upper, len(words)) or (None,)

    assert best == page.nearest(page.encode(lower), page.encode(upper))


@given(words=words, wanted=st.lists(box.filter(bool), min_size=1, max_size=12))
def test_one_pass_agrees_with_single_searches(words, wanted):
    """Many boxes are searched at once."""
    one, many = Boxes(words, "abc"), Boxes(words, "abc")
    few, module.FEW = module.FEW, 0
    many.prepare(map(many.encode, wanted))
    module.FEW = few

    for each in map(one.encode, wanted):
        assert one.gaps(each, "", len(words)) == many.gaps(each, "", len(words))


def test_unknown_words_match_no_box():
    """A word that is in no box never agrees."""
    page = Boxes(["q", "a"], "a")

    assert [] == page.gaps(page.encode(["a", "a"]), "", 9)


def test_search_of_boxes_has_limited_steps():
    """Frequent boxes end it; the result until then is used."""
    page = Boxes(["a"] * 300_000, "a")
    found = [page.gaps(box, box, 30) for box in (page.encode("a" * size) for size in (10, 7, 5))]

    assert 0 < len(found[0]) <= module.STEPS
    assert [] == found[2]
