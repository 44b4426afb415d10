"""Split a text at the words that begin statements and clauses, so that one fault does not hide the
others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tidings.language.words import CLAUSES, STATEMENTS, SYNONYMS
from tidings.record import dataclass

_LEXEME = re.compile(
    r"""
      (?P<comment> --[^\n]* )
    | (?P<string> "(?:[^"\\\n]|\\.)*" )
    | (?P<open> "[^\n]* )
    | (?P<url> [A-Za-z][A-Za-z0-9+.\-]*://[^\s"<>]* )
    | (?P<word> (?:(?!--)[^\s"<>();,])+ )
    | (?P<mark> \S )
    """,
    re.VERBOSE,
)
_LISTING = frozenset({"keyword", "keywords", "phrase", "phrases", "words", "regex", "expression"})
_LIST = re.compile(r"\s*<[^<>\"\n]*>")
"""A list after one of these words may contain any words, even those of clauses."""
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_OF_CLAUSE = re.compile(
    r"""for\s+(?:at\s+least|\d+\s+checks?|the\s+first\s+time)\b
    | (?:for|until)\s+(?:(?:the|css|xpath|element|selector)\s+)*"
    | drop\s+(?:(?:by|below|under|to)\s+)?[\d$€£]
    | to\s+(?:[^\s@"]+@ | \d{3}(?![\w/.-]) | (?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words that begin no clause here: how long a change must last, what a browser waits for, whom
mail is for, the end of a range of days.
"""
_CONDITIONS = frozenset({"when", "if", "while", "whenever", "once"})
_SOME_TIME = re.compile(r"for\s+(?:\d+|an?)\s*(?:s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b", re.IGNORECASE)
"""How long a condition holds, which begins no clause behind one of these words."""
_HOURS = re.compile(
    r"from\s+(?=\d)(?:\d{1,2}(?::\d\d)?(?:\s?[ap]m)?\s*(?:-|to\b|until\b)?\s*){2}(?![\w/.:-])", re.IGNORECASE
)
"""Hours after `from`, which begins a clause only before a date."""
_NAMING = frozenset(
    {
        *("sentinel", "collection", "event", "using", "as", "of", "check"),
        *(word.lower() for word in STATEMENTS if word not in {"Create", "Defaults"}),
    }
)
"""Words before a name: no cut there, whatever the name."""
_BEFORE_NAME = _NAMING | {"tags", ","}
"""Words before a name or a tag."""
_MOVING = frozenset({"drop", "drops", "fall", "falls", "rise", "rises", "down"})
"""How a value moves to another: `to` does not begin a clause after them."""
_JOINED = frozenset(
    {
        *(("errors", "to"), ("transform", "drop"), (",", "drop"), ("defaults", "for")),
        *((word, "class") for word in ("with", "element", "elements", "ignore", "exclude", "select")),
        *(
            ("response", "header"),
            ("http", "header"),
            ("with", "login"),
            ("using", "login"),
            ("compare", "to"),
            ("up", "to"),
            ("except", "for"),
        ),
    }
)
"""Pairs of words of which the second begins nothing."""
_BEFORE_TYPE = frozenset({"monitor", "and", "or", "not", ",", "("})
"""What precedes a change type: `header` is one there, and not a clause."""
_STATEMENTS = frozenset(word.lower() for word in STATEMENTS)
_CLAUSES = frozenset(word.lower() for word in (*CLAUSES, *SYNONYMS))


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A word, text, address or mark in the text, from `start` to `end`.

    `kind` is `word`, `string`, `url`, `mark` or `open`: a text that does not end on its line.
    """

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text from `start` to `end`; `word` is its leading clause or statement word,
    else empty.
    """

    word: str
    start: int
    end: int


def lexemes(text: str, start: int = 0, end: int | None = None) -> Iterator[Lexeme]:
    """Yield the lexemes of a part of the text, without comments."""
    for found in _LEXEME.finditer(text, start, len(text) if end is None else end):
        if found.lastgroup != "comment":
            yield Lexeme(found.lastgroup or "", found.group(), found.start(), found.end())


def split_text(text: str) -> Iterator[tuple[Piece, ...]]:
    """Yield the statements of a text, each as its head and its clauses; texts, addresses and names
    are never split.
    """
    pieces: list[Piece] = []
    word, start = "", 0
    before, last = "", ""
    list_end = 0
    is_condition = False
    for lexeme in lexemes(text):
        if lexeme.start < list_end:
            continue
        lower = lexeme.text.lower()
        if lower in _LISTING and (found := _LIST.match(text, lexeme.end)):
            list_end = found.end()
        if lower == "from" and (found := _HOURS.match(text, lexeme.start)):
            list_end = found.end()
            before, last = last, lower
            continue
        is_word = lexeme.kind == "word" and not _OF_CLAUSE.match(text, lexeme.start)
        is_word = is_word and not (is_condition and _SOME_TIME.match(text, lexeme.start))
        if lexeme.text == ";" or (is_word and _begins(lower, last, before)):
            _close(text, pieces, Piece(word, start, lexeme.start))
            if lexeme.text == ";" or lower in _STATEMENTS:
                if pieces:
                    yield tuple(pieces)
                pieces = []
            word, start = ("", lexeme.end) if lexeme.text == ";" else (lower, lexeme.start)
            is_condition = False
        is_condition = is_condition or lower in _CONDITIONS
        before, last = last, lower
    _close(text, pieces, Piece(word, start, len(text)))
    if pieces:
        yield tuple(pieces)


def _begins(word: str, last: str, before: str) -> bool:
    if word not in _STATEMENTS and word not in _CLAUSES:
        return False
    if last in _NAMING or (last, word) in _JOINED:
        return False
    if word == "header" and (last in _BEFORE_TYPE or (before, last) == ("not", ")")):
        return False
    if word == "header" and last in {"exclude", "ignore", "select"} and before not in _BEFORE_NAME:
        return False
    if before not in _BEFORE_NAME and ((last, word) == ("time", "zone") or (word == "to" and last in _MOVING)):
        return False
    if (before, last, word) == ("defaults", "for", "tags"):
        return False
    return not (word in {"to", "until"} and _CLOCK.fullmatch(last) and before != "at")


def _close(text: str, pieces: list[Piece], piece: Piece) -> None:
    if piece.word or next(lexemes(text, piece.start, piece.end), None) is not None:
        pieces.append(piece)
