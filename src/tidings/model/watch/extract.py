"""Which part of a page counts, and how its text is made ready before versions are compared: Select, Exclude, Transform.

In this order: the selected part, without what is excluded, through the transforms one after the other.
"""

from __future__ import annotations

from typing import Literal

from tidings.model.watch.interest import Selector
from tidings.record import dataclass


@dataclass(frozen=True, slots=True)
class StopWords:
    """Words that do not count, wherever they stand; case folded (W-20)."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Text that does not count: every match of an RE2 pattern."""

    text: str


HIDDEN = Selector(
    "css",
    '[hidden], [style*="display:none" i], [style*="display: none" i], [style*="visibility:hidden" i], [style*="visibility: hidden" i]',
)
"""What a page hides until somebody opens it (`Exclude hidden`), as far as the element itself says so: style sheets are not read."""

Exclusion = Selector | StopWords | Pattern


@dataclass(frozen=True, slots=True)
class Transform:
    r"""One step on the lines of the canonical text.

    `keep` and `drop`: the lines with `match` in them; `replace`: every `match` by `replacement`; `sort`: the lines by code point; `unique`:
    every line once, where it stands first; `fold`: in lower case. `match` is plain text, taken as it is, or with `is_pattern` an RE2 pattern, whose groups
    `replacement` may name (`\1`).
    """

    verb: Literal["keep", "drop", "replace", "sort", "unique", "fold"]
    match: str = ""
    is_pattern: bool = False
    replacement: str = ""
