"""Laws for all traces (sentinels §3.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import share
from tests.strategies_events import (
    CONTEXTS,
    LATER,
    A,
    B,
    C,
    Detector,
    at,
    detect,
    event_expressions,
    lasting,
    shift,
    traces,
)
from tidings.events.expression import And, NotBetween, Or, Seq
from tidings.events.operators.node import Context

LA, LB, LC = lasting("a", "b", "c")
PAIRING = {"AND": And(LA, LB), "SEQ": Seq(LA, LB), "NOT": NotBetween(LC, LA, LB)}
UNRESTRICTED = Context.UNRESTRICTED


def parts_of(found):
    return [occurrence.parts for occurrence in found]


def list_defined(trace, holds):
    """Return the pairs of a and b that the definition demands, in the order in which they are
    complete.
    """
    places = [
        (max(i, j), min(i, j))
        for i, first in enumerate(trace)
        for j, last in enumerate(trace)
        if first.type == "a" and last.type == "b" and holds(i, j)
    ]
    return [(trace[earlier], trace[later]) for later, earlier in sorted(places)]


@given(traces)
def test_and_agrees_with_its_definition(trace):
    """Unrestricted AND detects every pair of its parts."""
    expected = list_defined(trace, lambda i, j: True)

    assert expected == parts_of(detect(PAIRING["AND"], UNRESTRICTED, trace))


@given(traces)
def test_seq_agrees_with_its_definition(trace):
    """Unrestricted SEQ detects every pair of which one ended before the other started."""
    expected = list_defined(trace, lambda i, j: trace[i].end < trace[j].start)

    assert expected == parts_of(detect(PAIRING["SEQ"], UNRESTRICTED, trace))


@given(traces)
def test_not_agrees_with_its_definition(trace):
    """Unrestricted NOT detects every sequence without a whole occurrence between, ends included,
    ties by arrival.
    """

    def holds(i, j):
        first, last = trace[i], trace[j]
        between = (
            one for one in trace[i + 1 : j] if one.type == "c" and first.end <= one.start and one.end <= last.start
        )
        return first.end < last.start and not any(between)

    expected = list_defined(trace, holds)

    assert expected == parts_of(detect(PAIRING["NOT"], UNRESTRICTED, trace))


@given(traces, st.integers(0, 8))
def test_within_limits_the_whole_detection(trace, within):
    """Exactly the detections that last no longer remain."""
    for plain, bounded in (
        (PAIRING["AND"], And(LA, LB, within)),
        (PAIRING["SEQ"], Seq(LA, LB, within)),
        (PAIRING["NOT"], NotBetween(LC, LA, LB, within)),
    ):
        expected = [one.parts for one in detect(plain, UNRESTRICTED, trace) if one.end - one.start <= within]

        assert expected == parts_of(detect(bounded, UNRESTRICTED, trace))


@given(traces)
@pytest.mark.parametrize("operator", PAIRING)
@pytest.mark.parametrize("context", [Context.RECENT, Context.CHRONICLE, Context.CONTINUOUS], ids=str)
def test_contexts_detect_a_subset(operator, context, trace):
    """The unrestricted context detects all of it, too."""
    everything = detect(PAIRING[operator], UNRESTRICTED, trace)

    assert [] == [one for one in detect(PAIRING[operator], context, trace) if one not in everything]


@given(traces)
@pytest.mark.parametrize("operator", PAIRING)
def test_chronicle_context_uses_each_occurrence_once(operator, trace):
    """It makes pairs one to one."""
    used = [part for parts in parts_of(detect(PAIRING[operator], Context.CHRONICLE, trace)) for part in parts]

    assert len(used) == len({repr(part) for part in used})


@given(traces)
@pytest.mark.parametrize("operator", PAIRING)
def test_cumulative_context_uses_each_occurrence_once(operator, trace):
    """No occurrence takes part twice."""
    found = parts_of(detect(PAIRING[operator], Context.CUMULATIVE, trace))
    used = [repr(part) for parts in found for part in parts]

    assert len(used) == len(set(used))


@given(traces)
@pytest.mark.parametrize("context", CONTEXTS, ids=str)
def test_or_is_commutative(context, trace):
    """The order of its parts and the context do not matter."""
    expected = [occurrence for occurrence in trace if occurrence.type in "ab"]

    assert expected == detect(Or((A, B)), context, trace) == detect(Or((B, A)), context, trace)


@given(traces)
@pytest.mark.parametrize("context", CONTEXTS, ids=str)
def test_and_is_commutative(context, trace):
    """The order of its parts does not matter."""
    expected = parts_of(detect(And(A, B), context, trace))

    assert expected == parts_of(detect(And(B, A), context, trace))


@share(2)
@given(event_expressions, st.sampled_from(CONTEXTS), traces, st.data())
def test_restart_has_no_effect(expression, context, trace, data):
    """State that is dumped and loaded after any prefix continues as before, for every nested
    expression.
    """
    cut = data.draw(st.integers(0, len(trace)))
    before = Detector(expression, context)
    found = before.run(trace[:cut], until=None)

    assert detect(expression, context, trace) == found + before.reload().run(trace[cut:])


@given(event_expressions, st.sampled_from(CONTEXTS), traces, st.integers(-1000, 1000))
def test_shifted_trace_has_shifted_results(expression, context, trace, by):
    """This holds for every nested expression."""
    expected = [shift(one, by) for one in detect(expression, context, trace)]

    assert expected == detect(expression, context, [shift(one, by) for one in trace], until=LATER + by)


@given(event_expressions, st.sampled_from(CONTEXTS), traces)
def test_detections_are_in_the_order_of_their_ends(expression, context, trace):
    """A detection ends at the instant at which it is made, and time does not go back."""
    ends = [one.end for one in detect(expression, context, trace)]

    assert ends == sorted(ends)


@given(event_expressions, traces)
def test_detection_spans_its_parts(expression, trace):
    """A composite starts no later than any part and ends no earlier; a tick is a point after its
    initiators.
    """
    for one in detect(expression, Context.CHRONICLE, trace):
        inside = [part for part in one.parts if one.start != one.end or not one.type.startswith("P")]

        assert all(one.start <= part.start and part.end <= one.end for part in inside)
        assert all(part.end <= one.end for part in one.parts)


def test_intervals_decide_instead_of_instants():
    """SEQ(b, SEQ(a, c)) does not match a, b, c: the inner pair began before b had ended."""
    nested = Seq(B, Seq(A, C))

    assert [] == detect(nested, UNRESTRICTED, [at("a", 1), at("b", 2), at("c", 3)])
    assert 1 == len(detect(nested, UNRESTRICTED, [at("b", 1), at("a", 2), at("c", 3)]))
