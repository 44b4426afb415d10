"""Messages in one's own words: templates filled for each channel, escaped for it, and never read again (R-10, H-075 to H-077)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Final

from tidings.model.watch.wording import Wording, fill
from tidings.presentation.writing import cut_text, length, subject_line, tame
from tidings.record import dataclass

MOST_BYTES: Final = 64_000
"""Bytes of a message in one's own words, and characters of it."""
MOST_VALUE: Final = 16_384
"""Characters of what stands in the place of one placeholder."""
MOST_TITLE: Final = 200
STEPS: Final = (MOST_VALUE, 4_000, 1_000, 200, 20, 0)
"""Characters of each value, tried in turn until the message is small enough."""


@dataclass(frozen=True, slots=True)
class PlaceholderValue:
    """What stands in the place of a placeholder: as text with lines, and as HTML where that is more than the text escaped."""

    text: str
    html: str = ""


def title(wording: Wording, values: Mapping[str, PlaceholderValue]) -> str:
    """Return the title in one line, empty if the clause has none."""
    texts = {name: " ".join(value.text.split()) for name, value in values.items()}
    return subject_line(fill(wording.title, texts), most=MOST_TITLE)


def plain(text: str, values: Mapping[str, PlaceholderValue]) -> str:
    """Return a template as plain text; what a page says steers no screen."""
    return _bound_length(text, {name: tame(value.text, keep="\n") for name, value in values.items()})


def html(text: str, values: Mapping[str, PlaceholderValue]) -> str:
    """Return a template as HTML: its own words and those of pages are text, lines stay lines, and edits are marked."""
    shown = {name: value.html or _lines(tame(value.text, keep="\n")) for name, value in values.items()}
    for most in STEPS:
        whole = f"<div>{fill(_lines(text), shown)}</div>\n"
        if len(whole.encode(errors="backslashreplace")) <= MOST_BYTES:
            return whole
        cut_texts = {name: cut_text(tame(value.text, keep="\n"), most) for name, value in values.items()}
        shown = {name: _lines(value) for name, value in cut_texts.items()}
    return f"<div>{_lines(plain(text, values))}</div>\n"


def json_text(text: str, values: Mapping[str, PlaceholderValue], most: int = MOST_BYTES) -> str:
    """Return a template of JSON in at most `most` bytes; what stands in the place of a placeholder ends no string of it."""
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
