"""Rules that detect walls in place of a page, read from `plausibility.toml` (sentinels §5.3).

A rule never counts against a long page: an article about error pages is an article. All phrases of
all rules are searched at once, only in the beginning of a page.
"""

from __future__ import annotations

import importlib.resources
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import re2

from tidings.record import dataclass

Wall = Literal["blocked", "soft_error", "login"]

HEAD_BYTES = 32_768
"""The part of a body that is searched for vendors' markup, in bytes."""

HEAD_CHARACTERS = 4_000
"""The part of a text that is searched for phrases, in characters."""

FAR_BELOW = 0.3
"""The share of the usual words below which a page has collapsed (contracts §11)."""

_SMALLER = 0.6
"""Phrases count only on a page with less than this share of its usual words, or under another
title.
"""

_LARGER = 3
"""A page far below its usual size may have this many times the words that a rule allows."""

_LONG_WORD = 12
_SHORT_WORD = 6
"""Bytes of words in canonical text: a text counts for at least one word per so many of the first,
since Thai writes sentences without spaces, and for at most one per so many of the second, since in
Chinese and Japanese each character is a word.
"""

_FIRST_CHUNKS = 800
_FEW_PHRASES = 150
_LONGEST_TITLE = 300
_FOLDED = (
    *(("\u2019", "'"), ("\u2018", "'"), ("\u02bc", "'"), ("ё", "е"), ("…", "...")),
    *((invisible, "") for invisible in "\u00ad\u200b\u200c\u200d\u200e\u200f"),
)
_BETWEEN_PARTS = re.compile(r"\s+[-–—:·•»«|/›>~]+\s+|\s*[|»«·•]+\s*|:\s+")
_AROUND = " \t.,;!?¡¿:。!?、\"'“”„«»()[]()|-–—·•→←"


@dataclass(frozen=True, slots=True)
class WallRule:
    """One rule. A group without phrases is not required; bounds are in words, `most_share` is a
    share of the usual words.

    `first_words` is the bound at the first poll; 0: the rule does not apply then.
    """

    kind: Wall
    name: str
    most_words: int
    first_words: int
    most_share: float | None
    markup: frozenset[str]
    title: frozenset[str]
    text: frozenset[str]


@dataclass(frozen=True, slots=True)
class RuleInput:
    """The input of the rules. `usual_words` is None at the first poll; `is_error` says that the
    status is an error.
    """

    head: bytes
    title: str
    chunks: Sequence[str]
    words: int
    size: int
    usual_words: int | None
    usual_title: str
    is_error: bool

    @property
    def is_shorter(self) -> bool:
        """Return whether the page has clearly fewer words than usual; true if it was never seen."""
        return self.usual_words is None or self.words < _SMALLER * self.usual_words


def size_of(words: int, text_bytes: int) -> int:
    """Return the effective number of words of a text, adjusted for scripts without spaces."""
    return max(min(words, -(-text_bytes // _SHORT_WORD)), text_bytes // _LONG_WORD)


def find_wall(given: RuleInput) -> tuple[Wall, str] | None:
    """Return what is in place of the page and the rule with its evidence, or None: the first rule
    that applies.
    """
    table = _table()
    is_far_below = given.usual_words is not None and given.words < FAR_BELOW * given.usual_words
    if given.size > table.most_words * (_LARGER if is_far_below else 1) and not given.is_error:
        return None
    rules = [rule for rule in table.rules if _is_small(rule, given)]
    if not rules:
        return None
    markup = table.markup.find(given.head.lower())
    titles = _titles(given.title) - _titles(given.usual_title)
    beginning = fold(" ".join(given.chunks[:_FIRST_CHUNKS])[:HEAD_CHARACTERS])
    text = table.text.find(beginning, [rule.text for rule in rules])
    if not (markup or titles or text):
        return None
    for rule in rules:
        evidence = [
            evidence
            for where, asked, seen in (
                ("its markup has", rule.markup, markup),
                ("its title says", rule.title, titles),
                ("its text says", rule.text, text),
            )
            if (evidence := _evidence(where, asked, seen)) is not None
        ]
        if all(evidence) and _proves(rule, given):
            return rule.kind, f"this looks like {rule.name}: {' and '.join(evidence)}"
    return None


def fold(text: str) -> str:
    """Return a text case folded, with one form of quotes, and without invisible characters."""
    text = text.casefold()
    if not text.isascii():
        for written, read in _FOLDED:
            text = text.replace(written, read)
    return text


def _evidence(where: str, asked: frozenset[str], seen: frozenset[str]) -> str | None:
    """Return the evidence in words, "" if a required phrase is missing, None if the group requires
    nothing.
    """
    if not asked:
        return None
    both = asked & seen
    return f"{where} “{max(both, key=lambda phrase: (len(phrase), phrase)).removeprefix('=')}”" if both else ""


def _is_small(rule: WallRule, given: RuleInput) -> bool:
    if given.is_error and rule.markup:
        return True
    if given.usual_words is None:
        return rule.first_words > 0 and given.size <= rule.first_words
    if rule.most_share is not None and given.words >= rule.most_share * given.usual_words:
        return False
    most = rule.most_words * (_LARGER if given.words < FAR_BELOW * given.usual_words else 1)
    return given.size <= most


def _proves(rule: WallRule, given: RuleInput) -> bool:
    """Return whether the evidence suffices: a vendor's markup alone does, a title if it is new, a
    text if the page differs.
    """
    if rule.title or given.is_shorter or not rule.text:
        return True
    return given.title != given.usual_title and not _parts(given.title) & _parts(given.usual_title)


def _titles(title: str) -> frozenset[str]:
    """Return the parts of a title, and the whole of it with a "=" before it."""
    parts = _parts(title)
    return parts | {f"={_bare(fold(title[:_LONGEST_TITLE]))}"} if parts else parts


def _parts(title: str) -> frozenset[str]:
    whole = fold(title[:_LONGEST_TITLE])
    return frozenset(part for part in map(_bare, [whole, *_BETWEEN_PARTS.split(whole)]) if part)


def _bare(part: str) -> str:
    return " ".join(part.split()).strip(_AROUND)


class _Markup:
    """Phrases to search in many bytes: first whether any is there, only then which. Linear in the
    bytes.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._phrases = sorted(set(phrases))
        escaped = [re2.escape(phrase).encode() for phrase in self._phrases]
        self._any = re2.compile(b"|".join(escaped))
        self._all = re2.Set.SearchSet()
        for phrase in escaped:
            self._all.Add(phrase)
        self._all.Compile()

    def find(self, data: bytes) -> frozenset[str]:
        """Return the phrases that occur."""
        if not self._any.search(data):
            return frozenset()
        return frozenset(self._phrases[number] for number in self._all.Match(data) or ())


class _Text:
    """Phrases to search in a short text. Three rare letters of each phrase must be there before it
    is searched.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        phrases = sorted(set(phrases))
        shared = Counter(three for phrase in phrases for three in _threes(phrase))
        self._by_threes: dict[str, list[str]] = defaultdict(list)
        for phrase in phrases:
            self._by_threes[min(_threes(phrase), key=lambda three: (shared[three], three))].append(phrase)

    def find(self, text: str, asked: Sequence[frozenset[str]]) -> frozenset[str]:
        """Return those of `asked` that occur, and maybe others that do."""
        if sum(map(len, asked)) <= _FEW_PHRASES:
            return frozenset(phrase for phrases in asked for phrase in phrases if phrase in text)
        near = self._by_threes.keys() & _threes(text)
        return frozenset(phrase for three in near for phrase in self._by_threes[three] if phrase in text)


def _threes(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


@dataclass(frozen=True, slots=True)
class _RuleTable:
    rules: tuple[WallRule, ...]
    most_words: int
    markup: _Markup
    text: _Text


@dataclass(frozen=True, slots=True)
class Redirects:
    """Words of addresses: of a path's segments, of a host's first label; `blocked_hosts` are whole
    names or their suffixes.
    """

    blocked_hosts: tuple[str, ...]
    blocked: frozenset[str]
    login: frozenset[str]
    login_hosts: frozenset[str]
    consent: frozenset[str]
    consent_hosts: frozenset[str]
    error: frozenset[str]


@cache
def rules() -> tuple[WallRule, ...]:
    """Return all rules, in the order of the file."""
    return tuple(_rule(row) for row in _file()["rule"])


@cache
def redirects() -> Redirects:
    """Return the words that identify addresses of walls."""
    rows = _file()["redirect"]
    return Redirects(
        blocked_hosts=tuple(rows["blocked_hosts"]),
        **{name: frozenset(words) for name, words in rows.items() if name != "blocked_hosts"},
    )


@cache
def _table() -> _RuleTable:
    found = rules()
    return _RuleTable(
        rules=found,
        most_words=max(max(rule.most_words, rule.first_words) for rule in found),
        markup=_Markup(phrase for rule in found for phrase in rule.markup),
        text=_Text(phrase for rule in found for phrase in rule.text),
    )


@cache
def _file() -> dict[str, Any]:
    text = (
        importlib.resources.files("tidings.detection.doubt").joinpath("plausibility.toml").read_text(encoding="utf-8")
    )
    return tomllib.loads(text)


def _rule(row: Mapping[str, Any]) -> WallRule:
    return WallRule(
        kind=row["kind"],
        name=row["name"],
        most_words=row["most_words"],
        first_words=row.get("first_words", row["most_words"]),
        most_share=row.get("most_share"),
        markup=frozenset(row.get("markup", ())),
        title=frozenset(_title(phrase) for phrase in _all(row.get("title", {}))),
        text=frozenset(" ".join(fold(phrase).split()) for phrase in _all(row.get("text", {}))),
    )


def _title(phrase: str) -> str:
    whole = phrase.startswith("=")
    return f"{'=' if whole else ''}{_bare(fold(phrase.removeprefix('=')))}"


def _all(by_language: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for phrases in by_language.values():
        yield from phrases
