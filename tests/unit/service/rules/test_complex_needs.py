"""When the Monitor clause holds, other pages are polled in time and reported with it (001 §2.1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ruled import AT, RuledHouse
from tests.stores import World
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.events.expression import Plus
from tidings.events.operators.node import Context
from tidings.model.observed.poll_reason import Why
from tidings.service.behaviour import own
from tidings.service.rules.complex_needs import ComplexNeeds

THEN = "any change of A Then within 10 min check B, C {}"
END = AT + 10 * MINUTE


class House(RuledHouse):
    """The sentinel with the rules of its Then clause; on A a change was found at `AT`."""

    def __init__(self, world: World, monitor: str = THEN.format("")) -> None:
        super().__init__(world, monitor, ComplexNeeds)
        self.part = self.find("a", "A")

    def hold(self, *, at: int = AT) -> list[str]:
        """Let the Monitor clause hold; return the clocks that were started."""
        effects = self.act("needs.open", at=at, parts=[self.part], cause="leaf 0")
        return [each.type.partition("(")[0] for each in effects.raised]

    def poll_page(self, page: str, at: int) -> None:
        """Poll a page, and let its rules know."""
        self.poll(page, at)
        self.act("needs.look", at=at, page=self.subs[page].page_id)

    def end(self, at: int = END) -> None:
        """Let the time of the first Then be over."""
        self.act("needs.over.0", at=at)

    def list_reported(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Return the verdict of each report, with the other pages in it."""
        return [(one.verdict, [(part.name, part.status) for part in one.others]) for one in self.reports]

    @property
    def waits(self) -> list[Any]:
        return [wait for need in self.memory.get("open", ()) for group in need["groups"] for wait in group["waits"]]


def test_then_has_rules_that_open_capture_and_close(world):
    """A clock for each of its clauses."""
    house = House(world)
    wanted = house.play(lambda behaviour, moment: behaviour.arrange(moment)).wanted
    over = wanted[-1].rule

    assert ["needs.open", "needs.look", "needs.over.0"] == [one.rule.name for one in wanted]
    assert (Plus(own("need 0", house.id), 10 * MINUTE), Context.CHRONICLE) == (over.event, over.context)


def test_each_page_of_then_is_awaited(world):
    """From the change on for so long; the planner has a deadline for each."""
    house = House(world)

    assert ["need 0"] == house.hold()
    assert [(house.subs[name].page_id, AT, END) for name in "BC"] == [
        (wait["page"], wait["start"], wait["end"]) for wait in house.waits
    ]

    async def note(behaviour: ComplexNeeds, moment: Any) -> None:
        behaviour.note_memory(house.id, moment.memory)
        behaviour.note_memory(house.id, None)

    house.play(note)
    found, nothing = ([*deadlines] for _, _, deadlines in house.needed)
    assert ([(AT, END, Why.THEN, 2)] * 2, []) == (
        [(one.interval.start, one.interval.end, one.why.why, one.left) for one in found],
        nothing,
    )


def test_report_is_made_as_soon_as_all_were_polled(world):
    """What did not change is shown as unchanged; nothing is open then."""
    house = House(world)
    house.hold()
    house.poll_page("B", AT + MINUTE)
    assert ([], 2) == (house.reports, len(house.waits))
    house.poll_page("C", END)

    assert [("complete", [("B", "unchanged"), ("C", "unchanged")])] == house.list_reported()
    assert [] == house.waits
    (report,) = house.reports
    assert (["a"], "", "then leaf 0") == ([*report.changes], report.reason, report.cause)


def test_change_on_an_awaited_page_is_part_of_the_report(world):
    """It is one of its changes, not another page."""
    house = House(world)
    house.hold()
    house.find("b", "B", AT + MINUTE)
    house.poll_page("B", AT + MINUTE)
    house.poll_page("C", AT + MINUTE)

    assert [("complete", [("C", "unchanged")])] == house.list_reported()
    assert ["a", "b"] == [*house.reports[0].changes]


@pytest.mark.parametrize(
    ("polled", "verdict", "statuses"),
    [
        ("B", "partial", [("B", "unchanged"), ("C", "missed")]),
        ("", "missed", [("B", "missed"), ("C", "missed")]),
    ],
)
def test_report_at_the_end_says_what_is_missing(world, polled, verdict, statuses):
    """The last instant is part of the time; with the reason for each page."""
    house = House(world)
    house.hold()
    for page in polled:
        house.poll_page(page, AT + MINUTE)
    house.act("needs.look", at=END, page=house.subs["A"].page_id)
    assert [] == house.reports
    house.end()

    assert [(verdict, statuses)] == house.list_reported()
    assert "C: there was no time for the check" in house.reports[0].reason


@pytest.mark.parametrize(
    ("at", "expected"), [(AT - SECOND, []), (END + SECOND, [("missed", [("B", "missed"), ("C", "missed")])])]
)
def test_poll_outside_of_the_time_captures_nothing(world, at, expected):
    """It shows nothing of that time."""
    house = House(world)
    house.hold()
    house.poll("B", at)
    house.act("needs.look", at=max(at, AT), page=house.subs["B"].page_id)

    assert expected == house.list_reported()
    assert [] == [wait for wait in house.waits if "at" in wait]


def test_some_of_the_pages_are_enough_if_so_many_were_asked_for(world):
    """The first polled one completes it."""
    house = House(world, "any change of A Then within 10 min check any 1 of B, C")
    house.hold()
    house.poll_page("C", AT + MINUTE)

    assert "complete" == house.list_reported()[0][0]


def test_page_that_changed_itself_needs_no_poll(world):
    """Its change was found at that time."""
    house = House(world, "any change of A Then within 10 min check A, B")
    house.hold()

    assert [True, False] == ["at" in wait for wait in house.waits]
    house.poll_page("B", AT + MINUTE)
    assert [("complete", [("B", "unchanged")])] == house.list_reported()


def test_end_of_the_sentinel_reports_what_there_is(world):
    """Without an open need there is nothing."""
    house = House(world)
    house.hold()
    house.poll_page("B", AT + MINUTE)
    house.play(lambda behaviour, moment: behaviour.finish(moment), at=AT + 2 * MINUTE)

    assert ["partial"] == [verdict for verdict, _ in house.list_reported()]
    house.play(lambda behaviour, moment: behaviour.finish(moment), at=AT + 2 * MINUTE)
    assert 1 == len(house.reports)


def test_alteration_and_pause_of_open_needs(world):
    """A pause postpones what has not been polled; another Then drops them."""
    house = House(world)
    house.play(lambda behaviour, moment: behaviour.arrange(moment))
    house.hold()
    house.poll_page("B", AT + MINUTE)
    house.play(lambda behaviour, moment: behaviour.arrange(moment), at=AT + HOUR + MINUTE, resumed=HOUR)
    assert [END, END + HOUR] == [wait["end"] for wait in house.waits]
    house.memory["then"] = [[1, ["B"], None]]
    house.play(lambda behaviour, moment: behaviour.arrange(moment), at=AT + 2 * HOUR)

    assert "open" not in house.memory


@pytest.mark.parametrize(("level", "reason"), [(0.0, "budget"), (5.0, "there was no time for the check")])
def test_missed_page_says_why(world, level, reason):
    """The budget was spent, or its turn did not come."""
    house = House(world)
    house.hold()
    world.write(
        lambda c: c.execute("UPDATE budget SET level = :level, rate_per_second = 0, at = :at", level=level, at=END)
    )
    house.end()

    assert house.reports[0].others[0].reason.startswith(reason)


def test_need_of_two_clauses_is_one_report(world):
    """When both are there."""
    house = House(world, "any change of A Then within 10 min check B Then within 1 hour check C")

    assert ["need 0", "need 1"] == house.hold()
    house.poll_page("B", AT + MINUTE)
    house.end()
    assert [] == house.reports
    house.poll_page("C", AT + 30 * MINUTE)
    assert ["complete"] == [verdict for verdict, _ in house.list_reported()]
