"""Whom to tell, and when: Notify and Errors (004 §3.7.2)."""

from __future__ import annotations

from typing import Final, Literal

from tidings.model.interval import Duration
from tidings.model.watch.timing import DAILY, Clock, Days
from tidings.model.watch.wording import Wording
from tidings.record import dataclass

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
