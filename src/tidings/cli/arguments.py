"""Argument types shared by several commands."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tidings.clock import SystemClock
from tidings.errors import UsageError
from tidings.language.times import measure, read_moment
from tidings.model.interval import Period
from tidings.storage.db.connection import UNLIMITED

_STATEMENTS = frozenset({".txt", ".yaml", ".yml", ".tidings", ".json"})
"""endings of files of statements, which are no ends of host names"""
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")


def duration(text: str) -> int:
    """Parse `30s`, `5 min`, `1.5 h` as µs, with the units of the language."""
    match = _DURATION.fullmatch(text)
    if match is None:
        message = f"{text!r} is not a duration; write a number and a unit, e.g. 30s, 5min, 2h"
        raise argparse.ArgumentTypeError(message)
    try:
        return measure(match[1], match[2])
    except (KeyError, ValueError) as error:
        message = f"{text!r} has no known unit; the units are s, min, hour, day and week"
        raise argparse.ArgumentTypeError(message) from error


def add_limit(parser: argparse.ArgumentParser, default: int, what: str = "the newest N") -> None:
    """Add the flag `--limit` to a command; 0 shows all."""
    parser.add_argument(
        "--limit", type=_limit, default=default, metavar="N", help=f"show only {what} (default {default}; 0: all)"
    )


def add_receivers(parser: argparse.ArgumentParser) -> None:
    """Declare `--notify`, for a new sentinel or collection."""
    parser.add_argument(
        "--notify",
        action="append",
        default=[],
        metavar="RECEIVER",
        help="whom to notify, with a rate if you like, e.g. anna@example.org or 'anna@example.org every 1 day'; may be repeated",
    )


def _limit(text: str) -> int:
    if not text.isdecimal():
        message = f"{text!r} is not a number of lines; write 20, or 0 for all"
        raise argparse.ArgumentTypeError(message)
    return min(int(text), UNLIMITED) or UNLIMITED


def add_period(parser: argparse.ArgumentParser) -> None:
    """Add the flags `--since`, `--until` and `--last` to a command."""
    parser.add_argument(
        "--since", metavar="WHEN", help="show only what is later: a date, yesterday, monday, '2 days ago' or 7d"
    )
    parser.add_argument("--until", metavar="WHEN", help="show only what is earlier; a day means its end")
    parser.add_argument("--last", metavar="DURATION", help="show only what happened in this time until now, e.g. 7d")


def read_period(arguments: argparse.Namespace, zone: str) -> Period:
    """Return the period of `--since`, `--until` and `--last`. Raises `UsageError` for a text that
    is no time.

    Args:
        arguments: The arguments of the command.
        zone: The zone of dates and days.
    """
    if arguments.last is not None and arguments.last.isdecimal():
        raise UsageError(
            f"--last {arguments.last} has no unit; write --last {arguments.last}d, or --limit {arguments.last}"
        )
    since = arguments.since if arguments.last is None else arguments.last
    now = SystemClock().now()
    return Period(
        None if since is None else read_moment(since, zone, now),
        None if arguments.until is None else read_moment(arguments.until, zone, now, is_end=True),
    )


_NO_SCHEME = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:/\S*)?", re.IGNORECASE)


def names_existing_file(word: str) -> bool:
    """Return whether there is a file of this name; a long statement is too long for a name."""
    try:
        return Path(word).exists()
    except OSError:
        return False


def read_statements(word: str) -> tuple[str, str]:
    """Return the statements that an argument gives, and the name of their file: of a file, of
    standard input for `-`, or the argument itself if it has several words and names no file.

    Raises `UsageError` if there is no such file, or it cannot be read.
    """
    if word == "-" or names_existing_file(word):
        return read_text(word), word
    names_file = Path(word).suffix.lower() in _STATEMENTS
    if len(word.split()) > 1 and not names_file:
        return word, ""
    if _NO_SCHEME.fullmatch(word) and not names_file:
        message = f"there is no file {word}; to watch this page, write: tidings add https://{word}"
        raise UsageError(message)
    return read_text(word), word


def read_text(name: str) -> str:
    """Return the text of a file, or of standard input for `-`, without a byte order mark.

    Raises `UsageError` if it cannot be read or is not UTF-8.
    """
    shown = "standard input" if name == "-" else name
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except OSError as error:
        message = f"{shown} cannot be read: {error.strerror or error}"
        raise UsageError(message) from error
    except UnicodeDecodeError as error:
        if error.object.startswith(b"PK\x03\x04"):
            message = (
                f"{shown} is an archive, not a text; a backup of changedetection.io has its addresses in url-list.txt"
            )
            raise UsageError(message) from error
        line = error.object.count(b"\n", 0, error.start) + 1
        message = f"{shown} cannot be read: line {line} is not text in UTF-8; save the file in UTF-8 and try again"
        raise UsageError(message) from error
    return text.removeprefix("\ufeff")
