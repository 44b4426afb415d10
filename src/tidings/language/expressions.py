"""An expression of the Monitor clause as text: `any change`, `all links AND NOT all images`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tidings.model.interval import spell_duration
from tidings.model.watch.interest import EXTREMES, AllOf, AnyOf, Condition, Expression, Interest, Not, Selector
from tidings.model.watch.sentinel import LISTING

_MARKS = re.compile('[,<>"]')
_ESCAPED = re.compile(r'"|\\(?=["\\]|\Z)')
_KINDS: Mapping[str, str] = {"any": "any change", "words": "all words", "links": "all links", "images": "all images"}
_ONE: Mapping[str, str] = {"keywords": "keyword", "phrases": "phrase"}


def to_text(expression: Expression) -> str:
    """Return the canonical text of an expression, with parentheses only where needed."""
    match expression:
        case Interest():
            return _interest(expression)
        case Not(part):
            return f"NOT {_inside(part, (AnyOf, AllOf))}"
        case AllOf(parts):
            return " AND ".join(_inside(part, (AnyOf, AllOf)) for part in parts)
        case AnyOf(parts):
            return " OR ".join(_inside(part, (AnyOf,)) for part in parts)


def quote(text: str) -> str:
    r"""Return a text quoted by the language: `\` precedes a quote, and a backslash that would
    otherwise escape something.
    """
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def write_list(items: Iterable[str]) -> str:
    """Return texts as a list: `<a, "b, c">`."""
    return f"<{', '.join(quote(item) if _MARKS.search(item) else item for item in items)}>"


def fits_list(words: Iterable[str]) -> bool:
    """Return whether words can be written as a list, because none has a mark of lists."""
    return not set("".join(words)) & set(',<>"')


def selector_text(selector: Selector) -> str:
    """Return a selector in the language."""
    return f"{selector.language} {quote(selector.text)}"


def number_text(number: float) -> str:
    """Return a number without an exponent, exactly as Python parses it back; a whole one without a
    point.
    """
    number = float(number)
    if number.is_integer() and abs(number) < 1e16:
        return str(int(number))
    text = repr(number)
    return f"{number:.400f}".rstrip("0").rstrip(".") if "e" in text else text


def condition_text(condition: Condition) -> str:
    """Return a condition in the language."""
    if condition.measure == "never seen":
        return "never seen before"
    if condition.measure in EXTREMES:
        return f"{condition.measure} {f'of {spell_duration(condition.span)}' if condition.span else 'so far'}"
    if condition.text:
        return f"{condition.measure} {_write_texts(condition.texts)}"
    number = f"{number_text(condition.number)}{'%' if condition.is_percent else ''}"
    if condition.relation == "between":
        number = f"{number} and {number_text(condition.upper)}{'%' if condition.is_percent else ''}"
    if condition.measure in {"changes", "rises", "drops"}:
        return f"{condition.measure} by {'more than ' if condition.relation == '>' else ''}{number}"
    return f"{condition.measure} {condition.relation} {number}"


def _write_texts(texts: tuple[str, ...]) -> str:
    """Return a text in quotes, or several as a list."""
    if len(texts) == 1:
        return quote(texts[0])
    return write_list(texts)


def _inside(part: Expression, wrapped: tuple[type, ...]) -> str:
    text = to_text(part)
    return f"({text})" if isinstance(part, wrapped) else text


def _interest(interest: Interest) -> str:
    is_listing = interest.kind == "links" and interest.of == LISTING
    words = ["pages" if is_listing else _KINDS.get(interest.kind, interest.kind)]
    if len(interest.terms) == 1:
        words = [_ONE.get(interest.kind, interest.kind), quote(interest.terms[0])]
    elif interest.terms:
        words.append(write_list(interest.terms))
    if interest.ordinal is not None:
        words.append(str(interest.ordinal))
    if interest.column:
        words.append(f"column {quote(interest.column)}")
    if interest.kind == "regex":
        words.append(quote(interest.pattern))
    if interest.kind == "header":
        words.append(quote(interest.header))
    if interest.form:
        words.append(interest.form)
    if interest.after and interest.before:
        words.append(f"between {quote(interest.after)} and {quote(interest.before)}")
    elif interest.steps:
        words.append(f"{interest.steps[0].verb} {quote(interest.steps[0].match)}")
    if interest.direction is not None:
        words.append(interest.direction)
    if interest.selector is not None:
        words.append(f"in {selector_text(interest.selector)}")
    if interest.of is not None and not is_listing:
        words.append(f"of {interest.of}")
    if interest.where:
        words.append(f"where {' but '.join(map(condition_text, interest.where))}")
    return " ".join(words)
