"""Events of other origin: what tells Tidings that something happened, beside the pages that it polls (004 §1, ECA rules on any source)."""

from __future__ import annotations

from typing import Literal

from tidings.model.interval import Duration
from tidings.record import dataclass

Origin = Literal["webhook", "file", "command"]


@dataclass(frozen=True, slots=True)
class EventSource:
    """What makes an event: a `webhook` that somebody calls, a `file` whose content is read, a `command` whose output is.

    `path` is the file's, absolute; `argv` is the command with its arguments, which no shell reads. `every` is how often files and commands
    are polled (µs; None: as the setting says).
    """

    origin: Origin
    path: str = ""
    argv: tuple[str, ...] = ()
    every: Duration | None = None


@dataclass(frozen=True, slots=True)
class CreateEvent:
    """`Create Event NAME Using …`: from now on the event of this name happens whenever its source says so."""

    name: str
    source: EventSource


@dataclass(frozen=True, slots=True)
class DropEvent:
    """`Drop Event NAME`: it happens no more. Refused while a living sentinel waits for it."""

    name: str
