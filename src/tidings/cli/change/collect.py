"""`tidings collect URL`: watch a whole site; Tidings finds its pages within a budget."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from tidings.cli.arguments import add_receivers
from tidings.cli.output import add_json, write_json, write_line, write_warnings
from tidings.clock import SystemClock
from tidings.errors import UsageError
from tidings.language.clauses.scope import usual_patterns
from tidings.language.expressions import quote
from tidings.language.words import name_of_host
from tidings.model.watch.sentinel import Watched
from tidings.service.sentinels import register
from tidings.service.show.records import sentinel_record
from tidings.storage.db.database import open_database
from tidings.storage.watches import sentinels

if TYPE_CHECKING:
    from tidings.settings import Settings

_BUDGET = re.compile(r"(\d+(?:\.\d+)?)(?:\s*(?:/|per)\s*(hour|day|week))?", re.IGNORECASE)


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "url", metavar="URL", nargs="+", help="the address of a first page, a feed or a sitemap; may be repeated"
    )
    parser.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="PATTERN",
        help="which paths belong to the collection, e.g. '/docs/*', or do not, e.g. '!/docs/old/*' (default: the folder of URL)",
    )
    parser.add_argument(
        "--depth", type=int, metavar="N", help="how many links a page may be away from URL (default: 3)"
    )
    parser.add_argument(
        "--budget",
        metavar="N",
        help="how many requests the collection may need in a day, or e.g. '20 per hour' (default: 500 per day)",
    )
    parser.add_argument(
        "--monitor",
        metavar="TEXT",
        help="which changes to report (default: pages, which reports new, gone and moved pages)",
    )
    add_receivers(parser)
    parser.add_argument(
        "--tag", action="append", default=[], metavar="TAG", help="a tag of the collection; may be repeated"
    )
    parser.add_argument("--name", help="name of the collection; default: made from the host")
    parser.add_argument("--dry-run", action="store_true", help="print the statement and store nothing")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Register the collection; the service discovers its pages."""
    database = open_database(settings)
    try:
        names = database.read(sentinels.names)
        text = write_statement(arguments, names)
        if arguments.dry_run:
            write_line(text)
            return 0
        done = register.register(database, text, settings=settings, now=SystemClock().now())
    finally:
        database.close()
    write_warnings(done.warnings, as_json=arguments.json)
    (row,) = done.made
    if arguments.json:
        write_json(sentinel_record(row))
        return 0
    for line in row.text.splitlines():
        write_line(line)
    write_line(f"`tidings serve` finds the pages; `tidings show {row.name}` lists them")
    return 0


def write_statement(arguments: argparse.Namespace, names: list[str]) -> str:
    """Return the statement that the arguments mean. Raises `UsageError` for a budget that cannot be
    read.
    """
    name = arguments.name or _name(arguments.url[0], names)
    patterns = arguments.scope or usual_patterns([Watched(url) for url in arguments.url])
    words = [f"Create Collection {name} Using {', '.join(arguments.url)}", f"Scope {', '.join(map(quote, patterns))}"]
    if arguments.depth is not None:
        words.append(f"Depth {arguments.depth}")
    if arguments.budget is not None:
        found = _BUDGET.fullmatch(arguments.budget.strip())
        if found is None:
            message = f"--budget {arguments.budget!r} cannot be read; write for example --budget '500 per day'"
            raise UsageError(message)
        words.append(f"Budget {found[1]} per {found[2] or 'day'}")
    words += [f"Monitor {arguments.monitor}"] if arguments.monitor else []
    words += [f"Notify By {register.channel_words(target.strip())}" for target in arguments.notify]
    words += [f"Tags {', '.join(arguments.tag)}"] if arguments.tag else []
    return " ".join(words)


def _name(url: str, names: list[str]) -> str:
    """Return a name that is free."""
    wanted = name_of_host(url)
    free = (name for number in range(1, len(names) + 2) if (name := wanted if number == 1 else f"{wanted}-{number}"))
    return next(name for name in free if name not in names)
