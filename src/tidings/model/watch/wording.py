"""Custom wording of a message: a title and a text with placeholders, which are plain names, not
expressions (R-10).

A placeholder is replaced once: its value is not scanned again, and nothing is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

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
"""Each placeholder and its value."""
_HOLE: Final = re.compile(r"\{\{(.*?)\}\}|\{\{|\{%", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Wording:
    """The custom message of a Notify clause: `title` and `text`, each empty for the default. A line
    end separates lines.
    """

    title: str = ""
    text: str = ""

    @property
    def is_json(self) -> bool:
        """Return whether the text is a JSON document, so that placeholders stand inside its
        strings.
        """
        return bool(re.match(r"\s*(?:\{(?![{%])|\[)", self.text))

    def uses(self, name: str) -> bool:
        """Return whether a placeholder occurs in the title or the text."""
        return any(name == hole for part in (self.title, self.text) for hole, _ in holes(part))


def holes(template: str) -> Iterator[tuple[str | None, int]]:
    """Yield the name and start of each placeholder; None for one that is not closed, and for a
    statement (`{%`).
    """
    for found in _HOLE.finditer(template):
        yield (None if found[1] is None else found[1].strip()), found.start()


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its placeholders replaced by values; one without a value stays as it
    is.
    """
    return _HOLE.sub(lambda found: values.get((found[1] or "").strip(), found[0]), template)
