"""Rules as values and as plain text."""

import json

import pytest

from tests.strategies_events import A, B
from tidings.events.expression import Seq
from tidings.events.operators.node import Bounds, Context
from tidings.events.rule import Coupling, Rule, RuleId


def test_rule_survives_its_plain_form():
    """It is stored completely."""
    rule = Rule(
        name="digest",
        group="7",
        event=Seq(A, B, within=5),
        context=Context.CUMULATIVE,
        condition="not quiet",
        action="tell",
        priority=10,
        coupling=Coupling.DETACHED,
        data={"channel": 3},
        bounds=Bounds(max_waiting=20, max_age=90),
    )

    assert rule == Rule.from_json(json.loads(json.dumps(rule.to_json())))
    assert RuleId("7", "digest") == rule.id


def test_unrestricted_context_is_refused():
    """It grows without bound."""
    with pytest.raises(ValueError, match="rule all: the unrestricted context grows without bound; choose another"):
        Rule(name="all", event=A, context=Context.UNRESTRICTED)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [({"max_waiting": 0}, "at least 1 waiting occurrence, not 0"), ({"max_age": -1}, "0 µs or more, not -1")],
    ids=["room", "age"],
)
def test_impossible_bounds_are_refused(bounds, message):
    """A node needs room for something."""
    with pytest.raises(ValueError, match=message):
        Bounds(**bounds)
