"""The unit of work: everything that one outcome writes, built by the service and committed whole
(contracts §1).

A `Unit` names versions by (page, seq) and events by their index in `events`; the store numbers
events inside the commit, so that commit order is sequence order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal, NamedTuple

from tidings.model.event_type import EventType
from tidings.model.interval import Instant
from tidings.model.observed.change import ChangeSet, Composite
from tidings.model.observed.page import HostState, PageState
from tidings.model.observed.poll_reason import PollReason
from tidings.model.observed.version import Blob, Digest, Member, NewBody, ValueRow, Version
from tidings.model.watch.sentinel import WHOLE, State
from tidings.record import dataclass

PollOutcome = Literal["new", "unchanged", "changed", "error", "quarantined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The right to one poll, charged before any request leaves. `budget` is its class; a poll takes
    tokens of it and of the total.
    """

    page_id: int
    host: str
    cost: float
    reason: PollReason
    budget: str = WHOLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """A grant that was paid for: `poll_id` is the row that its outcome completes, `at` the instant
    of the charge.
    """

    poll_id: int
    grant: Grant
    at: Instant
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PollRecord:
    """How a charged poll ended; completes row `poll_id` (a poll record, contracts §12)."""

    poll_id: int
    page_id: int
    finished_at: Instant
    outcome: PollOutcome
    text_changed: bool
    status: int | None = None
    kind: str = ""
    bytes: int = 0
    requests: int = 1
    reason: str = ""
    charged_at: Instant | None = None


CHANGE: Final = "change"
"""The value of `Missing.doubt` for a change that waits for a second poll."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """The selected parts that a page did not have (`css ".price"`), as of version `seq` and the
    sentinel's `revision`.

    `never` are those among `names` that no version has had. `doubt` are those missing in one poll
    only, since `doubt_at`; the next poll decides whether they are lost.
    """

    seq: int
    revision: int
    names: tuple[str, ...]
    never: tuple[str, ...] = ()
    doubt: tuple[str, ...] = ()
    doubt_at: Instant = 0

    @property
    def is_unconfirmed(self) -> bool:
        """Return whether this is a change that the newest poll found and that waits for a second
        poll.
        """
        return CHANGE in self.doubt


@dataclass(frozen=True, slots=True, kw_only=True)
class CursorMove:
    """A subscription's cursor after this unit: `base` and `taken` are version numbers of its page
    (sentinels §4.2).

    `taken` are the versions that it still needs, `number` is how many it has taken and `seen` the
    newest of them (0: as `taken` says). `next_tick` is the next tick of a fixed interval, None for
    on-change. `missing` are the parts that were not found; while all are missing, the cursor does
    not move. `remembered` is the subscription's memory beside versions, `learned` the learned worth
    of its changes; None: as before.
    """

    subscription_id: int
    revision: int
    base: int
    taken: tuple[int, ...]
    next_tick: Instant | None = None
    ticked_at: Instant | None = None
    missing: Missing | None = None
    number: int = 0
    seen: int = 0
    remembered: str | None = None
    learned: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """A comparison that is `pending`, given up (`could_not_compare`) or `done`, in which case its
    row is deleted.
    """

    subscription_id: int
    page_id: int
    from_seq: int
    to_seq: int
    revision: int
    status: Literal["pending", "could_not_compare", "done"]
    attempt: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """A change found for a subscription. `id` = hash(instance, restore epoch, subscription, from,
    to, rules).

    A `partial` one was compared with a nearer version than `Compare moving n` asks for, since no
    older one exists yet.

    A `composite` one has parts on several pages: subscription, page and versions are those of its
    latest part, and `found` holds the texts of all. A `quiet` one is not reported by itself: it is
    part of another, or all of it is `noise`.
    """

    id: str
    sentinel_id: int
    subscription_id: int
    page_id: int
    revision: int
    kind: str
    from_seq: int
    to_seq: int
    rules_version: int
    extraction: str
    found: ChangeSet
    summary: str
    quiet: bool
    modified_at: Instant | None
    polled_at: Instant
    detected_at: Instant
    partial: bool = False
    composite: Composite | None = None
    noise: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened; the store numbers it at commit."""

    type: EventType
    at: Instant
    sentinel_id: int | None = None
    page_id: int | None = None
    change_id: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryDraft:
    """A message for one endpoint, with the bytes that every attempt sends.

    `events` are indexes into this unit's `events`; for a digest, `first_seq` and `last_seq` are
    numbers assigned earlier. The store makes the id from (instance, restore epoch, endpoint, first,
    last).
    """

    endpoint_id: int
    sentinel_id: int
    content_type: str
    body: bytes
    due_at: Instant
    subject: str = ""
    events: tuple[int, ...] = ()
    first_seq: int | None = None
    last_seq: int | None = None
    changes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryResult:
    """The result of an attempt: done, to be retried at `due_at` (None: as before), or dead.

    While it `holds`, later deliveries of its sentinel to its endpoint wait for it.
    """

    delivery_id: str
    status: Literal["delivered", "waiting", "dead"]
    attempt: int
    at: Instant
    due_at: Instant | None = None
    error: str = ""
    holds: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointMove:
    """The state of an endpoint after an attempt at `tried_at`: failing since when, enabled or not,
    and why.

    `paused_until` is what the endpoint asked for (Retry-After, 429): nothing is sent before. If it
    `is_back` after an outage, all its pending retries are due at once. `noticed`: its owner was
    notified that it accepts nothing. If the fault `is_ours`, nothing was sent.
    """

    endpoint_id: int
    failing_since: Instant | None
    enabled: bool = True
    reason: str = ""
    tried_at: Instant | None = None
    paused_until: Instant | None = None
    is_back: bool = False
    noticed: bool = False
    is_ours: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Premise:
    """What a step in a sentinel's life assumes of a sentinel: this revision, and one of these
    states, starts and ends. The first of each is what was stored, the last what it has once the
    earlier steps are stored, which one commit may do.
    """

    sentinel_id: int
    revision: int
    states: tuple[State, ...] = ()
    """Empty: any."""
    started_at: tuple[Instant | None, ...]
    ended_at: tuple[Instant | None, ...]
    resume_at: tuple[Instant | None, ...] = ()
    """Empty: any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentinelMove:
    """A step in a sentinel's life (sentinels §2).

    `before` is the state on which it was decided; if another process has moved the sentinel since,
    the step is dropped. `premises` are of the sentinels on which it was decided, itself included;
    if one does not hold any more, e.g. after `alter` or `drop`, the whole unit is dropped. A
    disabled sentinel is enabled again at `resume_at` (None: when a user enables it). `is_sole`: the
    reports of the unit are made for this step; if another process has taken it, they are made anew.
    """

    sentinel_id: int
    state: State
    at: Instant
    reason: str = ""
    before: State | None = None
    premises: tuple[Premise, ...] = ()
    resume_at: Instant | None = None
    is_sole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """A due instant that survives a restart: (kind, ref) is unique; `due_at` None deletes it."""

    kind: str
    ref: int
    due_at: Instant | None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The state of one estimator or policy for a page, plain JSON."""

    page_id: int
    name: str
    state: Mapping[str, Any]
    at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleState:
    """The state of a rule of a sentinel, plain JSON; None deletes it."""

    sentinel_id: int
    name: str
    state: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """A body that was withheld; both bodies are stored (contracts §4)."""

    page_id: int
    at: Instant
    kind: str
    sha256: str
    reason: str


@dataclass(frozen=True, slots=True)
class FrameRow:
    """A frame that a page names, by the id of its own page row; `is_reported`: its owner was
    notified that it cannot be read.
    """

    member_id: int
    is_reported: bool = False


class Claim(NamedTuple):
    """The right of one process to try an endpoint: the name of its lease, and the epoch."""

    name: str
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """All that one outcome writes. `epoch` is the poller's; a stale one is refused and nothing is
    written. The result of an attempt may have a `claim` instead, which is checked in the same way.
    """

    at: Instant
    epoch: int
    claim: Claim | None = None
    poll: PollRecord | None = None
    page: PageState | None = None
    hosts: tuple[HostState, ...] = ()
    version: Version | None = None
    members: tuple[Member, ...] = ()
    """of `version`, if it has frames"""
    frames: tuple[FrameRow, ...] | None = None
    """the frames that `page` names from now on, in order; None: as before"""
    bodies: tuple[NewBody, ...] = ()
    """small enough for rows: how they are stored is planned inside the commit"""
    blobs: tuple[Blob, ...] = ()
    """bodies whose storage was planned before"""
    garbage: tuple[str, ...] = ()
    digests: tuple[tuple[int, Digest], ...] = ()
    """(version number of `page`, digest)"""
    cursors: tuple[CursorMove, ...] = ()
    comparisons: tuple[ComparisonRow, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    changes: tuple[ChangeRow, ...] = ()
    events: tuple[Event, ...] = ()
    deliveries: tuple[DeliveryDraft, ...] = ()
    texts: tuple[tuple[int, int], ...] = ()
    """(sentinel, revision) of the texts that decide what of its events is notified at once; if one
    was altered since, the unit is refused
    """
    decided: tuple[tuple[EventType, int], ...] = ()
    """(type, number): its events were decided on from those of that type up to that number; if
    there is a newer one, the unit is refused
    """
    results: tuple[DeliveryResult, ...] = ()
    endpoints: tuple[EndpointMove, ...] = ()
    sentinels: tuple[SentinelMove, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    timers: tuple[Timer, ...] = ()
    rules: tuple[RuleState, ...] = ()
    values: tuple[ValueRow, ...] = ()
    """values that sentinels read on `page` now and whose history is stored"""
    answered: tuple[int, ...] = ()
    """ids of `request` rows that this unit's poll answers"""
