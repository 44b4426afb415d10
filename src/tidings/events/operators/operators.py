"""All operators, by their names in Snoop."""

from __future__ import annotations

from typing import Final

from tidings.events.operators.aperiodic import AperiodicNode, AperiodicStarNode
from tidings.events.operators.clocks import PeriodicNode, PeriodicStarNode, PlusNode
from tidings.events.operators.conjunction import ConjunctionNode
from tidings.events.operators.node import DisjunctionNode, Node, PrimitiveNode
from tidings.events.operators.sequence import NegationNode, SequenceNode
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
