"""The engine: clocks, rules by group, and its state as plain JSON."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies_events import RULE_CONTEXTS, A, B, C, Detector, at, event_expressions, traces
from tidings.errors import UsageError
from tidings.events.engine import Engine, Sizes
from tidings.events.expression import And, Aperiodic, AperiodicStar, NotBetween, Or, Periodic, Plus, Primitive, Seq
from tidings.events.occurrence import Occurrence
from tidings.events.operators.node import Bounds, Context
from tidings.events.rule import Coupling, Rule, RuleId

EMPTY = Sizes(rules=0, nodes=0, clocks=0)


def engine_of(*rules):
    engine = Engine()
    for rule in rules:
        engine.add(rule)
    return engine


def report(outcome):
    return [(firing.rule.name, firing.at) for firing in outcome.firings]


def plain(dump):
    """Return a dump as it comes back from a database."""
    return json.loads(json.dumps(dump))


def run(engine, trace, until):
    found = [firing for event in trace for firing in engine.push(event).firings]
    return [(*firing.rule.id, firing.at, firing.occurrences) for firing in [*found, *engine.advance(until).firings]]


def test_earlier_clocks_come_before_an_event():
    """They come in the order of their due times."""
    engine = engine_of(
        Rule(name="slow", event=Plus(A, 7)), Rule(name="fast", event=Plus(A, 3)), Rule(name="b", event=B)
    )
    engine.push(at("a", 0))

    assert [("fast", 3), ("slow", 7), ("b", 9)] == report(engine.push(at("b", 9)))


def test_event_at_the_due_instant_comes_first():
    """A terminator at t suppresses the tick at t; an event at t comes before the clocks of t."""
    engine = engine_of(
        Rule(name="tick", event=Periodic(A, 5, C)), Rule(name="once", event=Plus(A, 5)), Rule(name="c", event=C)
    )
    engine.push(at("a", 0))

    assert [("c", 5)] == report(engine.push(at("c", 5)))
    assert [("once", 5)] == report(engine.advance(5))


def test_clocks_of_one_instant_keep_the_order_of_their_start():
    """The one that was started first comes first."""
    engine = engine_of(Rule(name="b", event=Plus(B, 4)), Rule(name="a", event=Plus(A, 5)))
    engine.push(at("a", 0))
    engine.push(at("b", 1))

    assert [("a", 5), ("b", 5)] == report(engine.advance(5))


def test_next_due_is_the_next_clock():
    """It is that of all groups or of one; nothing is lost by sleeping until then."""
    engine = engine_of(Rule(name="r", group="s", event=Plus(A, 9)), Rule(name="r", group="t", event=Periodic(A, 4, C)))

    assert engine.next_due() is None
    engine.push(at("a", 1))
    assert (5, 10, 5, None) == (*map(engine.next_due, (None, "s", "t", "u")),)
    assert () == engine.advance(4).firings
    assert [("r", 5)] == report(engine.advance(5))


def test_time_does_not_go_back():
    """An event in the past is refused with its instants; an advance into the past changes nothing."""
    engine = engine_of(Rule(name="r", event=Plus(A, 9)))
    engine.push(at("a", 100))

    with pytest.raises(ValueError, match=r"a lasts from 99 to 99 µs; .* before 100 µs"):
        engine.push(at("a", 99))
    with pytest.raises(ValueError, match="must not end before it starts"):
        engine.push(Occurrence("a", 120, 110))
    assert () == engine.advance(5).firings
    assert 100 == engine.now


def test_unknown_event_only_advances_the_time():
    """It is no fault, and the clocks before it run."""
    engine = engine_of(Rule(name="r", event=Plus(A, 2)))
    engine.push(at("a", 1))

    assert [("r", 3)] == report(engine.push(at("unknown", 7)))
    assert 7 == engine.now


def test_new_period_counts_from_the_last_tick():
    """It does not count from now; a tick that it makes overdue is due now."""
    engine = engine_of(Rule(name="r", event=Periodic(A, 10, C)))
    engine.push(at("a", 0))
    engine.advance(14)
    engine.set_period(RuleId("", "r"), 7)

    assert 17 == engine.next_due()
    engine.set_period(RuleId("", "r"), 2)
    assert [("r", 14), ("r", 16), ("r", 18)] == report(engine.advance(18))


def test_new_period_holds_for_later_clocks():
    """The rule keeps it for the next initiator, and over a restart."""
    engine = engine_of(Rule(name="r", event=Periodic(A, 10, C)))
    engine.set_period(RuleId("", "r"), 3)
    engine = Engine.load(plain(engine.dump()))
    engine.push(at("a", 0))

    assert 3 == engine.next_due()


def test_period_belongs_to_one_rule():
    """Rules that share a clock do not share a period that one of them sets."""
    engine = engine_of(*(Rule(name=name, event=Or((B, Periodic(A, 10, C)))) for name in ("mine", "other")))
    engine.push(at("a", 0))
    engine.set_period(RuleId("", "mine"), 4)

    assert [("mine", 4), ("mine", 8), ("other", 10), ("mine", 12)] == report(engine.advance(12))
    for name in ("mine", "other"):
        engine.remove(RuleId("", name))
    assert EMPTY == engine.sizes


def test_new_rule_gets_its_own_period():
    """A node with a changed period is not shared with a rule that has the period of its expression."""
    engine = engine_of(Rule(name="old", event=Periodic(A, 10, C)))
    engine.set_period(RuleId("", "old"), 4)
    engine.add(Rule(name="new", event=Periodic(A, 10, C)))
    engine.push(at("a", 0))

    assert [("old", 4), ("old", 8), ("new", 10)] == report(engine.advance(11))


def test_period_needs_exactly_one_clock():
    """A rule without a periodic event, or with several, is refused."""
    engine = engine_of(
        Rule(name="none", event=Plus(A, 5)), Rule(name="two", event=Or((Periodic(A, 5, C), Periodic(B, 5, C))))
    )

    for name, count in (("none", 0), ("two", 2)):
        with pytest.raises(ValueError, match=f'"{name}" has {count} periodic events'):
            engine.set_period(RuleId("", name), 3)


def test_missed_ticks_become_one():
    """After a long sleep a clock ticks once, and keeps its phase; one-time clocks stay due."""
    engine = engine_of(Rule(name="tick", event=Periodic(A, 10, C)), Rule(name="once", event=Plus(A, 33)))
    engine.push(at("a", 2))
    engine.catch_up(77)

    assert [("once", 35), ("tick", 72), ("tick", 82)] == report(engine.advance(90))


def test_clock_that_missed_nothing_is_unchanged():
    """It owes one tick or none."""
    engine = engine_of(Rule(name="tick", event=Periodic(A, 10, C)))
    engine.push(at("a", 0))
    for now in (5, 10, 19):
        engine.catch_up(now)

    assert 10 == engine.next_due()


def test_clocks_of_a_restored_group_are_due_now():
    """Those that were due while the group was stored run now, not in the past."""
    engine = engine_of(Rule(name="r", group="s", event=Plus(A, 5)), Rule(name="b", group="t", event=B))
    engine.push(at("a", 0))
    frozen = plain(engine.dump("s"))
    engine.remove_group("s")
    engine.push(at("b", 50))
    engine.resume(frozen)
    (firing,) = engine.advance(60).firings

    assert ("r", 50, 50) == (firing.rule.name, firing.at, firing.occurrence.end)


def test_rule_names_are_unique_in_a_group():
    """Another group may use the same name."""
    engine = engine_of(Rule(name="r", group="s", event=A), Rule(name="r", group="t", event=A))

    with pytest.raises(ValueError, match='a rule "r" in the group "s" already; remove it first'):
        engine.add(Rule(name="r", group="s", event=B))
    assert Sizes(rules=2, nodes=1, clocks=0) == engine.sizes


def test_unknown_conditions_and_actions_are_refused():
    """The message lists the known ones when the rule is added."""
    engine = Engine({"is new": bool}, {"tell": lambda firing: None})

    with pytest.raises(UsageError, match='no condition "is old"; there are: is new'):
        engine.add(Rule(name="r", event=A, condition="is old"))
    with pytest.raises(UsageError, match='no action "shout"; there are: tell'):
        engine.add(Rule(name="r", event=A, action="shout"))
    assert EMPTY == engine.sizes


def test_unknown_rule_is_named_in_the_error():
    """It can be neither removed nor given a period."""
    for call in (Engine().remove, lambda rule: Engine().set_period(rule, 5)):
        with pytest.raises(KeyError, match='no rule "r" in the group "s"'):
            call(RuleId("s", "r"))


def test_group_is_removed_in_one_call():
    """Its rules, waiting occurrences and clocks are removed, and nothing of other groups."""
    engine = engine_of(
        *(Rule(name=f"{group}{k}", group=group, event=Seq(A, Plus(B, 5 + k))) for group in "st" for k in range(3))
    )
    engine.push(at("a", 1))
    engine.push(at("b", 2))

    assert 3 == engine.remove_group("s")
    assert [("t0", 7), ("t1", 8), ("t2", 9)] == report(engine.advance(100))
    assert 0 == engine.remove_group("s")
    assert 3 == engine.remove_group("t")
    assert EMPTY == engine.sizes


def test_rules_of_a_group_are_listed():
    """They are unchanged and in the order in which they were added."""
    rules = [Rule(name=name, group="s", event=Seq(A, B), data={"k": 1}) for name in ("z", "a", "m")]
    engine = engine_of(*rules, Rule(name="other", group="t", event=A))

    assert tuple(rules) == engine.rules("s")
    assert 4 == len(engine.rules())


def test_dropped_occurrences_are_counted_by_group():
    """The counts survive a restart."""
    few = Rule(name="r", group="s", event=Seq(A, B), context=Context.CHRONICLE, bounds=Bounds(max_waiting=3))
    engine = engine_of(few, Rule(name="r", group="t", event=Seq(A, B), context=Context.CHRONICLE))
    for instant in range(10):
        engine.push(at("a", instant))
    engine = Engine.load(plain(engine.dump()))

    assert (7, 0) == (engine.count_dropped("s"), engine.count_dropped("t"))
    assert [7, 8, 9] == [engine.push(at("b", 20 + k)).firings[0].occurrence.start for k in range(3)]


def test_occurrence_that_waits_too_long_is_dropped():
    """It waits for its partners no longer than the rule allows."""
    engine = engine_of(Rule(name="r", event=And(A, B), bounds=Bounds(max_age=10)))
    engine.push(at("a", 0))
    engine.push(at("b", 11))

    assert [("r", 21)] == report(engine.push(at("a", 21)))
    assert [] == report(engine.push(at("b", 32)))


def test_pair_across_pages_is_detected_once():
    """AND of two pages uses the latest of each, within a window, and both are used up (sentinels
    §4.5).
    """
    event = And(Primitive("change(A)"), Primitive("change(B)"), within=60, consume=True)
    engine = engine_of(Rule(name="r", event=event))
    outcomes = [
        engine.push(at(f"change({page})", instant, instant))
        for page, instant in [("A", 0), ("A", 10), ("B", 50), ("B", 55), ("B", 60), ("A", 121), ("A", 130), ("B", 185)]
    ]

    assert [(10, 50), (130, 185)] == [
        tuple(part.end for part in firing.occurrence.parts) for outcome in outcomes for firing in outcome.firings
    ]


def test_only_changed_groups_are_stored():
    """Each group whose waiting state may have changed is named once."""
    engine = engine_of(
        Rule(name="r", group="waits", event=Seq(A, B)),
        Rule(name="r", group="clock", event=Plus(C, 5)),
        Rule(name="r", group="passes", event=Or((A, B, C))),
    )
    assert {"waits", "clock", "passes"} == engine.take_changed()
    engine.push(at("a", 1))
    assert {"waits"} == engine.take_changed()
    engine.push(at("c", 2))
    assert {"clock"} == engine.take_changed()
    engine.advance(6)
    assert set() == engine.take_changed()
    engine.advance(7)
    assert {"clock"} == engine.take_changed()
    engine.remove_group("waits")
    assert {"waits"} == engine.take_changed()


@given(
    st.lists(st.tuples(event_expressions, st.sampled_from(RULE_CONTEXTS), st.sampled_from("st")), max_size=4),
    traces,
    st.data(),
)
def test_stored_and_loaded_engine_continues_as_before(wanted, trace, data):
    """It is stored group by group, when each group changed last."""
    rules = [
        Rule(name=str(k), group=group, event=event, context=context) for k, (event, context, group) in enumerate(wanted)
    ]
    cut = data.draw(st.integers(0, len(trace)))
    expected = run(engine_of(*rules), trace, 200)
    engine = engine_of(*rules)
    stored, found = {}, []
    for event in trace[:cut]:
        found += engine.push(event).firings
        for group in engine.take_changed():
            stored[group] = plain(engine.dump(group))
    for group in engine.take_changed():
        stored[group] = plain(engine.dump(group))
    before = [(*firing.rule.id, firing.at, firing.occurrences) for firing in found]

    other = Engine.load(*data.draw(st.permutations(sorted(stored.values(), key=repr))))
    assert expected == before + run(other, trace[cut:], 200)
    assert engine.sizes.rules == other.sizes.rules


@given(event_expressions, st.sampled_from(RULE_CONTEXTS), traces)
def test_rule_fires_for_each_detection_of_its_event(expression, context, trace):
    """It fires for no other."""
    expected = Detector(expression, context).run(trace)
    engine = engine_of(Rule(name="r", event=expression, context=context))

    assert expected == [occurrences[0] for _, _, _, occurrences in run(engine, trace, 200)]


def test_dump_is_plain_json():
    """Nodes without waiting occurrences take next to no space."""
    engine = engine_of(Rule(name="r", group="s", event=Seq(A, B), data={"page": 7}, coupling=Coupling.DETACHED))
    dump = engine.dump("s")

    assert dump == plain(dump)
    assert [[0, None]] == list(dump["states"].values())
    assert len(json.dumps(dump)) < 400


def test_dump_of_another_format_is_refused():
    """The state of a newer version is not guessed, and nothing of it is used."""
    engine = Engine()
    dump = engine_of(Rule(name="r", event=A)).dump() | {"format": 2}

    with pytest.raises(ValueError, match=re.escape("has format 2, which is not known here; 1 is")):
        engine.resume(dump)
    assert EMPTY == engine.sizes


def test_dump_of_an_existing_rule_is_refused():
    """It is refused completely."""
    engine = engine_of(Rule(name="new", event=A), Rule(name="old", event=B))
    other = engine_of(Rule(name="old", event=B))

    with pytest.raises(ValueError, match='a rule "old"'):
        other.resume(engine.dump())
    assert Sizes(rules=1, nodes=1, clocks=0) == other.sizes


def test_rules_keep_their_order_over_a_restart():
    """Rules of equal priority fire in the order in which they were added first."""
    engine = engine_of(*(Rule(name=name, group=name, event=A) for name in "zya"))
    loaded = Engine.load(*(plain(engine.dump(group)) for group in "ayz"))
    loaded.add(Rule(name="new", event=A))

    assert ["z", "y", "a", "new"] == [firing.rule.name for firing in loaded.push(at("a", 1)).firings]


def test_groups_stored_at_different_instants_share_nothing():
    """They do not get each other's waiting occurrences."""
    engine = engine_of(*(Rule(name=group, group=group, event=Seq(A, B)) for group in "st"))
    early = plain(engine.dump("s"))
    engine.push(at("a", 1))
    loaded = Engine.load(early, plain(engine.dump("t")))

    assert [("t", 2)] == report(loaded.push(at("b", 2)))


def test_clocks_keep_their_order_over_a_restart():
    """Clocks of one instant run in the same order, in whatever order their groups are loaded."""
    engine = engine_of(
        *(Rule(name=name, group=name, event=Plus(A, 5), bounds=Bounds(9 + k)) for k, name in enumerate("zya"))
    )
    for order in ("zya", "ayz", "yza"):
        loaded = Engine.load(*(plain(engine.dump(group)) for group in order))
        loaded.push(at("a", 1))

        assert [("z", 6), ("y", 6), ("a", 6)] == report(loaded.advance(6))


def life_rules(name):
    """Return the rules of one sentinel, as in sentinels §3.5, over its own events and those of a
    page.
    """
    start, end, created, change = (Primitive(f"{kind}({name})") for kind in ("start", "end", "created", "change"))
    page, other = Primitive("version(page)"), Primitive("end(other)")
    tick = Periodic(start, 10, end)
    reported = {"coupling": Coupling.DETACHED, "context": Context.CUMULATIVE, "group": name}
    return [
        Rule(name="begin", group=name, event=Plus(created, 5), priority=100),
        Rule(name="begin after", group=name, event=Seq(created, other), context=Context.CHRONICLE, priority=100),
        Rule(name="end", group=name, event=Or((Plus(start, 1_000), other)), priority=110),
        Rule(name="tick", group=name, event=tick),
        Rule(name="hear", group=name, event=Seq(tick, page)),
        Rule(name="digest", event=AperiodicStar(Or((start, tick)), change, tick), **reported),
        Rule(name="best effort", event=Plus(change, 0), **reported),
        Rule(name="gone", group=name, event=NotBetween(page, change, Plus(change, 24))),
        Rule(name="noisy", group=name, event=Aperiodic(start, change, end)),
    ]


def test_ten_thousand_sentinels_leave_no_state():
    """They are created and ended beside other sentinels, and the graph is as before (W-55)."""
    engine = engine_of(*life_rules("stays"))
    for kind in ("created", "start", "change"):
        engine.push(at(f"{kind}(stays)", 0))
    before = engine.sizes
    for cycle in range(10_000):
        name = f"s{cycle}"
        for rule in life_rules(name)[cycle % 3 :: 3]:  # a third of the rules each: all of them in turn
            engine.add(rule)
        for kind in ("created", "start", "change"):
            engine.push(at(f"{kind}({name})", cycle))
        engine.remove_group(name)

    assert (before.rules, before.nodes) == (engine.sizes.rules, engine.sizes.nodes)
    assert engine.sizes.clocks <= 2 * before.clocks + 8
    engine.remove_group("stays")
    assert EMPTY == engine.sizes
    assert engine.next_due() is None
