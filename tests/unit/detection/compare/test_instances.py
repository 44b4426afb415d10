import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.detection.compare import instances
from tidings.detection.compare.instances import pair_occurrences, surround


def places(page, word="x", box=2):
    words = page.split()
    return [surround(words, (at, at + 1), box=box) for at, other in enumerate(words) if other == word]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a x b x c x d", "a x b x c x d", [(0, 0), (1, 1), (2, 2)]),
        ("a x b", "", []),
        ("a b x c d e f x g h", "a b c d e f x g h", [(1, 0)]),
        ("a b x c d e f x g h i j x k l", "a b x c d i j x k l", [(0, 0), (2, 1)]),
        ("a b x c d e f x g h", "e f x g h a b x c d", [(0, 1), (1, 0)]),
        ("a b x c d", "p q x r s a b x c z", [(0, 1)]),
        ("a x b", "p x q r x s", [(0, 0)]),
    ],
)
def test_an_occurrence_is_known_by_the_words_around_it(old, new, expected):
    """The same words first, then the most alike, then in order; the side with fewer is used up."""
    assert expected == pair_occurrences(places(old), places(new))


_page = st.lists(st.sampled_from("xxab"), max_size=14).map(" ".join)


@settings(max_examples=60)
@given(_page, _page)
def test_as_many_are_left_as_the_numbers_differ_by(old, new):
    """Never more: each occurrence has one partner at most."""
    before, after = places(old), places(new)
    found = pair_occurrences(before, after)

    assert min(len(before), len(after)) == len(found)
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found)


def test_very_many_are_paired_in_their_order(monkeypatch):
    """What would have to be compared too often is not."""
    monkeypatch.setattr(instances, "MOST_COMPARED", 1)

    assert [(0, 0), (1, 1)] == pair_occurrences(places("a x b x c"), places("p x q x r"))
