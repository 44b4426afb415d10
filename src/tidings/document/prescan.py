"""The pre-scan: three things that make any HTML parser slow, found before it starts (detection.md §2.4).

lexbor needs time that is quadratic in the depth of nesting and in the attributes of one tag, and worse in misnested formatting
tags. The scan is linear over the bytes and looks closer only where a cheap look cannot rule a slow page out; most pages get the
cheap look only. What hides from it meets the deadline of the process that parses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

DEEPEST = 5_000
"""Most elements inside one another: lexbor then needs 25 ms. The deepest page of html_corpus has 51."""

MOST_ATTRIBUTES = 1_000
"""Most attributes of one tag."""

MOST_REOPENED = 1_000_000
"""Most (tag, open formatting element) pairs: each may be an element to make again. The worst of html_corpus has under 50,000."""

_FEW_TAGS = 2_500
"""So many tags, ends included, cannot be slow however they are mixed: 0.25 s at most."""

_MANY_TAGS = 12_000
"""So many can be nested without harm: 0.15 s."""

_MOST_LONG_TAGS = 100
_ATTRIBUTES_SQUARED = 100_000_000

_LONG_TAG = re.compile(rb"<[A-Za-z][^>]{%d}" % (2 * MOST_ATTRIBUTES))
# As the HTML standard reads attributes: a name is anything but white space, `/`, `>` and `=`; after a quoted value the next may follow at once.
_ATTRIBUTE = rb"""(?:[\s/]++|(?<=["']))[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+))?+"""
_NEXT_ATTRIBUTE = re.compile(_ATTRIBUTE)
_TAG_OF_MANY = re.compile(rb"<[A-Za-z][^\s/>]*+(?:%b){%d}" % (_ATTRIBUTE, MOST_ATTRIBUTES + 1))
_START_TAG = re.compile(rb"""<(?:!--|([A-Za-z][^\s/>]*+)(?:[^>"']++|"[^"]*+"|'[^']*+'|["'])*+)""")
_RAW_TEXT = frozenset(b"script style textarea title xmp iframe noembed noframes noscript".split())

_NAME = re.compile(rb"<(/?[A-Za-z][A-Za-z0-9:\-]*)")
_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta param source track wbr p li dt dd option optgroup tr td th tbody thead "
    b"tfoot colgroup rt rp html head body a nobr".split()
)
_MAYBE_FORMATTING = re.compile(rb"<(/?)([BCEFINSTUbcefinstu][A-Za-z]{0,5})(?![A-Za-z0-9:\-])([^<>]{0,32})")
_FORMATTING = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
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
    long_tags = 0
    found = _LONG_TAG.search(data)
    while found:
        long_tags += 1
        if long_tags > _MOST_LONG_TAGS or _TAG_OF_MANY.match(data, found.start()):
            return _surely_many_attributes(data)
        end = data.find(b">", found.end())
        if end < 0:
            return False
        found = _LONG_TAG.search(data, end)
    return False


def _surely_many_attributes(data: bytes) -> bool:
    squared = 0
    for tag in _start_tags(data):
        count = sum(1 for _ in _NEXT_ATTRIBUTE.finditer(tag))
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
    """Return the most formatting elements open at once and one more for links, of which a new one closes the one before."""
    formatting = _Formatting()
    for end, name, attributes in _MAYBE_FORMATTING.findall(data):
        formatting.see(end, name, attributes)
    return formatting.most + 1


def _reopened(data: bytes) -> int:
    """Return how many (tag, open formatting element) pairs there are."""
    formatting = _Formatting()
    pairs = at = 0
    for match in _MAYBE_FORMATTING.finditer(data):
        pairs += formatting.opened * data.count(b"<", at, match.start() + 1)
        at = match.start() + 1
        formatting.see(*match.groups())
    return pairs + formatting.opened * data.count(b"<", at)


class _Formatting:
    """The formatting elements that are open; of equal ones three at most are opened again (the HTML standard's Noah's Ark)."""

    def __init__(self) -> None:
        self.opened = 0
        self.most = 0
        self._of_name: dict[bytes, dict[bytes, int]] = {}

    def see(self, end: bytes, name: bytes, attributes: bytes) -> None:
        """Take one tag in, if it is a formatting tag."""
        if name not in _FORMATTING and (name := name.lower()) not in _FORMATTING:
            return
        entries = self._of_name.setdefault(name, {})
        if not end:
            count = entries.get(attributes, 0)
            if count < _NOAHS_ARK:
                entries[attributes] = count + 1
                self.opened += 1
                self.most = max(self.most, self.opened)
        elif entries:
            latest, count = entries.popitem()
            if count > 1:
                entries[latest] = count - 1
            self.opened -= 1


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
