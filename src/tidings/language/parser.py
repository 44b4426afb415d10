"""Reading a text of the sentinel language: from characters to `model.Sentinel` and `model.Command`.

`parse` never raises for what stands in the text: it returns the statements it understood, with every problem and warning.
`read` raises `SentinelError` instead. The grammar is built once, when the first text is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tidings.errors import SentinelError
from tidings.language.dates import zone_of
from tidings.language.problems import Problem, Report
from tidings.language.statements import Reader
from tidings.language.syntax import read_syntax
from tidings.language.verify import Known, Names
from tidings.model.interval import Duration, Instant
from tidings.model.sentinel import Statement

__all__ = ["Known", "Parsed", "Problem", "parse", "read"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a text says. `statements` are those without a problem; the text as a whole holds only if `problems` is empty."""

    statements: tuple[Statement, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def parse(
    text: str,
    *,
    known: Callable[[str], Known | None] | None = None,
    zone: str = "UTC",
    now: Instant | None = None,
    floor: Duration | None = None,
    names: Iterable[str] = (),
) -> Parsed:
    """Return the statements of a text with its problems (at most ten) and warnings.

    `known` finds a sentinel that exists; without it names are not checked, and only sentinels of the same text can be used as a base.
    `zone` is the IANA zone of sentinels that name none, `now` the time of reading: without it nothing is said about the past.
    `floor` is the operator's shortest interval (W5), `names` the sentinels there are, only to say "did you mean".
    Raises `ValueError` if `zone` is no time zone.
    """
    default = zone_of(zone)
    if default is None:
        message = f'unknown time zone "{zone}"; expected an IANA name such as Europe/Paris'
        raise ValueError(message)
    report = Report(text)
    reader = Reader(report, Names(known, names), default, now, floor)
    statements: list[Statement] = []
    for part in read_syntax(text, report):
        faults = report.faults
        statement = reader.statement(part)
        if statement is not None and report.faults == faults:
            statements.append(statement)
    return Parsed(tuple(statements), report.problems, report.warnings)


def read(
    text: str,
    *,
    known: Callable[[str], Known | None] | None = None,
    zone: str = "UTC",
    now: Instant | None = None,
    floor: Duration | None = None,
    names: Iterable[str] = (),
) -> tuple[Statement, ...]:
    """Return the statements of a text; raises `SentinelError` with its problems if there are any. Warnings are dropped."""
    parsed = parse(text, known=known, zone=zone, now=now, floor=floor, names=names)
    if parsed.problems:
        raise SentinelError(parsed.problems)
    return parsed.statements
