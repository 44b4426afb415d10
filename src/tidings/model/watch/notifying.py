"""Whom to notify, when, and in which words: Notify and Errors (004 §3.7.2; R-10).

A custom message is a title and a text with placeholders, which are plain names, not expressions. A
placeholder is replaced once: its value is not scanned again, and nothing is evaluated.
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
"""Each placeholder and its value."""
_HOLE: Final = re.compile(r"\{\{(.*?)\}\}|\{\{|\{%", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Wording:
    """The custom message of a Notify clause: `title` and `text`, each empty for the default. A line
    end separates lines.
    """

    title: str = ""
    text: str = ""

    @property
    def is_json(self) -> bool:
        """Return whether the text is a JSON document, so that placeholders stand inside its
        strings.
        """
        return bool(re.match(r"\s*(?:\{(?![{%])|\[)", self.text))

    def uses(self, name: str) -> bool:
        """Return whether a placeholder occurs in the title or the text."""
        return any(name == hole for part in (self.title, self.text) for hole, _ in holes(part))


def holes(template: str) -> Iterator[tuple[str | None, int]]:
    """Yield the name and start of each placeholder; None for one that is not closed, and for a
    statement (`{%`).
    """
    for found in _HOLE.finditer(template):
        yield (None if found[1] is None else found[1].strip()), found.start()


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its placeholders replaced by values; one without a value stays as it
    is.
    """
    return _HOLE.sub(lambda found: values.get((found[1] or "").strip(), found[0]), template)


REFERENCE: Final = "secret:"
"""The prefix of an endpoint's stored address that refers to a secret; the secret's name follows. No
address begins so: they have `://` or `@`.
"""
SEALED: Final = frozenset({"webhook", "url", "apprise"})
"""Kinds of channel whose addresses may hold a token and are stored as secrets."""


def secret_of(address: str) -> str | None:
    """Return the name of the secret that an endpoint's stored address refers to, None for a literal
    address.
    """
    return address.removeprefix(REFERENCE) if address.startswith(REFERENCE) else None


@dataclass(frozen=True, slots=True)
class Channel:
    """A receiver: `email` and an address, `webhook` or `url` and a URL, `apprise` and a URL of
    Apprise, `console`, `dashboard`, `feed`, `stream`. With `is_secret`, `address` is the *name* of
    the secret that holds the address.
    """

    kind: str
    address: str = ""
    is_secret: bool = False

    @property
    def endpoint(self) -> tuple[str, str]:
        """Return kind and address as an endpoint stores them: a secret is referred to as
        `secret:NAME`.
        """
        return self.kind, f"{REFERENCE}{self.address}" if self.is_secret else self.address


@dataclass(frozen=True, slots=True)
class Rate:
    """When messages are sent.

    `immediate`: a message per change. `best_effort`: at most one message in flight per receiver;
    later changes join the next. `every`: collected changes are sent after `interval` (µs, from the
    sentinel's start) or after `changes` of them, whichever is first; 0 turns one off. `at`:
    collected changes are sent at each of `clocks` on `days`. `interactive`: when the user opens it.
    """

    mode: Literal["immediate", "every", "best_effort", "at", "interactive"]
    interval: Duration = 0
    changes: int = 0
    clocks: tuple[Clock, ...] = ()
    days: Days = DAILY


@dataclass(frozen=True, slots=True)
class Quiet:
    """Quiet hours: messages are held and sent afterwards. `ends` before `begins` is on the next
    day.
    """

    begins: Clock
    ends: Clock


@dataclass(frozen=True, slots=True)
class Cap:
    """At most `count` messages in any `per` (µs); further ones wait and are sent together."""

    count: int
    per: Duration


@dataclass(frozen=True, slots=True)
class Notify:
    """One Notify clause; without a `wording` messages have the default wording."""

    channels: tuple[Channel, ...]
    rate: Rate
    quiet: Quiet | None = None
    cap: Cap | None = None
    wording: Wording | None = None

    @property
    def is_plain(self) -> bool:
        """Return whether each change is sent by itself, independent of earlier messages: its
        message is written with the change.
        """
        return self.rate.mode == "immediate" and self.quiet is None and self.cap is None
