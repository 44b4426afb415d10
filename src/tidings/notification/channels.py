"""All kinds of channel that messages are sent to, and how each is built.

`dashboard`, `feed` and `stream` of the language are not here: they are read, nothing is sent to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TextIO

from tidings.notification.channel import Poster, Sender
from tidings.notification.console import Console
from tidings.notification.webhook import Webhook
from tidings.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What senders are made of: a client, the keys that sign (newest first), a deadline, a stream for people."""

    poster: Poster
    keys: tuple[bytes, ...]
    stream: TextIO
    timeout_seconds: float = 20.0


Builder = Callable[[Means], Sender]


def _webhook(means: Means) -> Sender:
    return Webhook(means.poster, means.keys, means.timeout_seconds)


def _console(means: Means) -> Sender:
    return Console(means.stream)


CHANNELS: Final[Registry[Builder]] = Registry("channel", {"webhook": _webhook, "url": _webhook, "console": _console})


def build_senders(means: Means) -> dict[str, Sender]:
    """Return one sender for each kind of channel."""
    return {kind: build(means) for kind, build in CHANNELS.items()}
