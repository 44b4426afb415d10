"""Clauses that this installation cannot carry out are reported at their place."""

import pytest

from tests.strategies_language import ACCEPTED, KNOWN
from tidings.language.means import InstallationMeans, within
from tidings.language.parser import parse
from tidings.language.yaml.form import load

OWN = InstallationMeans(
    ("gentle", "bulk"),
    "plain",
    lambda: {"plain": frozenset(), "half": frozenset({"life"}), "whole": frozenset({"urgency", "life"})},
)
HEAD = "Create Sentinel s Using https://x.example Monitor any change "


def report(text, means=OWN):
    parsed = within(parse(text, known=KNOWN.get, files=True), means)
    return [str(problem) for problem in (*parsed.problems, *parsed.warnings)]


@pytest.mark.parametrize(
    ("clause", "text"),
    [
        (
            "Class gentel",
            '1:62: E48 there is no budget class "gentel"; expected gentle or bulk (hint: did you mean "gentle"?)',
        ),
        (
            "Class qqq",
            '1:62: E48 there is no budget class "qqq"; expected gentle or bulk (hint: define it in tidings.toml: budget.classes = ["qqq: 500 per day"])',
        ),
        (
            "Urgency uniform",
            "1:62: W19 the policy in use (schedule.policy = plain) does not use Urgency: it is stored, but has no effect (hint: whole reads it)",
        ),
        (
            "Life overwrite",
            "1:62: W19 the policy in use (schedule.policy = plain) does not use Life: it is stored, but has no effect (hint: half and whole read it)",
        ),
        (
            "Watch as ticker",
            "1:62: W19 the policy in use (schedule.policy = plain) does not use Watch as: it is stored, but has no effect (hint: whole reads it)",
        ),
    ],
)
def test_missing_means_are_reported_by_name_and_place(clause, text):
    """The message has what exists instead, or what would help."""
    assert [text] == report(HEAD + clause)


@pytest.mark.parametrize("clause", ["Class bulk", "Class default", "Importance 0.9", ""])
def test_available_means_are_not_reported(clause):
    """No warning is given."""
    assert [] == report(HEAD + clause)


@pytest.mark.parametrize(
    ("policy", "expected"), [("whole", []), ("half", ["W19"]), ("plain", ["W19", "W19"]), ("no such policy", [])]
)
def test_warning_depends_on_the_policy(policy, expected):
    """A policy that reads a clause ends it; an unknown policy is reported by another command."""
    parsed = within(
        parse(HEAD + "Urgency uniform Life overwrite"), InstallationMeans(policy=policy, policies=OWN.policies)
    )

    assert expected == [problem.code for problem in parsed.warnings]


def test_alterations_defaults_and_yaml_are_checked_too():
    """Every form is."""
    texts = ("Alter s0 Class qqq", "Defaults For Tags a Class qqq")
    form = within(load("- name: s\n  pages: https://x.example\n  monitor: links\n  class: qqq\n"), OWN)

    assert [["E48"], ["E48"]] == [[line.split()[1] for line in report(text)] for text in texts]
    assert [(4, "E48")] == [(problem.line, problem.code) for problem in form.problems]


@pytest.mark.parametrize("text", ACCEPTED)
def test_other_texts_are_not_checked(text):
    """Without such a clause, no policy is asked and nothing changes."""
    parsed = parse(text, known=KNOWN.get)
    spoken = {"class", "urgency", "life", "watch"} & {part for places in parsed.places for part in places}

    assert spoken or parsed == within(parsed, InstallationMeans(policies=None))  # type: ignore[arg-type]
