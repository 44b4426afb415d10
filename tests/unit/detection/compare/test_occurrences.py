from hypothesis import given
from hypothesis import strategies as st

from tests.bounded import bound_time
from tidings.detection.compare.instances import occurrences

few = st.lists(st.sampled_from("ab"), max_size=40)
some = st.lists(st.sampled_from("abcd"), max_size=60)


@given(words=few | some, wanted=st.lists(st.sampled_from("ab"), min_size=1, max_size=8))
def test_it_finds_what_looking_at_each_place_finds(words, wanted):
    """Knuth, Morris and Pratt agree with the simplest way there is, overlaps included."""
    naive = [at for at in range(len(words)) if words[at : at + len(wanted)] == wanted]

    assert naive == list(occurrences(words, wanted))


def test_nothing_is_nowhere():
    """A term without words would be at every place; it is at none."""
    assert [] == list(occurrences(["a", "b"], []))


def test_time_is_linear():
    """A long run that nearly matches everywhere: naively a thousand million comparisons."""
    with bound_time(5):  # 0.2 s
        found = list(occurrences(["a"] * 1_000_000, [*["a"] * 1_000, "b"]))

    assert [] == found
