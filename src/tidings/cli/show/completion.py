"""`tidings completion bash|zsh|fish`: the script that completes the command line in a shell."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tidings.cli.output import write_line
from tidings.errors import StoreMissingError
from tidings.storage.db.database import open_database
from tidings.storage.watches import sentinels

if TYPE_CHECKING:
    import argparse

    from tidings.settings import Settings

KINDS = ("bash", "zsh", "fish", "names")


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "kind",
        choices=KINDS,
        help="your shell; `names` is for the script itself: it prints the names of all sentinels",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the script, or the names."""
    if arguments.kind == "names":
        return _names(settings)
    from tidings.cli.reference import SHELLS  # it loads the parsers of all verbs

    sys.stdout.write(SHELLS[arguments.kind]())
    return 0


def _names(settings: Settings) -> int:
    try:
        database = open_database(settings, create=False)
    except StoreMissingError:
        return 0
    try:
        for name in sorted(database.read(sentinels.names)):
            write_line(name)
    finally:
        database.close()
    return 0
