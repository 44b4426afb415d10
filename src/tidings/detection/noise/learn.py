"""Learn from one more poll about a page's noise, and decide when a second poll is made for that
(detection §4.3).

Every known thing is located in both versions and counted; an unknown change becomes a new thing, if
the words around it identify it. Values of a class (a counter, a clock) are never learned. Counts
are of polls, including those without differences.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, chain

from tidings.detection.noise.addresses import (
    addresses_of,
    digest_of,
    families_in,
    keys_in,
    keys_that_differ,
    without_queries,
)
from tidings.detection.noise.memory import LONGEST_EXAMPLE, MOST_WORDS, ORDER, Memory, Place, Sort, Thing
from tidings.detection.noise.places import (
    Span,
    WordString,
    blocks_of,
    find,
    hunks_of,
    place_of,
    room_of,
    shuffles_of,
    sides_of,
)
from tidings.detection.noise.polls import NumberedPoll
from tidings.detection.noise.template import Neighbours, draw, stands_still
from tidings.document.document import Document
from tidings.model.observed.change import Edit
from tidings.record import replace

MOST_NEW = 32
"""The most things that one poll adds of each sort."""


def learn_from_poll(
    memory: Memory,
    old: Document,
    new: Document,
    edits: Sequence[Edit],
    poll: NumberedPoll,
    view: str = "",
    words_of: Callable[[Document], WordString] = WordString,
) -> Memory:
    """Return the memory after a poll that found `new` in place of `old`, of the whole page or of a
    `view` of it.

    `edits` are those of its words that are not mere values, `words_of` returns the words of a
    document to locate places in. The poll itself is counted once all views have been learned from
    (`polls.count_poll`).

    Args:
        poll: The poll: its number, its time, and whether it was made to find noise.
    """
    steady = max(0, poll.polls - memory.polls - 1) if memory.polls else 0
    known = [thing for thing in memory.of("words") if thing.view == view]
    others = [thing for thing in memory.of("words") if thing.view != view]
    things = [*others, *_words(known, old, new, edits, poll, steady, view, words_of)]
    addresses = memory.of("links", "images", "links.query", "images.query")
    return memory.with_things([*things, *(addresses if view else _addresses(memory, old, new, poll, steady))])


def _words(
    known: Sequence[Thing],
    old: Document,
    new: Document,
    edits: Sequence[Edit],
    poll: NumberedPoll,
    steady: int,
    view: str,
    words_of: Callable[[Document], WordString],
) -> Iterator[Thing]:
    if not known and not edits:
        return
    before, after = words_of(old), words_of(new)
    taken: list[Span] = []
    ordered: list[Span] = []
    names = _names(edits, before, after)
    several = frozenset(name for name, count in names.items() if count > 1) if poll.is_second else frozenset()
    carried: set[Neighbours] = set()
    for thing in known:
        gone = find(thing.place, before) if thing.place is not None else None
        come = find(thing.place, after) if thing.place is not None else None
        if gone is None or come is None:
            sides = sides_of(thing) if thing.is_spread and thing.verdict else frozenset()
            if sides - carried:  # one for all earlier entries
                carried |= sides
                differs = not sides.isdisjoint(names)
                yield thing.observe_elsewhere(before=steady, differs=differs, is_second=poll.is_second)
            else:
                yield thing.miss(before=steady)
            continue
        taken.append(come)
        if thing.name == ORDER:
            ordered.append(come)
        heard = _update_thing(thing, old, new, (before, gone), (after, come), poll, steady)
        is_spread = thing.is_spread or (bool(several) and not several.isdisjoint(sides_of(heard)))
        yield heard if is_spread == heard.is_spread else replace(heard, is_spread=is_spread)
    ids = {thing.id for thing in known}
    new_places = _new_places(old, new, (before, after), edits, (taken, ordered), ids, poll)
    yield from (
        replace(thing, view=view, id=thing.id if not view else digest_of((view, thing.id))[:6]) for thing in new_places
    )


def _names(edits: Sequence[Edit], old: WordString, new: WordString) -> Counter[Neighbours]:
    """Return the words around edits in both versions, with the number of edits."""
    return Counter(
        name
        for edit in edits
        if (name := new.beside(edit.new_start, edit.new_end)) is not None
        and name == old.beside(edit.old_start, edit.old_end)
    )


def _new_places(
    old: Document,
    new: Document,
    words: tuple[WordString, WordString],
    edits: Sequence[Edit],
    taken: tuple[Sequence[Span], Sequence[Span]],
    ids: AbstractSet[str],
    poll: NumberedPoll,
) -> Iterator[Thing]:
    before, after = words
    hunks = sorted(hunks_of(edits, before, after), key=lambda hunk: hunk.new_start)
    shuffled = shuffles_of(hunks, before, after)
    known, ordered = (_Spans(spans) for spans in taken)
    shuffled = [one for one in shuffled if ordered.reach(one.new_start) < one.new_end]
    moved = _Spans((one.new_start, one.new_end) for one in shuffled)
    left = sorted((edit.new_start, edit.new_end) for edit in edits if known.reach(edit.new_start) < edit.new_end)
    unknown = (
        hunk
        for hunk in blocks_of(hunks, before, after)
        if moved.reach(hunk.new_end) < hunk.new_start and _has_within(left, (hunk.new_start, hunk.new_end))
    )
    stretches = chain(((ORDER, stretch) for stretch in shuffled), (("", block) for block in unknown))
    made = 0
    for name, hunk, place in _name_stretches(stretches, hunks, before, after):
        if place.id in ids:
            continue
        gone, come = (hunk.old_start, hunk.old_end), (hunk.new_start, hunk.new_end)
        thing = Thing(id=place.id, sort="words", place=place, name=name)
        yield _update_thing(thing, old, new, (before, gone), (after, come), poll, 0)
        made += 1
        if made == MOST_NEW:
            return


def _name_stretches(
    stretches: Iterable[tuple[str, Edit]], hunks: Sequence[Edit], before: WordString, after: WordString
) -> Iterator[tuple[str, Edit, Place]]:
    """Yield the passages that the words around them identify; if none do, the hunks in it, which
    words inside the passage may identify.
    """
    for name, stretch in stretches:
        first = bisect_left(hunks, stretch.new_start, key=lambda hunk: hunk.new_start)
        last = bisect_right(hunks, stretch.new_end, key=lambda hunk: hunk.new_end)
        parts = list(hunks[first:last])
        for hunk in (stretch, *(() if parts == [stretch] else parts)):
            place = place_of(hunk, before, after, room_of(hunk, hunks, after.length))
            if place is not None:
                yield name, hunk, place
            if place is not None and hunk is stretch:
                break


class _Spans:
    """Spans, to query how far those reach that begin at or before a word."""

    def __init__(self, spans: Iterable[Span]) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        self._reaches = list(accumulate((end for _, end in ordered), max))

    def reach(self, word: int) -> int:
        """Return the last end of the spans that begin at or before `word`, -1 if there is none."""
        at = bisect_right(self._starts, word)
        return self._reaches[at - 1] if at else -1


def _has_within(spans: Sequence[Span], whole: Span) -> bool:
    """Return whether one of the sorted `spans` lies in `whole`."""
    at = bisect_left(spans, (whole[0], -1))
    while at < len(spans) and spans[at][0] <= whole[1]:
        if spans[at][1] <= whole[1]:
            return True
        at += 1
    return False


def _update_thing(
    thing: Thing,
    old: Document,
    new: Document,
    was: tuple[WordString, Span],
    now: tuple[WordString, Span],
    poll: NumberedPoll,
    steady: int,
) -> Thing:
    gone, come = was[0].digest(was[1]), now[0].digest(now[1])
    examples = ("", "")
    if gone != come:
        examples = (old.get_text(*was[1], most=LONGEST_EXAMPLE), new.get_text(*now[1], most=LONGEST_EXAMPLE))
    longest = min(max(was[1][1] - was[1][0], now[1][1] - now[1][0]), MOST_WORDS)
    if thing.place is not None and longest > thing.place.longest:
        thing = replace(thing, place=replace(thing.place, longest=longest))
    is_proof = True
    apart = thing.apart and not poll.is_second
    if thing.verdict and not poll.is_second and gone != come and not apart:
        apart = not stands_still(thing.template, was[0].of(was[1]), now[0].of(now[1]))
    if apart != thing.apart:
        thing = replace(thing, apart=apart)
    if poll.is_second and gone != come and thing.name != ORDER:
        template = draw(thing.template, was[0].of(was[1]), now[0].of(now[1]))
        is_proof = template is not None
        thing = replace(thing, template=template or thing.template)
    return thing.observe(
        gone, come, before=steady, is_second=poll.is_second, at=poll.at, examples=examples, is_proof=is_proof
    )


def _addresses(memory: Memory, old: Document, new: Document, poll: NumberedPoll, steady: int) -> Iterator[Thing]:
    for kind in ("links", "images"):
        before, after = (getattr(document, kind) for document in (old, new))
        families: Sort = "links" if kind == "links" else "images"
        queries: Sort = "links.query" if kind == "links" else "images.query"
        if before == after and old.base == new.base and not memory.of(families, queries):
            continue
        was, now = addresses_of(old, kind), addresses_of(new, kind)
        own = _root(new.base)
        yield from _group(
            memory.of(families),
            families,
            families_in(without_queries(was)),
            families_in(without_queries(now)),
            poll,
            steady,
            own,
        )
        differing = keys_that_differ(was, now)
        meant = differing | {thing.name for thing in memory.of(queries)}
        if meant:
            values = [{key: found.get(key, []) for key in meant} for found in (keys_in(was), keys_in(now))]
            yield from _group(memory.of(queries), queries, values[0], values[1], poll, steady, "")


def _group(
    known: Sequence[Thing],
    sort: Sort,
    old: Mapping[str, Sequence[str]],
    new: Mapping[str, Sequence[str]],
    poll: NumberedPoll,
    steady: int,
    own: str,
) -> Iterator[Thing]:
    """Yield the things of a sort (groups of texts by name) after a poll; `own` is a group that is
    never learned.
    """
    named = {thing.name for thing in known}
    for thing in known:
        if thing.name in old and thing.name in new:
            yield _update_group(thing, old[thing.name], new[thing.name], poll, steady)
        else:
            yield thing.miss(before=steady)
    born = [name for name in new if name in old and old[name] != new[name] and name not in named and name != own]
    for name in born[:MOST_NEW]:
        thing = Thing(id=digest_of((sort, name))[:6], sort=sort, name=name)
        yield _update_group(thing, old[name], new[name], poll, 0)


def _update_group(thing: Thing, old: Sequence[str], new: Sequence[str], poll: NumberedPoll, steady: int) -> Thing:
    gone, come = digest_of(old), digest_of(new)
    examples = (_first_of(old, new), _first_of(new, old)) if gone != come else ("", "")
    return thing.observe(gone, come, before=steady, is_second=poll.is_second, at=poll.at, examples=examples)


def _first_of(these: Sequence[str], those: Sequence[str]) -> str:
    others = set(those)
    return next((text for text in these if text not in others), "")


def _root(base: str) -> str:
    """Return the family of the root of a page's host: too large for one thing."""
    scheme, _, rest = base.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/"
