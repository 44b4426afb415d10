"""Occurrences as values and as plain text."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tidings.events.occurrence import Occurrence

names = st.text(max_size=4)
instants = st.integers(-(2**63), 2**63)
params = st.dictionaries(names, st.none() | st.integers() | names | st.lists(st.integers()), max_size=2)
primitives = st.builds(Occurrence.at, names, instants, params)
occurrences = st.recursive(
    primitives,
    lambda parts: st.builds(Occurrence, names, instants, instants, params, st.lists(parts, max_size=3).map(tuple)),
    max_leaves=6,
)


@given(occurrences)
def test_occurrence_survives_its_plain_form(occurrence):
    """Parts and parameters are the same."""
    assert occurrence == Occurrence.from_json(json.loads(json.dumps(occurrence.to_json())))


def test_plain_form_has_no_empty_fields():
    """What an occurrence does not have is not written."""
    assert ["a", 1, 1] == Occurrence.at("a", 1).to_json()
    assert ["a", 1, 2, {"n": 1}] == Occurrence("a", 1, 2, {"n": 1}).to_json()


def test_primitives_of_a_composite_are_listed():
    """They are in the order of its parts, at every depth."""
    a, b, c = (Occurrence.at(name, instant) for instant, name in enumerate("abc"))
    composite = Occurrence("x", 0, 2, {}, (Occurrence("y", 0, 1, {}, (a, b)), c))

    assert [a, b, c] == list(composite.primitives())
    assert [a] == list(a.primitives())
