"""`tidings simulate`: try other budgets, policies and urgencies on recorded changes; `lab`: compare
the policy in use with those of `lab.policies` on simulated pages.
"""

from __future__ import annotations

import argparse
from importlib.metadata import entry_points
from itertools import product
from typing import TYPE_CHECKING, Final

from tidings.cli.arguments import duration, read_text
from tidings.cli.output import add_json, progress, write_json, write_line
from tidings.clock import DAY, HOUR, SystemClock
from tidings.errors import UsageError
from tidings.language import parser as language
from tidings.model.interval import describe_duration
from tidings.model.watch.sentinel import Sentinel
from tidings.scheduling.policies import POLICIES
from tidings.service.on_demand.simulation import (
    Outcome,
    PageHistory,
    Progress,
    make_history,
    other_settings,
    read_history,
    read_trace,
    simulate,
)
from tidings.service.show.records import spell_gap
from tidings.storage.db.database import open_database

if TYPE_CHECKING:
    from tidings.model.watch.sentinel import Urgency
    from tidings.settings import Settings

FACTORS: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Factors of the budget tried by default."""
BAR: Final = 24


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Declare the arguments of a verb."""
    (_configure_lab if verb == "lab" else _configure_simulate)(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run a verb and return the exit code."""
    return (_run_lab if arguments.verb == "lab" else _run_simulate)(arguments, settings)


def _configure_simulate(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="a file with one change on each line: ADDRESS TIME; default: the changes recorded here",
    )
    parser.add_argument("--days", type=int, default=30, metavar="N", help="replay the last N days (default 30)")
    parser.add_argument(
        "--budget", type=float, nargs="+", default=[], metavar="N", help="the numbers of checks in a day to try"
    )
    parser.add_argument(
        "--policy", nargs="+", default=[], metavar="NAME", choices=sorted(POLICIES), help="the policies to compare"
    )
    parser.add_argument(
        "--urgency",
        nargs="+",
        default=[],
        metavar="TEXT",
        help='the Urgency of all sentinels, e.g. "exponential 6 hours"',
    )
    parser.add_argument(
        "--within",
        type=duration,
        default=HOUR,
        metavar="DURATION",
        help="show what share of the changes would be seen within this time (default 1h)",
    )
    add_json(parser)


def _run_simulate(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print a line for what really happened and one for each variant."""
    urgencies: dict[str, Urgency] = {text: _urgency(text) for text in arguments.urgency}
    history = _history(arguments, settings)
    if not history.pages:
        raise UsageError("there is nothing to simulate, because nothing is watched (tidings add)")
    budget = settings.budget.polls_per_day
    asked = any((arguments.budget, arguments.policy, arguments.urgency))
    ways = [
        *product(
            dict.fromkeys([budget, *arguments.budget] if asked else [budget * factor for factor in FACTORS]),
            dict.fromkeys([settings.schedule.policy, *arguments.policy]),
            dict.fromkeys(["", *urgencies]),
        )
    ]
    if not arguments.json:
        write_line(
            _HEAD.format("", "a day", "found", "half within", f"seen within {describe_duration(arguments.within)}")
        )
    if arguments.trace is None:
        _write("what really happened", {"kind": "real"}, history.as_it_was(), arguments)
    for number, (a_day, policy, urgency) in enumerate(ways):
        progress = _progress(number, len(ways))
        tried = other_settings(settings, budget=a_day, policy=policy)
        found = simulate(history, tried, urgency=urgencies.get(urgency), progress=progress)
        progress(1.0)
        title = f"budget {a_day:,.0f}, {policy}{f', {urgency}' if urgency else ''}"
        _write(
            title,
            {"kind": "simulated", "budget": a_day, "policy": policy, "urgency": urgency or None},
            found,
            arguments,
        )
    return 0


def _history(arguments: argparse.Namespace, settings: Settings) -> PageHistory:
    if arguments.trace is not None:
        return make_history(read_trace(read_text(arguments.trace)))
    if arguments.days < 1:
        raise UsageError("--days is at least 1")
    now = SystemClock().now()
    database = open_database(settings, create=False)
    try:
        return database.read(read_history, settings, begin=now - arguments.days * DAY, end=now)
    finally:
        database.close()


def _urgency(text: str) -> Urgency:
    """Parse an urgency of the language. Raises `SentinelError` if it is invalid."""
    found = [
        one
        for one in language.parse(
            f"Create Sentinel x Using https://example.org/ Monitor all words Urgency {text}"
        ).statements
        if isinstance(one, Sentinel)
    ]
    if len(found) != 1:
        raise UsageError(f"{text!r} is not an urgency; write uniform, exponential 6 hours or window 1 day")
    return found[0].urgency


_HEAD: Final = "{:<44} {:>9} {:>15} {:>12}  {}"


def _write(title: str, about: dict[str, object], found: Outcome, arguments: argparse.Namespace) -> None:
    record = found.record()
    share = found.within(arguments.within)
    if arguments.json:
        write_json({"record": "simulation", **about, **record, "seen_within": round(share, 4)})
        return
    median = record["delay_median_seconds"]
    half = "-" if median is None else spell_gap(round(median * 1e6))
    bar = "█" * round(share * BAR)
    counts = f"{found.captured:,} of {found.changes:,}"
    write_line(_HEAD.format(title, f"{found.checks_a_day:,.1f}", counts, half, f"{share:4.0%} {bar}"))


def _progress(number: int, many: int) -> Progress:
    """Return a callback that draws a bar in the progress line."""

    def draw(share: float) -> None:
        done = (number + share) / many
        progress(f"[{'#' * round(done * BAR):<{BAR}}] {done:4.0%}")

    return draw


def _configure_lab(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: the size of the simulation."""
    parser.add_argument("--pages", type=int, default=60, help="how many pages there are (default 60)")
    parser.add_argument("--days", type=int, default=10, help="how many days are played (default 10)")
    parser.add_argument("--seed", type=int, default=0, help="start value of the random numbers (default 0)")
    parser.add_argument("--json", action="store_true", help="print JSON, one record on each line")


def _run_lab(arguments: argparse.Namespace, settings: Settings) -> int:
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
