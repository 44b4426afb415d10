"""Health: what keeps a watch from seeing or reporting changes, in the same words for every command;
and the stored state of the watched pages and their sentinels from which it is determined, read once
for all checks.

`service/health/sources.py` decides what a trouble is; `list`, `show`, `check`, `doctor` and
`/healthz` only print it.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from tidings.record import dataclass
from tidings.service.show.records import problem_record, rfc3339
from tidings.storage.observed import pages
from tidings.storage.watches import sentinels, subscriptions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tidings.model.interval import Instant
    from tidings.model.observed.page import PageIdentity, PageState
    from tidings.model.watch.sentinel import Sentinel
    from tidings.service.show.records import Record
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.storage.watches.subscriptions import SubscriptionRow

Severity = Literal["note", "warn", "fail"]
"""`note`: worth knowing, nothing is lost yet; `warn`: changes may be missed or not reported;
`fail`: they are.
"""
_RANKS: Final[Mapping[Severity, int]] = {"note": 0, "warn": 1, "fail": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One problem. `words` describe it in full, `brief` in one or two words for a column, `mend` is
    the command that fixes it.

    `since` is when it began (None: unknown), `sentinels` the names of the sentinels concerned,
    `is_general` whether it concerns all.
    """

    brief: str
    words: str
    mend: str = ""
    severity: Severity = "warn"
    since: Instant | None = None
    sentinels: tuple[str, ...] = ()
    is_general: bool = False

    @property
    def line(self) -> str:
        """Return the words followed by the fix."""
        return f"{self.words}  (fix: {self.mend})" if self.mend else self.words

    def record(self, *, sentinel: str = "") -> Record:
        """Return the trouble as a record, of `sentinel` if given."""
        details: dict[str, Any] = {
            "trouble": self.brief,
            "severity": self.severity,
            "since": rfc3339(self.since),
            "mend": self.mend,
            "sentinels": list(self.sentinels),
        }
        return problem_record(self.words, where=sentinel or ", ".join(self.sentinels[:1]), details=details)


@dataclass(frozen=True)
class Health:
    """All troubles, the worst first."""

    troubles: tuple[Trouble, ...] = ()

    @classmethod
    def of_all(cls, found: Collection[Trouble]) -> Health:
        """Return the health with these troubles."""
        return cls(tuple(sorted(found, key=lambda trouble: -_RANKS[trouble.severity])))

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Return the positions of each sentinel's troubles; general ones are under a name that no
        sentinel has.
        """
        found: dict[str, list[int]] = {"": []}
        for place, trouble in enumerate(self.troubles):
            for name in ("",) if trouble.is_general else dict.fromkeys(trouble.sentinels):
                found.setdefault(name, []).append(place)
        return found

    def of(self, name: str) -> Health:
        """Return the health of one sentinel: its own troubles and the general ones."""
        places = sorted(self._places[""] + self._places.get(name, []))
        return Health(tuple(self.troubles[place] for place in places))

    def of_any(self, names: Collection[str]) -> Health:
        """Return the health of some sentinels together."""
        wanted = set(names)
        return Health(tuple(t for t in self.troubles if t.is_general or not wanted.isdisjoint(t.sentinels)))

    @property
    def own(self) -> tuple[Trouble, ...]:
        """Return the troubles of single sentinels, not the general ones."""
        return tuple(t for t in self.troubles if not t.is_general)

    @property
    def status(self) -> Severity | Literal["ok"]:
        """Return the worst severity; `ok` if nothing is worse than a note."""
        worst: Severity = self.troubles[0].severity if self.troubles else "note"
        return "ok" if worst == "note" else worst


@dataclass(frozen=True, kw_only=True)
class HealthReading:
    """One consistent state of the database, as the owner `viewer` sees it, None for one who sees
    all: what only others watch is no trouble of theirs, and no sentence names it. `now` is wall
    time in µs, `is_polled` whether a process polls now.
    """

    c: Connection
    settings: Settings
    now: Instant
    is_polled: bool
    viewer: int | None = None

    @cached_property
    def population(self) -> list[tuple[PageIdentity, PageState]]:
        """Return the watched pages."""
        return pages.population(self.c)

    @cached_property
    def ailing(self) -> list[tuple[PageIdentity, PageState]]:
        """Return the watched pages with something to report."""
        found = pages.ailing(self.c)
        return found if self.viewer is None else [one for one in found if self.names(one[1].page_id)]

    @cached_property
    def identities(self) -> dict[int, PageIdentity]:
        """Return the identity of each watched page."""
        return {state.page_id: identity for identity, state in self.population}

    @cached_property
    def owners(self) -> dict[int, SentinelRow]:
        """Return the sentinels that have not ended and that the viewer sees."""
        return {row.id: row for row in sentinels.listing(self.c, viewer=self.viewer)}

    @cached_property
    def subscriptions(self) -> list[SubscriptionRow]:
        """Return the active subscriptions of these sentinels."""
        return [sub for sub in subscriptions.listing(self.c, active=True) if sub.sentinel_id in self.owners]

    @cached_property
    def remarkable(self) -> list[SubscriptionRow]:
        """Return the active subscriptions of these sentinels with something to report."""
        found = subscriptions.remarkable(self.c)
        return [sub for sub in found if sub.sentinel_id in self.owners]

    @cached_property
    def _names(self) -> dict[int, tuple[str, ...]]:
        found: dict[int, dict[str, None]] = {}
        for sub in self.subscriptions:
            found.setdefault(sub.page_id, {})[self.owners[sub.sentinel_id].name] = None
        return {page_id: tuple(names) for page_id, names in found.items()}

    def names(self, page_id: int) -> tuple[str, ...]:
        """Return the names of the sentinels that watch a page."""
        return self._names.get(page_id, ())

    @cached_property
    def _meanings(self) -> dict[str, Sentinel | None]:
        return {}

    def timing(self, owner: SentinelRow) -> Sentinel | None:
        """Return a sentinel with the same timing as this one; None if its text has no timing or
        cannot be read.

        Sentinels that differ only in name and first page are parsed once: ten thousand alike take
        no longer than one.
        """
        clauses = owner.text.partition("\n")[2] or owner.text
        if _OF_TIMES.search(clauses) is None:
            return None
        if clauses not in self._meanings:
            from tidings.service.health.intents import (
                meaning_of,
            )  # it loads the grammar, and most sentinels leave times to the policy

            self._meanings[clauses] = meaning_of(owner)
        return self._meanings[clauses]


_OF_TIMES = re.compile(r"\b(Fetch|During|Then)\b")
"""Occurs in stored texts that say when pages are polled."""
