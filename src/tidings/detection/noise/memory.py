"""What was learned of the noise of one page: places and addresses, how often each changed, and what that means (detection.md §4.3).

Beta counts with decay say how likely a thing differs at a look. That alone would silence the front page of a newspaper, which differs at each look
too: so a thing is noise only if it also differed between two looks of the same few minutes, more often than not. What returns to contents that it had
before (A, B, A) is `rotating` by the same evidence, and then only while it shows what it has shown; a sign that comes back in the shop window
after a week is news each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import xxhash

from tidings.model.interval import Duration, Instant

QUICK: Duration = 5 * 60 * 1_000_000
"""Two looks no further apart are of the same few minutes."""
FEWEST_LOOKS = 5
LIKELY = 0.8
"""A thing that differs more often than so, after so many looks, is volatile."""
RETURNS = 2
"""Returns to contents seen before that make a thing rotating."""
MORE_OFTEN_THAN_NOT = 0.5
NOW_AND_THEN = 0.2
"""Share of the second looks at which a volatile and a rotating thing differed, at least."""
ENOUGH = 5
"""Second looks that tell for sure."""
DECAY = 0.98
"""What a look is worth after the next one."""
MOST_THINGS = 14
"""Things that are kept for a page: some 4 KB."""
MOST_SEEN = 8
LONGEST_EXAMPLE = 60
_STEADY = 0.2
_MANY_LOOKS = 20
_LOST = 30
_CERTAIN = 0.5

MOST_WORDS = 400
"""A longer stretch is no place: an advertisement is shorter, and an article must not be."""

ORDER = "order"
"""The name of a place that is noise in the order of its words only."""
VALUES = "values"
"""The name by which all value classes are switched off together."""

Verdict = Literal["", "volatile", "rotating"]
Sort = Literal["words", "links", "images", "links.query", "images.query"]


@dataclass(frozen=True, slots=True)
class Place:
    """The words before and after a stretch of a page, as `places` looks for them; `longest` is how many words were ever seen in it."""

    before: bytes
    after: bytes
    longest: int

    @property
    def id(self) -> str:
        """Return a short name, the same wherever the same words stand around."""
        return xxhash.xxh3_64_hexdigest(self.before + b"\n" + self.after)[:6]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A place of the text, or a family of addresses (`name`), and what was seen of it. A place of the name `ORDER` is noise only in the order of its words.

    `changed` and `steady` count looks with decay, `quick` and `slow` those of the same few minutes at which it differed or did not. `seen` are digests of its
    newest contents, `fresh` what it shows now if that was not among them when it came. `since` is when it became noise, 0 if it is none; `lost` how often in a row it was not found.
    `wanted`: somebody has asked for it to be left out, whatever was seen; that is kept elsewhere.
    """

    id: str
    sort: Sort
    place: Place | None = None
    name: str = ""
    changed: float = 0.0
    steady: float = 0.0
    looks: int = 0
    quick: float = 0.0
    slow: float = 0.0
    returns: int = 0
    seen: tuple[str, ...] = ()
    fresh: str = ""
    lost: int = 0
    since: Instant = 0
    examples: tuple[str, str] = ("", "")
    wanted: bool = False

    @property
    def likelihood(self) -> float:
        """Return how likely it differs at a look."""
        return (1 + self.changed) / (2 + self.changed + self.steady)

    @property
    def verdict(self) -> Verdict:
        """Return what kind of noise it is, empty for none. What shows a few things in turn is rotating however often it does."""
        if self.wanted:
            return "volatile"
        if self.quick < _CERTAIN:
            return ""
        share = self.quick / (self.quick + self.slow)
        is_rotating = self.returns >= RETURNS and share > NOW_AND_THEN
        if is_rotating and len(self.seen) < MOST_SEEN:
            return "rotating"
        if self.differs_each_time and share > MORE_OFTEN_THAN_NOT:
            return "volatile"
        return "rotating" if is_rotating else ""

    @property
    def differs_each_time(self) -> bool:
        """Return whether it differs at nearly every look; unless it also does within minutes, that may be news."""
        return self.looks >= FEWEST_LOOKS and self.likelihood > LIKELY

    @property
    def is_doubtful(self) -> bool:
        """Return whether a second look at the page would tell if it is noise: it differs often, or returns, and too few have told yet."""
        if self.verdict or self.changed < _CERTAIN:
            return False
        tried = self.quick + self.slow
        return tried < _CERTAIN or (tried < ENOUGH and (self.returns > 0 or self.likelihood > _CERTAIN))

    def covers(self, old: str, new: str) -> bool:
        """Return whether the change from one content to another (digests) is noise."""
        verdict = self.verdict
        return verdict == "volatile" or (
            verdict == "rotating" and old in self.seen and new in self.seen and new != self.fresh
        )

    def hear(
        self, old: str, new: str, *, before: int, is_quick: bool, at: Instant, examples: tuple[str, str] = ("", "")
    ) -> Thing:
        """Return it after a look at which it was found on both sides; `before` looks at which nothing differed came first."""
        aged = self.rest(before, is_quick=is_quick)
        differs = old != new
        seen = self.seen or (old,)
        heard = replace(
            aged,
            changed=aged.changed * DECAY + differs,
            steady=aged.steady * DECAY + (not differs),
            looks=aged.looks + 1,
            quick=aged.quick * (DECAY if is_quick else 1) + (is_quick and differs),
            slow=aged.slow * (DECAY if is_quick else 1) + (is_quick and not differs),
            returns=aged.returns + (differs and new in seen),
            seen=(*(digest for digest in seen if digest != new), new)[-MOST_SEEN:],
            fresh=new if new not in seen else "" if differs else self.fresh,
            lost=0,
            examples=(examples[0][:LONGEST_EXAMPLE], examples[1][:LONGEST_EXAMPLE]) if any(examples) else aged.examples,
        )
        if not heard.verdict:
            return replace(heard, since=0)
        return heard if heard.since else replace(heard, since=at)

    def miss(self, *, before: int) -> Thing:
        """Return it after a look at which it was not found on both sides."""
        return replace(self.rest(before), lost=self.lost + 1)

    @property
    def is_worth_keeping(self) -> bool:
        """Return whether it may be noise yet: neither steady for long nor lost for long."""
        return self.lost < _LOST and not (self.looks >= _MANY_LOOKS and self.likelihood < _STEADY)

    def rest(self, looks: int, *, is_quick: bool = False) -> Thing:
        """Return it after looks at which nothing on the page differed, each of the same few minutes as the one before if they are quick."""
        if looks <= 0:
            return self
        kept = DECAY**looks
        steady = (1 - kept) / (1 - DECAY)
        return replace(
            self,
            changed=self.changed * kept,
            steady=self.steady * kept + steady,
            looks=self.looks + looks,
            quick=self.quick * kept if is_quick else self.quick,
            slow=self.slow * kept + steady if is_quick else self.slow,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is known of the noise of a page. `polls` is how many polls it had when it was last looked at with something to learn,
    `seconds` how many second looks were asked for.
    """

    things: tuple[Thing, ...] = ()
    polls: int = 0
    seconds: int = 0

    def of(self, *sorts: Sort) -> tuple[Thing, ...]:
        """Return the things of some sorts."""
        return tuple(thing for thing in self.things if thing.sort in sorts)

    @property
    def masks(self) -> tuple[Thing, ...]:
        """Return the things that are noise."""
        return tuple(thing for thing in self.things if thing.verdict)

    @property
    def offers(self) -> tuple[Thing, ...]:
        """Return the things that are no noise by themselves, and may be taken for it: they differ at nearly every look."""
        return tuple(thing for thing in self.things if thing.differs_each_time and not thing.verdict)

    def wanting(self, ids: Iterable[str]) -> Memory:
        """Return it with these things left out whatever was seen of them."""
        asked = frozenset(ids)
        things = tuple(replace(thing, wanted=True) if thing.id in asked else thing for thing in self.things)
        return replace(self, things=things)

    def with_things(self, things: Iterable[Thing]) -> Memory:
        """Return it with these things, the most telling of them where there are too many."""
        kept = [thing for thing in things if thing.is_worth_keeping]
        kept.sort(key=lambda thing: (not thing.verdict, thing.lost, -thing.changed))
        return replace(self, things=tuple(kept[:MOST_THINGS]))


def to_plain(memory: Memory) -> dict[str, Any]:
    """Return a memory as plain JSON."""
    return {
        "polls": memory.polls,
        "seconds": memory.seconds,
        "things": [_thing_to_plain(thing) for thing in memory.things],
    }


def from_plain(plain: Mapping[str, Any]) -> Memory:
    """Return a memory as it was stored."""
    return Memory(
        polls=plain["polls"],
        seconds=plain["seconds"],
        things=tuple(_thing_from_plain(thing) for thing in plain["things"]),
    )


_COUNTS = ("changed", "steady", "quick", "slow")
_NUMBERS = ("looks", "returns", "lost", "since")


def _thing_to_plain(thing: Thing) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "id": thing.id,
        "sort": thing.sort,
        "seen": list(thing.seen),
        "fresh": thing.fresh,
        "shows": list(thing.examples),
    }
    if thing.place is not None:
        before, after = (text.decode("utf-8", "replace") for text in (thing.place.before, thing.place.after))
        plain["place"] = [before, after, thing.place.longest]
    if thing.name:
        plain["name"] = thing.name
    plain |= {name: round(getattr(thing, name), 3) for name in _COUNTS}
    return plain | {name: getattr(thing, name) for name in _NUMBERS}


def _thing_from_plain(plain: Mapping[str, Any]) -> Thing:
    place = plain.get("place")
    old, new = plain["shows"]
    return Thing(
        id=plain["id"],
        sort=plain["sort"],
        seen=tuple(plain["seen"]),
        fresh=plain["fresh"],
        examples=(old, new),
        place=None if place is None else Place(place[0].encode(), place[1].encode(), place[2]),
        name=plain.get("name", ""),
        **{name: plain[name] for name in (*_COUNTS, *_NUMBERS)},
    )
