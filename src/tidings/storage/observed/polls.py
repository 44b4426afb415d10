"""Polls: each is charged before its request leaves and completed once by the unit of its outcome
(contracts §1).

A process that cannot poll asks the poller by a request (contracts §2).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tidings.errors import UnitError
from tidings.model.interval import ALWAYS, HOUR, Duration, Instant, Period
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Grant, PollOutcome, PollRecord
from tidings.model.watch.sentinel import SCHEME, share_of
from tidings.record import dataclass
from tidings.storage.db import lock
from tidings.storage.db.connection import NUMBERS, UNLIMITED, Connection, plain, select, to_json


@dataclass(frozen=True, slots=True)
class PollRow:
    """A charged poll; `outcome` and `finished_at` are None while it is open. `reason` is why it was
    granted, `note` how it ended.
    """

    id: int
    page_id: int
    epoch: int
    charged_at: Instant
    cost: float
    reason: PollReason
    budget: str
    finished_at: Instant | None
    outcome: PollOutcome | None
    text_changed: bool
    status: int | None
    kind: str
    bytes: int
    requests: int
    note: str


_SELECT = (
    "SELECT id, page_id, epoch, charged_at, cost, reason, budget, finished_at, outcome, text_changed, status, kind, bytes, requests,"
    " note FROM poll"
)
_OF_IDS = {dialect: f"{_SELECT} WHERE id IN {numbers}" for dialect, numbers in NUMBERS.items()}
_INSERT = (
    "INSERT INTO poll (page_id, epoch, charged_at, cost, reason, budget)"
    " VALUES (:page_id, :epoch, :at, :cost, :reason, :budget)"
)
_FINISH = (
    "UPDATE poll SET finished_at = :finished_at, outcome = :outcome, text_changed = :text_changed, status = :status, kind = :kind,"
    " bytes = :bytes, requests = :requests, note = :note WHERE id = :poll_id AND page_id = :page_id AND outcome IS NULL"
)


_LAST_FAILURE = (
    "SELECT poll.id, poll.page_id, epoch, charged_at, cost, poll.reason, budget, finished_at, outcome, text_changed, status, poll.kind, bytes, requests,"
    " note FROM poll JOIN page ON page.id = poll.page_id WHERE page.host = :host AND outcome = 'error' ORDER BY poll.id DESC LIMIT 1"
)
_CUT_OFF = "UPDATE poll SET finished_at = :at, outcome = 'error', kind = 'net', note = :note WHERE id = :poll_id AND outcome IS NULL"
_WAS_POLLED = "UPDATE page SET polled_at = :at WHERE id = :page_id AND (page.polled_at IS NULL OR page.polled_at < :at)"
_GOOD = (
    "SELECT finished_at FROM poll WHERE page_id = :page_id AND finished_at >= :first AND finished_at <= :last"
    " AND outcome IN ('new', 'unchanged', 'changed') ORDER BY finished_at"
)
_SUCCESSES = (
    "SELECT page_id, finished_at, text_changed FROM poll WHERE finished_at >= :since AND outcome IN ('new', 'unchanged', 'changed')"
    " ORDER BY finished_at"
)
_OF_PAGE = (
    "SELECT finished_at, text_changed FROM poll WHERE page_id = :page_id AND finished_at >= :since"
    " AND outcome IN ('new', 'unchanged', 'changed') ORDER BY finished_at"
)
_LAST_BEFORE = "SELECT page_id, MAX(finished_at) FROM poll WHERE finished_at < :before AND outcome IN ('new', 'unchanged', 'changed') GROUP BY page_id"
_BEATS = {
    dialect: "SELECT page_id, (charged_at - :since) / :width, sum(text_changed),"
    " sum(CASE WHEN outcome IN ('new', 'unchanged', 'changed') THEN 1 ELSE 0 END), count(*),"
    f" sum(CASE WHEN outcome = 'error' THEN 1 ELSE 0 END) FROM poll WHERE page_id IN {numbers}"
    " AND charged_at >= :since AND outcome IS NOT NULL GROUP BY page_id, (charged_at - :since) / :width"
    for dialect, numbers in NUMBERS.items()
}
_CHARGED = (
    "SELECT page_id, charged_at, finished_at, cost, reason FROM poll WHERE charged_at >= :since ORDER BY charged_at"
)
CLOCK_SET_BACK = 6 * HOUR
"""By how much a clock may have been set back without polls that are left out of a sum."""
CUT_OFF = "interrupted: the process ended before the answer was stored"


@dataclass(frozen=True, slots=True)
class Beats:
    """The results of polls over time: the most notable in each slot (`seen`, `changed`, `failed`),
    and the sums.
    """

    slots: Mapping[int, str]
    polls: int
    changes: int
    failures: int


def beats(c: Connection, page_ids: Collection[int], *, since: Instant, width: Duration) -> dict[int, Beats]:
    """Return the beats by page; a page without a poll has none.

    Args:
        page_ids: The pages.
        since: Where slot 0 begins (µs).
        width: The length of a slot (µs, > 0).
    """
    slots: dict[int, dict[int, str]] = {}
    sums: dict[int, list[int]] = {}
    rows = c.rows(_BEATS[c.dialect], listed=to_json([*page_ids]), since=since, width=width) if page_ids else ()
    for page_id, slot, changed, good, made, failed in rows:
        kind = "changed" if changed else "seen" if good else "failed"
        slots.setdefault(page_id, {})[int(slot)] = kind
        before = sums.get(page_id, (0, 0, 0))
        sums[page_id] = [one + int(more) for one, more in zip(before, (made, changed, failed), strict=True)]
    return {page_id: Beats(own, *sums[page_id]) for page_id, own in slots.items()}


def listing(
    c: Connection,
    *,
    page_id: int | None = None,
    limit: int | None = None,
    before: int | None = None,
    period: Period = ALWAYS,
) -> list[PollRow]:
    """Return polls, newest first: of one page, and numbered below `before`, if given.

    Args:
        page_id: The page; None for all.
        limit: How many at most; None for all.
        before: The number below which they are; None for any.
        period: When they began.
    """
    wanted = {
        "page_id": (page_id, "page_id = :page_id"),
        "before": (before, "id < :before"),
        "since": (period.since, "charged_at >= :since"),
        "until": (period.until, "charged_at <= :until"),
    }
    given = {name: value for name, (value, _) in wanted.items() if value is not None}
    text = select(_SELECT, [wanted[name][1] for name in given], "ORDER BY id DESC LIMIT :limit")
    return [_to_row(row) for row in c.rows(text, limit=UNLIMITED if limit is None else limit, **given)]


def last_failure(c: Connection, host: str) -> PollRow | None:
    """Return the last failed poll of a page of this host, None if there is none."""
    row = c.one(_LAST_FAILURE, host=plain(host))
    return None if row is None else _to_row(row)


def get(c: Connection, id: int) -> PollRow | None:
    """Return poll `id`, or None."""
    row = c.one(f"{_SELECT} WHERE id = :id", id=id)
    return None if row is None else _to_row(row)


def of(c: Connection, ids: Sequence[int]) -> list[PollRow]:
    """Return the polls with these ids, in the order given; unknown ids are left out."""
    found = {row[0]: _to_row(row) for row in c.rows(_OF_IDS[c.dialect], listed=to_json([*ids]))} if ids else {}
    return [found[id_] for id_ in ids if id_ in found]


def open_polls(c: Connection) -> list[PollRow]:
    """Return the polls that were charged and not completed, oldest first."""
    return [_to_row(row) for row in c.rows(f"{_SELECT} WHERE outcome IS NULL ORDER BY id")]


def good(c: Connection, page_id: int, first: Instant, last: Instant) -> list[Instant]:
    """Return the instants of a page's successful polls in [first, last], in order.

    Args:
        page_id: The page.
        first: The first instant (µs).
        last: The last instant (µs).
    """
    rows = c.rows(_GOOD, page_id=page_id, first=first, last=last)
    return [row[0] for row in rows]


def list_successes(c: Connection, since: Instant) -> list[tuple[int, Instant, bool]]:
    """Return page, instant and whether the text had changed of each successful poll since an
    instant, in order.
    """
    return [(page_id, at, bool(changed)) for page_id, at, changed in c.rows(_SUCCESSES, since=since)]


def of_page(c: Connection, page_id: int, since: Instant) -> list[tuple[Instant, bool]]:
    """Return instant and whether the text had changed of a page's successful polls since an
    instant, in order.
    """
    return [(at, bool(changed)) for at, changed in c.rows(_OF_PAGE, page_id=page_id, since=since)]


class ChargedPoll(NamedTuple):
    """A poll's page, cost, charge and end (None: still open), and reason."""

    page_id: int
    at: Instant
    finished_at: Instant | None
    cost: float
    why: Why


def list_charged(c: Connection, since: Instant) -> list[ChargedPoll]:
    """Return the polls charged since an instant, in order."""
    rows = c.rows(_CHARGED, since=since)
    return [ChargedPoll(page, at, ended, cost, PollReason.read(text).why) for page, at, ended, cost, text in rows]


def last_before(c: Connection, before: Instant) -> dict[int, Instant]:
    """Return each page's last successful poll before an instant."""
    return dict(c.rows(_LAST_BEFORE, before=before))


def sum_costs(c: Connection, since: Instant) -> float:
    """Return the total cost of the polls charged since an instant."""
    text = "SELECT COALESCE(SUM(cost), 0) FROM poll WHERE id >= :first AND charged_at >= :since"
    return float(c.value(text, first=_find_first(c, since - CLOCK_SET_BACK), since=since))


def _find_first(c: Connection, since: Instant) -> int:
    """Return the number of the first poll charged since an instant, in some twenty steps: polls are
    numbered in the order of time, and there is no index of their times.
    """
    low, high = (int(c.value(f"SELECT COALESCE({end}(id), 0) FROM poll")) for end in ("MIN", "MAX"))
    while low < high:
        middle = (low + high) // 2
        found = c.one("SELECT id, charged_at FROM poll WHERE id >= :id ORDER BY id LIMIT 1", id=middle)
        number, at = found or (high, since)
        low, high = (number + 1, high) if at < since else (low, middle)
    return low


def sum_share(c: Connection, since: Instant, *, owner_id: int) -> float:
    """Return the total cost of the polls charged since an instant to an owner's share: its class,
    and its collections.
    """
    text = (
        "SELECT COALESCE(SUM(cost), 0) FROM poll WHERE charged_at >= :since AND (budget = :share"
        " OR budget IN (SELECT :scheme || name FROM sentinel WHERE owner_id = :owner_id))"
    )
    return float(c.value(text, since=since, share=share_of(owner_id), scheme=SCHEME, owner_id=owner_id))


def begin(c: Connection, grants: Sequence[Grant], *, at: Instant, epoch: int) -> list[int]:
    """Store the charge of a poll for each grant and return their ids, in the order of the
    grants.

    Args:
        at: When they are charged (µs).
        epoch: The poller's epoch.
    """
    # Writers take turns on both databases, so every higher id is one of these.
    before = c.value("SELECT COALESCE(MAX(id), 0) FROM poll")
    c.batch(
        _INSERT, [(grant.page_id, epoch, at, float(grant.cost), grant.reason.stored, grant.budget) for grant in grants]
    )
    return [row[0] for row in c.rows("SELECT id FROM poll WHERE id > :before ORDER BY id", before=before)]


def finish(c: Connection, records: Sequence[PollRecord]) -> None:
    """Complete polls. Raise `UnitError` if one was not charged for its page or is already
    complete.
    """
    rows = [
        (
            r.finished_at,
            r.outcome,
            1 if r.text_changed else 0,
            r.status,
            r.kind,
            r.bytes,
            r.requests,
            plain(r.reason),
            r.poll_id,
            r.page_id,
        )
        for r in records
    ]
    if c.batch(_FINISH, rows) != len(rows):
        ids = ", ".join(str(r.poll_id) for r in records)
        raise UnitError(f"poll {ids} is not an open poll of its page; nothing was written")


def end_abandoned(c: Connection, *, now: Instant, longest: Duration) -> int:
    """End the open polls of epochs that are over, whose process has died or lost its lease; return
    how many there were.

    They end as failures, but do not count against their page and are no observation; the charge
    stays. A request may have left as late as `now`, at most `longest` (the deadline of a fetch)
    after its charge: the page's floor counts from then.
    """
    living = lock.list_epochs(c)
    rows = [row for row in open_polls(c) if row.epoch not in living]
    ends = {row.id: max(row.charged_at, min(now, row.charged_at + longest)) for row in rows}
    c.many(_CUT_OFF, [{"poll_id": row.id, "at": ends[row.id], "note": CUT_OFF} for row in rows])
    c.many(_WAS_POLLED, [{"page_id": row.page_id, "at": ends[row.id]} for row in rows])
    return len(rows)


def _to_row(row: tuple[Any, ...]) -> PollRow:
    values = [*row]
    values[5] = PollReason.read(row[5])
    values[9] = bool(row[9])
    return PollRow(*values)


@dataclass(frozen=True, slots=True)
class RequestRow:
    """A request, on behalf of a sentinel if it names one; answered once `poll_id` names the poll
    (0: served without one), or refused with a reason.
    """

    id: int
    page_id: int
    asked_at: Instant
    sentinel_id: int | None
    poll_id: int | None
    refused: str

    @property
    def is_open(self) -> bool:
        """Return whether it has neither been answered nor refused."""
        return self.poll_id is None and not self.refused


_SELECT_REQUEST = "SELECT id, page_id, asked_at, sentinel_id, poll_id, refused FROM request"
_ASK = "INSERT INTO request (page_id, sentinel_id, asked_at) VALUES (:page_id, :sentinel_id, :at) RETURNING id"


def request_polls(c: Connection, page_ids: Iterable[int], at: Instant, *, sentinel_id: int | None = None) -> list[int]:
    """Store a request for each page, on behalf of a sentinel or of all that watch it, and return
    their ids.

    Args:
        page_ids: The pages.
        at: When they are requested (µs).
        sentinel_id: The sentinel; None for all.
    """
    return [c.value(_ASK, page_id=page_id, sentinel_id=sentinel_id, at=at) for page_id in page_ids]


def list_requests(c: Connection) -> list[RequestRow]:
    """Return the open requests, oldest first."""
    return [RequestRow(*row) for row in c.rows(f"{_SELECT_REQUEST} WHERE poll_id IS NULL AND refused = '' ORDER BY id")]


def answer_requests(c: Connection, ids: Iterable[int], *, poll_id: int = 0) -> None:
    """Mark requests as answered by a poll; those answered or refused before stay as they are."""
    text = "UPDATE request SET poll_id = :poll_id WHERE id = :id AND poll_id IS NULL AND refused = ''"
    c.many(text, [{"id": id_, "poll_id": poll_id} for id_ in ids])


def refuse_request(c: Connection, id: int, reason: str) -> None:
    """Refuse a request, with the reason."""
    text = "UPDATE request SET refused = :reason WHERE id = :id AND poll_id IS NULL"
    c.execute(text, id=id, reason=plain(reason) or "refused")


def get_requests(c: Connection, ids: Iterable[int]) -> list[RequestRow]:
    """Return the current state of these requests, in the order given; unknown ids are left out."""
    rows = (c.one(f"{_SELECT_REQUEST} WHERE id = :id", id=id_) for id_ in ids)
    return [RequestRow(*row) for row in rows if row is not None]
