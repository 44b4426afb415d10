"""Page styles, without anything that fetches, is active or hides our marks; rules and declarations
that are not understood are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

MOST_CSS: Final = 200_000
"""The most characters of all styles of a page that are read; the rest is dropped."""
MOST_DEEP: Final = 6
"""The deepest nesting of rules that is read."""
_GROUPS: Final = frozenset(("media", "supports", "layer", "container"))
"""The group rules that are kept; `@import`, `@font-face`, `@namespace` and all others are
dropped.
"""
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_STOP: Final = re.compile(r"""[{};"'()]""")
_HARM: Final = re.compile(
    r"[\\<>@]|url|image|src\s*\(|element\s*\(|paint\s*\(|expression|behaviou?r|binding|script|data\s*:|vbscript|attr\s*\(|progid",
    re.IGNORECASE,
)
"""Anything that fetches, runs or escapes, anywhere in a declaration; `\\` could spell any of it."""
_POSITION: Final = re.compile(r"^\s*position\s*:\s*(?:fixed|sticky)", re.IGNORECASE)
_DECLARATION: Final = re.compile(r"^\s*-{0,2}[a-z][a-z0-9-]*\s*:[^\x00-\x08\x0e-\x1f\x7f]*$", re.IGNORECASE)
_SELECTOR: Final = re.compile(r"""^[\w\s.#:,>+~*()\[\]="'^$|%-]+$""")
_OURS: Final = re.compile(r"tidings|\bins\b|\bdel\b", re.IGNORECASE)
"""Names of our marks, which pages may not style."""
_PRELUDE: Final = re.compile(r"""^[\w\s:,()./<>=%-]*$""")


def safe_style(text: str) -> str:
    """Return the harmless declarations of a `style` attribute; perhaps none."""
    return ";".join(_declarations(_COMMENT.sub(" ", text[:MOST_CSS])))


def safe_sheet(text: str) -> str:
    """Return the harmless rules of a style sheet. Nothing in it can end its element."""
    kept = "".join(_rules(_COMMENT.sub(" ", text[:MOST_CSS]), MOST_DEEP))
    return "" if "</" in kept or "<!" in kept else kept


def _rules(text: str, deep: int) -> Iterator[str]:
    at = 0
    while at < len(text):
        head, stop, at = _until(text, at, "{;}")
        if stop != "{":
            continue  # an @import, a stray end
        body, _, at = _until(text, at, "}")
        yield from _rule(head.strip(), body, deep)


def _rule(head: str, body: str, deep: int) -> Iterator[str]:
    if head.startswith("@"):
        name = head[1:].split(None, 1)[0].split("(", maxsplit=1)[0].lower() if len(head) > 1 else ""
        prelude = head[1 + len(name) :]
        is_kept = name in _GROUPS and deep and _PRELUDE.match(prelude) and "<" not in prelude
        inside = "".join(_rules(body, deep - 1)) if is_kept else ""
        if inside:
            yield f"@{name}{prelude}{{{inside}}}"
        return
    if not head or not _SELECTOR.match(head) or _OURS.search(head) or "{" in body:
        return
    kept = ";".join(_declarations(body))
    if kept:
        yield f"{head}{{{kept}}}"


def _declarations(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        one, _, at = _until(text, at, ";")
        if (
            _DECLARATION.match(one)
            and not _HARM.search(one)
            and not _POSITION.match(one)
            and "{" not in one
            and "}" not in one
        ):
            yield one.strip()


def _until(text: str, at: int, stops: str) -> tuple[str, str, int]:
    """Return the text up to one of `stops` outside strings, brackets and blocks, the stop (empty:
    the end), and the next position.
    """
    start, round_open, curly_open = at, 0, 0
    while (found := _STOP.search(text, at)) is not None:
        sign, at = found[0], found.end()
        if sign in "\"'":
            end = text.find(sign, at)
            line = text.find("\n", at, end if end >= 0 else len(text))
            if end < 0 and line < 0:
                break
            at = (line if line >= 0 else end) + 1  # a string ends at its line at the latest
        elif sign == "(":
            round_open += 1
        elif sign == ")":
            round_open = max(0, round_open - 1)
        elif round_open:
            continue
        elif sign in stops and not curly_open:
            return text[start : found.start()], sign, at
        elif sign == "{":
            curly_open += 1
        elif sign == "}":
            curly_open = max(0, curly_open - 1)
    return text[start:], "", len(text)
