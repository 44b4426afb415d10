"""A unit names all that one outcome writes, and nothing by default."""

import dataclasses
from typing import get_args

from tidings.model.observed import unit
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Charged, Grant, PollRecord, Timer, Unit


def test_a_unit_writes_only_what_it_is_given():
    """A unit without parts writes nothing: each part is empty by default."""
    parts = {f.name: getattr(Unit(at=1, epoch=1), f.name) for f in dataclasses.fields(Unit)}

    assert {"at": 1, "epoch": 1} == {name: value for name, value in parts.items() if value not in (None, ())}


def test_every_unit_carries_its_epoch():
    """Units and charges cannot be made without the epoch of their poller (I-7)."""
    needed = {
        kind: {f.name for f in dataclasses.fields(kind) if f.default is f.default_factory is dataclasses.MISSING}
        for kind in (Unit, Charged)
    }

    assert "epoch" in needed[Unit]
    assert "epoch" in needed[Charged]


def test_outcomes_of_polls_are_those_of_the_design():
    """A poll ends in one of five ways (contracts §12)."""
    assert ("new", "unchanged", "changed", "error", "quarantined") == get_args(unit.PollOutcome)


def test_a_grant_takes_from_the_default_budget():
    """Where nothing is said, one budget pays for all."""
    assert "default" == Grant(page_id=1, host="a.example", cost=1.0, reason=PollReason(Why.INTERVAL)).budget


def test_a_poll_record_counts_one_request():
    """A poll has asked once at least."""
    record = PollRecord(poll_id=1, page_id=1, finished_at=1, outcome="unchanged", text_changed=False)

    assert 1 == record.requests


def test_no_two_nouns_share_a_default():
    """The data of one timer is not that of another."""
    one, other = Timer(kind="digest", ref=1, due_at=1), Timer(kind="digest", ref=2, due_at=1)

    assert one.data is not other.data
