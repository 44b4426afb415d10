"""Noise: what is remembered of a page's noise between looks, the second looks that tell it from news, and what people have switched off.

One row of `estimate` a page holds what was learned, written in the unit of the look that taught it; another holds the names of masks that somebody
has switched off, written by nobody but them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from tidings.clock import MINUTE
from tidings.detection.job.contract import Noise
from tidings.detection.noise.learn import Looked, calm, is_soon
from tidings.detection.noise.memory import ORDER, VALUES, Memory, Thing, from_plain, to_plain
from tidings.document.select.extraction import extraction_of
from tidings.errors import UsageError
from tidings.model.observed.poll_reason import Why
from tidings.model.observed.unit import Estimate
from tidings.record import dataclass
from tidings.service.show.masked_places import KEPT, LEARNED
from tidings.service.show.records import Record, rfc3339
from tidings.storage.observed import estimates, pages

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.observed.page import PageState
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.db.connection import Connection

HISTORY = 8
"""So many stored versions teach what is known of a page that was watched before anything was learned."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is stored of a page's noise: what was learned, the names of masks that are `kept` off and of those that are `wanted` on by
    somebody; `is_new`: nothing was learned yet.
    """

    memory: Memory = Memory()
    kept: frozenset[str] = frozenset()
    wanted: frozenset[str] = frozenset()
    is_new: bool = True


def read(connection: Connection, page_id: int) -> Known:
    """Return what is known of a page's noise."""
    states = estimates.of_page(connection, page_id, LEARNED, KEPT)
    learned, said = states.get(LEARNED), states.get(KEPT, {})
    wanted = frozenset(said.get("wanted", ()))
    memory = Memory() if learned is None else from_plain(learned).wanting(wanted)
    return Known(memory, frozenset(said.get("names", ())), wanted, learned is None)


def switch(
    connection: Connection, page_id: int, off: frozenset[str], *, on: frozenset[str] = frozenset(), at: Instant
) -> None:
    """Write which masks of a page are off from now on, and which on that would be none."""
    state = {"names": sorted(off), **({"wanted": sorted(on)} if on else {})}
    estimates.put(connection, [Estimate(page_id=page_id, name=KEPT, state=state, at=at)])


def of_look(known: Known, page: WatchedPage, times: Mapping[int, Instant], at: Instant, seq: int, *, why: Why) -> Noise:
    """Return what a job is told of the noise of a page that was just looked at, for a reason `why`, and shows its version `seq`."""
    state = page.state
    older = sorted(times)[-HISTORY:] if known.is_new else []
    return Noise(
        memory=known.memory,
        kept=known.kept,
        at=at,
        times=times,
        learns=seq > 1,
        polls=state.polls + 1,
        is_second=_says_noise(why, state, at),
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
    """Return what a job is told of the noise of a page whose stored version `seq` is taken: what is known, and nothing to be learned."""
    return Noise(memory=known.memory, kept=known.kept, at=times.get(seq, 0), times=times)


def of_archive(known: Known, times: Mapping[int, Instant], before: int, seq: int) -> Noise:
    """Return what a job is told of the noise of a page whose version `seq` is looked at as if it had just come after version `before`.

    What was learned of the page is used as it is; where nothing was, it is learned version by version.
    """
    at = times.get(seq, 0)
    return Noise(
        memory=known.memory,
        kept=known.kept,
        at=at,
        times=times,
        learns=known.is_new and before > 0,
        polls=seq,
    )


def _says_noise(why: Why, state: PageState, at: Instant) -> bool:
    """Return whether a look says what is noise: it was made for that, within about a minute of the one before."""
    return why is Why.SECOND and is_soon(state.checked_at or 0, at)


def is_second(why: Why, eager: Collection[int]) -> bool:
    """Return whether a look was made only to tell noise from news: `eager` are the sentinels that asked for it themselves."""
    return why is Why.SECOND and not eager


def rest(known: Known, state: PageState, at: Instant, *, why: Why) -> Memory | None:
    """Return what is known after a look that found nothing changed, None if nothing is."""
    if known.is_new:
        return None
    return calm(known.memory, Looked(state.polls + 1, at, _says_noise(why, state, at)))


def estimates_of(memory: Memory | None, page_id: int, *, at: Instant, has_second: bool = False) -> tuple[Estimate, ...]:
    """Return what is known of a page's noise, to be stored, and when the page is to be looked at a second time if it is."""
    if memory is None:
        return ()
    second = {"second_at": at + MINUTE} if has_second else {}
    return (Estimate(page_id=page_id, name=LEARNED, state=to_plain(memory) | second, at=at),)


def second_at(found: tuple[Estimate, ...]) -> Instant:
    """Return when a page is to be looked at a second time, 0 if it is not."""
    return next((estimate.state.get("second_at", 0) for estimate in found if estimate.name == LEARNED), 0)


def second_looks(connection: Connection, states: Iterable[PageState], now: Instant) -> dict[int, Instant]:
    """Return which pages, by a look that brought a version just now, are to be looked at a second time, and when."""
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
    """What is masked of a page, what may be (`offers`), and the names of the masks that are off."""

    page_id: int
    url: str
    things: tuple[Thing, ...]
    kept: frozenset[str]
    wanted: frozenset[str] = frozenset()
    offers: tuple[Thing, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Return the names that can be switched off or on."""
        return self.kept | self.wanted | {*CLASSES} | {thing.id for thing in (*self.things, *self.offers)}

    def records(self, sentinel: str) -> list[Record]:
        """Return a record for each thing that was learned to be noise, or that somebody may take for it."""
        return [_record(thing, self, sentinel) for thing in (*self.things, *self.offers)]


def masks(connection: Connection, page_id: int) -> PageMasks:
    """Return what is masked of a page: what is noise now, what would be and is switched off, and what may be masked."""
    known = read(connection, page_id)
    url = pages.identity(connection, page_id).given
    return PageMasks(page_id, url, known.memory.masks, known.kept, known.wanted, known.memory.offers)


def masks_of_page(connection: Connection, key: str) -> PageMasks | None:
    """Return what is masked of the page of a key, None if there is no such page."""
    page_id = pages.find_by_key(connection, key)
    return None if page_id is None else masks(connection, page_id)


def switch_masks(
    connection: Connection, page_ids: Collection[int], *, off: Collection[str], on: Collection[str], at: Instant
) -> None:
    """Switch masks of pages off and on by their names; raises `UsageError` if one is none of theirs."""
    known = {page_id: masks(connection, page_id) for page_id in page_ids}
    names = {*CLASSES}.union(*(page.names for page in known.values()))
    for name in (*off, *on):
        if name not in names:
            message = f"no mask {name!r}: there are {', '.join([*sorted(names - {*CLASSES}), *CLASSES])}"
            raise UsageError(message)
    for page_id, page in known.items():
        offered = page.wanted | {thing.id for thing in page.offers}
        wanted = (page.wanted | (offered & {*on})) - {*off}
        kept = (page.kept | ((page.names - offered) & {*off})) - {*on}
        if (kept, wanted) != (page.kept, page.wanted):
            switch(connection, page_id, kept, on=wanted, at=at)


def where(thing: Thing) -> str:
    """Return where a thing stands, for people."""
    if thing.place is None:
        return thing.name
    before, after = (text.decode("utf-8", "replace") for text in (thing.place.before, thing.place.after))
    start = "the beginning" if before == "^" else f'"{before.removeprefix("^ ")}"'
    end = "the end" if after == "$" else f'"{after.removesuffix(" $")}"'
    return f"between {start} and {end}"


_SECOND_LOOKS = "at second checks within a minute"


def why(thing: Thing) -> str:
    """Return why a thing is noise, or may be taken for it, for people."""
    if thing.verdict == "rotating":
        return f"shows the same {len(thing.seen)} things in turn, also {_SECOND_LOOKS}"
    order = "the same words in another order" if thing.name == ORDER else "something else"
    soon = f", also {_SECOND_LOOKS}" if thing.verdict and not thing.wanted else ""
    asked = ", left out since you asked for it" if thing.wanted else ""
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
        "off": thing.id in page.kept or not thing.verdict,
    }
