"""Charges: a request is paid for durably before it leaves (contracts §1).

Budgets are token buckets: one for all polls together, and one for each class within it. A poll
takes from both; one of a collection also from the share of its owner, who may have one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from tidings.errors import BudgetError, UnitError
from tidings.model.interval import Duration, Instant
from tidings.model.observed.unit import Charged, Grant
from tidings.model.watch.sentinel import SCHEME, WHOLE, is_listing, share_of
from tidings.record import replace
from tidings.scheduling.budget import TokenBucket, affords, pay
from tidings.storage.db import lock
from tidings.storage.db.connection import Connection
from tidings.storage.observed import hosts, polls

MOST_GRANTS = 64
"""Grants in one charge: the most that a crash wastes."""


_SELECT = "SELECT name, rate_per_second, burst, level, at FROM budget"
_SPEND = "UPDATE budget SET level = :level, at = :at WHERE name = :name"
_SET = (
    "INSERT INTO budget (name, rate_per_second, burst, level, at) VALUES (:name, :rate_per_second, :burst, :level, :at)"
    " ON CONFLICT (name) DO UPDATE SET rate_per_second = excluded.rate_per_second, burst = excluded.burst, level = excluded.level,"
    " at = excluded.at"
)


def charge(
    c: Connection, grants: Sequence[Grant], *, at: Instant, epoch: int, in_turn: bool = False, starts: bool = True
) -> list[Charged | None]:
    """Pay for grants, in order: an open poll row, tokens of the total and of its class, and the
    start of its host for each.

    None stands for a grant that one of its budgets refuses. Raises `StaleEpochError` (nothing
    is written) and `UnitError` for more than 64 grants or an unknown class.

    Args:
        grants: At most 64.
        at: The instant of the step (µs).
        epoch: The poller's epoch.
        in_turn: Whether grants after a refused one wait too, so that cheap polls do not starve an
            expensive one.
        starts: Whether the requests leave now; False: each claims its turn (`claim_turn`).
    """
    if len(grants) > MOST_GRANTS:
        raise UnitError(f"{len(grants)} grants in one charge; at most {MOST_GRANTS} may be lost by a crash")
    lock.check_epoch(c, epoch)
    paying = {name: _list_paying(c, name) for name in dict.fromkeys(grant.budget for grant in grants)}
    buckets = {name: _bucket(c, name, at) for name in dict.fromkeys((WHOLE, *chain.from_iterable(paying.values())))}
    asked = [(paying[grant.budget], grant.cost) for grant in grants]
    are_paid, buckets = pay(buckets, asked, now=at, in_turn=in_turn)
    paid = [grant for grant, is_paid in zip(grants, are_paid, strict=True) if is_paid]
    ids = polls.begin(c, paid, at=at, epoch=epoch)
    drawn = dict.fromkeys(name for grant in paid for name in paying[grant.budget])
    _spend(c, {name: buckets[name] for name in drawn})
    if starts:
        hosts.start(c, list(dict.fromkeys(grant.host for grant in paid)), at)
    charged = iter(
        [Charged(poll_id=id_, grant=grant, at=at, epoch=epoch) for id_, grant in zip(ids, paid, strict=True)]
    )
    return [next(charged) if is_paid else None for is_paid in are_paid]


def charge_in_turns(
    c: Connection, grants: Sequence[Grant], gaps: Mapping[str, Duration], *, at: Instant, epoch: int
) -> tuple[list[Charged | None], hosts.Refusals]:
    """Pay for grants as `charge` does in turn, unless another process has just asked their host (a
    trial, or a planner whose page led there), or was asked for a pause there; return also these.

    Args:
        grants: At most 64.
        gaps: The least time between two requests to each host (µs).
        at: The instant of the step (µs).
        epoch: The planner's epoch.
    """
    refused = hosts.find_refusals(c, gaps, at)
    names = refused.names
    paid = iter(charge(c, [grant for grant in grants if grant.host not in names], at=at, epoch=epoch, in_turn=True))
    return [None if grant.host in names else next(paid) for grant in grants], refused


def extra(
    c: Connection,
    page_id: int,
    host: str,
    poll_id: int,
    *,
    at: Instant,
    epoch: int,
    cost: float = 1.0,
    starts: bool = True,
) -> None:
    """Pay for one more request of an open poll: robots, retry, redirect, frame or confirming fetch
    (contracts §6).

    Raises `BudgetError` if no tokens are left now, or none of the poll's class, `StaleEpochError`,
    `UnitError` if the poll is not open.

    Args:
        page_id: The page of the poll.
        host: The host that is asked.
        poll_id: The open poll.
        at: When (µs).
        epoch: The poller's epoch.
        cost: In polls.
        starts: Whether it leaves now; False: it claims its turn (`claim_turn`).
    """
    lock.check_epoch(c, epoch)
    name = c.value(
        "SELECT budget FROM poll WHERE id = :poll_id AND page_id = :page_id AND outcome IS NULL",
        poll_id=poll_id,
        page_id=page_id,
    )
    if name is None:
        raise UnitError(f"poll {poll_id} is not an open poll of page {page_id}; nothing can be charged to it")
    _draw(c, name, cost, at)
    c.execute(
        "UPDATE poll SET cost = cost + :cost, requests = requests + 1 WHERE id = :poll_id",
        cost=float(cost),
        poll_id=poll_id,
    )
    if starts:
        hosts.start(c, [host], at)


def claim_turn(c: Connection, host: str, gap: Duration, at: Instant, *, epoch: int) -> tuple[Instant, Instant]:
    """Store the next turn of a planner to ask a host that others ask too, and return it and the end
    of the host's pause; see `hosts.claim_turn`. Raises `StaleEpochError`.

    Args:
        host: The host.
        gap: The time between two turns (µs).
        at: The earliest instant (µs).
        epoch: The planner's epoch.
    """
    lock.check_epoch(c, epoch)
    return hosts.claim_turn(c, host, gap, at)


def bare(c: Connection, budget: str, *, at: Instant, cost: float = 1.0) -> None:
    """Pay for a request that belongs to no poll and whose result is not stored (`tidings test`,
    contracts §2). It claims its turn (`hosts.claim_turn`).

    Raises `BudgetError` if no tokens are left now, or none of the class.

    Args:
        budget: The name of the class, `default` for none.
        at: When (µs).
        cost: In polls.
    """
    _draw(c, budget, cost, at)


def set_budget(c: Connection, name: str, *, rate_per_second: float, burst: float, at: Instant) -> None:
    """Create or change a class. A new bucket is full; a known one keeps its level, up to the new
    burst.

    Args:
        name: The name of the class.
        rate_per_second: Tokens gained, in polls a second.
        burst: The capacity, in polls.
        at: When (µs).
    """
    row = c.one(f"{_SELECT} WHERE name = :name", name=name)
    known = None if row is None else _read(*row[1:]).refill(at)
    c.execute(
        _SET,
        name=name,
        rate_per_second=float(rate_per_second),
        burst=float(burst),
        level=float(burst if known is None else min(known.level, burst)),
        at=at if known is None else known.at,
    )


def set_budgets(c: Connection, wanted: Mapping[str, tuple[float, float]], *, at: Instant) -> None:
    """Create or change the classes (rate a second, burst) by name; others are deleted, except those
    of collections.
    """
    for gone in {name for name in budgets(c) if not is_listing(name)} - wanted.keys():
        c.execute("DELETE FROM budget WHERE name = :name", name=gone)
    for name, (rate, burst) in wanted.items():
        set_budget(c, name, rate_per_second=rate, burst=burst, at=at)


def touch(c: Connection, *, at: Instant, epoch: int) -> None:
    """Refill all classes as of an instant, which stores the clock's reading. Raises
    `StaleEpochError`.
    """
    lock.check_epoch(c, epoch)
    _spend(c, {name: bucket.refill(at) for name, bucket in budgets(c).items()})


def put_forward(c: Connection, by: Duration, *, at: Instant, epoch: int) -> None:
    """Keep the levels that all classes had at `at` after the clock was put forward by `by`. Raises
    `StaleEpochError`.

    Args:
        epoch: The poller's epoch.
    """
    lock.check_epoch(c, epoch)
    full = {name: bucket.refill(at) for name, bucket in budgets(c).items()}
    _spend(c, {name: replace(bucket, at=bucket.at + by) for name, bucket in full.items()})


def pays(c: Connection, grant: Grant, *, at: Instant) -> bool:
    """Return whether the budgets of a grant can pay for it at `at`, if nothing else is charged
    until then.
    """
    return all(affords(_bucket(c, name, at).level, grant.cost) for name in _list_paying(c, grant.budget))


def budgets(c: Connection) -> dict[str, TokenBucket]:
    """Return all classes as last written, by name."""
    return {row[0]: _read(*row[1:]) for row in c.rows(f"{_SELECT} ORDER BY name")}


def payable(c: Connection, *, at: Instant) -> dict[str, TokenBucket]:
    """Return what each class can pay at an instant: a collection no more than its owner's share."""
    full = {name: bucket.refill(at) for name, bucket in budgets(c).items()}
    for name, own in list(full.items()):
        for other in _list_paying(c, name)[2:]:
            share = full[other]
            full[name] = replace(own, level=min(own.level, share.level), rate=min(own.rate, share.rate))
    return full


def _list_paying(c: Connection, name: str) -> tuple[str, ...]:
    """Return the budgets that pay for a poll of a class: the total, the class, and for a collection
    the share of its owner.
    """
    if not is_listing(name):
        return tuple(dict.fromkeys((WHOLE, name)))
    owner_id = c.value("SELECT owner_id FROM sentinel WHERE name = :name AND dropped = 0", name=name[len(SCHEME) :])
    share = share_of(owner_id or 0)
    has_share = c.value("SELECT count(*) FROM budget WHERE name = :name", name=share)
    return (WHOLE, name, share) if has_share else (WHOLE, name)


def _read(rate: float, burst: float, level: float, at: Instant) -> TokenBucket:
    return TokenBucket(rate=rate, burst=burst, level=min(level, burst), at=at)


def _bucket(c: Connection, name: str, at: Instant) -> TokenBucket:
    row = c.one(f"{_SELECT} WHERE name = :name", name=name)
    if row is None:
        raise UnitError(f"there is no budget {name}; it must be set before anything is charged to it")
    return _read(*row[1:]).refill(at)


def _draw(c: Connection, name: str, cost: float, at: Instant) -> None:
    """Take tokens of all budgets that pay for a class. Raise `BudgetError` and take nothing if one
    lacks them.
    """
    left = {each: _bucket(c, each, at).take(cost, now=at) for each in _list_paying(c, name)}
    for each, bucket in left.items():
        if bucket is None:
            setting = "budget.polls_per_day and budget.burst set" if each == WHOLE else "budget.classes sets"
            raise BudgetError(f"the budget {each} does not allow another request now; {setting} it")
    _spend(c, {each: bucket for each, bucket in left.items() if bucket is not None})


def _spend(c: Connection, buckets: Mapping[str, TokenBucket]) -> None:
    c.many(_SPEND, [{"name": name, "level": bucket.level, "at": bucket.at} for name, bucket in buckets.items()])
