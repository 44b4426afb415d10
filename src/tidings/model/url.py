"""The parts of an address that anybody may have written."""

from __future__ import annotations

from urllib.parse import SplitResult, urljoin, urlsplit


def split_url(text: str) -> SplitResult:
    """Return the parts of an address; one that cannot be read (`http://[`) has only a path, the
    text itself.
    """
    try:
        return urlsplit(text)
    except ValueError:
        return SplitResult("", "", text, "", "")


def join_url(base: str, text: str) -> str:
    """Return the address that a text means on a page at `base`, empty if it cannot be read."""
    try:
        return urljoin(base, text)
    except ValueError:
        return ""
