"""JSONPath of RFC 9535: the rows of its tables as cases, and those of the compliance suite, if its
file is given.

A case says what a selector finds in a document, or that it is none. What differs has a reason (`WHY`) or is a fault.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidings.document.data.json_tree import JsonNumber, JsonTree, value_of
from tidings.document.select.chosen import RefusedError
from tidings.model.watch.interest import Selector

WHY = {
    "once": "the nodelist names a place twice; a part of a page counts once",
    "function": "match() and search() run patterns without a bound and are refused; `Transform` and `regex` take RE2",
    "deep": "its filter reads the whole document from each place, which is refused where that is too much",
}
"""What is decided otherwise, by outcome."""


@dataclass(frozen=True, slots=True)
class Case:
    """`results` are the nodelists that are right, empty if the selector is invalid."""

    name: str
    selector: str
    document: Any = None
    results: tuple[list[Any], ...] = ()
    is_ordered: bool = False


def outcome(case: Case) -> str:
    """Return `agrees`, one of `WHY`, `refused` (a valid selector), `taken` (an invalid one) or `differs`."""
    text = json.dumps(case.document)
    try:
        found = [
            _plain(value) for value in JsonTree(text, value_of(text)).find(Selector("jsonpath", case.selector)).values()
        ]
    except (RefusedError, ValueError) as error:
        if not case.results:
            return "agrees"
        if "match(" in case.selector or "search(" in case.selector:
            return "function"
        return "deep" if "too many" in str(error) else "refused"
    if not case.results:
        return "taken"
    output = [_write(result, case) for result in case.results]
    if _write(found, case) in output:
        return "agrees"
    return "once" if _write(found, case) in [_write(_once(result), case) for result in case.results] else "differs"


def _plain(value: Any) -> Any:
    """Return a value with numbers as JSON's own."""
    if isinstance(value, JsonNumber):
        return json.loads(value.written)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _write(values: Sequence[Any], case: Case) -> list[str]:
    text = [json.dumps(value, sort_keys=True) for value in values]
    return text if case.is_ordered else sorted(text)


def _once(values: Sequence[Any]) -> list[Any]:
    """Return values, equal ones once: all cases that name a place twice have different values at different places."""
    return [value for at, value in enumerate(values) if value not in values[:at]]


def suite(path: Path) -> Iterator[Case]:
    """Yield the cases of a `cts.json` of the JSONPath compliance suite."""
    for test in json.loads(path.read_text())["tests"]:
        results = test.get("results", [test["result"]] if "result" in test else [])
        yield Case(test["name"], test["selector"], test.get("document"), tuple(results), is_ordered=True)


SHOP = {
    "shop": {
        "lamp": [
            {"kind": "desk", "maker": "Ada", "name": "Tall", "price": 8.95},
            {"kind": "wall", "maker": "Bo", "name": "Flat", "price": 12.99},
            {"kind": "wall", "maker": "Cy", "name": "Round", "ean": "0-553", "price": 8.99},
            {"kind": "wall", "maker": "Di", "name": "Long", "ean": "0-395", "price": 22.99},
        ],
        "rug": {"color": "red", "price": 399},
    }
}
LAMPS: list[dict[str, Any]] = SHOP["shop"]["lamp"]  # type: ignore[assignment]
NAMES = {"o": {"j j": {"k.k": 3}}, "'": {"@": 2}}
WILD = {"o": {"j": 1, "k": 2}, "a": [5, 3]}
LETTERS = ["a", "b", "c", "d", "e", "f", "g"]
COMPARED = {"obj": {"x": "y"}, "arr": [2, 3]}
FILTERED = {
    "a": [3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}],
    "o": {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}},
    "e": "f",
}
DEEP = {"o": {"j": 1, "k": 2}, "a": [5, 3, [{"j": 4}, {"k": 6}]]}
NULL: dict[str, Any] = {"a": None, "b": [None], "c": [{}], "null": 1}
ZONES = [{"zone": "Europe/Oslo", "color": "red"}, {"zone": "Asia/Tokyo", "color": "blue"}]

_FOUND: list[tuple[str, Any, list[Any]]] = [
    # overview
    ("$.shop.lamp[*].maker", SHOP, ["Ada", "Bo", "Cy", "Di"]),
    ("$..maker", SHOP, ["Ada", "Bo", "Cy", "Di"]),
    ("$.shop.*", SHOP, [LAMPS, {"color": "red", "price": 399}]),
    ("$.shop..price", SHOP, [399, 8.95, 12.99, 8.99, 22.99]),
    ("$..lamp[2]", SHOP, [LAMPS[2]]),
    ("$..lamp[2].maker", SHOP, ["Cy"]),
    ("$..lamp[2].seller", SHOP, []),
    ("$..lamp[-1]", SHOP, [LAMPS[3]]),
    ("$..lamp[0,1]", SHOP, LAMPS[:2]),
    ("$..lamp[:2]", SHOP, LAMPS[:2]),
    ("$..lamp[?@.ean]", SHOP, LAMPS[2:]),
    ("$..lamp[?@.price<10]", SHOP, [LAMPS[0], LAMPS[2]]),
    # root, names
    ("$", {"k": "v"}, [{"k": "v"}]),
    ("$.o['j j']", NAMES, [{"k.k": 3}]),
    ("$.o['j j']['k.k']", NAMES, [3]),
    ('$.o["j j"]["k.k"]', NAMES, [3]),
    ('$["\'"]["@"]', NAMES, [2]),
    ("$['\\'']", NAMES, [{"@": 2}]),
    ("$['\\u006f']['j j']['k.k']", NAMES, [3]),
    ("$.☺", {"☺": 1}, [1]),
    ("$['']", {"": 1}, [1]),
    ("$.a", ["x"], []),
    # wildcards
    ("$[*]", WILD, [{"j": 1, "k": 2}, [5, 3]]),
    ("$.o[*]", WILD, [1, 2]),
    ("$.o[*, *]", WILD, [1, 2, 1, 2]),
    ("$.a[*]", WILD, [5, 3]),
    ("$.a.*", WILD, [5, 3]),
    ("$[*]", "text", []),
    # indexes
    ("$[1]", ["a", "b"], ["b"]),
    ("$[-2]", ["a", "b"], ["a"]),
    ("$[2]", ["a", "b"], []),
    ("$[-3]", ["a", "b"], []),
    ("$[0]", {"0": "a"}, []),
    # null is a value
    ("$.a", NULL, [None]),
    ("$.a[0]", NULL, []),
    ("$.a.d", NULL, []),
    ("$.b[0]", NULL, [None]),
    ("$.b[*]", NULL, [None]),
    ("$.b[?@]", NULL, [None]),
    ("$.b[?@==null]", NULL, [None]),
    ("$.c[?@.d==null]", NULL, []),
    ("$.null", NULL, [1]),
    # filters
    ("$.a[?@.b == 'kilo']", FILTERED, [{"b": "kilo"}]),
    ("$.a[?(@.b == 'kilo')]", FILTERED, [{"b": "kilo"}]),
    ("$.a[?@>3.5]", FILTERED, [5, 4, 6]),
    ("$.a[?@.b]", FILTERED, [{"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}]),
    ("$[?@.*]", FILTERED, [FILTERED["a"], FILTERED["o"]]),
    ("$[?@[?@.b]]", FILTERED, [FILTERED["a"]]),
    ("$.o[?@<3, ?@<3]", FILTERED, [1, 2, 1, 2]),
    ('$.a[?@<2 || @.b == "k"]', FILTERED, [1, {"b": "k"}]),
    ('$.a[?match(@.b, "[jk]")]', FILTERED, [{"b": "j"}, {"b": "k"}]),
    ('$.a[?search(@.b, "[jk]")]', FILTERED, [{"b": "j"}, {"b": "k"}, {"b": "kilo"}]),
    ("$.o[?@>1 && @<4]", FILTERED, [2, 3]),
    ("$.o[?@.u || @.x]", FILTERED, [{"u": 6}]),
    ("$.a[?@.b == $.x]", FILTERED, [3, 5, 1, 2, 4, 6]),
    ("$.a[?@ == @]", FILTERED, FILTERED["a"]),  # type: ignore[list-item]
    ("$.a[?!@.b]", FILTERED, [3, 5, 1, 2, 4, 6]),
    ("$.a[?!(@.b || @>2)]", FILTERED, [1, 2]),
    ("$[?@ == 1e2]", [100, 1, 1e2, "1e2"], [100, 100.0]),
    ("$[?@ == -0]", [0, 1], [0]),
    ('$[?@ == "\\u0061"]', ["a", "b"], ["a"]),
    ("$[?@.a && @.b || @.c]", [{"a": 1}, {"c": 1}, {"a": 1, "b": 1}], [{"c": 1}, {"a": 1, "b": 1}]),
    # functions
    ("$[?length(@) < 3]", ["ab", "abc", [1], {"a": 1, "b": 2, "c": 3}, 5], ["ab", [1]]),
    ("$[?length(@.a) == 1]", [{"a": "☺"}, {"a": "ab"}, {"b": "a"}], [{"a": "☺"}]),
    ("$[?count(@.*) == 1]", [[1], [1, 2], {"a": 1}], [[1], {"a": 1}]),
    ('$[?value(@..color) == "red"]', ZONES, [ZONES[0]]),
    ("$[?match(@.zone, 'Europe/.*')]", ZONES, [ZONES[0]]),
    # descendants
    ("$..j", DEEP, [1, 4]),
    ("$..[0]", DEEP, [5, {"j": 4}]),
    ("$..[*]", DEEP, [DEEP["o"], DEEP["a"], 1, 2, 5, 3, [{"j": 4}, {"k": 6}], {"j": 4}, {"k": 6}, 4, 6]),
    ("$..*", DEEP, [DEEP["o"], DEEP["a"], 1, 2, 5, 3, [{"j": 4}, {"k": 6}], {"j": 4}, {"k": 6}, 4, 6]),
    ("$..o", DEEP, [{"j": 1, "k": 2}]),
    ("$.o..[*, *]", DEEP, [1, 2, 1, 2]),
    ("$.a..[0, 1]", DEEP, [5, 3, {"j": 4}, {"k": 6}]),
    # blank space
    ("$ .a", {"a": 1}, [1]),
    ("$[?@ == '<>']", ["<>", "a"], ["<>"]),
    ('$[?@ == "<>"]', ["<>", "a"], ["<>"]),
    ("$\n['a']", {"a": 1}, [1]),
    ("$[ 'a' , 'b' ]", {"a": 1, "b": 2}, [1, 2]),
    ("$[?@.a ==\t1]", [{"a": 1}], [{"a": 1}]),
]
_IN_ORDER: list[tuple[str, Any, list[Any]]] = [
    ("$[1:3]", LETTERS, ["b", "c"]),
    ("$[5:]", LETTERS, ["f", "g"]),
    ("$[:2]", LETTERS, ["a", "b"]),
    ("$[-2:]", LETTERS, ["f", "g"]),
    ("$[1:5:2]", LETTERS, ["b", "d"]),
    ("$[5:1:-2]", LETTERS, ["f", "d"]),
    ("$[::-1]", LETTERS, LETTERS[::-1]),
    ("$[::0]", LETTERS, []),
    ("$[3:1]", LETTERS, []),
    ("$[0:99]", LETTERS, LETTERS),
    ("$[1:2]", {"1": "a"}, []),
    ("$[0, 3]", LETTERS, ["a", "d"]),
    ("$[3, 0]", LETTERS, ["d", "a"]),
    ("$[0:2, 5]", LETTERS, ["a", "b", "f"]),
    ("$[0, 0]", LETTERS, ["a", "a"]),
]
_HOLDS = {
    "$.absent1 == $.absent2": True, "$.absent1 <= $.absent2": True, "$.absent == 'g'": False, "$.absent1 != $.absent2": False,
    "$.absent != 'g'": True, "1 <= 2": True, "1 > 2": False, "13 == '13'": False, "'a' <= 'b'": True, "'a' > 'b'": False,
    "$.obj == $.arr": False, "$.obj != $.arr": True, "$.obj == $.obj": True, "$.obj != $.obj": False, "$.arr == $.arr": True,
    "$.arr != $.arr": False, "$.obj == 17": False, "$.obj != 17": True, "$.obj <= $.arr": False, "$.obj < $.arr": False,
    "$.obj <= $.obj": True, "$.arr <= $.arr": True, "1 <= $.arr": False, "1 >= $.arr": False, "1 > $.arr": False, "1 < $.arr": False,
    "true <= true": True, "true > true": False,
}  # fmt: skip
_INVALID = (
    "", "a", "@.a", "$.", "$..", "$[", "$[]", "$a", " $", "$ ", "$. a", "$.1a", "$.a b", "$.'a'", "$['a]", "$[\"a']", "$['\\x']",
    "$['\\ud800']", "$[01]", "$[-0]", "$[1.0]", "$[1e2]", "$[9007199254740992]", "$[1:2:3:4]", "$[1:2:9007199254740992]", "$[1,]", "$[,1]",
    "$[*", "$...a", "$.a[?]", "$[?@.a=1]", "$[?@.a===1]", "$[?@.a == 'x' and @.b]", "$[?@.* == 1]", "$[?@..a == 1]", "$[?1]", "$[?'a']",
    "$[?true]", "$[?@.a == 1 && ]", "$[?(@.a == 1]", "$[?@.a == [1]]", "$[?@.a == {}]", "$[?@.a < 1 < 2]", "$[?!@.a == 1]", "$.length()",
    "$[?length(@.*) < 3]", "$[?count(1) == 1]", "$[?count(foo(@.*)) == 1]", "$[?match(@.zone, 'Europe/.*') == true]",
    "$[?value(@..color)]", "$[?length(@.a)]", "$[?length() == 1]", "$[?length(@.a, @.b) == 1]", "$[?Length(@.a) == 1]", "$[?nothing(@.a)]",
    "$[?@.a in [1]]", "$[?@.a =~ /x/]", "$.a | $.b", "$.a & $.b", "$[?#]", "$.~", "$[?(@.a == 1) == true]", "$[?@.b[?!@.a == 1]]", "$[?_.a]",
    "$[?count(@[?!@.a == 1]) > 1]", "$[?@.a <> 1]", "$[?not @.a]", "^.a",
)  # fmt: skip


def cases() -> Iterator[Case]:
    """Yield our own cases."""
    for selector, document, result in _FOUND:
        yield Case(selector, selector, document, (result,))
    for selector, document, result in _IN_ORDER:
        yield Case(selector, selector, document, (result,), is_ordered=True)
    for condition, holds in _HOLDS.items():
        yield Case(condition, f"$[?{condition}]", COMPARED, ([*COMPARED.values()] if holds else [],))
    for selector in _INVALID:
        yield Case(f"invalid: {selector}", selector, {"a": 1})
