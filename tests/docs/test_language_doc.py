"""The page about the language is true: every example is run, every code and later word is listed."""

import re
from pathlib import Path

import pytest

from tidings.language.parser import parse
from tidings.language.verify import KnownSentinel
from tidings.language.words import CLAUSES, STATEMENTS
from tidings.language.yaml.form import load, to_yaml
from tidings.model.watch.sentinel import Interest, Sentinel, Watched
from tidings.service.show.finding import matches_nothing

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "language.md").read_text(encoding="utf-8")
SOURCES = "".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "src" / "tidings" / "language").rglob("*.py"))
)
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
EXAMPLES = [
    (text, BLOCKS[place + 1][1] if place + 1 < len(BLOCKS) and BLOCKS[place + 1][0] == "text" else "")
    for place, (kind, text) in enumerate(BLOCKS)
    if kind == "sentinel"
]
NOW = 1_700_000_000_000_000
HOME = KnownSentinel(Sentinel(name="home", pages=(Watched("https://example.org/"),), monitor=Interest("any")))


@pytest.mark.parametrize(("text", "printed"), EXAMPLES, ids=[text.split()[2] for text, _ in EXAMPLES])
def test_every_example_says_what_the_page_says(text, printed):
    """An example is accepted without a word, or with exactly the lines printed below it."""
    known = {} if "sentinel home using" in text else {"home": HOME}
    parsed = parse(text, known=known.get, now=NOW)

    assert printed.splitlines() == [str(problem) for problem in (*parsed.problems, *parsed.warnings)]


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "yaml"], ids=["yaml"])
def test_the_example_in_yaml_is_read(text):
    """It has no fault, and what is written of it means the same."""
    loaded = load(text, now=NOW)

    assert () == loaded.problems
    assert loaded.statements == load(to_yaml(loaded.statements), now=NOW).statements


@pytest.mark.parametrize("code", [text for kind, text in BLOCKS if kind == "python"], ids=["python"])
def test_the_example_in_python_runs(code):
    """What it builds is what the example in YAML says, as far as both say it."""
    made: dict[str, Sentinel] = {}
    exec(code, made)
    (_, oil, *_) = load(next(text for kind, text in BLOCKS if kind == "yaml"), now=NOW).statements
    assert isinstance(oil, Sentinel)

    assert (oil.pages, oil.monitor, oil.then, oil.fetch) == (
        made["oil"].pages,
        made["oil"].monitor,
        made["oil"].then,
        made["oil"].fetch,
    )


def test_every_clause_and_statement_is_in_an_example():
    """No word that begins one is left out."""
    examples = " ".join(text for text, _ in EXAMPLES)

    assert ["Confirm"] == [word for word in (*CLAUSES, *STATEMENTS) if not re.search(rf"\b{word}\b", examples)]


def test_every_code_is_in_the_tables():
    """The tables list exactly the codes that the language can say, each once, and what is said of a page that it was tried on."""
    output = {*re.findall(r'"([EW]\d+)"', SOURCES), matches_nothing("css").split()[0]}

    assert sorted(output) == sorted(re.findall(r"^\| ([EW]\d+) \|", PAGE, re.MULTILINE))
