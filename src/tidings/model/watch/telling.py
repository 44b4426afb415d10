"""Whom to tell, and when: Notify and Errors (004 §3.7.2).

A message in one's own words: a title and a text with placeholders, which are names and nothing else (R-10).

A placeholder is replaced once: what is put in its place is not read again, and nothing of it is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from tidings.model.interval import Duration
from tidings.model.watch.timing import DAILY, Clock, Days
from tidings.record import dataclass

PLACEHOLDERS: Final[Mapping[str, str]] = {
    "watch_title": "the name of the sentinel",
    "page_title": "the title of the page",
    "watch_url": "the address of the page",
    "host": "the host of the page",
    "summary": "what changed, in one line",
    "diff": "what changed, with where it stands: [-old-] and {+new+} in text, struck out and underlined in HTML",
    "diff_added": "the texts that came, a line each",
    "diff_removed": "the texts that went, a line each",
    "diff_url": "how to see the comparison",
    "current_snapshot": "the text that the sentinel watches now",
    "changes": "how many changes the message reports",
    "detected_at": "when the change was seen",
    "published_at": "when the page or the entry says that it was published, empty if it does not say",
    "tags": "the tags of the sentinel",
}
"""Each placeholder and what stands in its place."""
_HOLE: Final = re.compile(r"\{\{(.*?)\}\}|\{\{|\{%", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Wording:
    """What a Notify clause says instead of the usual message: `title` and `text`, each empty for the usual one. A line end separates lines."""

    title: str = ""
    text: str = ""

    @property
    def is_json(self) -> bool:
        """Say whether the text is a document of JSON, so that placeholders stand in its strings."""
        return bool(re.match(r"\s*(?:\{(?![{%])|\[)", self.text))

    def uses(self, name: str) -> bool:
        """Say whether a placeholder stands in the title or the text."""
        return any(name == hole for part in (self.title, self.text) for hole, _ in holes(part))


def holes(template: str) -> Iterator[tuple[str | None, int]]:
    """Yield the name of each placeholder and where it begins; None for one that is not closed, and for a statement (`{%`)."""
    for found in _HOLE.finditer(template):
        yield (None if found[1] is None else found[1].strip()), found.start()


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with values in the place of its placeholders; one that has no value stays as it is."""
    return _HOLE.sub(lambda found: values.get((found[1] or "").strip(), found[0]), template)


REFERENCE: Final = "secret:"
"""What the stored address of an endpoint begins with whose address is a secret; its name follows. No address begins so: they have `://` or `@`."""
SEALED: Final = frozenset({"webhook", "url", "apprise"})
"""The kinds of channel whose addresses may hold a token, and are kept as secrets."""


def secret_of(address: str) -> str | None:
    """Return the name of the secret that the stored address of an endpoint refers to, None for an address that is written out."""
    return address.removeprefix(REFERENCE) if address.startswith(REFERENCE) else None


@dataclass(frozen=True, slots=True)
class Channel:
    """Where news go: `email` and an address, `webhook` or `url` and a URL, `apprise` and the URL of one of Apprise's services,
    `console`, `dashboard`, `feed`, `stream`. With `is_secret`, `address` is the *name* of the secret that holds the address.
    """

    kind: str
    address: str = ""
    is_secret: bool = False

    @property
    def endpoint(self) -> tuple[str, str]:
        """Return kind and address as an endpoint has them: a secret is referred to as `secret:NAME`."""
        return self.kind, f"{REFERENCE}{self.address}" if self.is_secret else self.address


@dataclass(frozen=True, slots=True)
class Rate:
    """When news go.

    `immediate`: a message a change. `best_effort`: at most one message under way to a recipient, later changes join the next. `every`: what has
    gathered when `interval` (µs, from the sentinel's start) is over or `changes` have come, whichever is first; 0 means not by that.
    `at`: what has gathered, at each of `clocks` on `days`. `interactive`: when somebody looks.
    """

    mode: Literal["immediate", "every", "best_effort", "at", "interactive"]
    interval: Duration = 0
    changes: int = 0
    clocks: tuple[Clock, ...] = ()
    days: Days = DAILY


@dataclass(frozen=True, slots=True)
class Quiet:
    """Hours in which nothing is sent: it is held, then sent. `ends` before `begins` is on the next day."""

    begins: Clock
    ends: Clock


@dataclass(frozen=True, slots=True)
class Cap:
    """At most `count` messages in any `per` (µs); what is above waits and is sent together."""

    count: int
    per: Duration


@dataclass(frozen=True, slots=True)
class Notify:
    """One Notify clause; without a `wording` messages are as usual."""

    channels: tuple[Channel, ...]
    rate: Rate
    quiet: Quiet | None = None
    cap: Cap | None = None
    wording: Wording | None = None

    @property
    def is_plain(self) -> bool:
        """Return whether it sends each change by itself whatever was sent before: its message is written with the change."""
        return self.rate.mode == "immediate" and self.quiet is None and self.cap is None
