"""What a text requires of the installation: its budgets, and a policy that reads its clauses.

The language is independent of the installation; the commands that take statements check them once
against `InstallationMeans`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter

from tidings.language.parser import Parsed
from tidings.language.problems import MOST, Problem, did_you_mean, either
from tidings.model.watch.sentinel import WHOLE, Alter, Defaults, Sentinel, Statement
from tidings.record import dataclass, replace

_WORDS = {"urgency": "Urgency", "life": "Life", "watch": "Watch as"}
_ALL = frozenset({"urgency", "life"})
_SETS = {"urgency": frozenset({"urgency"}), "life": frozenset({"life"}), "watch": _ALL}
"""The values that each of these clauses sets."""


@dataclass(frozen=True, slots=True)
class InstallationMeans:
    """The installation: its budget `classes`, and the `policy` in use; `policies` names what each
    reads of urgency and life.

    It is consulted only if a text mentions these.
    """

    classes: tuple[str, ...] = ()
    policy: str = ""
    policies: Callable[[], Mapping[str, frozenset[str]]] = dict


def within(parsed: Parsed, means: InstallationMeans) -> Parsed:
    """Return the parsed text, with a problem (E48) for each unknown class and a warning (W19) for
    each clause that the policy ignores.
    """
    problems: list[Problem] = []
    doubts: list[Problem] = []
    for statement, places in zip(parsed.statements, parsed.places, strict=True):
        problems += _unknown_class(parsed, statement, places, means)
        doubts += _unread(parsed, places, means)
    if not problems and not doubts:
        return parsed
    return replace(
        parsed,
        problems=tuple(sorted((*parsed.problems, *problems), key=attrgetter("place"))[:MOST]),
        warnings=tuple(sorted((*parsed.warnings, *doubts), key=attrgetter("place"))),
    )


def _unknown_class(
    parsed: Parsed, statement: Statement, places: Mapping[str, int], means: InstallationMeans
) -> Iterator[Problem]:
    name = _class_of(statement)
    if "class" not in places or name is None or name in {WHOLE, *means.classes}:
        return
    message = f'there is no budget class "{name}"'
    hint = did_you_mean(name, means.classes) or f'define it in tidings.toml: budget.classes = ["{name}: 500 per day"]'
    yield parsed.report.problem(places["class"], "E48", message, expected=either(means.classes), hint=hint)


def _class_of(statement: Statement) -> str | None:
    match statement:
        case Sentinel():
            return statement.budget_class
        case Alter() | Defaults():
            return dict(statement.clauses.stated).get("class")
    return None


def _unread(parsed: Parsed, places: Mapping[str, int], means: InstallationMeans) -> Iterator[Problem]:
    for part in sorted(_SETS.keys() & places.keys()):
        policies = means.policies()
        if not policies.get(means.policy, _ALL).isdisjoint(_SETS[part]):
            continue
        readers = sorted(name for name, reads in policies.items() if reads.issuperset(_SETS[part]))
        message = (
            f"the policy in use (schedule.policy = {means.policy}) does not use {_WORDS[part]}: it is stored, but "
            "has no effect"
        )
        hint = f"{either(readers, joint='and')} read{'' if len(readers) > 1 else 's'} it" if readers else ""
        yield parsed.report.problem(places[part], "W19", message, hint=hint)
