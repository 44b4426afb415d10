"""The pre-scan: three things that make any HTML parser slow, found before it starts (detection.md §2.4).

lexbor needs time that is quadratic in the depth of nesting and in the attributes of one tag, and worse in misnested formatting
tags. The scan is linear over the bytes, and nearly free for a page with few tags, which cannot be slow. It estimates, from above;
what hides from it meets the deadline of the process that parses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

DEEPEST = 2_000
"""Most elements inside one another. 2,000 cost 4 ms; the deepest real page of html_corpus has under 100."""

MOST_ATTRIBUTES = 1_000
"""Most attributes of one tag."""

MOST_RECONSTRUCTION = 1_000_000
"""Most (tag, open formatting element) pairs: each may be a node to make or a place to look at."""

_FEW_TAGS = 1_500
_LONG_TAG = 2 * MOST_ATTRIBUTES
_ATTRIBUTES_SQUARED = 100_000_000
_TAG = re.compile(rb"<(/?[A-Za-z][A-Za-z0-9:\-]*)([^<>]?)")
_ATTRIBUTE = re.compile(rb"""[\s/"'][^\s/>"'=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?""")
_FORMATTING = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
_ONE_AT_A_TIME = frozenset({b"a", b"nobr"})
_NOAHS_ARK = 3
_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta param source track wbr p li dt dd option optgroup tr td th tbody thead tfoot colgroup rt rp "
    b"html head body !doctype script style".split()
)


def too_hard(data: bytes) -> str:
    """Return why a body is not parsed, or "" if it may be."""
    if reason := _long_tags(data):
        return reason
    if data.count(b"<") - data.count(b"</") <= _FEW_TAGS:
        return ""
    return _nesting(data)


def _long_tags(data: bytes) -> str:
    squared = 0
    for part in data.split(b">"):
        if len(part) < _LONG_TAG or b"<" not in part:
            continue
        count = _most_attributes(part)
        squared += count * count
        if count > MOST_ATTRIBUTES or squared > _ATTRIBUTES_SQUARED:
            return f"a tag has more than {MOST_ATTRIBUTES:,} attributes"
    return ""


def _most_attributes(part: bytes) -> int:
    start = re.search(rb"<[A-Za-z]", part)
    return 0 if start is None else sum(1 for _ in _ATTRIBUTE.finditer(part, start.start()))


def _nesting(data: bytes) -> str:
    depth = 0
    pairs = 0
    formatting: Counter[bytes] = Counter()
    opened = 0
    for name, is_end, key in _tags(data):
        pairs += opened
        if name in _FORMATTING:
            if is_end:
                opened -= _close(formatting, name)
            else:
                opened += _open(formatting, name, key)
        if name in _NOT_NESTING:
            continue
        depth = max(0, depth - 1) if is_end else depth + 1
        if depth > DEEPEST:
            return f"its elements are nested more than {DEEPEST:,} deep"
        if pairs > MOST_RECONSTRUCTION:
            return "its formatting tags overlap too often"
    return ""


def _tags(data: bytes) -> Iterator[tuple[bytes, bool, bytes]]:
    for match in _TAG.finditer(data):
        name = match[1].lower()
        if name[:1] == b"/":
            yield name[1:], True, b""
        elif name in _FORMATTING and match[2]:
            yield name, False, data[match.end() : match.end() + 32].partition(b">")[0]
        else:
            yield name, False, b""


def _open(formatting: Counter[bytes], name: bytes, key: bytes) -> int:
    """Note one more open formatting element; three alike are the most that are opened again (the HTML standard's Noah's Ark)."""
    entry = name + b" " + key
    most = 1 if name in _ONE_AT_A_TIME else _NOAHS_ARK
    if formatting[entry] >= most:
        return 0
    formatting[entry] += 1
    return 1


def _close(formatting: Counter[bytes], name: bytes) -> int:
    for entry in reversed(formatting):
        if entry.startswith(name + b" ") and formatting[entry]:
            formatting[entry] -= 1
            if not formatting[entry]:
                del formatting[entry]
            return 1
    return 0
