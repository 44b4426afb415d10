"""What belongs to a collection: addresses by their patterns, and under which form an address is
one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from tidings.document.html.links import Resolver

LONGEST: Final = 1_000
"""Characters of the longest address that is followed."""
_OTHER: Final = frozenset(
    "7z avi bmp bz2 css deb dmg doc docx eot exe flac gif gz ico iso jar jpeg jpg js m4a mkv"
    " mov mp3 mp4 mpeg msi ogg otf"
    " png ppt pptx rar rpm svg tar tgz tif tiff ttf wav webm webp whl wmv woff woff2 xls xlsx xz zip".split()
)
"""Ends of paths of what is no page: no request is spent on it."""


def address_of(url: str) -> str:
    """Return the form in which an address is followed: without sessions, tracking, fragment, and
    with its parameters in order; "" for one that no request can be made for.
    """
    found = Resolver(url, "canonical").links([url])
    if not found or not found[0].startswith(("http://", "https://")) or len(found[0]) > LONGEST:
        return ""
    address, mark, query = found[0].partition("?")
    return f"{address}?{'&'.join(sorted(query.split('&')))}" if mark and query else address


def is_page(url: str) -> bool:
    """Return whether an address may be that of a page: not of a picture, a film, an archive or a
    style.
    """
    path = urlsplit(url).path
    return path.rpartition("/")[2].rpartition(".")[2].lower() not in _OTHER or "." not in path.rpartition("/")[2]


def belongs(url: str, patterns: Iterable[str], origins: Iterable[str]) -> bool:
    """Return whether an address is of a scope.

    Args:
        url: The address.
        patterns: Paths or whole addresses, with `*` for any letters; those that begin with `!`
            leave out what they match.
        origins: Scheme and host of the first pages, which patterns of paths are about.
    """
    origin, path = _split(url)
    is_own = origin in set(origins)
    is_in = False
    for pattern in patterns:
        place = pattern.removeprefix("!")
        matches = _matcher(place).fullmatch(url if "://" in place else path)
        if matches is None or not (is_own or "://" in place):
            continue
        if place is not pattern and place != pattern:
            return False
        is_in = True
    return is_in


def origin_of(url: str) -> str:
    """Return scheme and host of an address."""
    return _split(url)[0]


@lru_cache(maxsize=1_024)
def _matcher(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


def _split(url: str) -> tuple[str, str]:
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host}".lower(), slash + path or "/"
