"""Lists of addresses: OPML (with FreshRSS's extensions), CSV with a header, bookmarks, plain lists.

They have no intervals or receivers; every program can write them.
"""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Iterator
from functools import partial
from typing import Final
from xml.etree import ElementTree as ET

from tidings.clock import DAY, HOUR, MINUTE, SECOND, WEEK
from tidings.service.imports.draft import Draft, plain_address, show_value, tag_of
from tidings.service.imports.reading import Files

FRESH: Final = "{https://freshrss.org/opml}"
MOST_ADDRESS: Final = 8_192
COLUMNS: Final = {
    "url": {"url", "uri", "address", "link", "xmlurl"},
    "title": {"name", "title", "description", "text"},
    "tags": {"tags", "tag", "folder", "category", "labels", "group"},
    "css": {"css", "selector", "include_filters", "css selector"},
    "xpath": {"xpath"},
    "interval": {"interval", "interval (min)", "interval_minutes", "frequency", "every"},
    "dynamic": {"dynamic wachet", "dynamic", "browser"},
}
UNITS: Final = {
    "s": SECOND,
    "sec": SECOND,
    "second": SECOND,
    "m": MINUTE,
    "min": MINUTE,
    "minute": MINUTE,
    "h": HOUR,
    "hour": HOUR,
    "d": DAY,
    "day": DAY,
    "week": WEEK,
    "": MINUTE,
}
_ADDRESS: Final = re.compile(r"(?i)^\s*(https?://\S+)(.*)$")


def is_opml(files: Files) -> bool:
    """Return whether it is one OPML file."""
    if not files.is_single or not files.names[0].lower().endswith((".opml", ".xml", ".txt")):
        return False
    return bool(re.search(rb"<opml[\s>]", files.read(files.names[0])[:4_096]))


def read_opml(files: Files) -> Iterator[Draft]:
    """Yield a draft for each outline with an address; folders become tags."""
    body = files.xml(files.names[0]).find("body")
    for folders, outline in _outlines(body) if body is not None else ():
        given = {
            key.lower() if key.islower() or "}" not in key else key: value for key, value in outline.attrib.items()
        }
        given |= {key.lower(): value for key, value in outline.attrib.items() if "}" not in key}
        draft = Draft(html.unescape(given.get("title") or given.get("text") or ""), given["xmlurl"].strip(), "OPML")
        draft.url = plain_address(draft, draft.url)
        draft.tags = [tag_of(one) for one in (*folders, *re.split(r"[,/]", given.get("category", ""))) if one.strip()]
        kind, item = given.get("type", "").lower(), given.get(f"{FRESH}xPathItem")
        if kind.endswith("+xpath") and item:
            draft.monitor(f'items in xpath "{item}"', "xPathItem")
        elif kind == "json+dotnotation" and given.get(f"{FRESH}jsonItem"):
            draft.monitor(f'items in jsonpath "$.{given[f"{FRESH}jsonItem"]}[*]"', "jsonItem")
        elif kind.startswith("html+xpath+json"):
            draft.refuse("xPathToJson", "data inside a page's script is not read so; see `Select jsonpath`")
            draft.monitor("all words", "type")
        else:
            draft.monitor("items inserted", "xmlUrl")
        _fresh(draft, given)
        if given.get("htmlurl"):
            draft.comments.append(given["htmlurl"])
        yield draft


def _fresh(draft: Draft, given: dict[str, str]) -> None:
    for key, value in given.items():
        if not key.startswith(FRESH):
            continue
        name = key.removeprefix(FRESH)
        if name == "CURLOPT_USERAGENT":
            draft.header("User-Agent", value, name)
        elif name == "CURLOPT_COOKIE":
            draft.header("Cookie", value, name)
        elif name == "CURLOPT_HTTPHEADER":
            for line in value.split("\n"):
                header, _, text = line.partition(":")
                draft.header(header.strip(), text.strip(), name)
        elif name == "CURLOPT_PROXY":
            draft.add(f"Proxy {value}", name)
        elif name in {"xPathItem", "jsonItem"}:
            continue
        elif name.startswith(("xPath", "json")):
            draft.note("approximated", name, "an item is compared by its text and where it leads")
        elif name == "filtersActionRead":
            draft.comments.append(f"marked as read: {show_value(value)}")
            draft.note("state", name)
        else:
            draft.refuse(name, f"{show_value(value)} means nothing here")


def _outlines(root: ET.Element) -> Iterator[tuple[tuple[str, ...], ET.Element]]:
    stack: list[tuple[tuple[str, ...], ET.Element]] = [((), one) for one in reversed(root)]
    while stack:
        folders, outline = stack.pop()
        if any(key.lower() == "xmlurl" for key in outline.attrib):
            yield folders, outline
        label = outline.get("text") or outline.get("title") or ""
        stack += [((*folders, label), one) for one in reversed(outline)]


def is_csv(files: Files) -> bool:
    """Return whether it is one table whose header has a column of addresses."""
    return files.is_single and files.names[0].lower().endswith((".csv", ".tsv")) and "url" in _header(files)


def read_csv(files: Files) -> Iterator[Draft]:
    """Yield a draft for each row."""
    header = _header(files)
    for row in files.rows(files.names[0], _delimiter(files.text(files.names[0])))[1:]:
        given = {name: row[place].strip() for name, place in header.items() if place < len(row)}
        if not given.get("url"):
            continue
        draft = Draft(given.get("title", ""), given["url"], "CSV")
        draft.url = plain_address(draft, draft.url)
        draft.tags = [tag_of(one) for one in re.split(r"[,;|]", given.get("tags", "")) if one.strip()]
        for kind in ("css", "xpath"):
            if given.get(kind):
                draft.select(kind, given[kind], kind)
        if given.get("dynamic", "").lower() in {"true", "1", "yes", "=true()"}:
            draft.renders = "browser"
            draft.translate("dynamic")
        interval = given.get("interval", "")
        draft.read("interval", interval, partial(_interval, draft, interval))
        draft.monitor("all words", "url")
        yield draft


def _header(files: Files) -> dict[str, int]:
    first = files.rows(files.names[0], _delimiter(files.text(files.names[0])))[:1]
    labels = [cell.strip().lower() for row in first for cell in row]
    return {name: labels.index(label) for name, known in COLUMNS.items() for label in labels if label in known}


def _delimiter(text: str) -> type[csv.Dialect]:
    head = text.partition("\n")[0]

    class FoundJob(csv.excel):
        delimiter = max(",;\t", key=head.count)

    return FoundJob


def _interval(draft: Draft, text: str) -> None:
    if not text:
        return
    found = re.fullmatch(r"([-+]?\d+(?:[.,]\d+)?)\s*([a-z]*?)s?", text.lower(), re.ASCII)
    if found is None or found[2] not in UNITS:
        draft.refuse("interval", f"{show_value(text)} is not a time that Tidings can read")
    else:
        draft.check_every(float(found[1].replace(",", ".")) * UNITS[found[2]], "interval")


def is_bookmarks(files: Files) -> bool:
    """Return whether it is a file of bookmarks as browsers export it."""
    return files.is_single and b"NETSCAPE-Bookmark-file" in files.read(files.names[0])[:200]


def read_bookmarks(files: Files) -> Iterator[Draft]:
    """Yield a draft for each bookmark; folders become tags."""
    folders: list[str] = []
    pending = ""
    pattern = (
        r"(?is)<h3[^<>]*>((?:(?!</?(?:h3|dl)\b).)*)</h3>|<dl>|</dl>"
        r'|<a\s[^<>]*?href="([^"]*)"[^<>]*>((?:(?!</?a\b).)*)</a>'
    )
    for found in re.finditer(pattern, files.text(files.names[0])):
        whole = found[0].lower()
        if found[1] is not None:
            pending = html.unescape(found[1])
        elif whole == "<dl>":
            folders.append(pending)
            pending = ""
        elif whole == "</dl>":
            folders = folders[:-1]
        elif found[2].lower().startswith("http"):
            draft = Draft(html.unescape(re.sub(r"<[^>]*>", "", found[3])), html.unescape(found[2]), "bookmarks")
            draft.tags = [tag_of(one) for one in folders if one.strip()]
            draft.monitor("all words", "href")
            yield draft


def is_list(files: Files) -> bool:
    """Return whether it is one text whose first content line is an address."""
    if not files.is_single or files.names[0].lower().endswith((".json", ".yaml", ".yml", ".db")):
        return False
    lines = (
        line for line in files.text(files.names[0])[:100_000].splitlines() if line.strip() and line.strip()[0] != "#"
    )
    return bool(_ADDRESS.match(next(lines, "")))


def read_list(files: Files) -> Iterator[Draft]:
    """Yield a draft for each line: an address, followed by tags."""
    for number, line in enumerate(files.text(files.names[0]).splitlines(), 1):
        if not line.strip() or line.strip().startswith("#"):
            continue
        found = _ADDRESS.match(line)
        draft = Draft("", found[1] if found else line.strip()[:100], "list of addresses", key=str(number))
        if found is None or len(draft.url) > MOST_ADDRESS:
            draft.url = show_value(draft.url)
            draft.fault = (
                f"line {number} is not an address" if found is None else f"line {number} is longer than an address is"
            )
            yield draft
            continue
        draft.url = plain_address(draft, draft.url)
        rest = found[2].strip()
        if rest.startswith("["):
            draft.refuse("tags", "that list names tags by numbers; import the backup (zip) instead")
        else:
            draft.tags = [tag_of(one) for one in rest.split(",") if one.strip()]
        draft.monitor("all words", "url")
        yield draft
