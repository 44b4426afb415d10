"""A version of a page (a body that counts, in the page's own numbering), and readings: the value of
a watched thing in one version, such as a price, a number or a cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final, Literal, NamedTuple

from tidings.model.interval import Instant
from tidings.record import dataclass


def version_id(page_id: int, seq: int) -> str:
    """Return the public id of a version: `PAGE.NUMBER`, which cannot be mistaken for a number
    alone.
    """
    return f"{page_id}.{seq}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One stored body of a page. `seq` counts from 1 without gaps; `sha256` names the blob;
    consecutive ones differ.

    With `frames` (how many of the page's frames are included), the blob is the list of its members
    (`member_list`), and the fields on the body describe the page that holds the frames. `words` is
    the total count. `screenshot` names the blob of its picture, if one was taken. `modified_at` is
    the server's Last-Modified, clamped between the last check and now.
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
    """A part of a version with frames: the page that holds them first, then each frame (contracts
    §3: composite version).

    `key` and `seq` identify the page and its version, `sha256` the body; the holder's own `seq` is
    0, since the version describes it.
    """

    key: str
    sha256: str
    seq: int = 0


def member_list(members: Iterable[Member]) -> bytes:
    """Return the bytes that name a version with frames: a line `key sha256` per member, in
    order.
    """
    return "".join(f"{member.key} {member.sha256}\n" for member in members).encode()


@dataclass(frozen=True, slots=True)
class Blob:
    """How the body of `sha256` is stored: a zstd frame in the row or a file under `blobs/`, whole
    (`base` empty) or as a delta against the blob `base`. `height` bounds the longest chain of
    deltas based on this one, so that no restore is long.
    """

    sha256: str
    size: int
    base: str
    height: int
    frame: bytes | None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class NewBody:
    """A new body, named by its hash, and its predecessor, which is stored as a delta against it
    from now on.

    `former` is the hash of the predecessor and `former_size` its bytes; "" and 0 if there is none.
    """

    body: bytes
    sha256: str
    former: str = ""
    former_size: int = 0


@dataclass(frozen=True, slots=True)
class Digest:
    """The digests of one extraction of one version, with the version of the rules that made them
    (contracts §4).

    `text` is the digest of the canonical text; `objects` maps a kind (links, images) to the digest
    of its multiset.
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
    """What one change type reads from a page.

    `label` names it in the words of the language (`price`, `number in css ".total"`). `texts` are
    the first of `count` values, as people read them. `amount` is the first one as a decimal number,
    empty if it is none, `unit` its currency. `head` are the column names of a table. `problem` says
    why it could not be read.
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
    """A value that a sentinel reads in version `seq` of a page, at `at` (µs); `amount` and `unit`
    as in `Reading`.
    """

    sentinel_id: int
    page_id: int
    label: str
    at: Instant
    seq: int
    text: str
    amount: str = ""
    unit: str = ""


LONGEST_HUB: Final = 2_048
"""The longest address of a hub, in characters."""


class Hub(NamedTuple):
    """The address of a hub and of the feed's topic at that hub; empty if there is none."""

    address: str = ""
    topic: str = ""
