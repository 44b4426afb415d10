"""Selectors are a permitted subset of CSS, XPath 1.0 and JSONPath (R-08)."""

import subprocess
import sys

import pytest

from tidings.language.expressions import quote
from tidings.language.parser import parse, recall
from tidings.language.write.printer import to_text
from tidings.language.yaml.form import load, to_yaml
from tidings.model.watch.interest import HIDDEN
from tidings.model.watch.sentinel import Selector, Sentinel

HEAD = "Create Sentinel a Using https://x.example Monitor words Select "

GOOD = [
    ("css", 'a[href="x"]'),
    ("css", "ul.jobs > li:nth-child(2)"),
    ("css", "table:has(caption)"),
    ("xpath", "//ul[@class='jobs']/li[position() < 3]"),
    ("xpath", "//a/@href"),
    ("xpath", "//atom:entry[contains(atom:title, '$x(')]/dc:date"),
    ("xpath", "descendant::li[not(@class) and (position() > 1 or last() = 1)]"),
    ("xpath", "//h2/text()"),
    ("jsonpath", "$.components[*].status"),
    ("jsonpath", "$.items[?@.price < 10 && length(@.name) > 2]"),
    ("jsonpath", "$..price"),
]


@pytest.mark.parametrize(("language", "text"), GOOD, ids=range(len(GOOD)))
def test_selector_is_stored_as_written(language, text):
    """All that its language knows is accepted."""
    parsed = parse(f"{HEAD}{language} {quote(text)}")
    (sentinel,) = parsed.statements
    assert isinstance(sentinel, Sentinel)

    assert (Selector(language, text), ()) == (sentinel.select, parsed.problems)


BAD = [
    ("css", "a[", "it cannot be read"),
    ("css", "p::nothing", "it cannot be read"),
    ("css", "", "the selector is empty"),
    ("css", ":not(" * 1_000 + "a" + ")" * 1_000, "longer than 1000 characters"),
    ("css", ":not(" * 30 + "a" + ")" * 30, "brackets are nested more than 20 deep"),
    ("css", "\ud800", "the selector is empty"),
    ("xpath", "//a[", "invalid "),
    ("xpath", "document('file:///etc/passwd')", "there is no function document() in XPath 1.0"),
    ("xpath", "unparsed-text('file:///etc/passwd')", "there is no function unparsed-text() in XPath 1.0"),
    ("xpath", "//a[json-doc('x')]", "there is no function json-doc() in XPath 1.0"),
    ("xpath", "//a[re:test(., 'a')]", "there is no function re:test() in XPath 1.0"),
    ("xpath", "//a[@x = $x]", "there are no variables"),
    ("xpath", "count(//a)", "it finds a value, not a part of the page"),
    ("jsonpath", "$..[", "unexpected end of query"),
    ("jsonpath", "$[?nothing(@.a)]", "function 'nothing' is not defined"),
    ("jsonpath", "$[?match(@.a, '(a+)+$')]", "function 'match' is not defined"),
    ("jsonpath", "$[?search(@.a, 'x')]", "function 'search' is not defined"),
    ("jsonpath", "a.b", "expected "),
]


@pytest.mark.parametrize(("language", "text", "reason"), BAD, ids=range(len(BAD)))
def test_invalid_selector_is_refused(language, text, reason):
    """E06 is at its place, with the message of its language (H-071, H-074)."""
    (problem,) = parse(f"{HEAD}{language} {quote(text)}").problems

    assert ("E06", len(f"{HEAD}{language} ") + 1) == (problem.code, problem.column)
    assert problem.message.startswith(f"bad {language} selector: {reason}")


def test_stored_selector_is_not_checked_again():
    """It is restored without lxml, selectolax, re2 or jsonpath: the service's parent never loads
    them.
    """
    text = f'{HEAD}xpath "//a" Exclude regex "b+" Exclude css "i" Exclude jsonpath "$.a"'
    script = (
        f"import sys; from tidings.language.parser import recall; recall({text!r});"
        "print([name for name in ('lxml', 'selectolax', 're2', 'jsonpath', 'yaml') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert "[]" == printed.strip()
    assert parse(text).statements == (recall(text),)


def test_hidden_elements_can_be_excluded():
    """`Exclude hidden` is read, printed and written as YAML, and leaves out elements that are
    marked as hidden.
    """
    (statement,) = parse("Create Sentinel a Using https://x.example Monitor words Exclude HIDDEN").statements

    assert isinstance(statement, Sentinel)
    assert (HIDDEN,) == statement.exclude
    assert "Exclude hidden" in to_text(statement)
    assert (statement,) == load(to_yaml([statement]), now=0).statements
