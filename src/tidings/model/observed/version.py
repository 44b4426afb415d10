"""A version of a page: a body that counts, in the page's own numbering.

Reading: the value that something watched has in one version of a page: its price, its first number, what stands in a cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal

from tidings.model.interval import Instant
from tidings.record import dataclass


def version_id(page_id: int, seq: int) -> str:
    """Return the public id of a version: `PAGE.NUMBER`, so that it is never taken for a number alone."""
    return f"{page_id}.{seq}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One stored body of a page. `seq` counts from 1 without gaps; `sha256` names the blob; consecutive ones differ.

    With `frames`, how many of the page's frames are part of it, the blob is the list of its members (`member_list`), and all that is
    said of a body is said of the page that holds the frames. `words` is how many the page had in all. `screenshot` names the blob of its picture, if one was
    taken. `modified_at` is the server's word (Last-Modified), clamped to the last check and now.
    """

    page_id: int
    seq: int
    sha256: str
    size: int
    fetched_at: Instant
    modified_at: Instant | None = None
    charset: str = ""
    charset_source: str = ""
    content_type: str = ""
    title: str = ""
    final_url: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    text_changed: bool = True
    words: int = 0
    frames: int = 0
    screenshot: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A part of a version with frames: the page that holds them first, then each frame (contracts §3: composite version).

    `key` and `seq` name the page and its version, `sha256` the body; the holder's own `seq` is 0, for it is described by the version.
    """

    key: str
    sha256: str
    seq: int = 0


def member_list(members: Iterable[Member]) -> bytes:
    """Return what a version with frames is named after: a line `key sha256` a member, in their order."""
    return "".join(f"{member.key} {member.sha256}\n" for member in members).encode()


@dataclass(frozen=True, slots=True)
class Blob:
    """How the body of `sha256` is kept: a zstd frame in the row or a file under `blobs/`, whole (`base` empty) or as a delta
    against the blob `base`. `height` bounds the longest chain of deltas that leans on this one, so that no restore is long.
    """

    sha256: str
    size: int
    base: str
    height: int
    frame: bytes | None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class NewBody:
    """A body that is new, named by its hash, and the former one of its kind, which is kept as a delta against it from now on.

    `former` is the hash of that one and `former_size` its bytes; "" and 0: there is none.
    """

    body: bytes
    sha256: str
    former: str = ""
    former_size: int = 0


@dataclass(frozen=True, slots=True)
class Digest:
    """The digests of one extraction of one version, with the version of the rules that made them (contracts §4).

    `text` is the digest of the canonical text; `objects` maps a kind (links, images) to the digest of its multiset.
    """

    extraction: str
    rules_version: int
    text: str
    objects: Mapping[str, str]


ReadingKind = Literal[
    "price", "availability", "number", "regex", "table", "list", "items", "links", "images", "terms", "text", "cell"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one change type sees of a page as it is.

    `label` names it in words of the language (`price`, `number in css ".total"`); `texts` are the first things that it sees, as people read them,
    of `count` in all. `amount` is the decimal number of the first one, empty if it is none, `unit` its currency. `head` are the names of a table's
    columns. With a `problem` it could not be read.
    """

    label: str
    kind: ReadingKind
    texts: tuple[str, ...] = ()
    count: int = 0
    amount: str = ""
    unit: str = ""
    head: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRow:
    """A value that a sentinel sees in version `seq` of a page, at `at` (µs); `amount` and `unit` as in a reading."""

    sentinel_id: int
    page_id: int
    label: str
    at: Instant
    seq: int
    text: str
    amount: str = ""
    unit: str = ""
