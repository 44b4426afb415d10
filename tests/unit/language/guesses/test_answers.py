"""Guesses and their answers, one on each line of `answers.txt`: what people wrote first, and words of other tools."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tidings.language.parser import KnownSentinel, Parsed, parse
from tidings.model.watch.interest import Interest
from tidings.model.watch.sentinel import Sentinel, Watched

HEAD = "Create Sentinel s Using https://a.example/ "
LINES = Path(__file__).with_name("answers.txt").read_text(encoding="utf-8").splitlines()[1:]


def whole(clauses: str) -> str:
    """Return a statement with these clauses."""
    if clauses.startswith("Create "):
        return clauses
    return f"{HEAD}{clauses}" if clauses.lower().startswith("monitor") else f"{HEAD}Monitor any change\n{clauses}"


@pytest.mark.parametrize("line", LINES)
def test_guess_is_answered(line: str):
    """There is one problem, and its hint means the expected clauses; after `!` it says what there is instead."""
    guess, _, answer = line.partition(" => ")

    (problem,) = parse(whole(guess)).problems

    if answer.startswith("! "):
        assert answer == f"! {problem.hint}"
        return
    (expected, notes), (hint, said) = map(split_notes, (answer, problem.hint.removeprefix("write ")))
    assert notes == said
    assert_means_the_same(parse(whole(expected)), parse(whole(hint)))


def split_notes(answer: str) -> tuple[str, str]:
    """Return the clauses of an answer, and the remarks behind them."""
    found = re.fullmatch(r'((?:[^";]|"(?:[^"\\]|\\.)*")*)(?:; (.*))?', answer)
    assert found is not None
    return found[1], found[2] or ""


def assert_means_the_same(expected: Parsed, found: Parsed) -> None:
    """Compare the statements of two texts without faults."""
    assert () == expected.problems == found.problems
    assert expected.statements == found.statements


BASE = Sentinel(name="base", pages=(Watched("https://a.example/"),), monitor=Interest("any"))
KNOWN = {"base": KnownSentinel(BASE)}
STATEMENTS = [
    (
        'Create Sentinel shoes Using https://s.example/ Monitor text in "#x" When text changes from "sold out" to "in stock" Notify me@a.example',
        'Create Sentinel shoes Using https://s.example/ Monitor text in css "#x" where contains "in stock" Notify me@a.example',
    ),
    (
        "Create Sentinel trip Using https://a.example/ AND https://b.example/ Monitor price When all pages change Fetch 1 hour",
        "Create Sentinel trip Using https://a.example/ As A, https://b.example/ As B Monitor price of A AND price of B Fetch 1 hour",
    ),
    (
        "Create Sentinel book Using https://u.example/book/* Monitor text Follow links depth 1 Fetch every 1 week",
        "Create Collection book Using https://u.example/book/ Monitor text Depth 1 Fetch every 1 week",
    ),
    (
        "Watch the price on https://shop.example/a every hour on weekdays and email ann@x.org if below 30",
        "Create Sentinel shop Using https://shop.example/a Monitor price < 30 Fetch every hour During mon-fri Notify ann@x.org",
    ),
    (
        "Create Sentinel Using https://shop.example/ Monitor price",
        "Create Sentinel shop Using https://shop.example/ Monitor price",
    ),
    (
        "Create Sentinel kettle On https://shop.example/ Monitor price",
        "Create Sentinel kettle Using https://shop.example/ Monitor price",
    ),
    (
        "Create Sentinel kettle Using https://shop.example/; Monitor price; Fetch hourly",
        "Create Sentinel kettle Using https://shop.example/ Monitor price Fetch hourly",
    ),
    (
        "Tell me when the price on https://shop.example/kettle drops below 30",
        "Create Sentinel shop Using https://shop.example/kettle Monitor price drops below 30",
    ),
    (
        "If https://a.example/ is down alert a@b.org",
        "Create Sentinel a Using https://a.example/ Monitor status Notify a@b.org",
    ),
    (
        "Watch site https://docs.example/ for new pages",
        "Create Collection docs Using https://docs.example/ Monitor new pages",
    ),
    (
        'Watch https://a.example/feed.xml for new items about "oil" or "gas"',
        "Create Sentinel a Using https://a.example/feed.xml Monitor items inserted where contains <oil, gas>",
    ),
    ("Create Sentinel pot Like base Fetch daily", "Create Sentinel pot Using base Fetch daily"),
    ("Clone base as pot", "Create Sentinel pot Using base"),
    (
        "Create Sentinel disk Using command df -h Monitor number > 90",
        'Create Sentinel disk Using command "df" "-h" Monitor number > 90',
    ),
    ("Alter base set Fetch hourly", "Alter base Fetch hourly"),
    ("Defaults For Tag work Notify a@b.org", "Defaults For Tags work Notify a@b.org"),
]  # fmt: skip


@pytest.mark.parametrize(("guess", "answer"), STATEMENTS)
def test_clauses_that_belong_together_are_answered_with_the_whole_statement(guess: str, answer: str):
    """The one hint is a statement that can be pasted."""
    (problem,) = parse(guess).problems

    found, meant = (parse(text, known=KNOWN.get) for text in (problem.hint.removeprefix("write "), answer))

    assert_means_the_same(meant, found)
