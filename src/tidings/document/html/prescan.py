"""The pre-scan: three inputs that slow down any HTML parser, detected before it starts (detection
§2.4).

lexbor is quadratic in the depth of nesting and in the attributes of one tag, and worse in misnested
formatting tags. The scan is linear in the bytes. It splits the page into tags as the HTML
standard's tokenizer does, so that nothing hides in quoted attributes, comments or scripts, and
analyses further only if the number of tags cannot rule out a slow page. What only tree construction
decides (an ignored end tag inside `select`, say) is not followed: such input meets the deadline of
the parsing process.
"""

from __future__ import annotations

import re

DEEPEST = 5_000
"""The deepest nesting of elements: lexbor then needs 25 ms. The deepest page of html_corpus has
51.
"""

MOST_ATTRIBUTES = 1_000
"""The most attributes of one tag."""

MOST_REOPENED = 1_000_000
"""The most (tag, open formatting element) pairs: each may be an element to reopen. The worst of
html_corpus has under 50,000.
"""

MOST_TAGS = 300_000
"""The most tags, ends and comments included: their tree and walk take a quarter of a second and 75
MB. The most of html_corpus are 22,978.
"""

_MOST_ANGLES = 1_000_000
"""With so many `<` a body is refused whatever follows them."""

_FEW_TAGS = 2_500
"""So many tags, ends included, cannot be slow in any combination: 0.25 s at most."""

_MANY_TAGS = 12_000
"""So many may be nested harmlessly: 0.15 s."""

_LONG_TAG = 256
_ATTRIBUTES_SQUARED = 100_000_000

_BLANK = rb"[ \t\n\r\f]"
_END = rb"[ \t\n\r\f/>]"
# A name is anything but white space, `/` and `>`, including a leading quote or `=`; quotes delimit
# a value only after `=`.
_ATTRIBUTE = (
    rb"""[^ \t\n\r\f/>][^ \t\n\r\f/>=]*+(?:%b*+=%b*+(?:"[^"]*+"|'[^']*+'|[^ \t\n\r\f>"'][^ \t\n\r\f>]*+)?+)?+"""
    % (_BLANK, _BLANK)
)
# Nearly all attributes match the first alternative, which is three times as fast.
_ATTRIBUTES = rb"""(?: [a-z-]++="[^"]*+")*+(?:[ \t\n\r\f/]++|%b)*+""" % _ATTRIBUTE
_COMMENT = rb"!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+)"
# A script may contain a comment, and in it a nested script (script data double escaped state).
_SCRIPT = (
    rb"""(?:[^<]++|<!(?=--)(?:[^<-]++|(?!-->|</script%(e)b)(?:<script(?=%(e)b)(?:(?!-->|</script%(e)b)[\x00-\xff])*+(?:</script(?=%(e)b))?+"""
    rb"""|[\x00-\xff]))*+|<(?!/script%(e)b))*+"""
) % {b"e": _END}
_RAW = (b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes", b"noscript")


def _with_text(attributes: bytes) -> bytes:
    """Return the pattern of raw text elements, from behind their `<` to before their end tag."""
    parts = [rb"%b(?=%b)%b>(?:[^<]++|<(?!/%b%b))*+" % (name, _END, attributes, name, _END) for name in _RAW]
    script = rb"script(?=%b)%b>%b" % (_END, attributes, _SCRIPT)
    return rb"(?=[INSTXinstx])(?i:%b)" % b"|".join([script, *parts])


def _tag(name: bytes) -> re.Pattern[bytes]:
    """Return the pattern of one tag or comment up to its closing `>`, and of a raw text element up
    to its end tag.

    `name` is the pattern of the beginning of a tag.
    """
    other = (_with_text(_ATTRIBUTES), name, _ATTRIBUTES, _COMMENT)
    return re.compile(rb"<(?:%b|%b%b|%b|[!?/][^>]*+)" % other)


_TAG = _tag(rb"/?[A-Za-z][^ \t\n\r\f/>]*+")
_NAME_OF_TAG = _tag(rb"(/?[A-Za-z][^ \t\n\r\f/>]*+)")
_RAW_ELEMENT = re.compile(rb"<%b" % _with_text(_ATTRIBUTES))

_FEW_ATTRIBUTES = rb"""(?: [a-z-]++="[^"]*+"){0,64}+(?:[ \t\n\r\f/]++|%b){0,128}+""" % _ATTRIBUTE
_ORDINARY = re.compile(
    rb"[^<]*+(?:<(?:/[A-Za-z][A-Za-z0-9]*+>|%b|/?[A-Za-z][^ \t\n\r\f/>]*+%b>|%b|[!?/][^>]*+|(?![A-Za-z/!?]))[^<]*+)*+"
    % (_with_text(_FEW_ATTRIBUTES), _FEW_ATTRIBUTES, _COMMENT)
)
"""The longest part of a page in which no tag has more than some 130 attributes."""

_BEGINS_TAG = re.compile(rb"<[A-Za-z/!?]")
_NAME = re.compile(rb"</?([A-Za-z][^ \t\n\r\f/>]*+)")
_OPENING = re.compile(rb"<[A-Za-z][^ \t\n\r\f/>]*+%b" % _ATTRIBUTES)
_ONE_ATTRIBUTE = re.compile(_ATTRIBUTE)
_CDATA = re.compile(rb"<!\[CDATA\[", re.IGNORECASE)
_FOREIGN = re.compile(rb"<(?:svg|math)(?=%b)" % _END, re.IGNORECASE)
_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta param source track wbr p li dt dd option optgroup tr td th tbody thead "
    b"tfoot colgroup rt rp html head body a nobr".split()
)
_FORMATTING = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
_NOAHS_ARK = 3
_MAYBE_FORMATTING = re.compile(rb"<[BISUbisuEeTtCcFfNn](?:%b|[MmTt]|[IiOo][GgDdNnBb])" % _END)
"""An upper bound for the start tags of formatting elements, anywhere, quickly counted."""

_BEGINS_FORMATTING = frozenset(
    beginning
    for name in _FORMATTING
    for beginning in (
        b"/" + name[:1],
        *([name[:2]] if len(name) > 1 else [name + end for end in (b"", b" ", b"\t", b"\n", b"\r", b"\f", b"/")]),
    )
)
"""The two bytes after the `<` of a formatting tag, in lower case."""


def too_hard(data: bytes) -> str:
    """Return why a body is not parsed, or "" if it may be."""
    tags = data.count(b"<")
    if tags > MOST_TAGS and (tags > _MOST_ANGLES or sum(1 for _ in _BEGINS_TAG.finditer(data)) > MOST_TAGS):
        return f"it has more than {MOST_TAGS:,} tags"
    ordinary = _ORDINARY.match(data)
    if (ordinary is None or ordinary.end() < len(data)) and _has_many_attributes(data):
        return f"a tag has more than {MOST_ATTRIBUTES:,} attributes, or very many tags have hundreds"
    if tags <= _FEW_TAGS:
        return ""
    if (len(_MAYBE_FORMATTING.findall(data)) + 1) * tags > MOST_REOPENED and _count_reopened(data) > MOST_REOPENED:
        return "its formatting tags overlap too often"
    if tags > _MANY_TAGS and _depth(data) > DEEPEST:
        return f"its elements are nested more than {DEEPEST:,} deep"
    return ""


def _has_many_attributes(data: bytes) -> bool:
    squared = 0
    for found in _TAG.finditer(data):
        if found.end() - found.start() <= _LONG_TAG:
            continue
        name, start = _NAME.match(data, found.start()), _OPENING.match(data, found.start())
        if name is None or start is None:
            continue
        count = sum(1 for _ in _ONE_ATTRIBUTE.finditer(data, name.end(), start.end()))
        squared += count * count
        if count > MOST_ATTRIBUTES or squared > _ATTRIBUTES_SQUARED:
            return True
    return False


def _count_reopened(data: bytes) -> int:
    """Return how many (tag, open formatting element) pairs there are."""
    formatting = _Formatting()
    pairs = at = 0
    tags = _tags(_TAG, data)
    for number, tag in enumerate(tags):
        if tag[1:3].lower() in _BEGINS_FORMATTING:
            pairs += formatting.opened * (number - at)
            at = number
            formatting.see(tag)
    return pairs + formatting.opened * (len(tags) - at)


def _tags(pattern: re.Pattern[bytes], data: bytes) -> list[bytes]:
    """Return the groups of a pattern for the tags, and for raw text that looks like start tags.

    Inside `svg` and `math`, script, style and title are ordinary elements, and `select` ignores
    them: there such start tags are real. End tags count only if they are certain; CDATA may hide
    them, so that in a page with CDATA none counts.
    """
    tags = pattern.findall(data)
    is_foreign = _FOREIGN.search(data) is not None
    if is_foreign and _CDATA.search(data):
        tags = [tag for tag in tags if b"/" not in tag[:2]]
    for element in _RAW_ELEMENT.finditer(data):
        if is_foreign or data[element.start() + 1 : element.start() + 7].lower() != b"script":
            tags += [tag for tag in pattern.findall(data, element.start() + 2, element.end()) if b"/" not in tag[:2]]
    return tags


class _Formatting:
    """The open formatting elements; at most three equal ones are reopened (the HTML standard's
    Noah's Ark).
    """

    def __init__(self) -> None:
        self.opened = 0
        self._of_name: dict[bytes, dict[bytes, int]] = {}

    def see(self, tag: bytes) -> None:
        """Process one tag, if it is a formatting tag."""
        named = _NAME.match(tag)
        if named is None or (name := named[1].lower()) not in _FORMATTING:
            return
        entries = self._of_name.setdefault(name, {})
        if tag[1:2] != b"/":
            attributes = tag[named.end() :]
            count = entries.get(attributes, 0)
            if count < _NOAHS_ARK:
                entries[attributes] = count + 1
                self.opened += 1
        elif entries:
            latest, count = entries.popitem()
            if count > 1:
                entries[latest] = count - 1
            self.opened -= 1


def _depth(data: bytes) -> int:
    """Return the nesting depth of elements; an end tag closes an open element of its name."""
    opened: dict[bytes, int] = {}
    depth = deepest = 0
    for name in _tags(_NAME_OF_TAG, data.lower()):
        if name[:1] == b"/":
            if opened.get(name[1:], 0):
                opened[name[1:]] -= 1
                depth -= 1
        elif name and name not in _NOT_NESTING:
            opened[name] = opened.get(name, 0) + 1
            depth += 1
            deepest = max(deepest, depth)
    return deepest
