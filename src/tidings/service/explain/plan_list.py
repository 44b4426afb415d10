"""Plan list: the next polls of all sentinels in order of time, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tidings.service.explain.explain_sentinel import Prospect, list_polls
from tidings.service.plan import learned_worth
from tidings.service.show.records import rfc3339
from tidings.service.watch import by_name
from tidings.storage.observed import estimates, pages
from tidings.storage.watches import sentinels

if TYPE_CHECKING:
    from collections.abc import Collection

    from tidings.model.interval import Instant
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.observed.pages import Expected


class ComingPoll(NamedTuple):
    """A coming poll of a page for a sentinel; `at` is None if it does not depend on time alone.
    `learned` is the policy's memory of the page, `taught` the stored worth of its changes to the
    sentinel.
    """

    sentinel: str
    page_id: int
    prospect: Prospect
    learned: Mapping[str, Any]
    taught: str = ""

    def record(self, *, expert: bool) -> dict[str, Any]:
        """Return the JSON record."""
        known = {name: value for name, value in self.learned.items() if name in {"rate", "period", "saturated"}}
        return {
            "record": "plan",
            "kind": "look",
            "sentinel": self.sentinel,
            "page": str(self.page_id),
            "url": self.prospect.url,
            "at": rfc3339(self.prospect.at),
            "reason": self.prospect.why,
            **({"learned": {**known, **learned_worth.record(self.taught)}} if expert else {}),
        }

    @property
    def changes_a_day(self) -> float | None:
        """Return the expected changes per day, None if no rate is known."""
        rate = self.learned.get("rate")
        if not isinstance(rate, Mapping) or not rate.get("scale"):
            return None
        return float(rate["shape"]) / float(rate["scale"])


def list_coming_polls(
    connection: Connection,
    settings: Settings,
    *,
    names: Collection[str],
    now: Instant,
    viewer: int | None = None,
    turns: Mapping[int, Instant] | None = None,
) -> list[ComingPoll]:
    """Return the next polls of these sentinels (of all, if none is named), the soonest first, those
    without a time last.

    Raises `UnknownNameError`.

    Args:
        settings: The settings in use.
        names: The sentinels; none for all.
        now: The present (µs).
        viewer: The owner who reads; None for one who sees all. Unused if sentinels are named.
        turns: When a turn-based policy would poll each page (µs), as for `list_polls`.
    """
    if names:
        rows = [by_name.find(connection, name) for name in names]
    else:
        rows = sentinels.listing(connection, viewer=viewer, is_brief=True)
    learned = estimates.load_all(connection, settings.schedule.policy)
    find = by_name.lives(connection, dropped=True)
    expected: dict[int, list[Expected]] = {}
    for page in pages.list_expected(connection, sentinel_id=rows[0].id if len(rows) == 1 else None):
        expected.setdefault(page.sentinel_id, []).append(page)
    taught = {
        (page.sentinel_id, page.page_id): page.learned for own in expected.values() for page in own if page.learned
    }
    found = [
        ComingPoll(
            row.name,
            prospect.page_id,
            prospect,
            learned.get(prospect.page_id, {}),
            taught.get((row.id, prospect.page_id), ""),
        )
        for row in rows
        for prospect in list_polls(
            connection,
            row,
            find=find,
            settings=settings,
            now=now,
            learned=learned,
            turns=turns,
            expected=expected.get(row.id, ()),
        )
        if prospect.page_id is not None
    ]
    return sorted(
        found, key=lambda look: (look.prospect.at is None, look.prospect.at or 0, look.sentinel, look.page_id)
    )
