"""The graph of operator nodes: equal expressions in equal contexts share a node, as long as that
makes no difference.

As in Sentinel's local event detector, a node is reference-counted (004 §6.2). Unlike there, a
subscriber never receives what began before it subscribed: a node with waiting state, in itself or
below, is not shared with a new subscriber, who gets a new one. Sharing is therefore invisible from
outside (property test).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, Final

from tidings.events.expression import Expression, Primitive
from tidings.events.occurrence import Occurrence
from tidings.events.operators.node import Bounds, Context, DetectionListener, Node, Reach
from tidings.events.operators.operators import OPERATORS
from tidings.events.timers import NodeTimer, Timers

Triggered = tuple[DetectionListener, Occurrence]
Journal = dict[int, tuple[Node, int, Any]]
"""The state of nodes before a step, by number: the node, its dropped count, its waiting state."""


class Loading:
    """A dump being loaded: the state of its nodes, and the nodes made of it so far, by their
    numbers there.
    """

    def __init__(self, states: Mapping[str, Any]) -> None:
        self.states = states
        self.nodes: dict[int, Node] = {}


_Key = tuple[Any, ...]
_UNBOUNDED: Final = Bounds()
"""Of primitive events, which have no waiting state."""


class Graph:
    """All nodes by number, and the timers. The leaves are the primitive events in use."""

    def __init__(self) -> None:
        self.timers = Timers()
        self.nodes: dict[int, Node] = {}
        self.leaves: dict[str, Node] = {}
        self._index: dict[_Key, Node] = {}
        self._last = 0

    def subscribe(self, expression: Expression, context: Context, bounds: Bounds, listener: DetectionListener) -> Node:
        """Return the node of an expression, new or shared, that notifies a listener from now on.

        Args:
            expression: What is to be detected.
            context: Which of several waiting occurrences a detection takes.
            bounds: How much may wait, and how long.
            listener: Receives the detections.
        """
        node = self._build(expression, context, bounds)
        node.listeners[listener.id] = listener
        _forget_reach(node)
        return node

    def release(self, node: Node, listener: DetectionListener) -> None:
        """Remove a listener, and all nodes without further use."""
        del node.listeners[listener.id]
        _forget_reach(node)
        self._prune(node)

    def spread(self, source: Node, found: Iterable[Occurrence], journal: Journal | None = None) -> list[Triggered]:
        """Return which listeners receive what, when a node has `found` something: nearest nodes
        first.

        The previous state of changed nodes is added to the journal, if there is one.
        """
        if reach_of(source).branches:
            return self._spread_by_rank(source, found, journal)
        triggered: list[Triggered] = []
        for occurrence in found:
            self._climb(source, occurrence, triggered, journal)
        return triggered

    def fire(self, timer: NodeTimer, journal: Journal | None = None) -> tuple[Node, Sequence[Occurrence]]:
        """Fire a timer; return its node and the resulting occurrences."""
        node = self.nodes[timer.node]
        if journal is not None:
            _enter(journal, node)
        return node, node.fire(timer.clock)

    def roll_back(self, journal: Journal) -> None:
        """Restore all nodes of a journal."""
        for node, dropped, saved in journal.values():
            node.dropped = dropped
            node.restore(saved)

    def make_private(self, node: Node, listener: DetectionListener) -> Node:
        """Return the node of a listener after copying everything below it, with its state, for this
        listener alone.
        """
        private = self._copy(node, {})
        if private is node:
            return node
        private.listeners[listener.id] = listener
        _forget_reach(private)
        self.release(node, listener)
        return private

    def below(self, node: Node) -> Iterator[Node]:
        """Yield the nodes of the expression of a node, parts before wholes, without primitives,
        which have no state.
        """
        if not isinstance(node.expression, Primitive):
            for part in node.parts:
                yield from self.below(part)
            yield node

    def dump(self, node: Node, states: dict[str, Any]) -> list[int]:
        """Return the numbers of the nodes below a node, and put their state into `states` by
        number.
        """
        numbers = []
        for one in self.below(node):
            numbers.append(one.number)
            states[str(one.number)] = [one.dropped, one.dump()]
        return numbers

    def load(
        self,
        expression: Expression,
        context: Context,
        bounds: Bounds,
        listener: DetectionListener,
        numbers: Sequence[int],
        loading: Loading,
    ) -> Node:
        """Return the node of a listener as `dump` wrote it. An existing node that is equal in all,
        state included, is shared.

        Args:
            expression: The event.
            context: The context of its nodes.
            bounds: How much may wait in them.
            listener: What detections are passed to.
            numbers: The numbers of the nodes in the dump.
            loading: The dump that is being loaded.
        """
        node = self._reload(expression, context, bounds, iter(numbers), loading)
        node.listeners[listener.id] = listener
        _forget_reach(node)
        return node

    def _build(self, expression: Expression, context: Context, bounds: Bounds) -> Node:
        """Return the node of an expression; equal parts share an equal whole, if it has no waiting
        state.
        """
        if isinstance(expression, Primitive):
            return self._leaf(expression)
        parts = tuple(self._build(part, context, bounds) for _, part in expression.roles)
        key = _key(expression, context, bounds, parts)
        living = self._index.get(key)
        if living is not None and living.is_idle:
            return living
        return self._make(key, expression, context, bounds, parts)

    def _leaf(self, event: Primitive) -> Node:
        leaf = self.leaves.get(event.name)
        if leaf is None:
            key = _key(event, Context.RECENT, _UNBOUNDED, ())
            leaf = self.leaves[event.name] = self._make(key, event, Context.RECENT, _UNBOUNDED, ())
        return leaf

    def _make(
        self,
        key: _Key,
        expression: Expression,
        context: Context,
        bounds: Bounds,
        parts: tuple[Node, ...],
        number: int | None = None,
    ) -> Node:
        number = self._last + 1 if number is None or number in self.nodes else number
        self._last = max(self._last, number)
        node = OPERATORS[expression.operator](number, expression, context, bounds, self.timers)
        node.parts = parts
        for (role, _), part in zip(expression.roles, parts, strict=True):
            part.above[number, role] = (node, role)
        node.rank = 1 + max((part.rank for part in parts), default=-1)
        self.nodes[number] = node
        self._index[key] = node
        return node

    def _prune(self, node: Node) -> None:
        if node.subscribers or self.nodes.get(node.number) is not node:  # or gone already, by another path
            return
        node.clear()
        del self.nodes[node.number]
        if isinstance(node.expression, Primitive):
            del self.leaves[node.expression.name]
        key = _key_of(node)
        if self._index.get(key) is node:
            del self._index[key]
        for (role, _), part in zip(node.expression.roles, node.parts, strict=True):
            del part.above[node.number, role]
        for part in {part.number: part for part in node.parts}.values():
            self._prune(part)

    def _copy(self, node: Node, copied: dict[int, Node]) -> Node:
        if isinstance(node.expression, Primitive):
            return node
        if node.number not in copied:
            parts = tuple(self._copy(part, copied) for part in node.parts)
            key = _key(node.expression, node.context, node.bounds, parts)
            copy = copied[node.number] = self._make(key, node.expression, node.context, node.bounds, parts)
            copy.dropped = node.dropped
            copy.restore(node.save())
        return copied[node.number]

    def _reload(
        self, expression: Expression, context: Context, bounds: Bounds, numbers: Iterator[int], loading: Loading
    ) -> Node:
        if isinstance(expression, Primitive):
            return self._leaf(expression)
        parts = tuple(self._reload(part, context, bounds, numbers, loading) for _, part in expression.roles)
        number = next(numbers)
        if number not in loading.nodes:
            dropped, state = loading.states[str(number)]
            key = _key(expression, context, bounds, parts)
            for living in (self.nodes.get(number), self._index.get(key)):
                if living is not None and _key_of(living) == key and living.dump() == state:
                    loading.nodes[number] = living
                    return living
            node = loading.nodes[number] = self._make(key, expression, context, bounds, parts, number)
            node.dropped = dropped
            node.load(state)
        return loading.nodes[number]

    def _climb(self, node: Node, occurrence: Occurrence, triggered: list[Triggered], journal: Journal | None) -> None:
        for listener in node.listeners.values():
            triggered.append((listener, occurrence))
        for above, role in node.above.values():
            if journal is not None:
                _enter(journal, above)
            for found in above.receive(role, occurrence):
                self._climb(above, found, triggered, journal)

    def _spread_by_rank(self, source: Node, found: Iterable[Occurrence], journal: Journal | None) -> list[Triggered]:
        """Spread where a node may be reached twice: each is visited once, after all below it,
        terminators first.

        Nodes of one rank are visited in an order given by their expressions, since it fixes the
        order of the timers that they start; node numbers depend on sharing.
        """
        triggered: list[Triggered] = []
        inboxes: dict[int, list[tuple[int, Occurrence]]] = {}
        agenda: list[tuple[int, str, int]] = []
        node = source
        while True:
            for occurrence in found:
                triggered.extend((listener, occurrence) for listener in node.listeners.values())
                for above, role in node.above.values():
                    if above.number not in inboxes:
                        inboxes[above.number] = []
                        heappush(agenda, (above.rank, above.type, above.number))
                    inboxes[above.number].append((role, occurrence))
            if not agenda:
                return triggered
            node = self.nodes[heappop(agenda)[2]]
            if journal is not None:
                _enter(journal, node)
            inbox = sorted(inboxes.pop(node.number), key=lambda item: item[0])
            found = [answer for role, occurrence in inbox for answer in node.receive(role, occurrence)]


def reach_of(node: Node) -> Reach:
    """Return what an occurrence of a node can lead to; cached until a subscriber above it changes.

    Nodes are fed in the order of their creation, across restarts too: the order of simultaneous
    timers depends on it.
    """
    if node.reach is None:
        seen: dict[int, Node] = {}
        branches = False
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if one.number in seen:
                branches = True
                continue
            seen[one.number] = one
            if (order := sorted(one.above)) != list(one.above):  # loaded in another order than created
                one.above = {key: one.above[key] for key in order}
            waiting.extend(above for above, _ in one.above.values())
        listeners = [(one, listener) for one in seen.values() for listener in one.listeners.values()]
        node.reach = Reach(
            branches=branches,
            acts=any(listener.acts for _, listener in listeners),
            groups=frozenset(listener.group for one, listener in listeners if not one.expression.is_stateless),
        )
    return node.reach


def listeners_above(node: Node) -> set[Any]:
    """Return the names of all listeners of a node."""
    found: set[Any] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        found.update(one.listeners)
        waiting.extend(above for above, _ in one.above.values())
    return found


def _enter(journal: Journal, node: Node) -> None:
    if node.number not in journal:
        journal[node.number] = (node, node.dropped, node.save())


def _forget_reach(node: Node) -> None:
    node.reach = None
    for part in node.parts:
        _forget_reach(part)


def _key(expression: Expression, context: Context, bounds: Bounds, parts: Sequence[Node]) -> _Key:
    """Return what makes nodes equal: operator, options and parts; if they have waiting state,
    context and bounds, too.
    """
    options = tuple([getattr(expression, name) for name in expression.options])
    numbers = tuple([part.number for part in parts])
    if expression.is_stateless:
        return (expression.operator, options, numbers)
    return (expression.operator, options, numbers, context.value, bounds.max_waiting, bounds.max_age)


def _key_of(node: Node) -> _Key:
    return _key(node.expression, node.context, node.bounds, node.parts)
