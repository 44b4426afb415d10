"""The job on a sitemap, by name: imported in the parent, which parses nothing, and run where content is read."""

from __future__ import annotations

from tidings.document.feeds.sitemaps import Sitemap, SitemapQuestion


def read(question: SitemapQuestion) -> Sitemap:
    """Return what a sitemap says."""
    from tidings.document.feeds.sitemap import read_sitemap  # lxml, where content is read alone

    return read_sitemap(question)
