"""A message in one's own words: a title and a text with placeholders, which are names and nothing else (R-10).

A placeholder is replaced once: what is put in its place is not read again, and nothing of it is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tidings.record import dataclass

PLACEHOLDERS: Final[Mapping[str, str]] = {
    "watch_title": "the name of the sentinel",
    "page_title": "the title of the page",
    "watch_url": "the address of the page",
    "host": "the host of the page",
    "summary": "what changed, in one line",
    "diff": "what changed, with where it stands: [-old-] and {+new+} in text, struck out and underlined in HTML",
    "diff_added": "the texts that came, a line each",
    "diff_removed": "the texts that went, a line each",
    "diff_url": "how to see the comparison",
    "current_snapshot": "the text that the sentinel watches now",
    "changes": "how many changes the message reports",
    "detected_at": "when the change was seen",
    "published_at": "when the page or the entry says that it was published, empty if it does not say",
    "tags": "the tags of the sentinel",
}
"""Each placeholder and what stands in its place."""
_HOLE: Final = re.compile(r"\{\{(.*?)\}\}|\{\{|\{%", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Wording:
    """What a Notify clause says instead of the usual message: `title` and `text`, each empty for the usual one. A line end separates lines."""

    title: str = ""
    text: str = ""

    @property
    def is_json(self) -> bool:
        """Say whether the text is a document of JSON, so that placeholders stand in its strings."""
        return bool(re.match(r"\s*(?:\{(?![{%])|\[)", self.text))

    def uses(self, name: str) -> bool:
        """Say whether a placeholder stands in the title or the text."""
        return any(name == hole for part in (self.title, self.text) for hole, _ in holes(part))


def holes(template: str) -> Iterator[tuple[str | None, int]]:
    """Yield the name of each placeholder and where it begins; None for one that is not closed, and for a statement (`{%`)."""
    for found in _HOLE.finditer(template):
        yield (None if found[1] is None else found[1].strip()), found.start()


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with values in the place of its placeholders; one that has no value stays as it is."""
    return _HOLE.sub(lambda found: values.get((found[1] or "").strip(), found[0]), template)
