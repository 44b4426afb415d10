"""Selectors of other programs in those of the language: paths of jq as JSONPath, and CSS as XPath
where only XPath can say it (the first that is found, one in another, an element with a text).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from tidings.service.imports.draft import Draft, show_value

# ---- jq ----------------------------------------------------------------------------------------

_NAME: Final = r"[A-Za-z_]\w*|\"[^\"\\]+\""
_STEP: Final = rf"(?:\.(?:{_NAME})|\.?\[(?:(?:-?\d+)?(?::(?:-?\d+)?)?|\"[^\"\\]+\")\])\??"
_PATH: Final = re.compile(rf"(?:\.(?:{_NAME})\??|\.\[[^\]]*\]\??)(?:{_STEP})*|\.")
_LITERAL: Final = re.compile(r"-?\d+(?:\.\d+)?|\"(?:[^\"\\]|\\.)*\"|true|false|null")
ONLY_PATHS: Final = "of jq, only paths, map, select and objects are supported"
JOINED_THERE: Final = "the values are compared one by one, not as they are joined there"


class ForeignQueryError(Exception):
    """A part of jq that has no equivalent."""


def jsonpath_of_jq(query: str) -> tuple[list[str], str] | None:
    """Return a query of jq as paths of JSONPath, and how they differ ("" if they do not); None for
    one that computes something.
    """
    reading = _Jq(query)
    try:
        paths = reading.pipe(["$"])
        return (list(dict.fromkeys(paths)), reading.difference) if reading.is_at_end() and query.strip() else None
    except (ForeignQueryError, RecursionError):
        return None


def select_by_jq(draft: Draft, query: str, name: str) -> None:
    """Select what a query of jq selects, or refuse the field."""
    found = jsonpath_of_jq(query)
    if found is None:
        draft.refuse(name, f"{show_value(query)}: {ONLY_PATHS}")
        return
    for path in found[0]:
        draft.select("jsonpath", path, name, found[1])


class _Jq:
    """Reads a query from left to right; each rule maps the paths before it to those after it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.difference = ""

    def is_at_end(self) -> bool:
        """Return whether everything is read."""
        return not self._text[self._at :].strip()

    def _take(self, pattern: str | re.Pattern[str]) -> str:
        self._at += len(self._text[self._at :]) - len(self._text[self._at :].lstrip())
        found = re.compile(pattern).match(self._text, self._at)
        self._at = found.end() if found else self._at
        return found[0] if found else ""

    def _need(self, sign: str) -> None:
        if not self._take(re.escape(sign)):
            raise ForeignQueryError

    def pipe(self, paths: list[str]) -> list[str]:
        """Read terms joined by commas and pipes."""
        while True:
            found = self._term(paths)
            while self._take(","):
                found = [*found, *self._term(paths)]
            if not self._take(r"\|"):
                return found
            paths = found

    def _term(self, paths: list[str]) -> list[str]:
        if steps := self._take(_PATH):
            return [path + _steps(steps) for path in paths]
        if word := self._take(r"(?:map|select)\(|(?:first|last|tostring|tojson)\b(?!\()"):
            return self._call(word, paths)
        if self._take(r"\("):
            return self._read_closed(paths, ")")
        if self._take(r"\["):
            return self._read_closed(paths, "]")
        if self._take(r"\{"):
            return self._object(paths)
        if self._take('"'):
            return self._read_joined(paths)
        raise ForeignQueryError

    def _read_closed(self, paths: list[str], sign: str) -> list[str]:
        found = self.pipe(paths)
        self._need(sign)
        return found

    def _call(self, word: str, paths: list[str]) -> list[str]:
        if word == "map(":
            return self._read_closed([f"{path}[*]" for path in paths], ")")
        if word == "select(":
            condition = self._either()
            self._need(")")
            if not all(path.endswith("[*]") for path in paths):
                raise ForeignQueryError
            return [f"{path.removesuffix('[*]')}[?{condition}]" for path in paths]
        step = {"first": "[0]", "last": "[-1]"}.get(word, "")
        return [path + step for path in paths]

    def _object(self, paths: list[str]) -> list[str]:
        self.difference = JOINED_THERE
        found: list[str] = []
        while not self._take(r"\}"):
            name = self._take(_NAME)
            if not name:
                raise ForeignQueryError
            if self._take(":"):
                found += self._term(paths)
            else:
                found += [path + _steps(f".{name}") for path in paths]
            self._take(",")
        return found

    def _read_joined(self, paths: list[str]) -> list[str]:
        self.difference = JOINED_THERE
        found: list[str] = []
        while True:
            end = self._text.find('"', self._at)
            inner = self._text.find("\\(", self._at)
            if end < 0:
                raise ForeignQueryError
            if inner < 0 or end < inner:
                self._at = end + 1
                return found or paths
            self._at = inner + 2
            found += self._read_closed(paths, ")")

    def _either(self) -> str:
        found = self._all()
        while self._take(r"or\b"):
            found = f"{found} || {self._all()}"
        return found

    def _all(self) -> str:
        found = self._test()
        while self._take(r"and\b"):
            found = f"{found} && {self._test()}"
        return found

    def _test(self) -> str:
        if self._take(r"\("):
            inner = self._either()
            self._need(")")
            return f"({inner})"
        path = self._take(_PATH)
        if not path:
            raise ForeignQueryError
        place = "@" + _steps(path)
        if sign := self._take(r"==|!=|<=|>=|<|>"):
            value = self._take(_LITERAL)
            if not value:
                raise ForeignQueryError
            return f"{place} {sign} {value}"
        return place


def _steps(text: str) -> str:
    """Return steps of jq as those of JSONPath."""
    path = ""
    for step in re.findall(_STEP, text):
        plain = step.removesuffix("?")
        if plain.startswith('."'):
            plain = f"[{plain[1:]}]"
        bracket = plain.removeprefix(".") if plain.startswith(".[") else plain
        path += "[*]" if bracket == "[]" else bracket
    return path


# ---- CSS and XPath -----------------------------------------------------------------------------

_STRING: Final = r"\"[^\"]*\"|'[^']*'"
_SIMPLE: Final = re.compile(
    rf"#(?P<id>[\w-]+)|\.(?P<class>[\w-]+)"
    rf"|\[\s*(?P<name>[\w:-]+)\s*(?:(?P<sign>[~|^$*]?=)\s*(?P<value>{_STRING}|[\w-]+)\s*)?\]"
    rf"|:(?P<place>first-child|last-child|first-of-type|last-of-type|nth-child\(\d+\)|nth-of-type\(\d+\))"
    rf"|:contains\(\s*(?P<text>{_STRING}|[^\"')]*?)\s*\)"
)
_TAG: Final = re.compile(r"\*|[A-Za-z][\w-]*")
_JOINT: Final = re.compile(r"\s*([>+~])\s*|\s+")
_BETWEEN: Final = re.compile(rf"(?:{_STRING}|\[[^\]]*\]|\([^)]*\)|[^,])+")
_ATTRIBUTES: Final[dict[str, Callable[[str, str], str]]] = {
    "=": lambda name, text: f"@{name} = {text}",
    "~=": lambda name, text: f"contains(concat(' ', normalize-space(@{name}), ' '), concat(' ', {text}, ' '))",
    "|=": lambda name, text: f"(@{name} = {text} or starts-with(@{name}, concat({text}, '-')))",
    "^=": lambda name, text: f"starts-with(@{name}, {text})",
    "*=": lambda name, text: f"contains(@{name}, {text})",
    "$=": lambda name, text: f"substring(@{name}, string-length(@{name}) - string-length({text}) + 1) = {text}",
}


def xpath_of_css(css: str) -> str | None:
    """Return a CSS selector as XPath, None for one with parts that are not known here."""
    found = [_one_of_css(part.strip()) for part in _BETWEEN.findall(css)]
    return " | ".join(part for part in found if part) if found and all(found) else None


def _one_of_css(css: str) -> str | None:
    path, at, axis = "", 0, "//"
    while at < len(css):
        start = at
        tag = found[0].lower() if (found := _TAG.match(css, at)) else "*"
        at = found.end() if found else at
        tests = ""
        while simple := _SIMPLE.match(css, at):
            tests += f"[{_test_of(simple, tag)}]"
            at = simple.end()
        joint = _JOINT.match(css, at)
        if at == start or (at < len(css) and joint is None):
            return None
        step = f"following-sibling::*[1][self::{tag}]" if axis == "+" else tag
        path += {"+": "/", "~": "/following-sibling::"}.get(axis, axis) + step + tests
        if joint is not None:
            axis = {">": "/", "+": "+", "~": "~"}.get(joint[1] or "", "//")
            at = joint.end()
            if at == len(css):
                return None
    return path or None


def _test_of(simple: re.Match[str], tag: str) -> str:
    if simple["id"]:
        return f"@id = '{simple['id']}'"
    if simple["class"]:
        return _ATTRIBUTES["~="]("class", f"'{simple['class']}'")
    if simple["name"]:
        test = _ATTRIBUTES.get(simple["sign"] or "")
        return test(simple["name"], _quote(simple["value"])) if test else f"@{simple['name']}"
    if simple["place"]:
        kind = "preceding" if not simple["place"].startswith("last") else "following"
        what = tag if "of-type" in simple["place"] else "*"
        number = int(found[1]) - 1 if (found := re.search(r"\((\d+)\)", simple["place"])) else 0
        return f"count({kind}-sibling::{what}) = {number}"
    return f"contains(., {_quote(simple['text'])})"


def _quote(text: str) -> str:
    return text if text[:1] in {'"', "'"} else f"'{text}'"


def limit(xpath: str, skip: int, most: int) -> str:
    """Return an XPath for some of what another finds: without the first `skip`, at most `most` (all
    if 0).
    """
    if most == 1:
        return f"({xpath})[{skip + 1}]"
    tests = [f"position() > {skip}"] if skip else []
    tests += [f"position() <= {skip + most}"] if most else []
    return f"({xpath})[{' and '.join(tests)}]" if tests else xpath


def select_in(outer: tuple[str, str], inner: tuple[str, str]) -> tuple[str, str] | None:
    """Return the selector of what `inner` finds in what `outer` found; None if one selector cannot
    say it. A selector is its kind and its text.
    """
    if outer[0] == inner[0] == "jsonpath":
        return "jsonpath", outer[1] + inner[1].removeprefix("$")
    if "jsonpath" in {outer[0], inner[0]}:
        return None
    if outer[0] == inner[0] == "css":
        both = [f"{a.strip()} {b.strip()}" for a in _BETWEEN.findall(outer[1]) for b in _BETWEEN.findall(inner[1])]
        return "css", ", ".join(both)
    before, after = (text if kind == "xpath" else xpath_of_css(text) for kind, text in (outer, inner))
    if not before or not after or re.search(r"(?:text\(\)|@[\w:-]+)\s*$", before) or "|" in after:
        return None
    before = f"({before})" if "|" in before else before
    if after.startswith("//"):
        return "xpath", before + after
    if found := re.fullmatch(r"\((//.*)\)(\[[^\[\]]*\])", after):
        return "xpath", f"({before}{found[1]}){found[2]}"
    return None
