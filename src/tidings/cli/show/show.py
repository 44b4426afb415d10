"""`tidings show NAME`: one sentinel: its text, state, next polls with reasons, and its pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC
from typing import TYPE_CHECKING, Any

from tidings.cli.happenings import happening_of
from tidings.cli.health import read_health
from tidings.cli.output import add_json, short_time, write_json, write_line, write_lines
from tidings.cli.show import plan
from tidings.cli.show.history import find_version
from tidings.cli.show.listing import describe_state, list_pages, write_standstill
from tidings.cli.show.mask import lines_of
from tidings.clock import SystemClock
from tidings.errors import SecretError
from tidings.language.times import zone_of
from tidings.model.watch.sentinel import WHOLE
from tidings.service.collections.known import report
from tidings.service.explain.explain_sentinel import count_on_time, list_prospects
from tidings.service.explain.plan_summary import get_budget
from tidings.service.on_demand import seen_now
from tidings.service.plan import worth
from tidings.service.show.finding import spell_count
from tidings.service.show.records import class_of, event_record, rfc3339, sentinel_record, version_record
from tidings.service.sources import outside_events
from tidings.service.watch import by_name, noise
from tidings.service.watch.subscription_memory import list_healed
from tidings.service.watch.watchlist import WatchedSentinel, read_meaning
from tidings.storage.db.database import open_database
from tidings.storage.observed import pages
from tidings.storage.secrets import Vault
from tidings.storage.watches import changes, events, sentinels, subscriptions
from tidings.storage.watches import outside as sources
from tidings.web.server import url

if TYPE_CHECKING:
    import argparse

    from tidings.service.health.trouble import Health
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.outside import SourceRow

_ASKED = {"interval": "fixed interval", "expected": "expected updates", "then": "Then"}


MOST_OF_COLLECTION = 10
"""Pages of a collection that are shown one by one."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--version", metavar="VERSION", help="show the text of this version instead")
    parser.add_argument("--page", metavar="URL", help="the page of the version, if the sentinel has several")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print one sentinel, or the text of a version."""
    if arguments.version is not None:
        return asyncio.run(_write_text(arguments, settings))
    write_standstill(settings, as_json=arguments.json)
    database = open_database(settings, create=False)
    try:
        return database.read(_show, arguments, settings, read_health(database, settings))
    finally:
        database.close()


async def _write_text(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the text of a version, as a reader sees it."""
    from tidings.service.on_demand.compare import Comparisons  # it loads the whole service

    database = open_database(settings, create=False)

    async def read(fn: Callable[..., Any], *args: Any) -> Any:
        return database.read(fn, *args)

    comparisons = Comparisons(read, settings, dialect=database.dialect)
    try:
        version = database.read(find_version, arguments, arguments.version)
        text = await comparisons.text(page_id=version.page_id, version=version)
        if arguments.json:
            url = database.read(pages.identity, version.page_id).given
            write_json({**version_record(version, url=url), "text": text})
        else:
            write_lines(text.splitlines())
    finally:
        await comparisons.close()
        database.close()
    return 0


def _show(connection: Connection, arguments: argparse.Namespace, settings: Settings, health: Health) -> int:
    happening = happening_of(connection, arguments.name)
    if happening is not None:
        show_happening(connection, happening, settings, as_json=arguments.json)
        if arguments.name not in sentinels.names(connection):
            return 0
    row = by_name.find(connection, arguments.name)
    scope = read_meaning(row).scope
    collected = None if scope is None else report(connection, row.id, scope)
    watched = list_pages(connection, sentinel_id=row.id, most=None if scope is None else MOST_OF_COLLECTION).get(
        row.id, []
    )
    known = {str(sub.page_id): sub for sub in subscriptions.listing(connection, sentinel_id=row.id)}
    watched = [
        {
            **page,
            "healed": list_healed(known[page["page"]].remembered, read_meaning(row)),
            "learned": worth.record(known[page["page"]].learned),
            "missing": seen_now.missing(connection, row.id, int(page["page"]), read_meaning(row)),
        }
        for page in watched
    ]
    found = changes.listing(connection, sentinel=row.name, limit=5)
    now = SystemClock().now()
    find, turns = by_name.lives(connection, dropped=True), plan.find_turns(connection, settings, now)
    coming = list_prospects(connection, row, find=find, settings=settings, now=now, turns=turns)
    zone = zone_of(read_meaning(row).zone or settings.serve.zone) or UTC
    made = count_on_time(connection, WatchedSentinel(row, read_meaning(row), {}, zone), now=now)
    own = health.of(row.name)
    budget = get_budget(connection, settings, class_of(row.text), now=now)
    if arguments.json:
        details = {
            "revision": row.revision,
            "started_at": rfc3339(row.started_at),
            "ended_at": rfc3339(row.ended_at),
            "pages": watched,
            "next": [prospect.as_dict() for prospect in coming],
            "recent_changes": [c.row.id for c in found],
            "captures": made,
            "masks": [r for page in watched for r in noise.masks(connection, int(page["page"])).records(row.name)],
            "budget": budget.record(),
            **({} if collected is None else {"collection": collected.record()}),
            "health": own.status,
            "troubles": [trouble.record(sentinel=row.name) for trouble in own.troubles],
        }
        write_json(sentinel_record(row, details=details))
        return 0
    write_line(f"{row.name}  {describe_state(row)}{f' ({row.reason})' if row.reason else ''}")
    for line in row.text.splitlines():
        write_line(f"    {line}")
    for line in () if collected is None else collected.lines():
        write_line(line)
    for trouble in own.troubles[:MOST_OF_COLLECTION] if collected is not None else own.troubles:
        write_line(trouble.line)
    if budget.name != WHOLE:
        write_line(f"class {budget.name}: {budget}")
    for prospect in coming[:MOST_OF_COLLECTION] if collected is not None else coming:
        when = short_time(rfc3339(prospect.at)) if prospect.at is not None else "-"
        where = f"  {prospect.url}" if prospect.url else ""
        write_line(f"next {prospect.what:<5}  {when:<19}  {prospect.why}{where}")
    for page in watched:
        write_line(f"{page['url']}  {page['title']}")
        masks = lines_of(noise.masks(connection, int(page["page"])), row.name)
        for line in _lines(page, worth.spell(known[page["page"]].learned), masks):
            write_line(f"    {line}")
    for asked, counts in made.items():
        verdicts = ", ".join(f"{number:,} {verdict}" for verdict, number in counts.items())
        write_line(f"checks in time, 30 days ({_ASKED[asked]}): {verdicts}")
    for change in found:
        write_line(f"{short_time(rfc3339(change.row.detected_at))}  {change.row.summary}")
    return 0


def _lines(page: dict[str, Any], learned: Iterable[str], masks: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a page beside its troubles: its versions, what was `learned` and its
    `masks`.
    """
    yield f"{spell_count(page['versions'], 'version')} in {spell_count(page['polls'], 'check')}; {_when(page)}"
    if page["kind"]:
        yield f"checked again {short_time(page['retry_at'])} UTC"
    if page["frames"]:
        urls = ", ".join(frame["url"] for frame in page["frames"])
        yield f"{spell_count(len(page['frames']), 'frame')}: {urls}"
    yield from learned
    yield from masks


def _when(page: dict[str, Any]) -> str:
    """Return when a page was last checked, and when its text last changed, as far as known."""
    if page["checked_at"] is None:
        return "not checked successfully yet" if page["polls"] else "not checked yet"
    checked = f"checked {short_time(page['checked_at'])}"
    changed = page["text_changed_at"]
    return (
        f"{checked}, text changed {short_time(changed)} UTC" if changed else f"{checked} UTC, its text has not changed"
    )


LATEST = 5
"""Number of latest events shown."""


def show_happening(connection: Connection, row: SourceRow, settings: Settings, *, as_json: bool) -> None:
    """Print one event: its text, the webhook's address and token, the sentinels that wait for it,
    its last occurrences.

    Args:
        row: The event.
        settings: The settings in use.
        as_json: Whether it is printed as JSON.
    """
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
        write_line(f"next check   {short_time(rfc3339(row.due_at))}")
    if row.problem:
        write_line(f"problem     {row.problem}")
    write_line(f"waited for by {', '.join(waiting) or 'nobody'}")
    for event in found:
        params = ", ".join(f"{name}={value}" for name, value in event.data["params"].items())
        write_line(f"{short_time(rfc3339(event.at))}  {' '.join(params.split())[:200]}")


def _way_in(connection: Connection, row: SourceRow, settings: Settings) -> tuple[str, str]:
    """Return the address and token of a webhook, empty texts for other events."""
    if row.origin != "webhook":
        return "", ""
    try:
        token = outside_events.token_of(connection, Vault(settings.data), row.name)
    except SecretError as error:
        return _address(row, settings), str(error)
    return _address(row, settings), "" if token is None else token.reveal()


def _address(row: SourceRow, settings: Settings) -> str:
    return f"{url(settings.serve.host, settings.serve.port)}/api/v1/hooks/{row.name}"


def _times(row: SourceRow) -> str:
    if row.happened_at is None:
        return "has not happened yet"
    times = "once" if row.happened == 1 else f"{row.happened:,} times"
    return f"happened {times}, last {short_time(rfc3339(row.happened_at))}"
