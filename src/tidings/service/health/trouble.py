"""Health: what keeps a watch from seeing or reporting changes, in the same words for every command.

`service/health/sources.py` decides what a trouble is; `list`, `show`, `check`, `doctor` and
`/healthz` only print it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from tidings.record import dataclass
from tidings.service.show.records import problem_record, rfc3339

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tidings.model.interval import Instant
    from tidings.service.show.records import Record

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
