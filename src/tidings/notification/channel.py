"""The contract of all channels: send one message, return the result.

A sender never raises for external causes: a refused connection, a slow receiver or a closed pipe is
a `Refused`. It sends once; `retry` decides when to try again, and the outbox stores it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Final, Protocol, TypeVar

from tidings.clock import Duration, Instant
from tidings.record import dataclass

PULLED: Final = frozenset({"feed", "stream"})
"""The kinds whose messages are not sent but stored, for receivers that pull them."""
LOCAL: Final = frozenset({"console"}) | PULLED
"""The kinds whose messages are taken on this machine, at once."""
KINDS: Final = frozenset({"console", "webhook", "url", "email", "apprise"}) | PULLED
"""The kinds of channel that messages are made for; `channels` has a row for each."""
MARGIN_SECONDS: Final = 5.0
"""The time that a sending process has beyond its socket's deadline, to start and to load
modules.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One attempt to deliver a message to one endpoint.

    `id` is the delivery's and the same in every attempt, so that a receiver can drop duplicates;
    `attempt` counts from 1, `sent_at` is the instant of this attempt, `sequence` the number of its
    last event. `sentinel` is the name of its sentinel, `thread` the sentinel's constant number.
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
    """The endpoint has accepted the message. `status` is its answer, if the channel has one."""

    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The message was not accepted, with the reason as a sentence for people.

    `retry` says whether another attempt makes sense, `retry_after` (µs) what the endpoint asked
    for, `busy` that it accepts nothing from anyone for now, `disable` that it wants no further
    messages. While an attempt that `holds` awaits its retry, later messages of the same sentinel
    wait for it. If it `is_ours`, nothing was sent, because this installation lacks something: a
    key, a secret, a mail server. That is no attempt, and says nothing about the endpoint.
    """

    reason: str
    retry: bool = True
    retry_after: Duration | None = None
    busy: bool = False
    disable: bool = False
    holds: bool = True
    is_ours: bool = False


Answer = Sent | Refused


class Sender(Protocol):
    """Delivers messages of one kind of channel."""

    async def send(self, message: Message) -> Sent | Refused:
        """Make one attempt; return the result."""
        ...


class PostReply(Protocol):
    """The result of a POST: the status of the answer, or none and why."""

    @property
    def status(self) -> int | None:
        """Return the status, None without an answer."""
        ...

    @property
    def retry_after(self) -> Duration | None:
        """Return the answer's Retry-After (µs from now), None if it gave none."""
        ...

    @property
    def error(self) -> str:
        """Return why the body was not accepted, as a sentence without secrets of the address."""
        ...


class MessagePoster(Protocol):
    """A client for POST: it guards addresses, follows no redirect and enforces the deadline.
    `fetching` has one; assembly passes it.
    """

    async def post(self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> PostReply:
        """Post a body; never raise for external causes.

        Args:
            url: The address.
            headers: Sent as they are.
            body: Sent as it is.
            timeout_seconds: For the whole attempt.
        """
        ...


A = TypeVar("A")


class ChildJobs(Protocol):
    """Runs jobs of libraries that open connections of their own, in a process restricted to allowed
    addresses (contracts §6).

    `isolation` has the process and `fetching` the address check; assembly joins and passes them.
    """

    async def run(self, job: Callable[[A], Answer], argument: A, *, seconds: float) -> Answer:
        """Return the job's answer; one that dies or takes longer than `seconds` is refused, to be
        retried.

        The job is importable by name and its argument can be pickled.
        """
        ...
