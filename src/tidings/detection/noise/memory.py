"""The learned noise of one page: places and addresses, how often each changed, and the verdict
(detection §4.3).

Beta counts with decay estimate how likely a thing differs at a poll. That alone would silence the
front page of a newspaper, which also differs at each poll. So a thing is noise only if it also
differed at second polls: fetches within about a minute of a poll, made for this purpose. Two polls
that happen to be close prove nothing, for a price may change between them. Content that returns to
earlier values (A, B, A) is `rotating` by the same evidence, and only while it shows known values; a
sign that returns to the shop window after a week is a change each time.

A masked thing that then stays the same for several polls is `owed`: it has settled, and is reported
once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from math import ceil, log
from typing import Any, Literal

import xxhash

from tidings.model.interval import Duration, Instant
from tidings.record import dataclass, replace

SOON: Duration = 2 * 60 * 1_000_000
"""A later second poll proves nothing about noise."""
FEWEST_POLLS = 5
LIKELY = 0.8
"""A thing that differs more often, after so many checks, is volatile."""
RETURNS = 2
"""Returns to earlier contents that make a thing rotating."""
MORE_OFTEN_THAN_NOT = 0.5
NOW_AND_THEN = 0.3
"""The least share of second polls at which a volatile and a rotating thing differed."""
STILL_ROTATING = 0.15
"""The same for a thing that is already rotating: a second poll finds the same content every other
time, and a few in a row are chance.
"""
TWICE = 1.5
"""The least number of second polls (with decay) at which it differed: a single one may have met a
real change.
"""
FEW, MORE, MANY = 3, 6, 8
"""Second polls before a thing that never differed at one is reported: normally, if it returned to
earlier content, and at most for one that did differ.
"""
SETTLED_POLLS = 5
CHANCE, CHANCE_OF_FEW = 0.001, 0.0001
"""A masked thing has settled when it stayed for so many polls, and when chance alone would make it
stay so long at most this often. A thing with few alternating contents stays often, and may stay
long.
"""
SILENT_POLLS = 10
"""If masks left out all that a sentinel would have notified in so many polls, its owner is
notified.
"""
DECAY = 0.98
"""The decay of a poll's weight at the next one."""
MOST_THINGS = 64
"""The most things stored for a page: some 30 KB."""
MOST_SEEN = 8
LONGEST_EXAMPLE = 60
_STEADY = 0.2
_MANY_POLLS = 20
_LOST = 30
_GONE = 6
SECONDS_A_MASK = 3
"""Additional second polls when known noise is not found for `_GONE` polls: the words around it were
edited, and it has a new name.
"""
_CERTAIN = 0.5

MOST_WORDS = 400
"""A longer range is not a place: advertisements are shorter, and articles must not be one."""

ORDER = "order"
"""The name of a place whose noise is only the order of its words."""
VALUES = "values"
"""The name that switches off all value classes."""

FORM = 2
"""The format of a stored memory; the first had none."""
MOST_SUBSCRIPTIONS = 40

Within = tuple[int, tuple[str, ...] | None]
Verdict = Literal["", "volatile", "rotating"]
Sort = Literal["words", "links", "images", "links.query", "images.query"]


@dataclass(frozen=True, slots=True)
class Place:
    """The words before and after a range of a page, for `places`; `longest` is the most words ever
    seen in it. Numbers among these words are equal unless `is_exact`.
    """

    before: bytes
    after: bytes
    longest: int
    is_exact: bool = False

    @property
    def id(self) -> str:
        """Return a short name, the same for the same surrounding words."""
        return xxhash.xxh3_64_hexdigest(self.before + b"\n" + self.after)[:6]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A place of the text, or a family of addresses (`name`), and its history. A place named
    `ORDER` is noise only in the order of its words.

    `changed` and `steady` count polls with decay, `quick` and `slow` the second polls at which it
    differed or did not. `seen` are digests of its newest contents, `fresh` the current one if it
    was not among them when it came. `since` is when it became noise, 0 if it is none; `lost` how
    often in a row it was not found. `wanted`: a user has asked to mask it, whatever its history;
    that is stored elsewhere. `still` counts the polls in a row at which it stayed the same, `owed`
    says that its newest change was masked. `view` is the view of the place (`views`), `template`
    its fixed words (`template`; empty: unknown). `is_spread`: at a second poll several places
    between the same words differed. `apart`: it is noise, and since the last second poll a part of
    it differed that is not.
    """

    id: str
    sort: Sort
    place: Place | None = None
    name: str = ""
    changed: float = 0.0
    steady: float = 0.0
    polls: int = 0
    quick: float = 0.0
    slow: float = 0.0
    returns: int = 0
    seen: tuple[str, ...] = ()
    fresh: str = ""
    lost: int = 0
    since: Instant = 0
    examples: tuple[str, str] = ("", "")
    wanted: bool = False
    view: str = ""
    template: tuple[str, ...] = ()
    is_spread: bool = False
    still: int = 0
    owed: bool = False
    apart: bool = False

    @property
    def likelihood(self) -> float:
        """Return the probability that it differs at a poll."""
        return (1 + self.changed) / (2 + self.changed + self.steady)

    @property
    def verdict(self) -> Verdict:
        """Return its kind of noise, empty for none. A thing with few alternating contents is
        rotating however often it changes.
        """
        if self.wanted:
            return "volatile"
        if self.quick < TWICE:
            return ""
        share = self.quick / (self.quick + self.slow)
        is_rotating = self.returns >= RETURNS and share > (STILL_ROTATING if self.since else NOW_AND_THEN)
        if is_rotating and len(self.seen) < MOST_SEEN:
            return "rotating"
        if self.differs_each_time and share > MORE_OFTEN_THAN_NOT:
            return "volatile"
        return "rotating" if is_rotating else ""

    @property
    def differs_each_time(self) -> bool:
        """Return whether it differs at nearly every poll; unless it also does at second polls, that
        may be real.
        """
        return self.polls >= FEWEST_POLLS and self.likelihood > LIKELY

    @property
    def is_doubtful(self) -> bool:
        """Return whether a second poll would decide if it is noise, or which part of it: it differs
        often, or returns, with too little evidence.
        """
        if self.verdict and self.apart:
            return True
        if self.verdict or self.changed < _CERTAIN:
            return False
        most = MANY if self.quick >= _CERTAIN else MORE if self.returns else FEW
        return self.quick + self.slow < most - 1  # with decay

    @property
    def polls_to_settle(self) -> int:
        """Return how many more polls it has to stay the same to settle; -1 if it is not owed."""
        if not self.owed or self.wanted:
            return -1
        before = max(0.0, self.steady - self.still)
        stays = 1 - (1 + self.changed) / (2 + self.changed + before)
        needed = max(SETTLED_POLLS, ceil(log(CHANCE_OF_FEW if self.returns >= RETURNS else CHANCE) / log(stays)))
        return max(0, needed - self.still)

    def covers(self, old: str, new: str) -> bool:
        """Return whether the change from one content to another (digests) is noise."""
        verdict = self.verdict
        return verdict == "volatile" or (
            verdict == "rotating" and old in self.seen and new in self.seen and new != self.fresh
        )

    def observe(
        self,
        old: str,
        new: str,
        *,
        before: int,
        is_second: bool,
        at: Instant,
        examples: tuple[str, str] = ("", ""),
        is_proof: bool = True,
    ) -> Thing:
        """Return the thing after a poll that found it in both versions; `before` polls without
        differences came first.

        A difference at a second poll proves nothing without `is_proof`.

        Args:
            old: What it showed before.
            new: What it shows now.
            is_second: Whether the poll was made to find noise, within a minute of the one before.
            at: When it was made (µs).
            examples: Texts of both versions, for people.
        """
        aged = self.rest(before)
        differs = old != new
        seen = self.seen or (old,)
        observed = replace(
            aged,
            changed=aged.changed * DECAY + differs,
            steady=aged.steady * DECAY + (not differs),
            polls=aged.polls + 1,
            quick=aged.quick * (DECAY if is_second else 1) + (is_second and differs and is_proof),
            slow=aged.slow * (DECAY if is_second else 1) + (is_second and not (differs and is_proof)),
            returns=aged.returns + (differs and new in seen),
            seen=(*(digest for digest in seen if digest != new), new)[-MOST_SEEN:],
            fresh=new if new not in seen else "" if differs else self.fresh,
            lost=0,
            still=0 if differs else aged.still + (not is_second),
            examples=(examples[0][:LONGEST_EXAMPLE], examples[1][:LONGEST_EXAMPLE]) if any(examples) else aged.examples,
        )
        owed = observed.covers(old, new) if differs else observed.owed
        since = (observed.since or at) if observed.verdict else 0
        return (
            observed if (owed, since) == (observed.owed, observed.since) else replace(observed, owed=owed, since=since)
        )

    def observe_elsewhere(self, *, before: int, differs: bool, is_second: bool) -> Thing:
        """Return the thing after a poll that did not find it, but found other places between the
        same words, which differed or not.

        An `is_spread` thing is identified by these words: its entry may have left the feed, and new
        ones take its place.
        """
        aged = self.rest(before)
        return replace(
            aged,
            changed=aged.changed * DECAY + differs,
            steady=aged.steady * DECAY + (not differs),
            quick=aged.quick * (DECAY if is_second else 1) + (is_second and differs),
            slow=aged.slow * (DECAY if is_second else 1) + (is_second and not differs),
            lost=0 if differs else self.lost + 1,
        )

    def miss(self, *, before: int) -> Thing:
        """Return the thing after a poll that did not find it in both versions."""
        return replace(self.rest(before), lost=self.lost + 1)

    @property
    def is_worth_keeping(self) -> bool:
        """Return whether it may still be noise: neither steady for long nor lost for long."""
        return self.lost < _LOST and not (self.polls >= _MANY_POLLS and self.likelihood < _STEADY)

    def rest(self, polls: int, *, is_second: bool = False) -> Thing:
        """Return the thing after polls without any difference on the page, second polls if
        `is_second`.
        """
        if polls <= 0:
            return self
        share = DECAY**polls
        steady = (1 - share) / (1 - DECAY)
        return replace(
            self,
            changed=self.changed * share,
            steady=self.steady * share + steady,
            polls=self.polls + polls,
            quick=self.quick * share if is_second else self.quick,
            slow=self.slow * share + steady if is_second else self.slow,
            still=self.still + (0 if is_second else polls),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The noise memory of a page. `polls` is the number of the poll last learned from, `seconds`
    how many second polls were asked for. `recent` has, by subscription, its newest polls with
    findings: the number of the poll, and the things that contain all of them (None: some lie
    elsewhere). `reported` are the masks of which its owner was notified. `settled` are the things
    that settled at this poll; they are not stored.
    """

    things: tuple[Thing, ...] = ()
    polls: int = 0
    seconds: int = 0
    recent: Mapping[int, tuple[Within, ...]] = field(default_factory=dict)
    reported: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    settled: tuple[str, ...] = ()

    def of(self, *sorts: Sort) -> tuple[Thing, ...]:
        """Return the things of some sorts."""
        return tuple(thing for thing in self.things if thing.sort in sorts)

    @property
    def masks(self) -> tuple[Thing, ...]:
        """Return the things that are noise."""
        return tuple(thing for thing in self.things if thing.verdict)

    @property
    def offers(self) -> tuple[Thing, ...]:
        """Return the things that are not noise by themselves, but may be masked by the user: they
        differ at nearly every poll.
        """
        return tuple(thing for thing in self.things if thing.differs_each_time and not thing.verdict)

    @property
    def suspects(self) -> bool:
        """Return whether a place differed at a second poll and it is undecided if it is noise."""
        return any(thing.quick >= _CERTAIN and thing.is_doubtful for thing in self.things)

    def with_findings(self, key: int, polls: int, within: Iterable[str] | None) -> Memory:
        """Return the memory after subscription `key` had findings at a poll."""
        names = None if within is None else tuple(sorted(within))
        newest = [one for one in self.recent.get(key, ()) if one[0] > polls - SILENT_POLLS]
        recent = {**self.recent, key: (*newest, (polls, names))[-SILENT_POLLS:]}
        if len(recent) > MOST_SUBSCRIPTIONS:  # the one without findings for longest
            del recent[min(recent, key=lambda one: recent[one][-1][0])]
        return replace(self, recent=recent)

    def silences(self, key: int, polls: int) -> frozenset[str]:
        """Return the masks that left out all recent findings of subscription `key`, if any is
        unknown to its owner.
        """
        named: set[str] = set()
        for at, names in self.recent.get(key, ()):
            if at > polls - SILENT_POLLS:
                if names is None:
                    return frozenset()
                named.update(names)
        masks = {thing.id for thing in self.masks if not thing.wanted}
        known = {thing.id for thing in self.things}
        learned = named & known
        is_new = not learned.issubset(self.reported.get(key, ()))
        return frozenset(learned) if learned and is_new and learned <= masks else frozenset()

    def settle(self) -> Memory:
        """Return the memory with the settled things listed, once."""
        ids = tuple(thing.id for thing in self.things if thing.polls_to_settle == 0)
        things = tuple(replace(thing, owed=False) if thing.id in ids else thing for thing in self.things)
        return replace(self, things=things, settled=ids)

    @property
    def settles_at(self) -> int:
        """Return the poll of the page at which something will have settled if nothing changes until
        then, 0 if nothing will.
        """
        waits = [thing.polls_to_settle for thing in self.things if thing.owed and not thing.wanted]
        return self.polls + max(1, min(waits)) if waits else 0

    def wanting(self, ids: Iterable[str]) -> Memory:
        """Return the memory with these things masked whatever their history."""
        asked = frozenset(ids)
        things = tuple(replace(thing, wanted=True) if thing.id in asked else thing for thing in self.things)
        return replace(self, things=things)

    def with_things(self, things: Iterable[Thing]) -> Memory:
        """Return the memory with these things, the most significant if there are too many."""
        worthwhile = [thing for thing in things if thing.is_worth_keeping]
        worthwhile.sort(key=lambda thing: (not thing.verdict, thing.lost, -thing.changed))
        here = {thing.id for thing in self.masks if thing.lost < _GONE}
        gone = sum(
            thing.lost >= _GONE and thing.polls >= _MANY_POLLS and not thing.is_spread and thing.id in here
            for thing in worthwhile
        )
        seconds = max(0, self.seconds - SECONDS_A_MASK * gone)
        return replace(self, things=tuple(worthwhile[:MOST_THINGS]), seconds=seconds)


def to_plain(memory: Memory) -> dict[str, Any]:
    """Return a memory as plain JSON."""
    return {
        "form": FORM,
        "polls": memory.polls,
        "seconds": memory.seconds,
        "things": [_thing_to_plain(thing) for thing in memory.things],
        "heard": [[key, [[at, names] for at, names in recent]] for key, recent in memory.recent.items()],
        "said": [[key, list(names)] for key, names in memory.reported.items()],
    }


def from_plain(plain: Mapping[str, Any]) -> Memory:
    """Return a memory as it was stored.

    What was learned from polls that happened to be close (before `FORM`) stays noise until second
    polls refute it: an upgrade reports nothing.
    """
    things = tuple(_thing_from_plain(thing) for thing in plain["things"])
    if "form" not in plain:
        things = tuple(
            replace(one, quick=TWICE + 0.5, slow=0.0) if one.since else replace(one, quick=0.0) for one in things
        )
        return Memory(polls=plain["polls"], things=things)
    return Memory(
        polls=plain["polls"],
        seconds=plain["seconds"],
        things=things,
        recent={
            key: tuple((at, None if names is None else tuple(names)) for at, names in recent)
            for key, recent in plain["heard"]
        },
        reported={key: tuple(names) for key, names in plain["said"]},
    )


_COUNTS = ("changed", "steady", "quick", "slow")
_NUMBERS = ("returns", "lost", "since")
_LATER: Mapping[str, Any] = {"still": 0, "owed": False, "view": "", "is_spread": False, "apart": False}
"""The defaults of fields that older data lacks."""


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
        if thing.place.is_exact:
            plain["place"].append(True)
    if thing.name:
        plain["name"] = thing.name
    if thing.template:
        plain["template"] = list(thing.template)
    plain |= {name: round(getattr(thing, name), 3) for name in _COUNTS}
    plain |= {name: getattr(thing, name) for name, usual in _LATER.items() if getattr(thing, name) != usual}
    return plain | {"looks": thing.polls} | {name: getattr(thing, name) for name in _NUMBERS}


def _thing_from_plain(plain: Mapping[str, Any]) -> Thing:
    place = plain.get("place")
    old, new = plain["shows"]
    return Thing(
        id=plain["id"],
        sort=plain["sort"],
        seen=tuple(plain["seen"]),
        fresh=plain["fresh"],
        examples=(old, new),
        place=None if place is None else Place(place[0].encode(), place[1].encode(), *place[2:]),
        template=tuple(plain.get("template", ())),
        name=plain.get("name", ""),
        polls=plain["looks"],
        **{name: plain[name] for name in (*_COUNTS, *_NUMBERS)},
        **{name: plain.get(name, usual) for name, usual in _LATER.items()},
    )
