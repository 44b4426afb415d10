"""Whole tables in pages of a few hundred rows, oldest first: an export never holds more than one.

`viewer` is the owner for whom it is (None: all); `names` narrow to sentinels (empty: all).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from tidings.storage.db.connection import Connection, select
from tidings.storage.watches.sentinels import restrict_to_viewer

Read = Callable[..., Any]
"""Runs a function of a connection in a transaction of its own."""
AT_ONCE: Final = 500
_CHANGES: Final = (
    "SELECT ch.detected_at, ch.id FROM change ch JOIN sentinel s ON s.id = ch.sentinel_id",
    "(ch.detected_at > :first OR (ch.detected_at = :first AND ch.id > :second))",
    "ORDER BY ch.detected_at, ch.id LIMIT :limit",
)
_POLLS: Final = (
    "SELECT poll.id, 0 FROM poll",
    "poll.id > :first AND poll.id > :second AND poll.outcome IS NOT NULL",
    "ORDER BY poll.id LIMIT :limit",
)
_VERSIONS: Final = (
    "SELECT version.page_id, version.seq FROM version",
    "(version.page_id > :first OR (version.page_id = :first AND version.seq < :second))",
    "ORDER BY version.page_id, version.seq DESC LIMIT :limit",
)


def change_keys(read: Read, viewer: int | None, names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the ids of changes that were notified, some at a time."""
    for keys in _pages(read, _CHANGES, (-1, ""), ["ch.quiet = 0", *restrict_to_viewer(viewer)], viewer, names, "s"):
        yield [key for _, key in keys]


def poll_keys(read: Read, viewer: int | None, names: Sequence[str]) -> Iterator[list[int]]:
    """Yield the numbers of checks that have ended, some at a time."""
    for keys in _pages(read, _POLLS, (0, 0), [], viewer, names, "poll"):
        yield [key for key, _ in keys]


def version_keys(read: Read, viewer: int | None, names: Sequence[str]) -> Iterator[list[tuple[int, int]]]:
    """Yield (page, number) of stored versions, some at a time: page by page, the newest first,
    so that a body is restored from the one before it.
    """
    yield from _pages(read, _VERSIONS, (0, 2**62), [], viewer, names, "version")


def _pages(
    read: Read,
    query: tuple[str, str, str],
    first: tuple[Any, Any],
    conditions: Sequence[str],
    viewer: int | None,
    names: Sequence[str],
    table: str,
) -> Iterator[list[tuple[Any, Any]]]:
    base, after, tail = query
    wanted = [*conditions, after]
    if table == "s":
        wanted += [_match_names("s", names)] if names else []
    elif viewer is not None or names:
        inner = [
            f"u.page_id = {table}.page_id",
            *restrict_to_viewer(viewer),
            *([_match_names("s", names)] if names else []),
        ]
        seen = "SELECT 1 FROM subscription u JOIN sentinel s ON s.id = u.sentinel_id"
        wanted.append(f"EXISTS ({select(seen, inner)})")
    given: dict[str, Any] = {f"name{number}": name for number, name in enumerate(names)}
    given |= {} if viewer is None else {"viewer": viewer}
    text, key = select(base, wanted, tail), first
    while keys := read(_fetch, text, {**given, "first": key[0], "second": key[1], "limit": AT_ONCE}):
        yield keys
        key = keys[-1]


def _fetch(c: Connection, text: str, given: dict[str, Any]) -> list[tuple[Any, Any]]:
    return [(first, second) for first, second in c.rows(text, **given)]


def _match_names(alias: str, names: Sequence[str]) -> str:
    marks = ", ".join(f":name{number}" for number in range(len(names)))
    return f"{alias}.name IN ({marks})"
