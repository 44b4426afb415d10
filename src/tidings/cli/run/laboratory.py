"""`lab`: compare the policy in use with those of `lab.policies`, on simulated pages. The laboratory
is an entry point that no module imports.
"""

from __future__ import annotations

import argparse
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from tidings.cli.output import write_json, write_line
from tidings.errors import UsageError

if TYPE_CHECKING:
    from tidings.settings import Settings


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - each verb of a module may have its own
    """Declare the arguments: the size of the simulation."""
    parser.add_argument("--pages", type=int, default=60, help="how many pages there are (default 60)")
    parser.add_argument("--days", type=int, default=10, help="how many days are played (default 10)")
    parser.add_argument("--seed", type=int, default=0, help="start value of the random numbers (default 0)")
    parser.add_argument("--json", action="store_true", help="print JSON, one record on each line")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print a line per policy: freshness, value, delays, and cost."""
    if min(arguments.pages, arguments.days) < 1:
        message = "--pages and --days are at least 1"
        raise UsageError(message)
    (found,) = entry_points(group="tidings.lab", name="compare")
    compare = found.load()
    for number, name in enumerate(dict.fromkeys((settings.schedule.policy, *settings.lab.policies))):
        row = compare(name, pages=arguments.pages, days=arguments.days, seed=arguments.seed)
        if arguments.json:
            write_json({"record": "lab", "policy": name, **row})
            continue
        if not number:
            write_line("  ".join(["policy".ljust(20), *row]))
        write_line("  ".join([name.ljust(20), *(f"{value:{len(column)}.3g}" for column, value in row.items())]))
    return 0
