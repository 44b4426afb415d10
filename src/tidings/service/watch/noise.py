"""Noise: the stored noise memory of a page, the second polls that separate noise from changes, and
the masks that users have switched off.

One row of `estimate` per page holds what was learned, written in the unit of the poll; another
holds the names of the masks that a user has switched off, written only by users.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from tidings.clock import MINUTE
from tidings.detection.job.contract import Noise
from tidings.detection.noise.memory import ORDER, VALUES, Memory, Thing, from_plain, to_plain
from tidings.detection.noise.polls import NumberedPoll, calm, is_soon
from tidings.document.select.extraction import extraction_of
from tidings.errors import UsageError
from tidings.model.observed.poll_reason import Why
from tidings.model.observed.unit import Estimate
from tidings.record import dataclass
from tidings.service.show.records import Record, rfc3339
from tidings.storage.observed import estimates, pages
from tidings.storage.observed.estimates import LEARNED, SWITCHED_MASKS

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.observed.page import PageState
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.db.connection import Connection

HISTORY = 8
"""Number of stored versions from which noise is learned for a page that was watched before anything
was learned.
"""


@dataclass(frozen=True, slots=True)
class Known:
    """The stored noise state of a page: what was learned, the names of masks `switched_off` off and
    `wanted` on by a user; `is_new`: nothing was learned yet.
    """

    memory: Memory = Memory()
    switched_off: frozenset[str] = frozenset()
    wanted: frozenset[str] = frozenset()
    is_new: bool = True


def read(connection: Connection, page_id: int) -> Known:
    """Return the stored noise state of a page."""
    states = estimates.of_page(connection, page_id, LEARNED, SWITCHED_MASKS)
    learned, switched = states.get(LEARNED), states.get(SWITCHED_MASKS, {})
    wanted = frozenset(switched.get("wanted", ()))
    memory = Memory() if learned is None else from_plain(learned).wanting(wanted)
    return Known(memory, frozenset(switched.get("names", ())), wanted, learned is None)


def switch(
    connection: Connection, page_id: int, off: frozenset[str], *, on: frozenset[str] = frozenset(), at: Instant
) -> None:
    """Store which masks of a page are off from now on, and which are on although they would
    not be.

    Args:
        page_id: The page.
        off: The masks that are switched off.
        on: The masks that are on although they would not be.
        at: The present (µs).
    """
    state = {"names": sorted(off), **({"wanted": sorted(on)} if on else {})}
    estimates.put(connection, [Estimate(page_id=page_id, name=SWITCHED_MASKS, state=state, at=at)])


def of_poll(known: Known, page: WatchedPage, times: Mapping[int, Instant], at: Instant, seq: int, *, why: Why) -> Noise:
    """Return the noise input of a job for a page that was just polled.

    Args:
        known: What is known of the page's noise.
        page: The page.
        times: When each version was found (µs).
        at: When the poll ended (µs).
        seq: The version that it shows.
        why: The reason of the poll.
    """
    state = page.state
    older = sorted(times)[-HISTORY:] if known.is_new else []
    return Noise(
        memory=known.memory,
        switched_off=known.switched_off,
        at=at,
        times=times,
        learns=seq > 1,
        polls=state.polls + 1,
        is_second=_shows_noise(why, state, at),
        history=tuple(older) if len(older) > 1 else (),
        asked=tuple(
            dict.fromkeys(
                (asked.expression, extraction_of(sub.owner.sentinel))
                for sub in page.subscriptions.values()
                for asked in sub.asked
            )
        ),
    )


def of_stored(known: Known, times: Mapping[int, Instant], seq: int) -> Noise:
    """Return the noise input of a job for the stored version `seq`: what is known, with nothing to
    learn.
    """
    return Noise(memory=known.memory, switched_off=known.switched_off, at=times.get(seq, 0), times=times)


def of_archive(known: Known, times: Mapping[int, Instant], before: int, seq: int) -> Noise:
    """Return the noise input of a job for a version, as if it had just come after another.

    What was learned of the page is used unchanged; if nothing was, it is learned version by
    version.

    Args:
        known: What is known of the page's noise.
        times: When each version was found (µs).
        before: The version before.
        seq: The version.
    """
    at = times.get(seq, 0)
    return Noise(
        memory=known.memory,
        switched_off=known.switched_off,
        at=at,
        times=times,
        learns=known.is_new and before > 0,
        polls=seq,
    )


def _shows_noise(why: Why, state: PageState, at: Instant) -> bool:
    """Return whether a poll shows what is noise: it was made for that, within about a minute of the
    one before.
    """
    return why is Why.SECOND and is_soon(state.checked_at or 0, at)


def is_second(why: Why, eager: Collection[int], *, is_tick: bool = False) -> bool:
    """Return whether a poll was made only to separate noise from changes: no sentinel requested it
    (`eager`), and no tick was due.
    """
    return why is Why.SECOND and not eager and not is_tick


def rest(known: Known, state: PageState, at: Instant, *, why: Why) -> Memory | None:
    """Return the noise memory after a poll without a change, None if there is none.

    Args:
        known: What is known of the page's noise.
        state: The page's state.
        at: When the poll ended (µs).
        why: The reason of the poll.
    """
    if known.is_new:
        return None
    return calm(known.memory, NumberedPoll(state.polls + 1, at, _shows_noise(why, state, at)))


def estimates_of(memory: Memory | None, page_id: int, *, at: Instant, has_second: bool = False) -> tuple[Estimate, ...]:
    """Return the page's noise memory to store, and the time of its second poll if there is one.

    Args:
        memory: The noise memory; None if there is none.
        page_id: The page.
        at: When the poll ended (µs).
        has_second: Whether a second poll follows.
    """
    if memory is None:
        return ()
    second = {"second_at": at + MINUTE} if has_second else {}
    return (Estimate(page_id=page_id, name=LEARNED, state=to_plain(memory) | second, at=at),)


def second_at(found: tuple[Estimate, ...]) -> Instant:
    """Return when a page's second poll is due, 0 if none."""
    return next((estimate.state.get("second_at", 0) for estimate in found if estimate.name == LEARNED), 0)


def find_second_polls(connection: Connection, states: Iterable[PageState], now: Instant) -> dict[int, Instant]:
    """Return the pages that a recent new version has given a second poll, and when it is due."""
    found: dict[int, Instant] = {}
    for state in states:
        if state.polled_at is not None and state.polled_at == state.changed_at and is_soon(state.polled_at, now):
            second = (estimates.get(connection, LEARNED, state.page_id) or {}).get("second_at", 0)
            found |= {state.page_id: second} if second > state.polled_at else {}
    return found


CLASSES = ("time", "count", "took", "date", "clock", VALUES)
"""The names of the value classes, and of all of them together."""


@dataclass(frozen=True, slots=True)
class PageMasks:
    """The masks of a page, the possible masks (`offers`), and the names of the masks that
    are off.
    """

    page_id: int
    url: str
    things: tuple[Thing, ...]
    switched_off: frozenset[str]
    wanted: frozenset[str] = frozenset()
    offers: tuple[Thing, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Return the names that can be switched off or on."""
        return self.switched_off | self.wanted | {*CLASSES} | {thing.id for thing in (*self.things, *self.offers)}

    def records(self, sentinel: str) -> list[Record]:
        """Return a record for each thing learned to be noise, or that a user may mask."""
        return [_record(thing, self, sentinel) for thing in (*self.things, *self.offers)]


def masks(connection: Connection, page_id: int) -> PageMasks:
    """Return the masks of a page: active, switched off, and offered."""
    known = read(connection, page_id)
    url = pages.identity(connection, page_id).given
    return PageMasks(page_id, url, known.memory.masks, known.switched_off, known.wanted, known.memory.offers)


def masks_of_page(connection: Connection, key: str) -> PageMasks | None:
    """Return the masks of the page of a key, None if there is no such page."""
    page_id = pages.find_by_key(connection, key)
    return None if page_id is None else masks(connection, page_id)


def switch_masks(
    connection: Connection, page_ids: Collection[int], *, off: Collection[str], on: Collection[str], at: Instant
) -> None:
    """Switch masks of pages off and on by name. Raises `UsageError` for an unknown name.

    Args:
        page_ids: The pages.
        off: The names of masks to switch off.
        on: The names of masks to switch on.
        at: The present (µs).
    """
    known = {page_id: masks(connection, page_id) for page_id in page_ids}
    names = {*CLASSES}.union(*(page.names for page in known.values()))
    for name in (*off, *on):
        if name not in names:
            message = f"no mask {name!r}: there are {', '.join([*sorted(names - {*CLASSES}), *CLASSES])}"
            raise UsageError(message)
    for page_id, page in known.items():
        offered = page.wanted | {thing.id for thing in page.offers}
        wanted = (page.wanted | (offered & {*on})) - {*off}
        switched_off = (page.switched_off | ((page.names - offered) & {*off})) - {*on}
        if (switched_off, wanted) != (page.switched_off, page.wanted):
            switch(connection, page_id, switched_off, on=wanted, at=at)


def where(thing: Thing) -> str:
    """Return where a thing is on the page, as text for users."""
    if thing.place is None:
        return thing.name
    before, after = (text.decode("utf-8", "replace") for text in (thing.place.before, thing.place.after))
    start = "the beginning" if before == "^" else f'"{before.removeprefix("^ ")}"'
    end = "the end" if after == "$" else f'"{after.removesuffix(" $")}"'
    return f"between {start} and {end}"


_SECOND_POLLS = "at second checks within a minute"


def why(thing: Thing) -> str:
    """Return why a thing is noise, or may be masked, as text for users."""
    if thing.verdict == "rotating":
        return f"shows the same {len(thing.seen)} contents in turn, also {_SECOND_POLLS}"
    order = "the same words in another order" if thing.name == ORDER else "something else"
    soon = f", also {_SECOND_POLLS}" if thing.verdict and not thing.wanted else ""
    asked = ", ignored because you chose it" if thing.wanted else ""
    return f"shows {order} at {round(100 * thing.likelihood)} % of checks{soon}{asked}"


def _record(thing: Thing, page: PageMasks, sentinel: str) -> Record:
    return {
        "record": "mask",
        "id": thing.id,
        "sentinel": sentinel,
        "page": str(page.page_id),
        "url": page.url,
        "of": thing.sort,
        "kind": thing.verdict or "offered",
        "where": where(thing),
        "why": why(thing),
        "showed": thing.examples[0],
        "shows": thing.examples[1],
        "since": rfc3339(thing.since or None),
        "off": thing.id in page.switched_off or not thing.verdict,
    }
