"""The contract of the store, on SQLite and on PostgreSQL."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.stores import SECOND, START, World, sha256
from tidings.archive.archive import Archive
from tidings.errors import (
    BudgetError,
    ClaimLostError,
    OvertakenError,
    PollerBusyError,
    StaleEpochError,
    StoreError,
    UnitError,
    UnknownNameError,
    UsageError,
)
from tidings.model.event_type import EventType
from tidings.model.interval import MINUTE, Duration
from tidings.model.observed.change import EditContext, EntryNote, FrameShare, ObjectPlace
from tidings.model.observed.outcome import Validators
from tidings.model.observed.page import HostState, PageState
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import (
    Charged,
    ComparisonRow,
    CursorMove,
    DeliveryDraft,
    DeliveryResult,
    EndpointMove,
    Estimate,
    Event,
    FrameRow,
    Grant,
    Missing,
    Quarantined,
    RuleState,
    SentinelMove,
    Timer,
    Unit,
)
from tidings.model.observed.version import Blob, Digest, Member, NewBody, Version
from tidings.model.watch.asking import BrowserStep, Header, Value
from tidings.model.watch.sentinel import State
from tidings.service.poll.unit import keeping
from tidings.service.upkeep import wrong_clock
from tidings.storage import secrets
from tidings.storage.db import instance, lock, planners
from tidings.storage.db.database import Patience
from tidings.storage.db.lock import LeaseRow
from tidings.storage.observed import estimates, hints, hosts, members, pages, polls, versions
from tidings.storage.watches import changes, deliveries, endpoints, events, outside, sentinels, subscriptions
from tidings.storage.write import charge, retention
from tidings.storage.write.commit import Committed, commit
from tidings.storage.write.store import commit_group

FAR = 2**60
"""µs: no attempt is made before it is due"""


# -- sentinels, pages, subscriptions ---------------------------------------------------------------------------------

DUE = PollReason(Why.INTERVAL)


def test_sentinel_round_trips(world: World):
    """A created sentinel is found by its name, with its tags, its text and its number of pages."""
    made = world.watch("news", "a", "b")

    assert made == world.read(sentinels.find, "news") == world.read(sentinels.get, made.id)
    assert ("enabled", 1, ("tag",), 2, world.at) == (made.state, made.revision, made.tags, made.pages, made.started_at)
    assert "Create Sentinel news" == made.text


def test_name_is_free_again_after_a_drop(world: World):
    """A second sentinel of the name is refused before; the history of the dropped one stays."""
    world.watch("news")
    with pytest.raises(UsageError, match="there is a sentinel news already"):
        world.watch("news", "b")
    assert [1] == [page_state.page_id for _, page_state in world.read(pages.listing)]

    world.write(sentinels.drop, 1, world.at + 5)
    again = world.watch("news")

    assert ["news"] == world.read(sentinels.names)
    assert again.id == world.read(sentinels.find, "news").id
    assert [("ended", "dropped"), ("enabled", "")] == [
        (row.state, row.reason) for row in world.read(sentinels.listing, ended=True)
    ]
    assert [again.id] == [row.id for row in world.read(sentinels.listing)]


def test_error_of_an_unknown_name_names_the_listing_command(world: World):
    """The error tells the user how to find the right name."""
    for ask in (
        lambda: world.read(sentinels.find, "none"),
        lambda: world.read(sentinels.get, 9),
        lambda: world.read(pages.state, 9),
        lambda: world.write(deliveries.replay, "none", 1),
        lambda: world.write(sentinels.move, SentinelMove(sentinel_id=9, state="enabled", at=1)),
    ):
        with pytest.raises(UnknownNameError, match="`tidings "):
            ask()


def test_lifecycle_steps_switch_subscriptions(world: World):
    """Subscriptions are active while the sentinel is enabled.

    Start and end are written once; each step is an event.
    """
    world.watch("news", state="created")
    steps: list[tuple[State, int]]
    steps = [("enabled", 10), ("disabled", 20), ("disabled", 25), ("enabled", 30), ("ended", 40)]
    for state, at in steps:
        world.write(sentinels.move, SentinelMove(sentinel_id=1, state=state, at=at, reason=f"by {state}"))
        assert [state == "enabled"] == [row.active for row in world.read(sentinels.subscriptions)]

    row = world.read(sentinels.get, 1)
    assert (10, 40, "by ended") == (row.started_at, row.ended_at, row.reason)
    assert ["created", "enabled", "disabled", "enabled", "ended"] == [
        event.type.removeprefix("sentinel.") for event in world.read(events.listing)
    ]
    with pytest.raises(UsageError, match="has ended"):
        world.write(sentinels.move, SentinelMove(sentinel_id=1, state="enabled", at=50))


def test_listing_by_tag(world: World):
    """A tag narrows the listing."""
    world.watch("news")

    assert ["news"] == [row.name for row in world.read(sentinels.listing, tag="tag")]
    assert [] == world.read(sentinels.listing, tag="other")


def test_first_tick_of_a_fixed_interval_is_the_start(world: World):
    """Other schedules have no next tick. Sentinels that share a page have a cursor each."""
    world.watch("every", "a", "b", every=60 * SECOND)
    world.watch("change", "a", state="created")

    rows = world.read(sentinels.subscriptions)
    assert [(1, 1, world.at, True), (1, 2, world.at, True), (2, 1, None, False)] == [
        (row.sentinel_id, row.page_id, row.next_tick, row.active) for row in rows
    ]
    assert rows[2:] == world.read(sentinels.subscriptions, sentinel_id=2)
    assert [rows[0]] == world.read(sentinels.subscriptions, page_id=1, active=True)


def test_population_is_the_pages_of_active_subscriptions(world: World):
    """A page is in it once, however many sentinels watch it."""
    world.watch("one", "a", "b")
    world.watch("two", "b", "c", state="created")
    world.watch("three", "b")

    assert [("key-a", 1), ("key-b", 2)] == [
        (identity.key, state.page_id) for identity, state in world.read(pages.population)
    ]
    assert 3 == len(world.read(pages.listing))


def test_schedules_are_read_alone(world: World):
    """They are read for all pages or for one; a page that was left has none."""
    one = world.watch("one", "b", "a")
    world.watch("two", "a")
    subs = {(sub.sentinel_id, sub.page_id): sub for sub in world.read(sentinels.subscriptions)}
    known = {state.page_id: (identity, state) for identity, state in world.read(pages.listing)}
    every = world.read(pages.list_expected)
    world.write(subscriptions.leave, subs[one.id, every[0].page_id].id, world.at)

    assert [(1, 1), (1, 2), (2, 2)] == [(row.sentinel_id, row.page_id) for row in every]
    for row in every:
        sub, (identity, state) = subs[row.sentinel_id, row.page_id], known[row.page_id]
        assert (sub.label, bool(sub.taken), sub.next_tick, sub.learned) == (
            row.label,
            row.taken,
            row.next_tick,
            row.learned,
        )
        assert (identity.given, state.polled_at, state.checked_at) == (row.given, row.polled_at, row.checked_at)
        assert (state.retry_at, state.health, state.kind) == (row.retry_at, row.health, row.kind)
    assert every[1:2] == world.read(pages.list_expected, sentinel_id=one.id)


def test_page_identity_round_trips_and_is_unique(world: World):
    """The same key gives the same page."""
    identity = replace(
        world.page(),
        method="POST",
        body=Value("form", is_secret=True),
        render="browser",
        frames=2,
        trust="ca.pem",
        proxy=Value("http://p.example"),
        headers=(Header("Accept", Value("x")), Header("B", Value("y", is_secret=True))),
        steps=(
            BrowserStep("fill", "css", "#q", Value("pw", is_secret=True)),
            BrowserStep("click", "text", "Go"),
            BrowserStep("wait", wait=2 * SECOND),
        ),
    )
    first = world.write(pages.ensure, identity)

    assert first == world.write(pages.ensure, identity) == world.read(pages.find_by_key, identity.key)
    assert identity == world.read(pages.identity, first)
    assert world.read(pages.find_by_key, "none") is None


def test_page_state_round_trips(world: World):
    """Validators are stored byte for byte; page texts are made storable."""
    world.watch()
    charged = world.charge()
    state = PageState(
        page_id=1, body_size=7, body_xxh3="ff", text_digest="ee", charset="utf-8", title="a\0b\ud800c", final_url="http://a/b",
        validators=Validators(etag='"caf\udce9"', last_modified="Mon"), polled_at=1, checked_at=2, changed_at=3,
        text_changed_at=4, health="shaky", kind="net", reason="down", failures=5, failing_since=6, retry_at=7, polls=8,
        changes=9, unconditional_in=10, honest_streak=11, moved_to="http://c/",
    )  # fmt: skip
    world.commit(world.unit(poll=world.poll(charged), page=state))

    assert replace(state, title="a\ufffdb\ufffdc") == world.state()


# -- charges ---------------------------------------------------------------------------------------------------------


def _grants(count: int, **more: object) -> list[Grant]:
    given = {"page_id": 1, "host": "a.example", "cost": 1.0, "reason": DUE} | more
    return [Grant(**given) for _ in range(count)]  # type: ignore[arg-type]


def test_bucket_is_filled_by_time(world: World):
    """A grant beyond the level is None. The level grows at the rate, up to the burst."""
    world.watch()
    world.write(charge.set_budget, "small", rate_per_second=2.0, burst=3.0, at=START)

    def pay_at(at: int) -> int:
        charged = world.write(charge.charge, _grants(5, budget="small"), at=at, epoch=world.epoch)
        return sum(entry is not None for entry in charged)

    assert [3, 0, 1, 0, 3] == [pay_at(START + offset) for offset in (0, 0, SECOND // 2, -9 * SECOND, 3600 * SECOND)]


def test_clock_moved_forward_fills_no_bucket(world: World):
    """The level stays, and filling goes on by the new clock."""
    world.watch()
    world.write(charge.set_budget, "small", rate_per_second=2.0, burst=3.0, at=START)

    def pay_at(at: int) -> int:
        charged = world.write(charge.charge, _grants(5, budget="small"), at=at, epoch=world.epoch)
        return sum(entry is not None for entry in charged)

    assert [3, 0] == [pay_at(START), pay_at(START)]
    world.write(charge.put_forward, 3600 * SECOND, at=START + SECOND // 2, epoch=world.epoch)

    assert [1, 0, 2] == [
        pay_at(START + 3600 * SECOND + offset) for offset in (SECOND // 2, SECOND - 1, 3 * SECOND // 2)
    ]


def test_charge_stores_an_open_poll_and_the_host_s_last_start(world: World):
    """Both are stored before any request is sent."""
    world.watch()
    charged = world.write(charge.charge, _grants(2), at=START + 5, epoch=world.epoch)

    assert [entry.poll_id for entry in charged if entry] == world.open_polls()
    poll = world.read(polls.open_polls)[0]
    assert (1, world.epoch, START + 5, 1.0, DUE, None) == (
        poll.page_id, poll.epoch, poll.charged_at, poll.cost, poll.reason, poll.outcome,
    )  # fmt: skip
    assert START + 5 == world.read(hosts.state, "a.example").started_at


def test_cheaper_grant_is_paid_while_a_dearer_one_waits(world: World):
    """Grants are paid in order from what is left; the answers keep the order."""
    world.watch()
    world.write(charge.set_budget, "small", rate_per_second=0.0, burst=2.5, at=START)
    grants = [Grant(page_id=1, host="h", cost=cost, reason=DUE, budget="small") for cost in (2.0, 1.0, 0.5)]

    charged = world.write(charge.charge, grants, at=START, epoch=world.epoch)

    assert [grants[0], None, grants[2]] == [entry and entry.grant for entry in charged]


def test_ordered_grants_reserve_tokens_for_the_first(world: World):
    """The budget can then save up for a dear grant. Other budgets are not affected."""
    world.watch()
    for name in ("small", "other"):
        world.write(charge.set_budget, name, rate_per_second=0.0, burst=2.5, at=START)
    asked = [(1.0, "small"), (2.0, "small"), (0.5, "small"), (1.0, "other")]
    grants = [Grant(page_id=1, host="h", cost=cost, reason=DUE, budget=budget) for cost, budget in asked]

    charged = world.write(charge.charge, grants, at=START, epoch=world.epoch, in_turn=True)

    assert [grants[0], None, None, grants[3]] == [entry and entry.grant for entry in charged]


def test_class_is_a_budget_within_the_budget(world: World):
    """A class pays from both budgets. If one lacks tokens, the other is not charged."""
    world.watch()
    world.write(charge.set_budgets, {"default": (0.0, 5.0), "small": (0.0, 2.0)}, at=START)
    world.write(charge.set_budget, "default", rate_per_second=0.0, burst=5.0, at=START)
    asked = [*_grants(3, budget="small"), *_grants(4)]

    charged = world.write(charge.charge, asked, at=START, epoch=world.epoch)

    assert [True, True, False, True, True, True, False] == [entry is not None for entry in charged]
    assert {"default": 0.0, "small": 0.0} == {name: bucket.level for name, bucket in world.read(charge.budgets).items()}


@pytest.mark.parametrize(("lacking", "text"), [("default", "budget.polls_per_day"), ("small", "budget.classes")])
def test_request_refused_by_one_budget_charges_neither(world: World, lacking: str, text: str):
    """The error names the budget that lacks tokens, and its setting."""
    world.watch()
    for name in ("default", "small"):
        world.write(charge.set_budget, name, rate_per_second=0.0, burst=0.5 if name == lacking else 9.0, at=START)
    before = world.read(charge.budgets)

    with pytest.raises(BudgetError, match=f"{lacking} .*{text}"):
        world.write(charge.bare, "small", at=START)
    assert before == world.read(charge.budgets)


def test_request_without_a_poll_is_charged(world: World):
    """Both budgets pay, and no poll is open."""
    world.watch()
    for name in ("default", "small"):
        world.write(charge.set_budget, name, rate_per_second=0.0, burst=3.0, at=START)

    world.write(charge.bare, "small", at=START + 5)

    assert {"default": 2.0, "small": 2.0} == {name: bucket.level for name, bucket in world.read(charge.budgets).items()}
    assert [] == world.open_polls()


def test_bucket_is_filled_up_to_the_instant_of_the_clock(world: World):
    """The level is stored with the instant."""
    world.write(charge.set_budgets, {"default": (1.0, 9.0)}, at=START)
    world.write(charge.bare, "default", at=START, cost=5.0)

    world.write(charge.touch, at=START + 2 * SECOND, epoch=world.epoch)

    assert (6.0, START + 2 * SECOND) == (
        (bucket := world.read(charge.budgets)["default"]).level,
        bucket.at,
    )


def test_grant_needs_tokens_of_both_budgets(world: World):
    """One of the two is not enough."""
    world.write(charge.set_budgets, {"default": (0.0, 2.0), "small": (0.0, 1.0)}, at=START)
    asked = [
        *_grants(1, cost=2.0),
        *_grants(1, cost=2.5),
        *_grants(1, budget="small"),
        *_grants(1, cost=1.5, budget="small"),
    ]

    assert [True, False, True, False] == [world.read(charge.pays, grant, at=START) for grant in asked]


def test_stale_epoch_does_not_fill(world: World):
    """Another process has the lease by now."""
    world.write(charge.set_budgets, {"default": (1.0, 9.0)}, at=START)
    before = world.read(charge.budgets)

    with pytest.raises(StaleEpochError):
        world.write(charge.touch, at=START + SECOND, epoch=world.epoch - 1)
    assert before == world.read(charge.budgets)


def test_unused_classes_are_removed(world: World):
    """Nobody waits for a budget without a setting."""
    for wanted in ({"default": (1.0, 9.0), "a": (1.0, 2.0), "b": (1.0, 2.0)}, {"default": (1.0, 9.0), "b": (1.0, 2.0)}):
        world.write(charge.set_budgets, wanted, at=START)

    assert ["b", "default"] == [*world.read(charge.budgets)]


def test_stale_epoch_cannot_charge_or_commit(world: World):
    """This holds after another acquisition (I-7)."""
    world.watch()
    unit = world.make_unchanged()
    poll_id = world.open_polls()[0]
    world.write(lock.acquire_lease, "poller", "test", at=START, until=START)

    for write in (
        lambda: world.write(charge.charge, _grants(1), at=world.at, epoch=world.epoch),
        lambda: world.write(charge.extra, 1, "h", poll_id, at=world.at, epoch=world.epoch),
        lambda: world.write(charge.put_forward, SECOND, at=world.at, epoch=world.epoch),
        lambda: world.commit(unit),
    ):
        with pytest.raises(StaleEpochError, match="stale"):
            write()
    assert [poll_id] == world.open_polls()
    assert 0 == world.state().polls


def test_open_polls_of_a_dead_process_end_once_as_errors(world: World):
    """They get `error` of kind `net`; their cost stays."""
    world.watch()
    epoch = world.epoch
    early, late = (world.write(charge.charge, _grants(1), at=START + n * SECOND, epoch=epoch)[0] for n in (0, 50))
    world.epoch = world.write(lock.acquire_lease, "poller", "test", at=START, until=START)
    mine = world.write(charge.charge, _grants(1), at=START + 60 * SECOND, epoch=world.epoch)[0]

    def cut_off() -> int:
        return world.write(polls.end_abandoned, now=START + 60 * SECOND, longest=30 * SECOND)

    assert early is not None
    assert late is not None
    assert mine is not None
    assert [2, 0] == [cut_off(), cut_off()]
    assert [mine.poll_id] == world.open_polls()
    ended = [world.read(polls.get, charged.poll_id) for charged in (early, late)]
    assert [START + 30 * SECOND, START + 60 * SECOND] == [row.finished_at for row in ended if row]
    assert {("error", "net", polls.CUT_OFF, 1.0, None)} == {
        (row.outcome, row.kind, row.note, row.cost, row.status) for row in ended if row
    }
    state = world.state()
    assert (START + 60 * SECOND, None, "ok", 0, 0) == (
        state.polled_at, state.checked_at, state.health, state.failures, state.polls,
    )  # fmt: skip
    assert [] == world.faults()


def test_charge_of_more_than_64_grants_is_refused(world: World):
    """A charge with an unknown class is refused too."""
    world.watch()

    for grants in (_grants(65), _grants(1, budget="none")):
        with pytest.raises(UnitError):
            world.write(charge.charge, grants, at=START, epoch=world.epoch)
    assert [] == world.open_polls()


def test_further_request_is_charged_to_its_poll(world: World):
    """It takes tokens of the poll's class. An empty bucket or a finished poll raises."""
    world.watch()
    world.write(charge.set_budget, "small", rate_per_second=0.0, burst=2.0, at=START)
    (charged,) = world.write(charge.charge, _grants(1, budget="small"), at=START, epoch=world.epoch)
    assert charged is not None
    more: dict[str, Any] = {"at": START + 1, "epoch": world.epoch}

    world.write(charge.extra, 1, "other.example", charged.poll_id, **more)
    with pytest.raises(BudgetError, match="budget small"):
        world.write(charge.extra, 1, "other.example", charged.poll_id, **more)
    poll = world.read(polls.get, charged.poll_id)
    assert poll is not None
    assert (2.0, 2) == (poll.cost, poll.requests)
    assert START + 1 == world.read(hosts.state, "other.example").started_at

    world.commit(world.unit(poll=world.poll(charged)))
    with pytest.raises(UnitError, match="not an open poll"):
        world.write(charge.extra, 1, "other.example", charged.poll_id, **more)


def test_changed_budget_keeps_its_level(world: World):
    """The level is cut to the new burst."""
    for burst, at in ((10.0, 0), (4.0, SECOND), (8.0, 3 * SECOND)):
        world.write(charge.set_budget, "b", rate_per_second=1.0, burst=burst, at=START + at)

    row = world.read(charge.budgets)["b"]
    assert (4.0, 8.0, START + 3 * SECOND) == (row.level, row.burst, row.at)


# -- units -----------------------------------------------------------------------------------------------------------


def test_unchanged_poll_is_recorded(world: World):
    """The unit completes the poll and writes the state of the page."""
    world.watch()
    unit = world.make_unchanged()

    world.commit(unit)

    (poll,) = world.read(polls.listing, page_id=1)
    assert ("unchanged", False, 200, world.at) == (poll.outcome, poll.text_changed, poll.status, poll.finished_at)
    assert unit.page == world.state()
    assert [] == world.open_polls()
    assert [] == world.faults()


def test_version_round_trips_with_its_body(world: World):
    """Version, blob and digests are read as they were written."""
    world.watch()
    unit = world.make_stored(b"one")
    assert unit.version is not None
    version = replace(
        unit.version, modified_at=5, charset="utf-8", charset_source="header", content_type="text/html", title="t",
        final_url="http://a/", status=203, headers={"etag": '"x"', "odd": "\udce9"}, text_changed=False,
    )  # fmt: skip
    digests = ((1, Digest("all", 3, "d", {"links": "e"})), (1, Digest("part", 3, "f", {})))
    world.commit(replace(unit, version=version, digests=digests))

    assert version == world.read(versions.get, 1, 1) == world.read(versions.newest, 1)
    assert [version] == world.read(versions.listing, 1)
    assert unit.blobs[0] == world.read(versions.blob, sha256(b"one"))
    assert {1: digests[1][1]} == world.read(versions.digests, 1, [1, 2], extraction="part")
    assert {1: [digest for _, digest in digests]} == world.read(versions.every_digest, 1, [1, 1])
    assert world.read(versions.get, 1, 2) is None
    assert world.read(versions.newest, 2) is None
    assert world.read(versions.blob, "x") is None


def test_versions_are_consecutive_and_differ(world: World):
    """A unit whose version skips a number or repeats the newest body is refused (I-2)."""
    world.watch()
    world.commit(world.make_stored(b"one"))
    good = world.make_stored(b"two")
    assert good.version is not None
    assert good.page is not None

    for number, body in ((3, b"two"), (1, b"two"), (2, b"one")):
        version = replace(good.version, seq=number, sha256=sha256(body))
        broken = replace(good, version=version, page=replace(good.page, last_seq=number))
        with pytest.raises(UnitError, match="nothing was written"):
            world.commit(broken)
    with pytest.raises(UnitError):
        world.commit(replace(good, page=None))
    with pytest.raises(UnitError):
        world.commit(replace(good, blobs=()))
    world.commit(good)
    world.commit(world.make_stored(b"one"))  # a body that returns is a version again

    assert [1, 2, 3] == [version.seq for version in world.read(versions.listing, 1)]
    assert [] == world.faults()


def test_storage_of_new_bodies_is_planned_in_the_commit(world: World, tmp_path: Path):
    """A body of the same transaction can be the base of a delta.

    A rolled back plan leaves nothing.
    """
    keep = keeping(Archive(tmp_path / "blobs", file_bytes=65_536, chain_length=8))
    world.watch()
    one, two, three = (b"<p>words and more words</p>" * 50 + mark for mark in (b"1", b"2", b"3"))

    def bring(body: bytes, former: bytes) -> Unit:
        new = NewBody(body, sha256(body), sha256(former) if former else "", len(former))
        return world.make_stored(body, blobs=(), bodies=(new,))

    unplanned = bring(one, b"")
    with pytest.raises(UnitError, match="nothing was written"):
        world.commit(unplanned)
    world.write(commit, [unplanned], keep)
    second = bring(two, one)
    third = replace(
        bring(three, two),
        version=Version(page_id=1, seq=3, sha256=sha256(three), size=len(three), fetched_at=world.at),
        page=replace(world.state(), last_seq=3),
    )
    with pytest.raises(UnitError):
        world.write(commit, [second, replace(third, page=None)], keep)
    world.write(commit, [second, third], keep)

    rows = [world.read(versions.blob, sha256(body)) for body in (one, two, three)]
    assert [sha256(two), sha256(three), ""] == [row.base for row in rows if row is not None]
    restored = world.read(
        lambda c: Archive(tmp_path / "blobs", file_bytes=None, chain_length=8).restore(
            sha256(one), lambda name: versions.blob(c, name)
        )
    )
    assert one == restored


def _frames(world: World) -> None:
    """Watch page 1 and return its frames, pages 2 and 3, with one version each."""
    world.watch()
    world.write(members.ensure, [world.page("menu"), world.page("text")])
    world.commit(world.make_stored(b"menu", page_id=2))
    world.commit(world.make_stored(b"text", page_id=3))


def test_version_with_frames_round_trips(world: World):
    """Its digest covers its members in order; the frames that the page names are stored beside it."""
    _frames(world)
    world.commit(world.make_framed(b"base", {2: b"menu", 3: b"text"}))
    world.commit(world.make_stored(b"text 2", page_id=3))
    world.commit(world.make_framed(b"base", {2: b"menu", 3: b"text 2"}))

    first, second = world.read(versions.listing, 1)
    key = [world.page(name).key for name in ("a", "menu", "text")]
    assert (2, 2) == (first.frames, second.frames)
    assert [
        Member(key[0], sha256(b"base")),
        Member(key[1], sha256(b"menu"), 1),
        Member(key[2], sha256(b"text"), 1),
    ] == (world.read(members.of_version, 1, 1))
    assert Member(key[2], sha256(b"text 2"), 2) == world.read(members.of_version, 1, 2)[2]
    assert sha256(b"base") == world.read(members.holder_sha256, second)
    assert [] == world.read(members.of_version, 2, 1)
    assert [(2, False), (3, False)] == [(f.state.page_id, f.is_reported) for f in world.read(members.frames, 1)]
    assert {1} == world.read(members.list_framed_pages)
    assert (True, False) == (world.read(members.is_framed, 1), world.read(members.is_framed, 2))
    assert [] == world.faults()


def test_frames_of_a_page_are_replaced_or_kept(world: World):
    """A unit without frames keeps them; one with others, or none, replaces them."""
    _frames(world)
    world.commit(world.make_framed(b"base", {2: b"menu", 3: b"text"}))
    world.commit(world.make_unchanged())
    left = world.read(members.frames, 1)
    world.commit(replace(world.make_unchanged(), frames=(FrameRow(3, is_reported=True),)))
    reported = world.read(members.frames, 1)
    world.commit(replace(world.make_unchanged(), frames=()))

    assert [2, 3] == [frame.state.page_id for frame in left]
    assert [(3, True)] == [(frame.state.page_id, frame.is_reported) for frame in reported]
    assert [] == world.read(members.frames, 1)
    assert not world.read(members.is_framed, 1)


def test_version_whose_digest_does_not_match_its_members_is_refused(world: World):
    """Wrong order, a missing member and a missing body leave nothing behind."""
    _frames(world)
    good = world.make_framed(b"base", {2: b"menu", 3: b"text"})
    base, menu, text = good.members
    for made_of in ((base, text, menu), (base, menu), (), (base, menu, replace(text, sha256="ff"))):
        with pytest.raises(UnitError):
            world.commit(replace(good, members=made_of))

    assert [] == world.read(versions.listing, 1)
    world.commit(good)
    assert [] == world.faults()


def test_frame_is_a_member_by_its_newest_version(world: World):
    """A frame with frames is a member by its own body; a frame without a version is none."""
    _frames(world)
    world.commit(world.make_framed(b"base", {2: b"menu"}))
    world.write(members.ensure, [world.page("new")])

    def member(page_id: int) -> Member | None:
        return world.read(lambda c: members.as_member(c, pages.identity(c, page_id), pages.state(c, page_id)))

    assert Member(world.page("menu").key, sha256(b"menu"), 1) == member(2)
    assert Member(world.page("a").key, sha256(b"base"), 1) == member(1)
    assert member(4) is None


def test_change_in_a_frame_round_trips(world: World):
    """The parts of a change are stored with their texts and links."""
    change = world.change()
    shares = (
        FrameShare("http://a.example/menu", inserted=2, edits=1),
        FrameShare("http://a.example/", updated=1, objects=1),
    )
    places = (ObjectPlace("links", "http://a.example/", "delete", 2, 3, 7, 9, "see", "our report", "of May"),)
    contexts = (EditContext("updated", 0, heading="Fees", label="Adults", before="from ", after=" €"),)
    world.report_change(replace(change, found=replace(change.found, frames=shares, places=places, contexts=contexts)))

    (stored,) = world.read(changes.listing)
    assert (shares, places, contexts) == (stored.row.found.frames, stored.row.found.places, stored.row.found.contexts)


def test_display_texts_round_trip(world: World):
    """These are the texts of entries, the title of the page and the text of a message."""
    change = world.change()
    entries = (EntryNote("updated", 0, "Two", "http://a.example/2", "Ann", 5, "text", (("title", "One", "Two"),)),)
    world.report_change(replace(change, found=replace(change.found, entries=entries, title="News", snapshot="a\nb")))

    (stored,) = world.read(changes.listing)
    found = stored.row.found
    assert (entries, "News", "a\nb") == (found.entries, found.title, found.snapshot)


def test_unit_built_on_an_older_version_is_refused(world: World):
    """It cannot overwrite the row of the page."""
    world.watch()
    late = world.make_unchanged()
    world.commit(world.make_stored(b"one"))

    with pytest.raises(UnitError, match="not the newest"):
        world.commit(late)
    assert 1 == world.state().last_seq


def test_unit_is_committed_once(world: World):
    """A second commit changes nothing and returns that."""
    world.watch()
    unit = world.make_stored(b"one")
    world.commit(unit)

    with pytest.raises(UnitError, match="not an open poll"):
        world.commit(unit)
    assert 1 == world.state().last_seq
    assert [] == world.faults()


def test_invalid_unit_rolls_its_whole_group_back(world: World):
    """Nothing of the group is stored."""
    world.watch()
    good, broken = world.make_stored(b"one"), world.unit(cursors=(world.cursor(99),))
    before = world.read(events.last_seq)

    with pytest.raises(UnitError, match="subscription that is not there"):
        world.commit(good, broken)

    assert [] == world.read(versions.listing, 1)
    assert before == world.read(events.last_seq)
    assert world.read(versions.blob, sha256(b"one")) is None


def test_group_can_hold_several_units_of_a_page(world: World):
    """They are applied in order: the second may use the first's version."""
    world.watch()
    first = world.make_stored(b"one")
    second = world.make_stored(b"two")
    assert first.page is not None
    assert second.version is not None
    second = replace(
        second,
        page=replace(first.page, last_seq=2),
        version=replace(second.version, seq=2),
        poll=replace(second.poll, outcome="changed"),  # type: ignore[type-var]
    )

    world.commit(first, second)

    assert 2 == world.state().last_seq
    assert [] == world.faults()


def test_events_are_numbered_in_commit_order(world: World):
    """The change has the number of its event, and the delivery the range."""
    committed = world.report_change()

    (stored,) = world.read(changes.listing)
    (delivery,) = world.read(deliveries.first_due, now=world.at, tried_every=FAR)
    assert (stored.event_seq,) == committed.event_seqs == (delivery.first_seq,)
    assert committed.delivery_ids == (delivery.id,)
    assert [1, 2] == [event.seq for event in world.read(events.listing)] == [1, world.read(events.last_seq)]
    assert [] == world.faults()


def test_change_round_trips(world: World):
    """The whole change set is read again, with the name of the sentinel and the address as given."""
    change = world.change(modified_at=7)
    world.report_change(change)

    (stored,) = world.read(changes.listing)
    assert change == stored.row
    assert ("news", "http://a.example/") == (stored.sentinel, stored.url)
    assert stored == world.read(changes.get, "change")
    assert world.read(changes.get, "none") is None


def test_changes_are_filtered_by_sentinel_page_time_and_quietness(world: World):
    """Quiet changes are listed only on request; the newest comes first."""
    world.report_change()
    rows = [world.change(id=f"c{i}", quiet=i == 2, detected_at=world.at + i) for i in (1, 2, 3)]
    reported = [Event(type=EventType.CHANGE_FOUND, at=1, sentinel_id=1, change_id=row.id) for row in rows]
    world.commit(world.unit(changes=tuple(rows), events=tuple(reported)))

    def ids(**conditions: Any) -> list[str]:
        return [stored.row.id for stored in world.read(changes.listing, **conditions)]

    assert ["c3", "c1", "change"] == ids() == ids(sentinel="news") == ids(page_id=1)
    assert ["c3", "c2", "c1", "change"] == ids(quiet=True)
    assert ["c3"] == ids(since=world.at + 2) == ids(limit=1)
    assert [] == ids(sentinel="other") == ids(page_id=2)
    assert ["c1", "c3"] == [stored.row.id for stored in world.read(changes.for_events, 3, 9, 1)]
    assert [] == world.read(changes.for_events, 1, 9, 2)
    assert ["c3", "c1"] == [*world.read(changes.of, ["c3", "none", "\0", "c1"])]
    assert {"c1", "c2"} == world.read(changes.list_stored, ["c2", "c1", "none"])


def test_repeated_unit_notifies_once(world: World):
    """A retry after an unknown result adds nothing and returns the first answer."""
    first = world.report_change()
    retry = world.unit(**world.news(world.change(), world.endpoint(), body=b"other bytes"))

    (again,) = world.commit(retry)

    assert first == again
    assert 2 == world.read(events.last_seq)
    (delivery,) = world.read(deliveries.listing)
    assert b"news" == delivery.body
    assert [] == world.faults()


def test_delivery_id_depends_on_endpoint_and_range(world: World):
    """A digest has event numbers that were given out before."""
    world.report_change()
    other = world.write(endpoints.ensure, "webhook", "http://127.0.0.1/other")
    draft = DeliveryDraft(
        endpoint_id=other, sentinel_id=1, content_type="t", body=b"b", due_at=1, first_seq=1, last_seq=2
    )
    (committed,) = world.commit(
        world.unit(deliveries=(draft, replace(draft, endpoint_id=1), replace(draft, first_seq=2)))
    )

    assert 3 == len(set(committed.delivery_ids))
    assert 4 == len(world.read(deliveries.listing))
    for broken in (replace(draft, first_seq=None), replace(draft, events=(0,))):
        with pytest.raises(UnitError):
            world.commit(world.unit(deliveries=(broken,)))


def test_failed_delivery_is_retried_and_becomes_a_dead_letter(world: World):
    """A replay has the same id and the same bytes."""
    (id_,) = world.report_change().delivery_ids
    at = world.at

    def result(status: str, **more: object) -> None:
        outcome = DeliveryResult(delivery_id=id_, status=status, at=at, **more)  # type: ignore[arg-type]
        world.commit(world.unit(results=(outcome,)))

    result("waiting", attempt=1, due_at=at + 100, error="refused\0")
    assert [] == world.read(deliveries.first_due, now=at + 99, tried_every=FAR)
    assert at + 100 == world.read(deliveries.next_due, now=world.at, tried_every=FAR)
    result("dead", attempt=2, error="gone")
    assert world.read(deliveries.next_due, now=world.at, tried_every=FAR) is None
    (dead,) = world.read(deliveries.listing, dead=True, sentinel="news")
    assert ("dead", 2, at, "gone") == (dead.status, dead.attempt, dead.finished_at, dead.error)

    again = world.write(deliveries.replay, id_[:12], at + 500)  # the beginning of an id is enough
    assert (id_, dead.body, "waiting", 0, None) == (
        again.id,
        again.body,
        again.status,
        again.attempt,
        again.finished_at,
    )
    assert [again] == world.read(deliveries.first_due, now=at + 500, tried_every=FAR)
    result("delivered", attempt=1)
    assert (
        []
        == world.read(deliveries.first_due, now=at + 900, tried_every=FAR)
        == world.read(deliveries.listing, dead=True)
    )
    with pytest.raises(UnitError):
        world.commit(world.unit(results=(DeliveryResult(delivery_id="x", status="dead", attempt=1, at=1),)))


def test_first_delivery_of_an_endpoint_is_found(world: World):
    """It is the one that the listing of all has; there may be none."""
    world.report_change()
    (first,) = world.read(deliveries.first_due, now=world.at, tried_every=FAR)

    def first_of(endpoint_id: int, now: int) -> list[str]:
        due = world.read(deliveries.first_due, now=now, tried_every=FAR, endpoint_id=endpoint_id)
        return [row.id for row in due]

    assert [[first.id], []] == [first_of(first.endpoint_id + n, world.at) for n in (0, 1)]
    waits = DeliveryResult(delivery_id=first.id, status="waiting", attempt=1, at=world.at, due_at=world.at + 100)
    world.commit(world.unit(results=(waits,)))
    assert [[], [first.id]] == [first_of(first.endpoint_id, world.at + n) for n in (99, 100)]


def test_disabled_endpoint_has_no_due_deliveries(world: World):
    """They stay pending."""
    world.report_change()
    world.commit(
        world.unit(endpoints=(EndpointMove(endpoint_id=1, failing_since=3, enabled=False, reason="410 Gone"),))
    )

    row = world.read(endpoints.get, 1)
    assert row is not None
    assert [row] == world.read(endpoints.listing)
    assert (False, 3, "410 Gone") == (row.enabled, row.failing_since, row.reason)
    assert [] == world.read(deliveries.first_due, now=world.at, tried_every=FAR)
    assert world.read(deliveries.next_due, now=world.at, tried_every=FAR) is None
    assert world.endpoint() == row.id


def test_feed_is_read_newest_first(world: World):
    """It has only what its endpoint delivered, of one sentinel or of all; bodies are read by id."""
    (first,) = world.report_change().delivery_ids
    other = world.write(endpoints.ensure, "feed", "")
    draft = DeliveryDraft(
        endpoint_id=other, sentinel_id=1, content_type="text/plain", body=b"two", due_at=1, first_seq=1, last_seq=1
    )
    (second, third) = world.commit(world.unit(deliveries=(draft, replace(draft, body=b"three", last_seq=2))))[
        0
    ].delivery_ids
    for id_, at in ((first, 5), (second, 6), (third, 7)):
        done = DeliveryResult(delivery_id=id_, status="delivered", attempt=1, at=at)
        assert [] == [found for found, _ in world.read(deliveries.laid_out, other, limit=9) if found == id_]
        world.commit(world.unit(results=(done,)))

    assert [(third, 7), (second, 6)] == world.read(deliveries.laid_out, other, limit=9)
    assert [(third, 7)] == world.read(deliveries.laid_out, other, sentinel_id=1, limit=1)
    assert [] == world.read(deliveries.laid_out, other, sentinel_id=2, limit=9)
    assert {third: b"three", first: b"news"} == world.read(deliveries.bodies, [third, "none", first, third])


def test_all_other_rows_of_a_unit_are_written(world: World):
    """Hosts, timers, estimates, rule states, garbage, quarantine and answers round-trip."""
    world.watch()
    (asked,) = world.write(polls.request_polls, [1], world.at)
    charged = world.charge()
    host = HostState(
        name="1.example", started_at=1, paused_until=9, failures=2, robots=b"\0x", robots_status="200", robots_at=4
    )
    unit = world.unit(
        poll=world.poll(charged, "quarantined", kind="blocked", reason="a wall\0"),
        hosts=(host,),
        timers=(Timer(kind="digest", ref=1, due_at=5, data={"a": [1]}), Timer(kind="start", ref=2, due_at=9)),
        estimates=(Estimate(page_id=1, name="poisson", state={"rate": 0.5}, at=3),),
        rules=(RuleState(sentinel_id=1, name="rule", state={"open": 1}),),
        blobs=(Blob(sha256(b"wall"), 4, "", 0, b"wall"),),
        quarantined=(Quarantined(page_id=1, at=3, kind="blocked", sha256=sha256(b"wall"), reason="wall"),),
        garbage=("aa/bb",),
        answered=(asked,),
    )
    world.commit(unit)

    assert replace(host, started_at=charged.at) == world.read(hosts.state, "1.example")
    assert [host.name] == [state.name for state in world.read(hosts.states)]
    assert list(unit.timers) == world.read(events.list_timers)
    assert {1: {"rate": 0.5}} == world.read(estimates.load_all, "poisson")
    assert {"open": 1} == world.read(events.get_rule_state, 1, "rule")
    assert ["aa/bb"] == world.read(retention.listing)
    assert {sha256(b"wall")} == world.read(versions.list_referenced)
    (request,) = world.read(polls.get_requests, [asked])
    assert (charged.poll_id, False) == (request.poll_id, request.is_open)
    poll = world.read(polls.get, charged.poll_id)
    assert poll is not None
    assert ("quarantined", "blocked", "a wall\ufffd") == (poll.outcome, poll.kind, poll.note)
    assert [] == world.faults()


def test_timers_and_rules_are_removed(world: World):
    """A timer without an instant and a rule without a state are removed; a timer can be moved."""
    world.watch()
    world.write(events.put_timers, [Timer(kind="a", ref=1, due_at=5), Timer(kind="a", ref=2, due_at=6)])
    world.write(events.put_timers, [Timer(kind="a", ref=1, due_at=9)])
    assert 6 == world.read(events.next_due)
    gone = Timer(kind="a", ref=2, due_at=None)
    world.commit(world.unit(timers=(gone,), rules=(RuleState(sentinel_id=1, name="r", state={}),)))
    world.commit(world.unit(rules=(RuleState(sentinel_id=1, name="r", state=None),)))
    world.write(events.cancel_timer, "a", 7)

    assert [9] == [timer.due_at for timer in world.read(events.list_timers)]
    assert world.read(events.get_rule_state, 1, "r") is None


def test_pending_comparison_is_listed_until_settled(world: World):
    """It is settled when it is made or given up."""
    world.watch()
    world.commit(world.make_stored(b"one"))
    row = ComparisonRow(subscription_id=1, page_id=1, from_seq=1, to_seq=2, revision=1, status="pending")
    world.commit(world.make_stored(b"two", comparisons=(row,)))
    assert [row] == world.read(versions.list_pending)
    assert [] == world.faults()

    tried = replace(row, attempt=3, status="could_not_compare", reason="killed three times")
    world.commit(world.unit(comparisons=(replace(row, attempt=1),)))
    assert [1] == [owed.attempt for owed in world.read(versions.list_pending)]
    world.commit(world.unit(comparisons=(tried,)))
    assert ([], [tried]) == (world.read(versions.list_pending), world.read(versions.list_given_up))
    world.commit(world.unit(comparisons=(replace(row, status="done"),)))
    assert [] == world.read(versions.list_given_up)


def test_settled_comparison_settles_older_ones(world: World):
    """Several may be pending from one version; none stays once the newest is settled."""
    world.watch()
    for body in (b"one", b"two", b"three"):
        world.commit(world.make_stored(body))
    first = ComparisonRow(subscription_id=1, page_id=1, from_seq=1, to_seq=2, revision=1, status="pending")
    second = replace(first, to_seq=3)
    for ending in ("done", "could_not_compare"):
        world.commit(world.unit(comparisons=(first, second)))
        assert [first, second] == world.read(versions.list_pending)
        world.commit(world.unit(comparisons=(replace(second, status=ending),)))

        assert [] == world.read(versions.list_pending)


def test_step_decided_on_an_old_state_is_ignored(world: World):
    """F-24: a user's change between decision and commit wins; the step has no event."""
    made = world.watch()
    world.write(sentinels.move, SentinelMove(sentinel_id=made.id, state="disabled", at=world.at, reason="by you"))
    last = world.read(events.last_seq)
    world.commit(
        world.unit(sentinels=(SentinelMove(sentinel_id=made.id, state="enabled", at=world.at, before="created"),))
    )
    assert "disabled" == world.read(sentinels.get, made.id).state
    world.write(sentinels.drop, made.id, world.at)
    world.commit(
        world.unit(sentinels=(SentinelMove(sentinel_id=made.id, state="waiting", at=world.at, before="disabled"),))
    )

    assert "ended" == world.read(sentinels.get, made.id).state
    assert last + 1 == world.read(events.last_seq)


def test_cursor_of_before_an_alteration_keeps_the_new_tick(world: World):
    """The sentinel was altered during the poll; the version still counts as taken."""
    world.watch()
    world.commit(world.make_stored(b"one"))
    world.write(lambda c: c.execute("UPDATE subscription SET revision = 2, next_tick = 77"))
    world.commit(world.unit(cursors=(world.cursor(taken=(1,), next_tick=5, ticked_at=4),)))
    (altered,) = world.read(subscriptions.listing)
    assert (2, 77, (1,), 4) == (altered.revision, altered.next_tick, altered.taken, altered.ticked_at)
    world.commit(world.unit(cursors=(world.cursor(revision=2, taken=(1,), next_tick=90),)))

    assert [90] == [row.next_tick for row in world.read(subscriptions.listing)]


def test_missing_part_is_stored_with_the_cursor(world: World):
    """It is removed when a poll finds the part."""
    world.watch()
    world.commit(world.make_stored(b"one"))
    missing = Missing(seq=1, revision=1, names=('css ".price"', "table 2"), never=("table 2",))
    world.commit(world.unit(cursors=(world.cursor(missing=missing),)))
    (kept,) = world.read(subscriptions.listing)
    world.commit(world.unit(cursors=(world.cursor(),)))
    (gone,) = world.read(subscriptions.listing)

    assert (missing, None) == (kept.missing, gone.missing)


def test_unneeded_digests_are_removed(world: World):
    """A digest is needed by a cursor, a pending comparison or the newest version."""
    world.watch("one")
    world.watch("two")

    def store(body: bytes, seq: int, *moves: CursorMove, **more: Any) -> None:
        digest = (seq, Digest("all", 1, f"d{seq}", {}))
        world.commit(world.make_stored(body, digests=(digest,), cursors=moves, **more))

    store(b"1", 1, world.cursor(1, taken=(1,)), world.cursor(2, taken=(1,)))
    store(b"2", 2, world.cursor(1, base=2, taken=(2,)))
    store(b"3", 3, world.cursor(1, base=3, taken=(3,)))
    assert [1, 3] == sorted(world.read(versions.digests, 1, range(1, 9)))
    owed = ComparisonRow(subscription_id=2, page_id=1, from_seq=3, to_seq=4, revision=1, status="pending")
    store(b"4", 4, world.cursor(1, base=4, taken=(4,)), comparisons=(owed,))
    assert [1, 3, 4] == sorted(world.read(versions.digests, 1, range(1, 9)))
    world.write(sentinels.drop, 2, world.at)
    store(b"5", 5, comparisons=(replace(owed, status="done"),))

    assert [4, 5] == sorted(world.read(versions.digests, 1, range(1, 9)))
    with pytest.raises(UnitError, match=r"version 1\.9"):
        world.commit(world.make_stored(b"6", digests=((9, Digest("all", 1, "d", {})),)))


def test_blob_can_be_rewritten_as_a_delta(world: World):
    """Its content stays the same; its dependents and files are known."""
    world.watch()
    world.commit(world.make_stored(b"one"))
    name = sha256(b"one")
    new = Blob(sha256(b"two"), 3, "", 0, None, file="ab/cd")
    world.commit(world.make_stored(b"two", blobs=(new, Blob(name, 3, new.sha256, 1, b"d"))))

    assert Blob(name, 3, new.sha256, 1, b"d") == world.read(versions.blob, name)
    assert [name] == world.read(versions.dependents, new.sha256)
    assert {"ab/cd"} == world.read(versions.files)
    assert {name, new.sha256} == {blob.sha256 for blob in world.read(versions.blobs)}


def test_host_gap_counts_from_the_last_possible_start(world: World):
    """I-4: it counts from the end of the poll, from now if it never ended, or from its deadline."""
    world.watch()
    ended = world.charge()
    finished = ended.at + 7
    world.commit(world.unit(poll=world.poll(ended, finished_at=finished)))
    (after_end,) = world.read(hosts.as_left, now=world.at + 60 * SECOND, longest=30 * SECOND)
    opened = world.charge()
    (soon,) = world.read(hosts.as_left, now=opened.at + 5, longest=30 * SECOND)
    (late,) = world.read(hosts.as_left, now=opened.at + 60 * SECOND, longest=30 * SECOND)

    assert finished == after_end.started_at
    assert opened.at + 5 == soon.started_at
    assert opened.at + 30 * SECOND == late.started_at


def test_start_of_a_host_never_moves_back(world: World):
    """A unit with an older start keeps the later one of a charge."""
    world.watch()
    charged = world.charge()

    for start in (None, 5, charged.at + 7):
        world.commit(world.unit(hosts=(HostState(name="1.example", started_at=start, failures=1),)))

    assert HostState(name="1.example", started_at=charged.at + 7, failures=1) == world.read(hosts.state, "1.example")
    assert HostState(name="new") == world.read(hosts.state, "new")


# -- the rest --------------------------------------------------------------------------------------------------------


def test_a_lease_has_one_holder_and_a_rising_epoch(world: World):
    """Another holder waits for the end of the lease.

    Each acquisition raises the epoch; a lost lease cannot be renewed.
    """
    first = world.write(lock.acquire_lease, "shard", "one", at=0, until=10)
    with pytest.raises(PollerBusyError, match="one checks pages"):
        world.write(lock.acquire_lease, "shard", "two", at=9, until=19)
    world.write(lock.renew_lease, "shard", "one", first, until=20)
    with pytest.raises(PollerBusyError):
        world.write(lock.acquire_lease, "shard", "two", at=19, until=29)
    second = world.write(lock.acquire_lease, "shard", "two", at=20, until=30)
    with pytest.raises(StaleEpochError):
        world.write(lock.renew_lease, "shard", "one", first, until=40)
    world.write(lock.release_lease, "shard", "one", first)
    lease = world.read(lock.current_lease, "shard")
    assert lease is not None
    assert ("two", second, 30) == (lease.holder, lease.epoch, lease.until)
    world.write(lock.release_lease, "shard", "two", second)
    third = world.write(lock.acquire_lease, "shard", "three", at=21, until=30)

    assert [1, 2, 3] == [first, second, third]
    assert world.read(lock.current_lease, "none") is None


def test_requests_are_asked_answered_and_refused(world: World):
    """A request is open until its first answer or refusal."""
    world.watch("news", "a", "b", "c")
    one, two, three = world.write(polls.request_polls, [1, 2, 3], 5)
    world.write(polls.refuse_request, two, "budget")
    world.write(polls.answer_requests, [one, two], poll_id=7)
    world.write(polls.refuse_request, one, "late")

    assert [three] == [row.id for row in world.read(polls.list_requests)]
    assert [(7, ""), (None, "budget"), (None, "")] == [
        (row.poll_id, row.refused) for row in world.read(polls.get_requests, [one, two, three, 99])
    ]


def test_secrets_are_read_by_name(world: World):
    """A listing shows only names."""
    world.write(secrets.put, "b", "old")
    world.write(secrets.put, "b", "new")
    world.write(secrets.put, "a", "x")

    assert ("new", None) == (world.read(secrets.get, "b"), world.read(secrets.get, "none"))
    assert ["a", "b"] == world.read(secrets.names)


def test_garbage_is_listed_until_it_is_cleared(world: World):
    """A path is listed once, until its file is removed."""
    world.write(retention.add, ["b", "a", "b"], at=1)
    world.write(retention.clear, ["b"])

    assert ["a"] == world.read(retention.listing)


def test_events_are_listed_by_number_and_type(world: World):
    """`after`, `types` and `limit` filter the events; their data round-trips."""
    types = (EventType.PAGE_OK, EventType.PAGE_MOVED)
    reported = [Event(type=types[i % 2], at=i, page_id=i, data={"i": i, "text": "\0é"}) for i in range(4)]
    assert [1, 2, 3, 4] == world.write(events.append, reported)

    assert [3, 4] == [row.seq for row in world.read(events.listing, after=2)]
    assert [2, 4] == [row.seq for row in world.read(events.listing, types=[types[1]])]
    assert [1, 2] == [row.seq for row in world.read(events.listing, types=types, limit=2)]
    assert [] == world.read(events.listing, types=[])
    assert {"i": 3, "text": "\0é"} == world.read(events.listing, after=3)[0].data


def test_instance_keeps_its_id(world: World):
    """Each database has its own id and seed, the same at every opening."""
    other = world.reopen()

    assert world.read(instance.load) == other.read(instance.load)
    assert 32 == len(world.read(instance.load).id)
    other.close()


def test_polls_are_listed_newest_first(world: World):
    """`limit` leaves out the oldest."""
    world.watch("news", "a", "b")
    first, second, third = (world.charge(page_id) for page_id in (1, 2, 1))

    assert [third.poll_id, second.poll_id] == [poll.id for poll in world.read(polls.listing, limit=2)]
    assert [third.poll_id, first.poll_id] == [poll.id for poll in world.read(polls.listing, page_id=1)]
    assert world.read(polls.get, 999) is None
    asked = [third.poll_id, 999, first.poll_id]
    assert [third.poll_id, first.poll_id] == [poll.id for poll in world.read(polls.of, asked)]
    assert [] == world.read(polls.of, [])


def test_commit_of_another_connection_is_noticed(world: World):
    """`changed` is true once after it, and false after a rollback."""
    other = world.reopen()
    world.database.has_changed()
    assert not world.database.has_changed()
    other.write(secrets.put, "a", "b")
    assert world.database.has_changed()
    assert not world.database.has_changed()
    with pytest.raises(UsageError):
        other.write(_fail)

    assert not world.database.has_changed()
    other.close()


def _fail(c: object) -> None:
    secrets.put(c, "x", "y")  # type: ignore[arg-type]
    raise UsageError("no")


def test_read_sees_one_state_and_cannot_write(world: World):
    """A write after it works."""
    world.database.patience = Patience(0)  # a server on which nobody can write may be one that takes over
    with pytest.raises(StoreError):
        world.read(secrets.put, "a", "b")
    world.write(secrets.put, "a", "c")

    assert "c" == world.read(secrets.get, "a")


def test_failed_write_is_rolled_back(world: World):
    """This holds for any exception of the function."""
    with pytest.raises(UsageError):
        world.write(_fail)

    assert [] == world.read(secrets.names)


def test_text_of_users_is_never_part_of_a_statement(world: World):
    """Names with quotes, colons and percent signs are data."""
    odd = "a'; DROP TABLE page; -- :name %s %(x)s ::text"
    world.write(secrets.put, odd, odd)
    world.watch(odd)

    assert odd == world.read(secrets.get, odd) == world.read(sentinels.find, odd).name


def test_external_event_is_stored_once_per_key(world: World):
    """A source is removed with its keys; its events stay in the log."""
    row = world.write(outside.create, "e", "file", text="Create …", at=world.at, due_at=world.at + 1)
    with pytest.raises(UsageError, match="there is an event e already"):
        world.write(outside.create, "e", "webhook", text="", at=world.at, due_at=None)
    params = {"text": "ünï \0 \ud800", "n": [1, None, 2.5]}
    seq = world.write(outside.happen, row, params, at=world.at, key="k \0")
    world.write(outside.settle, row.id, state={"sha256": "x"}, problem="no \0")
    due = world.read(outside.due, world.at + 1, limit=5)
    world.write(outside.note_check, row.id, at=world.at, due_at=world.at + 9)

    assert (seq, None) == tuple(world.read(outside.find_taken, row.id, key) for key in ("k \0", "other"))
    assert [row.id] == [found.id for found in due]
    assert ({"sha256": "x"}, "no \ufffd", 1, world.at) == (
        due[0].state,
        due[0].problem,
        due[0].happened,
        due[0].happened_at,
    )
    assert (world.at + 9, []) == (world.read(outside.next_due), world.read(outside.due, world.at + 8, limit=5))
    assert params == world.read(events.listing, types=[outside.HAPPENED])[0].data["params"]
    world.write(outside.drop, row.id)
    assert ([], 1) == (world.read(outside.listing), len(world.read(events.listing, types=[outside.HAPPENED])))


class _Model:
    """The expected content of the store for one page: the bodies in order, and the cursor."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.taken: tuple[int, ...] = ()


_STEPS = st.lists(
    st.tuples(st.sampled_from(["store", "unchanged", "stale number", "cursor"]), st.sampled_from([b"a", b"b", b"c"])),
    max_size=12,
)


@given(steps=_STEPS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_versions_and_cursors_match_a_model(world: World, steps: list[tuple[str, bytes]]):
    """The model is a plain list; the invariants hold after each step."""
    name = f"model-{next(world.numbers)}"
    row = world.watch(name, name)
    (subscription,) = world.read(sentinels.subscriptions, sentinel_id=row.id)
    page_id = subscription.page_id
    model = _Model()
    for step, body in steps:
        if step == "cursor":
            model.taken = (len(model.bodies),) if model.bodies else ()
            base = min(1, len(model.bodies))
            world.commit(world.unit(cursors=(world.cursor(subscription.id, base=base, taken=model.taken),)))
            continue
        unit = world.make_unchanged(page_id) if step == "unchanged" else world.make_stored(body, page_id)
        is_broken = step == "stale number" or (step == "store" and model.bodies[-1:] == [body])
        if step == "stale number":
            assert unit.version is not None
            unit = replace(unit, version=replace(unit.version, seq=unit.version.seq + 1))
        if is_broken:
            with pytest.raises(UnitError):
                world.commit(unit)
            continue
        world.commit(unit)
        if step == "store":
            model.bodies.append(body)

    stored: list[Version] = world.read(versions.listing, page_id)
    (cursor,) = world.read(sentinels.subscriptions, sentinel_id=row.id)
    assert [sha256(body) for body in model.bodies] == [version.sha256 for version in stored]
    assert model.taken == cursor.taken
    assert [] == world.faults()


def test_hints_round_trip(world: World):
    """The last write wins, removed hints are gone, and a key is stored until its time."""
    row = world.watch("hinted", "hinted")
    (subscription,) = world.read(sentinels.subscriptions, sentinel_id=row.id)
    page_id = subscription.page_id
    source = hints.TrustRow("hinted.example", "api", {"told": 1.5, "missed": 0.0}, START)
    waiting = hints.HintRow(page_id, "api", (START, START + 2**40), {"false": 3.0}, START)
    spent = replace(waiting, waiting=(), at=START + 1)
    other = replace(waiting, kind="websub")
    world.write(hints.put, [source], [waiting, other])
    world.write(hints.put, [replace(source, at=START + 9)], [spent])
    world.write(hints.drop, [(page_id, "websub"), (page_id, "none")])
    world.write(hints.note_key, "k\0", pages=2, at=START, forget_before=START)
    found = world.read(hints.find_taken, "k\0")
    world.write(hints.note_key, "later", pages=1, at=START + 9, forget_before=START + 1)

    assert ([replace(source, at=START + 9)], [spent]) == world.read(hints.load)
    assert (2, None, 1) == (found, world.read(hints.find_taken, "k\0"), world.read(hints.find_taken, "later"))


def test_hub_requests_round_trip(world: World):
    """There is one row for each page."""
    row = world.watch("hubbed", "hubbed")
    (subscription,) = world.read(sentinels.subscriptions, sentinel_id=row.id)
    asked = hints.HubRow(subscription.page_id, "https://hub.example/", "https://x.example/", "token", "asked", due_at=5)
    active = replace(asked, state="active", until=2**50, attempts=3, problem="a\ud800")
    world.write(hints.put_hub, asked)
    first = world.read(hints.list_hubs)
    world.write(hints.put_hub, active)
    second = world.read(hints.list_hubs)
    world.write(hints.drop_hub, subscription.page_id)

    assert ([asked], [replace(active, problem="a\ufffd")], []) == (first, second, world.read(hints.list_hubs))


@pytest.fixture
def shared(world: World) -> World:
    """Return a world whose lease of the poller is over, so that planners may share the pages."""
    if world.database.dialect == "sqlite":
        pytest.skip("SQLite has one planner")
    world.write(lock.release_lease, "poller", "test", world.epoch)
    return world


def _begin(world: World, holder: str, *, length: Duration = MINUTE) -> planners.PlannerRun:
    return world.write(planners.begin, holder, seen=None, length=length)


def _shards(world: World) -> dict[str, list[int]]:
    return {run.holder: sorted(run.shards) for run in world.read(planners.listing)}


def test_planners_divide_the_shards_evenly_and_none_is_anybodys_twice(shared: World):
    """A new one gets what others give up, in runs of their own; the rest stays where it is."""
    first = _begin(shared, "one")
    assert planners.SHARDS == len(first.shards)
    second = _begin(shared, "two")
    assert frozenset() == second.shards
    assert planners.is_uneven(first, [first, second])

    first, second = _begin(shared, "one"), _begin(shared, "two")
    third = _begin(shared, "three")
    first, second, third = _begin(shared, "one"), _begin(shared, "two"), _begin(shared, "three")

    assert [22, 22, 20] == [len(run.shards) for run in (first, second, third)]
    assert planners.SHARDS == len(first.shards | second.shards | third.shards)
    assert [True, False, False] == [run.leads for run in (first, second, third)]
    assert not any(planners.is_uneven(run, [first, second, third]) for run in (first, second, third))


def test_planner_that_no_longer_renews_is_replaced_and_writes_nothing_more(shared: World):
    """So is one that was stopped: its charges and units are refused, and its open polls end."""
    shared.watch()
    dead = _begin(shared, "dead", length=-1)
    with pytest.raises(StaleEpochError):
        shared.write(lock.check_epoch, dead.epoch + 1)
    (charged,) = shared.write(charge.charge, _grants(1), at=START, epoch=dead.epoch)
    assert charged is not None
    heir = _begin(shared, "heir")

    assert {"heir": [*range(planners.SHARDS)]} == _shards(shared)
    for epoch in (dead.epoch, 0, heir.epoch + 1):
        with pytest.raises(StaleEpochError):
            shared.write(charge.charge, _grants(1), at=START, epoch=epoch)
    with pytest.raises(StaleEpochError):
        shared.write(planners.renew, dead, {}, length=MINUTE)
    assert 1 == shared.write(polls.end_abandoned, now=START + SECOND, longest=MINUTE)
    assert isinstance(shared.write(charge.charge, _grants(1), at=START + MINUTE, epoch=heir.epoch)[0], Charged)


def test_planners_that_loaded_by_a_clock_that_was_ahead_begin_again(shared: World):
    """The one that mends what it has stored ends their runs; a small difference ends none. One that
    died then keeps its shards no longer than a lease.
    """
    shared.watch()
    dead = _begin(shared, "dead", length=10**15)
    leader = _begin(shared, "leader")
    now = shared.read(lock.server_time)
    assert all(run.until <= now + MINUTE for run in shared.read(planners.listing))

    def mend(ahead: int) -> Any:
        at = shared.read(charge.budgets)["default"].at
        return shared.write(
            wrong_clock.mend, now=at - ahead, epoch=leader.epoch, zone="UTC", policy="price", shares=True
        )

    assert mend(MINUTE) is None
    shared.write(lock.check_epoch, dead.epoch)
    assert 2 * MINUTE == mend(2 * MINUTE).ahead

    assert [leader.epoch] == [run.epoch for run in shared.read(planners.listing)]
    with pytest.raises(StaleEpochError):
        shared.write(lock.check_epoch, dead.epoch)
    assert mend(0) is None


def test_charges_of_two_planners_come_from_one_budget(shared: World):
    """Neither can spend what the other has spent, and neither ends the other's polls."""
    shared.watch()
    one, two = _begin(shared, "one"), _begin(shared, "two")
    shared.write(charge.set_budgets, {"default": (0.0, 2.0)}, at=START)
    paid = [shared.write(charge.charge, _grants(1), at=START, epoch=epoch)[0] for epoch in (one.epoch, two.epoch)]

    assert all(paid)
    assert [None] == shared.write(charge.charge, _grants(1), at=START, epoch=one.epoch)
    assert 0 == shared.write(polls.end_abandoned, now=START, longest=MINUTE)


def test_planners_take_turns_with_a_host(shared: World):
    """A turn is a gap after the latest one, also one that the host's own planner was paid for. One
    of a planner that was ended is refused.
    """
    shared.watch()
    one, two = _begin(shared, "one"), _begin(shared, "two")
    gap, gaps = SECOND, {"a.example": SECOND}

    def claim(at: int) -> tuple[int, int]:
        return shared.write(charge.claim_turn, "a.example", gap, at, epoch=two.epoch)

    def pay(at: int) -> tuple[list[Charged | None], hosts.Refusals]:
        return shared.write(charge.charge_in_turns, _grants(1), gaps, at=at, epoch=one.epoch)

    assert isinstance(pay(START)[0][0], Charged)
    assert [(START + gap, 0), (START + 2 * gap, 0)] == [claim(START), claim(START)]
    assert ([None], ({"a.example": START + 2 * gap}, {})) == pay(START + 2 * gap)
    shared.write(hosts.put, [HostState(name="a.example", paused_until=START + MINUTE)])
    assert (START + 4 * gap, START + MINUTE) == claim(START + 4 * gap)
    shared.write(hosts.put, [HostState(name="a.example", paused_until=until) for until in (None, START + SECOND)])
    assert ([None], ({}, {"a.example": START + MINUTE})) == pay(START + MINUTE - 1)
    assert isinstance(pay(START + MINUTE)[0][0], Charged)
    shared.write(planners.end, two)
    with pytest.raises(StaleEpochError):
        claim(START + 9 * gap)


def test_planners_leave_each_other_notes_while_they_renew(shared: World):
    """One that was ended is not heard; one that leaves releases everything."""
    one, two = _begin(shared, "one"), _begin(shared, "two")
    shared.write(planners.renew, one, {"price": 2}, length=MINUTE)
    received = shared.write(planners.renew, two, {}, length=MINUTE)
    assert [("one", {"price": 2}), ("two", {})] == [(run.holder, run.note) for run in received]

    shared.write(planners.end, one)
    shared.write(planners.bury, "two")

    assert {} == _shards(shared)
    assert LeaseRow("poller", "", two.epoch, 0) == shared.read(lock.current_lease, "poller")


def test_one_process_and_planners_shut_each_other_out(shared: World):
    """A process that has all pages to itself waits for planners, and planners wait for it."""
    run = _begin(shared, "one")
    with pytest.raises(PollerBusyError, match="a planner checks pages"):
        shared.write(lock.acquire_lease, "poller", "all", at=run.until - 1, until=run.until + MINUTE)
    epoch = shared.write(lock.acquire_lease, "poller", "all", at=run.until, until=run.until + MINUTE)
    with pytest.raises(StaleEpochError):
        shared.write(planners.renew, run, {}, length=MINUTE)
    seen = LeaseRow("poller", "all", epoch, run.until + MINUTE)
    assert seen == shared.read(lock.current_lease, "poller")
    shared.write(lock.renew_lease, "poller", "all", epoch, until=seen.until + 1)
    with pytest.raises(PollerBusyError):
        shared.write(planners.begin, "one", seen=seen, length=MINUTE)
    again = shared.write(planners.begin, "one", seen=replace(seen, until=seen.until + 1), length=MINUTE)

    assert again.epoch > epoch > run.epoch
    with pytest.raises(StaleEpochError):
        shared.write(lock.check_epoch, epoch)


def test_unit_with_messages_of_an_older_text_is_refused(world: World):
    """It is no problem: its writer makes it again. Other units of its group are written."""
    row = world.watch()
    found = Event(type=EventType.CHANGE_FOUND, at=world.at, sentinel_id=row.id)
    newest, older = (
        world.unit(events=(found,), texts=((row.id, number),)) for number in (row.revision, row.revision - 1)
    )
    begun = world.read(events.last_seq)
    refused, done = commit_group(world.database, [older, newest])

    assert isinstance(refused, OvertakenError)
    assert Committed((begun + 1,)) == done
    assert begun + 1 == world.read(events.last_seq)


def test_unit_that_reports_what_another_process_has_just_reported_is_refused(world: World):
    """It is made again: once a notice is newer than those that it was decided from, or the sentinel
    has ended with its first change. A user's end is none.
    """
    row = world.watch()
    found = Event(type=EventType.SENTINEL_SILENCED, at=world.at, sentinel_id=row.id, data={"endpoints": []})
    seen = world.read(events.last_seq)
    notice = world.unit(events=(found,), decided=((found.type, seen),))
    end = SentinelMove(
        sentinel_id=row.id, state="ended", at=world.at, reason="reported", before="enabled", is_sole=True
    )
    change = Event(type=EventType.CHANGE_FOUND, at=world.at, sentinel_id=row.id)
    report = world.unit(events=(change,), sentinels=(end,))

    for unit in (notice, report):
        (first,) = commit_group(world.database, [unit])
        assert isinstance(first, Committed)
        last = world.read(events.last_seq)
        (refused,) = commit_group(world.database, [unit])
        assert isinstance(refused, OvertakenError)
        assert last == world.read(events.last_seq)
    (other,) = commit_group(world.database, [world.unit(sentinels=(replace(end, reason="other"),))])
    assert isinstance(other, Committed)


def test_endpoint_is_claimed_by_one_process(world: World):
    """The result of the former holder is refused; other units of its group are written."""
    if world.database.dialect == "sqlite":
        pytest.skip("SQLite has one process that sends")
    world.report_change()
    ours = world.write(lock.claim, [1, 2], "one", length=30 * SECOND)
    assert {1, 2} == world.read(lock.list_claimed, "two")
    assert {} == world.write(lock.claim, [1], "two", length=30 * SECOND)
    world.write(lock.drop_claim, ours[2], "one")
    assert {2} == world.write(lock.claim, [1, 2], "two", length=30 * SECOND).keys()

    world.write(lambda c: c.execute("UPDATE lease SET until = 1 WHERE name = 'endpoint:1'"))  # one was stopped
    theirs = world.write(lock.claim, [1], "two", length=30 * SECOND)
    assert theirs[1].epoch > ours[1].epoch
    row = world.read(deliveries.listing)[0]
    dead = DeliveryResult(delivery_id=row.id, status="dead", attempt=1, at=world.at)
    units = [
        Unit(at=world.at, epoch=0, claim=ours[1], results=(dead,)),
        Unit(at=world.at, epoch=0, claim=theirs[1], results=(replace(dead, status="delivered"),)),
    ]
    refused, done = commit_group(world.database, units)

    assert isinstance(refused, ClaimLostError)
    assert isinstance(done, Committed)
    assert "delivered" == world.read(deliveries.listing)[0].status


def test_processes_are_listed_with_their_roles(world: World):
    """Their claims last while they renew them; a retired process leaves nothing."""
    if world.database.dialect == "sqlite":
        pytest.skip("SQLite has one process")
    world.write(lock.claim, [1], "one", length=1)
    world.write(lock.enrol, "notifier", "one", length=30 * SECOND)
    assert {1} == world.read(lock.list_claimed, "two")
    assert ["role:notifier:one"] == [row.name for row in world.read(lock.listing) if row.name.startswith("role:")]
    world.write(lock.retire, "one")

    assert set() == world.read(lock.list_claimed, "two")
    assert {"endpoint:1": ""} == {row.name: row.holder for row in world.read(lock.listing) if row.name != "poller"}
    world.write(lock.enrol, "web", "old", length=-lock.REMEMBERED - SECOND)
    world.write(lock.enrol, "web", "new", length=SECOND)
    assert {"new"} == {row.holder for row in world.read(lock.listing) if row.name.startswith("role:")}
