"""Texts of strangers, made fit for people's screens: one line, no control characters, measured and cut.

Pages are hostile: their texts may steer a terminal, turn the writing direction or break a header (trust.md R-17, H-104, H-105, H-107).
"""

from __future__ import annotations

import unicodedata
from typing import Final

HARMLESS: Final = frozenset("\u00ad\u061c\u200c\u200d\u200e\u200f\u2060")
"""Format characters that scripts need and that turn nothing around: joiners, marks, the soft hyphen."""
SUBJECT_CHARACTERS: Final = 200
ELLIPSIS: Final = "…"


def one_line(text: str) -> str:
    """Return the text in one line; characters that steer a screen or turn the writing direction are spelled out."""
    return "".join(_spell(c) if _steers(c) else c for c in " ".join(text.split()))


def subject_line(text: str, *, most: int = SUBJECT_CHARACTERS) -> str:
    """Return a line for a subject: control and format characters are gone, not spelled. It may be empty."""
    kept = (" " if unicodedata.category(c) in {"Cc", "Zl", "Zp"} else c for c in text if not _unseen(c))
    return cut(" ".join("".join(kept).split()), most)


def _steers(character: str) -> bool:
    return character not in HARMLESS and unicodedata.category(character) in {"Cc", "Cf", "Cs"}


def _unseen(character: str) -> bool:
    return unicodedata.category(character) in {"Cf", "Cs"} and character not in "\u200c\u200d"


def _spell(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) <= 0xFFFF else f"\\U{ord(character):08x}"


def length(text: str) -> int:
    """Return how long services count a text: in units of UTF-16, so that an emoji is two."""
    return len(text) + sum(c > "\uffff" for c in text)


def cut(text: str, most: int) -> str:
    """Return the text, or its beginning and an ellipsis, in at most `most` units of `length`."""
    if length(text) <= most:
        return text
    if most < 1:
        return ""
    kept = text[: most - 1]
    while length(kept) > most - 1:
        kept = kept[: len(kept) - max(1, (length(kept) - most) // 2)]
    return kept.rstrip() + ELLIPSIS
