"""Changes, checks and watched values as tables: CSV, JSON Lines, Parquet."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tidings.errors import UsageError, spell_install
from tidings.model.interval import ALWAYS, Instant, Period
from tidings.service.show.records import rfc3339, spell_poll
from tidings.storage.observed import pages, polls
from tidings.storage.watches import changes, listed, sentinels, values

if TYPE_CHECKING:
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.listed import Read

Row = Mapping[str, Any]
_Dated = tuple[Instant, Row]
COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    "changes": {
        "id": "VARCHAR", "sentinel": "VARCHAR", "url": "VARCHAR", "kind": "VARCHAR", "from_version": "BIGINT",
        "to_version": "BIGINT", "polled_at": "TIMESTAMPTZ", "detected_at": "TIMESTAMPTZ", "modified_at": "TIMESTAMPTZ",
        "summary": "VARCHAR", "inserted": "VARCHAR[]", "deleted": "VARCHAR[]", "updated_old": "VARCHAR[]",
        "updated_new": "VARCHAR[]",
    },
    "checks": {
        "id": "BIGINT", "url": "VARCHAR", "started_at": "TIMESTAMPTZ", "finished_at": "TIMESTAMPTZ",
        "outcome": "VARCHAR",
        "text_changed": "BOOLEAN", "status": "BIGINT", "kind": "VARCHAR", "bytes": "BIGINT", "requests": "BIGINT",
        "cost": "DOUBLE", "reason": "VARCHAR",
    },
    "values": {
        "sentinel": "VARCHAR", "url": "VARCHAR", "what": "VARCHAR", "since": "TIMESTAMPTZ", "version": "BIGINT",
        "value": "VARCHAR", "number": "DOUBLE", "unit": "VARCHAR",
    },
}  # fmt: skip
"""The columns of each table with their SQL types."""
NEEDS: Final = f"Parquet needs the extra `export`: {spell_install('export')}"
LARGEST: Final = 100_000_000
"""largest row, in bytes"""
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""Characters that begin a formula in a spreadsheet."""


def read_rows(
    read: Read, table: str, viewer: int | None, names: Sequence[str] = (), period: Period = ALWAYS
) -> Iterator[Row]:
    """Yield the rows of a table of `COLUMNS`, oldest first.

    Args:
        read: Runs a function of a connection.
        table: Its name.
        viewer: The owner whose view is exported; None for all.
        names: Sentinels; empty for all.
        period: When the changes were found, the checks began, or the values were first seen.
    """
    yield from (row for at, row in _TABLES[table](read, viewer, names) if period.has(at))


def _read_changes(read: Read, viewer: int | None, names: Sequence[str]) -> Iterator[_Dated]:
    for keys in listed.change_keys(read, viewer, names):
        found = read(changes.of, keys)
        for one in (found[key] for key in keys if key in found):
            row = one.row
            yield (
                row.detected_at,
                {
                    "id": row.id,
                    "sentinel": one.sentinel,
                    "url": one.url,
                    "kind": row.kind,
                    "from_version": row.from_seq,
                    "to_version": row.to_seq,
                    "polled_at": rfc3339(row.polled_at),
                    "detected_at": rfc3339(row.detected_at),
                    "modified_at": rfc3339(row.modified_at),
                    "summary": row.summary,
                    "inserted": list(row.found.inserted),
                    "deleted": list(row.found.deleted),
                    "updated_old": [old for old, _ in row.found.updated],
                    "updated_new": [new for _, new in row.found.updated],
                },
            )


def _read_checks(read: Read, viewer: int | None, names: Sequence[str]) -> Iterator[_Dated]:
    urls: dict[int, str] = {}

    def some(c: Connection, keys: Sequence[int]) -> list[Any]:
        found = [row for key in keys if (row := polls.get(c, key)) is not None]
        urls.update({row.page_id: pages.identity(c, row.page_id).given for row in found if row.page_id not in urls})
        return found

    for keys in listed.poll_keys(read, viewer, names):
        for row in read(some, keys):
            yield (
                row.charged_at,
                {
                    "id": row.id,
                    "url": urls[row.page_id],
                    "started_at": rfc3339(row.charged_at),
                    "finished_at": rfc3339(row.finished_at),
                    "outcome": row.outcome,
                    "text_changed": row.text_changed,
                    "status": row.status,
                    "kind": row.kind,
                    "bytes": row.bytes,
                    "requests": row.requests,
                    "cost": row.cost,
                    "reason": spell_poll(row),
                },
            )


def _read_values(read: Read, viewer: int | None, names: Sequence[str]) -> Iterator[_Dated]:
    for sentinel in read(sentinels.listing, ended=True, viewer=viewer):
        if names and sentinel.name not in names:
            continue
        for value in read(values.listing, sentinel.id):
            yield (
                value.at,
                {
                    "sentinel": sentinel.name,
                    "url": value.url,
                    "what": value.label,
                    "since": rfc3339(value.at),
                    "version": value.seq,
                    "value": value.text,
                    "number": float(value.amount) if value.amount else None,
                    "unit": value.unit,
                },
            )


_TABLES: Final[Mapping[str, Callable[[Read, int | None, Sequence[str]], Iterator[_Dated]]]] = {
    "changes": _read_changes,
    "checks": _read_checks,
    "values": _read_values,
}


def write_jsonl(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a line of JSON for each row."""
    for row in rows:
        yield json.dumps(row, ensure_ascii=True) + "\n"


def write_csv(rows: Iterable[Row], table: str) -> Iterator[str]:
    """Yield the lines of a CSV file (RFC 4180) with a header.

    Several texts in a cell are on separate lines. A text that a spreadsheet would run as a formula
    gets an apostrophe before it.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)

    def line(cells: Iterable[Any]) -> str:
        buffer.seek(0)
        buffer.truncate()
        writer.writerow(cells)
        return buffer.getvalue()

    yield line(COLUMNS[table])
    for row in rows:
        yield line(_cell(row[name]) for name in COLUMNS[table])


def _cell(value: Any) -> Any:
    text = "\n".join(value) if isinstance(value, list) else value
    return f"'{text}" if isinstance(text, str) and text.startswith(FORMULA) else text


def write_parquet(rows: Iterable[Row], table: str, target: Path) -> None:
    """Write a Parquet file (zstd). Raises `UsageError` without the extra `export`.

    DuckDB converts a JSON Lines file beside it, so that only one group of rows is in memory.
    """
    try:
        import duckdb
    except ImportError as error:
        raise UsageError(NEEDS) from error
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".tidings-export-") as folder:
        lines = Path(folder) / "rows.jsonl"
        with lines.open("w", encoding="ascii") as file:
            file.writelines(write_jsonl(rows))
        made = Path(folder) / "rows.parquet"
        with duckdb.connect(config={"autoinstall_known_extensions": False, "memory_limit": "512MB"}) as connection:
            table_of_lines = connection.read_json(
                str(lines), format="newline_delimited", columns=dict(COLUMNS[table]), maximum_object_size=LARGEST
            )
            table_of_lines.write_parquet(str(made), compression="zstd")
            made.replace(target)
