"""Taking parts of a document: Select, `in`, Exclude and Transform (contracts §8).

In this order: what all selectors find, without what is excluded, through the transforms one after the other. A part is a document itself, so
that everything that reads documents reads parts. One that cannot be taken has a `problem`; one whose selector finds nothing says which.
"""

from __future__ import annotations

from dataclasses import replace

from tidings.document.document import Document
from tidings.document.html.lines import lines_of, pieces_of, transform, without
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import Extraction
from tidings.document.select.trees import TakenPart
from tidings.model.watch.interest import Selector


def extract(document: Document, extraction: Extraction) -> Document:
    """Return the part of a whole document that counts; each is taken once."""
    if extraction.is_whole or document.problem:
        return document
    if extraction not in document.parts:
        document.parts[extraction] = _extract(document, extraction)
    return document.parts[extraction]


def take(document: Document) -> TakenPart | None:
    """Return the nodes of a document, None if it was parsed without keeping them; raises `RefusedError` as `Tree.take` does."""
    return None if document.tree is None else document.tree.take(document.extraction)


def clean(line: str, extraction: Extraction) -> str:
    """Return a line without the words and matches that do not count, and with what is replaced replaced."""
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
    others = [excluded for excluded in extraction.exclude if not isinstance(excluded, Selector)]
    if others or extraction.transform:
        lines = document.lines if document.media == "text" else lines_of(pieces)
        for excluded in others:
            lines = without(lines, excluded)
        for step in extraction.transform:
            lines = transform(lines, step)
        pieces = pieces_of(lines)
        places = ((), ())  # lines do not say where in them an address stood
    return replace(
        document,
        extraction=extraction,
        pieces=pieces,
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
        links=(),
        images=(),
        link_places=(),
        image_places=(),
        marks=(),
        frames=(),
        textless=False,
        sha256="",
    )
