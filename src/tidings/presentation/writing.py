"""Untrusted texts made safe for display: nothing in them controls the screen; measured and cut.

Pages are hostile: their texts may control a terminal, reverse the writing direction, break a header
or mention a whole channel (R-17, H-104, H-105, H-107). Everything displayed, on a terminal or in a
message, is tamed here and nowhere else.
"""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections.abc import Callable
from typing import Final

HARMLESS: Final = frozenset("\u00ad\u061c\u200c\u200d\u200e\u200f\u2060")
"""Format characters that scripts need and that are harmless: joiners, marks, the soft hyphen."""
SUBJECT_CHARACTERS: Final = 200
ELLIPSIS: Final = "…"
_STEERING: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_UNPLACED: Final = frozenset({"Mn", "Me", "Cf"})
LONGEST_HEADLINE: Final = 400
_EXAMPLES: Final = re.compile(r'; (?=(?:[^"]*"[^"]*")*[^"]*$)')
"""The separator of two texts in a line, outside of quotes."""
_TOLD: Final = re.compile(r'(?:(?:added|removed|moved) )?"[^"]*"(?: → "[^"]*")?')
_MENTION: Final = re.compile(r"@(?=(?:everyone|here|channel|all)\b)|<(?=[!@#])", re.IGNORECASE)


def tame(text: str, *, keep: str = "") -> str:
    """Return the text with characters that control a screen or the writing direction escaped by
    number.

    These are controls, line ends among them, format characters that no script needs and lone
    surrogates; those of `keep` stay.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep or not _steers(c) else _spell(c) for c in text)


def one_line(text: str) -> str:
    """Return the text tamed, in one line."""
    return tame(" ".join(text.split()))


def subject_line(text: str, *, most: int = SUBJECT_CHARACTERS) -> str:
    """Return a line for a subject, without control and format characters. It may be empty."""
    kept = (" " if unicodedata.category(c) in {"Cc", "Zl", "Zp"} else c for c in text if not _is_invisible(c))
    return cut_text(" ".join("".join(kept).split()), most)


def headline_in(text: str, most: int) -> str:
    """Return a line on a change in at most `most` characters; the text before the first quote is
    cut first.

    So two lines on one place differ if the texts differ.
    """
    text = subject_line(text, most=LONGEST_HEADLINE)
    parts = _EXAMPLES.split(text)
    while len(parts) > 1 and length(text) > most:
        parts.pop()
        text = f"{'; '.join(parts)}; {ELLIPSIS}"
    if length(text) <= most or (found := _TOLD.search(text)) is None:
        return cut_text(text, most)
    lead, core = text[: found.start()], text[found.start() :]
    room = max(most // 4, most - length(found[0]) - 2)
    near = cut_text(lead.rstrip(), room)
    return cut_text(f"{near} {core}" if near else core, most)


def unmentioning(text: str) -> str:
    """Return a text without mentions in a chat: words such as `@everyone` come from pages, not from
    the user.
    """
    return _MENTION.sub(lambda found: f"{found[0]}\u2060", text)


def _steers(character: str) -> bool:
    return character not in HARMLESS and unicodedata.category(character) in _STEERING


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in {"Cf", "Cs"} and character not in "\u200c\u200d"


def _spell(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) <= 0xFFFF else f"\\U{ord(character):08x}"


def length(text: str) -> int:
    """Return the length of a text as services count: in units of UTF-16, so that an emoji is
    two.
    """
    return len(text) if text.isascii() else len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def cut_text(text: str, most: int | None) -> str:
    """Return the text, or its beginning and an ellipsis, in at most `most` units of `length`; None:
    unbounded.
    """
    if most is None or length(text) <= most:
        return text
    if most < 1:
        return ""
    kept = text[: most - 1]
    while length(kept) > most - 1:
        kept = kept[: len(kept) - max(1, (length(kept) - most) // 2)]
    return kept.rstrip() + ELLIPSIS


def places(text: str) -> int:
    """Return the columns of a text on a terminal: wide letters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(c) in _UNPLACED else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def cut_text_to_places(text: str, most: int) -> str:
    """Return the text, or its beginning and an ellipsis, in at most `most` columns (1 or more)."""
    if places(text) <= most:
        return text
    kept = most_that_fit(len(text), lambda count: places(text[:count]), most - 1)
    return text[:kept].rstrip() + ELLIPSIS


def most_that_fit(count: int, size: Callable[[int], int], most: int) -> int:
    """Return the largest number up to `count` whose `size` is at most `most`, 0 if there is none;
    sizes must not decrease.
    """
    return bisect.bisect_right(range(1, count + 1), most, key=size)
