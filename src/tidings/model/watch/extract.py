"""Which part of a page counts, and how its text is prepared before versions are compared: Select,
Exclude, Transform.

In this order: the selected part, without what is excluded, through the transforms in sequence.
"""

from __future__ import annotations

from typing import Literal

from tidings.model.watch.interest import Selector
from tidings.record import dataclass


@dataclass(frozen=True, slots=True)
class StopWords:
    """Words that are ignored everywhere; case folded (W-20)."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Text that is ignored: every match of an RE2 pattern."""

    text: str


HIDDEN = Selector(
    "css",
    '[hidden], [style*="display:none" i], [style*="display: none" i], [style*="visibility:hidden" i], [style*="visibility: hidden" i]',
)
"""Elements hidden by their own attributes (`Exclude hidden`); style sheets are not read."""

Exclusion = Selector | StopWords | Pattern


@dataclass(frozen=True, slots=True)
class Transform:
    r"""One step on the lines of the canonical text.

    `keep` and `drop`: the lines that contain `match`; `replace`: every `match` by `replacement`;
    `sort`: the lines by code point; `unique`: only the first of equal lines; `fold`: to lower case.
    `match` is literal text, or with `is_pattern` an RE2 pattern, whose groups `replacement` may
    name (`\1`).
    """

    verb: Literal["keep", "drop", "replace", "sort", "unique", "fold"]
    match: str = ""
    is_pattern: bool = False
    replacement: str = ""
