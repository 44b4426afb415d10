"""Rules: on an event, if a condition holds, an action (ECA; sentinels §3.4).

Conditions and actions are named in the rule, so that rules can be stored; the engine is given their
implementations. An action has no side effects: it returns what is to happen. A `Raised` event is
processed in the same step, a `Retuned` period holds at its end, and all else is an *effect* for the
host, in the outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from tidings.events.expression import Expression, from_json, to_json
from tidings.events.occurrence import NO_PARAMS, Occurrence
from tidings.events.operators.node import Bounds, Context
from tidings.model.interval import Duration, Instant
from tidings.record import dataclass


class Coupling(StrEnum):
    """When a rule fires.

    Immediate: when its event is detected, within the step. Deferred: at the end of the step, once
    for all that was detected in it. Detached: after the host has committed; the engine only returns
    it.
    """

    IMMEDIATE = "immediate"
    DEFERRED = "deferred"
    DETACHED = "detached"


class RuleId(NamedTuple):
    """A rule by its group and its name there."""

    group: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """On `event` in `context`, if `condition` holds, `action`. An empty name: always, or nothing.

    Rules of one `group` (a sentinel) are dumped, loaded and removed together. Higher `priority`
    fires first, then the older rule. `data` is plain JSON for condition and action. `bounds` hold
    for each node of the event.
    """

    name: str
    event: Expression
    group: str = ""
    context: Context = Context.RECENT
    condition: str = ""
    action: str = ""
    priority: int = 0
    coupling: Coupling = Coupling.IMMEDIATE
    data: Mapping[str, Any] = field(default_factory=dict)
    bounds: Bounds = Bounds()

    def __post_init__(self) -> None:
        if self.context is Context.UNRESTRICTED:
            message = f"rule {self.name}: the unrestricted context grows without bound; choose another"
            raise ValueError(message)

    @property
    def id(self) -> RuleId:
        """Return the group and the name."""
        return RuleId(self.group, self.name)

    def to_json(self) -> dict[str, Any]:
        """Return the rule as plain JSON."""
        return {
            "group": self.group,
            "name": self.name,
            "event": to_json(self.event),
            "context": str(self.context),
            "condition": self.condition,
            "action": self.action,
            "priority": self.priority,
            "coupling": str(self.coupling),
            "data": dict(self.data),
            "bounds": [self.bounds.max_waiting, self.bounds.max_age],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rule:
        """Return the rule that `to_json` wrote."""
        return cls(
            **{
                **data,
                "event": from_json(data["event"]),
                "context": Context(data["context"]),
                "coupling": Coupling(data["coupling"]),
                "bounds": Bounds(*data["bounds"]),
            }
        )


class Firing(NamedTuple):
    """The firing of a rule at an instant for one detection, or for a deferred rule all those of the
    step.
    """

    rule: Rule
    at: Instant
    occurrences: tuple[Occurrence, ...]

    @property
    def occurrence(self) -> Occurrence:
        """Return the occurrence, the latest if there are several."""
        return self.occurrences[-1]


class Raised(NamedTuple):
    """Returned by an action: this event occurs now."""

    type: str
    params: Mapping[str, Any] = NO_PARAMS


class Retuned(NamedTuple):
    """Returned by an action: the one P or P* of this rule gets another period (µs), from its last
    tick on.
    """

    rule: RuleId
    period: Duration


Condition = Callable[[Firing], bool]
Action = Callable[[Firing], Iterable[Any] | None]


class RuleProblem(NamedTuple):
    """A problem with a rule.

    `kind` is one of

    - `condition`: its condition failed, which counts as false;
    - `action`: its action failed; the step was undone and repeated without the rule;
    - `cascade`: its events caused one another without end; the last was dropped.

    After the latter two the rule is flagged: it does not fire until it is added again.
    """

    kind: str
    rule: RuleId
    at: Instant
    text: str


class EngineOutcome(NamedTuple):
    """The result of an event or of the passing of time.

    `firings` are all rules that fired, in order, the detached ones included; `detached` are those
    to run after the commit; `effects` what actions returned for the host; `problems` what is to be
    reported.
    """

    firings: tuple[Firing, ...] = ()
    detached: tuple[Firing, ...] = ()
    effects: tuple[Any, ...] = ()
    problems: tuple[RuleProblem, ...] = ()


NOTHING: Final = EngineOutcome()
