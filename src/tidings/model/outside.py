"""Outside events: sources beside the polled pages that report that something happened (004 §1, ECA
rules on any source).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tidings.model.interval import Duration

Origin = Literal["webhook", "file", "command"]


@dataclass(frozen=True, slots=True)
class EventSource:
    """The source of an event: a `webhook` that is called, a `file` whose content is read, a
    `command` whose output is read.

    `path` is the file's absolute path; `argv` is the command with its arguments, run without a
    shell. `every` is how often files and commands are polled (µs; None: the setting).
    """

    origin: Origin
    path: str = ""
    argv: tuple[str, ...] = ()
    every: Duration | None = None


@dataclass(frozen=True, slots=True)
class CreateEvent:
    """`Create Event NAME Using …`: the event happens whenever its source says so."""

    name: str
    source: EventSource


@dataclass(frozen=True, slots=True)
class DropEvent:
    """`Drop Event NAME`: the event ends. Refused while a living sentinel waits for it."""

    name: str
