"""Metrics of a running service, in the text format of Prometheus (version 0.0.4).

Counters count what this process has committed since it started; a restart begins at 0, as scrapers
expect. A process that only serves shows the counters that the others note in the database. Gauges
are read on request. No label has a URL, a name or other user data.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from tidings import __version__
from tidings.clock import SECOND
from tidings.model.watch.sentinel import WHOLE
from tidings.record import dataclass
from tidings.service.health import cluster
from tidings.service.health.page_troubles import overdue
from tidings.service.health.trouble import HealthReading
from tidings.storage.watches import listed
from tidings.storage.write import charge

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import Unit
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the duration buckets, in seconds."""
Labels = tuple[tuple[str, str], ...]
COUNTS: Final = ("polls", "changes", "sent", "failed", "seconds", "durations", "pollers")
"""What a process notes for those that only serve."""


@dataclass(slots=True)
class Meter:
    """Counts the units of one process. `read_price` returns the price of a poll, or None; a process
    that only serves has no counts of its own to show. `pollers` are the checks that each has taken.
    """

    counts: bool = True
    read_price: Callable[[], float | None] = lambda: None
    polls: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    sent: int = 0
    failed: int = 0
    seconds: float = 0.0
    durations: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    pollers: Counter[str] = field(default_factory=Counter)

    def export(self) -> dict[str, Any]:
        """Return the counts as plain JSON."""
        return {name: getattr(self, name) for name in COUNTS}

    @staticmethod
    def restore(counts: Mapping[str, Any]) -> Meter:
        """Return a meter with exported counts; what an older version did not count is 0."""
        meter = Meter()
        for name, value in counts.items():
            if name in COUNTS:
                setattr(meter, name, Counter(value) if isinstance(value, dict) else value)
        return meter

    def note(self, unit: Unit) -> None:
        """Count the results of a committed unit."""
        if (poll := unit.poll) is not None:
            self.polls[poll.outcome] += 1
            if poll.charged_at is not None:
                took = max(0.0, (poll.finished_at - poll.charged_at) / SECOND)
                self.seconds += took
                self.durations[bisect_left(BUCKETS, took)] += 1
        for row in unit.changes:
            if not row.quiet:
                self.changes[row.found.kinds[0].partition(" ")[0] if row.found.kinds else "other"] += 1
        for result in unit.results:
            self.sent += result.status == "delivered"
            self.failed += result.status != "delivered"

    def write(self, gauges: Gauges) -> str:
        """Return all metrics as text for a scraper."""
        price = self.read_price()
        parts = [
            *_list_counters([((), self)] if self.counts else gauges.others),
            *(_family(name, "gauge", help_, [("", (), value)]) for name, help_, value in gauges.rows()),
            _family(
                "tidings_budget_tokens",
                "gauge",
                "Requests that the budget allows now, by class.",
                [("", (("class", name),), level) for name, level in gauges.tokens.items()],
            ),
            _family(
                "tidings_processes",
                "gauge",
                "Working processes, by role; absent if one process does everything.",
                [("", (("role", name),), count) for name, count in gauges.roles.items()],
            ),
            _family(
                "tidings_delivery_late_seconds",
                "gauge",
                "Time for which the first message that waits has been due.",
                [("", (), gauges.late / SECOND)],
            ),
            _family(
                "tidings_schedule_price",
                "gauge",
                "Minimum value of a check; absent if the policy has no price.",
                [] if price is None else [("", (), price)],
            ),
            _family("tidings_build_info", "gauge", "The version.", [("", (("version", __version__),), 1)]),
        ]
        return "".join(line for part in parts for line in part)


@dataclass(frozen=True, slots=True)
class Gauges:
    """Present values: watched and overdue pages, waiting messages, tokens by class, processes by
    role (none with SQLite), and what each of these has counted.
    """

    watching: listed.Now
    overdue: int
    tokens: Mapping[str, float]
    roles: Mapping[str, int]
    late: Duration
    others: Sequence[tuple[Labels, Meter]] = ()

    def rows(self) -> Iterator[tuple[str, str, int]]:
        """Yield name, help and value of those without labels."""
        yield "tidings_pages", "Watched pages.", self.watching.pages
        yield "tidings_overdue_pages", "Pages whose check is at least two intervals late.", self.overdue
        yield "tidings_pages_in_error", "Pages that cannot be read at the moment.", self.watching.in_error
        yield "tidings_deliveries_pending", "Messages that are not sent yet.", self.watching.pending


def read_gauges(c: Connection, settings: Settings, *, now: Instant) -> Gauges:
    """Return the gauges at an instant (µs, wall time)."""
    reading = HealthReading(c=c, settings=settings, now=now, is_polled=True)
    known = charge.budgets(c)
    shared = c.dialect != "sqlite"
    return Gauges(
        watching=listed.count_now(c),
        overdue=sum(1 for _ in overdue(reading)),
        roles=dict(sorted(cluster.count_roles(cluster.list_members(c)).items())) if shared else {},
        late=cluster.read_queue(c, now).late,
        others=[
            ((("role", role), ("process", name)), Meter.restore(counts))
            for role, name, counts in (cluster.list_counts(c) if shared else ())
        ],
        tokens={name: known[name].refill(now).level for name in sorted(known, key=lambda name: (name != WHOLE, name))},
    )


def _list_counters(counted: Sequence[tuple[Labels, Meter]]) -> Iterator[Iterator[str]]:
    """Yield the counters of some processes, each with its labels."""
    outcomes = ("new", "unchanged", "changed", "error", "quarantined")
    bounds = [*(f"{bound:g}" for bound in BUCKETS), "+Inf"]
    durations: list[tuple[str, Labels, float]] = []
    for own, meter in counted:
        reached = _accumulate(meter.durations)
        durations += [("_bucket", (*own, ("le", le)), count) for le, count in zip(bounds, reached, strict=True)]
        durations += [("_sum", own, meter.seconds), ("_count", own, reached[-1])]
    yield _family(
        "tidings_polls_total",
        "counter",
        "Finished checks, by outcome.",
        [("", (*own, ("outcome", name)), meter.polls[name]) for own, meter in counted for name in outcomes],
    )
    yield _family(
        "tidings_poll_duration_seconds", "histogram", "Time of a check, including the wait for its host.", durations
    )
    yield _family(
        "tidings_changes_total",
        "counter",
        "Found changes, by change type.",
        [
            ("", (*own, ("kind", kind)), count)
            for own, meter in counted
            for kind, count in sorted(meter.changes.items())
        ],
    )
    yield _family(
        "tidings_deliveries_total",
        "counter",
        "Messages that receivers accepted.",
        [("", own, meter.sent) for own, meter in counted],
    )
    yield _family(
        "tidings_delivery_failures_total",
        "counter",
        "Failed attempts to deliver a message.",
        [("", own, meter.failed) for own, meter in counted],
    )
    yield _family(
        "tidings_poller_checks_total",
        "counter",
        "Checks that pollers have taken, by poller.",
        [
            ("", (*own, ("poller", name)), count)
            for own, meter in counted
            for name, count in sorted(meter.pollers.items())
        ],
    )


def _accumulate(counts: Iterable[int]) -> list[int]:
    total, found = 0, []
    for count in counts:
        total += count
        found.append(total)
    return found


def _family(name: str, kind: str, text: str, samples: Iterable[tuple[str, Labels, float]]) -> Iterator[str]:
    """Yield the lines of one metric: its type and help, and its samples (suffix, labels, value)."""
    yield f"# HELP {name} {text}\n# TYPE {name} {kind}\n"
    for suffix, labels, value in samples:
        shown = ",".join(f'{label}="{_escape(text)}"' for label, text in labels)
        yield f"{name}{suffix}{f'{{{shown}}}' if shown else ''} {value:.12g}\n"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
