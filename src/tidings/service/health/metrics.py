"""Metrics of a running service, in the text format of Prometheus (version 0.0.4).

Counters count what this process has committed since it started; a restart begins at 0, as scrapers
expect. Gauges are read on request. No label has a URL, a name or other user data.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final

from tidings import __version__
from tidings.clock import SECOND
from tidings.model.watch.sentinel import WHOLE
from tidings.record import dataclass
from tidings.service.health import cluster
from tidings.service.health.page_troubles import overdue
from tidings.service.health.reading import HealthReading
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


@dataclass(slots=True)
class Meter:
    """Counts the units of one process. `read_price` returns the price of a poll, or None; a process
    that only serves has no counts to show.
    """

    counts: bool = True
    read_price: Callable[[], float | None] = lambda: None
    polls: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    sent: int = 0
    failed: int = 0
    seconds: float = 0.0
    durations: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))

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
        reached = _accumulate(self.durations)
        bounds = [*(f"{bound:g}" for bound in BUCKETS), "+Inf"]
        price = self.read_price()
        outcomes = ("new", "unchanged", "changed", "error", "quarantined")
        counters = [
            _family(
                "tidings_polls_total",
                "counter",
                "Finished checks, by outcome.",
                [("", (("outcome", name),), self.polls[name]) for name in outcomes],
            ),
            _family(
                "tidings_poll_duration_seconds",
                "histogram",
                "Time of a check, including the wait for its host.",
                [
                    *(("_bucket", (("le", le),), count) for le, count in zip(bounds, reached, strict=True)),
                    ("_sum", (), self.seconds),
                    ("_count", (), reached[-1]),
                ],
            ),
            _family(
                "tidings_changes_total",
                "counter",
                "Found changes, by change type.",
                [("", (("kind", kind),), count) for kind, count in sorted(self.changes.items())],
            ),
            _family("tidings_deliveries_total", "counter", "Messages that receivers accepted.", [("", (), self.sent)]),
            _family(
                "tidings_delivery_failures_total",
                "counter",
                "Failed attempts to deliver a message.",
                [("", (), self.failed)],
            ),
        ]
        parts = [
            *(counters if self.counts else ()),
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
    role (none with SQLite).
    """

    watching: listed.Now
    overdue: int
    tokens: Mapping[str, float]
    roles: Mapping[str, int]
    late: Duration

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
        tokens={name: known[name].refill(now).level for name in sorted(known, key=lambda name: (name != WHOLE, name))},
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
