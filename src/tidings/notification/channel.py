"""The contract of all channels: send one message, say how it went.

A sender never raises for what the world does: a refused connection, a slow receiver or a closed pipe is a `Refused`.
It sends once; when to try again is `retry`'s to say, and the outbox remembers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Final, Protocol, TypeVar

from tidings.clock import Duration, Instant
from tidings.record import dataclass

PULLED: Final = frozenset({"feed", "stream"})
"""The kinds whose messages nobody is sent: they are laid out, and whoever wants them comes for them."""
KINDS: Final = frozenset({"console", "webhook", "url", "email", "apprise"}) | PULLED
"""The kinds of channel that messages are made for; `channels` has a row for each."""
MARGIN_SECONDS: Final = 5.0
"""A process that sends is given this much beyond the deadline of its socket, to start and to load what it needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One attempt to tell one endpoint something.

    `id` is the delivery's and the same in every attempt, so that a receiver can drop what it has had; `attempt`
    counts from 1, `sent_at` is the instant of this attempt, `sequence` the number of the last event it speaks of.
    `sentinel` is the name of the sentinel that it speaks for, `thread` what never changes of it: its number.
    """

    id: str
    address: str = field(repr=False)
    subject: str
    content_type: str
    body: bytes
    attempt: int
    sent_at: Instant
    sequence: int
    sentinel: str = ""
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """The endpoint has taken the message. `status` is its answer, if the channel has one."""

    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The message was not taken, and why, in a sentence for people.

    `retry` says whether another attempt makes sense, `retry_after` (µs) what the endpoint asked for, `busy` that it takes nothing from
    anybody for now, `disable` that it wants no more at all. While an attempt that `holds` is to be made again, later messages of the same
    sentinel wait for it.
    """

    reason: str
    retry: bool = True
    retry_after: Duration | None = None
    busy: bool = False
    disable: bool = False
    holds: bool = True


Answer = Sent | Refused


class Sender(Protocol):
    """A way to tell."""

    async def send(self, message: Message) -> Sent | Refused:
        """Make one attempt; return how it went."""
        ...


class PostReply(Protocol):
    """What came of a POST: the status of the answer, or none and why."""

    @property
    def status(self) -> int | None:
        """Return the status, None if no answer came."""
        ...

    @property
    def retry_after(self) -> Duration | None:
        """Return the answer's Retry-After (µs from now), None if it gave none."""
        ...

    @property
    def error(self) -> str:
        """Return why the body was not taken, as a sentence; it must not hold secrets of the address."""
        ...


class MessagePoster(Protocol):
    """A client that posts: it guards addresses, follows no redirect and keeps the deadline. `fetching` has one; assembly passes it."""

    async def post(self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> PostReply:
        """Post a body; never raise for what the world does.

        Args:
            url: Where to.
            headers: Sent as they are.
            body: Sent as it is.
            timeout_seconds: For the whole attempt.
        """
        ...


A = TypeVar("A")


class Errands(Protocol):
    """Runs jobs of libraries that open connections of their own, in a process that dials only what may be dialled (contracts §6).

    `isolation` has the process and `fetching` the judgement; assembly joins and passes them.
    """

    async def run(self, job: Callable[[A], Answer], argument: A, *, seconds: float) -> Answer:
        """Return what the job says; one that dies or takes longer than `seconds` is refused, to be tried again.

        The job is importable by name and its argument can be pickled.
        """
        ...
