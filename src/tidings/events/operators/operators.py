"""The operators that rules use, by their names in Snoop."""

from __future__ import annotations

from typing import Final

from tidings.events.operators.clocks import PeriodicNode, PlusNode
from tidings.events.operators.conjunction import ConjunctionNode
from tidings.events.operators.node import DisjunctionNode, Node, PrimitiveNode
from tidings.events.operators.sequence import SequenceNode
from tidings.registry import Registry

OPERATORS: Final[Registry[type[Node]]] = Registry(
    "event operator",
    {
        "event": PrimitiveNode,
        "OR": DisjunctionNode,
        "AND": ConjunctionNode,
        "ANY": ConjunctionNode,
        "SEQ": SequenceNode,
        "P": PeriodicNode,
        "PLUS": PlusNode,
    },
)
