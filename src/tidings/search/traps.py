"""Traps: addresses without end that say nothing new, known by their form and by what they turned
out to be.

An address is one of a *form*: its path and the names of its parameters, with numbers and codes
left open. What pages of a form were worth decides how many more of them are asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import field
from typing import Final
from urllib.parse import urlsplit

import xxhash

from tidings.record import dataclass

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
    parts = urlsplit(url)
    path = "/".join(_open(segment) for segment in parts.path.split("/"))
    names = sorted(part.partition("=")[0] for part in parts.query.split("&") if part)
    return f"{parts.netloc}{path}?{'&'.join(names)}" if names else f"{parts.netloc}{path}"


def trap_of(url: str) -> str:
    """Return why an address is a trap by what it is, "" if it is none that can be seen."""
    parts = urlsplit(url)
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


def likeness(one: str, other: str) -> float:
    """Return how alike two texts are by their sketches: about the Jaccard similarity, 0 to 1."""
    a, b = _hashes(one), _hashes(other)
    both = sorted(a | b)[:SKETCH]
    return sum(each in a and each in b for each in both) / len(both) if both else 1.0


@dataclass(slots=True)
class FormRecord:
    """What is known of a form: how many of its pages were asked for, how many said something new,
    and the sketches of these by address.
    """

    asked: int = 0
    new: int = 0
    sketches: dict[str, str] = field(default_factory=dict)

    @property
    def share_new(self) -> float:
        """Return which part of further pages is likely to say something new."""
        return (self.new + 1.0) / (self.asked + 1.25)

    @property
    def is_trap(self) -> bool:
        """Return whether pages of this form say nothing new."""
        return self.asked >= ENOUGH and self.share_new < LEAST_NEW

    def most_waiting(self) -> int:
        """Return how many pages of this form may be under way or waiting now."""
        return max(FREE, 4 * self.new)

    def note(self, url: str, sketch: str, *, is_new: bool = False) -> str:
        """Take a page that was asked for; return the address of the page that says the same, "" if
        none does, or if it is known to say something new.
        """
        others = () if is_new else self.sketches.items()
        twin = next((u for u, s in others if u != url and likeness(sketch, s) >= NEAR), "")
        self.asked += 1
        if not twin:
            self.new += 1
            self.sketches[url] = sketch
            if len(self.sketches) > COMPARED:
                del self.sketches[next(iter(self.sketches))]
        return twin


def _open(segment: str) -> str:
    return _NUMBER.sub("#", _CODE.sub("#", segment))


def _hashes(sketch: str) -> set[str]:
    return {sketch[at : at + 8] for at in range(0, len(sketch), 8)}
