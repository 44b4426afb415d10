"""Counts of watched pages, changes and polls, for monitoring and for the weekly report."""

from __future__ import annotations

from typing import Final, NamedTuple

from tidings.model.interval import Instant
from tidings.storage.db.connection import Connection

_PAGES: Final = (
    "SELECT count(DISTINCT p.id) FROM page p JOIN subscription u ON u.page_id = p.id"
    " JOIN sentinel s ON s.id = u.sentinel_id"
    " WHERE u.active = 1 AND u.left_at IS NULL"
)
_OWN_PAGES: Final = f"{_PAGES} AND s.owner_id = :owner"
_WEEK: Final = f"""SELECT
  ({_OWN_PAGES}),
  ({_OWN_PAGES} AND p.health = 'error'),
  (SELECT count(*) FROM change ch JOIN sentinel s ON s.id = ch.sentinel_id
    WHERE ch.detected_at >= :since AND ch.detected_at < :until AND ch.quiet = 0 AND s.owner_id = :owner),
  (SELECT count(*) FROM delivery d JOIN sentinel s ON s.id = d.sentinel_id
    WHERE d.status = 'dead' AND d.finished_at >= :since AND d.finished_at < :until AND s.owner_id = :owner)"""
_POLLS: Final = """SELECT count(*), sum(CASE WHEN outcome = 'error' THEN 1 ELSE 0 END) FROM poll
  WHERE finished_at >= :since AND finished_at < :until AND page_id IN
    (SELECT u.page_id FROM subscription u JOIN sentinel s ON s.id = u.sentinel_id WHERE s.owner_id = :owner)"""


class Now(NamedTuple):
    """The numbers of watched pages, of failing ones, and of waiting deliveries."""

    pages: int
    in_error: int
    pending: int


class WeekFigures(NamedTuple):
    """The numbers of an owner's pages, of failing ones, and of the changes, dead letters and polls of a
    period.
    """

    pages: int
    in_error: int
    changes: int
    given_up: int
    polls: int
    failed: int


def count_now(c: Connection) -> Now:
    """Return the current numbers."""
    pages, in_error = c.value(_PAGES), c.value(f"{_PAGES} AND p.health = 'error'")
    return Now(pages, in_error, c.value("SELECT count(*) FROM delivery WHERE status = 'waiting'"))


def count_between(c: Connection, owner_id: int, since: Instant, until: Instant) -> WeekFigures:
    """Return the figures of an owner for [since, until) (µs)."""
    polls, failed = c.one(_POLLS, owner=owner_id, since=since, until=until) or (0, 0)
    pages, in_error, found, dead = c.one(_WEEK, owner=owner_id, since=since, until=until) or (0, 0, 0, 0)
    return WeekFigures(pages, in_error, found, dead, polls, int(failed or 0))
