"""The pre-scan: three things that make any HTML parser slow, found before it starts (detection.md §2.4).

lexbor needs time that is quadratic in the depth of nesting and in the attributes of one tag, and worse in misnested formatting
tags. The scan is linear over the bytes and looks closer only where a cheap look cannot rule a slow page out; most pages get the
cheap look only. What hides from it meets the deadline of the process that parses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

DEEPEST = 5_000
"""Most elements inside one another: lexbor then needs 25 ms. The deepest page of html_corpus has 51."""

MOST_ATTRIBUTES = 1_000
"""Most attributes of one tag."""

MOST_REOPENED = 1_000_000
"""Most (tag, open formatting element) pairs: each may be an element to make again. The worst of html_corpus has under 50,000."""

_FEW_TAGS = 2_000
"""So many tags, ends included, cannot be slow however they are mixed: 0.15 s at most."""

_MANY_TAGS = 12_000
"""So many can be nested without harm: 0.15 s."""

_LONG_TAG = re.compile(rb"<[A-Za-z][^>]{%d}" % (2 * MOST_ATTRIBUTES))
_ATTRIBUTES_SQUARED = 100_000_000
_SUSPICIOUS_ATTRIBUTES = 300
_ATTRIBUTE = re.compile(rb"""[\s/"'][^\s/>"'=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?""")
_START_TAG = re.compile(rb"""<(?:!--|([A-Za-z][A-Za-z0-9:\-]*)(?:[^>"']+|"[^"]*"|'[^']*')*)""")
_RAW_TEXT = frozenset(b"script style textarea title xmp iframe noembed noframes noscript".split())

_NAME = re.compile(rb"<(/?[A-Za-z][A-Za-z0-9:\-]*)")
_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta param source track wbr p li dt dd option optgroup tr td th tbody thead "
    b"tfoot colgroup rt rp html head body".split()
)
_FORMATTING = re.compile(
    rb"<(/?)(b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?![A-Za-z0-9:\-])([^<>]{0,32})", re.IGNORECASE
)
_NOAHS_ARK = 3


def too_hard(data: bytes) -> str:
    """Return why a body is not parsed, or "" if it may be."""
    if _LONG_TAG.search(data) and _has_many_attributes(data):
        return f"a tag has more than {MOST_ATTRIBUTES:,} attributes, or very many tags have hundreds"
    tags = data.count(b"<")
    if tags <= _FEW_TAGS:
        return ""
    if _most_formatting(data) * tags > MOST_REOPENED and _reopened(data) > MOST_REOPENED:
        return "its formatting tags overlap too often"
    if tags > _MANY_TAGS and _depth(data) > DEEPEST:
        return f"its elements are nested more than {DEEPEST:,} deep"
    return ""


def _has_many_attributes(data: bytes) -> bool:
    """Look at the long tags; what seems to be one may be a comparison in a script, so that a finding is checked with care."""
    squared = 0
    found = _LONG_TAG.search(data)
    while found:
        end = data.find(b">", found.end())
        part = data[found.start() : end if end >= 0 else len(data)]
        count = len(part.split()) + part.count(b"/") + part.count(b'"') // 2 + part.count(b"'") // 2
        if count > _SUSPICIOUS_ATTRIBUTES:
            count = sum(1 for _ in _ATTRIBUTE.finditer(part))
        squared += count * count
        if count > MOST_ATTRIBUTES or squared > _ATTRIBUTES_SQUARED:
            return _surely_many_attributes(data)
        found = _LONG_TAG.search(data, found.start() + len(part))
    return False


def _surely_many_attributes(data: bytes) -> bool:
    squared = 0
    for tag in _start_tags(data):
        count = sum(1 for _ in _ATTRIBUTE.finditer(tag))
        squared += count * count
        if count > MOST_ATTRIBUTES or squared > _ATTRIBUTES_SQUARED:
            return True
    return False


def _start_tags(data: bytes) -> Iterator[bytes]:
    """Yield the start tags outside comments and raw text."""
    lowered = data.lower()
    found = _START_TAG.search(data)
    while found:
        end = found.end()
        name = found[1]
        if name is None:
            end = data.find(b"-->", end)
        else:
            yield found[0]
            if name.lower() in _RAW_TEXT:
                end = lowered.find(b"</" + name.lower(), end)
        if end < 0:
            return
        found = _START_TAG.search(data, end)


def _most_formatting(data: bytes) -> int:
    """Return the most formatting elements open at once, links left out: a new one closes the one before."""
    formatting = _Formatting()
    return 1 + max((formatting.see(match) for match in _FORMATTING.finditer(data)), default=0)


def _reopened(data: bytes) -> int:
    """Return how many (tag, open formatting element) pairs there are."""
    formatting = _Formatting()
    pairs = at = 0
    for match in _FORMATTING.finditer(data):
        pairs += formatting.opened * data.count(b"<", at, match.start() + 1)
        at = match.start() + 1
        formatting.see(match)
    return pairs + formatting.opened * data.count(b"<", at)


class _Formatting:
    """The formatting elements that are open; of equal ones three at most are opened again (the HTML standard's Noah's Ark)."""

    def __init__(self) -> None:
        self.opened = 0
        self._of_name: dict[bytes, Counter[bytes]] = {}

    def see(self, match: re.Match[bytes]) -> int:
        """Take one formatting tag in; return how many elements are open then."""
        end, name, attributes = match.groups()
        entries = self._of_name.setdefault(name.lower(), Counter())
        if not end:
            if entries[attributes] < _NOAHS_ARK:
                entries[attributes] += 1
                self.opened += 1
        elif entries:
            latest = next(reversed(entries))
            entries[latest] -= 1
            if entries[latest] <= 0:
                del entries[latest]
            self.opened -= 1
        return self.opened


def _depth(data: bytes) -> int:
    """Return how deep elements are nested, an end tag closing one of its name if one is open."""
    opened: dict[bytes, int] = {}
    depth = deepest = 0
    for name in _NAME.findall(data.lower()):
        if name[:1] == b"/":
            if opened.get(name[1:], 0):
                opened[name[1:]] -= 1
                depth -= 1
        elif name not in _NOT_NESTING:
            opened[name] = opened.get(name, 0) + 1
            depth += 1
            deepest = max(deepest, depth)
    return deepest
