"""Event expressions as values and as text."""

import json

import pytest
from hypothesis import given

from tests.strategies_events import OF_EACH_OPERATOR, A, B, C, event_expressions
from tidings.events.expression import (
    EXPRESSIONS,
    And,
    AnyOfEvents,
    Aperiodic,
    AperiodicStar,
    NotBetween,
    Or,
    Periodic,
    PeriodicStar,
    Plus,
    Primitive,
    Seq,
    from_json,
    spell,
    to_json,
)
from tidings.events.operators.operators import OPERATORS


def test_each_expression_has_an_operator():
    """Each operator has an expression, too."""
    assert set(EXPRESSIONS) == set(OPERATORS)


@given(event_expressions)
def test_expression_survives_its_plain_form(expression):
    """It is the same after it was plain text."""
    assert expression == from_json(json.loads(json.dumps(to_json(expression))))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Or((A, B, C)), "OR(a, b, c)"),
        (And(A, B, within=60, consume=True), "AND(a, b) within 60 consumed"),
        (AnyOfEvents(2, (A, B, C)), "ANY(2, a, b, c)"),
        (Seq(A, Seq(B, C)), "SEQ(a, SEQ(b, c))"),
        (NotBetween(B, A, C), "NOT(b)[a, c]"),
        (Aperiodic(A, B, C), "A(a, b, c)"),
        (AperiodicStar(A, B, C), "A*(a, b, c)"),
        (Periodic(A, 2, C), "P(a, [2], c)"),
        (PeriodicStar(A, 2, C), "P*(a, [2], c)"),
        (Plus(A, 4), "PLUS(a, 4)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_expression_is_written_as_in_the_papers(expression, text):
    """The notation is that of the literature on Snoop."""
    assert text == spell(expression)


@given(event_expressions, event_expressions)
def test_different_expressions_are_written_differently(one, other):
    """Two with the same text are equal, except for whether their events may last."""
    assert (spell(one) != spell(other)) or without_lasting(one) == without_lasting(other)


def without_lasting(expression):
    return json.dumps(to_json(expression)).replace('{"op": "event", "name": "c", "lasting": true}', '"c"')


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Or((A,)), "OR joins two or more different events, not: a"),
        (lambda: Or(()), "OR joins two or more different events, not: none"),
        (lambda: And(A, A), "AND joins two or more different events, not: a, a"),
        (lambda: AnyOfEvents(4, (A, B, C)), "ANY takes from 2 to 3 of 3 parts, not 4"),
        (lambda: AnyOfEvents(1, (A, B)), "ANY takes from 2 to 2 of 2 parts, not 1"),
        (lambda: Seq(A, B, within=-1), "SEQ can be bounded to 0 µs or more, not -1"),
        (lambda: Periodic(A, 0, C), r"the period of P must be above 0 µs, it is 0"),
        (lambda: PeriodicStar(A, -5, C), r"the period of P\* must be above 0 µs, it is -5"),
        (lambda: Plus(A, -1), "PLUS waits 0 µs or more, not -1"),
        (lambda: from_json({"op": "XOR"}), 'no event operator "XOR"; there are: event, OR, AND'),
    ],
    ids=["OR of one", "OR of none", "AND", "ANY of four", "ANY of one", "SEQ", "P", "P*", "PLUS", "unknown"],
)
def test_impossible_expression_is_refused(make, message):
    """It could never be detected, or always; the message says what is wrong."""
    with pytest.raises(ValueError, match=message):
        make()


def test_points_in_time_are_recognized():
    """Ticks and undeclared events are points; composites, and events declared to last, may not be."""
    lasting = Primitive("c", lasting=True)
    points = [A, Or((A, B)), Periodic(A, 2, B), Plus(A, 3)]
    others = [lasting, Or((A, lasting)), And(A, B), Seq(A, B), PeriodicStar(A, 2, B), Aperiodic(A, B, C)]

    assert [True] * 4 + [False] * 6 == [expression.is_punctual for expression in points + others]


@pytest.mark.parametrize("name", OF_EACH_OPERATOR)
def test_primitives_and_or_ignore_the_context(name):
    """Nothing waits in them."""
    assert (name == "OR") == OF_EACH_OPERATOR[name].is_stateless
    assert not Or((A, OF_EACH_OPERATOR["AND"])).is_stateless
