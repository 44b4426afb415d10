"""External events on the command line: output of `add`, `list` and `drop`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.cli.output import short_time, table, write_json, write_line
from tidings.errors import UnknownNameError
from tidings.service.show.records import event_record, rfc3339
from tidings.storage.watches import outside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.outside import SourceRow


def happening_of(connection: Connection, name: str) -> SourceRow | None:
    """Return the event of that name, or None."""
    try:
        return outside.find(connection, name)
    except UnknownNameError:
        return None


def write_happening(row: SourceRow, *, as_json: bool) -> None:
    """Print that an event was created, and how it is triggered."""
    if as_json:
        write_json(event_record(row))
        return
    how = {
        "webhook": f"a POST makes it happen; `tidings show {row.name}` shows the address and the token",
        "file": "it happens when the content of the file changes",
        "command": "it happens when the output of the command changes",
    }
    write_line(f"event {row.name} is stored: {how[row.origin]}")


def write_drop(name: str, *, as_json: bool) -> None:
    """Print that an event was dropped."""
    if as_json:
        write_json({"record": "event", "name": name, "dropped": True})
    else:
        write_line(f"event {name} is dropped; the log keeps what happened")


def write_happenings(rows: Sequence[SourceRow]) -> None:
    """Print the existing events as a table, nothing if there are none."""
    if not rows:
        return
    write_line("")
    shown = [
        (
            row.name,
            str(row.happened),
            short_time(rfc3339(row.happened_at)),
            row.text.partition(" Using ")[2],
            row.problem,
        )
        for row in rows
    ]
    with_problems = any(row.problem for row in rows)
    head = ("EVENT", "TIMES", "LAST (UTC)", "FROM", "PROBLEM")
    columns = len(head) if with_problems else len(head) - 1
    table((line[:columns] for line in shown), head[:columns])
