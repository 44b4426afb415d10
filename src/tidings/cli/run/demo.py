"""`tidings demo`: simulated sites on loopback, the service that watches them, and its reports."""

from __future__ import annotations

import argparse
import asyncio
import shlex
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.cli.arguments import duration
from tidings.cli.output import add_json, write_json, write_line
from tidings.clock import SECOND
from tidings.demo.play import Output, play
from tidings.demo.process import default_home
from tidings.demo.report import Record, lines

if TYPE_CHECKING:
    from tidings.settings import Settings

NARROWEST, WIDEST = 64, 110


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "--seed", type=int, default=1, metavar="NUMBER", help="show another made-up day, by its number (default 1)"
    )
    parser.add_argument(
        "--for", dest="limit", type=duration, metavar="DURATION", help="stop this long after the start, e.g. 90s"
    )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run until Ctrl-C, then print what to do next. The user's data directory is not touched."""
    del settings
    home = arguments.data or default_home()
    width = min(WIDEST, max(NARROWEST, shutil.get_terminal_size().columns))

    def output(record: Record) -> None:
        if arguments.json:
            write_json(record)
            return
        for line in lines(record, width=width):
            write_line(line)

    asyncio.run(_play(arguments, home, output))
    if not arguments.json:
        _farewell(home)
    return 0


async def _play(arguments: argparse.Namespace, home: Path, output: Output) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    seconds = arguments.limit / SECOND if arguments.limit is not None else None
    await play(home, output, seed=arguments.seed, seconds=seconds, stop=stop)


def _farewell(home: Path) -> None:
    tidings, data = _own_name(), shlex.quote(str(home))
    write_line()
    write_line("Next:")
    write_line(f"  {tidings} changes --data {data}")
    write_line("      all changes that were reported")
    write_line(f"  {tidings} history square --data {data}")
    write_line("      each version of the market square, the quiet ones too")
    write_line(f"  {tidings} add --url https://example.org/")
    write_line("      watch a page of yours")


def _own_name() -> str:
    """Return the name of this command here: its own, or `script/run` in a clone."""
    if shutil.which("tidings"):
        return "tidings"
    script = Path(sys.argv[0]).parent.parent.parent / "script" / "run"
    if not script.exists():
        return f"{shlex.quote(sys.executable)} -m tidings"
    here = script.resolve()
    return str(here.relative_to(Path.cwd())) if here.is_relative_to(Path.cwd()) else shlex.quote(str(here))
