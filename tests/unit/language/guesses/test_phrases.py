"""The phrases are consistent: each effect exists, takes the arguments that it gets, and names no value too many."""

from __future__ import annotations

import inspect
import re
from importlib.resources import files

import pytest

from tidings.language.guesses import effects
from tidings.language.guesses.reading import phrases, read
from tidings.language.guesses.tokens import tokens_of
from tidings.language.guesses.wish import Wish

ROWS = [(kind, row) for kind, rows in phrases().of.items() for row in rows]
FILTER = re.compile(r"\$(\d)(?::([a-z]+))?")


@pytest.mark.parametrize("kind", phrases().of)
def test_effects_fit_their_phrases(kind: str):
    """The arguments of each effect bind to its function; `$2` is a value that the phrase hands on."""
    for row in phrases().of[kind]:
        for effect, arguments in row.effects:
            inspect.signature(effect).bind(Wish(), *arguments)
            named = [found for argument in arguments for found in FILTER.findall(argument)]
            assert [] == [name for _, name in named if name and name not in effects.FILTERS]
            assert max((int(number) for number, _ in named), default=0) + row.refers <= row.pattern.groups


def test_leads_begin_known_kinds():
    """Each kind has phrases, or is one that only ends a clause."""
    others = {"condition", "quiet", "implied", "other", "-", "notify"}

    assert {row.kind for row in phrases().of["leads"]} <= {*phrases().of, *others}


def test_no_phrase_is_empty():
    """A phrase of a clause takes at least one token, so that reading ends."""
    empty = [row.pattern.pattern for kind, row in ROWS if kind != "leads" and row.pattern.fullmatch("")]

    assert [] == empty


def test_definitions_are_used():
    """A definition that no phrase uses goes."""
    text = files("tidings.language.guesses").joinpath("phrases.txt").read_text(encoding="utf-8")

    assert [] == [name for name in re.findall(r"^([A-Z]+) = ", text, re.MULTILINE) if f"@{name}" not in text]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Notify me@x.org every 15m", "notify M1 every V3 "),
        ("between 8 and 18:30", "between N1 and C3 "),
        ("9-17", "N0 - N2 "),
        ("price < $1,200.50", "price < N2 "),
        ("30 %", "P0 "),
        ("< 5 and b > 3", "< N1 and b > N5 "),
        ("<a, b>", "L0 "),
        ("Mon-Fri, Sun", "Y0 "),
        ("Until 31 December 2027", "until D1 "),
        ("//div[@id='x y'] $.a[0] .b td:nth-child(2)", "X0 J1 S2 S3 "),
        ("/a b/i 'c' “d”", "R0 T1 T2 "),
        ("the price of a lamp", "price of lamp "),
        ("keyword a or b", "keyword a or b "),
        ("cron */5 * * * *", "cron W1 "),
        ("1h30m", "V0 "),
        ("-- a remark", ""),
    ],
)
def test_a_text_becomes_a_line_of_tokens(text: str, line: str):
    """Words in lower case, values by their kind, without articles."""
    assert line == tokens_of(text).line


def test_values_are_written_as_the_language_writes_them():
    """Whatever their spelling."""
    tokens = tokens_of(
        "1.234,50 € 1h30m 31 December 2027 8 o'clock mailto:a@b.org half an hour monday to friday /x\\/y/i"
    )

    assert ("1234.50", "90 min", "2027-12-31", "08:00", "a@b.org", "30 min", "mon-fri", '"(?i)x/y"') == tokens.values


def test_a_phrase_that_is_not_understood_leaves_nothing():
    """Neither a part of it nor what was read before is lost."""
    wish = Wish()
    text = "Monitor price blue"

    assert not read(tokens_of(text), text, wish)
    assert ["Monitor price"] == list(wish.clauses())
