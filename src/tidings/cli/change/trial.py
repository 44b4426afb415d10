"""`tidings test FILE|TEXT|NAME|-`, `test --url URL`: fetch the pages of statements once, print what
would be watched; `test --notify ADDRESS` sends a test message. Nothing is stored.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tidings.cli.arguments import names_existing_file, read_statements
from tidings.cli.change import first_check
from tidings.cli.change.add import add_page_flags, is_address, read_command
from tidings.cli.output import add_json, write_json, write_line, write_warnings
from tidings.cli.show.mask import lines_of
from tidings.clock import SECOND
from tidings.errors import StoreMissingError, TidingsError, UnknownNameError, UsageError
from tidings.language.parser import read
from tidings.language.write.printer import compare_text
from tidings.record import replace
from tidings.service.on_demand import trial
from tidings.service.on_demand.seen_now import describe_page
from tidings.service.on_demand.seen_now import lines_of as lines_of_readings
from tidings.service.on_demand.try_receivers import send_test_message
from tidings.storage.db.database import has_been_used, open_database
from tidings.storage.watches import sentinels

if TYPE_CHECKING:
    from tidings.model.watch.sentinel import Sentinel
    from tidings.service.on_demand.trial import Tried
    from tidings.service.on_demand.trial_on_stored import StoredTrial
    from tidings.settings import Settings
    from tidings.storage.db.database import Database


PATIENCE = 30 * SECOND
"""How long the answers of receivers are waited for (µs)."""
SHOWN = 8
"""Most changes of an option that are listed."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE|TEXT|NAME|-",
        help="a file with statements of the sentinel language, a statement in quotes, or the name of a sentinel; - reads"
        " standard input",
    )
    add_page_flags(parser)
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Try and print."""
    if arguments.command is not None:
        arguments.url = read_command(arguments.command)
    elif arguments.url is None and is_address(arguments.file or ""):
        arguments.url, arguments.file = arguments.file, None
    if (arguments.url is None) == (arguments.file is None) and (arguments.file or not arguments.notify):
        raise UsageError("give a FILE, the NAME of a sentinel, a statement in quotes, --url URL, or --notify ADDRESS")
    with _database(settings) as database:
        if arguments.file is None:
            text, file = _make_statement(arguments), ""
            if refused := _send(database, text, arguments, settings) if arguments.notify else 0:
                return refused
            if arguments.url is None:
                return 0
        else:
            text, file = _read(database, arguments.file)
        found, warnings = asyncio.run(trial.trial(database, text, settings, file=file))
    write_warnings(warnings, as_json=arguments.json)
    for tried in found:
        if arguments.json:
            write_json(tried.record())
        else:
            _print(tried)
    return 0


def _make_statement(arguments: argparse.Namespace) -> str:
    """Return the statement of the flags, on a placeholder page if they name only a receiver."""
    url = arguments.url or "https://example.org/"
    whole = url if arguments.command is not None else first_check.complete(url)
    name = arguments.name or "test"
    return first_check.make_statement(
        arguments, url=whole, name=name, monitor=arguments.monitor or "all words", login=""
    ).text


def _send(database: Database, text: str, arguments: argparse.Namespace, settings: Settings) -> int:
    """Send a test message to each receiver of a statement; return 3 if one of them refuses it."""
    (sentinel,) = read(text)
    tests = asyncio.run(send_test_message(database, cast("Sentinel", sentinel), settings, patience=PATIENCE))
    for test in tests:
        if arguments.json:
            write_json({"record": "test", "channel": test.kind, "address": test.address, "error": test.reason})
        else:
            what = f"could not be notified: {test.reason}" if test.reason else "has accepted a test message"
            write_line(f"{test.kind} {test.address} {what}")
    return TidingsError.exit_code if any(test.reason for test in tests) else 0


def _read(database: Database, word: str) -> tuple[str, str]:
    """Return the statements that an argument gives, and the name of their file; of a word that is
    no file but the name of a sentinel, those of the sentinel.
    """
    if word != "-" and not names_existing_file(word):
        with contextlib.suppress(UnknownNameError):
            return database.read(sentinels.find, word).text, ""
    return read_statements(word)


@contextlib.contextmanager
def _database(settings: Settings) -> Iterator[Database]:
    """Yield the database, or a temporary empty one if there is none: a trial stores nothing."""
    with contextlib.ExitStack() as stack:
        try:
            database = open_database(settings, create=False)
        except StoreMissingError:
            if has_been_used(settings.data):
                raise
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tidings-test-")))
            database = open_database(replace(settings, data=folder, store=replace(settings.store, url="")))
        stack.callback(database.close)
        yield database


def _describe_changes(trial: StoredTrial) -> str:
    """Return a summary of the changes an option would have reported: how many, and between which
    versions, the newest if many.
    """
    news = [r for r in trial.reports if not r.quiet]
    pairs = [
        f"{r.from_version.partition('.')[2]}→{r.to_version.partition('.')[2]}{' (partial)' if r.partial else ''}"
        for r in news
    ]
    quiet = len(trial.reports) - len(news)
    shown = ", ".join((["…"] if len(pairs) > SHOWN else []) + pairs[-SHOWN:])
    head = f"{len(pairs)} change{'' if len(pairs) == 1 else 's'}{': ' if pairs else ''}{shown}"
    return f"{head}; {quiet} more would be quiet, because they are only noise" if quiet else head


def _print(tried: Tried) -> None:
    write_line(f"{tried.sentinel}  {tried.url}  {tried.outcome}")
    if tried.title:
        write_line(f"    title    {tried.title}")
    seen = (
        f" ({describe_page(tried.words, tried.links, tried.images)} now)"
        if tried.outcome == "ok" or tried.words
        else ""
    )
    write_line(f"    watched  {tried.monitor}{seen}")
    if tried.frames:
        write_line(f"    frames   {len(tried.frames)}: {', '.join(tried.frames)}")
    if tried.first_words:
        write_line(f"    begins   {tried.first_words}")
    for place, line in enumerate(lines_of_readings(tried.seen.readings)):
        write_line(f"    {'' if place else 'now':<8} {line}")
    for place, on_stored in enumerate(tried.on_stored):
        if not place:
            write_line(
                f"    stored   {on_stored.versions} versions; the sentinel would have reported, for each Compare:"
            )
        write_line(
            f"      {compare_text(on_stored.compare):<10}{' *' if on_stored.is_own else '  '} {_describe_changes(on_stored)}"
        )
        for problem in on_stored.problems if on_stored.is_own else ():
            write_line(f"                 {problem}")
    for line in lines_of(tried.masks) if tried.masks is not None else ():
        write_line(f"    {line}")
    for warning in tried.warnings:
        write_line(f"    warning  {warning}")
