"""How `show` speaks of an event of other origin: what it says, where a webhook is told and its token, who waits, its last times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.cli.output import short_time, write_json, write_line
from tidings.errors import SecretError
from tidings.service.show.records import event_record, rfc3339
from tidings.service.sources import outside_events
from tidings.storage.watches import events
from tidings.storage.watches import outside as sources
from tidings.storage.write.vault import Vault
from tidings.web.listening import url

if TYPE_CHECKING:
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.outside import SourceRow

LATEST = 5
"""So many of the last events are shown."""


def show_happening(connection: Connection, row: SourceRow, settings: Settings, *, as_json: bool) -> None:
    """Print one event: what it says, the webhook's address and token, who waits for it, its last times."""
    waiting = outside_events.names(connection)[row.name]
    found = [e for e in events.listing(connection, types=[sources.HAPPENED]) if e.data["event"] == row.name][-LATEST:]
    address, token = _way_in(connection, row, settings)
    if as_json:
        latest = [{"at": rfc3339(event.at), "params": event.data["params"]} for event in found]
        details = {"address": address, "token": token, "sentinels": waiting, "latest": latest}
        write_json(event_record(row, details=details))
        return
    write_line(f"event {row.name}  {_times(row)}")
    write_line(f"    {row.text}")
    if address:
        write_line(f"    POST   {address}")
        write_line(f"    token  {token}")
    if row.due_at is not None:
        write_line(f"next look   {short_time(rfc3339(row.due_at))}")
    if row.problem:
        write_line(f"problem     {row.problem}")
    write_line(f"waited for by {', '.join(waiting) or 'nobody'}")
    for event in found:
        params = ", ".join(f"{name}={value}" for name, value in event.data["params"].items())
        write_line(f"{short_time(rfc3339(event.at))}  {' '.join(params.split())[:200]}")


def _way_in(connection: Connection, row: SourceRow, settings: Settings) -> tuple[str, str]:
    """Return where a webhook is told and its token, empty texts if it is none."""
    if row.origin != "webhook":
        return "", ""
    try:
        held = outside_events.token_of(connection, Vault(settings.data), row.name)
    except SecretError as error:
        return _address(row, settings), str(error)
    return _address(row, settings), "" if held is None else held.reveal()


def _address(row: SourceRow, settings: Settings) -> str:
    return f"{url(settings.serve.host, settings.serve.port)}/api/v1/hooks/{row.name}"


def _times(row: SourceRow) -> str:
    if row.happened_at is None:
        return "has not happened yet"
    times = "once" if row.happened == 1 else f"{row.happened:,} times"
    return f"happened {times}, last {short_time(rfc3339(row.happened_at))}"
