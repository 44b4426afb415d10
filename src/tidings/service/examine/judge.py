"""Judge whether an answer is new, before its content is parsed, and whether it can be believed.

`PollResult` is what was paid for, of which page, and its answer: the input of everything that
follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

import xxhash

from tidings.model.observed.outcome import Fetched
from tidings.model.observed.unit import PollRecord
from tidings.record import dataclass
from tidings.service.show.records import ROBOTS
from tidings.service.watch.page_schedule import robots_ignored

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.observed.outcome import FetchRequest, Outcome, Unchanged, Validators
    from tidings.model.observed.page import HostState, PageState
    from tidings.model.observed.poll_reason import Why
    from tidings.model.observed.unit import Charged, PollOutcome
    from tidings.service.watch.watchlist import WatchedPage


def judge(state: PageState, answer: Unchanged | Fetched, seed: int) -> Fetched | None:
    """Return the answer if its body differs from the newest version's, else None. `seed` is that of
    body hashes.
    """
    return answer if isinstance(answer, Fetched) and not is_known(state, answer, seed) else None


def is_known(state: PageState, outcome: Outcome, seed: int) -> bool:
    """Return whether an answer has the body of the newest version."""
    if not isinstance(outcome, Fetched) or len(outcome.body) != state.body_size or state.last_seq == 0:
        return False
    return xxh3(outcome.body, seed) == state.body_xxh3


def is_contradiction(state: PageState, request: FetchRequest, outcome: Outcome, seed: int) -> bool:
    """Return whether an answer contradicts itself: another body under the validators that were
    sent, or under none (RFC 9110 §13.1).

    Args:
        state: The page's stored state.
        request: The request that was sent.
        outcome: The answer.
        seed: The seed of hashes of bodies.
    """
    if not isinstance(outcome, Fetched) or outcome.conditions != "answered":
        return False
    return not is_known(state, outcome, seed) and _is_unchanged(request.validators, outcome.validators)


def _is_unchanged(sent: Validators, got: Validators) -> bool:
    """Return whether the validators of a full answer equal those sent, or are absent; an ETag takes
    precedence over a date.
    """
    if sent.etag and got.etag:
        return sent.etag.removeprefix("W/") == got.etag.removeprefix("W/")
    return not got or (sent.last_modified is not None and sent.last_modified == got.last_modified)


def xxh3(body: bytes, seed: int) -> str:
    """Return the body hash of gate 0, seeded per installation."""
    return xxhash.xxh3_128_hexdigest(body, seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A page at an instant `at`, and the subscriptions that take its content then, by a poll or
    from storage.

    `eager` are the sentinels that requested it, which take it before their tick; `owed` counts, by
    subscription, how often an owed comparison has died. `epoch` is the poller's.
    """

    page: WatchedPage
    at: Instant
    epoch: int
    eager: frozenset[int] = frozenset()
    owed: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PollResult(Turn):
    """A turn by a poll: the charge and its outcome, the requests it answers, and host states to
    store.

    `ours`: the failure is of our own network, and the page keeps its state.
    """

    charged: Charged
    outcome: Outcome
    answered: tuple[int, ...] = ()
    hosts: tuple[HostState, ...] = ()
    ours: bool = False

    @property
    def why(self) -> Why:
        """Return why the page was polled."""
        return self.charged.grant.reason.why

    def record(
        self, outcome: PollOutcome, *, reason: str = "", text_changed: bool = False, kind: str = ""
    ) -> PollRecord:
        """Return the record of this poll; `reason` explains its outcome.

        Args:
            outcome: What the poll found.
            reason: The explanation; empty if none is needed.
            text_changed: Whether the masked text differs.
            kind: The kind of error; empty for none.
        """
        reasons = (reason, f"{ROBOTS}: {ignored}" if (ignored := robots_ignored(self.page)) else "")
        return PollRecord(
            poll_id=self.charged.poll_id,
            page_id=self.page.state.page_id,
            charged_at=self.charged.at,
            finished_at=self.at,
            outcome=outcome,
            text_changed=text_changed,
            status=self.outcome.status,
            kind=kind,
            bytes=self.outcome.wire_bytes,
            requests=self.outcome.requests,
            reason="; ".join(filter(None, reasons)),
        )
