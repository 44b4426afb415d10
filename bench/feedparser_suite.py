"""Compare how feeds are read with feedparser, on its own test suite or any folder of feeds.

Usage: python bench/feedparser_suite.py FOLDER [--all]

FOLDER holds the `.xml` files (`tests` of feedparser's sdist; nothing is downloaded).
`tidings.document` and the installed feedparser read each file with the same headers and the same
address. It prints how many of N files agree in the number of their entries, and in titles, links
and texts, and each difference with its reason. `--all` prints both readings.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import feedparser

from tidings.document.html.links import Resolver
from tidings.document.parse import parse, text_of_fragment
from tidings.document.structures.entries import entries_of

FIELDS = ("entries", "titles", "links", "texts")
_HEADER = re.compile(rb"^Header:\s+([^:]+):(.+)$", re.MULTILINE)
_SPACES = re.compile(r"\s+")


def main() -> int:
    """Print the table; the exit code is 1 if there is a difference without a reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true", help="print both readings of each difference")
    asked = parser.parse_args()
    files = sorted(asked.folder.rglob("*.xml"))
    equal: Counter[str] = Counter()
    lines: list[str] = []
    unexplained = 0
    for file in files:
        name = file.relative_to(asked.folder).as_posix()
        ours, theirs = _readings(file, name)
        for field in FIELDS:
            if ours[field] == theirs[field]:
                equal[field] += 1
                continue
            reason = _reason(name, field, ours, theirs)
            unexplained += not reason
            lines.append(f"{field:8} {name}: {reason or 'NO REASON'}")
            if asked.all or not reason:
                lines += [f"    ours   {ours[field]!r:.300}", f"    theirs {theirs[field]!r:.300}"]
    print("\n".join(lines))
    for field in FIELDS:
        print(f"{field}: {equal[field]} of {len(files)} as feedparser {feedparser.__version__} reads them")
    print(f"differences without a reason: {unexplained}")
    return min(unexplained, 1)


def _readings(file: Path, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    body = file.read_bytes()
    url = f"http://127.0.0.1:8097/{name}"
    headers = {
        key.decode().strip().lower(): value.decode("utf-8", "replace").strip() for key, value in _HEADER.findall(body)
    }
    said = headers.get("content-type", "application/xml" if "http_" not in name else "")
    document = parse(body, said, url=url, keep_tree=True)
    entries = [] if document.problem or document.media not in {"feed", "json"} else entries_of(document)
    resolver = Resolver(url)
    ours = _reading([(e.title, e.link, e.text.removeprefix(e.title)) for e in entries], resolver)
    given = {"content-type": said or "application/xml", "content-location": url}
    parsed = feedparser.parse(
        io.BytesIO(body), response_headers=given, sanitize_html=False, resolve_relative_uris=False
    )
    theirs = _reading([(_title(e), str(e.get("link", "")), _text(e)) for e in parsed.entries], resolver)
    theirs["ids"] = resolver.links([str(entry.get("id", "")) for entry in parsed.entries])
    return ours, theirs


def _reading(entries: list[tuple[str, str, str]], resolver: Resolver) -> dict[str, Any]:
    return {
        "entries": len(entries),
        "titles": [_line(title) for title, _, _ in entries],
        "links": [next(iter(resolver.links([link])), "") if link else "" for _, link, _ in entries],
        "texts": [_line(text) for _, _, text in entries],
    }


def _title(entry: Any) -> str:
    return _show(entry.get("title_detail", {"value": entry.get("title", "")}))


def _text(entry: Any) -> str:
    """Return the fullest text of feedparser's entry: its content, else its summary."""
    parts = [*entry.get("content", ()), entry.get("summary_detail", {"value": entry.get("summary", "")})]
    return next((text for part in parts if (text := _show(part))), "")


def _show(detail: Any) -> str:
    value = str(detail.get("value", ""))
    return value if detail.get("type") == "text/plain" else text_of_fragment(value)


def _line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


_REASONS = (
    ("", "chardet/", "the charset that is guessed here is the right one"),
    (
        "",
        "bozo_linenoise",
        "broken bytes: read as UTF-8 with replacements, as what is declared says, not as windows-1252",
    ),
    ("texts", "demoronize-", "a reference to a control character means that character in XML"),
    ("texts", "double-encoded-html", "a reference to a control character means that character in XML"),
    ("", "cdf", "Channel Definition Format (1997) is no format that is read"),
    ("titles", "node_precedence/atom10_title", "the entry's own title counts, not one of an extension"),
    ("titles", "item_category_image", "the title of a picture in a category is none of the entry's"),
    ("links", "node_precedence/atom10_id", "an id of Atom is a name, and leads nowhere (RFC 4287 §4.2.6)"),
    ("texts", "item_description_and_summary", "RSS has a description, and no summary"),
    ("links", "item_guid_isPermaLink_ValueError", "an address that cannot be parsed is shown as it is written"),
)
"""Differences that are meant: field (empty: any), what the name of the file holds, why."""


def _reason(name: str, field: str, ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Return why a difference is meant, empty if nobody has said."""
    for of, part, why in _REASONS:
        if of in {"", field} and part in name:
            return why
    if field == "links" and ours["entries"] == theirs["entries"]:
        pairs = [pair for pair in zip(ours["links"], theirs["links"], strict=True) if pair[0] != pair[1]]
        if all(not our and their in theirs["ids"] for our, their in pairs):
            return "an id of Atom or RDF is a name, and leads nowhere (RFC 4287 §4.2.6)"
        if all(not their for _, their in pairs):
            return "where no link says that it leads to the same in another form, the first one counts"
    return ""


if __name__ == "__main__":
    sys.exit(main())
