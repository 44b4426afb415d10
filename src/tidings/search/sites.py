"""Whole sites: what belongs to a collection, what the first fetch of a page is worth, and traps.

A trap is addresses without end that say nothing new, known by their form and by what they turned
out to be. An address is one of a *form*: its path and the names of its parameters, with numbers
and codes left open. What pages of a form were worth decides how many more of them are asked for.

The unit of worth is a page's fresh copy, so that a first fetch and a refresh can be compared: a
refresh is worth the chance that the page has changed, plus the new pages that it is likely to name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final
from urllib.parse import unquote

import xxhash

from tidings.document.html.links import Resolver
from tidings.model.url import split_url
from tidings.record import dataclass
from tidings.search.query import terms_of

FREE: Final = 40
"""Pages of a form that are asked for before anything is known of it."""
ENOUGH: Final = 6
"""Pages of a form after which it is judged."""
LEAST_NEW: Final = 0.25
"""Which part of a form's pages must have said something new for more of them to be asked for."""
NEAR: Final = 0.9
"""Two pages whose shingles are alike by so much say the same."""
SKETCH: Final = 48
"""Shingles that a sketch keeps: those with the least hashes."""
COMPARED: Final = 200
"""Sketches of a form that a new page is compared with, the newest."""
MOST_PARAMETERS: Final = 5
MOST_SEGMENTS: Final = 16
MOST_AGAIN: Final = 3
"""So often a part of a path may stand in it."""
_NUMBER = re.compile(r"\d+")
_CODE = re.compile(r"(?=[a-z_\-]*\d)[0-9a-z_\-]{16,}|[0-9a-f]{12,}", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


def form_of(url: str) -> str:
    """Return the form of an address."""
    parts = split_url(url)
    path = "/".join(_open(segment) for segment in parts.path.split("/"))
    names = sorted(part.partition("=")[0] for part in parts.query.split("&") if part)
    return f"{parts.netloc}{path}?{'&'.join(names)}" if names else f"{parts.netloc}{path}"


def trap_of(url: str) -> str:
    """Return why an address is a trap by what it is, "" if it is none that can be seen."""
    parts = split_url(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    if len(segments) > MOST_SEGMENTS:
        return "its path does not end"
    if segments and max(Counter(segments).values()) > MOST_AGAIN:
        return "its path repeats itself"
    if parts.query.count("&") >= MOST_PARAMETERS:
        return "too many parameters"
    return ""


def sketch_of(text: str) -> str:
    """Return the least hashes of the shingles of four words of a text, in hex; numbers are left
    out, so that the months of a calendar are alike.
    """
    words = _WORD.findall(text.lower())
    shingles = {" ".join(words[at : at + 4]) for at in range(max(1, len(words) - 3))}
    return "".join(
        f"{value:08x}" for value in sorted(xxhash.xxh32_intdigest(each.encode()) for each in shingles)[:SKETCH]
    )


def likeness(a: frozenset[str], b: frozenset[str]) -> float:
    """Return how alike two texts are by the hashes of their sketches: about the Jaccard similarity,
    0 to 1.
    """
    both = sorted(a | b)[:SKETCH]
    return sum(each in a and each in b for each in both) / len(both) if both else 1.0


def _are_near(a: frozenset[str], b: frozenset[str]) -> bool:
    """Return whether two sketches are `NEAR`; most pairs have too few hashes in common for that."""
    return len(a & b) >= NEAR * max(len(a), len(b)) and likeness(a, b) >= NEAR


@dataclass(slots=True)
class FormRecord:
    """What is known of a form: how many of its pages were asked for, how many said something new,
    and the hashes in the sketches of the newest of these, by address.

    `failed` are requests without a page, which say nothing of the others: they only come later.
    """

    asked: int = 0
    new: int = 0
    failed: int = 0
    sketches: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def share_new(self) -> float:
        """Return which part of further pages is likely to say something new."""
        return (self.new + 1.0) / (self.asked + self.failed + 1.25)

    @property
    def is_trap(self) -> bool:
        """Return whether pages of this form say nothing new."""
        return self.asked >= ENOUGH and (self.new + 1.0) / (self.asked + 1.25) < LEAST_NEW

    def most_waiting(self) -> int:
        """Return how many pages of this form may be under way or waiting now."""
        return max(FREE, 4 * self.new)

    def note(self, url: str, sketch: str, *, is_new: bool = False) -> str:
        """Take a page that was asked for; return the address of the page that says the same, "" if
        none does, or if it is known to say something new.
        """
        hashes = hashes_of(sketch)
        others = () if is_new else self.sketches.items()
        twin = next((u for u, s in others if u != url and _are_near(hashes, s)), "")
        self.asked += 1
        if not twin:
            self.keep(url, hashes)
        return twin

    def recall(self, url: str, sketch: str, *, is_new: bool) -> None:
        """Take a page that was asked for in an earlier run, and whether it said something new."""
        self.asked += 1
        if is_new:
            self.keep(url, hashes_of(sketch))

    def keep(self, url: str, hashes: frozenset[str]) -> None:
        """Count a page that said something new, which later ones are compared with."""
        self.new += 1
        self.sketches[url] = hashes
        if len(self.sketches) > COMPARED:
            del self.sketches[next(iter(self.sketches))]


def _open(segment: str) -> str:
    return _NUMBER.sub("#", _CODE.sub("#", segment))


def hashes_of(sketch: str) -> frozenset[str]:
    """Return the hashes of which a sketch is made."""
    return frozenset(sketch[at : at + 8] for at in range(0, len(sketch), 8))


PER_LINK: Final = 0.85
"""What a further link away from the first pages leaves of a page's worth."""
NEWS: Final = 2.0
"""How much more a page is worth that came after its site was known: somebody waits for it."""
SOUGHT: Final = 4.0
"""How much more a page is worth whose words are all that anybody searches for."""


def worth_unseen(
    share_new: float, *, depth: int, terms: Iterable[str], sought: Mapping[str, float], is_news: bool
) -> float:
    """Return what a first fetch is worth.

    Args:
        share_new: Which part of pages of its form said something new, 0 to 1.
        depth: Links from the first pages.
        terms: The words of the link and of the address, as the index has them.
        sought: The share of each term in what is searched for.
        is_news: Whether the page that names it was known before.
    """
    relevance = min(1.0, sum(sought.get(term, 0.0) for term in set(terms)))
    return share_new * PER_LINK**depth * (1.0 + SOUGHT * relevance) * (NEWS if is_news else 1.0)


def terms_of_link(anchor: str, url: str) -> tuple[str, ...]:
    """Return the words of a link's text and of its address."""
    parts = split_url(url)
    return tuple(terms_of(f"{anchor} {unquote(parts.path).replace('/', ' ').replace('-', ' ').replace('_', ' ')}"))


def worth_refresh(chance: float, *, depth: int, importance: float, yields: float) -> float:
    """Return what a refresh is worth.

    Args:
        chance: The probability that the page has changed.
        depth: Links from the first pages.
        importance: What a change of it matters to those who search, 1 for as much as others.
        yields: New pages that it names, as is expected.
    """
    return PER_LINK**depth * importance * chance + yields


def shares(frequencies: Mapping[str, float]) -> dict[str, float]:
    """Return the share of each term in all that is searched for."""
    whole = sum(frequencies.values())
    return {term: weight / whole for term, weight in frequencies.items()} if whole > 0 else {}


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
    path = split_url(url).path
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
        if not _matches(place, url if "://" in place else path) or not (is_own or "://" in place):
            continue
        if place is not pattern and place != pattern:
            return False
        is_in = True
    return is_in


def origin_of(url: str) -> str:
    """Return scheme and host of an address."""
    return _split(url)[0]


def _matches(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern with `*` for any letters, in linear time: each part
    is taken where it comes first.
    """
    first, *parts = pattern.split("*")
    if not parts:
        return text == first
    *middle, last = parts
    if not text.startswith(first):
        return False
    at = len(first)
    for part in middle:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(text) - at >= len(last) and text.endswith(last)


def _split(url: str) -> tuple[str, str]:
    scheme, _, rest = url.partition("://")
    end = next((at for at, letter in enumerate(rest) if letter in "/?#"), len(rest))
    path = rest[end:]
    return f"{scheme}://{rest[:end]}".lower(), path if path.startswith("/") else f"/{path}"
