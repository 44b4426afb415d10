"""Whom to notify, and when: Notify and Errors (004 §3.7.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tidings.model.interval import Duration
from tidings.model.watch.timing import DAILY, Clock, Days
from tidings.model.watch.wording import Wording

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
