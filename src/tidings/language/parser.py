"""Parse a text of the sentinel language: from characters to `model.Sentinel` and `model.Command`.

`parse` never raises for faults in the text: it returns the statements it understood, with every
problem and warning. `read` raises `SentinelError` instead. The parser is made once, on first use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import field
from datetime import UTC
from functools import lru_cache
from typing import TypedDict, Unpack

from tidings.errors import SentinelError
from tidings.language.grammar.syntax import Compound, Part, follows, read_syntax
from tidings.language.problems import Problem, ProblemReport
from tidings.language.statements import ParseContext, Reader
from tidings.language.times import read_zone
from tidings.language.verify import KnownSentinel, Names
from tidings.model.interval import Duration, Instant
from tidings.model.watch.sentinel import Clauses, Sentinel, Statement, Watched
from tidings.record import dataclass, replace

__all__ = ["KnownSentinel", "Parsed", "Problem", "parse", "read", "recall"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed text. `statements` are those without a problem; the text as a whole is valid only if
    `problems` is empty.

    `places` are, for each statement, the offsets of its clauses and their parts; `report` maps them
    to lines.
    """

    statements: tuple[Statement, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    places: tuple[Mapping[str, int], ...] = ()
    report: ProblemReport = field(default_factory=lambda: ProblemReport(""), compare=False, repr=False)


class ParseOptions(TypedDict, total=False):
    """What is known beside a text; all of it may be left out."""

    known: Callable[[str], KnownSentinel | None] | None
    """Finds an existing sentinel; None: names are not checked, and only sentinels of the same text
    can be a base.
    """
    zone: str
    """The IANA zone of sentinels that name none; default UTC."""
    now: Instant | None
    """The present (µs); None: past dates are not checked."""
    floor: Duration | None
    """The operator's shortest interval (µs, W5)."""
    names: Iterable[str]
    """The existing sentinels, for "did you mean"."""
    secrets: Container[str] | None
    """The names of secrets that are set (W9); None: not checked."""
    defaults: Callable[[str], Clauses | None] | None
    """Finds the existing defaults of a tag."""
    files: bool
    """Whether `file:` addresses may be watched."""
    events: Mapping[str, Iterable[str]] | None
    """The outside events, each with the names of the living sentinels that wait for it; None: not
    checked.
    """
    anew: bool
    """Whether what the text creates counts as not existing yet."""


def parse(text: str, **options: Unpack[ParseOptions]) -> Parsed:
    """Return the statements of a text with its problems (at most ten) and warnings. Raise
    `ValueError` if `zone` is no time zone.
    """
    return _parse(text, *read_options(options))


def read_options(options: ParseOptions) -> tuple[Names, ParseContext]:
    """Return the names and the context that options describe. Raise `ValueError` if `zone` is no
    time zone.
    """
    outside = ParseContext(
        read_zone(options.get("zone", "UTC")),
        options.get("now"),
        options.get("floor"),
        options.get("secrets"),
        options.get("defaults"),
        options.get("files", False),
        events=options.get("events"),
        anew=options.get("anew", False),
    )
    return Names(options.get("known"), options.get("names", ())), outside


def count_clauses(text: str) -> int:
    """Return how many clauses the one statement of a text has, without its head; 0 if the text is
    anything else.

    Who puts foreign words into a clause asks whether another clause has come of them.
    """
    parts = list(read_syntax(text, ProblemReport(text)))
    return len(parts[0].clauses) if len(parts) == 1 and isinstance(parts[0], Compound) else 0


def is_name(text: str) -> bool:
    """Return whether a text, as a whole, can name a sentinel."""
    parsed = parse(f"Create Sentinel {text} Using https://example.org/ Monitor any change")
    named = [one.name if isinstance(one, Sentinel) else None for one in parsed.statements]
    return not parsed.problems and named == [text]


def _parse(text: str, names: Names, outside: ParseContext) -> Parsed:
    report = ProblemReport(text)
    parsed = meaning_of_parts(read_syntax(text, report), report, names, outside)
    if not parsed.problems or outside.is_stored:
        return parsed
    from tidings.language.guesses.suggest import improve  # only for a text with faults

    improve(text, report, lambda line: not _is_faulty(line), follows)
    return replace(parsed, problems=report.problems)


def _is_faulty(text: str) -> bool:
    """Return whether a text has a fault of its own, whatever else is watched."""
    report = ProblemReport(text)
    found = meaning_of_parts(read_syntax(text, report), report, Names(None), ParseContext(UTC, files=True))
    return any(problem.code != "E20" for problem in found.problems)


def meaning_of_parts(parts: Iterable[Part], report: ProblemReport, names: Names, outside: ParseContext) -> Parsed:
    """Return the meaning of parsed statements; their faults go to the report, too.

    Args:
        parts: The parsed statements.
        report: Takes the faults.
        names: The existing sentinels.
        outside: The context of the text.
    """
    reader = Reader(report, names, outside)
    if outside.anew:
        parts = tuple(parts)
        reader.forget(parts)
    statements: list[Statement] = []
    places: list[Mapping[str, int]] = []
    for part in parts:
        faults = report.faults
        statement, where = reader.statement(part)
        if statement is not None and report.faults == faults:
            statements.append(statement)
            places.append(where)
    return Parsed(tuple(statements), report.problems, report.warnings, tuple(places), report)


def read(text: str, **options: Unpack[ParseOptions]) -> tuple[Statement, ...]:
    """Return the statements of a text. Raise `SentinelError` with its problems if there are any.
    Warnings are dropped.
    """
    return _whole(parse(text, **options))


def recall(text: str) -> Statement:
    """Return the one statement of a canonical text that was accepted before: its patterns and
    selectors are not checked again.

    Clauses that many sentinels of one page share are parsed once, and of a long list of pages only
    the first two. Raises `SentinelError` if the text cannot be read, `ValueError` if it is not one
    statement.
    """
    found = _ONE_PAGE.fullmatch(text)
    alike = None if found is None else _recall_clauses(found["clauses"])
    if found is None or alike is None:
        return _recall_long(text) or _recall(text)
    return replace(alike, name=found["name"], pages=(Watched(found["url"]),))


def recall_clauses(text: str) -> Statement:
    """Return the result of `recall`, with sentinels of one page that share their clauses as one
    object.

    It may have the name and the address of any of them.
    """
    head, line_end, clauses = text.partition("\n")
    is_shared = _HEAD.fullmatch(head) is not None
    return (_recall_clauses(line_end + clauses) if is_shared else None) or _recall(text)


_URL = r"[a-z]+://[^\s\"<>,;]+"
_HEAD = re.compile(rf"Create Sentinel (?P<name>[A-Za-z_]\w*(?:-(?!-)\w*)*) Using (?P<url>{_URL})")
_ONE_PAGE = re.compile(rf"{_HEAD.pattern}(?P<clauses>(?:\n.*)?)", re.DOTALL)
"""The canonical text of a sentinel on one unnamed page: its clauses do not depend on its head."""


_MANY_PAGES = re.compile(
    r"(?P<head>Create Sentinel (?:[A-Za-z_](?:\w|-(?!-))*) Using "
    rf"(?P<first>{_URL}), (?P<second>{_URL}))(?P<more>(?:, {_URL})+)(?P<clauses>(?:\n.*)?)",
    re.DOTALL,
)
"""The canonical text of a sentinel on three unnamed pages or more."""


def _recall_long(text: str) -> Sentinel | None:
    """Return the sentinel of a text with many unnamed pages, None for any other text and where the
    clauses need more than two pages.
    """
    found = _MANY_PAGES.fullmatch(text)
    if found is None:
        return None
    try:
        statement = _recall(found["head"] + found["clauses"])
    except SentinelError:
        return None
    urls = (found["first"], found["second"], *found["more"].removeprefix(", ").split(", "))
    return replace(statement, pages=tuple(map(Watched, urls))) if isinstance(statement, Sentinel) else None


@lru_cache(maxsize=1024)
def _recall_clauses(clauses: str) -> Sentinel | None:
    """Return a sentinel with these clauses on a placeholder page, None if they are not those of a
    sentinel.
    """
    statement = _recall(f"Create Sentinel any Using https://any.example/{clauses}")
    return statement if isinstance(statement, Sentinel) else None


def _recall(text: str) -> Statement:
    statements = _whole(_parse(text, Names(None), ParseContext(UTC, files=True, is_stored=True)))
    if len(statements) != 1:
        message = f"a stored text holds {len(statements)} statements: {text[:60]}"
        raise ValueError(message)
    return statements[0]


def _whole(parsed: Parsed) -> tuple[Statement, ...]:
    if parsed.problems:
        raise SentinelError(parsed.problems)
    return parsed.statements
