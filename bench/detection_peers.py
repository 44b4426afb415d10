"""What others take for a pair of pages; run by the Python of an environment that has them, and nothing of Tidings.

    ENVIRONMENT/bin/python bench/detection_peers.py FOLDER

FOLDER holds `N.old.html` and `N.new.html`. Prints JSON: for each tool that can be imported CPU seconds of all pairs, how many it could not do
and how many it calls changed. html2text and web-monitoring-diff are under the GPL: they are measured as programs, never part of Tidings.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import time
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any


def lxml_differ() -> Callable[[str, str], bool]:
    """Return lxml's diff of two pages, as HTML with marks."""
    differ = importlib.import_module("lxml.html.diff").htmldiff
    return lambda old, new: any(mark in differ(old, new) for mark in ("<ins>", "<del>"))


def text_differ() -> Callable[[str, str], bool]:
    """Return difflib on the lines of html2text."""
    html2text = importlib.import_module("html2text")

    def text(page: str) -> list[str]:
        reader = html2text.HTML2Text(bodywidth=0)
        return str(reader.handle(page)).splitlines()

    return lambda old, new: any(op[0] != "equal" for op in SequenceMatcher(None, text(old), text(new)).get_opcodes())


def render_differ() -> Callable[[str, str], bool]:
    """Return the rendered diff of EDGI's web-monitoring-diff."""
    etree = importlib.import_module("lxml.etree")
    try:
        importlib.import_module("html5_parser")
    except RuntimeError as error:  # wheels carry different libxml2; it hands over soup here, which no libxml2 reads
        theirs = re.search(r"html5-parser: \(([\d, ]+)\)", str(error))
        etree.LIBXML_VERSION = tuple(map(int, theirs[1].split(","))) if theirs else ()
        importlib.import_module("html5_parser")
    differ = importlib.import_module("web_monitoring_diff").html_diff_render
    return lambda old, new: bool(differ(old, new, include="combined")["change_count"])


TOOLS: dict[str, Callable[[], Callable[[str, str], bool]]] = {
    "lxml.html.diff": lxml_differ,
    "difflib on html2text": text_differ,
    "web-monitoring-diff": render_differ,
}


def measure(differ: Callable[[str, str], bool], pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Return CPU seconds, failures and verdicts of one tool on all pairs."""
    changed = failed = 0
    began = time.process_time()
    for old, new in pairs:
        try:
            changed += differ(old, new)
        except Exception:  # noqa: BLE001 - whatever a peer raises is its outcome
            failed += 1
    return {"seconds": time.process_time() - began, "changed": changed, "failed": failed}


def main(folder: Path) -> None:
    """Print what each tool took."""
    count = len(list(folder.glob("*.old.html")))
    pairs = [
        (
            (folder / f"{number}.old.html").read_text(encoding="utf-8"),
            (folder / f"{number}.new.html").read_text(encoding="utf-8"),
        )
        for number in range(count)
    ]
    found: dict[str, Any] = {}
    for name, tool in TOOLS.items():
        try:
            differ = tool()
        except Exception as error:  # noqa: BLE001 - a tool that is not there is reported so
            found[name] = {"absent": f"{type(error).__name__}: {error}"}
            continue
        found[name] = measure(differ, pairs)
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
