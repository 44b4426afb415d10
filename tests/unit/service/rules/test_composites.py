"""Parts of several pages meet within a window (sentinels §4.5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ruled import AT, RuledHouse
from tests.stores import START, World
from tidings.clock import DAY, HOUR, MINUTE
from tidings.events.expression import And, AnyOfEvents, Plus
from tidings.model.observed.poll_reason import Why
from tidings.service.behaviour import Effects, Moment, own
from tidings.service.rules.composites import HOLDS, LONGEST, Composites, was_polled

BOTH = "any change of A AND any change of B within 1 hour"
VETO = "any change of A AND NOT any change of B within 1 hour"


class House(RuledHouse):
    """The sentinel with the rules that combine its changes; `pace` is the interval of its pages."""

    def __init__(self, world: World, monitor: str, *, pace: int | None = None) -> None:
        async def get_pace(page_id: int) -> int | None:
            return pace

        super().__init__(world, monitor, lambda store, reporter, needs: Composites(store, reporter, needs, get_pace))


@pytest.mark.parametrize(
    ("monitor", "names"),
    [
        ("any change", []),
        (BOTH, ["part", "look", "meet.0"]),
        (VETO, ["part", "look", "meet.0", "decide.0"]),
        ("(any change of A AND links of B) OR (links of B AND links of C)", ["part", "look", "meet.0", "meet.1"]),
    ],
)
def test_each_meeting_has_its_rule(world, monitor, names):
    """One that depends on what stays unchanged is decided later; without a meeting there is none."""
    house = House(world, monitor)
    house.memory["sought"] = []
    found = house.play(lambda behaviour, moment: behaviour.arrange(moment)).wanted

    assert [f"composites.{name}" for name in names] == [wanted.rule.name for wanted in found]
    assert bool(names) is ("sought" in house.memory)
    for wanted in found:
        if wanted.rule.name.startswith("composites.decide"):
            assert Plus(own("met 0", house.id), HOUR, until="until") == wanted.rule.event


@pytest.mark.parametrize(
    ("monitor", "event"),
    [
        (BOTH, lambda a, b, c: And(a, b, within=HOUR, consume=True)),
        (
            "any change of A AND any change of B AND any change of C Fetch every 2 hour",
            lambda a, b, c: AnyOfEvents(3, (a, b, c), within=2 * HOUR, consume=True),
        ),
        ("any change of A AND any change of B Fetch at 08:00", lambda a, b, c: And(a, b, within=DAY, consume=True)),
        ("any change of A AND any change of B", lambda a, b, c: And(a, b, within=LONGEST, consume=True)),
        (VETO, lambda a, b, c: a),
    ],
    ids=["stated", "interval", "time of day", "on change", "one part"],
)
def test_parts_meet_within_the_window(world, monitor, event):
    """As stated, else within the interval; of a page fetched on change within the longest."""
    house = House(world, monitor)
    wanted = house.play(lambda behaviour, moment: behaviour.arrange(moment)).wanted
    (meet,) = [one.rule.event for one in wanted if one.rule.name == "composites.meet.0"]

    assert event(*(own(f"part {n}", house.id) for n in range(3))) == meet


def test_found_part_waits_for_the_others(world):
    """Their pages are polled in the last tenth of the window, each unless it was polled by then."""
    house = House(world, BOTH)
    house.find("a", "A")
    effects = house.act("composites.part", change="a")
    b = house.subs["B"].page_id

    assert ([("part 0", ["a"])], []) == (house.raised(effects), house.reports)
    assert [[0, b, AT + 54 * MINUTE, AT + HOUR]] == house.memory["sought"]
    house.act("composites.look", page=house.subs["A"].page_id, at=AT + 55 * MINUTE)
    house.act("composites.look", page=b, at=AT + 54 * MINUTE - 1)
    assert 1 == len(house.memory["sought"])
    kept = dict(house.memory)
    house.act("composites.look", page=b, at=AT + 54 * MINUTE)
    assert [] == house.memory["sought"]
    house.memory.update(kept)
    house.act("composites.look", page=0, at=AT + HOUR)
    assert 1 == len(house.memory["sought"])
    house.act("composites.look", page=0, at=AT + HOUR + 1)
    assert [] == house.memory["sought"]


def test_wanted_polls_are_passed_to_the_planner(world):
    """Without a memory there are none; a pause postpones them."""
    house = House(world, BOTH)
    house.memory["sought"] = [[0, 2, AT + MINUTE, AT + HOUR]]
    house.play(lambda behaviour, moment: behaviour.arrange(moment), at=AT, resumed=HOUR)
    assert [[0, 2, AT + MINUTE + HOUR, AT + 2 * HOUR]] == house.memory["sought"]

    async def note(behaviour: Composites, moment: Moment) -> None:
        behaviour.note_memory(house.id, moment.memory)
        behaviour.note_memory(house.id, None)

    house.play(note)
    ((_, _, (deadline,)), (name, id_, nothing)) = house.needed
    assert ("composites", house.id, []) == (name, id_, nothing)
    assert (2, Why.TOGETHER, AT + 2 * HOUR) == (deadline.page_id, deadline.why.why, deadline.interval.end)


def test_part_alone_is_reported_at_once(world):
    """If no meeting has it; one that was deleted is nothing."""
    house = House(world, "any change of C OR (any change of A AND any change of B)")
    house.find("c", "C")
    house.act("composites.part", change="c")

    assert [["c"]] == [[*report.changes] for report in house.reports]
    assert Effects() == house.act("composites.part", change="gone")


def test_parts_that_met_are_reported_together(world):
    """Then no other poll is wanted for them."""
    house = House(world, BOTH)
    parts = [house.find("a", "A"), house.find("b", "B", AT + HOUR)]
    house.memory["sought"] = [[0, 2, AT, AT + 2 * HOUR], [1, 3, AT, AT + 2 * HOUR]]
    effects = house.act("composites.meet.0", parts=parts, at=AT + HOUR)

    assert [["a", "b"]] == [[*report.changes] for report in house.reports]
    assert [("true 0", ["a", "b"])] == house.raised(effects)
    assert [1] == [place for place, *_ in house.memory["sought"]]


@pytest.mark.parametrize(
    ("pauses", "reported", "raised"),
    [((), [], [("part 1", ["b"])]), ([(AT, AT + 1)], [["a", "b"]], [("true 0", ["a", "b"])])],
)
def test_part_from_before_a_shorter_window_is_left_out(world, pauses, reported, raised):
    """The other waits on; the time of a pause does not count."""
    house = House(world, BOTH)
    parts = [house.find("a", "A"), house.find("b", "B", AT + HOUR + 1)]
    effects = house.act("composites.meet.0", parts=parts, at=AT + HOUR + 1, pauses=pauses)

    assert reported == [[*report.changes] for report in house.reports]
    assert raised == house.raised(effects)


@pytest.mark.parametrize(("pace", "is_met"), [(HOUR, True), (HOUR - 1, False), (None, True), (9 * DAY, True)])
def test_window_of_pages_fetched_on_change_is_their_interval(world, pace, is_met):
    """As far as it is known, and at most the longest."""
    house = House(world, "any change of A AND any change of B", pace=pace)
    parts = [house.find("a", "A"), house.find("b", "B", AT + HOUR)]
    house.act("composites.meet.0", parts=parts, at=AT + HOUR)

    assert is_met is bool(house.reports)


def test_then_is_asked_before_the_report(world):
    """The other pages are polled first."""
    house = House(world, f"{BOTH} Then within 10 min check C")
    parts = [house.find("a", "A"), house.find("b", "B")]
    effects = house.act("composites.meet.0", parts=parts)

    assert [] == house.reports
    assert [(HOLDS, ["a", "b"]), ("true 0", ["a", "b"])] == house.raised(effects)


def met(house: House, *parts: dict[str, Any]) -> dict[str, Any]:
    """Return what was raised when the positive parts of a veto met."""
    (raised,) = house.act("composites.meet.0", parts=[*parts]).raised
    return dict(raised.params)


def test_veto_is_decided_a_window_after_the_rest(world):
    """By what was found a window before and after it."""
    house = House(world, VETO)
    span = met(house, house.find("a", "A"))

    assert (AT - HOUR, AT, AT + HOUR) == (span["from"], span["met"], span["until"])
    assert [] == house.reports


@pytest.mark.parametrize(
    ("changed_at", "polled_at", "verdicts"),
    [
        (AT - HOUR, AT, []),
        (AT + HOUR, AT, []),
        (AT - HOUR - 1, AT, ["complete"]),
        (AT + HOUR + 1, AT, ["complete"]),
        (None, AT, ["complete"]),
        (None, AT + HOUR + 5 * MINUTE, ["undecided"]),
    ],
)
def test_veto_needs_a_poll_without_a_change(world, changed_at, polled_at, verdicts):
    """Without a poll nothing is known; a change in the window is no report."""
    house = House(world, VETO)
    span = met(house, house.find("a", "A"))
    if changed_at is not None:
        house.find("b", "B", changed_at)
    house.poll("B", polled_at)
    house.act("composites.decide.0", at=AT + HOUR, **span)

    assert verdicts == [report.verdict for report in house.reports]
    if verdicts == ["undecided"]:
        assert "whether B changed is unknown" in house.reports[0].reason


def test_pause_postpones_the_decision(world):
    """By its length."""
    house = House(world, VETO)
    span = met(house, house.find("a", "A"))
    effects = house.act("composites.decide.0", at=AT + HOUR, pauses=[(AT, AT + MINUTE)], **span)
    (raised,) = effects.raised

    assert (AT + HOUR + MINUTE, AT + HOUR) == (raised.params["until"], raised.params["met"])


@pytest.mark.parametrize(
    ("fetch", "polled", "first", "last", "expected"),
    [
        ("", [AT], AT, AT, True),
        ("", [AT], AT + 1, AT + HOUR, False),
        ("", [], AT, AT + HOUR, False),
        ("Fetch every 1 day slack 1 hour", [AT + MINUTE], AT - HOUR, AT + HOUR, True),
        ("Fetch every 1 day slack 1 hour", [AT - MINUTE], AT - HOUR, AT + HOUR, True),
        ("Fetch every 1 day slack 1 hour", [AT + 5 * HOUR], AT + 4 * HOUR, AT + 6 * HOUR, True),
        ("Fetch every 1 day slack 1 hour", [AT + MINUTE, AT + 5 * HOUR], AT + 4 * HOUR, AT + 6 * HOUR, False),
        ("Fetch every 1 day slack 1 hour", [START + MINUTE, AT - 2 * HOUR], AT - 3 * HOUR, AT - HOUR, False),
        ("Fetch every 1 day slack 1 hour", [], AT - HOUR, AT + HOUR, False),
    ],
)
def test_page_was_polled_for_its_sentinel(world, fetch, polled, first, last, expected):
    """On change by any good poll; else by the first one of a tick, however late it is."""
    house = House(world, f"{BOTH} {fetch}")
    for at in polled:
        house.poll("B", at)

    assert expected is world.read(was_polled, house.watched, "B", first, last)
    assert not world.read(was_polled, house.watched, "nobody", first, last)
