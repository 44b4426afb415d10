"""Custom wording: templates filled and escaped for each channel, never scanned again (R-10, H-075
to H-077).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Final

from tidings.model.watch.telling import Wording, fill
from tidings.presentation.writing import cut_text, length, subject_line, tame
from tidings.record import dataclass

MOST_BYTES: Final = 64_000
"""The largest message in custom wording, in bytes and in characters."""
MOST_VALUE: Final = 16_384
"""The longest value of one placeholder, in characters."""
MOST_TITLE: Final = 200
STEPS: Final = (MOST_VALUE, 4_000, 1_000, 200, 20, 0)
"""Limits of each value in characters, tried in turn until the message is small enough."""


@dataclass(frozen=True, slots=True)
class PlaceholderValue:
    """The value of a placeholder: as text with lines, and as HTML if that is more than the escaped
    text.
    """

    text: str
    html: str = ""


def title(wording: Wording, values: Mapping[str, PlaceholderValue]) -> str:
    """Return the title in one line, empty if the clause has none."""
    texts = {name: " ".join(value.text.split()) for name, value in values.items()}
    return subject_line(fill(wording.title, texts), most=MOST_TITLE)


def plain(text: str, values: Mapping[str, PlaceholderValue]) -> str:
    """Return a template filled as plain text; page content controls no screen."""
    return _bound_length(text, {name: tame(value.text, keep="\n") for name, value in values.items()})


def html(text: str, values: Mapping[str, PlaceholderValue]) -> str:
    """Return a template filled as HTML: its own words and those of pages are escaped, lines are
    preserved, and edits are marked.
    """
    shown = {name: value.html or _lines(tame(value.text, keep="\n")) for name, value in values.items()}
    for most in STEPS:
        whole = f"<div>{fill(_lines(text), shown)}</div>\n"
        if len(whole.encode(errors="backslashreplace")) <= MOST_BYTES:
            return whole
        cut_texts = {name: cut_text(tame(value.text, keep="\n"), most) for name, value in values.items()}
        shown = {name: _lines(value) for name, value in cut_texts.items()}
    return f"<div>{_lines(plain(text, values))}</div>\n"


def json_text(text: str, values: Mapping[str, PlaceholderValue], most: int = MOST_BYTES) -> str:
    """Return a JSON template filled in at most `most` bytes; values cannot end a string."""
    whole = ""
    for characters in STEPS:
        texts = {
            name: json.dumps(cut_text(value.text, characters), ensure_ascii=False)[1:-1]
            for name, value in values.items()
        }
        whole = fill(text, texts)
        if len(whole.encode(errors="backslashreplace")) <= most:
            break
    return whole


def _bound_length(text: str, values: Mapping[str, str]) -> str:
    whole = ""
    for most in STEPS:
        whole = fill(text, {name: cut_text(value, most) for name, value in values.items()})
        if length(whole) <= MOST_BYTES // 2:
            return whole
    return cut_text(whole, MOST_BYTES // 2)


def _lines(text: str) -> str:
    return escape(text, quote=True).replace("\n", "<br>\n")
