"""Upper bounds for schedules of complex execution intervals: the exact optimum, its relaxation, and
an offline approximation (001 §3; scheduling §2.3).

x[r, T] is 1 if resource r is probed at T, z[η] if CEI η is captured: max Σ w z under z[η] ≤ Σ_{T ∈
I} x[r(I), T] for every I of η and Σ_r x[r, T] ≤ C_T. For "any m of n" and shares each interval has
a variable y ≤ Σ x of its own, with m·z ≤ Σ y.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from tidings.lab.profiles import Budget, Cei, by_instant
from tidings.record import dataclass


class UnsolvedError(RuntimeError):
    """The solver gave up, for time or other reasons, without a result."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that CEIs can be worth: `value` of a schedule that was found, `bound` that none can
    exceed. They are equal if `is_exact`.
    """

    value: float
    bound: float

    @property
    def is_exact(self) -> bool:
        """Return whether value and bound are equal."""
        return self.bound - self.value <= 1e-6 * max(1.0, abs(self.bound))


@dataclass(frozen=True, slots=True)
class Relaxed:
    """The relaxation's bound, and how much of each CEI it captures (shape: CEIs)."""

    bound: float
    captured: np.ndarray


class _Program:
    """The rows and columns of the program: probes first, then CEIs, then intervals of those that do
    not need all of theirs.
    """

    def __init__(self, ceis: Sequence[Cei], instants: int, budget: Budget) -> None:
        probes = sorted(
            {
                (i.resource, now)
                for one in ceis
                for i in one.intervals
                for now in range(max(i.start, 1), min(i.end, instants) + 1)
            }
        )
        self._probe = {probe: column for column, probe in enumerate(probes)}
        self._first_cei = len(probes)
        self.size = len(probes) + len(ceis)
        self.weights = np.zeros(self.size)
        self._entries: list[tuple[int, int, float]] = []
        self._limits: list[float] = []
        for now, capacity in enumerate(by_instant(budget, instants), start=1):
            self._row([(column, 1.0) for (_, at), column in self._probe.items() if at == now], float(capacity))
        for number, one in enumerate(ceis):
            self._add(one, self._first_cei + number, instants)

    def _add(self, one: Cei, column: int, instants: int) -> None:
        served = [
            [(self._probe[i.resource, now], -1.0) for now in range(max(i.start, 1), min(i.end, instants) + 1)]
            for i in one.intervals
        ]
        if not one.additive and one.threshold == len(one.intervals):
            self.weights[column] = one.weight
            for probes in served:
                self._row([(column, 1.0), *probes], 0.0)
            return
        own = list(range(self.size, self.size + len(served)))
        self.size += len(served)
        share = one.weight / len(served) if one.additive else 0.0
        self.weights = np.concatenate([self.weights, np.full(len(served), share)])
        for mine, probes in zip(own, served, strict=True):
            self._row([(mine, 1.0), *probes], 0.0)
        if one.additive:
            self._row([(column, 1.0)], 0.0)
        else:
            self.weights[column] = one.weight
            self._row([(column, float(one.threshold)), *((mine, -1.0) for mine in own)], 0.0)

    def _row(self, entries: Sequence[tuple[int, float]], limit: float) -> None:
        row = len(self._limits)
        self._entries += [(row, column, value) for column, value in entries]
        self._limits.append(limit)

    def solve(self, *, whole: bool, seconds: float) -> tuple[float, float, np.ndarray]:
        """Return the value that was found, the bound, and the CEIs' variables."""
        rows, columns, values = zip(*self._entries, strict=True) if self._entries else ((), (), ())
        matrix = csr_array((values, (rows, columns)), shape=(len(self._limits), self.size))
        found = milp(
            -self.weights,
            constraints=LinearConstraint(matrix, -np.inf, self._limits),
            bounds=Bounds(0, 1),
            integrality=np.full(self.size, int(whole)),
            options={"time_limit": seconds},
        )
        if found.x is None:
            raise UnsolvedError(found.message)
        bound = -found.fun if found.mip_dual_bound is None else -found.mip_dual_bound
        return -found.fun, bound, found.x[self._first_cei :]


def optimum(ceis: Sequence[Cei], instants: int, budget: Budget, *, seconds: float = 60.0) -> Bound:
    """Return the exact optimum (integer program, HiGHS), or what was found and proven within
    `seconds`. Raise UnsolvedError.

    Args:
        ceis: The CEIs.
        instants: The number of chronons.
        budget: Probes in each.
        seconds: The solver's time limit.
    """
    value, bound, _ = _Program(ceis, instants, budget).solve(whole=True, seconds=seconds)
    return Bound(value, bound)


def relaxation(ceis: Sequence[Cei], instants: int, budget: Budget, *, seconds: float = 600.0) -> Relaxed:
    """Return the bound of the linear relaxation. Raise UnsolvedError.

    Args:
        ceis: The CEIs.
        instants: The number of chronons.
        budget: Probes in each.
        seconds: The solver's time limit.
    """
    value, _, captured = _Program(ceis, instants, budget).solve(whole=False, seconds=seconds)
    return Relaxed(value, captured[: len(ceis)])


def local_ratio(ceis: Sequence[Cei], instants: int, budget: int = 1) -> list[int]:
    """Return CEIs of single chronons that can be captured together, by fractional local ratio over
    the relaxation (001 §3; scheduling §2.3).

    Two conflict if they need probes of different resources at one chronon with a budget of one. A
    conflict-free set is worth at least 1/k of the optimum if no two intervals of a resource
    overlap, k the most intervals of a CEI. Raises ValueError for wider intervals or a larger
    budget.
    """
    if budget != 1 or any(i.length > 1 for one in ceis for i in one.intervals):
        message = "local ratio is for intervals of one chronon and one probe a chronon; wide intervals go to `optimum`"
        raise ValueError(message)
    share = relaxation(ceis, instants, budget).captured
    needs = [{i.start: i.resource for i in one.intervals} for one in ceis]
    own = [
        len(need) == len({(i.start, i.resource) for i in one.intervals}) for need, one in zip(needs, ceis, strict=True)
    ]
    clashes = [
        {
            other
            for other, theirs in enumerate(needs)
            if other != number and any(theirs.get(now, resource) != resource for now, resource in need.items())
        }
        for number, need in enumerate(needs)
    ]
    left = {number: one.weight for number, one in enumerate(ceis) if own[number]}
    stack: list[int] = []
    while left:
        chosen = min(left, key=lambda n: (share[n] + sum(share[m] for m in clashes[n] if m in left), n))
        weight = left.pop(chosen)
        stack.append(chosen)
        for other in clashes[chosen]:
            if other in left:
                left[other] -= weight
                if left[other] <= 1e-12:
                    del left[other]
    taken: list[int] = []
    for number in reversed(stack):
        if not any(other in clashes[number] for other in taken):
            taken.append(number)
    return sorted(taken)
