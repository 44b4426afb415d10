"""All places of a term in a text."""

from hypothesis import given
from hypothesis import strategies as st

from tests.bounded import bound_time
from tidings.detection.compare.instances import occurrences

few = st.lists(st.sampled_from("ab"), max_size=40)
some = st.lists(st.sampled_from("abcd"), max_size=60)


@given(words=few | some, wanted=st.lists(st.sampled_from("ab"), min_size=1, max_size=8))
def test_search_agrees_with_the_simplest_one(words, wanted):
    """Knuth, Morris and Pratt's agrees, overlaps included."""
    naive = [at for at in range(len(words)) if words[at : at + len(wanted)] == wanted]

    assert naive == list(occurrences(words, wanted))


def test_term_without_words_is_nowhere():
    """It would be at every place."""
    assert [] == list(occurrences(["a", "b"], []))


def test_search_takes_linear_time():
    """A long run nearly matches everywhere: the simplest search would need a thousand million
    comparisons.
    """
    with bound_time(5):  # 0.2 s
        found = list(occurrences(["a"] * 1_000_000, [*["a"] * 1_000, "b"]))

    assert [] == found
