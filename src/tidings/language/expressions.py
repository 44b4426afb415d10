"""An expression of the Monitor clause as text: `any change`, `all links AND NOT all images`."""

from __future__ import annotations

from collections.abc import Mapping

from tidings.model.sentinel import AllOf, AnyOf, Expression, Interest, Not

_KINDS: Mapping[str, str] = {"any": "any change", "words": "all words", "links": "all links", "images": "all images"}
_ONE: Mapping[str, str] = {"keywords": "keyword", "phrases": "phrase"}


def to_text(expression: Expression) -> str:
    """Return the canonical text of an expression; parentheses stand only where the meaning needs them."""
    match expression:
        case Interest():
            return _interest(expression)
        case Not(part):
            return f"NOT {_inside(part, (AnyOf, AllOf))}"
        case AllOf(parts):
            return " AND ".join(_inside(part, (AnyOf, AllOf)) for part in parts)
        case AnyOf(parts):
            return " OR ".join(_inside(part, (AnyOf,)) for part in parts)


def quoted(text: str) -> str:
    r"""Return a text as the language quotes it: only `"` and `\` are escaped."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _inside(part: Expression, wrapped: tuple[type, ...]) -> str:
    text = to_text(part)
    return f"({text})" if isinstance(part, wrapped) else text


def _interest(interest: Interest) -> str:
    words = [_KINDS.get(interest.kind, interest.kind)]
    if len(interest.terms) == 1:
        words = [_ONE.get(interest.kind, interest.kind), quoted(interest.terms[0])]
    elif interest.terms:
        words.append(f"<{', '.join(interest.terms)}>")
    if interest.direction is not None:
        words.append(interest.direction)
    if interest.selector is not None:
        words.append(f"in {interest.selector.language} {quoted(interest.selector.text)}")
    if interest.of is not None:
        words.append(f"of {interest.of}")
    return " ".join(words)
