import json

import pytest

from tests.strategies_events import A, B
from tidings.events.expression import Seq
from tidings.events.operators.node import Bounds, Context
from tidings.events.rule import Coupling, Rule, RuleId


def test_plain_form_and_back():
    """A rule is stored whole: it is what it was after it was plain text."""
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


def test_rules_may_not_ask_for_everything():
    """The unrestricted context, which grows without bound, is refused."""
    with pytest.raises(ValueError, match="rule all: the unrestricted context grows without bound; choose another"):
        Rule(name="all", event=A, context=Context.UNRESTRICTED)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [({"max_waiting": 0}, "at least 1 waiting occurrence, not 0"), ({"max_age": -1}, "0 µs or more, not -1")],
    ids=["room", "age"],
)
def test_bounds_that_cannot_be_are_refused(bounds, message):
    """A node must have room for something."""
    with pytest.raises(ValueError, match=message):
        Bounds(**bounds)
