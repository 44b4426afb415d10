"""Patterns and selectors of the user, validated. Patterns are RE2, so that none can run away
(H-069).

Selectors are `css "…"`, `xpath "…"`, `jsonpath "…"`, an allow-listed subset of each (R-08): no
extension functions, variables or document(). The parsers are loaded when the first selector is
read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from lark import Token

from tidings.language.clauses.clause import Clause, Node, unquote
from tidings.model.watch.interest import Selector

LONGEST_PATTERN = 10_000
LARGE_PROGRAM = 10_000
"""The RE2 program size above which a pattern is slow on a large page (W4)."""

_NOT_IN_RE2: Final = re.compile(
    r"(?P<around>\(\?<?[=!])|(?P<back>\\[1-9]|\(\?P=)|(?P<atomic>\(\?>|[*+?}]\+)|(?P<condition>\(\?\()"
)
_NOT_IN_RE2_NAMES: Final = {
    "around": "a look-around",
    "back": "a reference to a group",
    "atomic": "a possessive or atomic group",
    "condition": "a condition",
}


def read_pattern(token: Token, clause: Clause) -> str:
    """Return the pattern in a STRING or ANGLE.

    Raises `FaultFoundError` (E11, with RE2's message) for an invalid one; W4 for a slow one, W16
    for one that matches the empty text everywhere.
    """
    pattern = unquote(token) if token.type == "STRING" else token[1:-1]
    if clause.is_stored:
        return pattern
    if len(pattern) > LONGEST_PATTERN:
        raise clause.fail(token.start_pos, "E11", f"bad pattern: longer than {LONGEST_PATTERN} characters")
    program = _compile(token, pattern, clause)
    if program.programsize > LARGE_PROGRAM:
        message = f"the pattern is large ({program.programsize} steps) and slow on a long page (run under a time limit)"
        clause.warn(token.start_pos, "W4", message, hint="fewer or smaller repetitions {n}")
    if program.fullmatch("") is not None:
        message = "the pattern also matches the empty text, which is everywhere"
        clause.warn(token.start_pos, "W16", message, hint="write + instead of *, or add a text that must be there")
    return pattern


def _compile(token: Token, pattern: str, clause: Clause) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except (re2.error, UnicodeError) as error:
        raise clause.fail(token.start_pos, "E11", f"bad pattern: {_reason(error, pattern)}") from error


def _reason(error: Exception, pattern: str) -> str:
    """Return RE2's message without the pattern at its end; it is in bytes."""
    said = error.args[0] if error.args else ""
    if not isinstance(said, bytes):
        return "it cannot be written in UTF-8"
    text = said.decode("utf-8", "replace")
    if found := _NOT_IN_RE2.search(pattern):
        kind = _NOT_IN_RE2_NAMES[found.lastgroup or ""]
        return f'"{found[0]}" is {kind}, which RE2 patterns do not have'
    return text.removesuffix(f": {pattern}")


LONGEST_SELECTOR = 1_000
DEEPEST = 20
"""The deepest nesting of brackets (H-074)."""
XPATH_FUNCTIONS = frozenset(
    {
        *("last", "position", "count", "id", "local-name", "namespace-uri", "name"),
        *("string", "concat", "starts-with", "contains", "substring-before", "substring-after", "substring"),
        *("string-length", "normalize-space", "translate"),
        *("boolean", "not", "true", "false", "lang", "number", "sum", "floor", "ceiling", "round"),
        *("text", "node", "comment", "processing-instruction"),
        *("and", "or", "div", "mod"),
    }
)
"""The core functions of XPath 1.0, its node tests, and the operators that may precede a bracket."""

_XPATH_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")
_XPATH_CALL = re.compile(r"([^\W\d][\w.\-]*(?::[^\W\d][\w.\-]*)?)\s*\(")
_XPATH_PREFIX = re.compile(r"([^\W\d][\w.\-]*):(?!:)")


def read_selector(node: Node, clause: Clause) -> Selector:
    """Return a selector. Raise `FaultFoundError` (E06) if its language does not know it."""
    *word, string = cast("list[Token]", node.children)
    selector = Selector(cast("Any", word[0].lower() if word else "css"), unquote(string))
    if clause.is_stored:
        return selector
    if reason := _judge(selector):
        hint = HINTS[selector.language]
        raise clause.fail(string.start_pos, "E06", f"bad {selector.language} selector: {reason}", hint=hint)
    return selector


def _judge(selector: Selector) -> str:
    """Return what is wrong with a selector, or an empty text."""
    if len(selector.text) > LONGEST_SELECTOR:
        return f"longer than {LONGEST_SELECTOR} characters"
    if _depth(selector.text) > DEEPEST:
        return f"brackets are nested more than {DEEPEST} deep"
    if not selector.text.strip() or "\x00" in selector.text or not _encodable(selector.text):
        return "the selector is empty"
    return _JUDGES[selector.language](selector.text)


def _css(text: str) -> str:
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    from tidings.document.select.css import explain_refusal, for_lexbor, why_not

    if reason := explain_refusal(text):
        return reason
    try:
        LexborHTMLParser("<p></p>").css(for_lexbor(text))
    except SelectolaxError:
        return why_not(text)
    return ""


def _xpath(text: str) -> str:
    from lxml import etree

    bare = _XPATH_STRING.sub("''", text)
    if "$" in bare:
        return "there are no variables"
    for name in _XPATH_CALL.findall(bare):
        if name not in XPATH_FUNCTIONS:
            return f"there is no function {name}() in XPath 1.0"
    prefixes = dict.fromkeys(_XPATH_PREFIX.findall(bare), "urn:any")
    try:
        found = etree.XPath(text, namespaces=prefixes)(etree.Element("html"))
    except (etree.XPathError, ValueError) as error:
        return str(error).lower() or "it cannot be read"
    return "" if isinstance(found, list) else "it finds a value, not a part of the page"


def _jsonpath(text: str) -> str:
    from tidings.document.data.json_query import compile_path  # with its library, only for users of such a selector

    try:
        compile_path(text)
    except ValueError as error:
        return str(error)
    return ""


def _depth(text: str) -> int:
    deepest = depth = 0
    for letter in text:
        if letter in "([":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in ")]":
            depth -= 1
    return deepest


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeError:
        return False
    return True


_JUDGES: Mapping[str, Callable[[str], str]] = {"css": _css, "xpath": _xpath, "jsonpath": _jsonpath}
HINTS: Mapping[str, str] = {
    "css": 'for example css "ul.jobs > li"',
    "xpath": "for example xpath \"//ul[@class='jobs']/li\"; XPath 1.0 without extensions",
    "jsonpath": 'for example jsonpath "$.items[*].price"',
}
