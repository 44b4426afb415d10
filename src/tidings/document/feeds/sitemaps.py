"""The question to a sitemap and its answer; it is parsed where content is parsed (contracts §7)."""

from __future__ import annotations

from collections.abc import Mapping

from tidings.record import dataclass


@dataclass(frozen=True, slots=True)
class SitemapQuestion:
    """The body of a sitemap, and the addresses to look up, in the forms likely to occur in it."""

    body: bytes
    wanted: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The dates of change of the listed requested pages, and the sitemaps of an index; as written,
    empty if it has none.

    `problem` says why it could not be read to its end; earlier answers hold.
    """

    pages: Mapping[str, str]
    children: Mapping[str, str]
    problem: str = ""
