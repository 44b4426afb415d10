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
def test_what_is_printed_is_read_as_the_same_sentinel(sentinel):
    """Reading the text of a sentinel gives that sentinel, and its text again."""
    text = to_text(sentinel)
    (again,) = read(text, now=NOW)

    assert (sentinel, text) == (again, to_text(again))


@given(commands | event_statements)
def test_what_is_printed_is_read_as_the_same_command(command):
    """Reading the text of a command, or of a statement about an event, gives the same."""
    assert (command,) == read(to_text(command))


@share(0.5)
@given(alterations | group_defaults)
def test_what_is_printed_is_read_as_the_same_clauses(statement):
    """Alter and Defaults are read as they are printed, clauses that take something away included."""
    text = to_text(statement)
    (again,) = read(text, now=NOW)

    assert (statement, text) == (again, to_text(again))


@share(0.25)
@given(sentinels())
def test_a_stored_text_is_recalled_as_it_was_read(sentinel):
    """What was accepted once means the same when it is read without trying its patterns and selectors again."""
    assert sentinel == recall(to_text(sentinel))


@share(0.25)
@given(sentinels())
def test_a_child_keeps_all_that_its_base_says(sentinel):
    """What `Using NAME` takes over is printed whole and read as the same, whatever its base has become."""
    base = replace(sentinel, name="base", zone=None, start=Point("now"), end=None)
    (child,) = read("Create Sentinel child Using base", known={"base": KnownSentinel(base)}.get)
    other = {"base": KnownSentinel(Sentinel(name="base", pages=sentinel.pages, monitor=Interest("any")))}

    assert (child,) == read(to_text(child), known=other.get)


def test_the_canonical_text_has_one_clause_a_line_and_iso_dates():
    """Each clause stands on its own line, dates are ISO, clauses of default value are left out."""
    (sentinel,) = read(ACCEPTED[0], now=NOW)

    assert [
        "Create Sentinel s1 Using http://www.cnn.com",
        "  Monitor all links AND all images",
        "  Fetch every 2 day",
        "  From 2002-12-02",
        "  To 2003-01-02",
        "  Notify by email jill@aol.com every 4 day",
    ] == to_text(sentinel).splitlines()


def test_a_sentinel_of_defaults_is_two_lines():
    """What nobody said is not printed."""
    (sentinel,) = read("create sentinel home using https://example.org/ monitor anychange from now fetch on change")

    assert "Create Sentinel home Using https://example.org/\n  Monitor any change" == to_text(sentinel)


def test_a_sentinel_made_from_another_prints_all_its_clauses():
    """A change of the base later cannot change what the text means; a life that follows the base's is not printed."""
    base, child = read(f"{ACCEPTED[2]} Create Sentinel b Using a Fetch 1 hour Notify by console")
    assert isinstance(base, Sentinel)
    bare = Sentinel(name="a", pages=base.pages, monitor=base.monitor)
    (again,) = read(to_text(child), known={"a": KnownSentinel(bare)}.get)

    assert "From" not in to_text(child)
    assert child == again


def test_a_child_with_its_own_life_prints_it():
    """From now stands in the text of a child, since leaving it out would mean the life of the base."""
    (child,) = read("Create Sentinel b Using s0 From now", known=KNOWN.get)

    assert "\n  From now\n" in to_text(child)
    assert (child,) == read(to_text(child), known=KNOWN.get)


def test_printing_what_was_read_of_a_print_changes_nothing():
    """Of 1,000 injured examples none stops the reader, and the accepted ones print to a fixed point."""
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


def test_a_command_is_one_line():
    """Enable, Disable and Drop print as they are said."""
    assert "Disable s1" == to_text(Command("disable", "s1"))
