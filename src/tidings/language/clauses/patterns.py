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

from lark import Token, Tree

from tidings.language.clauses.clause import (
    Clause,
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
from tidings.model.watch.interest import HIDDEN, Exclusion, Pattern, Selector, StopWords, Transform
from tidings.model.watch.sentinel import Then

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
    reason = error.args[0] if error.args else ""
    if not isinstance(reason, bytes):
        return "it cannot be written in UTF-8"
    text = reason.decode("utf-8", "replace")
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

    from tidings.document.select.css import explain_refusal, for_lexbor, why_not  # stored texts are read without it

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


_SELECTS = re.compile(r"[.#\[][A-Za-z_-]")
"""The beginning of a CSS selector of a class, an id or an attribute."""


_ENDS_WITH_STAR = re.compile(r"(?=\W*\w)[^*\"\\]*\*")
"""A text that is meant as a pattern of file names."""
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")


def read_select(node: Node, clause: Clause) -> Selector:
    """Return the selected part of the page."""
    return read_selector(cast("Node", node.children[1]), clause)


def read_exclude(node: Node, clause: Clause) -> Exclusion:
    """Return a part of the page, words, or a pattern to ignore."""
    second = node.children[1]
    if isinstance(second, Tree):
        return read_selector(second, clause)
    if second.type == "HIDDEN":
        return HIDDEN
    if second.type == "REGEX":
        return Pattern(read_pattern(last(node), clause))
    if second.type == "STRING" and _SELECTS.match(unquote(second)):
        raise clause.fail(second.start_pos, "E06", f"{second} is a selector", hint=f"write Exclude css {second}")
    if second.type == "STRING" and _ENDS_WITH_STAR.fullmatch(text := unquote(second)):
        pattern = _SPECIAL.sub(r"\\\g<0>", text[:-1]) + ".*"
        message = f"{second} ends with a star, which stands for itself"
        raise clause.fail(second.start_pos, "E03", message, hint=f'write Exclude regex "{pattern}"')
    if second.type == "STRING" and " " in (text := " ".join(unquote(second).split())):
        return Pattern(_SPECIAL.sub(r"\\\g<0>", text))  # these words in this order, not each of them anywhere
    words = tuple(dict.fromkeys(word for text in read_list(node) for word in text.split(" ")))
    if not all(read_list(node)):
        raise clause.fail(last(node).start_pos, "E07", "empty word in the list", hint="remove the extra comma")
    return StopWords(words)


def read_transform(node: Node, clause: Clause) -> tuple[Transform, ...]:
    """Return the steps of one Transform clause, in order."""
    return tuple(_step(step, clause) for step in node.children if isinstance(step, Tree))


def _step(node: Node, clause: Clause) -> Transform:
    word = first(node)
    verb = cast("Any", "fold" if "CASE" in word_types(node) else word.lower())
    texts = [token for token in node.children if isinstance(token, Token) and token.type == "STRING"]
    if not texts:
        return Transform(verb)
    is_pattern = "REGEX" in word_types(node)
    match = read_pattern(texts[0], clause) if is_pattern else unquote(texts[0])
    if not match:
        raise clause.fail(texts[0].start_pos, "E07", "there is nothing to search for", hint=f'{word} … "views today"')
    replacement = unquote(texts[1]) if verb == "replace" else ""
    return Transform(verb, match, is_pattern, replacement)


def read_then(node: Node, clause: Clause) -> Then:
    """Return the pages to poll when a part has changed, and how soon."""
    parts = parts_of(node)
    names = [token for token in node.children if isinstance(token, Token) and token.type == "NAME"]
    pages = tuple(dict.fromkeys(check_page_name(name, clause) for name in names))
    within = read_positive_duration(parts["duration"], clause)
    least = None
    if "least" in parts:
        number = cast("Token", parts["least"].children[1])
        least = read_count(number, clause, "any")
        if least > len(pages):
            message = f"any {least} of {len(pages)} pages is impossible"
            raise clause.fail(number.start_pos, "E16", message, expected=f"a whole number from 1 to {len(pages)}")
    return Then(within, pages, least)
