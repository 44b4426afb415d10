"""`tidings alter NAME CLAUSE…`: replace clauses of a sentinel, in the language; - reads them from
standard input.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tidings.cli.arguments import read_text
from tidings.cli.output import add_json, write_json, write_line, write_warnings
from tidings.clock import SystemClock
from tidings.errors import SentinelError
from tidings.record import replace
from tidings.service.sentinels import register
from tidings.service.show.records import sentinel_record
from tidings.storage.db.database import open_database

if TYPE_CHECKING:
    from tidings.language.problems import Problem
    from tidings.service.sentinels.register import Registration
    from tidings.settings import Settings


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME")
    parser.add_argument(
        "clauses",
        nargs="+",
        metavar="CLAUSE|-",
        help="the new clause, e.g. 'Fetch every 2 hour'; it replaces the old clause of this kind. `Exclude none` removes all Exclude clauses",
    )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Alter one sentinel; the switch itself is not reported."""
    clauses = read_text("-") if arguments.clauses == ["-"] else " ".join(arguments.clauses)
    database = open_database(settings, create=False)
    try:
        done = register.register(
            database, f"Alter {arguments.name} {clauses}", settings=settings, now=SystemClock().now()
        )
    except SentinelError as error:
        raise SentinelError([_as_given(problem, arguments.name) for problem in error.problems]) from error
    finally:
        database.close()
    write_warnings([_as_given(warning, arguments.name) for warning in done.warnings], as_json=arguments.json)
    write_alterations(done, as_json=arguments.json)
    return 0


def _as_given(problem: Any, name: str) -> Problem:
    """Return a problem with its position in the given clauses, without our `Alter NAME` before
    them.
    """
    ours = len(f"Alter {name} ") if problem.line == 1 else 0
    given: Problem = replace(problem, column=max(1, problem.column - ours))
    return given


def write_alterations(done: Registration, *, as_json: bool) -> None:
    """Print which sentinels were altered, and which were unchanged."""
    for row in (*done.altered, *done.unaltered):
        if as_json:
            write_json(sentinel_record(row))
        elif row in done.altered:
            write_line(f"{row.name} is altered (revision {row.revision}); nobody is notified")
        else:
            write_line(f"{row.name} already has this clause (revision {row.revision}); nothing is altered")
