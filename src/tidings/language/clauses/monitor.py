"""The Monitor clause: change types joined by AND, OR and NOT."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, cast

from lark import Token, Tree

from tidings.language.clauses.asking import check_header_name
from tidings.language.clauses.clause import (
    Clause,
    FaultFoundError,
    Node,
    check_page_name,
    first,
    last,
    parts_of,
    read_count,
    read_list,
    read_positive_duration,
    unquote,
    word_types,
)
from tidings.language.clauses.patterns import read_pattern, read_selector
from tidings.model.interval import Duration
from tidings.model.observed.outcome import SECRET_HEADERS
from tidings.model.watch.interest import FORMS, AllOf, AnyOf, Condition, Expression, Interest, Measure, Not, Relation
from tidings.model.watch.sentinel import LISTING, Lasting

DEEPEST = 50
"""The deepest nesting of parts."""

_NEVER_UPDATED = frozenset({"links", "images", "keywords", "regex"})
_ONLY_UPDATED = frozenset({"price", "availability"})
_AT_EACH_POLL = frozenset(
    {"age", "date", "expires", "x-request-id", "x-amz-request-id", "cf-ray", "x-timer", "x-runtime", "server-timing"}
)
"""Headers that differ in every answer, independent of the page."""


Meaning = tuple[Expression, Duration | None, Lasting | None]
"""The value of a Monitor clause: its expression, its window, and how long a change must last."""


def read_monitor(node: Node, sentinel: Token, clause: Clause) -> Meaning:
    """Return the value of a Monitor clause; E26 refers to `sentinel`, the name.

    Raises `FaultFoundError`.
    """
    word, expression, *rest = cast("list[Any]", node.children)
    meaning = _expression(expression, clause, 0)
    if never_fires(meaning):
        message = "a sentinel that consists only of NOT can never report anything"
        raise clause.fail(sentinel.start_pos, "E26", message, hint="Monitor any change AND NOT images")
    within = None
    if isinstance(rest[0] if rest else None, Token):
        clause.note("within", rest[0].start_pos)
        within = read_positive_duration(rest[1], clause)
    lasting = _lasting(rest[-1], clause) if rest and rest[-1].data == "lasting" else None
    if joins_plain_types(meaning) or (within is None and joins_states(meaning)):
        hint = "to be notified of either, write OR or a comma"
        clause.warn(word.start_pos, "W8", "reported only when both change", hint=hint)
    return meaning, within, lasting


def _lasting(node: Node, clause: Clause) -> Lasting:
    clause.note("lasting", first(node).start_pos)
    if "NUMBER" not in word_types(node):
        return Lasting(duration=read_positive_duration(cast("Node", node.children[1]), clause))
    number = next(token for token in node.children if isinstance(token, Token) and token.type == "NUMBER")
    return Lasting(checks=read_count(number, clause, "a number of checks"))


def never_fires(expression: Expression) -> bool:
    """Return whether an expression has a NOT that stands alone: at the top, in an OR, or in an AND
    without a positive part.
    """
    match expression:
        case Interest():
            return False
        case Not():
            return True
        case AnyOf(parts):
            return any(never_fires(part) for part in parts)
        case AllOf(parts):
            negated = [part.part for part in parts if isinstance(part, Not)]
            positive = [part for part in parts if not isinstance(part, Not)]
            return not positive or any(never_fires(part) for part in (*positive, *negated))


def joins_plain_types(expression: Expression) -> bool:
    """Return whether an AND asks for two changes of one page at once, without a condition that
    makes that plausible (W8).
    """
    match expression:
        case Interest():
            return False
        case Not(part):
            return joins_plain_types(part)
        case AnyOf(parts):
            return any(joins_plain_types(part) for part in parts)
        case AllOf(parts):
            positive = [part for part in parts if not isinstance(part, Not)]
            return sum(map(_is_plain, positive)) > 1 or any(joins_plain_types(part) for part in parts)


def joins_states(expression: Expression) -> bool:
    """Return whether an AND asks for two values: it is reported only when both change (W8)."""
    match expression:
        case Interest():
            return False
        case Not(part):
            return joins_states(part)
        case AnyOf(parts):
            return any(joins_states(part) for part in parts)
        case AllOf(parts):
            states = [part for part in parts if _is_plain(part) or _is_state(part)]
            return (len(states) > 1 and any(map(_is_state, states))) or any(joins_states(part) for part in parts)


def _is_state(expression: Expression) -> bool:
    match expression:
        case Interest():
            return bool(expression.where) and {one.measure for one in expression.where} <= {"value", "is"}
        case Not():
            return False
        case AnyOf(parts) | AllOf(parts):
            return all(_is_state(part) for part in parts)


def _is_plain(expression: Expression) -> bool:
    match expression:
        case Interest():
            return expression.of is None and not expression.where
        case Not():
            return False
        case AnyOf(parts) | AllOf(parts):
            return all(_is_plain(part) for part in parts)


def _expression(node: Node, clause: Clause, depth: int) -> Expression:
    if depth > DEEPEST:
        raise clause.fail(
            first(node).start_pos, "E12", "parts are nested too deeply", expected=f"at most {DEEPEST} levels"
        )
    if node.data == "change":
        return _change(node, clause)
    parts = tuple(_expression(child, clause, depth + 1) for child in node.children if isinstance(child, Tree))
    if node.data == "not":
        return parts[0].part if isinstance(parts[0], Not) else Not(parts[0])
    return AnyOf(parts) if node.data == "any_of" else AllOf(parts)


def _change(node: Node, clause: Clause) -> Interest:
    kind, *details = cast("list[Node]", node.children)
    if kind.data == "direction":  # new links
        kind, details = details[0], [kind, *details[1:]]
    given: dict[str, Any] = {}
    if kind.data == "pages":
        kind, given["of"] = Tree("links", kind.children), _listing(first(kind), clause)
    if kind.data == "selector":  # any change in this part
        given["selector"] = read_selector(kind, clause)
        kind = Tree("any", kind.children)
    elif kind.data != "header":  # which is also a clause
        clause.note(str(kind.data), first(kind).start_pos)
    if kind.data in _ARGUMENTS:
        given = dict(_ARGUMENTS[kind.data](kind, clause))
    for detail in details:
        part = str(detail.data)
        clause.note(part, first(detail).start_pos)
        match part:
            case "form":
                given["form"] = _form(str(kind.data), cast("Token", detail.children[0]), clause)
            case "anchor":
                given |= _anchor(str(kind.data), detail, clause)
            case "direction":
                given["direction"] = cast("Token", detail.children[0]).type.lower()
            case "in":
                given["selector"] = read_selector(cast("Node", detail.children[1]), clause)
            case "of":
                given["of"] = check_page_name(cast("Token", detail.children[1]), clause)
            case _:
                given["where"] = read_conditions("column" if "column" in given else str(kind.data), detail, clause)
    if given.get("direction") == "updated" and kind.data in _NEVER_UPDATED:
        message = f"{kind.data} are inserted or deleted, never updated: this condition never holds"
        hint = "write inserted or deleted, or neither to be notified of both"
        clause.warn(first(kind).start_pos, "W13", message, hint=hint)
    if kind.data in _ONLY_UPDATED and given.get("direction") in {"inserted", "deleted"}:
        message = f"{kind.data} is updated, never {given['direction']}: this condition never holds"
        hint = "write updated, or nothing; a page that stops giving one is reported"
        clause.warn(first(kind).start_pos, "W13", message, hint=hint)
    return Interest(str(kind.data), **given)


def _listing(word: Token, clause: Clause) -> str:
    """Return the name of a collection's list of pages; raises `FaultFoundError` (E27) where there
    is none.
    """
    if clause.names is not None and LISTING not in clause.names:
        message = "only a collection has pages that appear and disappear"
        hint = "Create Collection NAME Using URL, or Monitor links"
        raise clause.fail(word.start_pos, "E27", message, hint=hint)
    return LISTING


def _form(kind: str, word: Token, clause: Clause) -> str:
    """Return the form in which things are compared; E28 for one that the change type lacks."""
    form = word.lower()
    if form not in FORMS.get(kind, ()):
        fitting = " or ".join(name for name, forms in FORMS.items() if form in forms)
        raise clause.fail(word.start_pos, "E28", f'"{word}" is a form of {fitting}', hint=f"leave out {form}")
    return form


def _terms(node: Node, clause: Clause) -> Mapping[str, Any]:
    """Return the keywords or phrases, without duplicates, in order; W3 for suspicious ones."""
    items, value = read_list(node), last(node)
    if not all(items):
        noun = "keyword" if node.data == "keywords" else "phrase"
        raise clause.fail(value.start_pos, "E07", f"empty {noun} in the list", hint="remove the extra comma")
    terms = tuple(dict.fromkeys(items))
    if not clause.is_stored:
        for term in terms:
            _doubt(term, value.start_pos, clause)
    return {"terms": terms}


def _doubt(term: str, offset: int | None, clause: Clause) -> None:
    from tidings.document.text.words import tokens_of  # stored texts are read without it

    words = tokens_of(term)
    if not words:
        message = f'"{term}" has no letter or digit and can never be found'
        clause.warn(offset, "W3", message, hint="write a word of the page")
    elif len(words) == 1 and words[0] != unicodedata.normalize("NFC", term):
        message = f'"{term}" is searched for as the word "{words[0]}"'
        clause.warn(offset, "W3", message, hint="punctuation separates words and is not compared")


def _anchor(kind: str, node: Node, clause: Clause) -> Mapping[str, str]:
    """Return between which texts of the page something stands. Raise `FaultFoundError` (E28) for a
    change type that has no such place.
    """
    word, texts = (
        first(node),
        [unquote(one) for one in node.children if isinstance(one, Token) and one.type == "STRING"],
    )
    if kind != "number" and (kind != "words" or word.type != "BETWEEN"):
        hint = f'write Monitor number {word.lower()} "{texts[0]}", or all words between "A" and "B"'
        raise clause.fail(word.start_pos, "E28", f"{word} does not belong to {kind}", hint=hint)
    if not all(text.strip() for text in texts):
        raise clause.fail(word.start_pos, "E07", "there is nothing to search for", hint='number after "Total:"')
    if word.type == "BEFORE":
        return {"before": texts[0]}
    return dict(zip(("after", "before"), texts, strict=False))


def _nth(node: Node, clause: Clause) -> Mapping[str, Any]:
    """Return which number is meant: `2nd number` and `number 2` are the same."""
    given = [one for one in node.children if isinstance(one, Token) and one.type in {"NTH", "NUMBER"}]
    if not given:
        return {}
    word = given[0].lower().removeprefix("the").strip()
    digits = {"first": "1", "second": "2", "third": "3"}.get(word, re.sub(r"(?:st|nd|rd|th)$", "", word))
    place = Token("NUMBER", digits, start_pos=given[0].start_pos)
    number = read_count(place, clause, "number")
    return {"ordinal": number} if number > 1 else {}


def _table(node: Node, clause: Clause) -> Mapping[str, Any]:
    """Return the number of a table, and the column that counts."""
    words = [one for one in node.children if isinstance(one, Token)]
    at = next((number for number, one in enumerate(words) if one.type in {"COLUMN", "COLUMN_OF"}), len(words))
    cell = words[at + 1] if at < len(words) else None
    number = next((one for one in words if one.type == "NUMBER" and one is not cell), None)
    given: dict[str, Any] = {} if number is None else {"ordinal": read_count(number, clause, "table")}
    if cell is not None:
        given["column"] = unquote(cell).strip() if cell.type == "STRING" else str(cell)
        if not given["column"]:
            raise clause.fail(cell.start_pos, "E07", "the column has no name", hint='table column "Price"')
    return given


def _ordinal(node: Node, clause: Clause) -> Mapping[str, Any]:
    number = last(node)
    return {"ordinal": read_count(number, clause, str(node.data))} if number.type == "NUMBER" else {}


def _pattern(node: Node, clause: Clause) -> Mapping[str, Any]:
    return {"pattern": read_pattern(last(node), clause)}


def _header(node: Node, clause: Clause) -> Mapping[str, Any]:
    token = last(node)
    name = check_header_name(token, clause)
    if name.lower() in SECRET_HEADERS:
        message = f"{name} may contain a secret, and is never stored"
        raise clause.fail(token.start_pos, "E41", message, hint='for example header "Last-Modified"')
    if name.lower() in _AT_EACH_POLL and not clause.is_stored:
        clause.warn(token.start_pos, "W13", f"{name} differs at each check: this reports the checks, not the page")
    return {"header": name}


_ARGUMENTS: Mapping[str, Callable[[Node, Clause], Mapping[str, Any]]] = {
    "keywords": _terms,
    "phrases": _terms,
    "table": _table,
    "number": _nth,
    "list": _ordinal,
    "regex": _pattern,
    "header": _header,
}


LARGEST = 1e15
"""Above it numbers of a page could not be distinguished."""

_YIELDS: Mapping[str, str] = {
    "any": "any change yields text",
    "words": "words yields text",
    "links": "links yields addresses",
    "images": "images yields addresses",
    "keywords": "keywords yields text",
    "phrases": "phrase yields text",
    "table": "table yields cells",
    "column": "column yields cells",
    "list": "list yields entries",
    "regex": "regex yields text",
    "number": "number yields a number",
    "items": "items yields entries",
    "status": "status yields the state of the page",
    "header": "header yields the value of a header",
    "price": "price yields a number",
    "availability": "availability yields a state",
}
_NUMBERS = frozenset({"number", "price"})
"""Change types with a number."""
_STATES = frozenset({"status", "header", "availability"})
"""Change types with one text."""
_OF_NUMBERS = frozenset({"VALUE", "BECOMES", "IS", "LOWEST", "HIGHEST", "CHANGES", "RISES", "DROPS"})
_EXTREMES = frozenset({"LOWEST", "HIGHEST"})
_KNOWN_AGAIN = frozenset({"words", "links", "images", "table", "column", "list", "regex", "items"})
"""Change types whose things can be recognized if an earlier version had them."""
_OF_ENTRIES = frozenset({"table", "list", "items"})
"""Change types whose entries may have several numbers."""
_ANSWERS = frozenset({"status", "header"})
"""Change types on the answer to a request."""
_BARE = frozenset({"BELOW", "ABOVE", "RELATION", "BETWEEN"})
"""Words that begin a comparison."""
_RELATIONS: Mapping[str, str] = {"==": "=", "equals": "=", "exactly": "=", "at least": ">=", "at most": "<="}
_MEASURES: Mapping[str, Measure] = {
    "VALUE": "value",
    "BECOMES": "becomes",
    "IS": "is",
    "LOWEST": "lowest",
    "HIGHEST": "highest",
    "SHARE": "share",
    "INSERTED": "inserted",
    "DELETED": "deleted",
    "CHANGED": "changed",
    "CHANGES": "changes",
    "RISES": "rises",
    "DROPS": "drops",
}
_OF_COUNTS = frozenset({"SHARE", "INSERTED", "DELETED", "CHANGED"})


def read_conditions(kind: str, where: Node, clause: Clause) -> tuple[Condition, ...]:
    """Return the conditions on a change of this type. Raise `FaultFoundError` (E28) for one that
    does not apply to it.
    """
    return tuple(_condition(kind, node, clause) for node in where.children if isinstance(node, Tree))


def _condition(kind: str, node: Node, clause: Clause) -> Condition:
    word, parts, types = first(node), parts_of(node), word_types(node)
    if "PAGE" in types:
        if kind in _ANSWERS:
            message = f"{kind} is not text of the page, and is checked without reading the page"
            raise clause.fail(word.start_pos, "E28", message, hint=f"leave out page …, or monitor {kind} by itself")
        return _search("page lacks" if "LACKS" in types else "page has", node, clause)
    if "NEVER_SEEN" in types:
        return _never_seen(kind, word, clause)
    if extreme := _EXTREMES.intersection(types):
        return _extreme(next(iter(extreme)), kind, node, clause)
    operator = "VALUE" if word.type in _BARE else word.type
    if "STRING" in types and word.type in {"BECOMES", "IS"}:
        if kind == "availability" and word.type == "IS":
            return _search("is", node, clause)
        operator = "CONTAINS"
    if kind in {"status", "availability"} and operator in _OF_NUMBERS:
        raise _not_a_number(kind, node, word, clause)
    if kind in _OF_ENTRIES and operator in _OF_NUMBERS:
        raise _not_of_entries(kind, node, word, clause)
    _check_fits(operator, word, kind, clause)
    if operator in {"CONTAINS", "LACKS"}:
        return _search("contains" if operator == "CONTAINS" else "lacks", node, clause)
    if operator == "MATCHES":
        return Condition("matches", text=read_pattern(last(node), clause))
    if operator in {"CHANGES", "RISES", "DROPS"} and "NUMBER" in types:
        number = _number(operator, node, clause)
        return Condition(_MEASURES[operator], ">" if "MORE" in types else ">=", number, "PERCENT" in types)
    measure = "becomes" if operator in {"RISES", "DROPS"} else _MEASURES[operator]
    return _compare(measure, parts.get("comparison", node), clause)


def _not_a_number(kind: str, node: Node, word: Token, clause: Clause) -> FaultFoundError:
    """Return the fault of a number with a state of the page or of a product (E28), with the
    condition to write.
    """
    tokens = list(node.scan_values(lambda value: isinstance(value, Token)))
    code = next((str(token) for token in tokens if token.type == "NUMBER"), "")
    relation = next((token for token in tokens if token.type in {"RELATION", "BELOW", "ABOVE"}), "=")
    relation = _RELATIONS.get(" ".join(relation.lower().split()), relation)
    state = code if relation in {"=", "!="} and len(code) == 3 else "4..|5.."
    state = "ok" if state.startswith("2") else state
    hint = (
        f'write Monitor status where {"lacks" if relation == "!=" else "matches"} "{state}"'
        if kind == "status"
        else 'write Monitor availability is "in stock"'
    )
    return clause.fail(word.start_pos, "E28", f'"{word}" needs a number, but {_YIELDS[kind]}', hint=hint)


def _not_of_entries(kind: str, node: Node, word: Token, clause: Clause) -> FaultFoundError:
    """Return the fault of a number with entries or rows (E28), with the conditions to write."""
    types = {token.type: str(token) for token in node.scan_values(lambda value: isinstance(value, Token))}
    is_compared = not types.keys().isdisjoint({"RELATION", "BELOW", "ABOVE"})
    number = types["NUMBER"] if is_compared else "100"
    relation = "<" if "BELOW" in types else ">" if "ABOVE" in types else types.get("RELATION", "<")
    relation = _RELATIONS.get(" ".join(relation.lower().split()), relation)
    hint = f'name the column: table column "NAME" where value {relation} {number}'
    if kind != "table" and is_compared:
        relation = "==" if relation == "=" else relation
        hint = f'{hint}; of JSON, name the field: items in jsonpath "$..[?@.NAME {relation} {number}]"'
    return clause.fail(word.start_pos, "E28", f'"{word}" needs a number, but {_YIELDS[kind]}', hint=hint)


def _never_seen(kind: str, word: Token, clause: Clause) -> Condition:
    if kind not in _KNOWN_AGAIN:
        message = f"{kind} has no entries that can be recognised"
        if kind == "any":
            message = "any change covers words, links and images"
        hint = "Monitor all words never seen before, or links, images, items, table, list, regex"
        raise clause.fail(word.start_pos, "E28", message, hint=hint)
    return Condition("never seen")


def _extreme(measure: str, kind: str, node: Node, clause: Clause) -> Condition:
    """Return the condition that a number is the lowest or highest of a page's stored ones."""
    word = first(node)
    if kind == "header":
        message = f'"{word}" needs earlier values, and a header has none'
        raise clause.fail(word.start_pos, "E28", message, hint="header … where value < 100")
    _check_fits(measure, word, kind, clause)
    duration = parts_of(node).get("duration")
    return Condition(_MEASURES[measure], span=0 if duration is None else read_positive_duration(duration, clause))


def _compare(measure: Measure, node: Node, clause: Clause) -> Condition:
    """Return a condition with numbers in a comparison."""
    amounts = [child for child in node.children if isinstance(child, Tree) and child.data == "amount"]
    numbers = [_number(measure.upper(), amount, clause) for amount in amounts]
    is_percent = any("PERCENT" in word_types(amount) for amount in amounts)
    if len(numbers) > 1:
        low, high = sorted(numbers)
        return Condition(measure, "between", low, is_percent, upper=high)
    value = next((child for child in node.children if isinstance(child, Token) and child.type in _BARE), None)
    relation = "=" if value is None else _RELATIONS.get(" ".join(value.lower().split()), str(value))
    relation = {"BELOW": "<", "ABOVE": ">"}.get("" if value is None else value.type, relation)
    return Condition(measure, cast("Relation", relation), numbers[0], is_percent)


def _number(measure: str, node: Node, clause: Clause) -> float:
    """Return the signed number of a node. Raise `FaultFoundError` for one that the measure cannot
    have.
    """
    tokens = {token.type: token for token in node.children if isinstance(token, Token)}
    number = float(tokens["NUMBER"]) * (-1 if tokens.get("SIGN") == "-" else 1)
    _check_number(measure, tokens["NUMBER"], number, clause, is_percent="PERCENT" in tokens)
    return number


def _check_fits(measure: str, word: Token, name: str, clause: Clause) -> None:
    if name == "column" and measure in {"IS", *_EXTREMES}:
        message = f'"{word}" is not about single cells'
        raise clause.fail(word.start_pos, "E28", message, hint='Monitor column "Price" where value < 100')
    if measure in _OF_NUMBERS and name != "column":
        if name not in _NUMBERS | {"header"}:
            hint = 'Monitor number in css ".price" where value < 100'
            if name == "any":  # only a part was named
                hint = f"write number in before the part, e.g. {hint}"
            raise clause.fail(word.start_pos, "E28", f'"{word}" needs a number, but {_YIELDS[name]}', hint=hint)
    elif measure in _OF_COUNTS:
        if name in _NUMBERS | _STATES:
            hint = "write value, becomes, or changes by" if name in _NUMBERS else "write matches or contains"
            raise clause.fail(word.start_pos, "E28", f'"{word}" counts, but {_YIELDS[name]}', hint=hint)
    elif name in _NUMBERS:
        hint = "write value = 5, or Monitor all words"
        raise clause.fail(word.start_pos, "E28", f'"{word}" needs text, but {_YIELDS[name]}', hint=hint)


def _check_number(measure: str, token: Token, number: float, clause: Clause, *, is_percent: bool) -> None:
    if abs(number) > LARGEST:
        raise clause.fail(token.start_pos, "E16", f"{token[:20]}… is too large", expected="a number up to 1e15")
    if measure in {"VALUE", "BECOMES", "IS"} and is_percent:
        message = f'"{measure.lower()}" is compared with the number as the page writes it'
        raise clause.fail(token.start_pos, "E28", message, hint=f"leave % out: {measure.lower()} … {token}")
    if measure in _OF_COUNTS and number < 0:
        raise clause.fail(token.start_pos, "E16", f'"{measure.lower()}" is never below 0', expected="a number from 0")
    if measure == "SHARE" and not 0 <= number <= (100 if is_percent else 1):
        hint = "" if is_percent else f"write {token}%"
        message = f"a share of {token}{'%' if is_percent else ''} makes no sense"
        expected = "0% to 100%" if is_percent else "0 to 1, or a percentage"
        raise clause.fail(token.start_pos, "E16", message, expected=expected, hint=hint)


def _search(measure: Measure, node: Node, clause: Clause) -> Condition:
    """Return a condition on texts that are searched for. Raise `FaultFoundError` (E07) if one is
    empty.
    """
    texts = tuple(dict.fromkeys(" ".join(text.split()) for text in read_list(node)))
    if not all(texts):
        raise clause.fail(last(node).start_pos, "E07", "there is nothing to search for", hint='contains "oil"')
    return Condition(measure, text=texts[0], others=texts[1:])
