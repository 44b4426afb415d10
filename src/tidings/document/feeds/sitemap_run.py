"""The sitemap job, by name: imported in the parent, which parses nothing, and run where content is
parsed.
"""

from __future__ import annotations

from tidings.document.feeds.sitemaps import Sitemap, SitemapQuestion


def read(question: SitemapQuestion) -> Sitemap:
    """Return the answer of a sitemap."""
    from tidings.document.feeds.sitemap import read_sitemap  # lxml only where content is parsed

    return read_sitemap(question)
