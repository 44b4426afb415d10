"""One step of the engine: conditions, actions, raised events and loops."""

import json

import pytest

from tests.strategies_events import A, B, C, at
from tidings.events.engine import Engine
from tidings.events.expression import And, Aperiodic, Or, Periodic, Plus, Primitive, Seq
from tidings.events.operators.node import Bounds, Context
from tidings.events.rule import Coupling, Raised, Retuned, Rule, RuleId, RuleProblem
from tidings.events.step import MOST_DEPTH

DEFERRED, DETACHED = Coupling.DEFERRED, Coupling.DETACHED


def report(firing):
    """Return, as an action, which rule fired on which event."""
    yield firing.rule.name, *(occurrence.type for occurrence in firing.occurrences)


def raise_events(firing):
    """Return, as an action, that it fired, and the events that its rule names."""
    yield firing.rule.name
    for name in firing.rule.data["raises"]:
        yield Raised(name, {"by": firing.rule.name})


def fail(firing):
    """Raise an event and fail, as an action."""
    yield Raised("c")
    message = "no such page"
    raise ValueError(message)


def retune(firing):
    """Set the period of the rule that the data of this action name."""
    yield Retuned(RuleId("", firing.rule.data["rule"]), firing.rule.data["period"])


ACTIONS = {"tell": report, "raise": raise_events, "fail": fail, "retune": retune}
CONDITIONS = {
    "odd": lambda firing: firing.occurrence.params["n"] % 2 == 1,
    "even": lambda firing: firing.occurrence.params["n"] % 2 == 0,
    "impossible": lambda firing: firing.occurrence.params["missing"],
}


def engine_of(*rules):
    engine = Engine(CONDITIONS, ACTIONS)
    for rule in rules:
        engine.add(rule)
    return engine


def rule(name, event=A, action="tell", **more):
    return Rule(name=name, event=event, action=action, **more)


def list_fired(outcome):
    return [firing.rule.name for firing in outcome.firings]


def state(engine):
    """Return all that an engine would store, without the flags of failed rules."""
    dump = json.loads(json.dumps(engine.dump()))
    for one in dump["rules"]:
        del one["flag"]
    return dump


def test_rules_fire_by_priority():
    """Rules of equal priority fire in the order in which they were added."""
    engine = engine_of(rule("old", priority=1), rule("low"), rule("new", priority=1), rule("high", priority=2))

    assert ["high", "old", "new", "low"] == list_fired(engine.push(at("a", 1)))


def test_priority_does_not_depend_on_depth():
    """The depth of a rule's event in the graph does not matter."""
    engine = engine_of(rule("plain", priority=1), rule("composite", And(A, B), priority=2))
    engine.push(at("b", 1))

    assert ["composite", "plain"] == list_fired(engine.push(at("a", 2)))


def test_rule_fires_for_each_detection():
    """In the continuous context, one terminator makes a rule fire for each initiator."""
    engine = engine_of(rule("r", Seq(A, B), context=Context.CONTINUOUS))
    engine.push(at("a", 1))
    engine.push(at("a", 2))

    assert [1, 2] == [firing.occurrence.start for firing in engine.push(at("b", 3)).firings]


def test_rule_with_a_false_condition_does_not_fire():
    """The condition is asked for the occurrence."""
    engine = engine_of(rule("r", condition="odd"))

    assert [["r"], [], ["r"]] == [list_fired(engine.push(at("a", n, n))) for n in (1, 2, 3)]


def test_failed_condition_is_false_and_reported():
    """Its rule does not fire, and the others do."""
    engine = engine_of(rule("bad", condition="impossible"), rule("good"))
    outcome = engine.push(at("a", 1))

    assert ["good"] == list_fired(outcome)
    assert (RuleProblem("condition", RuleId("", "bad"), 1, "KeyError: 'missing'"),) == outcome.problems
    assert {} == engine.flags()


def test_raised_events_are_handled_in_the_same_step():
    """They are first in, first out, after the rules of the event before."""
    engine = engine_of(
        rule("first", action="raise", data={"raises": ["b", "c"]}),
        rule("second"),
        rule("on b", B, "raise", data={"raises": ["d"]}),
        rule("on c", C),
        rule("on d", Primitive("d")),
    )
    outcome = engine.push(at("a", 5))

    assert ["first", "second", "on b", "on c", "on d"] == list_fired(outcome)
    assert {5} == {firing.at for firing in outcome.firings}


def test_raised_events_reach_operators():
    """They have the instant of the step and their parameters."""
    engine = engine_of(rule("r", action="raise", data={"raises": ["b"]}), rule("composite", And(A, B)))
    firing = engine.push(at("a", 7)).firings[-1]

    assert ("composite", 7, {"by": "r"}) == (firing.rule.name, firing.occurrence.end, firing.occurrence.parts[1].params)


def test_group_with_a_waiting_raised_event_is_stored():
    """It is among the changed groups."""
    engine = engine_of(
        rule("r", group="raises", action="raise", data={"raises": ["b"]}), rule("waits", Seq(B, C), group="waits")
    )
    engine.take_changed()
    engine.push(at("a", 1))

    assert {"waits"} == engine.take_changed()


def test_deferred_rule_fires_once_at_the_end_of_the_step():
    """It gets all that it detected in the step."""
    engine = engine_of(
        rule("late", Or((A, B)), coupling=DEFERRED, priority=9),
        rule("now", action="raise", data={"raises": ["b"]}),
        rule("on b", B),
    )
    outcome = engine.push(at("a", 1))

    assert ["now", "on b", "late"] == list_fired(outcome)
    assert ("late", "a", "b") == outcome.effects[-1]


def test_deferred_rules_fire_by_priority():
    """Events that they raise are handled after them, in the same step."""
    engine = engine_of(
        rule("low", coupling=DEFERRED, action="raise", data={"raises": ["b"]}),
        rule("high", coupling=DEFERRED, priority=1),
        rule("on b", B),
        rule("late on b", B, coupling=DEFERRED),
    )

    assert ["high", "low", "on b", "late on b"] == list_fired(engine.push(at("a", 1)))


def test_condition_of_a_deferred_rule_filters_occurrences():
    """It is asked for each of them."""
    window = Aperiodic(Primitive("open"), A, Primitive("close"))
    engine = engine_of(rule("r", Or((A, window)), coupling=DEFERRED, condition="odd"))

    assert [(1,), ()] == [
        tuple(len(firing.occurrences) for firing in engine.push(at("a", n, n)).firings) for n in (1, 2)
    ]


def test_detached_rule_is_left_to_the_host():
    """The engine reports that it fired, and runs nothing."""
    engine = engine_of(rule("out", action="fail", coupling=DETACHED), rule("in"))
    outcome = engine.push(at("a", 1))

    assert ["out", "in"] == list_fired(outcome)
    assert ["out"] == [firing.rule.name for firing in outcome.detached]
    assert (("in", "a"),) == outcome.effects
    assert () == outcome.problems


def test_failed_action_undoes_the_step():
    """The rule is flagged, and the rest is done without it."""
    rules = [
        rule("before", priority=2),
        rule("waits", Seq(A, B)),
        rule("bad", action="fail", priority=1),
        rule("counts", And(A, C), context=Context.CHRONICLE),
        rule("clock", Plus(A, 10)),
    ]
    engine = engine_of(*rules)
    outcome = engine.push(at("a", 1))
    without = engine_of(*(one for one in rules if one.name != "bad"))
    expected = without.push(at("a", 1))

    assert (expected.firings, expected.effects) == (outcome.firings, outcome.effects)
    assert (RuleProblem("action", RuleId("", "bad"), 1, "ValueError: no such page"),) == outcome.problems
    assert {RuleId("", "bad"): "action: ValueError: no such page"} == engine.flags()
    for event in (at("c", 2), at("b", 3)):
        assert list_fired(without.push(event)) == list_fired(engine.push(event))
    assert list_fired(without.advance(20)) == list_fired(engine.advance(20))


def test_failed_step_leaves_the_state_unchanged():
    """If all rules of an event fail, only the time has passed."""
    engine = engine_of(rule("bad", Seq(A, B, consume=True), "fail"), rule("keeps", Seq(A, C)))
    engine.push(at("a", 1))
    before = state(engine)
    engine.push(at("x", 2))
    engine.push(at("b", 2))
    after = state(engine)
    bad = after["rules"][0]["nodes"][0]

    assert before["rules"] == after["rules"]
    assert [0, None] == after["states"].pop(str(bad))
    assert before["states"].pop(str(bad)) != [0, None]
    assert before["states"] == after["states"]


def test_flagged_rule_does_not_fire():
    """Not after a restart either."""
    engine = engine_of(rule("bad", action="fail"))
    engine.push(at("a", 1))
    engine = Engine.load(json.loads(json.dumps(engine.dump())), conditions=CONDITIONS, actions=ACTIONS)

    assert () == engine.push(at("a", 2)).problems
    assert [RuleId("", "bad")] == list(engine.flags())


def test_tick_of_a_failed_step_is_not_repeated():
    """It is not lost either."""
    engine = engine_of(rule("bad", Periodic(A, 5, C), "fail"), rule("good", Periodic(A, 5, C)))
    engine.push(at("a", 0))
    outcome = engine.advance(12)

    assert [5, 10] == [firing.at for firing in outcome.firings]
    assert ["action"] == [problem.kind for problem in outcome.problems]
    assert 15 == engine.next_due()


def test_dropped_occurrences_of_an_undone_step_are_counted_once():
    """Their count is undone with the step."""
    full = rule("full", Seq(A, B), context=Context.CHRONICLE, bounds=Bounds(max_waiting=1))
    engine = engine_of(full, rule("bad", action="fail", condition="even"))
    for n in (1, 2, 3):
        engine.push(at("a", n, n))

    assert {RuleId("", "bad")} == set(engine.flags())
    assert 2 == engine.count_dropped("")


def test_undone_step_leaves_no_clock():
    """A clock that it started does not run twice."""
    engine = engine_of(rule("bad", action="fail"), rule("clock", Plus(A, 10)))
    engine.push(at("a", 1))

    assert ["clock"] == list_fired(engine.advance(50))
    assert 0 == engine.sizes.clocks


def test_endless_loop_is_stopped():
    """A rule that raises its own event is stopped after 32 in a row and reported; others continue."""
    engine = engine_of(rule("loop", action="raise", data={"raises": ["a"]}), rule("other"))
    outcome = engine.push(at("a", 1))

    assert 1 + MOST_DEPTH == list_fired(outcome).count("loop") == list_fired(outcome).count("other")
    assert [("cascade", RuleId("", "loop"))] == [(one.kind, one.rule) for one in outcome.problems]
    assert ["other"] == list_fired(engine.push(at("a", 2)))


def test_loop_of_two_rules_is_stopped():
    """So is one of deferred rules."""
    for coupling in (Coupling.IMMEDIATE, DEFERRED):
        engine = engine_of(
            rule("there", A, "raise", data={"raises": ["b"]}, coupling=coupling),
            rule("back", B, "raise", data={"raises": ["a"]}, coupling=coupling),
        )

        (problem,) = engine.push(at("a", 1)).problems
        assert "cascade" == problem.kind
        assert f"events raised one another {MOST_DEPTH} deep" in problem.text
        assert {problem.rule} == set(engine.flags())


def test_wide_loop_is_stopped(monkeypatch):
    """Rules that raise two events for each one are stopped long before 2^32 events."""
    monkeypatch.setattr("tidings.events.step.MOST_RAISED", 50)
    engine = engine_of(rule("double", action="raise", data={"raises": ["a", "a"]}))
    outcome = engine.push(at("a", 1))

    assert ["cascade"] == [one.kind for one in outcome.problems]
    assert len(outcome.firings) <= 51


def test_loop_with_a_clock_of_0_is_stopped():
    """A rule on PLUS(a, 0) that raises a is a loop within one instant."""
    engine = engine_of(rule("loop", Plus(A, 0), "raise", data={"raises": ["a"]}))
    engine.push(at("a", 1))
    outcome = engine.advance(1)

    assert ["cascade"] == [one.kind for one in outcome.problems]
    assert len(outcome.firings) <= MOST_DEPTH
    assert engine.next_due() is None


def test_rule_may_start_its_own_clock_again():
    """A loop over time is allowed."""
    engine = engine_of(rule("r", Plus(A, 5), "raise", data={"raises": ["a"]}))
    engine.push(at("a", 0))
    outcome = engine.advance(500)

    assert list(range(5, 501, 5)) == [firing.at for firing in outcome.firings]
    assert () == outcome.problems


def test_action_can_set_a_period():
    """It holds from the end of the step, and counts from the tick that caused it."""
    engine = engine_of(rule("poll", Periodic(A, 10, C), "retune", data={"rule": "poll", "period": 3}))
    engine.push(at("a", 0))

    assert [10, 13, 16, 19] == [firing.at for firing in engine.advance(20).firings]


def test_impossible_period_is_a_failed_action():
    """A rule without a clock, or a period of 0, is reported and undone."""
    for data in ({"rule": "plain", "period": 3}, {"rule": "none", "period": 3}, {"rule": "poll", "period": 0}):
        engine = engine_of(rule("plain"), rule("poll", Periodic(A, 10, C)), rule("bad", B, "retune", data=data))

        assert ["action"] == [one.kind for one in engine.push(at("b", 1)).problems]


def test_action_cannot_call_the_engine():
    """It would be within its own step: the error says what to return instead."""
    engine = Engine(actions={"push": lambda firing: engine.push(at("b", 9))})
    engine.add(rule("bad", action="push"))
    (problem,) = engine.push(at("a", 1)).problems

    assert "RuntimeError: an action must not call the engine: return Raised" in problem.text
    assert ["action"] == [problem.kind]
    assert () == engine.push(at("b", 2)).problems


@pytest.mark.parametrize("coupling", [Coupling.IMMEDIATE, DEFERRED], ids=str)
def test_rule_without_an_action_is_reported(coupling):
    """The outcome says that it fired."""
    outcome = engine_of(rule("r", action="", coupling=coupling)).push(at("a", 1))

    assert ["r"] == list_fired(outcome)
    assert () == outcome.effects
