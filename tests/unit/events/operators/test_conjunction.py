"""The operators AND and ANY."""

import pytest

from tests.strategies_events import RULE_CONTEXTS, A, B, C, Detector, at, detect
from tidings.events.expression import And, AnyOfEvents, Primitive
from tidings.events.operators.node import Context

D = Primitive("d")


def words(found):
    return ["".join(part.type for part in one.parts) for one in found]


@pytest.mark.parametrize("context", RULE_CONTEXTS, ids=str)
def test_any_of_all_needs_each_part(context):
    """ANY(3, a, b, c) is detected when the third of three arrives, in any order."""
    for order in ("abc", "bca", "cab"):
        found = detect(AnyOfEvents(3, (A, B, C)), context, [at(name, k) for k, name in enumerate(order)])

        assert [order] == words(found)


def test_recent_context_uses_the_latest_parts():
    """If there are more parts than needed, it uses those that occurred last."""
    found = detect(AnyOfEvents(3, (A, B, C, D)), Context.RECENT, [at(name, k) for k, name in enumerate("abcda")])

    assert ["abc", "bcd", "cda"] == words(found)


def test_continuous_context_opens_a_window_at_each_occurrence():
    """An arrival detects all windows that it completes."""
    trace = [at(name, k) for k, name in enumerate("aacb")]

    assert ["acb", "acb"] == words(detect(AnyOfEvents(3, (A, B, C)), Context.CONTINUOUS, trace))
    assert ["abcd", "abcd"] == words(
        detect(AnyOfEvents(4, (A, B, C, D)), Context.CONTINUOUS, [at(n, k) for k, n in enumerate("aabcd")])
    )


def test_consume_uses_each_part_once():
    """The latest pair is detected once, and then each part must occur again."""
    trace = [at("a", 1), at("b", 2), at("b", 3), at("a", 4), at("a", 5), at("b", 6), at("a", 7)]

    assert 6 == len(detect(And(A, B), Context.RECENT, trace))
    assert [(1, 2), (3, 4), (5, 6)] == [
        (one.start, one.end) for one in detect(And(A, B, consume=True), Context.RECENT, trace)
    ]


def test_parts_outside_the_window_expire():
    """They do not wait any longer."""
    detector = Detector(And(A, B, within=10), Context.CHRONICLE)
    detector.run([at("a", 1), at("a", 2), at("b", 12)], until=None)

    assert detector.node.is_idle
