"""The rule engine: events and time go in, firings come out (004 §6.2; sentinels §3).

No thread, event loop, clock or I/O: the host passes occurrences and the time, and stores what
`dump` returns. The work for one occurrence is a *step*: the event is spread over the graph, the
rules that receive a detection fire by priority, the events that they raise are processed in order,
the deferred rules come last. A step is atomic: if an action fails, it is undone and repeated
without the failed rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tidings.events.graph import Graph, Loading
from tidings.events.occurrence import Occurrence
from tidings.events.operators.clocks import PeriodicNode
from tidings.events.rule import Action, Condition, EngineOutcome, Rule, RuleId
from tidings.events.step import OutcomeDraft, RuleEntry, Steps
from tidings.model.interval import Duration, Instant
from tidings.registry import Registry

FORMAT: Final = 1
"""Of what `Engine.dump` returns."""


class Sizes(NamedTuple):
    """The size of an engine: rules, nodes (with primitive events), and entries of the timer
    heap.
    """

    rules: int
    nodes: int
    clocks: int


class Engine:
    """Rules over events. `conditions` and `actions` implement the names used in rules.

    Instants are µs and never decrease. Errors: `ValueError` for the impossible (an event in the
    past, a second rule of one name), `UsageError` for an unknown condition or action, `KeyError`
    for an unknown rule, `RuntimeError` if an action calls the engine instead of returning what is
    to happen.
    """

    def __init__(
        self, conditions: Mapping[str, Condition] | None = None, actions: Mapping[str, Action] | None = None
    ) -> None:
        self._conditions = Registry("condition", conditions or {})
        self._actions = Registry("action", actions or {})
        self._graph = Graph()
        self._timers = self._graph.timers
        self._steps = Steps(self._graph, self._find)
        self._groups: dict[str, dict[RuleId, RuleEntry]] = {}
        self._last = 0

    @property
    def now(self) -> Instant:
        """Return the latest instant passed to the engine."""
        return self._timers.now

    @property
    def sizes(self) -> Sizes:
        """Return the size of the engine."""
        return Sizes(sum(map(len, self._groups.values())), len(self._graph.nodes), len(self._timers))

    def rules(self, group: str | None = None) -> tuple[Rule, ...]:
        """Return the rules of a group, or all, in the order of their creation."""
        return tuple(entry.rule for entry in self._entries(group))

    def listens(self, event: str) -> bool:
        """Return whether some rule depends on an event of this name."""
        return event in self._graph.leaves

    def add(self, rule: Rule) -> RuleId:
        """Add a rule. It receives nothing that began before."""
        self._refuse_in_step()
        entry = self._entry(rule, self._last + 1)
        self._last += 1
        entry.node = self._graph.subscribe(rule.event, rule.context, rule.bounds, entry)
        self._keep(entry)
        return entry.id

    def remove(self, rule: RuleId) -> None:
        """Remove a rule and its unshared state."""
        self._refuse_in_step()
        entry = self._find(rule)
        self._graph.release(entry.node, entry)
        self._steps.changed.add(entry.group)
        rules = self._groups[entry.group]
        del rules[entry.id]
        if not rules:
            del self._groups[entry.group]

    def remove_group(self, group: str) -> int:
        """Remove all rules of a group; return how many there were."""
        rules = list(self._groups.get(group, ()))
        for rule in rules:
            self.remove(rule)
        return len(rules)

    def push(self, occurrence: Occurrence) -> EngineOutcome:
        """Process an occurrence. Timers due before its end go first, timers due at its end wait."""
        self._refuse_in_step()
        end, timers = occurrence.end, self._timers
        if not timers.now <= end >= occurrence.start:
            message = (
                f"{occurrence.type} lasts from {occurrence.start} to {end} µs; it must not end before it starts"
                f" nor before {timers.now} µs, which was processed already"
            )
            raise ValueError(message)
        draft = OutcomeDraft()
        if (first := timers.first()) is not None and first.due < end:
            self._go_off(end - 1, draft)
        timers.now = end
        leaf = self._graph.leaves.get(occurrence.type)
        if leaf is not None:
            self._steps.take(leaf, (occurrence,), None, draft)
        return draft.outcome()

    def advance(self, now: Instant) -> EngineOutcome:
        """Advance the time: timers due by then fire in the order in which they are due, each as a
        step.

        A past instant changes nothing.
        """
        self._refuse_in_step()
        draft = OutcomeDraft()
        self._go_off(now, draft)
        self._timers.now = max(now, self._timers.now)
        return draft.outcome()

    def next_due(self, group: str | None = None) -> Instant | None:
        """Return when the next timer fires, any or one of a group; None: none will."""
        if group is None:
            first = self._timers.first()
            return None if first is None else first.due
        dues = (node.next_due() for entry in self._entries(group) for node in self._graph.below(entry.node))
        return min((due for due in dues if due is not None), default=None)

    def catch_up(self, now: Instant) -> None:
        """Skip missed ticks after a pause: of the ticks that P and P* owe by `now`, each timer
        keeps the newest only.

        Timers keep their phase. A single due timer (PLUS) stays due.
        """
        self._refuse_in_step()
        for entry in self._entries(None):
            for node in self._graph.below(entry.node):
                if isinstance(node, PeriodicNode):
                    node.catch_up(now)
                    self._steps.changed.add(entry.group)

    def set_period(self, rule: RuleId, period: Duration) -> None:
        """Change the period (µs) of the one P or P* of a rule, counted from its last tick. Other
        rules keep theirs.
        """
        self._refuse_in_step()
        self._steps.retune(self._find(rule), period)

    def flags(self, group: str | None = None) -> dict[RuleId, str]:
        """Return the rules that do not fire, each with the reason."""
        return {entry.id: entry.flag for entry in self._entries(group) if entry.flag}

    def count_dropped(self, group: str) -> int:
        """Return how many waiting occurrences overflowed in the nodes used by the rules of a
        group.
        """
        nodes = {node.number: node.dropped for entry in self._entries(group) for node in self._graph.below(entry.node)}
        return sum(nodes.values())

    def take_changed(self) -> frozenset[str]:
        """Return the groups whose dump may have changed since the last call."""
        changed = frozenset(self._steps.changed)
        self._steps.changed.clear()
        return changed

    def dump(self, group: str | None = None) -> dict[str, Any]:
        """Return the rules of a group, or all, with their waiting state, as plain JSON."""
        states: dict[str, Any] = {}
        rules = [
            {
                **entry.rule.to_json(),
                "number": entry.order[1],
                "flag": entry.flag,
                "nodes": self._graph.dump(entry.node, states),
            }
            for entry in self._entries(group)
        ]
        return {"format": FORMAT, "now": self.now, "rules": rules, "states": states}

    @classmethod
    def load(
        cls,
        *dumps: Mapping[str, Any],
        conditions: Mapping[str, Condition] | None = None,
        actions: Mapping[str, Action] | None = None,
    ) -> Engine:
        """Return an engine restored from dumps, whole or group by group: it continues as the old
        one would have.
        """
        engine = cls(conditions, actions)
        for dump in dumps:
            engine.resume(dump)
        return engine

    def resume(self, dump: Mapping[str, Any]) -> None:
        """Add dumped rules to the existing ones; if that fails, nothing is changed."""
        self._refuse_in_step()
        if dump["format"] != FORMAT:
            message = f"this state of rules has format {dump['format']}, which is not known here; {FORMAT} is"
            raise ValueError(message)
        entries = []
        for data in dump["rules"]:
            rest = {key: value for key, value in data.items() if key not in {"number", "flag", "nodes"}}
            entry = self._entry(Rule.from_json(rest), data["number"])
            entry.flag = data["flag"]
            entries.append((entry, data["nodes"]))
        self._timers.now = max(self._timers.now, dump["now"])
        loading = Loading(dump["states"])
        for entry, numbers in entries:
            rule = entry.rule
            entry.node = self._graph.load(rule.event, rule.context, rule.bounds, entry, numbers, loading)
            self._last = max(self._last, entry.order[1])
            self._keep(entry)

    def _entry(self, rule: Rule, number: int) -> RuleEntry:
        if rule.id in self._groups.get(rule.group, ()):
            message = f'there is a rule "{rule.name}" in the group "{rule.group}" already; remove it first'
            raise ValueError(message)
        condition = self._conditions[rule.condition] if rule.condition else None
        action = self._actions[rule.action] if rule.action else None
        return RuleEntry(rule, number, condition, action)

    def _keep(self, entry: RuleEntry) -> None:
        self._groups.setdefault(entry.group, {})[entry.id] = entry
        self._steps.changed.add(entry.group)

    def _find(self, rule: RuleId) -> RuleEntry:
        try:
            return self._groups[rule.group][rule]
        except KeyError:
            message = f'there is no rule "{rule.name}" in the group "{rule.group}"'
            raise KeyError(message) from None

    def _entries(self, group: str | None) -> Iterator[RuleEntry]:
        groups = self._groups.values() if group is None else [self._groups.get(group, {})]
        return iter(sorted((entry for rules in groups for entry in rules.values()), key=lambda entry: entry.order[1:]))

    def _refuse_in_step(self) -> None:
        if self._steps.is_in_step:
            message = "an action must not call the engine: return Raised, Retuned or an effect for the host"
            raise RuntimeError(message)

    def _go_off(self, until: Instant, draft: OutcomeDraft) -> None:
        timers = self._timers
        while (timer := timers.first()) is not None and timer.due <= until:
            timers.now = max(timers.now, timer.due)
            self._steps.take(self._graph.nodes[timer.node], (), timer, draft)
