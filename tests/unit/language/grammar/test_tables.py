"""The stored tables are those of the grammar, and read texts as it does."""

from importlib.resources import files

import lark
import pytest
from lark import UnexpectedInput

from tests.strategies_language import ACCEPTED, EXAMPLES, FURTHER
from tidings.language.grammar import tables

STORED = files("tidings.language.grammar").joinpath("sentinel.tables").read_bytes()


def test_the_stored_tables_are_fresh():
    """They are, to the byte, what the grammar gives: `script/docs` writes them again."""
    assert STORED == tables.pack()


def test_texts_are_read_as_by_the_grammar_itself():
    """Both give the same trees."""
    stored, built = tables.grammar(), tables.build()
    texts = (*EXAMPLES, *ACCEPTED, *FURTHER)

    assert [built.parse(text, start="document") for text in texts] == [
        stored.parse(text, start="document") for text in texts
    ]


@pytest.mark.parametrize("text", ["Monitor all imges", "Fetch 2", "Notify by", "Transform keep", "Monitor (links"])
def test_faults_are_found_as_by_the_grammar_itself(text):
    """Both stop at the same place and would have taken the same there."""
    found = []
    for grammar in (tables.grammar(), tables.build()):
        with pytest.raises(UnexpectedInput) as caught:
            grammar.parse(text, start="clause")
        found.append((caught.value.pos_in_stream, set(caught.value.interactive_parser.accepts())))

    assert found[0] == found[1]


def test_tables_of_another_lark_are_not_used(monkeypatch):
    """The grammar is built then."""
    monkeypatch.setattr(lark, "__version__", "0.0.0")

    assert tables.grammar().parse("Disable a", start="document") == tables.build().parse("Disable a", start="document")
