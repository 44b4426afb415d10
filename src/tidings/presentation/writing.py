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
_MORE: Final = re.compile(r"and ([\d,]+) more(?: changes?)?")
"""The last part of a line, if the line leaves some texts out."""
_REPORTED_TEXT: Final = re.compile(
    r'(?:(?:added|removed|moved) |link "[^"]*": )?"[^"]*"(?: → "[^"]*"| \(was "[^"]*"\))?'
)
_ARROW: Final = re.compile(r'(?<=") → (?=")')
"""The arrow between two quoted texts, from the old one to the new one."""
_TITLE_PARTS: Final = re.compile(r"\s+[–—|·•›»:-]+\s+")
"""What separates the name of a page from the name of its site, in a title."""
_LEAST_TITLE: Final = 4
"""The shortest first part of a title that stands for the whole title, in characters."""
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})
_TIED: Final = frozenset({"\u200d", "\ufe0e", "\ufe0f"})
"""The joiner of emoji and the selectors of their form: no text is cut beside them."""
_WORD_END: Final = 16
"""How far before a cut a space is looked for, in characters."""
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
    if text.isprintable():
        return cut_text(" ".join(text.split()), most)
    visible = (" " if unicodedata.category(c) in {"Cc", "Zl", "Zp"} else c for c in text if not _is_invisible(c))
    return cut_text(" ".join("".join(visible).split()), most)


def headline_in(text: str, most: int) -> str:
    """Return a line on a change in at most `most` characters: first it loses its last texts, which
    are counted, then words before the first quote, the first ones first.

    So two lines on one place differ if the texts differ. A quote that is cut is closed.
    """
    text = subject_line(text, most=LONGEST_HEADLINE)
    parts = _EXAMPLES.split(text)
    left_out = 0
    if found := _MORE.fullmatch(parts[-1]):
        left_out = int(found[1].replace(",", ""))
        parts.pop()
    while len(parts) > 1 and length(text) > most:
        parts.pop()
        left_out += 1
        text = f"{'; '.join(parts)}; {more(left_out, 'change')}"
    if length(text) <= most or (found := _REPORTED_TEXT.search(text)) is None:
        return _cut_quoted(text, most)
    lead, core = text[: found.start()], text[found.start() :]
    room = max(most // 4, most - length(found[0]) - 2)
    near = _cut_front(lead.rstrip(), room)
    short = _cut_quoted(f"{near} {core}" if near else core, most)
    return short.removesuffix(f" and{ELLIPSIS}") + ELLIPSIS if short.endswith(f" and{ELLIPSIS}") else short


def more(count: int, noun: str = "") -> str:
    """Return `and n more`, with a noun in its number if one is given."""
    plural = "" if count == 1 else "s"
    return f"and {count:,} more" + (f" {noun}{plural}" if noun else "")


def _cut_quoted(text: str, most: int) -> str:
    """Return a text in at most `most` characters; a quote that the cut opens is closed."""
    if length(text) <= most:
        return text
    short = cut_words(text, most)
    return f'{cut_words(text, most - 1)}"' if short.count('"') % 2 else short


def cut_words(text: str, most: int) -> str:
    """Return the text, or its beginning and an ellipsis, in at most `most` characters; it is cut
    after a word if one ends near.
    """
    short = cut_text(text, most)
    if short == text or not short:
        return short
    kept = short.removesuffix(ELLIPSIS)
    if text[len(kept) : len(kept) + 1].isspace() or " " not in kept[-_WORD_END:]:
        return short
    return kept[: kept.rindex(" ")].rstrip(" ,;:–-") + ELLIPSIS


def _cut_front(text: str, most: int) -> str:
    """Return the text, or an ellipsis and its last words, in at most `most` characters."""
    if length(text) <= most:
        return text
    words = text.removeprefix(ELLIPSIS).split(" ")
    kept = most_that_fit(len(words), lambda count: length(" ".join(words[-count:])), most - 1)
    return ELLIPSIS + " ".join(words[-kept:]) if kept else cut_text(text, most)


def first_lines(text: str) -> list[str]:
    """Return the texts that a line on a change has, without the count of those that it leaves
    out.
    """
    parts = _EXAMPLES.split(text)
    return parts[:-1] if len(parts) > 1 and _MORE.fullmatch(parts[-1]) else parts


def unsaid_title(title: str, said: str) -> str:
    """Return the title of a page without the parts with which a line on a change begins."""
    first, *rest = _TITLE_PARTS.split(title)
    is_name = bool(rest) and not rest[0][:1].islower()
    return " – ".join(rest) if is_name and said.startswith(f"{first}:") else title


def is_part_of(heading: str, title: str) -> bool:
    """Return whether a title is this heading, or has it beside the name of the site."""
    return heading.casefold() in (part.casefold() for part in (title, *_TITLE_PARTS.split(title)))


def first_part(title: str) -> str:
    """Return the first part of a title; empty if it has only one."""
    first, *rest = _TITLE_PARTS.split(subject_line(title, most=LONGEST_HEADLINE))
    return first if rest and len(first) >= _LEAST_TITLE else ""


def title_in(title: str, most: int) -> str:
    """Return the title of a page in at most `most` characters: without the name of its site, else
    cut.
    """
    title = subject_line(title, most=LONGEST_HEADLINE)
    if length(title) <= most:
        return title
    ends = [found.start() for found in _TITLE_PARTS.finditer(title) if found.start() >= _LEAST_TITLE]
    fitting = [title[:end] for end in ends if length(title[:end]) <= most]
    return fitting[-1] if fitting else cut_words(title, most)


def point_arrows(line: str) -> str:
    """Return a line whose arrows point to the new text, also where the line is read from right to
    left.

    An arrow between two words of Arabic or Hebrew is displayed between them from right to left, but
    it keeps its direction (UAX 9, N1).
    """
    if line.isascii() or not _ARROW.search(line):
        return line
    strong = [(number, unicodedata.bidirectional(character)) for number, character in enumerate(line)]
    strong = [(number, kind) for number, kind in strong if kind in {"L", "EN", "AN"} | _RIGHT_TO_LEFT]
    whole = next((kind in _RIGHT_TO_LEFT for _, kind in strong if kind in {"L"} | _RIGHT_TO_LEFT), False)

    def point(found: re.Match[str]) -> str:
        letters = [kind for number, kind in strong if number < found.start() and kind not in {"EN", "AN"}]
        before = letters[-1] in _RIGHT_TO_LEFT if letters else whole
        following = next((kind for number, kind in strong if number > found.start()), "")
        after = before if following in {"EN", "AN"} else following in _RIGHT_TO_LEFT if following else whole
        return " ← " if (before if before == after else whole) else found[0]

    return _ARROW.sub(point, line)


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
    beginning = text[: most - 1]
    while length(beginning) > most - 1:
        beginning = beginning[: len(beginning) - max(1, (length(beginning) - most) // 2)]
    while beginning and _is_tied(text, len(beginning)):
        beginning = beginning[:-1]
    return beginning.rstrip() + ELLIPSIS


def _is_tied(text: str, end: int) -> bool:
    """Return whether a cut would divide what is displayed as one: a letter and its accent, an emoji
    and its colour, two emoji with a joiner.
    """
    if text.isascii():
        return False
    following = text[end : end + 1]
    return (
        text[end - 1] in _TIED
        or following in _TIED
        or "\U0001f3fb" <= following <= "\U0001f3ff"
        or (following != "" and unicodedata.combining(following) > 0)
    )


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
    count_fitting = most_that_fit(len(text), lambda count: places(text[:count]), most - 1)
    return text[:count_fitting].rstrip() + ELLIPSIS


def most_that_fit(count: int, size: Callable[[int], int], most: int) -> int:
    """Return the largest number up to `count` whose `size` is at most `most`, 0 if there is none;
    sizes must not decrease.
    """
    return bisect.bisect_right(range(1, count + 1), most, key=size)
