"""One step: an occurrence is spread over the graph, and the rules that receive a detection fire
(sentinels §3.4).

Immediate and detached rules fire by priority, then by age. The events that they raise are queued
and processed in order, each in the same way, at the same instant. The deferred rules come last,
once for all their detections; what they raise is processed likewise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from tidings.events.graph import Graph, Journal, listeners_above, reach_of
from tidings.events.occurrence import Occurrence
from tidings.events.operators.clocks import PeriodicNode
from tidings.events.operators.node import Node
from tidings.events.rule import (
    NOTHING,
    Action,
    Condition,
    Coupling,
    EngineOutcome,
    Firing,
    Raised,
    Retuned,
    Rule,
    RuleId,
    RuleProblem,
)
from tidings.events.timers import NodeTimer
from tidings.model.interval import Duration

MOST_DEPTH: Final = 32
"""The longest chain of events that raise one another."""
MOST_RAISED: Final = 100_000
"""The most events raised in one step, at any depth."""


class RuleEntry:
    """A rule in the engine. `flag` says why it does not fire, empty if it does."""

    __slots__ = ("action", "acts", "condition", "flag", "group", "id", "node", "order", "rule")

    def __init__(self, rule: Rule, number: int, condition: Condition | None, action: Action | None) -> None:
        self.rule = rule
        self.id = rule.id
        self.group = rule.group
        self.order = (-rule.priority, number, rule.id)
        self.condition = condition
        self.action = action
        self.acts = rule.coupling is Coupling.DEFERRED or (action is not None and rule.coupling is Coupling.IMMEDIATE)
        self.flag = ""
        self.node: Node


class OutcomeDraft:
    """An outcome in the making."""

    __slots__ = ("detached", "effects", "firings", "problems", "raised", "retuned")

    def __init__(self) -> None:
        self.firings: list[Firing] = []
        self.detached: list[Firing] = []
        self.effects: list[Any] = []
        self.problems: list[RuleProblem] = []
        self.retuned: list[Retuned] = []
        self.raised: deque[tuple[Raised, int, RuleEntry]] = deque()

    def add(self, other: OutcomeDraft) -> None:
        """Append another draft."""
        self.firings += other.firings
        self.detached += other.detached
        self.effects += other.effects
        self.problems += other.problems

    def outcome(self) -> EngineOutcome:
        """Return the outcome so far."""
        if not self.firings and not self.problems:
            return NOTHING
        return EngineOutcome(tuple(self.firings), tuple(self.detached), tuple(self.effects), tuple(self.problems))


class _ActionFailed(Exception):  # noqa: N818 - it never leaves this module
    def __init__(self, entry: RuleEntry, text: str) -> None:
        super().__init__(text)
        self.entry = entry


class Steps:
    """Takes steps in a graph. `changed` are the groups whose waiting state may have changed."""

    def __init__(self, graph: Graph, find: Callable[[RuleId], RuleEntry]) -> None:
        self.changed: set[str] = set()
        self.is_in_step = False
        self._find = find
        self._graph = graph
        self._timers = graph.timers

    def take(self, node: Node, found: Iterable[Occurrence], timer: NodeTimer | None, draft: OutcomeDraft) -> None:
        """Process a primitive event or a timer, and all that follows from it.

        Args:
            node: The node where it starts.
            found: The occurrences.
            timer: The timer that fired, None for an event.
            draft: The outcome, to be extended.
        """
        reach = node.reach or reach_of(node)
        if reach.groups:
            self.changed.update(reach.groups)
        depth = self._timers.depth = 0 if timer is None else timer.depth
        if not reach.acts:
            if timer is not None:
                found = node.fire(timer.clock)
            for entry, occurrence in _sort_triggered(self._graph.spread(node, found)):
                self._fires(entry, (occurrence,), draft)
            return
        self.is_in_step = True
        try:
            while not self._try_step(node, found, timer, depth, draft):
                pass
        finally:
            self.is_in_step = False

    def _try_step(
        self, node: Node, found: Iterable[Occurrence], timer: NodeTimer | None, depth: int, draft: OutcomeDraft
    ) -> bool:
        """Return whether the step was done; if not it was undone, and the failed rule is
        flagged.
        """
        journal: Journal = {}
        trial = OutcomeDraft()
        try:
            if timer is not None:
                node, found = self._graph.fire(timer, journal)
            self._cascade(node, found, depth, journal, trial, draft)
        except _ActionFailed as failure:
            self._graph.roll_back(journal)
            self._flag(failure.entry, "action", str(failure), draft)
            return False
        draft.add(trial)
        for retuned in trial.retuned:
            self.retune(self._find(retuned.rule), retuned.period)
        return True

    def _cascade(
        self,
        node: Node,
        found: Iterable[Occurrence],
        depth: int,
        journal: Journal,
        trial: OutcomeDraft,
        draft: OutcomeDraft,
    ) -> None:
        deferred: dict[RuleId, tuple[RuleEntry, list[Occurrence], int]] = {}
        raised = 0
        while True:
            for entry, occurrence in _sort_triggered(self._graph.spread(node, found, journal)):
                if entry.rule.coupling is Coupling.DEFERRED:
                    _, occurrences, deepest = deferred.get(entry.id, (entry, [], 0))
                    occurrences.append(occurrence)
                    deferred[entry.id] = (entry, occurrences, max(depth, deepest))
                elif (firing := self._fires(entry, (occurrence,), trial)) is not None:
                    self._act(entry, firing, depth, trial)
            while True:
                if not trial.raised and deferred:
                    batch, deferred = sorted(deferred.values(), key=lambda item: item[0].order), {}
                    for entry, occurrences, deepest in batch:
                        if (firing := self._fires(entry, tuple(occurrences), trial)) is not None:
                            self._act(entry, firing, deepest, trial)
                if not trial.raised:
                    return
                event, depth, cause = trial.raised.popleft()
                raised += 1
                if depth > MOST_DEPTH or raised > MOST_RAISED:
                    limit = f"{MOST_DEPTH} deep" if depth > MOST_DEPTH else f"{MOST_RAISED:,} in one step"
                    self._flag(cause, "cascade", f"events raised one another {limit}; {event.type} was dropped", draft)
                elif (leaf := self._graph.leaves.get(event.type)) is not None:
                    node, found = leaf, (Occurrence.at(event.type, self._timers.now, event.params),)
                    self.changed.update(reach_of(leaf).groups)
                    self._timers.depth = depth
                    break

    def _fires(self, entry: RuleEntry, occurrences: tuple[Occurrence, ...], draft: OutcomeDraft) -> Firing | None:
        """Return the firing of a rule for the occurrences whose condition holds, None if there are
        none.
        """
        if entry.flag:
            return None
        now = self._timers.now
        if entry.condition is not None:
            occurrences = tuple(
                occurrence
                for occurrence in occurrences
                if self._holds(entry, entry.condition, Firing(entry.rule, now, (occurrence,)), draft)
            )
            if not occurrences:
                return None
        firing = Firing(entry.rule, now, occurrences)
        draft.firings.append(firing)
        if entry.rule.coupling is Coupling.DETACHED:
            draft.detached.append(firing)
        return firing

    def _holds(self, entry: RuleEntry, condition: Condition, firing: Firing, draft: OutcomeDraft) -> bool:
        try:
            return bool(condition(firing))
        except Exception as error:  # noqa: BLE001 - a failing condition is reported and must not stop other rules
            draft.problems.append(RuleProblem("condition", entry.id, self._timers.now, _describe(error)))
            return False

    def _act(self, entry: RuleEntry, firing: Firing, depth: int, trial: OutcomeDraft) -> None:
        """Run the action of a rule and process its result."""
        if entry.action is None or entry.rule.coupling is Coupling.DETACHED:
            return
        try:
            for effect in entry.action(firing) or ():
                match effect:
                    case Raised():
                        trial.raised.append((effect, depth + 1, entry))
                    case Retuned():
                        self._clock_of(self._find(effect.rule), effect.period)
                        trial.retuned.append(effect)
                    case _:
                        trial.effects.append(effect)
        except Exception as error:
            raise _ActionFailed(entry, _describe(error)) from error

    def _flag(self, entry: RuleEntry, kind: str, text: str, draft: OutcomeDraft) -> None:
        if not entry.flag:
            entry.flag = f"{kind}: {text}"
            self.changed.add(entry.group)
            draft.problems.append(RuleProblem(kind, entry.id, self._timers.now, text))

    def _clock_of(self, entry: RuleEntry, period: Duration) -> PeriodicNode:
        """Return the one P or P* of a rule. Raise `ValueError` if there is none or several, or the
        period is invalid.
        """
        nodes = {node.number: node for node in self._graph.below(entry.node) if isinstance(node, PeriodicNode)}
        if len(nodes) != 1:
            message = f'the rule "{entry.id.name}" has {len(nodes)} periodic events, not one; its period cannot be set'
            raise ValueError(message)
        if period <= 0:
            message = f'the period of the rule "{entry.id.name}" must be above 0 µs, not {period}'
            raise ValueError(message)
        return next(iter(nodes.values()))

    def retune(self, entry: RuleEntry, period: Duration) -> None:
        """Change the period of the one P or P* of a rule; a shared node is copied first."""
        clock = self._clock_of(entry, period)
        if listeners_above(clock) != {entry.id}:
            entry.node = self._graph.make_private(entry.node, entry)
            clock = self._clock_of(entry, period)
        clock.set_period(period)
        self.changed.add(entry.group)


def _sort_triggered(triggered: list[Any]) -> list[tuple[RuleEntry, Occurrence]]:
    """Return rules with their detections by priority and age of the rules."""
    if len(triggered) > 1:
        triggered.sort(key=_order)
    return triggered


def _order(item: tuple[RuleEntry, Occurrence]) -> tuple[int, int, RuleId]:
    return item[0].order


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
