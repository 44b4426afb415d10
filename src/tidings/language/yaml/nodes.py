"""Nodes of a YAML text: their values, and their faults with places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tidings.language.expressions import quote, write_list
from tidings.language.problems import did_you_mean, either

Segments = Iterator["str | Segment"]
Segment = tuple[str, Node]
"""A piece of the language, and its node."""


class FormError(Exception):
    """A node has the wrong form; `node` is where. Never leaves the language."""

    def __init__(self, node: Node, code: str, message: str, *, expected: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.node = node
        self.code = code
        self.message = message
        self.expected = expected
        self.hint = hint


def scalar(node: Node, expected: str = "a text") -> Segment:
    """Return a plain value as written. Raise `FormError` (E45) for a list or mapping."""
    if not isinstance(node, ScalarNode):
        shown = "a list" if isinstance(node, SequenceNode) else "a mapping"
        raise FormError(node, "E45", f"found {shown}", expected=expected)
    return str(node.value), node


def string(node: Node) -> Segment:
    """Return a text quoted by the language. Raise `FormError` (E45) if it has several lines."""
    text, _ = scalar(node)
    if "\n" in text:  # the sentence form accepts everything else, too
        raise FormError(node, "E45", "a text of the language must be on one line", hint="remove the line ends")
    return quote(text), node


def duration(node: Node) -> Segment:
    """Return a duration: a number is in seconds, else `10 min`."""
    text, _ = scalar(node, "seconds, or a duration such as 10 min")
    return (f"{text} s" if text.replace(".", "", 1).isdecimal() else text), node


def members(node: Node) -> Sequence[Node]:
    """Return the members of a list; a single value is a list of one."""
    return list(node.value) if isinstance(node, SequenceNode) else [node]


def join(node: Node) -> Segments:
    """Yield plain values with commas between them."""
    for number, member in enumerate(members(node)):
        yield "" if number == 0 else ", "
        yield scalar(member)


def list_texts(node: Node) -> Segments:
    """Yield texts as a list of the language: one as it is, several as `<a, b>`."""
    texts = [string(member) for member in members(node)]
    if len(texts) == 1:
        yield texts[0]
    else:
        yield write_list([scalar(member)[0] for member in members(node)]), node


def fields(node: Node, allowed: Sequence[str], *, needed: Sequence[str] = ()) -> dict[str, Node]:
    """Return the fields of a mapping.

    Raises `FormError` for anything else (E45), for a field that is not `allowed` (E44), repeated
    (E23) or missing (E25).
    """
    if not isinstance(node, MappingNode):
        shown = "a list" if isinstance(node, SequenceNode) else f'"{node.value}"'
        raise FormError(node, "E45", f"found {shown}", expected=f"{either([f'{name}:' for name in allowed])}")
    found: dict[str, Node] = {}
    for key, value in node.value:
        name, _ = scalar(key)
        if name not in allowed:
            hint = did_you_mean(name, allowed)
            raise FormError(key, "E44", f'unknown key "{name}"', expected=either(list(allowed)), hint=hint)
        if name in found:
            raise FormError(key, "E23", f'second key "{name}"', hint="keep one")
        found[name] = value
    for name in needed:
        if name not in found:
            raise FormError(node, "E25", f'the key "{name}" is missing')
    return found


def is_mapping(node: Node) -> bool:
    """Return whether a node is a mapping."""
    return isinstance(node, MappingNode)


def is_nothing(node: Node) -> bool:
    """Return whether a value removes a clause: null, none, or an empty list."""
    if isinstance(node, SequenceNode):
        return not node.value
    return isinstance(node, ScalarNode) and (node.tag == "tag:yaml.org,2002:null" or node.value == "none")


def is_true(node: Node) -> bool:
    """Return a truth value. Raise `FormError` (E45) for anything else."""
    text, _ = scalar(node, "true or false")
    if text.lower() not in {"true", "false", "yes", "no"}:
        raise FormError(node, "E45", f'found "{text}"', expected="true or false")
    return text.lower() in {"true", "yes"}
