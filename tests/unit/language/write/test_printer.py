"""Sentinels, commands and clauses are printed in the canonical form."""

import random
from dataclasses import replace

from hypothesis import given

from tests.examples import share
from tests.strategies_language import (
    ACCEPTED,
    KNOWN,
    alterations,
    commands,
    event_statements,
    group_defaults,
    mutant,
    sentinels,
)
from tidings.language.parser import parse, read, recall
from tidings.language.verify import KnownSentinel
from tidings.language.write.printer import to_text
from tidings.model.watch.sentinel import Command, Interest, Point, Sentinel

NOW = 1_700_000_000_000_000


@share(0.5)
@given(sentinels())
def test_printed_sentinel_is_read_as_the_same(sentinel):
    """Its text is the same again, too."""
    text = to_text(sentinel)
    (again,) = read(text, now=NOW)

    assert (sentinel, text) == (again, to_text(again))


@given(commands | event_statements)
def test_printed_command_is_read_as_the_same(command):
    """So is a statement about an event."""
    assert (command,) == read(to_text(command))


@share(0.5)
@given(alterations | group_defaults)
def test_printed_clauses_are_read_as_the_same(statement):
    """Alter and Defaults are, with clauses that remove something."""
    text = to_text(statement)
    (again,) = read(text, now=NOW)

    assert (statement, text) == (again, to_text(again))


@share(0.25)
@given(sentinels())
def test_stored_text_is_restored_as_it_was_read(sentinel):
    """Its patterns and selectors are not checked again."""
    assert sentinel == recall(to_text(sentinel))


@share(0.25)
@given(sentinels())
def test_derived_sentinel_keeps_the_clauses_of_its_base(sentinel):
    """They are printed completely and read as the same, also after a change of the base."""
    base = replace(sentinel, name="base", zone=None, start=Point("now"), end=None)
    (child,) = read("Create Sentinel child Using base", known={"base": KnownSentinel(base)}.get)
    other = {"base": KnownSentinel(Sentinel(name="base", pages=sentinel.pages, monitor=Interest("any")))}

    assert (child,) == read(to_text(child), known=other.get)


def test_canonical_text_has_one_clause_a_line_and_iso_dates():
    """Clauses with default values are left out."""
    (sentinel,) = read(ACCEPTED[0], now=NOW)

    assert [
        "Create Sentinel s1 Using http://www.cnn.com",
        "  Monitor all links AND all images",
        "  Fetch every 2 day",
        "  From 2002-12-02",
        "  To 2003-01-02",
        "  Notify by email jill@aol.com every 4 day",
    ] == to_text(sentinel).splitlines()


def test_sentinel_of_defaults_is_two_lines():
    """Defaults are not printed."""
    (sentinel,) = read("create sentinel home using https://example.org/ monitor anychange from now fetch on change")

    assert "Create Sentinel home Using https://example.org/\n  Monitor any change" == to_text(sentinel)


def test_derived_sentinel_is_printed_with_all_clauses():
    """A later change of the base cannot change it; a life that follows the base is not printed."""
    base, child = read(f"{ACCEPTED[2]} Create Sentinel b Using a Fetch 1 hour Notify by console")
    assert isinstance(base, Sentinel)
    bare = Sentinel(name="a", pages=base.pages, monitor=base.monitor)
    (again,) = read(to_text(child), known={"a": KnownSentinel(bare)}.get)

    assert "From" not in to_text(child)
    assert child == again


def test_own_life_of_a_derived_sentinel_is_printed():
    """`From now` is in the text, since without it the life would be that of the base."""
    (child,) = read("Create Sentinel b Using s0 From now", known=KNOWN.get)

    assert "\n  From now\n" in to_text(child)
    assert (child,) == read(to_text(child), known=KNOWN.get)


def test_printed_text_is_a_fixed_point():
    """None of 1,000 damaged examples stops the reader, and accepted ones print to a fixed point."""
    rng = random.Random(20_240_601)
    accepted = 0
    for _ in range(1_000):
        text = mutant(rng)
        parsed = parse(text, now=NOW, known=KNOWN.get)
        if parsed.problems or not parsed.statements:
            continue
        accepted += 1
        printed = "\n".join(to_text(statement) for statement in parsed.statements)
        again = parse(printed, now=NOW, known=KNOWN.get)

        assert (parsed.statements, ()) == (again.statements, again.problems), text

    assert accepted > 20


def test_command_is_one_line():
    """Enable, Disable and Drop are printed as they are read."""
    assert "Disable s1" == to_text(Command("disable", "s1"))
    for text in ("Disable s1 until 2026-12-24", "Disable s1 until now + 3 day"):
        assert [text] == [to_text(one) for one in read(text)]
    assert read("Disable s1 for 3 days") == read("Disable s1 until now + 3 day")
