"""A replay of real pages: each version of `page_versions` in order, through the loopback web and
the whole service.

The index of the data set says of each pair of successive versions whether its visible text changed
(`text`) or not (`markup-only`). A `Pair` compares it with what Tidings reported, and `reason` says
by a reading of its own, without Tidings' parser, what lies between two versions on which they
differ.
"""

from __future__ import annotations

import hashlib
import html
import json
import logging
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from tests.data_sets import files_of, rows_of
from tests.edit_scripts import apply_edits
from tests.fakes import Page, WebServer
from tests.world import World, play
from tidings.clock import HOUR
from tidings.detection.compare.words import compare_sequences
from tidings.document.document import Document
from tidings.document.parse import parse
from tidings.document.text.words import tokens_of
from tidings.model.interval import Instant
from tidings.model.observed.change import ChangeSet
from tidings.service.run.monitor import Monitor
from tidings.storage.observed import pages as stored_pages
from tidings.storage.observed.polls import PollRow
from tidings.storage.watches import changes

FAMILIES = (
    "terms-html", "terms-text", "feed", "json", "docs-text", "election", "list", "jobboard", "javadoc-frames",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a real page; `label` is what the index says of the step that leads to it, ""
    for a first one.
    """

    body: bytes
    content_type: str
    label: str


@dataclass(frozen=True, slots=True)
class RealPage:
    """A real page with its versions, oldest first."""

    family: str
    name: str
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A step from one version to the next: the index's label (`text`, `markup-only`), what Tidings
    reported (empty: nothing), and why the two differ if they do.
    """

    page: RealPage
    number: int
    label: str
    reported: ChangeSet
    reason: str = ""

    @property
    def agrees(self) -> bool:
        """Return whether a change of text was reported and one of markup was not."""
        return (self.label == "text") == bool(self.reported)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A version that was withheld at the first check: the suspicion, why, and whether a second poll
    made it a version after all.
    """

    page: RealPage
    number: int
    kind: str
    why: str
    is_kept: bool


@dataclass(slots=True)
class Result:
    """What a replay brought. All lists but `pairs` and `doubts` hold faults, each as `family/page`
    and what it was.

    A pair has two versions that were kept; a version that was withheld is compared with nothing.
    """

    pairs: list[Pair] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    not_compared: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    churn: list[str] = field(default_factory=list)
    wrong_edits: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)

    def add(self, other: Result) -> None:
        """Take another result in."""
        for name in self.__slots__:
            getattr(self, name).extend(getattr(other, name))

    def faults(self) -> dict[str, list[str]]:
        """Return the faults by their sort."""
        return {name: getattr(self, name) for name in self.__slots__ if name not in {"pairs", "doubts"}}


def real_pages(families: Iterable[str] = FAMILIES) -> Iterator[RealPage]:
    """Yield the pages of some families with all their versions, in the order of the index; skip a
    test where there are none.
    """
    rows: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in rows_of("page_versions/index.csv.gz"):
        rows[row["family"], row["page"]].append(row)
    for family in families:
        files = dict(files_of(f"page_versions/{family}.tar.zst"))
        for (of, name), versions in rows.items():
            if of == family:
                yield RealPage(family, name, tuple(_version(files, row) for row in versions))


def _version(files: dict[str, bytes], row: dict[str, str]) -> Version:
    return Version(files[row["file"]], _content_type(row), row["change_from_previous"])


def _content_type(row: dict[str, str]) -> str:
    """Return the header of a server that names the charset as the page itself does, or not at all."""
    declared = row["declared_charset"]
    return f"{row['content_type']}; charset={declared}" if declared else row["content_type"]


def replay(pages: Sequence[RealPage], directory: Path) -> Result:
    """Show versions one an hour to a Tidings that watches each page for any change every hour;
    return what came of it.

    A poll falls into the middle of the hour of a version, so that what is doubted can be checked
    again.
    """
    with WebServer() as server, _Errors() as errors:
        world = World(directory, server, fetch__host_connections="4")
        _show(world, pages, 0)
        world.add(";\n".join(map(_sentinel, pages)))
        begun = world.clock.now()

        async def story(monitor: Monitor) -> None:
            await world.pass_time(monitor, HOUR // 2)
            for number in range(1, max(len(page.versions) for page in pages)):
                _show(world, pages, number)
                await world.pass_time(monitor, HOUR)

        play(world, story)
        result = _result(world, pages, begun)
        result.crashes.extend(errors.lines)
        return result


def _sentinel(page: RealPage) -> str:
    name = f"{page.family}_{page.name}".replace("-", "_")
    return f"Create Sentinel {name} Using {{{_path(page)}}} Monitor any change Fetch every 1 hour"


def _path(page: RealPage) -> str:
    return f"/{page.family}/{page.name}"


def _show(world: World, pages: Sequence[RealPage], number: int) -> None:
    for page in pages:
        if number < len(page.versions):
            version = page.versions[number]
            world.server.pages[_path(page)] = Page(
                version.body, {"Content-Type": version.content_type}, etag=f'"{number}"'
            )


class _Errors(logging.Handler):
    """What the service logs as an error while this is entered."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.lines.append(f"{record.getMessage()}{f': {error!r}' if error else ''}")

    def __enter__(self) -> Self:
        logging.getLogger("tidings").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("tidings").removeHandler(self)


def _result(world: World, pages: Sequence[RealPage], begun: Instant) -> Result:
    result = Result(violations=world.violations())
    ids = {urlsplit(identity.url).path: state.page_id for identity, state in world.read(stored_pages.listing)}
    names = {ids[_path(page)]: _path(page) for page in pages}
    found: dict[int, dict[int, ChangeSet]] = defaultdict(dict)
    for change in world.read(changes.listing, quiet=True):
        found[change.row.page_id][change.row.to_seq] = change.row.found
    for event in world.events("comparison.given_up"):
        result.not_compared.append(f"{names[event.page_id]} {event.data}")
    withheld: dict[int, dict[int, PollRow]] = defaultdict(dict)
    for poll in world.polls():
        if poll.outcome == "quarantined":
            withheld[poll.page_id].setdefault(round((poll.charged_at - begun) / HOUR), poll)
    for page in pages:
        page_id = ids[_path(page)]
        kept = {version.seq: version.sha256 for version in world.versions(page_id)}
        _judge(page, _Reported(kept, found[page_id], withheld[page_id]), result)
    return result


DATA = frozenset({"json", "xml", "csv"})
"""Kinds of bodies that are compared by their values."""


@dataclass(frozen=True, slots=True)
class _Reported:
    """What the database holds of a page: its versions' hashes and changes by sequence number,
    withheld polls by version shown.
    """

    kept: dict[int, str]
    changes: dict[int, ChangeSet]
    withheld: dict[int, PollRow]


def _judge(page: RealPage, reported: _Reported, result: Result) -> None:
    """Compare each step with its report, which must not be empty, and must turn the old words into
    the new ones.
    """
    before: Document | None = None
    seq, last = 0, -1
    for number, version in enumerate(page.versions):
        where = f"{_path(page)} version {number}"
        is_kept = reported.kept.get(seq + 1) == hashlib.sha256(version.body).hexdigest()
        if doubt := reported.withheld.get(number):
            result.doubts.append(Doubt(page, number, doubt.kind, doubt.note, is_kept))
        if not is_kept:
            if doubt is None and version.body != page.versions[last].body:
                result.lost.append(where)
            continue
        seq += 1
        document = parse(version.body, version.content_type, url="http://127.0.0.1/")
        change = reported.changes.get(seq, ChangeSet())
        if seq in reported.changes and not _says_something(change):
            result.empty.append(where)
        if is_churn(change):
            result.churn.append(where)
        if before is not None and not _leads_to(change, before, document):
            result.wrong_edits.append(where)
        if before is not None and last == number - 1:
            pair = Pair(page, number, version.label, change)
            result.pairs.append(pair if pair.agrees else replace(pair, reason=reason(pair)))
        before, last = document, number


def _leads_to(change: ChangeSet, before: Document, document: Document) -> bool:
    """Say whether the edits turn the old words into the new ones, but for what is kept as noise
    beside them.

    Data are compared by their values, whose order may mean nothing: their edits lead to the words
    that differ, not to all of them.
    """
    if document.media in DATA:
        return True
    made = apply_edits(change.edits, before.tokens, document.tokens)
    if made == document.tokens:
        return True
    noise = Counter(word for masked in change.masked for text in (masked.old, masked.new) for word in tokens_of(text))
    rest = compare_sequences(made, document.tokens)
    words = Counter(
        word
        for edit in rest
        for word in (*made[edit.old_start : edit.old_end], *document.tokens[edit.new_start : edit.new_end])
    )
    return words <= noise


def _says_something(change: ChangeSet) -> bool:
    texts = (*change.inserted, *change.deleted, *change.moved, *(text for both in change.updated for text in both))
    return bool(change) and bool(texts) and all(text.strip() for text in texts)


# -- a reading of its own ------------------------------------------------------------------------------------------------------------


_UNSEEN = re.compile(r"<!--.*?-->|<(script|style|noscript|template)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title\b.*?</title\s*>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>", re.DOTALL)
_DATES = re.compile(r"<(lastBuildDate|pubDate)\b.*?</\1\s*>", re.DOTALL)
_CHURNING = re.compile(r"[?#;].*|(?<![A-Za-z])[0-9A-Fa-f.\-_]{6,}(?![A-Za-z])|\d+", re.DOTALL)


def reason(pair: Pair) -> str:
    """Return what lies between two versions on which the index and we differ, "" if it is none of
    the known kinds.
    """
    old, new = (pair.page.versions[number] for number in (pair.number - 1, pair.number))
    before, after = old.body.decode("utf-8", "replace"), new.body.decode("utf-8", "replace")
    if pair.reported:
        if "words" not in pair.reported.kinds:
            return "" if is_churn(pair.reported) else "another link"
        return "date of the feed" if "xml" in new.content_type and _same(_DATES, before, after) else ""
    if _is_same_json(old.body, new.body):
        return "order of keys"
    if "html" not in new.content_type:
        return _between(_collapse(before), _collapse(after))
    before, after = _UNSEEN.sub(" ", before), _UNSEEN.sub(" ", after)
    first, second = _list_seen(before), _list_seen(after)
    if first == second:
        return "spelling of characters"
    first, second = _list_seen(_TITLE.sub(" ", before)), _list_seen(_TITLE.sub(" ", after))
    return "title" if first == second else _between(first, second)


def is_churn(change: ChangeSet) -> bool:
    """Return whether a change has nothing but addresses that differ in queries, sessions,
    numbers and hashes.
    """
    if not change.objects or "words" in change.kinds:
        return False
    counts: Counter[tuple[str, str]] = Counter()
    for row in change.objects:
        counts[row.kind, _CHURNING.sub("*", row.object)] += row.new - row.old
    return not any(counts.values())


def _is_same_json(before: bytes, after: bytes) -> bool:
    """Return whether both are JSON and say the same, their keys in whatever order."""
    try:
        return bool(json.loads(before) == json.loads(after))
    except ValueError:
        return False


def _same(pattern: re.Pattern[str], before: str, after: str) -> bool:
    return pattern.sub("", before) == pattern.sub("", after)


def _list_seen(source: str) -> str:
    return _collapse(html.unescape(_TAG.sub(" ", source)))


def _collapse(text: str) -> str:
    return " ".join(text.split())


def _between(before: str, after: str) -> str:
    if before == after:
        return "white space"
    return "punctuation" if _words(before) == _words(after) else ""


def _words(text: str) -> list[str]:
    """Return the words of a text: all but letters, marks, digits and symbols parts them."""
    normal = unicodedata.normalize("NFC", text)
    return "".join(character if _is_of_words(character) else " " for character in normal).split()


def _is_of_words(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character) in {"Mn", "Mc", "Me", "So", "Sc", "Sm", "No", "Nl"}
