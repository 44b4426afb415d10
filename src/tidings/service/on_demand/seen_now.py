"""A sentinel's present view of its pages, from the newest stored versions, for `add` and
`apply`.

The answer of `add --url`: title, what is watched, warnings and the next poll.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tidings.detection.job.contract import Wanted
from tidings.document.select.extraction import extraction_of
from tidings.errors import BlobError
from tidings.language import expressions
from tidings.model.event_type import EventType
from tidings.model.interval import describe_duration
from tidings.model.watch.sentinel import FetchEvery
from tidings.record import dataclass, replace
from tidings.service.examine.findings import EMPTY_NOW
from tidings.service.examine.stored_versions import read_body, read_parts
from tidings.service.explain.explain_sentinel import Prospect, list_prospects, roundly
from tidings.service.on_demand.trial_on_stored import examine
from tidings.service.sentinels import register
from tidings.service.show.finding import excludes_nothing, matches_nothing, spell_count
from tidings.service.show.records import rfc3339
from tidings.service.watch import by_name
from tidings.service.watch.composite_parts import composite_parts_of
from tidings.service.watch.watchlist import meaning
from tidings.storage.observed import pages, versions
from tidings.storage.watches import events, sentinels, subscriptions

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.detection.job.contract import Facts, Part
    from tidings.isolation.runner import Runner
    from tidings.model.interval import Instant
    from tidings.model.observed.page import PageState
    from tidings.model.observed.version import Reading
    from tidings.model.watch.sentinel import Sentinel
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database


@dataclass(frozen=True, slots=True)
class SeenNow:
    """A sentinel's view of the newest version of a page; `missing` are the selected parts that it
    lacks. `facts` is None if there is no version, or it cannot be read, which `problem` says.
    """

    readings: tuple[Reading, ...] = ()
    missing: tuple[str, ...] = ()
    facts: Facts | None = None
    frames: int | None = None
    """how many frames are read with it, or will be at its next check; None for a page without"""
    problem: str = ""


async def read_stored(
    database: Database, archive: Archive, runner: Runner, sentinel: Sentinel, page_id: int, *, label: str = ""
) -> SeenNow:
    """Return a sentinel's view of the newest stored version of a page; empty if there is none.

    Args:
        database: Where versions are stored.
        archive: Where their bodies are.
        runner: Parses them.
        sentinel: The sentinel.
        page_id: The page.
        label: The sentinel's name for the page, empty for none.
    """
    parts, depth = database.read(_newest, archive, page_id)
    if not parts:
        return SeenNow()
    wanted = tuple(
        Wanted(
            key=0,
            reference=0,
            expression=one.expression,
            extraction=extraction_of(sentinel),
            number=one.number,
            shows=True,
        )
        for one in composite_parts_of(sentinel).list_asked(label)
    )
    answer = await examine(runner, parts, {}, wanted, depth)
    if isinstance(answer, str):
        return SeenNow(problem=answer)
    found = dict.fromkeys(reading for seen in answer.readings for reading in seen.readings)
    frames = len(parts) - 1 or None
    if frames is None:  # those that the page names are polled at its next check
        first = database.read(events.newest, EventType.PAGE_FIRST, page_id=page_id)
        frames = first.data.get("frames") if first is not None else None
    return SeenNow(
        tuple(found),
        tuple(name for absent in answer.absent for name in absent.names),
        facts=replace(answer.facts, note=EMPTY_NOW) if answer.suspicion == "empty" else answer.facts,
        frames=frames,
    )


def lines_of(readings: Sequence[Reading]) -> list[str]:
    """Return lines for users: a single value, or the number of things and the first of them."""
    lines: list[str] = []
    for reading in readings:
        if reading.problem or not reading.count:
            continue
        name = f"{reading.label}: " if len(readings) > 1 else ""
        if reading.count == 1 and reading.kind != "table":
            lines.append(f"{name}{reading.texts[0]}")
            continue
        if reading.kind == "terms":
            lines.append(f"{name}{', '.join(reading.texts)}")
            continue
        nouns = {"table": "rows", "list": "items", "items": "items", "regex": "matches"}
        noun = nouns.get(reading.kind, reading.kind)
        lines.append(f"{name}{reading.count:,} {noun if reading.count > 1 else noun.removesuffix('s')}")
        if any(reading.head):
            lines.append(f"  {' | '.join(reading.head)}")
        lines += [f"  {text}" for text in reading.texts]
        if reading.count > len(reading.texts):
            lines.append(f"  and {reading.count - len(reading.texts):,} more")
    return lines


def finds_nothing(seen: SeenNow) -> list[str]:
    """Return a warning for each change type that finds nothing now, unless its part of the page is
    missing, which is reported already.
    """
    found = []
    for reading in seen.readings:
        if reading.problem:
            found.append(f"{reading.label}: {reading.problem}")
        elif not reading.count and not any(reading.label.endswith(name) for name in seen.missing):
            found.append(f"{reading.label} finds nothing on the page now; you are notified when it does")
    return found


def record_of(reading: Reading) -> dict[str, Any]:
    """Return a reading for a record."""
    return {
        "what": reading.label,
        "kind": reading.kind,
        "count": reading.count,
        "first": list(reading.texts),
        "head": list(reading.head),
        "number": reading.amount,
        "unit": reading.unit,
        "problem": reading.problem,
    }


def _newest(connection: Connection, archive: Archive, page_id: int) -> tuple[tuple[Part, ...], int]:
    identity = pages.identity(connection, page_id)
    seq = pages.state(connection, page_id).last_seq
    version = versions.get(connection, page_id, seq) if seq else None
    if version is None:
        return (), 0
    try:
        body = read_body(connection, archive, page_id, seq)
        return read_parts(connection, archive, identity, version, body), identity.frames
    except (BlobError, LookupError):
        return (), 0


SCRIPTS_ONLY = (
    "the page is made by scripts: without a browser there is next to nothing to compare;"
    " the clause `Render browser` watches what a browser shows (docs/howto/rendered-pages.md)"
)
NOTHING_SEEN = SeenNow()


def page_ids(connection: Connection, sentinel_id: int) -> list[int]:
    """Return the pages of a sentinel."""
    return [s.page_id for s in subscriptions.listing(connection, sentinel_id=sentinel_id)]


def answer(
    connection: Connection, sentinel_id: int, *, settings: Settings, now: Instant, seen_now: SeenNow = NOTHING_SEEN
) -> dict[str, Any]:
    """Return the title, what is watched, the first words, the present values, warnings and the next
    poll of a sentinel's first page.

    Args:
        connection: The transaction.
        sentinel_id: The sentinel's number.
        settings: The settings in use.
        now: The present (µs).
        seen_now: Its present view of the page.
    """
    row = sentinels.get(connection, sentinel_id)
    sentinel = meaning(row.text)
    (page_id, *_) = page_ids(connection, sentinel_id)
    identity, state = pages.get(connection, page_id)
    coming = list_prospects(connection, row, find=by_name.lives(connection, dropped=True), settings=settings, now=now)
    poll = next((prospect for prospect in coming if prospect.what == "check"), None)
    return {
        "url": identity.given,
        "title": state.title,
        "monitor": expressions.to_text(sentinel.monitor),
        "watched": _describe_monitor(sentinel, seen_now),
        "first_words": seen_now.facts.first_words if seen_now.facts is not None else "",
        "now": [record_of(reading) for reading in seen_now.readings],
        "outcome": "ok" if state.last_seq else state.kind or "not checked yet",
        "next_look": rfc3339(None if poll is None else poll.at),
        "pace": _pace(sentinel, poll),
        "also_watched_by": register.watching(connection, sentinel_id),
        "warnings": [
            *_warnings(state, seen_now, sentinel),
            *missing(connection, sentinel_id, page_id, sentinel),
            *finds_nothing(seen_now),
        ],
    }


def page_answer(connection: Connection, sentinel_id: int, page_id: int, seen_now: SeenNow) -> list[str]:
    """Return notes for the user on a page that a new sentinel watches.

    Args:
        connection: The transaction.
        sentinel_id: The sentinel's number.
        page_id: The page's number.
        seen_now: Its present view of the page.
    """
    _, state = pages.get(connection, page_id)
    sentinel = meaning(sentinels.get(connection, sentinel_id).text)
    return [
        *_warnings(state, seen_now, sentinel),
        *missing(connection, sentinel_id, page_id, sentinel),
        *finds_nothing(seen_now),
    ]


def _describe_monitor(sentinel: Sentinel, seen: SeenNow) -> str:
    what, facts = expressions.to_text(sentinel.monitor), seen.facts
    if facts is None:
        return what
    frames = f", {spell_count(seen.frames, 'frame')}" if seen.frames else ""
    return f"{what} ({describe_page(facts.words, facts.links, facts.images)} now{frames})"


def _pace(sentinel: Sentinel, poll: Prospect | None) -> str:
    if isinstance(sentinel.fetch, FetchEvery):
        return f"every {describe_duration(sentinel.fetch.interval)}"
    if poll is None or poll.every is None:
        return "on request"
    return f"about every {describe_duration(roundly(poll.every))}"


def _warnings(state: PageState, seen: SeenNow, sentinel: Sentinel) -> list[str]:
    found = []
    if state.kind:
        found.append(f"{state.reason or state.kind}; Tidings tries again, and notifies you when it succeeds")
    if seen.problem:
        found.append(seen.problem)
    if (facts := seen.facts) is not None:
        scripts_only = facts.scripts_only and not _reads_data(sentinel)
        found += page_warnings(scripts_only=scripts_only, login=facts.login, problem="", note=facts.note)
    return found


def missing(connection: Connection, sentinel_id: int, page_id: int, sentinel: Sentinel) -> list[str]:
    """Return messages about the parts that a sentinel selects or excludes and that the page lacks,
    or can never have (W7).

    Args:
        sentinel_id: The sentinel.
        page_id: The page, which has been polled.
        sentinel: What the sentinel means.
    """
    subs = subscriptions.listing(connection, sentinel_id=sentinel_id, page_id=page_id)
    names = [name for sub in subs if sub.missing is not None for name in sub.missing.names]
    media = events.media_of(connection, page_id) if names or sentinel.exclude else ""
    return [*(matches_nothing(name, media) for name in names), *excludes_nothing(sentinel, media)]


def _reads_data(sentinel: Sentinel) -> bool:
    """Return whether a page's scripts are searched for data: it needs no browser."""
    of_data = 'jsonpath "' in expressions.to_text(sentinel.monitor)
    return of_data or (sentinel.select is not None and sentinel.select.language == "jsonpath")


def page_warnings(*, scripts_only: bool, login: bool, problem: str, note: str = "") -> list[str]:
    """Return warnings about a page with these properties.

    Args:
        scripts_only: Whether the page is empty without scripts.
        login: Whether it asks for a login.
        problem: Why it cannot be read, empty if it can.
        note: A further note, empty for none.
    """
    found = []
    if scripts_only:
        found.append(SCRIPTS_ONLY)
    if login:
        found.append("the page asks to log in: what is watched may be the login form (docs/howto/logins.md)")
    return [*found, *filter(None, (problem, note))]


def describe_page(words: int, links: int, images: int) -> str:
    """Return the size of a page in words."""
    return f"{spell_count(words, 'word')}, {spell_count(links, 'link')}, {spell_count(images, 'image')}"
