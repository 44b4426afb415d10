"""`tidings mask NAME`: the noise masks of a sentinel's pages, where and why; --off and --on switch
a mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.cli.output import add_json, short_time, write_json, write_line
from tidings.clock import SystemClock
from tidings.service.show.finding import spell_count
from tidings.service.show.records import rfc3339
from tidings.service.watch import by_name, noise
from tidings.storage.db.database import open_database
from tidings.storage.watches import subscriptions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from tidings.service.watch.noise import PageMasks
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME")
    parser.add_argument(
        "--off",
        action="append",
        default=[],
        metavar="MASK",
        help=f"report this noise again from now on: the id of a mask from the list, or a kind of noise: {', '.join(noise.CLASSES)}",
    )
    parser.add_argument(
        "--on",
        action="append",
        default=[],
        metavar="MASK",
        help="ignore this noise again: the same values as for --off",
    )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Switch masks if requested, and print them all."""
    database = open_database(settings, create=False)
    try:
        if arguments.off or arguments.on:
            database.write(_switch, arguments)
        return database.read(_print, arguments)
    finally:
        database.close()


def lines_of(page: PageMasks, name: str = "NAME") -> Iterator[str]:
    """Yield a line or two per mask of a page, and the names that `name` can switch."""
    if places := len([thing for thing in page.things if thing.id not in page.switched_off]):
        yield f"{spell_count(places, 'place')} ignored as noise"
    for thing in page.things:
        off = (
            "OFF, so it is reported"
            if thing.id in page.switched_off
            else f"since {short_time(rfc3339(thing.since))} UTC"
        )
        yield f"mask {thing.id}  {thing.sort} {noise.where(thing)}: {noise.why(thing)}; {off}"
        yield f'    showed "{thing.examples[0]}", then "{thing.examples[1]}"'
    for value in sorted(page.switched_off & {*noise.CLASSES}):
        yield f"mask {value}  OFF, so it is reported"
    for thing in page.offers:
        yield f"no mask yet  {thing.sort} {noise.where(thing)}: {noise.why(thing)}"
        yield f'    showed "{thing.examples[0]}", then "{thing.examples[1]}"; to ignore it: tidings mask {name} --on {thing.id}'


def _switch(connection: Connection, arguments: argparse.Namespace) -> None:
    page_ids = _pages_of(connection, arguments.name)
    noise.switch_masks(connection, page_ids, off=arguments.off, on=arguments.on, at=SystemClock().now())


def _print(connection: Connection, arguments: argparse.Namespace) -> int:
    row = by_name.find(connection, arguments.name)
    for page_id in _pages_of(connection, arguments.name):
        page = noise.masks(connection, page_id)
        if arguments.json:
            for record in page.records(row.name):
                write_json(record)
            continue
        write_line(page.url)
        lines = [*lines_of(page, row.name)]
        for line in lines or [
            "no noise was learned; if the whole page is watched, times, counters and clocks are ignored"
        ]:
            write_line(f"    {line}")
    return 0


def _pages_of(connection: Connection, name: str) -> list[int]:
    row = by_name.find(connection, name)
    return sorted({sub.page_id for sub in subscriptions.listing(connection, sentinel_id=row.id)})
