"""Hints about page changes from outside, and the learned trust in each source. A hint is evidence,
not an order (docs/decisions).

A hint makes its page count as older until the next poll. By how much is learned from polls after
hints, per host and kind of hint, and per page. A source that has proved reliable makes its silence
evidence too. Likewise the dates that servers give their pages are evidence of when a change was,
where a host's dates have proved right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, field, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from tidings.clock import DAY, MINUTE
from tidings.estimation.evidence import Dates, Trust, judge
from tidings.record import dataclass
from tidings.storage.observed.hints import HintRow, TrustRow

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant

SAME: Final[Duration] = 10 * MINUTE
"""Hints of one kind for instants closer together than this, before a poll, count as one."""
MOST_WAITING: Final = 500
"""Most pending hints of one kind for a page."""
MOST_EXTRA: Final[Duration] = 365 * DAY
HALF_LIFE: Final = 30.0
"""Half-life, in days, of what was learned of a source."""
PAGE_HALF_LIFE: Final = 10.0
"""The same for a source and one page: trust returns after a flood of hints."""
LEAST_UNANNOUNCED: Final = 0.05
"""Least share of changes that a source is assumed to miss."""
DATES: Final = "dates"
UPDATED: Final = "updated"
"""The kinds under which trust in a host's dates is stored: Last-Modified, and dates of feed
entries.
"""


@dataclass(slots=True)
class _Known:
    """Learned counts, as of `at`."""

    trust: Trust = Trust()
    at: Instant = 0

    def add(self, at: Instant, half_life: float, *, announced: float, missed: float, false: float, days: float) -> None:
        """Count what a poll showed, once the counts before it have faded.

        Args:
            at: When it was polled (µs).
            half_life: The days after which counts halve.
            announced: Changes preceded by a hint.
            missed: Changes without one.
            false: Hints without a change.
            days: The time that passed.
        """
        faded = self.trust.fade((at - self.at) / DAY, half_life) if self.at else self.trust
        self.trust, self.at = faded.add(announced=announced, missed=missed, false=false, days=days), at


@dataclass(slots=True)
class HintState(_Known):
    """Pending hints of one kind for one page; the last `untold` of them have not reached the
    policy.
    """

    waiting: list[Instant] = field(default_factory=list)
    untold: int = 0


class Drained(NamedTuple):
    """State to store: of sources, of pages, and the kinds to delete, by page."""

    sources: list[TrustRow]
    hints: list[HintRow]
    left: list[tuple[int, str]]


class HintTracker:
    """The hints and trust in memory. `host_of` returns the host of a page."""

    def __init__(self, host_of: Callable[[int], str]) -> None:
        self._host_of = host_of
        self._sources: dict[tuple[str, str], _Known] = {}
        self._pages: dict[int, dict[str, HintState]] = {}
        self._dates: dict[tuple[str, str], Dates] = {}
        self._begun: dict[int, Instant] = {}
        self._unpassed: set[int] = set()
        self._stale_sources: set[tuple[str, str]] = set()
        self._stale_pages: set[int] = set()
        self._left: set[tuple[int, str]] = set()
        self._stale_dates: dict[tuple[str, str], Instant] = {}

    def begin(self, page_id: int, at: Instant) -> None:
        """Record that a poll of a page begins: it will see what earlier hints announce."""
        self._begun[page_id] = at

    def miss(self, page_id: int) -> None:
        """Record that the poll in progress saw nothing: it failed, or the answer was not
        the page.
        """
        self._begun.pop(page_id, None)

    def note(self, page_id: int, kind: str, at: Instant, *, seen: Instant | None = None) -> bool:
        """Record a hint that a page may have changed at an instant; return whether it is news.

        It is not if a poll has begun since (`seen` is the last good poll before all known ones), or
        if an equal hint is pending.

        Args:
            page_id: The page.
            kind: The kind of source.
            at: When the page may have changed (µs).
            seen: The last good poll before all known ones (µs); None if there was none.
        """
        if at <= self._begun.get(page_id, -1 if seen is None else seen):
            return False
        known = self._pages.setdefault(page_id, {}).setdefault(kind, HintState())
        if len(known.waiting) >= MOST_WAITING or any(abs(at - other) < SAME for other in known.waiting):
            return False
        known.waiting.append(at)
        known.untold += 1
        self._unpassed.add(page_id)
        self._stale_pages.add(page_id)
        return True

    def cover(self, page_id: int, kind: str) -> None:
        """Record that a source covers a page: from now on its silence counts, as far as it is
        trusted.
        """
        if kind not in self._pages.setdefault(page_id, {}):
            self._pages[page_id][kind] = HintState()
            self._stale_pages.add(page_id)

    def leave(self, page_id: int, kind: str) -> None:
        """Record that a source no longer covers a page: from now on its silence means nothing."""
        if self._pages.get(page_id, {}).pop(kind, None) is not None:
            self._left.add((page_id, kind))

    def kinds(self, page_id: int) -> frozenset[str]:
        """Return the kinds of hints that have named a page."""
        return frozenset(self._pages.get(page_id, ()))

    def covers(self, page_id: int) -> bool:
        """Return whether any source has named a page, or covers it."""
        return bool(self._pages.get(page_id))

    def pages_of(self, kind: str) -> list[int]:
        """Return the pages that hints of a kind have named, or that its source covers."""
        return [page_id for page_id, kinds in self._pages.items() if kind in kinds]

    def list_unpassed(self) -> set[int]:
        """Return the pages with hints that have not reached the policy; `extra_age` passes
        them on.
        """
        return set(self._unpassed)

    def extra_age(self, page_id: int, rate: float, *, since: Instant) -> Duration:
        """Return by how much the new hints make a page older, and mark them as passed to the
        policy.

        `rate` (changes per day) is the page's estimated rate, `since` its last poll. A hint is
        worth its evidence less that of its source's silence before, as far as ages do not include
        that: the usual noise makes no page older.
        """
        self._unpassed.discard(page_id)
        days = 0.0
        for kind, known in self._pages.get(page_id, {}).items():
            if not known.untold:
                continue
            believed = self._source(page_id, kind).trust.on(known.trust)
            silence = max(0.0, believed.recall - self._sure(page_id, kind, known))
            instants = [since, *sorted(known.waiting)]
            for before, at in list(pairwise(instants))[-known.untold :]:
                days += max(0.0, believed.extra_age(rate) - silence * max(0, at - before) / DAY)
            known.untold = 0
        return round(min(days * DAY, MOST_EXTRA))

    def estimate_unannounced(self, page_id: int) -> float:
        """Return the share of a page's changes that no trusted source reports: 1 if none is
        trusted, on this page and on others.
        """
        share = 1.0
        for kind, known in self._pages.get(page_id, {}).items():
            share *= 1 - self._sure(page_id, kind, known)
        return max(share, LEAST_UNANNOUNCED)

    def judge(self, page_id: int, at: Instant, *, gap: Duration, rate: float, changed: bool) -> float | None:
        """Learn from a good poll that ended at `at`, `gap` after the last one; return the number of
        changes expected before it.

        None where no source has named the page. `rate` (changes per day) was the page's estimated
        rate. Hints that came after the poll began stay pending, and are passed on again.

        Args:
            page_id: The page.
            at: When the poll ended (µs).
            gap: The time since the poll before (µs).
            rate: The estimated changes per day before the poll.
            changed: Whether it found a change.
        """
        kinds = self._pages.get(page_id)
        if not kinds:
            return None
        days = gap / DAY
        before = self._spend(page_id)
        believed = [(self._source(page_id, kind).trust.on(kinds[kind].trust), count) for kind, count in before.items()]
        seen = judge(rate, days, believed, changed=changed)
        for (kind, count), announced in zip(before.items(), seen.announced, strict=True):
            news = {
                "announced": announced,
                "missed": seen.changes - announced,
                "false": count - announced,
                "days": days,
            }
            self._source(page_id, kind).add(at, HALF_LIFE, **news)
            kinds[kind].add(at, PAGE_HALF_LIFE, **news)
            self._stale_sources.add((self._host_of(page_id), kind))
        self._stale_pages.add(page_id)
        return seen.changes

    def pass_over(self, page_id: int) -> None:
        """Record a poll from which nothing is learned; it settles the hints before it all
        the same.
        """
        if any(self._spend(page_id).values()):
            self._stale_pages.add(page_id)

    def _spend(self, page_id: int) -> dict[str, int]:
        """Remove the hints that a poll has answered; return their number by kind. Those that came
        after it began are passed on again.
        """
        begun, spent = self._begun.get(page_id), {}
        self._unpassed.discard(page_id)
        for kind, known in self._pages.get(page_id, {}).items():
            left = [] if begun is None else [at for at in known.waiting if at > begun]
            spent[kind] = len(known.waiting) - len(left)
            known.waiting, known.untold = left, len(left)
            if left:
                self._unpassed.add(page_id)
        return spent

    def _sure(self, page_id: int, kind: str, known: HintState) -> float:
        return min(known.trust.sure, self._source(page_id, kind).trust.sure)

    def _source(self, page_id: int, kind: str) -> _Known:
        return self._sources.setdefault((self._host_of(page_id), kind), _Known())

    def date(self, host: str, at: Instant, *, date_moved: bool, content_moved: bool, kind: str = DATES) -> None:
        """Learn from a poll of a page with a date whose previous poll had a date too.

        Args:
            host: The host.
            at: When the poll ended (µs).
            date_moved: Whether the page's date is later than before.
            content_moved: Whether the page changed.
            kind: The kind of date.
        """
        known = self._dates.get((host, kind), Dates())
        self._dates[host, kind] = known.observe(date_moved=date_moved, content_moved=content_moved)
        self._stale_dates[host, kind] = at

    def dates_are_exact(self, host: str, kind: str = DATES) -> bool:
        """Return whether the dates of a host's pages say when they changed."""
        known = self._dates.get((host, kind))
        return known is not None and known.are_exact

    def load(self, sources: Iterable[TrustRow], hints: Iterable[HintRow]) -> None:
        """Restore stored state; unreadable state is learned again. All pending hints are passed to
        the policy again.
        """
        for row in sources:
            if row.kind in {DATES, UPDATED}:
                self._dates[row.host, row.kind] = _read(Dates, row.state)
            else:
                self._sources[row.host, row.kind] = _Known(_read(Trust, row.state), row.at)
        for hint in hints:
            waiting = list(hint.waiting)
            known = HintState(_read(Trust, hint.state), hint.at, waiting, len(waiting))
            self._pages.setdefault(hint.page_id, {})[hint.kind] = known
            if waiting:
                self._unpassed.add(hint.page_id)

    def take_unstored(self, page_ids: Iterable[int]) -> list[HintRow]:
        """Return the unstored state of these pages; it counts as stored unless `owe` takes
        it back.
        """
        stale = [page_id for page_id in page_ids if page_id in self._stale_pages]
        self._stale_pages.difference_update(stale)
        return [row for page_id in stale for row in self._rows(page_id)]

    def drain(self) -> Drained:
        """Return all state changed since the last call, to be stored; it counts as stored unless
        `owe` takes it back.
        """
        sources = [
            TrustRow(host, kind, _to_plain(known.trust), known.at)
            for host, kind in sorted(self._stale_sources)
            for known in (self._sources[host, kind],)
        ]
        dates = [TrustRow(*key, _to_plain(self._dates[key]), at) for key, at in sorted(self._stale_dates.items())]
        hints = self.take_unstored(sorted(self._stale_pages))
        self._stale_sources.clear()
        self._stale_dates.clear()
        left = sorted((page_id, kind) for page_id, kind in self._left if kind not in self._pages.get(page_id, {}))
        self._left.clear()
        return Drained([*sources, *dates], hints, left)

    def owe(self, drained: Drained) -> None:
        """Take back state that could not be stored; it is stored with the next."""
        for row in drained.sources:
            if row.kind in {DATES, UPDATED}:
                self._stale_dates.setdefault((row.host, row.kind), row.at)
            else:
                self._stale_sources.add((row.host, row.kind))
        self._stale_pages.update(row.page_id for row in drained.hints)
        self._left.update(drained.left)

    def _rows(self, page_id: int) -> Iterator[HintRow]:
        for kind, known in self._pages.get(page_id, {}).items():
            yield HintRow(page_id, kind, tuple(known.waiting), _to_plain(known.trust), known.at)


T = TypeVar("T", Dates, Trust)
_STORED_AS: Final = {"announced": "told"}
"""Fields that have another name in stored counts."""


def _to_plain(counts: Dates | Trust) -> dict[str, Any]:
    return {_STORED_AS.get(name, name): value for name, value in asdict(counts).items()}


def _read(kind: type[T], state: Mapping[str, Any]) -> T:
    """Parse stored counts; return empty ones if unreadable."""
    counts = {each.name: state.get(_STORED_AS.get(each.name, each.name)) for each in fields(kind)}
    numbers = {name: float(n) for name, n in counts.items() if isinstance(n, int | float) and 0 <= n < _NO_COUNT}
    return kind(**numbers) if len(numbers) == len(counts) else kind()


_NO_COUNT: Final = 1e12
