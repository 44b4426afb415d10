"""Requests: a process that cannot poll asks the poller to poll a page (contracts §2)."""

from __future__ import annotations

from collections.abc import Iterable

from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.storage.db.connection import Connection
from tidings.storage.db.values import plain


@dataclass(frozen=True, slots=True)
class RequestRow:
    """A request, on behalf of a sentinel if it names one; answered once `poll_id` names the poll
    (0: served without one), or refused with a reason.
    """

    id: int
    page_id: int
    asked_at: Instant
    sentinel_id: int | None
    poll_id: int | None
    refused: str

    @property
    def is_open(self) -> bool:
        """Return whether it has neither been answered nor refused."""
        return self.poll_id is None and not self.refused


_SELECT = "SELECT id, page_id, asked_at, sentinel_id, poll_id, refused FROM request"
_ASK = "INSERT INTO request (page_id, sentinel_id, asked_at) VALUES (:page_id, :sentinel_id, :at) RETURNING id"


def ask(c: Connection, page_ids: Iterable[int], at: Instant, *, sentinel_id: int | None = None) -> list[int]:
    """Store a request for each page, on behalf of a sentinel or of all that watch it, and return
    their ids.
    """
    return [c.value(_ASK, page_id=page_id, sentinel_id=sentinel_id, at=at) for page_id in page_ids]


def open_requests(c: Connection) -> list[RequestRow]:
    """Return the open requests, oldest first."""
    return [RequestRow(*row) for row in c.rows(f"{_SELECT} WHERE poll_id IS NULL AND refused = '' ORDER BY id")]


def answer(c: Connection, ids: Iterable[int], *, poll_id: int = 0) -> None:
    """Mark requests as answered by a poll; those answered or refused before stay as they are."""
    text = "UPDATE request SET poll_id = :poll_id WHERE id = :id AND poll_id IS NULL AND refused = ''"
    c.many(text, [{"id": id_, "poll_id": poll_id} for id_ in ids])


def refuse(c: Connection, id: int, reason: str) -> None:
    """Refuse a request, with the reason."""
    text = "UPDATE request SET refused = :reason WHERE id = :id AND poll_id IS NULL"
    c.execute(text, id=id, reason=plain(reason) or "refused")


def state(c: Connection, ids: Iterable[int]) -> list[RequestRow]:
    """Return the current state of these requests, in the order given; unknown ids are left out."""
    rows = (c.one(f"{_SELECT} WHERE id = :id", id=id_) for id_ in ids)
    return [RequestRow(*row) for row in rows if row is not None]
