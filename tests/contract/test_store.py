"""The contract of the store: what holds on SQLite and on PostgreSQL alike."""

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
    PollerBusyError,
    StaleEpochError,
    StoreError,
    UnitError,
    UnknownNameError,
    UsageError,
)
from tidings.model.event_type import EventType
from tidings.model.observed.change import EditContext, EntryNote, FrameShare, ObjectPlace
from tidings.model.observed.outcome import Validators
from tidings.model.observed.page import HostState, PageState
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import (
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
from tidings.storage import secrets
from tidings.storage.db import instance, lock
from tidings.storage.observed import estimates, hints, hosts, members, pages, polls, versions
from tidings.storage.watches import changes, deliveries, endpoints, events, outside, sentinels, subscriptions
from tidings.storage.write import charge, retention
from tidings.storage.write.commit import Committed, commit
from tidings.storage.write.store import commit_group

FAR = 2**60
"""µs: no attempt is made before it is due"""


# -- sentinels, pages, subscriptions ---------------------------------------------------------------------------------

DUE = PollReason(Why.INTERVAL)


def test_a_sentinel_comes_back_as_it_was_stored(world: World):
    """A created sentinel is found by its name, with its tags, its text and the number of its pages."""
    made = world.watch("news", "a", "b")

    assert made == world.read(sentinels.find, "news") == world.read(sentinels.get, made.id)
    assert ("enabled", 1, ("tag",), 2, world.at) == (made.state, made.revision, made.tags, made.pages, made.started_at)
    assert "Create Sentinel news" == made.text


def test_a_name_is_taken_until_its_sentinel_is_dropped(world: World):
    """A second sentinel of a name is refused whole; after a drop the name is free and the old one's history stays."""
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


def test_unknown_names_say_where_to_look(world: World):
    """Asking for what is not there raises the error that names the listing."""
    for ask in (
        lambda: world.read(sentinels.find, "none"),
        lambda: world.read(sentinels.get, 9),
        lambda: world.read(pages.state, 9),
        lambda: world.write(deliveries.replay, "none", 1),
        lambda: world.write(sentinels.move, SentinelMove(sentinel_id=9, state="enabled", at=1)),
    ):
        with pytest.raises(UnknownNameError, match="`tidings "):
            ask()


def test_steps_of_a_life_switch_subscriptions(world: World):
    """Subscriptions are active while the sentinel is enabled; start and end are written once; each step is an event."""
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


def test_subscriptions_tick_first_at_the_start(world: World):
    """Only a fixed interval has a next tick, the start; sentinels that share a page have a cursor each."""
    world.watch("every", "a", "b", every=60 * SECOND)
    world.watch("change", "a", state="created")

    rows = world.read(sentinels.subscriptions)
    assert [(1, 1, world.at, True), (1, 2, world.at, True), (2, 1, None, False)] == [
        (row.sentinel_id, row.page_id, row.next_tick, row.active) for row in rows
    ]
    assert rows[2:] == world.read(sentinels.subscriptions, sentinel_id=2)
    assert [rows[0]] == world.read(sentinels.subscriptions, page_id=1, active=True)


def test_the_population_is_what_active_subscriptions_watch(world: World):
    """A page is in the population while some enabled sentinel watches it, once however many do."""
    world.watch("one", "a", "b")
    world.watch("two", "b", "c", state="created")
    world.watch("three", "b")

    assert [("key-a", 1), ("key-b", 2)] == [
        (identity.key, state.page_id) for identity, state in world.read(pages.population)
    ]
    assert 3 == len(world.read(pages.listing))


def test_what_says_when_pages_are_polled_is_read_alone(world: World):
    """Of each page of each sentinel, or of one, what its rows say; one that was left is none."""
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


def test_a_page_identity_comes_back_and_is_made_once(world: World):
    """The same key is the same page; every part of the identity is kept."""
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


def test_a_page_state_comes_back_whole(world: World):
    """Every field that a unit writes is read again; validators byte for byte, texts of pages made storable."""
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


def test_a_budget_is_a_bucket_that_time_fills(world: World):
    """Grants beyond the level are None; elapsed time fills the bucket at its rate, never above its burst, never twice."""
    world.watch()
    world.write(charge.set_budget, "small", rate_per_second=2.0, burst=3.0, at=START)

    def pay_at(at: int) -> int:
        charged = world.write(charge.charge, _grants(5, budget="small"), at=at, epoch=world.epoch)
        return sum(entry is not None for entry in charged)

    assert [3, 0, 1, 0, 3] == [pay_at(START + offset) for offset in (0, 0, SECOND // 2, -9 * SECOND, 3600 * SECOND)]


def test_a_clock_that_is_put_forward_fills_no_bucket(world: World):
    """What time has filled until then stays, and it goes on from there by the new clock."""
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


def test_a_charge_leaves_an_open_poll_and_the_start_of_its_host(world: World):
    """What is charged is there before anything is asked: the poll row and the host's last start."""
    world.watch()
    charged = world.write(charge.charge, _grants(2), at=START + 5, epoch=world.epoch)

    assert [entry.poll_id for entry in charged if entry] == world.open_polls()
    poll = world.read(polls.open_polls)[0]
    assert (1, world.epoch, START + 5, 1.0, DUE, None) == (
        poll.page_id, poll.epoch, poll.charged_at, poll.cost, poll.reason, poll.outcome,
    )  # fmt: skip
    assert START + 5 == world.read(hosts.state, "a.example").started_at


def test_a_grant_that_costs_more_waits_while_a_cheaper_one_is_paid(world: World):
    """Grants are paid in their order, each from what is left; the answers keep their places."""
    world.watch()
    world.write(charge.set_budget, "small", rate_per_second=0.0, burst=2.5, at=START)
    grants = [Grant(page_id=1, host="h", cost=cost, reason=DUE, budget="small") for cost in (2.0, 1.0, 0.5)]

    charged = world.write(charge.charge, grants, at=START, epoch=world.epoch)

    assert [grants[0], None, grants[2]] == [entry and entry.grant for entry in charged]


def test_in_turn_nobody_spends_what_a_dearer_grant_before_it_waits_for(world: World):
    """So that the budget can save up for it; other budgets are none of its business."""
    world.watch()
    for name in ("small", "other"):
        world.write(charge.set_budget, name, rate_per_second=0.0, burst=2.5, at=START)
    asked = [(1.0, "small"), (2.0, "small"), (0.5, "small"), (1.0, "other")]
    grants = [Grant(page_id=1, host="h", cost=cost, reason=DUE, budget=budget) for cost, budget in asked]

    charged = world.write(charge.charge, grants, at=START, epoch=world.epoch, in_turn=True)

    assert [grants[0], None, None, grants[3]] == [entry and entry.grant for entry in charged]


def test_a_class_is_a_budget_within_the_budget(world: World):
    """What a class pays is taken from all, too; whoever lacks it, nothing is taken from the other; the rest still goes to others."""
    world.watch()
    world.write(charge.set_budgets, {"default": (0.0, 5.0), "small": (0.0, 2.0)}, at=START)
    world.write(charge.set_budget, "default", rate_per_second=0.0, burst=5.0, at=START)
    asked = [*_grants(3, budget="small"), *_grants(4)]

    charged = world.write(charge.charge, asked, at=START, epoch=world.epoch)

    assert [True, True, False, True, True, True, False] == [entry is not None for entry in charged]
    assert {"default": 0.0, "small": 0.0} == {name: bucket.level for name, bucket in world.read(charge.budgets).items()}


@pytest.mark.parametrize(("lacking", "said"), [("default", "budget.polls_per_day"), ("small", "budget.classes")])
def test_a_request_that_one_budget_lacks_takes_nothing_from_the_other(world: World, lacking: str, said: str):
    """The one that lacks is named, with the setting that sets it."""
    world.watch()
    for name in ("default", "small"):
        world.write(charge.set_budget, name, rate_per_second=0.0, burst=0.5 if name == lacking else 9.0, at=START)
    before = world.read(charge.budgets)

    with pytest.raises(BudgetError, match=f"{lacking} .*{said}"):
        world.write(charge.bare, "small", "a.example", at=START, epoch=world.epoch)
    assert before == world.read(charge.budgets)


def test_a_request_of_no_poll_is_paid_and_its_host_has_been_asked(world: World):
    """Both budgets pay, no poll is open, and the host's gap begins."""
    world.watch()
    for name in ("default", "small"):
        world.write(charge.set_budget, name, rate_per_second=0.0, burst=3.0, at=START)

    world.write(charge.bare, "small", "a.example", at=START + 5, epoch=world.epoch)

    assert {"default": 2.0, "small": 2.0} == {name: bucket.level for name, bucket in world.read(charge.budgets).items()}
    assert (START + 5, []) == (world.read(hosts.state, "a.example").started_at, world.open_polls())


def test_a_budget_is_filled_as_of_an_instant_that_the_clock_has_said(world: World):
    """What has flowed in until then is stored, with the instant."""
    world.write(charge.set_budgets, {"default": (1.0, 9.0)}, at=START)
    world.write(charge.bare, "default", "a.example", at=START, epoch=world.epoch, cost=5.0)

    world.write(charge.touch, at=START + 2 * SECOND, epoch=world.epoch)

    assert (6.0, START + 2 * SECOND) == (
        (bucket := world.read(charge.budgets)["default"]).level,
        bucket.at,
    )


def test_a_grant_is_paid_where_all_and_its_class_have_enough(world: World):
    """Neither alone is enough."""
    world.write(charge.set_budgets, {"default": (0.0, 2.0), "small": (0.0, 1.0)}, at=START)
    asked = [
        *_grants(1, cost=2.0),
        *_grants(1, cost=2.5),
        *_grants(1, budget="small"),
        *_grants(1, cost=1.5, budget="small"),
    ]

    assert [True, False, True, False] == [world.read(charge.pays, grant, at=START) for grant in asked]


def test_nobody_of_an_older_epoch_pays_or_fills(world: World):
    """Another process polls by now."""
    world.write(charge.set_budgets, {"default": (1.0, 9.0)}, at=START)
    before = world.read(charge.budgets)

    with pytest.raises(StaleEpochError):
        world.write(charge.bare, "default", "a.example", at=START, epoch=world.epoch - 1)
    with pytest.raises(StaleEpochError):
        world.write(charge.touch, at=START + SECOND, epoch=world.epoch - 1)
    assert before == world.read(charge.budgets)


def test_classes_that_are_not_wanted_any_more_go(world: World):
    """So that nobody waits for a budget that no setting speaks of."""
    for wanted in ({"default": (1.0, 9.0), "a": (1.0, 2.0), "b": (1.0, 2.0)}, {"default": (1.0, 9.0), "b": (1.0, 2.0)}):
        world.write(charge.set_budgets, wanted, at=START)

    assert ["b", "default"] == [*world.read(charge.budgets)]


def test_a_stale_epoch_charges_nothing(world: World):
    """After another acquisition the old epoch can neither charge, nor charge more, nor commit (I-7)."""
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


def test_polls_of_a_process_that_died_are_ended_once_as_failures(world: World):
    """A poll that nobody will complete is `error`, kind `net`; what it cost stays, its page is only known to have been asked."""
    world.watch()
    epoch = world.epoch
    early, late = (world.write(charge.charge, _grants(1), at=START + n * SECOND, epoch=epoch)[0] for n in (0, 50))
    world.epoch = world.write(lock.acquire_lease, "poller", "test", at=START, until=START)
    mine = world.write(charge.charge, _grants(1), at=START + 60 * SECOND, epoch=world.epoch)[0]

    def cut_off() -> int:
        return world.write(polls.end_earlier_epochs, epoch=world.epoch, now=START + 60 * SECOND, longest=30 * SECOND)

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


def test_more_grants_than_a_crash_may_waste_are_refused(world: World):
    """65 grants in one charge are refused, and so is a class that nobody set."""
    world.watch()

    for grants in (_grants(65), _grants(1, budget="none")):
        with pytest.raises(UnitError):
            world.write(charge.charge, grants, at=START, epoch=world.epoch)
    assert [] == world.open_polls()


def test_a_further_request_is_charged_to_its_poll(world: World):
    """Each hop takes tokens of the poll's class and adds to its cost; an empty bucket raises; so does a finished poll."""
    world.watch()
    world.write(charge.set_budget, "small", rate_per_second=0.0, burst=2.0, at=START)
    (charged,) = world.write(charge.charge, _grants(1, budget="small"), at=START, epoch=world.epoch)
    assert charged is not None
    more = {"at": START + 1, "epoch": world.epoch}

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


def test_changing_a_budget_keeps_its_level(world: World):
    """A bucket that is set anew keeps what it had, cut to the new burst; until then the old one bounds it."""
    for burst, at in ((10.0, 0), (4.0, SECOND), (8.0, 3 * SECOND)):
        world.write(charge.set_budget, "b", rate_per_second=1.0, burst=burst, at=START + at)

    row = world.read(charge.budgets)["b"]
    assert (4.0, 8.0, START + 3 * SECOND) == (row.level, row.burst, row.at)


# -- units -----------------------------------------------------------------------------------------------------------


def test_an_unchanged_poll_is_recorded(world: World):
    """A unit of a poll without a change completes the poll and writes the page's state."""
    world.watch()
    unit = world.make_unchanged()

    world.commit(unit)

    (poll,) = world.read(polls.listing, page_id=1)
    assert ("unchanged", False, 200, world.at) == (poll.outcome, poll.text_changed, poll.status, poll.finished_at)
    assert unit.page == world.state()
    assert [] == world.open_polls()
    assert [] == world.faults()


def test_a_version_comes_back_with_its_body(world: World):
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


def test_versions_are_numbered_without_a_gap_and_neighbours_differ(world: World):
    """A unit whose version is not the next one, or repeats the newest body, is refused (I-2)."""
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


def test_how_new_bodies_are_kept_is_planned_inside_the_commit(world: World, tmp_path: Path):
    """A body of the same transaction is leaned on; a plan that the transaction took back leaves nothing; without a plan nothing is written."""
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
    """Watch page 1 and give its frames, pages 2 and 3, a version each."""
    world.watch()
    world.write(members.ensure, [world.page("menu"), world.page("text")])
    world.commit(world.make_stored(b"menu", page_id=2))
    world.commit(world.make_stored(b"text", page_id=3))


def test_a_version_with_frames_comes_back_with_its_members(world: World):
    """It is named after the list of its members, in their order; what the page names now is kept beside it."""
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
    assert [(2, False), (3, False)] == [(f.state.page_id, f.told) for f in world.read(members.frames, 1)]
    assert {1} == world.read(members.list_framed_pages)
    assert (True, False) == (world.read(members.is_framed, 1), world.read(members.is_framed, 2))
    assert [] == world.faults()


def test_the_frames_that_a_page_names_are_replaced_or_left(world: World):
    """A unit that says nothing of frames leaves them; one that names others, or none, replaces them."""
    _frames(world)
    world.commit(world.make_framed(b"base", {2: b"menu", 3: b"text"}))
    world.commit(world.make_unchanged())
    left = world.read(members.frames, 1)
    world.commit(replace(world.make_unchanged(), frames=(FrameRow(3, told=True),)))
    told = world.read(members.frames, 1)
    world.commit(replace(world.make_unchanged(), frames=()))

    assert [2, 3] == [frame.state.page_id for frame in left]
    assert [(3, True)] == [(frame.state.page_id, frame.told) for frame in told]
    assert [] == world.read(members.frames, 1)
    assert not world.read(members.is_framed, 1)


def test_a_version_that_is_not_named_after_its_members_is_refused(world: World):
    """Another order, a member too few and a body that is not there leave nothing behind."""
    _frames(world)
    good = world.make_framed(b"base", {2: b"menu", 3: b"text"})
    base, menu, text = good.members
    for made_of in ((base, text, menu), (base, menu), (), (base, menu, replace(text, sha256="ff"))):
        with pytest.raises(UnitError):
            world.commit(replace(good, members=made_of))

    assert [] == world.read(versions.listing, 1)
    world.commit(good)
    assert [] == world.faults()


def test_the_frame_of_a_page_as_a_member(world: World):
    """A frame is a member by its newest version, one that has frames itself by the body that holds them; one without any is none."""
    _frames(world)
    world.commit(world.make_framed(b"base", {2: b"menu"}))
    world.write(members.ensure, [world.page("new")])

    def member(page_id: int) -> Member | None:
        return world.read(lambda c: members.as_member(c, pages.identity(c, page_id), pages.state(c, page_id)))

    assert Member(world.page("menu").key, sha256(b"menu"), 1) == member(2)
    assert Member(world.page("a").key, sha256(b"base"), 1) == member(1)
    assert member(4) is None


def test_what_changed_in_which_frame_comes_back(world: World):
    """The shares of a change are stored with its texts, and so is which link came or went."""
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


def test_what_is_noted_for_people_comes_back(world: World):
    """What entries say, the title of the page, and the text that a message shows."""
    change = world.change()
    entries = (EntryNote("updated", 0, "Two", "http://a.example/2", "Ann", 5, "text", (("title", "One", "Two"),)),)
    world.report_change(replace(change, found=replace(change.found, entries=entries, title="News", snapshot="a\nb")))

    (stored,) = world.read(changes.listing)
    found = stored.row.found
    assert (entries, "News", "a\nb") == (found.entries, found.title, found.snapshot)


def test_a_state_that_leans_on_an_older_version_is_refused(world: World):
    """A unit built before another stored a version cannot overwrite the page's row."""
    world.watch()
    late = world.make_unchanged()
    world.commit(world.make_stored(b"one"))

    with pytest.raises(UnitError, match="not the newest"):
        world.commit(late)
    assert 1 == world.state().last_seq


def test_a_poll_is_completed_once(world: World):
    """Committing the same unit again changes nothing and says so."""
    world.watch()
    unit = world.make_stored(b"one")
    world.commit(unit)

    with pytest.raises(UnitError, match="not an open poll"):
        world.commit(unit)
    assert 1 == world.state().last_seq
    assert [] == world.faults()


def test_a_broken_unit_takes_its_whole_transaction_back(world: World):
    """Nothing of a group stays if one of its units is broken."""
    world.watch()
    good, broken = world.make_stored(b"one"), world.unit(cursors=(world.cursor(99),))
    before = world.read(events.last_seq)

    with pytest.raises(UnitError, match="subscription that is not there"):
        world.commit(good, broken)

    assert [] == world.read(versions.listing, 1)
    assert before == world.read(events.last_seq)
    assert world.read(versions.blob, sha256(b"one")) is None


def test_a_group_may_hold_several_units_of_a_page(world: World):
    """Units are applied in their order: the second may lean on the first's version."""
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


def test_news_are_numbered_in_the_order_of_commits(world: World):
    """Events get consecutive numbers; the change knows its event; the delivery's range names it."""
    committed = world.report_change()

    (stored,) = world.read(changes.listing)
    (delivery,) = world.read(deliveries.first_due, now=world.at, tried_every=FAR)
    assert (stored.event_seq,) == committed.event_seqs == (delivery.first_seq,)
    assert committed.delivery_ids == (delivery.id,)
    assert [1, 2] == [event.seq for event in world.read(events.listing)] == [1, world.read(events.last_seq)]
    assert [] == world.faults()


def test_a_change_comes_back_as_it_was_found(world: World):
    """The whole change set is read again, odd characters too, with the sentinel's name and the page's address as given."""
    change = world.change(modified_at=7)
    world.report_change(change)

    (stored,) = world.read(changes.listing)
    assert change == stored.row
    assert ("news", "http://a.example/") == (stored.sentinel, stored.url)
    assert stored == world.read(changes.get, "change")
    assert world.read(changes.get, "none") is None


def test_changes_are_listed_by_sentinel_page_time_and_quietness(world: World):
    """Every condition narrows; quiet changes are listed only when asked for; the newest comes first."""
    world.report_change()
    rows = [world.change(id=f"c{i}", quiet=i == 2, detected_at=world.at + i) for i in (1, 2, 3)]
    told = [Event(type=EventType.CHANGE_FOUND, at=1, sentinel_id=1, change_id=row.id) for row in rows]
    world.commit(world.unit(changes=tuple(rows), events=tuple(told)))

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


def test_a_change_is_told_once_however_often_its_unit_comes(world: World):
    """A retry after an unknown result adds no event, no delivery and no change, and answers as the first time did."""
    first = world.report_change()
    retry = world.unit(**world.news(world.change(), world.endpoint(), body=b"other bytes"))

    (again,) = world.commit(retry)

    assert first == again
    assert 2 == world.read(events.last_seq)
    (delivery,) = world.read(deliveries.listing)
    assert b"news" == delivery.body
    assert [] == world.faults()


def test_delivery_ids_depend_on_what_is_told_to_whom(world: World):
    """Two endpoints or two ranges are two deliveries; a digest names numbers given out before."""
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


def test_deliveries_wait_are_tried_and_die(world: World):
    """A failed attempt waits for its time; dead letters are listed; a replay has the same id and the same bytes."""
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


def test_the_first_delivery_of_one_endpoint_is_the_one_among_all(world: World):
    """For one endpoint alone the answer is that for all; there may be none."""
    world.report_change()
    (first,) = world.read(deliveries.first_due, now=world.at, tried_every=FAR)

    def first_of(endpoint_id: int, now: int) -> list[str]:
        due = world.read(deliveries.first_due, now=now, tried_every=FAR, endpoint_id=endpoint_id)
        return [row.id for row in due]

    assert [[first.id], []] == [first_of(first.endpoint_id + n, world.at) for n in (0, 1)]
    waits = DeliveryResult(delivery_id=first.id, status="waiting", attempt=1, at=world.at, due_at=world.at + 100)
    world.commit(world.unit(results=(waits,)))
    assert [[], [first.id]] == [first_of(first.endpoint_id, world.at + n) for n in (99, 100)]


def test_a_switched_off_endpoint_is_not_due(world: World):
    """Deliveries of a disabled endpoint stay and wait."""
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


def test_what_is_laid_out_is_read_newest_first(world: World):
    """What an endpoint took, of one sentinel or of all; what waits or was taken by another is not there; bodies come by their ids."""
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


def test_everything_else_of_a_unit_is_written(world: World):
    """Hosts, timers, estimates, rule states, garbage, quarantine and answers are read as the unit had them."""
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


def test_timers_and_rules_are_taken_away(world: World):
    """A timer without an instant and a rule without a state go; a timer set again moves."""
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


def test_owed_comparisons_wait_and_settle(world: World):
    """A pending comparison is listed until it is done or given up."""
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


def test_what_is_settled_settles_what_was_owed_before(world: World):
    """Several comparisons are owed from one version; once the newest is made or given up, none of the others stays owed."""
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


def test_a_step_decided_on_another_state_is_none(world: World):
    """F-24: what a user did between the service's decision and its commit stays; there is no event of the step."""
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


def test_a_cursor_of_before_an_alteration_moves_no_tick(world: World):
    """A sentinel that was altered while its page was looked at keeps the tick of its new revision; what was taken is taken."""
    world.watch()
    world.commit(world.make_stored(b"one"))
    world.write(lambda c: c.execute("UPDATE subscription SET revision = 2, next_tick = 77"))
    world.commit(world.unit(cursors=(world.cursor(taken=(1,), next_tick=5, ticked_at=4),)))
    (altered,) = world.read(subscriptions.listing)
    assert (2, 77, (1,), 4) == (altered.revision, altered.next_tick, altered.taken, altered.ticked_at)
    world.commit(world.unit(cursors=(world.cursor(revision=2, taken=(1,), next_tick=90),)))

    assert [90] == [row.next_tick for row in world.read(subscriptions.listing)]


def test_what_a_cursor_misses_is_kept_until_it_is_there(world: World):
    """What a sentinel looks at and its page did not have stands with the cursor, and goes when a look finds it."""
    world.watch()
    world.commit(world.make_stored(b"one"))
    missing = Missing(seq=1, revision=1, names=('css ".price"', "table 2"), never=("table 2",))
    world.commit(world.unit(cursors=(world.cursor(missing=missing),)))
    (kept,) = world.read(subscriptions.listing)
    world.commit(world.unit(cursors=(world.cursor(),)))
    (gone,) = world.read(subscriptions.listing)

    assert (missing, None) == (kept.missing, gone.missing)


def test_digests_go_when_no_cursor_needs_them(world: World):
    """A version's digest stays while a cursor, an owed comparison or being the newest asks for it."""
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


def test_a_blob_is_kept_anew_as_a_delta(world: World):
    """Writing a blob again changes how it is kept, never what it is; its dependents and files are known."""
    world.watch()
    world.commit(world.make_stored(b"one"))
    name = sha256(b"one")
    new = Blob(sha256(b"two"), 3, "", 0, None, file="ab/cd")
    world.commit(world.make_stored(b"two", blobs=(new, Blob(name, 3, new.sha256, 1, b"d"))))

    assert Blob(name, 3, new.sha256, 1, b"d") == world.read(versions.blob, name)
    assert [name] == world.read(versions.dependents, new.sha256)
    assert {"ab/cd"} == world.read(versions.files)
    assert {name, new.sha256} == {blob.sha256 for blob in world.read(versions.blobs)}


def test_a_host_as_left_started_as_late_as_it_may_have(world: World):
    """I-4: whoever comes next counts the gap from the end of the poll, from now if it never ended, or from its deadline."""
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


def test_a_start_of_a_host_never_moves_back(world: World):
    """A unit that knows only of an older start leaves the later one of a charge."""
    world.watch()
    charged = world.charge()

    for start in (None, 5, charged.at + 7):
        world.commit(world.unit(hosts=(HostState(name="1.example", started_at=start, failures=1),)))

    assert HostState(name="1.example", started_at=charged.at + 7, failures=1) == world.read(hosts.state, "1.example")
    assert HostState(name="new") == world.read(hosts.state, "new")


# -- the rest --------------------------------------------------------------------------------------------------------


def test_a_lease_has_one_holder_and_a_rising_epoch(world: World):
    """Another holder waits until the time has run out; each acquisition raises the epoch; who lost it cannot renew."""
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
    """A request is open until it is answered or refused; the first of the two holds."""
    world.watch("news", "a", "b", "c")
    one, two, three = world.write(polls.request_polls, [1, 2, 3], 5)
    world.write(polls.refuse_request, two, "budget")
    world.write(polls.answer_requests, [one, two], poll_id=7)
    world.write(polls.refuse_request, one, "late")

    assert [three] == [row.id for row in world.read(polls.list_requests)]
    assert [(7, ""), (None, "budget"), (None, "")] == [
        (row.poll_id, row.refused) for row in world.read(polls.get_requests, [one, two, three, 99])
    ]


def test_secrets_are_kept_by_name(world: World):
    """A secret is given back by name only; a listing shows names."""
    world.write(secrets.put, "b", "old")
    world.write(secrets.put, "b", "new")
    world.write(secrets.put, "a", "x")

    assert ("new", None) == (world.read(secrets.get, "b"), world.read(secrets.get, "none"))
    assert ["a", "b"] == world.read(secrets.names)


def test_garbage_is_listed_until_it_is_cleared(world: World):
    """A path is remembered once and goes when its file is gone."""
    world.write(retention.add, ["b", "a", "b"], at=1)
    world.write(retention.clear, ["b"])

    assert ["a"] == world.read(retention.listing)


def test_events_are_listed_by_number_and_type(world: World):
    """`after`, `types` and `limit` narrow the events; data comes back as it was."""
    types = (EventType.PAGE_OK, EventType.PAGE_MOVED)
    told = [Event(type=types[i % 2], at=i, page_id=i, data={"i": i, "text": "\0é"}) for i in range(4)]
    assert [1, 2, 3, 4] == world.write(events.append, told)

    assert [3, 4] == [row.seq for row in world.read(events.listing, after=2)]
    assert [2, 4] == [row.seq for row in world.read(events.listing, types=[types[1]])]
    assert [1, 2] == [row.seq for row in world.read(events.listing, types=types, limit=2)]
    assert [] == world.read(events.listing, types=[])
    assert {"i": 3, "text": "\0é"} == world.read(events.listing, after=3)[0].data


def test_an_instance_keeps_its_name(world: World):
    """Each database has its own id and seed, the same at every opening."""
    other = world.reopen()

    assert world.read(instance.load) == other.read(instance.load)
    assert 32 == len(world.read(instance.load).id)
    other.close()


def test_polls_are_listed_newest_first(world: World):
    """`limit` cuts the oldest."""
    world.watch("news", "a", "b")
    first, second, third = (world.charge(page_id) for page_id in (1, 2, 1))

    assert [third.poll_id, second.poll_id] == [poll.id for poll in world.read(polls.listing, limit=2)]
    assert [third.poll_id, first.poll_id] == [poll.id for poll in world.read(polls.listing, page_id=1)]
    assert world.read(polls.get, 999) is None
    asked = [third.poll_id, 999, first.poll_id]
    assert [third.poll_id, first.poll_id] == [poll.id for poll in world.read(polls.of, asked)]
    assert [] == world.read(polls.of, [])


def test_another_connection_is_noticed(world: World):
    """`changed` is true once after another connection's commit, and false after none or a rollback."""
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


def test_a_read_sees_one_state_and_writes_nothing(world: World):
    """A function that reads cannot write, and a write after it works."""
    with pytest.raises(StoreError):
        world.read(secrets.put, "a", "b")
    world.write(secrets.put, "a", "c")

    assert "c" == world.read(secrets.get, "a")


def test_a_write_that_fails_leaves_nothing(world: World):
    """Whatever a function raises, what it wrote before is gone."""
    with pytest.raises(UsageError):
        world.write(_fail)

    assert [] == world.read(secrets.names)


def test_text_of_users_is_never_part_of_a_statement(world: World):
    """Names full of quotes, colons and percent signs are data."""
    odd = "a'; DROP TABLE page; -- :name %s %(x)s ::text"
    world.write(secrets.put, odd, odd)
    world.watch(odd)

    assert odd == world.read(secrets.get, odd) == world.read(sentinels.find, odd).name


def test_an_event_of_other_origin_is_taken_once_a_key(world: World):
    """A source is found, looked at, and goes with its keys; what happened stays in the log, as it was told."""
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
    """What the store should hold of one page: the bodies in order, and the cursor."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.taken: tuple[int, ...] = ()


_STEPS = st.lists(
    st.tuples(st.sampled_from(["store", "unchanged", "stale number", "cursor"]), st.sampled_from([b"a", b"b", b"c"])),
    max_size=12,
)


@given(steps=_STEPS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_versions_and_cursors_follow_a_model(world: World, steps: list[tuple[str, bytes]]):
    """Whatever is asked, bodies and cursors are those of a plain list, and the invariants hold."""
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


def test_hints_and_what_they_are_worth_come_back_as_they_were_stored(world: World):
    """Written twice they are what was written last; forgotten they are gone; a key is remembered until its time."""
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


def test_what_hubs_were_asked_comes_back_as_it_was_stored(world: World):
    """A row a page; dropped it is gone."""
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


def test_a_lease_that_is_over_goes_to_the_first_who_saw_it(world: World):
    """Whoever takes it must have seen it as it is; one that was renewed meanwhile stays."""
    first = world.write(lock.acquire_lease, "shard", "one", at=0, until=10)
    seen = world.read(lock.current_lease, "shard")
    world.write(lock.renew_lease, "shard", "one", first, until=5)
    with pytest.raises(PollerBusyError):
        world.write(lock.succeed, "shard", seen, "two", until=20)
    seen = world.read(lock.current_lease, "shard")

    assert first + 1 == world.write(lock.succeed, "shard", seen, "two", until=20)
    with pytest.raises(PollerBusyError):
        world.write(lock.succeed, "shard", seen, "three", until=20)
    assert 1 == world.write(lock.succeed, "new", None, "three", until=20)


def test_an_endpoint_is_claimed_by_one_process(world: World):
    """Then the result of the former holder is refused; other units of its group are written."""
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
    """Their claims last as long as they note that they work; a retired one leaves nothing."""
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
