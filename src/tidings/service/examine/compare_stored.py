"""Take: the subscriptions that are due take the newest stored version of a page, whoever's look brought it (sentinels §4.2)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tidings.service.examine.detect import Findings, Look
from tidings.service.watch.cursors import is_doubtful, references, takes, tick_all, ticked
from tidings.service.watch.noise import of_stored
from tidings.storage.observed import versions

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.examine.detect import Detector
    from tidings.service.examine.stored_versions import Bodies
    from tidings.service.watch.watchlist import Subscription, WatchedPage
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.examine.compare_stored")


class Taker:
    """Compares the newest stored version with what is due to take it."""

    def __init__(self, store: Store, bodies: Bodies, detector: Detector) -> None:
        self._store = store
        self._bodies = bodies
        self._detector = detector

    async def take(
        self,
        page: WatchedPage,
        at: Instant,
        *,
        owed: Mapping[int, int],
        eager: frozenset[int] = frozenset(),
        looked_at: Instant | None = None,
        doubtful: bool = False,
    ) -> Findings:
        """Let the subscriptions that are due take the newest stored version. What it holds was told when it came, but for its frames.

        `looked_at` is when the page was looked at, if not just now. `doubtful`: only those that are in doubt take it.
        """
        newest = page.state.last_seq
        subs = [s for s in page.subscriptions.values() if not doubtful or is_doubtful(s, at)]
        due = [s for s in subs if takes(s, at, eager, looked_at=looked_at) or s.row.id in owed]
        behind = tuple(s for s in due if newest and _is_behind(s, newest, at if looked_at is None else looked_at))
        idle = tuple(ticked(s, at) for s in due if s.interval is not None and s not in behind)
        if not behind:
            return Findings(None, idle, (), (), ())
        stored = await self._bodies.stored(page.state.page_id, {newest, *references(behind)}, is_framed=page.is_framed)
        if newest in stored.lost:
            log.error("%s", stored.lost[newest])
            return Findings(None, idle, (), (), ())
        version = await self._store.read(versions.get, page.state.page_id, newest)
        look = Look(
            page=page,
            seq=newest,
            body=stored.bodies[newest],
            references={seq: body for seq, body in stored.bodies.items() if seq != newest},
            known=stored.digests,
            known_parts=stored.digests_of_parts,
            takers=behind,
            at=at,
            modified_at=version.modified_at if version is not None else None,
            lost=stored.lost,
            parts=stored.parts,
            noise=of_stored(stored.noise, stored.times, newest),
        )
        findings = await self._detector.examine(look, attempts=owed)
        return replace(findings, cursors=(*idle, *tick_all(findings.cursors, page, at)))


def _is_behind(sub: Subscription, newest: int, at: Instant) -> bool:
    """Say whether a subscription has not seen a version; where it lacks what is looked at, it was seen all the same, but for a doubt."""
    if not sub.row.taken or is_doubtful(sub, at):
        return True
    return sub.row.seen != newest and (sub.missing is None or sub.missing.seq != newest)
