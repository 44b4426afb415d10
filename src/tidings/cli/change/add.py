"""`tidings add`: statements of the language from a file, an argument or standard input, or one page
with `--url`.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.cli.arguments import add_receivers, read_statements
from tidings.cli.change.alter import write_alterations
from tidings.cli.change.life import describe
from tidings.cli.happenings import write_drop, write_happening
from tidings.cli.output import add_json, short_time, write_json, write_line, write_warnings
from tidings.clock import SystemClock
from tidings.errors import UsageError
from tidings.model.watch import asking
from tidings.service.sentinels import register
from tidings.service.show.records import rfc3339, sentinel_record
from tidings.storage.db.database import open_database
from tidings.storage.watches import outside

_HOST = re.compile(r"(?!-)[\w-]+(?:\.[\w-]+)+", re.ASCII)

if TYPE_CHECKING:
    from tidings.settings import Settings
    from tidings.storage.db.database import Database
    from tidings.storage.watches.sentinels import SentinelRow


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE|TEXT|-",
        help="a file with statements of the sentinel language (*.yaml: as YAML), or one statement in quotes; - reads"
        " standard input",
    )
    add_page_flags(parser)
    parser.add_argument(
        "--user", metavar="NAME", help="log in as this user (basic auth); Tidings prompts for the password"
    )
    parser.add_argument("--login-form", metavar="URL", help="log in with the form on this page instead of basic auth")
    parser.add_argument(
        "--login-success", metavar="CSS", help="an element that only a logged-in page has, e.g. a.logout"
    )
    parser.add_argument(
        "--password", metavar="SECRET", help="the name of a stored secret that is the password of --user"
    )
    parser.add_argument(
        "--no-check", action="store_true", help="do not check new pages now; the service checks them later"
    )
    parser.add_argument("--no-test", action="store_true", help="do not send a test message to --notify")
    add_json(parser)


def add_page_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say what to watch on one page."""
    parser.add_argument("--url", help="the address of the page to watch")
    parser.add_argument(
        "--command", metavar="WORDS", help="watch the output of a command, e.g. 'df -h'; it does not run in a shell"
    )
    parser.add_argument(
        "--monitor",
        metavar="TEXT",
        help="which changes to report (default: all words, or the items of a feed)",
    )
    parser.add_argument("--only-added", action="store_true", help="report only text that is added to the page")
    parser.add_argument("--select", metavar="CSS", help="watch only this part of the page, e.g. main")
    parser.add_argument(
        "--exclude", action="append", default=[], metavar="CSS", help="leave out this part of the page; may be repeated"
    )
    parser.add_argument(
        "--every",
        metavar="DURATION|at TIME",
        help="how often to check, e.g. 1h, or at what time, e.g. 'at 8:00'; default: Tidings decides",
    )
    add_receivers(parser)
    parser.add_argument("--name", help="name of the sentinel; default: made from the host and title")
    parser.add_argument(
        "--tag", action="append", default=[], metavar="TAG", help="a tag of the sentinel; may be repeated"
    )
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="send this header with each request; 'NAME: secret SECRET' sends a stored secret; may be repeated",
    )
    parser.add_argument(
        "--render", action="store_true", help="watch the page as a browser shows it after its scripts have run"
    )
    parser.add_argument(
        "--step",
        action="append",
        default=[],
        metavar="STEP",
        help="a step that the browser does before the page is read, e.g. 'click \"#more\"' (implies --render); may be repeated",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Register the given statements; an address, with or without `--url`, is checked as well."""
    if arguments.url is None and is_address(arguments.file or ""):
        arguments.url, arguments.file = arguments.file, None
    if [arguments.url, arguments.file, arguments.command].count(None) != 2:
        message = "give a FILE (or - for standard input), a statement in quotes, --url URL or --command 'PROGRAM WORDS'"
        raise UsageError(message)
    if arguments.command is not None:
        arguments.url = read_command(arguments.command)
    if arguments.url is None and (flags := _of_url(arguments)):
        message = f"{', '.join(flags)} needs --url; in a FILE, write the clause itself"
        raise UsageError(message)
    database = open_database(settings)
    try:
        if arguments.url is None:
            text, arguments.file = read_statements(arguments.file)
            return _add_text(database, text, arguments, settings)
        from tidings.cli.change import first_check  # loads the poller, only needed to check

        return asyncio.run(first_check.add_url(database, arguments, settings))
    finally:
        database.close()


def is_address(word: str) -> bool:
    """Return whether a word is the address of a page, also without its scheme: `example.org/news`;
    a file of this name is none.
    """
    if word.startswith(("http://", "https://")):
        return True
    host = word.partition("/")[0].partition(":")[0]
    is_like = _HOST.fullmatch(host) is not None and not word.endswith((".sentinel", ".yaml", ".yml", ".txt"))
    return is_like and not Path(word).exists()


def read_command(text: str) -> str:
    """Return the address of a command, split into words as in a shell.

    Raises `UsageError` for an empty one.
    """
    try:
        return asking.url_of(shlex.split(text))
    except ValueError as error:
        message = f"--command {text!r} cannot be read: {error}; write for example --command 'df -h'"
        raise UsageError(message) from error


def _of_url(arguments: argparse.Namespace) -> list[str]:
    """Return the given flags that require `--url`."""
    names = (
        "monitor",
        "only_added",
        "select",
        "exclude",
        "tag",
        "header",
        "user",
        "password",
        "login_form",
        "login_success",
        "render",
        "step",
        "every",
        "notify",
        "name",
    )
    return [f"--{name.replace('_', '-')}" for name in names if getattr(arguments, name)]


def _add_text(database: Database, text: str, arguments: argparse.Namespace, settings: Settings) -> int:
    done = register.register(database, text, settings=settings, now=SystemClock().now(), file=arguments.file)
    if not done.is_something:
        message = (
            "this text has no statement; write for example: Create Sentinel news Using https://example.org/ Monitor "
            "any change"
        )
        raise UsageError(message)
    write_warnings(done.warnings, as_json=arguments.json)
    for event_line in done.events:
        write_happening(database.read(outside.find, event_line.name), as_json=arguments.json)
    for row in done.made:
        if arguments.json:
            write_json(sentinel_record(row))
        else:
            write_line(f"{row.name} {_describe_state(row)}")
    write_alterations(done, as_json=arguments.json)
    for statement in done.defaults:
        if not arguments.json:
            result = "the new defaults are stored" if statement.clauses.stated else "the defaults are removed"
            write_line(f"tags {', '.join(statement.tags)}: {result}")
    for command, row in done.commanded:
        if arguments.json:
            write_json(sentinel_record(row))
        else:
            write_line(describe(command.verb, row))
    if done.made and not arguments.no_check:
        from tidings.cli.change import first_check  # loads the poller, only needed to check

        asyncio.run(first_check.check_new(database, done.made, settings, as_json=arguments.json))
    for gone in done.events_dropped:
        write_drop(gone.name, as_json=arguments.json)
    return 0


def _describe_state(row: SentinelRow) -> str:
    if row.end_at is not None and row.end_at <= row.created_at:
        return f"is not watched: its end has passed on {short_time(rfc3339(row.end_at))}"
    begin = (
        f" from {short_time(rfc3339(row.start_at))}"
        if row.start_at is not None and row.start_at > row.created_at
        else ""
    )
    end = f" until {short_time(rfc3339(row.end_at))}" if row.end_at is not None else ""
    return f"is watched{begin}{end}"
