"""`tidings plan [NAME…]`: the next checks, each with its reason; `explain NAME`: how often pages
change, how late changes are seen, what other intervals would achieve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.cli.arguments import add_limit
from tidings.cli.output import add_json, short_time, write_json, write_line
from tidings.clock import SystemClock
from tidings.service.explain.explain_sentinel import BY_TURNS
from tidings.service.explain.plan_summary import ComingPoll, list_coming_polls, summarize_plan
from tidings.service.plan.worth import spell
from tidings.service.show.records import rfc3339
from tidings.service.watch import by_name
from tidings.storage.db.database import open_database

if TYPE_CHECKING:
    import argparse

    from tidings.model.interval import Instant
    from tidings.service.explain.plan_expert import Appraisal
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection


def find_turns(connection: Connection, settings: Settings, now: Instant) -> dict[int, Instant]:
    """Return when a turn-based policy would poll each page; empty under any other, which stores
    what it learns.
    """
    policy = settings.schedule.policy
    if policy not in BY_TURNS:
        return {}
    from tidings.service.explain import plan_expert
    from tidings.service.on_demand.appraisal import open_idle_planner

    planner, _ = open_idle_planner(connection, settings)
    return plan_expert.turns(connection, planner, policy=policy, now=now)


def _appraise(connection: Connection, settings: Settings, now: Instant) -> Appraisal | None:
    from tidings.service.on_demand.appraisal import find_appraisal  # numpy, for experts only

    return find_appraisal(connection, settings, now)


SHOWN = 20


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Declare the arguments of a verb."""
    (_configure_explain if verb == "explain" else _configure_plan)(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run a verb and return the exit code."""
    return (_run_explain if arguments.verb == "explain" else _run_plan)(arguments, settings)


def _configure_plan(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="list only checks of these sentinels; default: all")
    add_limit(parser, SHOWN, "the next N checks")
    parser.add_argument(
        "--expert",
        action="store_true",
        help="also show what Tidings learned about each page, and how close the plan is to the best possible plan",
    )
    add_json(parser)


def _run_plan(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the next checks."""
    now = SystemClock().now()
    database = open_database(settings, create=False)
    try:
        turns = database.read(find_turns, settings, now)
        polls = database.read(list_coming_polls, settings, names=arguments.names, now=now, turns=turns)
        whole = None if arguments.names or not polls else database.read(summarize_plan, settings, polls, now=now)
        appraisal = database.read(_appraise, settings, now) if arguments.expert and polls else None
    finally:
        database.close()
    shown = polls[: arguments.limit]
    bids = {} if appraisal is None else appraisal.bids
    if arguments.json:
        for poll in shown:
            bid = {"bid": bids[poll.page_id].record()} if poll.page_id in bids else {}
            write_json({**poll.record(expert=arguments.expert), **bid})
        for record in [
            *([] if whole is None else [whole.record()]),
            *([] if appraisal is None else appraisal.records()),
        ]:
            write_json(record)
        return 0
    if not polls:
        write_line(
            "no check is planned, because nothing is watched (tidings add) or everything is paused (tidings list)"
        )
    for poll in shown:
        write_line(_line(poll, now, expert=arguments.expert))
        if poll.page_id in bids:
            write_line(f"{'':<17} {bids[poll.page_id]}")
    if len(shown) < len(polls):
        write_line(f"and {len(polls) - len(shown):,} more: --limit 0 shows all")
    for line in [*([] if whole is None else whole.lines()), *([] if appraisal is None else appraisal.lines())]:
        write_line(line)
    return 0


def _line(poll: ComingPoll, now: int, *, expert: bool) -> str:
    prospect = poll.prospect
    when = "no time set" if prospect.at is None else "now" if prospect.at <= now else short_time(rfc3339(prospect.at))
    rate = poll.changes_a_day
    expected = [] if rate is None else [f"{rate:.3g} changes a day expected"]
    note = f"  ({'; '.join([*expected, *spell(poll.taught)])})" if expert and (expected or poll.taught) else ""
    return f"{when:<17} {poll.sentinel}  {prospect.url}  {prospect.why}{note}"


def _configure_explain(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME")
    add_json(parser)


def _run_explain(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print what is known of each page."""
    database = open_database(settings, create=False)
    try:
        return database.read(_explain, arguments, settings)
    finally:
        database.close()


def _explain(c: Connection, arguments: argparse.Namespace, settings: Settings) -> int:
    row = by_name.find(c, arguments.name)
    from tidings.service.explain.page_report import reports  # it loads numpy, which a plan does not need

    found = reports(c, row, settings, SystemClock().now(), most=1_000)
    for report in found:
        if arguments.json:
            write_json({"record": "explain", "sentinel": row.name, **report.record()})
            continue
        write_line(f"{report.url}  {report.title}".rstrip())
        for line in report.lines():
            write_line(f"    {line}")
    if not found and not arguments.json:
        write_line(f"{row.name} makes no checks of its own now: {row.state}")
    return 0
