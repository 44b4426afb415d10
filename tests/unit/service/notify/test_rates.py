"""Clauses that wait: for a number of changes, a clock, a receiver, quiet hours or a cap."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from tests.planner import make_watched
from tests.stores import World
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.events.expression import Primitive
from tidings.events.occurrence import Occurrence
from tidings.events.rule import Firing, Retuned, Rule
from tidings.model.event_type import EventType
from tidings.model.interval import local_of
from tidings.model.observed.unit import Event, Timer, Unit
from tidings.model.watch.notifying import Cap, Channel, Notify, Quiet, Rate
from tidings.service.behaviour import Effects, Moment
from tidings.service.notify.rates import Flapping, NotifyBehaviour, free_at, list_flying, list_inherited, tick_after
from tidings.service.watch.watchlist import WatchedSentinel

NOON = round(datetime(2026, 5, 4, 12, tzinfo=UTC).timestamp()) * SECOND


def make_sentinel(rate: str, endpoint: int = 1) -> WatchedSentinel:
    """Return a sentinel with one Notify clause."""
    held = make_watched(1, f"Notify By webhook http://127.0.0.1/hook {rate}", at=NOON).subscriptions[1].owner
    held.endpoints[held.sentinel.notify[0].channels[0].endpoint] = endpoint
    return held


class Line:
    """A sentinel with one Notify clause to endpoint 1, and a database with its changes."""

    def __init__(self, world: World, rate: str, *, noise: Flapping = Flapping()) -> None:  # noqa: B008 - frozen
        self.world = world
        self.memory: dict[str, Any] = {}
        self.watched = make_sentinel(rate, world.endpoint())
        self.watched.gathers_noise = bool(noise.changes)
        self.behaviour = NotifyBehaviour(self, noise=noise)  # type: ignore[arg-type]
        self.at = NOON
        world.watch()
        world.commit(world.make_stored(b"one"))
        self.upto = world.read(_last)
        self.seq = 1
        self.are_stored = False

    async def read(self, fn: Callable[..., Any], *args: Any) -> Any:
        return self.world.read(fn, *args)

    def moment(self) -> Moment:
        """Return the present moment."""
        return Moment(self.watched, self.memory, self.at, self.upto, are_stored=self.are_stored)

    def arrange(self) -> Effects:
        """Return the effects of the present clauses."""
        return asyncio.run(self.behaviour.arrange(self.moment())).effects

    def fire(self, rule: str, event: str = "found", **params: Any) -> Effects:
        """Fire a rule and return its effects."""
        made = Rule(name=f"telling.{rule}", event=Primitive("x"))
        firing = Firing(made, self.at, (Occurrence(event, self.at, self.at, params),))
        return asyncio.run(self.behaviour.act(self.moment(), firing))

    def find(self) -> Effects:
        """Store a change and return the effects."""
        self.seq += 1
        change = self.world.change(f"c{self.seq}", from_seq=self.seq - 1, to_seq=self.seq)
        news = Event(type=EventType.CHANGE_FOUND, at=self.at, sentinel_id=1, page_id=1, change_id=change.id)
        self.world.commit(self.world.make_stored(b"v%d" % self.seq, changes=(change,), events=(news,)))
        self.upto = self.world.read(_last)
        return self.fire("found", EventType.CHANGE_FOUND, page=1)


def _last(c: Any) -> int:
    return int(c.value("SELECT max(seq) FROM event") or 0)


def _forget_deliveries(c: Any) -> None:
    c.execute("DELETE FROM delivery")


def list_reported(*effects: Effects) -> list[list[int]]:
    """Return the number of changes in each message of these effects."""
    return [[draft.changes for draft in each.deliveries] for each in effects]


def due(effects: Effects) -> list[int]:
    """Return the due times of the messages."""
    return [draft.due_at for draft in effects.deliveries]


def concerns(rate: str) -> bool:
    """Return whether a clause of this rate needs rules."""
    return NotifyBehaviour(None).concerns(make_sentinel(rate))  # type: ignore[arg-type]


def test_immediate_clause_needs_no_rules():
    """The message is written with the change."""
    assert [False, True, True] == [concerns(rate) for rate in ("immediate", "best effort", "every 4 hour")]


def test_changes_are_gathered_up_to_their_number(world: World):
    """Three changes are one message, then three more."""
    line = Line(world, "every 3 changes")
    line.arrange()

    assert [[], [], [3], [], [], [3]] == list_reported(*(line.find() for _ in range(6)))


def test_tick_reports_gathered_changes(world: World):
    """Without changes no message is sent, and each change is reported once."""
    line = Line(world, "every 4 hour")
    line.arrange()

    assert [[], [], [], [2], []] == list_reported(
        line.fire("tick.0"), line.find(), line.find(), line.fire("tick.0"), line.fire("tick.0")
    )


def test_quiet_hours_hold_messages_until_their_end(world: World):
    """All changes are then one message."""
    line = Line(world, "immediate quiet 11:00 to 13:00")
    line.arrange()
    held = [line.find(), line.find()]
    line.at = NOON + HOUR

    assert [[], [], [2]] == list_reported(*held, line.fire("awake.0"))


def test_cap_holds_messages_until_its_window_allows(world: World):
    """The cap is two an hour: a place is free when the first message is an hour old."""
    line = Line(world, "immediate max 2 per 1 hour")
    line.arrange()
    first = line.find()
    line.at += MINUTE
    second, third, fourth = line.find(), line.find(), line.find()

    assert [[1], [1], [], []] == list_reported(first, second, third, fourth)
    assert [1, 1, 0, 0] == [len(each.raised) for each in (first, second, third, fourth)]

    line.at = NOON + HOUR - 1

    assert [[]] == list_reported(line.fire("freed.0"))

    line.at = NOON + HOUR

    assert [[2]] == list_reported(line.fire("freed.0"))


def test_best_effort_waits_for_its_message_in_flight(world: World):
    """Later changes go into the next message. The end of another message does not count."""
    line = Line(world, "best effort")
    line.arrange()
    first, second = line.find(), line.find()
    (draft,) = first.deliveries

    assert [[1], []] == list_reported(first, second)
    assert {draft.endpoint_id} == list_flying(line.memory)
    assert [[]] == list_reported(line.fire("done", endpoint=draft.endpoint_id, last=0))
    assert [[1]] == list_reported(line.fire("done", endpoint=draft.endpoint_id, last=draft.last_seq))


def test_best_effort_does_not_wait_for_a_message_that_is_gone(world: World):
    """Nobody reports the end of a message that is not stored (any more); one that waits is waited
    for.
    """
    line = Line(world, "best effort")
    line.arrange()
    first = line.find()
    line.are_stored = True
    world.commit(Unit(at=NOON, epoch=world.epoch, deliveries=first.deliveries))
    waits = line.find()
    world.write(_forget_deliveries)

    assert [[1], [], [2]] == list_reported(first, waits, line.find())


def test_best_effort_without_a_receiver_reports_nothing(world: World):
    """What was gathered for the receivers of an altered clause is dropped with them; if there is
    only no mail server, it waits for one.
    """
    line = Line(world, "best effort")
    line.arrange()
    line.find()
    line.find()
    line.watched = make_sentinel("best effort")
    line.watched.endpoints.clear()
    cut_off = line.arrange()
    kept = dict(line.memory["lines"])
    line.watched = make_watched(1, "Notify By dashboard best effort", at=NOON).subscriptions[1].owner

    assert [[], []] == list_reported(cut_off, line.arrange())
    assert ["0:1"] == [*kept]
    assert {} == line.memory["lines"]


def test_change_before_a_line_is_made_is_not_its(world: World):
    """Another setting has made a line that no event has made yet."""
    line = Line(world, "best effort")
    line.arrange()
    line.memory["lines"].clear()

    assert [[]] == list_reported(line.find())


def test_remaining_changes_are_reported_at_the_end(world: World):
    """Quiet hours and caps still apply."""
    line = Line(world, "every 9 changes quiet 11:00 to 13:00")
    line.arrange()
    line.find()
    effects = asyncio.run(line.behaviour.finish(line.moment()))

    assert [[1]] == list_reported(effects)
    assert [NOON + HOUR] == due(effects)


def test_remaining_changes_of_a_former_clause_are_reported_at_the_end(world: World):
    """The sentinel was altered while it was disabled, and then dropped."""
    line = Line(world, "every 9 changes")
    line.arrange()
    line.find()
    line.watched = make_sentinel("immediate", world.endpoint())

    assert [[1]] == list_reported(asyncio.run(line.behaviour.finish(line.moment())))


def test_altered_clause_reports_what_the_old_one_gathered(world: World):
    """The message is sent at once if the new clause does not wait. Changes of a removed clause go
    to all receivers.
    """
    line = Line(world, "every 9 changes")
    line.arrange()
    line.find()
    line.watched = make_sentinel("best effort", world.endpoint())

    assert [[1], []] == list_reported(line.arrange(), line.arrange())


def test_clause_has_only_the_rules_that_it_needs(world: World):
    """Intervals and quiet hours need clocks, caps need places, and best effort needs the end of its
    message.
    """
    rules = {
        "every 3 changes": ["telling.found"],
        "every 4 hour": ["telling.tick.0"],
        "best effort": ["telling.found", "telling.done"],
        "immediate quiet 22:00 to 06:00": ["telling.found", "telling.awake.0"],
        "immediate max 2 per 1 hour": ["telling.found", "telling.freed.0"],
    }
    line = Line(world, "immediate")
    for rate, wanted in rules.items():
        line.watched, line.memory = make_sentinel(rate), {}
        arranged = asyncio.run(line.behaviour.arrange(line.moment()))

        assert wanted == [one.rule.name for one in arranged.wanted]


def test_clock_is_set_to_its_next_tick(world: World):
    """Ticks count from the start of the sentinel, across changes of clocks."""
    line = Line(world, "every 4 hour")
    wanted = asyncio.run(line.behaviour.arrange(line.moment())).wanted
    rule = next(one.rule for one in wanted if one.rule.name == "telling.tick.0")
    firing = Firing(rule, NOON, (Occurrence("tick", NOON, NOON + 4 * HOUR),))
    retuned = line.behaviour.actions["telling.tick"](firing)

    assert [Retuned(rule.id, 4 * HOUR)] == list(retuned or ())


def test_flood_is_gathered_until_it_is_over(world: World):
    """The change that exceeds the limit is reported with the notice, the others afterwards."""
    line = Line(world, "immediate", noise=Flapping(2, HOUR))
    line.arrange()
    effects = []
    for _ in range(5):
        line.at += MINUTE
        effects.append(line.find())

    assert [[1], [1], [], [], []] == list_reported(*effects)
    assert [[], [], [EventType.SENTINEL_NOISY], [], []] == [[event.type for event in each.events] for each in effects]

    line.at += 2 * HOUR
    calm = line.fire("calm")

    assert [EventType.SENTINEL_CALM] == [event.type for event in calm.events]
    assert [[3]] == list_reported(calm)


def test_lasting_flood_is_reported_in_parts(world: World):
    """The limit was reached again, so the end is not reported."""
    line = Line(world, "immediate", noise=Flapping(2, HOUR))
    line.arrange()
    for _ in range(6):
        line.at += MINUTE
        line.find()
    line.at += MINUTE
    still = line.fire("calm")

    assert ([], [[4]]) == (list(still.events), list_reported(still))
    assert 1 == len(still.raised)


def test_changes_gathered_by_older_versions_are_reported(world: World):
    """Their timers are deleted, and each change is reported once."""
    line = Line(world, "every 4 hour")
    before = line.upto
    timer = Timer(kind="digest.0", ref=1, due_at=NOON - 1, data={"after": before})
    world.commit(world.unit(timers=(timer,)))
    line.seq += 1
    change = world.change("c2", from_seq=1, to_seq=2)
    news = Event(type=EventType.CHANGE_FOUND, at=NOON, sentinel_id=1, page_id=1, change_id="c2")
    world.commit(world.make_stored(b"v2", changes=(change,), events=(news,)))
    line.upto = world.read(_last)

    assert [1] == world.read(list_inherited)

    effects = line.arrange()

    assert [[1]] == list_reported(effects)
    assert [None] == [gone.due_at for gone in effects.timers]


ZONES = ("UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia")
INSTANTS = st.integers(1_600_000_000, 1_800_000_000).map(lambda second: second * SECOND)
CLOCKS = st.integers(0, 1439)


AT_ONCE = Rate("immediate")


def clause(rate: Rate = AT_ONCE, quiet: Quiet | None = None, cap: Cap | None = None) -> Notify:
    return Notify((Channel("console"),), rate, quiet, cap)


@given(start=INSTANTS, later=st.integers(0, 400 * 24).map(lambda hours: hours * HOUR + 7), hours=st.integers(1, 200))
def test_hourly_intervals_count_from_the_start(start: int, later: int, hours: int):
    """An interval that is not a whole number of days has its instants at start + i·d, in any time
    zone.
    """
    interval = hours * HOUR if hours % 24 else hours * HOUR + MINUTE
    tick = tick_after(Rate("every", interval), start + later, start=start, zone=ZoneInfo("Europe/Paris"))

    assert tick is not None
    assert 0 == (tick - start) % interval
    assert start + later < tick <= start + later + interval


@given(start=INSTANTS, days=st.integers(1, 30), zone=st.sampled_from(ZONES), number=st.integers(1, 400))
def test_daily_intervals_keep_the_local_time(start: int, days: int, zone: str, number: int):
    """The i-th instant is at the time of day of the start, i intervals later in calendar days. None
    is missing or repeated.
    """
    wall, rate = ZoneInfo(zone), Rate("every", days * DAY)
    begun = local_of(start, wall).replace(tzinfo=None)
    ticks, at = [], start + (number - 1) * days * DAY
    for _ in range(3):
        tick = tick_after(rate, at, start=start, zone=wall)
        assert tick is not None
        ticks.append(tick)
        at = tick
    dates = [local_of(tick, wall).replace(tzinfo=None) - begun for tick in ticks]

    assert all(
        abs(passed - timedelta(days=round(passed / timedelta(days=1)))) <= timedelta(hours=1) for passed in dates
    )
    assert [days, days] == [round((second - first) / timedelta(days=1)) for first, second in itertools.pairwise(dates)]
    assert ticks == sorted(ticks)


@given(at=INSTANTS, begins=CLOCKS, ends=CLOCKS, zone=st.sampled_from(ZONES))
def test_message_is_sent_at_once_or_after_quiet_hours(at: int, begins: int, ends: int, zone: str):
    """The sender wakes up at the end of quiet hours."""
    if begins == ends:
        return
    wall, quiet = ZoneInfo(zone), Quiet(begins, ends)
    free = free_at(clause(quiet=quiet), at, sent=(), zone=wall)
    local = local_of(free, wall)
    minute = local.hour * 60 + local.minute
    inside = begins <= minute < ends if begins < ends else minute >= begins or minute < ends

    assert free == at or free == tick_after(Rate("at", clocks=(quiet.ends,)), at, start=at, zone=wall)
    assert not inside or _is_shifted(free, wall)
    assert free == free_at(clause(quiet=quiet), free, sent=(), zone=wall)


def _is_shifted(instant: int, wall: ZoneInfo) -> bool:
    """Return whether clocks change within a day, where quiet hours may be shortened by missing or repeated hours."""
    offsets = {local_of(instant + hours * HOUR, wall).utcoffset() for hours in (-25, 0, 25)}
    return len(offsets) > 1


@given(
    sent=st.lists(st.integers(0, 100).map(lambda n: n * MINUTE), max_size=12).map(sorted),
    count=st.integers(1, 4),
    per=st.integers(1, 60).map(lambda n: n * MINUTE),
    later=st.integers(0, 90).map(lambda n: n * MINUTE),
)
def test_no_window_has_more_messages_than_the_cap(sent: list[int], count: int, per: int, later: int):
    """This holds for each window of the given length."""
    capped = clause(cap=Cap(count, per))
    kept: list[int] = []
    for at in sent:
        kept.append(free_at(capped, max([at, *kept]), sent=kept, zone=ZoneInfo("UTC")))
    last = free_at(capped, max([later, *kept]), sent=kept, zone=ZoneInfo("UTC"))

    for end in (*kept, last):
        assert count >= sum(end - per < at <= end for at in (*kept, last))


def test_clause_with_quiet_hours_or_a_cap_is_not_plain():
    """Only `immediate` without both is."""
    assert clause().is_plain
    assert not clause(quiet=Quiet(0, 60)).is_plain
    assert not clause(cap=Cap(1, HOUR)).is_plain
    assert not clause(Rate("best_effort")).is_plain


def test_rate_without_a_time_has_no_tick():
    """Such a rate counts changes, or is immediate."""
    zone = ZoneInfo("UTC")

    assert tick_after(Rate("every", changes=3), 0, start=0, zone=zone) is None
    assert tick_after(Rate("immediate"), 0, start=0, zone=zone) is None
    assert datetime(1970, 1, 1, 8, tzinfo=zone) == local_of(
        tick_after(Rate("at", clocks=(480,)), 0, start=0, zone=zone) or 0, zone
    )
