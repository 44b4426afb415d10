"""Extract parts of a document: Select, `in`, Exclude and Transform (contracts §8).

In this order: the intersection of all selectors, without what is excluded, through the transforms
in sequence. A part is a document itself, so that all readers of documents work on parts. One that
cannot be extracted has a `problem`; one whose selector matches nothing names it.
"""

from __future__ import annotations

from tidings.document.document import Document
from tidings.document.html.lines import lines_of, pieces_of, transform, without
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import Extraction
from tidings.document.select.trees import TakenPart
from tidings.model.watch.interest import Selector
from tidings.record import replace


def extract(document: Document, extraction: Extraction) -> Document:
    """Return the part of a whole document that an extraction selects; cached."""
    if extraction.is_whole or document.problem:
        return document
    if extraction not in document.parts:
        document.parts[extraction] = _extract(document, extraction)
    return document.parts[extraction]


def take(document: Document) -> TakenPart | None:
    """Return the nodes of a document, None if they were not kept. Raise `RefusedError` as
    `Tree.take` does.
    """
    return None if document.tree is None else document.tree.take(document.extraction)


def clean(line: str, extraction: Extraction) -> str:
    """Return a line without ignored words and matches, with replacements applied."""
    lines = [line]
    for excluded in extraction.exclude:
        if not isinstance(excluded, Selector):
            lines = without(lines, excluded)
    for step in extraction.transform:
        if step.verb in {"replace", "fold"}:
            lines = transform(lines, step)
    return lines[0] if lines else ""


def _extract(document: Document, extraction: Extraction) -> Document:
    if document.textless or document.tree is None:
        pieces, links, images = document.pieces, document.links, document.images
        places = (document.link_places, document.image_places)
        if extraction.selectors:
            return _without_content(document, extraction, extraction.selectors[0])
    else:
        try:
            part = document.tree.take(extraction)
        except RefusedError as error:
            return replace(document, extraction=extraction, problem=f"could not compare: {error}")
        if part.missing is not None:
            return _without_content(document, extraction, part.missing)
        pieces, links, images = part.pieces, part.links, part.images
        places = (part.link_places, part.image_places)
    written: tuple[str, ...] = ()
    others = [excluded for excluded in extraction.exclude if not isinstance(excluded, Selector)]
    if others or extraction.transform:
        lines = document.lines if document.media == "text" else lines_of(pieces)
        for excluded in others:
            lines = without(lines, excluded)
        originals: dict[str, list[str]] = {}
        for step in extraction.transform:
            before, lines = lines, transform(lines, step)
            if step.verb == "fold":
                for line, original in zip(reversed(lines), reversed(before), strict=True):
                    originals.setdefault(line, []).append(original)
        pieces = pieces_of(lines)
        if originals:
            written = pieces_of(originals[line].pop() if originals.get(line) else line for line in lines)
        places = ((), ())  # lines have no positions of addresses
    return replace(
        document,
        extraction=extraction,
        pieces=pieces,
        written=written,
        links=links,
        images=images,
        link_places=places[0],
        image_places=places[1],
        marks=(),
        frames=(),
    )


def _without_content(document: Document, extraction: Extraction, missing: Selector) -> Document:
    return replace(
        document,
        extraction=extraction,
        missing=missing,
        pieces=(),
        written=(),
        links=(),
        images=(),
        link_places=(),
        image_places=(),
        marks=(),
        frames=(),
        textless=False,
        sha256="",
    )
