"""Charges: a request is paid for before it leaves, durably (contracts §1).

Budgets are token buckets: one for all polls together, and one for each class within it. A poll takes from both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tidings.errors import BudgetError, UnitError
from tidings.model.interval import Duration, Instant
from tidings.model.unit import Charged, Grant
from tidings.model.weight import WHOLE
from tidings.scheduling.budget import affords
from tidings.storage.db.connection import Connection
from tidings.storage.observed import hosts, polls
from tidings.storage.write import leases

MOST_GRANTS = 64
"""Grants in one charge: what a crash wastes at most."""


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """A token bucket: `level` tokens at the instant `at`, filled by `rate_per_second` up to `burst`."""

    name: str
    rate_per_second: float
    burst: float
    level: float
    at: Instant

    def refilled(self, at: Instant) -> BudgetRow:
        """Return the bucket as it stands at `at`; time that runs back adds nothing."""
        elapsed = max(0, at - self.at) / 1_000_000
        return replace(self, level=min(self.burst, self.level + elapsed * self.rate_per_second), at=max(at, self.at))


_SELECT = "SELECT name, rate_per_second, burst, level, at FROM budget"
_SPEND = "UPDATE budget SET level = :level, at = :at WHERE name = :name"
_SET = (
    "INSERT INTO budget (name, rate_per_second, burst, level, at) VALUES (:name, :rate_per_second, :burst, :level, :at)"
    " ON CONFLICT (name) DO UPDATE SET rate_per_second = excluded.rate_per_second, burst = excluded.burst, level = excluded.level,"
    " at = excluded.at"
)


def charge(
    c: Connection, grants: Sequence[Grant], *, at: Instant, epoch: int, in_turn: bool = False
) -> list[Charged | None]:
    """Pay for grants, in their order: an open poll row, tokens of all and of its class, and the start of its host for each.

    None stands for a grant that one of the two does not allow; `in_turn` lets those after it wait too, so that a dear poll is not starved
    by cheap ones. Raises `StaleEpochError` (nothing is written) and `UnitError` for more
    than 64 grants or a class that was never set.
    """
    if len(grants) > MOST_GRANTS:
        raise UnitError(f"{len(grants)} grants in one charge; at most {MOST_GRANTS} may be lost by a crash")
    leases.check_epoch(c, epoch)
    buckets = {name: _bucket(c, name, at) for name in dict.fromkeys((WHOLE, *(grant.budget for grant in grants)))}
    levels = {name: bucket.level for name, bucket in buckets.items()}
    paid: list[Grant] = []
    places: list[int | None] = []
    spent: set[str] = set()
    for grant in grants:
        pays = {WHOLE, grant.budget}
        lacking = {name for name in pays if name in spent or not affords(levels[name], grant.cost)}
        places.append(None if lacking else len(paid))
        if lacking and in_turn:
            spent |= lacking
        if not lacking:
            levels.update({name: max(0.0, levels[name] - grant.cost) for name in pays})
            paid.append(grant)
    ids = polls.begin(c, paid, at=at, epoch=epoch)
    drawn = dict.fromkeys((WHOLE, *(grant.budget for grant in paid))) if paid else {}
    _spend(c, [replace(buckets[name], level=levels[name]) for name in drawn])
    hosts.start(c, list(dict.fromkeys(grant.host for grant in paid)), at)
    charged = [Charged(poll_id=id_, grant=grant, at=at, epoch=epoch) for id_, grant in zip(ids, paid, strict=True)]
    return [None if place is None else charged[place] for place in places]


def extra(c: Connection, page_id: int, host: str, poll_id: int, *, at: Instant, epoch: int, cost: float = 1.0) -> None:
    """Pay for one more request of an open poll: robots, retry, redirect, frame or confirming fetch (contracts §6).

    Raises `BudgetError` if there are no tokens left now, or none of the class of the poll, `StaleEpochError`, `UnitError` if the poll is not open.
    """
    leases.check_epoch(c, epoch)
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
    hosts.start(c, [host], at)


def bare(c: Connection, budget: str, host: str, *, at: Instant, epoch: int, cost: float = 1.0) -> None:
    """Pay for a request that belongs to no poll and of which nothing is stored (`tidings test`, contracts §2).

    Raises `BudgetError` if there are no tokens left now, or none of the class, `StaleEpochError`.
    """
    leases.check_epoch(c, epoch)
    _draw(c, budget, cost, at)
    hosts.start(c, [host], at)


def set_budget(c: Connection, name: str, *, rate_per_second: float, burst: float, at: Instant) -> None:
    """Make or change a class. A new bucket is full; a known one keeps its level, as far as the new burst allows."""
    row = c.one(f"{_SELECT} WHERE name = :name", name=name)
    known = None if row is None else BudgetRow(*row).refilled(at)
    c.execute(
        _SET,
        name=name,
        rate_per_second=float(rate_per_second),
        burst=float(burst),
        level=float(burst if known is None else min(known.level, burst)),
        at=at if known is None else known.at,
    )


def set_budgets(c: Connection, wanted: Mapping[str, tuple[float, float]], *, at: Instant) -> None:
    """Make or change the classes (rate a second, burst) by name; those that are not wanted any more go."""
    for gone in {row.name for row in budgets(c)} - wanted.keys():
        c.execute("DELETE FROM budget WHERE name = :name", name=gone)
    for name, (rate, burst) in wanted.items():
        set_budget(c, name, rate_per_second=rate, burst=burst, at=at)


def touch(c: Connection, *, at: Instant, epoch: int) -> None:
    """Fill all classes up as of an instant, so that it is stored that the clock has said it. Raises `StaleEpochError`."""
    leases.check_epoch(c, epoch)
    _spend(c, [row.refilled(at) for row in budgets(c)])


def put_forward(c: Connection, by: Duration, *, at: Instant, epoch: int) -> None:
    """Let all classes stand after the clock was put forward by so much as they stood at `at`, before. Raises `StaleEpochError`."""
    leases.check_epoch(c, epoch)
    full = [row.refilled(at) for row in budgets(c)]
    _spend(c, [replace(row, at=row.at + by) for row in full])


def pays(c: Connection, grant: Grant, *, at: Instant) -> bool:
    """Return whether the budget of all polls and that of a grant's class pay for it at `at`, if nothing else is charged until then."""
    return all(affords(_bucket(c, name, at).level, grant.cost) for name in dict.fromkeys((WHOLE, grant.budget)))


def budgets(c: Connection) -> list[BudgetRow]:
    """Return all classes as they were last written."""
    return [BudgetRow(*row) for row in c.rows(f"{_SELECT} ORDER BY name")]


def _bucket(c: Connection, name: str, at: Instant) -> BudgetRow:
    row = c.one(f"{_SELECT} WHERE name = :name", name=name)
    if row is None:
        raise UnitError(f"there is no budget {name}; it must be set before anything is charged to it")
    return BudgetRow(*row).refilled(at)


def _draw(c: Connection, name: str, cost: float, at: Instant) -> None:
    """Take tokens of all and of a class. Raises `BudgetError`; then nothing is taken."""
    buckets = [_bucket(c, each, at) for each in dict.fromkeys((WHOLE, name))]
    for bucket in buckets:
        if not affords(bucket.level, cost):
            setting = "budget.polls_per_day and budget.burst set" if bucket.name == WHOLE else "budget.classes sets"
            raise BudgetError(f"the budget {bucket.name} does not allow another request now; {setting} it")
    _spend(c, [replace(bucket, level=max(0.0, bucket.level - cost)) for bucket in buckets])


def _spend(c: Connection, buckets: Sequence[BudgetRow]) -> None:
    c.many(_SPEND, [{"name": bucket.name, "level": bucket.level, "at": bucket.at} for bucket in buckets])
