"""Extraction: the selected part of a page and the preparation of its text, as a named value
(contracts §1, §4).

Digests, changes and memories carry the name, so that two extractions of one page are never
confused. Nothing here parses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import astuple
from typing import Final

from tidings.model.watch.interest import Exclusion, Selector, Transform
from tidings.model.watch.sentinel import Sentinel
from tidings.record import dataclass, replace

_TAKEN_BY: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "html": ("a page of HTML", {"css": ".price", "xpath": "//h1", "jsonpath": "$.offers.price"}),
    "feed": ("a feed", {"xpath": "//item/title", "css": ".price"}),
    "xml": ("XML", {"xpath": "//name", "css": ".price"}),
    "json": ("JSON", {"jsonpath": "$.items[*].name"}),
    "csv": ("CSV", {}),
    "text": ("plain text", {}),
    "pdf": ("a PDF", {}),
    "binary": ("a body without text", {}),
}
"""The name of each kind of content, and the selector languages for it, each with an example."""

Nodes = tuple[tuple[Selector, ...], tuple[Selector, ...]]
"""(Selectors of what counts, selectors of what is excluded): the nodes of an extraction, whatever
its transforms.
"""

PAGE = "page"
"""The name of the extraction of the whole page."""

_RULES = 1
"""Raised whenever an extraction changes its result for some page."""
_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Extraction:
    """The intersection of `selectors`, without what is excluded, through the transforms in order.

    Selectors and exclusions are sets of nodes of the original page; none of them affects another.
    """

    selectors: tuple[Selector, ...] = ()
    exclude: tuple[Exclusion, ...] = ()
    transform: tuple[Transform, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return whether the whole page counts unchanged."""
        return not (self.selectors or self.exclude or self.transform)

    @property
    def fingerprint(self) -> str:
        """Return the name: `page`, or 16 hexadecimal digits that depend on every word of the
        clauses.
        """
        if self.is_whole:
            return PAGE
        return make_name(self)

    @property
    def nodes(self) -> Nodes:
        """Return the selectors of what counts, and those of what is excluded."""
        return self.selectors, tuple(excluded for excluded in self.exclude if isinstance(excluded, Selector))

    def within(self, selector: Selector | None) -> Extraction:
        """Return the intersection with the matches of `selector`."""
        return self if selector is None else replace(self, selectors=(*self.selectors, selector))

    def without(self, selector: Selector) -> Extraction:
        """Return the extraction without the matches of `selector`."""
        return replace(self, exclude=(*self.exclude, selector))


WHOLE = Extraction()


def why_nothing(language: str, media: str) -> str:
    """Return why a selector language can never match in a kind of content, and which could; empty
    if it can.
    """
    if media not in _TAKEN_BY or language in _TAKEN_BY[media][1]:
        return ""
    called, languages = _TAKEN_BY[media]
    could = " or ".join(f'{name} "{example}"' for name, example in languages.items())
    return f"of {called} {language} finds no parts" + (f"; write {could}" if could else "")


def why_little(language: str, media: str) -> str:
    """Return what a selector sees of content not made for its language; empty if everything."""
    if language != "css" or media not in {"feed", "xml"}:
        return ""
    called, languages = _TAKEN_BY[media]
    return (
        f'of {called} css finds parts of the HTML in its texts; for its own elements write xpath "{languages["xpath"]}"'
    )


def extraction_of(sentinel: Sentinel) -> Extraction:
    """Return the extraction of a sentinel."""
    select = () if sentinel.select is None else (sentinel.select,)
    return Extraction(select, sentinel.exclude, sentinel.transform)


def make_name(*extractions: Extraction) -> str:
    """Return one name for several extractions whose texts are concatenated."""
    if all(extraction.is_whole for extraction in extractions):
        return PAGE
    parts = [
        [
            [[selector.language, selector.text] for selector in extraction.selectors],
            [[type(excluded).__name__, *astuple(excluded)] for excluded in extraction.exclude],
            [astuple(step) for step in extraction.transform],
        ]
        for extraction in extractions
    ]
    text = json.dumps([_RULES, parts], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]
