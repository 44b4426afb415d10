"""Types of events, and events from outside sources (004 §1, ECA rules on any source).

The event types are all that are ever written to the event log; their texts are stored and never
change. Outside events come from sources beside the polled pages.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from tidings.model.interval import Duration
from tidings.record import dataclass


class EventType(StrEnum):
    """The type of an event; its text is dotted."""

    PAGE_OK = "page.ok"
    """a page is healthy again, or was seen for the first time"""
    PAGE_ERROR = "page.error"
    """it cannot be watched for now"""
    PAGE_GONE = "page.gone"
    """it has been in error for a day"""
    PAGE_PARTIAL = "page.partial"
    """frames of it cannot be read"""
    PAGE_WHOLE = "page.whole"
    """all its frames can be read again"""
    PAGE_SATURATED = "page.saturated"
    """its content differs at every poll"""
    PAGE_MOVED = "page.moved"
    """it redirects permanently to another address"""
    PAGE_FIRST = "page.first"
    """the content of its first version, for the answer of `add`"""
    PAGE_POLLED = "page.looked"
    """a successful poll that a sentinel waited for"""
    PART_APPEARED = "part.appeared"
    """a selected part of a page was found for the first time"""
    PART_LOST = "part.lost"
    """it is missing"""
    PART_BACK = "part.back"
    """it is there again"""
    PART_HEALED = "part.healed"
    """another selector replaces the one that was lost"""
    CHANGE_FOUND = "change.found"
    """a change for a sentinel"""
    CHANGE_PART = "change.part"
    """one that is notified only together with others"""
    CHANGE_QUIET = "change.quiet"
    """one that is entirely noise"""
    COMPARISON_GIVEN_UP = "comparison.given_up"
    """two versions could not be compared"""
    SENTINEL_CREATED = "sentinel.created"
    SENTINEL_WAITING = "sentinel.waiting"
    SENTINEL_ENABLED = "sentinel.enabled"
    SENTINEL_DISABLED = "sentinel.disabled"
    SENTINEL_ENDED = "sentinel.ended"
    SENTINEL_DROPPED = "sentinel.dropped"
    SENTINEL_ALTERED = "sentinel.altered"
    SENTINEL_RENEWED = "sentinel.renewed"
    SENTINEL_CONFIRMED = "sentinel.confirmed"
    SENTINEL_APPLIED = "sentinel.applied"
    SENTINEL_PAGES = "sentinel.pages"
    """a collection has come to pages that another planner checks, or has left some"""
    SENTINEL_SILENCED = "sentinel.silenced"
    """masks left out all of its newest changes"""
    SENTINEL_NOISY = "sentinel.noisy"
    """it has too many changes"""
    SENTINEL_CALM = "sentinel.calm"
    """it has few again"""
    LIFE_NOTIFIED = "life.told"
    """its owner is notified of an end that was not requested"""
    EVENT_APPLIED = "event.applied"
    EVENT_HAPPENED = "event.happened"
    """an event from an outside source"""
    DELIVERY_DONE = "delivery.done"
    """a message that others waited for has arrived"""
    DELIVERY_DEAD = "delivery.dead"
    """one is given up"""
    ENDPOINT_OK = "endpoint.ok"
    ENDPOINT_FAILING = "endpoint.failing"
    ENDPOINT_OFF = "endpoint.off"
    STREAM_RECORD = "stream.record"
    """a record is on the stream"""
    PLAN_PRICED = "plan.priced"
    """the price that the budget makes"""
    PROBLEM_UNIT = "problem.unit"
    """a unit was refused"""
    PROBLEM_RULE = "problem.rule"
    """a rule failed"""
    PROBLEM_EVENT = "problem.event"
    """a file or command could not be polled"""
    NETWORK_UP = "network.up"
    NETWORK_DOWN = "network.down"
    NETWORK_AWAY = "network.away"
    NETWORK_BACK = "network.back"
    STORE_OUTAGE = "store.outage"
    """the database was not reachable"""
    SERVICE_STALLED = "service.stalled"
    """nothing could be stored"""
    DATA_DAMAGED = "data.damaged"
    """stored data is inconsistent"""
    DATA_RESTORED = "data.restored"
    """the data is an older copy"""
    CLOCK_WRONG = "clock.wrong"
    """the clock was wrong"""
    WEEK_REPORTED = "week.reported"
    """the figures of an owner's week"""


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
