"""What is asked about a sitemap and what it answers; it is read where content is read (contracts §7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SitemapQuestion:
    """The body of a sitemap, and the addresses that are asked about, as they are likely to stand in it."""

    body: bytes
    wanted: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sitemap:
    """When those pages changed that were asked about and are listed, and the sitemaps that an index names; as it is written, empty where it says nothing.

    `problem` says why it could not be read to its end; what came before holds.
    """

    pages: Mapping[str, str]
    children: Mapping[str, str]
    problem: str = ""
