"""Every sentence of the screens is in one catalogue, and sentences of documents are short."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.readability import BACKGROUND, USERS, list_documents, measure, sentences
from jinja2 import nodes

from tidings.web.markup.render import HERE, environment, write_catalogue
from tidings.web.markup.translations import FOLDER

LONGEST = 30
SAYING = frozenset(("_", "translate", "translate_count", "sentence", "sentences", "count", "draw"))
SAID = re.compile(r"[A-Z]?[a-z]{2,} [a-z]|^[A-Z][a-z]{2,}")
"""Two words of prose, or a word with a capital: what only people read."""
FOR_PROGRAMS = frozenset(("debug", "info", "warning", "exception", "statement_for"))
"""Calls of which the texts go to the log, or are of the language."""
NOT_SHOWN = frozenset(
    (
        "let go",
        "dead letters",
        "not delivered",
        "second check",
        "any change",
        "all words",
        "Select css ",
        "Alter ",
        "not found",
        "switched off",
        "Notify By ",
        "Finding",
        "Tidings",
    )
)
"""Words of the language, values of forms and of records, and what only programs ask for."""


def test_catalogue_is_up_to_date():
    """`script/docs` writes the file."""
    assert write_catalogue() == (FOLDER / "en.json").read_text("utf-8")


def test_no_template_value_is_outside_the_catalogue():
    """Text between tags is catalogued automatically; text within `{{ }}` must use `_`."""
    loader = environment().loader
    assert loader is not None
    left = []
    for name in loader.list_templates():
        tree = environment().parse(loader.get_source(environment(), name)[0])
        asked = {
            id(one)
            for call in tree.find_all(nodes.Call)
            if isinstance(call.node, nodes.Name) and call.node.name in SAYING
            for one in call.find_all(nodes.Const)
        }
        for const in tree.find_all(nodes.Const):
            text = const.value
            if (
                isinstance(text, str)
                and id(const) not in asked
                and SAID.search(text)
                and not text.startswith("tidings ")
                and "://" not in text
                and text not in NOT_SHOWN
            ):
                left.append((name, text))
    assert [] == left


def _texts(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of code that are not catalogued, documentation or logs."""
    if isinstance(tree, ast.Call) and getattr(tree.func, "id", getattr(tree.func, "attr", "")) in SAYING | FOR_PROGRAMS:
        return
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):
        return
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree.value
    for child in ast.iter_child_nodes(tree):
        yield from _texts(child)


def test_no_screen_text_is_outside_the_catalogue():
    """Code of screens must use `translate` or a similar function for texts."""
    left = []
    for folder in (HERE, HERE.parent / "screens"):
        for path in sorted(Path(folder).glob("*.py")):
            for text in _texts(ast.parse(path.read_text("utf-8"))):
                if SAID.search(re.sub(r"<[^>]*>", "", text)) and text not in NOT_SHOWN and "(?P<" not in text:
                    left.append((path.name, text))
    assert [] == left


@pytest.mark.parametrize(("places", "mean"), [(USERS, 12.0), (BACKGROUND, 11.0)], ids=["users", "background"])
def test_sentences_of_documents_are_short(places, mean):
    """No sentence has more than `LONGEST` words, and the mean of all documents has a limit."""
    texts = {path.name: path.read_text("utf-8") for path in list_documents(places)}
    long = [
        (name, " ".join(words)) for name, text in texts.items() for words in sentences(text) if len(words) > LONGEST
    ]

    assert [] == long
    assert measure(list(texts.values()))["length"] <= mean
