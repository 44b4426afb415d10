"""All operators, by their names in Snoop."""

from __future__ import annotations

from typing import Final

from tidings.events.aperiodic import AperiodicNode, AperiodicStarNode
from tidings.events.clocks import PeriodicNode, PeriodicStarNode, PlusNode
from tidings.events.conjunction import ConjunctionNode
from tidings.events.node import DisjunctionNode, Node, PrimitiveNode
from tidings.events.sequence import NegationNode, SequenceNode
from tidings.registry import Registry

OPERATORS: Final[Registry[type[Node]]] = Registry(
    "event operator",
    {
        "event": PrimitiveNode,
        "OR": DisjunctionNode,
        "AND": ConjunctionNode,
        "ANY": ConjunctionNode,
        "SEQ": SequenceNode,
        "NOT": NegationNode,
        "A": AperiodicNode,
        "A*": AperiodicStarNode,
        "P": PeriodicNode,
        "P*": PeriodicStarNode,
        "PLUS": PlusNode,
    },
)
