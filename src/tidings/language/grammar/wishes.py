"""Wishes: statements of other programs and of plain English, rewritten as statements of the
language.

`watch the price on https://shop.example/ every hour and mail anna@example.org` names a page, and
the rest in parts that each begin with a word on time, receivers, tags or the watched content. Each
part is rewritten as a clause (`guesses.lines_for`); the remainder is what to monitor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tidings.language.words import is_reserved
from tidings.model.url import split_url

_ADDRESS = re.compile(r'"?\b(https?://[^\s"<>]+)"?', re.IGNORECASE)
_NAMED = (
    re.compile(r"\b(?:called|named|name|as)\s*[:=]?\s*(\"[^\"]+\"|[\w-]+)", re.IGNORECASE),
    re.compile(
        r"^(?:create|add|new|make)?\s*(?:a\s+)?(?:sentinel|watch|watcher|monitor|job|site|page)\s+"
        r"(?!for\b|on\b|the\b|a\b|page\b|feed\b|url\b|price\b|text\b|all\b|any\b)(\"[^\"]+\"|[\w-]+)(?=\s)",
        re.IGNORECASE,
    ),
)
_VERB = re.compile(
    r"^(?:please\s+)?(?:create|add|new|make|watch(?:es|ing)?|monitor(?:s|ing)?|track|follow|check|observe|sentinel)\b\s*",
    re.IGNORECASE,
)
_FILL = re.compile(
    r"^(?:(?:and|with|on|at|of|from|for|in|that|watch(?:es|ing)|monitors|the|a|an|page|site|website|url|link|address|using|to|it|if|,|:|=|-)(?:\s+|$|(?<=[,:=-])))+",
    re.IGNORECASE,
)
_TRAIL = re.compile(
    r"(?:\s+|^)(?:(?:and|with|on|at|of|from|for|in|that|the|page|site|website|url|using|then|,|:|=)\s*)+$",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"(?<!\S)(?=(?:every|each|hourly|daily|weekly|once|twice|notify|alert|tell|email|e-mail|mail|message|send|webhook|tag|tags|tagged|label|"
    r"select|exclude|ignore|without|except|fetch|check|during|render|header|between|only\s+(?:on|between))\b)",
    re.IGNORECASE,
)
_MORE = re.compile(r"^(?:css|xpath|jsonpath)\b", re.IGNORECASE)
_SORTS = {
    "feed": "items inserted",
    "rss": "items inserted",
    "json": "any change",
    "api": "any change",
    "changes": "any change",
    "page": "any change",
}
_WHOLE = re.compile(r"create\s+(?:sentinel|collection)\s+\S+\s+using\b", re.IGNORECASE)
"""A statement with a readable head: its faults are reported clause by clause."""
Clauses = Callable[[str], Iterator[str]]


def name_of_host(address: str) -> str:
    """Return a name for a sentinel on an address without one: `shop` for
    https://www.shop.example/.
    """
    parts = [part for part in (split_url(address).hostname or "page").split(".") if part != "www"]
    name = re.sub(r"[^A-Za-z0-9_]+", "-", parts[-2] if len(parts) > 1 else parts[0]).strip("-")
    return name if re.match(r"[A-Za-z_]", name) and not is_reserved(name) else f"page-{name}"


def statements_for(text: str, clauses_for: Clauses) -> Iterator[str]:
    """Yield possible statements for a wish about one address; the caller drops those that the
    grammar does not read.

    Args:
        text: The wish, in one line.
        clauses_for: Yields the possible clauses of a part, first the part itself.
    """
    found = _ADDRESS.search(text)
    if found is None or _WHOLE.match(text) or not (_VERB.match(text) or found.start() == 0 or _NAMED[1].match(text)):
        return
    before, behind = text[: found.start()], text[found.end() :]
    name, before = _name(before)
    if not name:
        name, behind = _name(behind)
    meant = {part: next(clauses_for(part), "") for part in (*_parts(_without_verb(before)), *_parts(behind))}
    wishes = [part for part, clause in meant.items() if not clause]
    asked = [clause for clause in meant.values() if clause.lower().startswith("monitor ")]
    clauses = [clause for clause in meant.values() if clause and clause not in asked]
    if wishes and asked:
        return
    monitor = asked[0] if asked else _monitor(wishes, clauses_for)
    yield " ".join([f"Create Sentinel {name or name_of_host(found[1])} Using {found[1]} {monitor}", *clauses])


def _name(text: str) -> tuple[str, str]:
    """Return the name in a text, empty if there is none, and the text without it."""
    for pattern in _NAMED:
        if found := pattern.search(text):
            name = re.sub(r"\W+", "-", found[1].strip('"')).strip("-")
            if re.match(r"[^\W\d]", name) and not is_reserved(name):
                return name, text[: found.start()] + text[found.end() :]
    return "", text


def _without_verb(text: str) -> str:
    return _VERB.sub("", text, count=1)


def _parts(text: str) -> list[str]:
    """Return the parts of a text, each without its connecting words."""
    parts = (_TRAIL.sub("", _FILL.sub("", part.strip())) for part in _BEGINS.split(text))
    return [part for part in parts if part.strip(' ,;."')]


def _monitor(wishes: list[str], clauses_for: Clauses) -> str:
    said = " ".join(wishes).strip()
    if not said:
        return "Monitor any change"
    first, _, rest = said.partition(" ")
    sort = _SORTS.get(first.lower(), "")
    if sort:
        said = f"{sort} in {rest}" if _MORE.match(rest) else f"{sort} {rest}".strip()
    return next(clauses_for(f"Monitor {said}"), f"Monitor {said}")
