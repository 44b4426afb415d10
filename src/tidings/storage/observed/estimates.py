"""The states of estimators and policies, one per page, plain JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from tidings.model.observed.unit import Estimate
from tidings.storage.db.connection import NUMBERS, Connection, from_json, to_json

_PUT = (
    "INSERT INTO estimate (name, page_id, state, at) VALUES (:name, :page_id, :state, :at)"
    " ON CONFLICT (name, page_id) DO UPDATE SET state = excluded.state, at = excluded.at"
)
_LOAD = {
    dialect: f"SELECT page_id, state FROM estimate WHERE name = :name AND page_id IN {numbers}"
    for dialect, numbers in NUMBERS.items()
}


class StoredStates(Mapping[int, Mapping[str, Any]]):
    """The states of one estimator by page id, each decoded when it is first asked for."""

    def __init__(self, rows: Iterable[tuple[int, str]]) -> None:
        self._texts = dict(rows)
        self._read: dict[int, Mapping[str, Any]] = {}

    def __getitem__(self, page_id: int) -> Mapping[str, Any]:
        if page_id not in self._read:
            self._read |= _read_all([(page_id, self._texts[page_id])])
        return self._read[page_id]

    def __iter__(self) -> Iterator[int]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def read_later(c: Connection, name: str) -> StoredStates:
    """Return the state of every page in estimator `name`, for those who need few of them."""
    return StoredStates(c.rows("SELECT page_id, state FROM estimate WHERE name = :name", name=name))


def load_all(c: Connection, name: str) -> dict[int, Mapping[str, Any]]:
    """Return the state of every page in estimator `name`, by page id."""
    return _read_all(c.rows("SELECT page_id, state FROM estimate WHERE name = :name ORDER BY page_id", name=name))


def _read_all(rows: Iterable[tuple[int, str]]) -> dict[int, Mapping[str, Any]]:
    """Return states by page: there may be thousands, and msgspec takes a seventh of the time."""
    from msgspec import DecodeError, json  # most commands read no state

    found: dict[int, Mapping[str, Any]] = {}
    for page_id, state in rows:
        try:
            found[page_id] = json.decode(state)
        except (DecodeError, TypeError):  # it is stricter; what neither reads is damaged
            found[page_id] = from_json(state)
    return found


def of_newest_versions(c: Connection, name: str) -> dict[int, Mapping[str, Any]]:
    """Return the states of `name` for the newest versions of pages, by page id; states of older
    versions are left out.
    """
    text = (
        "SELECT e.page_id, e.state FROM estimate e JOIN page p ON p.id = e.page_id"
        " WHERE e.name = :name AND e.at >= COALESCE(p.changed_at, 0) ORDER BY e.page_id"
    )
    return _read_all(c.rows(text, name=name))


def get(c: Connection, name: str, page_id: int) -> Mapping[str, Any] | None:
    """Return the state of a page in estimator `name`, None if there is none."""
    row = c.one("SELECT state FROM estimate WHERE name = :name AND page_id = :page_id", name=name, page_id=page_id)
    return None if row is None else from_json(row[0])


def load(c: Connection, name: str, page_ids: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    """Return the states of some pages in one estimator; pages without one are left out."""
    return _read_all(c.rows(_LOAD[c.dialect], name=name, listed=to_json([*page_ids])))


def of_page(c: Connection, page_id: int, first: str, second: str) -> dict[str, Mapping[str, Any]]:
    """Return the states of a page in two estimators, by estimator name.

    Args:
        page_id: The page.
        first: The name of one estimator.
        second: The name of the other.
    """
    text = "SELECT name, state FROM estimate WHERE page_id = :page_id AND name IN (:first, :second)"
    return {name: from_json(state) for name, state in c.rows(text, page_id=page_id, first=first, second=second)}


def put(c: Connection, estimates: Sequence[Estimate]) -> None:
    """Store states."""
    c.many(
        _PUT,
        [{"name": e.name, "page_id": e.page_id, "state": to_json(dict(e.state)), "at": e.at} for e in estimates],
    )


LEARNED: Final = "noise"
"""The name of the rows with what was learned."""
SWITCHED_MASKS: Final = "noise.kept"
"""The name of the rows with the masks that users have switched off, and on."""


def count_masked(connection: Connection) -> dict[int, int]:
    """Return how many places of each page are masked, for the pages with any."""
    states = load_all(connection, SWITCHED_MASKS)
    found: dict[int, int] = {}
    for page_id, state in load_all(connection, LEARNED).items():
        switched = states.get(page_id, {})
        wanted = switched.get("wanted", ())
        ids = {thing["id"] for thing in state["things"] if thing["since"] or thing["id"] in wanted}
        if number := len(ids.difference(switched.get("names", ()))):
            found[page_id] = number
    return found
