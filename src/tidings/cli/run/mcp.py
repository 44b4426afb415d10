"""`tidings mcp`: a server of the Model Context Protocol on standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from tidings.plugs.assistant import serve
from tidings.storage.db.database import open_database

if TYPE_CHECKING:
    import argparse

    from tidings.settings import Settings


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("--edit", action="store_true", help="the assistant may also add, check, pause and resume")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Answer an assistant until it leaves."""
    with contextlib.closing(open_database(settings)) as database:
        asyncio.run(serve(settings, database, may_edit=arguments.edit).run_stdio_async())
    return 0
