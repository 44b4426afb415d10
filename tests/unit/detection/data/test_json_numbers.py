"""Numbers of JSON are exact, shown as written, and equal in every form."""

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.document.data.json_tree import JsonTree, parts_of_json, value_of
from tidings.document.parse import parse
from tidings.model.watch.interest import Interest, Selector

OTHERS = [
    ("9007199254740993", "9007199254740992"),
    ("12345678901234567", "12345678901234568"),
    ("1" + "0" * 100, "1" + "0" * 99 + "1"),
    ("1e400", "1e401"),
    ("-1e400", "1e400"),
    ("0.1", "0.1000000000000000055"),
    ("1", "1.5"),
    ("1", "-1"),
    ("1e-400", "0"),
]
SAME = [
    ("1", "1.0"),
    ("1", "1e0"),
    ("-0", "0"),
    ("0", "-0.0"),
    ("100", "1E+2"),
    ("0.10", "1e-1"),
    ("1" + "0" * 40, "1e40"),
    ("1e400", "10E399"),
]
KINDS = [Interest("any"), Interest("items"), Interest("any", selector=Selector("jsonpath", "$[0].n"))]


def report(interest, before, now, form='[{{"id": "x", "n": {}}}, {{"id": "y"}}]'):
    old, new = (
        parse(form.format(number).encode(), "application/json", url="http://x.org/", keep_tree=True)
        for number in (before, now)
    )
    return evaluate(interest, Pair(old, new))


@pytest.mark.parametrize(("before", "now"), OTHERS)
@pytest.mark.parametrize("interest", KINDS)
def test_other_number_is_shown_as_written(interest, before, now):
    """Both have all digits, also those that a float would lose."""
    ((old, new),) = report(interest, before, now).updated

    assert (True, True) == (before in old, now in new)


@pytest.mark.parametrize(("before", "now"), SAME)
@pytest.mark.parametrize("interest", KINDS)
def test_other_form_of_the_same_number_is_no_change(interest, before, now):
    """It may have a point, an exponent or a sign of zero."""
    assert not report(interest, before, now)


@pytest.mark.parametrize("number", ["1", "10000000000000000000001", "1.50", "1e400"])
def test_entry_without_a_title_is_named_as_written(number):
    """A new object of an array is shown as JSON, with its integers as integers."""
    (found,) = report(Interest("items"), "[", f'[{{"n": {number}, "s": ["é", null]}}', "{}]").inserted

    assert f'{{"n": {number}, "s": ["é", null]}}' == found


@pytest.mark.parametrize("text", ['{"a": [1, 2.0, {}, [], ""], "b": {"c": null, "d": true}}', "[]", '"x"', "1e5", "{}"])
def test_both_parsers_write_values_unchanged(text):
    """One is for JSONPath, the other for comparisons."""
    typed = value_of(text)

    assert [text] * 2 == ["".join(parts_of_json(value)) for value in (typed, JsonTree(text, typed).value)]
