"""The stored tables are those of the grammar, and read texts in the same way."""

from importlib.resources import files

import lark
import pytest
from lark import UnexpectedInput

from tests.strategies_language import ACCEPTED, EXAMPLES, FURTHER
from tidings.language.grammar import tables

STORED = files("tidings.language.grammar").joinpath("sentinel.tables").read_bytes()


def test_stored_tables_are_up_to_date():
    """They are exactly those of the grammar: `script/docs` writes them."""
    assert STORED == tables.pack()


def test_tables_give_the_trees_of_the_grammar():
    """Both are the same."""
    stored, built = tables.grammar(), tables.build()
    texts = (*EXAMPLES, *ACCEPTED, *FURTHER)

    assert [built.parse(text, start="document") for text in texts] == [
        stored.parse(text, start="document") for text in texts
    ]


@pytest.mark.parametrize("text", ["Monitor all imges", "Fetch 2", "Notify by", "Transform keep", "Monitor (links"])
def test_tables_find_the_faults_of_the_grammar(text):
    """Both stop at the same place and would accept the same words there."""
    found = []
    for grammar in (tables.grammar(), tables.build()):
        with pytest.raises(UnexpectedInput) as caught:
            grammar.parse(text, start="clause")
        found.append((caught.value.pos_in_stream, set(caught.value.interactive_parser.accepts())))

    assert found[0] == found[1]


def test_tables_of_another_version_of_lark_are_not_used(monkeypatch):
    """The grammar is built then."""
    monkeypatch.setattr(lark, "__version__", "0.0.0")

    assert tables.grammar().parse("Disable a", start="document") == tables.build().parse("Disable a", start="document")
