"""Data in the scripts of an HTML page: JSON, JSON-LD, JSONP, `x = {…}`.

JSONPath searches each such script as a document of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from tidings.document.data.json_tree import JsonTree, unwrap, value_of
from tidings.document.select.extraction import Extraction
from tidings.document.select.trees import TakenPart

LONGEST_SCRIPT: Final = 2_000_000
"""The longest script that is read, in characters; longer ones are programs."""
MOST_SCRIPTS: Final = 100
MOST_ATTEMPTS: Final = 20
"""The most places in a script at which data is tried."""
_BEGINS = re.compile(r"(?:[=(]|\bJSON\.parse\(\s*)\s*(?=[\[{])")


def take_from_scripts(scripts: Sequence[str], extraction: Extraction) -> TakenPart:
    """Return the matches of an extraction's selectors in the data of scripts, in order.

    Raises `RefusedError` for a selector that costs too much.

    Args:
        scripts: Their texts.
        extraction: Selectors in JSONPath only.
    """
    pieces: list[str] = []
    for script in scripts[:MOST_SCRIPTS]:
        for tree in _read_trees(script):
            pieces += tree.take(extraction).pieces
    return TakenPart(pieces=tuple(pieces), missing=None if pieces else extraction.selectors[-1])


def _read_trees(script: str) -> Iterator[JsonTree]:
    if len(script) > LONGEST_SCRIPT:
        return
    try:
        yield JsonTree(*unwrap(script.strip().rstrip(";")))
    except (ValueError, RecursionError):
        yield from _read_assignments(script)


def _read_assignments(script: str) -> Iterator[JsonTree]:
    """Yield the JSON values that a program assigns to names or passes to functions."""
    decoder = json.JSONDecoder()
    end = attempts = 0
    for found in _BEGINS.finditer(script):
        if found.start() < end:
            continue
        attempts += 1
        if attempts > MOST_ATTEMPTS:
            return
        try:
            _, end = decoder.raw_decode(script, found.end())
            text = script[found.end() : end]
            yield JsonTree(text, value_of(text))
        except (ValueError, RecursionError):
            continue
