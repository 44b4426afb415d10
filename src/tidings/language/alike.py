"""Long texts that say the same of many pages: clauses that stand there again are read once.

A text takes part if it is nothing but sentinels that each watch one page without a name, and if no text in quotes, list or comment could hide
where one of them ends. All others are read as a whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lark import Token

FEWEST = 8
"""So many statements are worth the while."""
_STATEMENT = re.compile(
    r"""\s* (?P<whole> Create \s+ Sentinel \s+ (?P<name> [A-Za-z_](?:\w|-(?!-))* ) \s+ Using \s+ (?P<url> https?://[^\s"<>,;]+ )
        (?P<clauses> (?: \s (?: (?! \bCreate\s+Sentinel\b | -- ) [^;"<] )* )? ) ) (?: (?: ; (?=\s|\Z) )+ \s* | \Z | (?=Create\s) )""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """A statement as it stands, from `start` to `end`: its name, its address, and its clauses, which begin at `clauses_start`."""

    name: Token
    url: Token
    clauses: str
    start: int
    clauses_start: int
    end: int


def spans(text: str) -> list[Span] | None:
    """Return the statements of a text; None if it does not take part, or if fewer than half of them have the clauses of another."""
    found: list[Span] = []
    at = 0
    while at < len(text):
        match = _STATEMENT.match(text, at)
        if match is None:
            return None
        name = Token("NAME", match["name"], start_pos=match.start("name"))
        url = Token("URL", match["url"], start_pos=match.start("url"))
        clauses = match["clauses"].rstrip()
        found.append(Span(name, url, clauses, match.start("whole"), match.start("clauses"), match.end("whole")))
        at = match.end()
    return found if len(found) >= FEWEST and 2 * len({span.clauses for span in found}) <= len(found) else None
