"""Quiet changes: which findings are reported and which only stored, and what a poll teaches about a
page's noise (detection §4).

A change whose edits are all noise is *quiet*: stored and listed, not reported. One with real parts
is reported with these, and its noise is stored beside them. The cursor moves in both cases, so that
the next comparison is with the version before it and a real edit is found in the one pair that it
lies between, never hidden by accumulated noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.job.contract import Noise, Wanted
from tidings.detection.kinds.interests import interests_of
from tidings.detection.noise.learn import learn_from_poll
from tidings.detection.noise.mask import MaskCache, NoiseMask, NoiseView, views_of, with_masked
from tidings.detection.noise.memory import Memory
from tidings.detection.noise.polls import NumberedPoll, calm, count_poll, with_second_poll
from tidings.document.document import Document
from tidings.document.select.chosen import RefusedError
from tidings.model.observed.change import ChangeSet, Edit, Masked
from tidings.model.watch.interest import Interest
from tidings.record import dataclass, replace

_ANY, _WORDS = Interest("any"), Interest("words")
_CONTENT = frozenset({"words", "body"})


@dataclass(frozen=True, slots=True)
class FilteredFindings:
    """The findings of a comparison, all noise if quiet; `within` are the things that contain all of
    them, None if some lie elsewhere.
    """

    found: ChangeSet = ChangeSet()
    is_quiet: bool = False
    within: frozenset[str] | None = None


def settle(real: ChangeSet, whole: Callable[[], ChangeSet], mask: NoiseMask) -> FilteredFindings:
    """Return what is reported and stored: `real` are the findings through a mask, `whole` computes
    those without.
    """
    if not mask.masked:
        return FilteredFindings(real)
    if real:
        return FilteredFindings(with_masked(real, mask))
    return FilteredFindings(with_masked(whole(), mask), is_quiet=True)


class Quieter:
    """The noise of one page during a job. `pair_of` returns the pair of a reference and the new
    version.
    """

    def __init__(self, noise: Noise, pair_of: Callable[[int], Pair], wanted: Sequence[Wanted] = ()) -> None:
        self._noise = noise
        self._pair_of = pair_of
        self._memory = noise.memory
        kinds = {interest.kind for one in wanted for interest in interests_of(one.expression)}
        self._interest = _ANY if "any" in kinds else _WORDS  # an earlier comparison is reused
        asked = (*noise.asked, *((one.expression, one.extraction) for one in wanted))
        self._views = dict.fromkeys(view for each in asked for view in views_of(*each))
        self._masks: dict[int, NoiseMask] = {}
        self._shared = MaskCache()
        self.learned: Memory | None = None
        """the memory after the poll, None if it taught nothing"""
        self.second_poll = False

    def learn(self, newest: int) -> None:
        """Learn from a new body that differs from the newest version."""
        noise = self._noise
        for before, after in pairwise(noise.history):
            old, new = self._pair_of(before).old, self._pair_of(after).old
            if not (old.problem or new.problem):
                at = noise.times.get(after, 0)
                poll = NumberedPoll(self._memory.polls + 1, at)
                self._take(Pair(old, new), poll, (noise.times.get(before, 0), at))
        if noise.history:
            self._memory = replace(self._memory, polls=max(0, noise.polls - 1))
        pair = self._pair_of(newest)
        if pair.old.problem or pair.old.textless or pair.new.textless:
            return
        self._take(pair, NumberedPoll(noise.polls, noise.at, noise.is_second), (noise.times.get(newest, 0), noise.at))
        if not noise.is_second and self._has_view(pair.new):
            self._memory, self.second_poll = with_second_poll(self._memory, noise.polls)
        self.learned = self._memory = self._memory.settle()

    def rest(self) -> None:
        """Learn from a new body without any difference that could be noise."""
        noise = self._noise
        if self._memory.things:
            self.learned = self._memory = calm(self._memory, NumberedPoll(noise.polls, noise.at, noise.is_second))

    def is_news(self, reference: int) -> bool:
        """Return whether any word that is not noise, or the body of a document without words,
        differs from a reference.
        """
        pair = self._pair_of(reference)
        if pair.old.problem:
            return True
        found = pair.through(self._mask(reference)).compare(self._interest)
        return any(_CONTENT.intersection(finding.kinds) for finding in found)

    def quiet(self, wanted: Wanted) -> FilteredFindings:
        """Return the findings of a requested comparison. Raise `RefusedError` if it cannot be
        made.
        """
        pair, mask = self._pair_for(wanted), self._mask(wanted.reference)
        real = evaluate(wanted.expression, pair.through(mask), wanted.extraction)
        filtered = settle(real, lambda: evaluate(wanted.expression, pair, wanted.extraction), mask)
        if not filtered.found:
            return filtered
        return replace(filtered, within=self._within(wanted, filtered, mask))

    def _pair_for(self, wanted: Wanted) -> Pair:
        known = self._pair_of(wanted.reference).knowing(frozenset(wanted.seen))
        return known.doubting(frozenset(wanted.doubted))

    def _within(self, wanted: Wanted, filtered: FilteredFindings, mask: NoiseMask) -> frozenset[str] | None:
        """Return the things that contain all of the findings, noise or not; None if some lie
        elsewhere.
        """
        if not filtered.is_quiet:
            if not self._memory.things:
                return None
            every = self._memory.wanting(thing.id for thing in self._memory.things)
            mask = NoiseMask(every, self._noise.switched_off, mask.old_at, mask.new_at, self._shared)
            if evaluate(wanted.expression, self._pair_for(wanted).through(mask), wanted.extraction):
                return None
        return frozenset(one.mask for one in mask.masked)

    def note(self, key: int, filtered: FilteredFindings) -> tuple[Masked, ...]:
        """Record the findings of a subscription; return the masks that left out all that it would
        recently have been notified of.
        """
        if not filtered.found:
            return ()
        polls = self._noise.polls or self._memory.polls
        self._memory = self._memory.with_findings(key, polls, filtered.within)
        self.learned = self._memory
        names = self._memory.silences(key, polls) if filtered.is_quiet else frozenset()
        return tuple(one for one in filtered.found.masked if one.mask in names)

    def _mask(self, reference: int) -> NoiseMask:
        noise = self._noise
        if reference not in self._masks:
            at = noise.times.get(reference, 0)
            self._masks[reference] = NoiseMask(self._memory, noise.switched_off, at, noise.at, self._shared)
        return self._masks[reference].again()

    def _take(self, pair: Pair, poll: NumberedPoll, at: tuple[int, int]) -> None:
        values = NoiseMask(Memory(), self._noise.switched_off, *at, self._shared)
        found = pair.through(values).compare(self._interest)
        words_of = self._shared.words_of
        memory = learn_from_poll(self._memory, pair.old, pair.new, _edits(found), poll, words_of=words_of)
        for view in self._views:
            if view.name and (part := _view_pair(view, pair)) is not None:
                edits = _edits(part.through(values).compare(_WORDS))
                memory = learn_from_poll(memory, part.old, part.new, edits, poll, view.name, words_of)
        self._memory = count_poll(memory, poll)

    def _has_view(self, document: Document) -> bool:
        """Return whether anybody watches a part of the page that may be noise."""
        return any(not view.name or _document(view, document) is not None for view in self._views)


def _view_pair(view: NoiseView, pair: Pair) -> Pair | None:
    """Return the pair of a view on two versions, None if it is empty or a single value."""
    old, new = _document(view, pair.old), _document(view, pair.new)
    return None if old is None or new is None else Pair(old, new)


def _document(view: NoiseView, document: Document) -> Document | None:
    try:
        return view.document(document)
    except RefusedError:  # the comparison reports it
        return None


def _edits(found: Sequence[ChangeSet]) -> list[Edit]:
    return [edit for finding in found if "words" in finding.kinds for edit in finding.edits]
