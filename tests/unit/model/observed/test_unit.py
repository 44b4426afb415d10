"""A unit has all that one outcome writes."""

import dataclasses
from typing import get_args

from tidings.model.observed import unit
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Charged, Grant, PollRecord, Timer, Unit


def test_unit_is_empty_by_default():
    """A unit without parts writes nothing."""
    parts = {f.name: getattr(Unit(at=1, epoch=1), f.name) for f in dataclasses.fields(Unit)}

    assert {"at": 1, "epoch": 1} == {name: value for name, value in parts.items() if value not in (None, ())}


def test_unit_has_the_epoch_of_its_poller():
    """Units and charges cannot be made without it (I-7)."""
    needed = {
        kind: {f.name for f in dataclasses.fields(kind) if f.default is f.default_factory is dataclasses.MISSING}
        for kind in (Unit, Charged)
    }

    assert "epoch" in needed[Unit]
    assert "epoch" in needed[Charged]


def test_poll_has_one_of_five_outcomes():
    """They are those of the design (contracts §12)."""
    assert ("new", "unchanged", "changed", "error", "quarantined") == get_args(unit.PollOutcome)


def test_grant_takes_from_the_default_budget():
    """One budget pays for all by default."""
    assert "default" == Grant(page_id=1, host="a.example", cost=1.0, reason=PollReason(Why.INTERVAL)).budget


def test_poll_record_counts_one_request():
    """A poll makes at least one request."""
    record = PollRecord(poll_id=1, page_id=1, finished_at=1, outcome="unchanged", text_changed=False)

    assert 1 == record.requests


def test_default_values_are_not_shared():
    """The data of one timer is not that of another."""
    one, other = Timer(kind="digest", ref=1, due_at=1), Timer(kind="digest", ref=2, due_at=1)

    assert one.data is not other.data
