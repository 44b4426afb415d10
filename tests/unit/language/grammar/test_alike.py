"""Long texts with equal clauses are read quickly and exactly."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies_language import sentinels
from tidings.language import parser
from tidings.language.grammar import syntax
from tidings.language.grammar.syntax import FEWEST, spans
from tidings.language.parser import parse, recall, recall_clauses
from tidings.language.write.printer import to_text
from tidings.model.watch.sentinel import Clauses, Sentinel, Watched

COUNT = 2 * FEWEST
CLAUSES = {
    "plain": "Monitor all words",
    "lines": "\n  Monitor any change AND NOT all images\n  Fetch every 1 hour\n  Notify by webhook https://hooks.example/a,b immediate\n  Tags shop",
    "a date": "Monitor keyword price From 2030-01-01 To now + 7 day",
    "a warning of each": "Monitor all words Fetch every 1 second",
    "a warning of clauses": "Monitor all words Header X secret token",
    "a fault in all": "Monitor all words Fetch every 1 fortnight",
    "a fault of sense": "Monitor all words For 1 day To now + 7 day",
    "nothing to watch for": "Fetch every 1 hour",
    "another's life": "Monitor all words From end(s1)",
    "a missing one's life": "Monitor all words From end(nobody)",
    "an event": "Monitor all words Fetch on Event(deploy)",
    "two statements": "Monitor all words Drop s1",
    "a page's name": "Monitor all words of A",
    "an empty tail": "",
}
HEADS = {
    "plain": "Create Sentinel s{n} Using https://shop.example/{n}",
    "in other letters": "create  SENTINEL s{n}\n using https://shop.example/{n}",
    "one name": "Create Sentinel s Using https://shop.example/{n}",
    "reserved name": "Create Sentinel from Using https://shop.example/{n}",
    "an address that is none": "Create Sentinel s{n} Using https://-/{n}",
    "a name": "Create Sentinel s{n} Using https://shop.example/{n} As A",
    "two pages": "Create Sentinel s{n} Using https://shop.example/{n} As A, https://shop.example/b As B",
    "with a user": "Create Sentinel s{n} Using https://a:b@shop.example/{n}",
}
ENDS = {"semicolon": ";\n", "none": "\n", "many": " ; ;\n\n"}


def _read(text: str) -> object:
    """Return all that is reported about a text."""
    found = parse(
        text,
        now=1_700_000_000_000_000,
        floor=60_000_000,
        secrets=frozenset(),
        known=lambda name: None,
        defaults=lambda tag: Clauses((("importance", 0.9),)) if tag == "shop" else None,
        events={"deploy": ()},
    )
    return found.statements, found.problems, found.warnings, found.places


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("clauses", CLAUSES)
def test_repeated_clauses_are_read_with_the_same_result(
    clauses: str, head: str, end: str, monkeypatch: pytest.MonkeyPatch
):
    """Statements, faults, warnings and places are the same whether they are read once or each time."""
    texts = [f"{HEADS[head].format(n=n)} {CLAUSES[clauses]}{ENDS[end]}" for n in range(COUNT)]
    text = "".join(texts)

    quick = _read(text)
    monkeypatch.setattr(syntax, "spans", lambda _: None)

    assert _read(text) == quick


@pytest.mark.parametrize(
    "text",
    [
        'Create Sentinel s{n} Using https://a.example/{n} Monitor phrase "a; b"\n',
        "Create Sentinel s{n} Using https://a.example/{n} Monitor keywords <a; b>\n",
        "Create Sentinel s{n} Using https://a.example/{n} Monitor all words -- one; two\n",
        "Create Sentinel s{n} Using base Monitor all words\n",
        "Create Event s{n} Using webhook\n",
        "Create Sentinel s{n} Using https://a.example/{n} Monitor all words Tags t{n}\n",
    ],
    ids=["quotes", "list", "comment", "base", "event", "nothing twice"],
)
def test_other_texts_are_read_whole(text: str):
    """They repeat nothing, or something could hide the end of a statement."""
    assert spans("".join(text.format(n=n) for n in range(COUNT))) is None


def test_equal_clauses_of_a_long_text_are_read_once(monkeypatch: pytest.MonkeyPatch):
    """Of a thousand sentinels with one of two texts, the grammar reads two."""
    read: list[object] = []
    grammar = syntax._grammar()

    class Counting:
        def parse(self, text: object, **more: object) -> object:
            read.append(text)
            return grammar.parse(text, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(syntax, "_grammar", Counting)
    text = "".join(
        f"Create Sentinel s{n} Using https://a.example/{n} Monitor all words Fetch every {1 + n % 2} hour;\n"
        for n in range(1000)
    )

    assert 1000 == len(parse(text).statements)
    assert 2 == len(read)


RECALLED = [
    "Monitor all words",
    "Monitor any change AND NOT all images\n  Fetch every 1 hour\n  Notify by webhook https://hooks.example/a immediate\n  Tags shop",
    'Monitor keyword "price"\n  From 2030-01-01\n  To 2031-01-01',
    "Monitor all words\n  From end(other)\n  For 30 day",
    'Monitor all words\n  Header "X" secret "token"\n  Importance 0.9',
]


@pytest.mark.parametrize("clauses", RECALLED)
@pytest.mark.parametrize(
    "head", ["s Using https://shop.example/a?b=c", "s-1 Using http://[::1]:8080/", "s Using https://a.example/ As A"]
)
def test_stored_text_is_restored_as_it_was_read(head: str, clauses: str):
    """Clauses that were restored before, for another page, have the same meaning."""
    first = recall(f"Create Sentinel t Using https://other.example/\n  {clauses}")
    again = recall(f"Create Sentinel {head}\n  {clauses}")

    assert isinstance(first, Sentinel)
    assert parser._recall(f"Create Sentinel {head}\n  {clauses}") == again


@pytest.mark.parametrize("clauses", RECALLED)
def test_sentinels_with_the_same_clauses_are_restored_together(clauses: str):
    """All except name and address is the same as from `recall`, also if a page has a name."""
    one, other = (recall_clauses(f"Create Sentinel {name} Using https://{name}.example/\n  {clauses}") for name in "ab")
    named = f"Create Sentinel c Using https://c.example/ As P\n  {clauses}"
    whole = recall(f"Create Sentinel a Using https://a.example/\n  {clauses}")

    assert one is other
    assert isinstance(one, Sentinel)
    assert isinstance(whole, Sentinel)
    assert whole == replace(one, name=whole.name, pages=whole.pages)
    assert recall(named) == recall_clauses(named)


@given(sentinels(names_pages=False), st.integers(3, 12), st.booleans())
def test_stored_text_of_many_pages_is_restored_as_it_was_read(sentinel: Sentinel, count: int, has_comma: bool):
    """Whatever its clauses are, and with a comma in an address; its list is not parsed."""
    urls = [f"https://shop.example/{n}{',x' if has_comma else ''}" for n in range(count)]
    text = to_text(replace(sentinel, pages=tuple(map(Watched, urls))))

    assert parser._recall(text) == recall(text)
    assert has_comma == (parser._recall_long(text) is None)
