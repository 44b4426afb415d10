"""What a text asks that an installation may not have is said where it stands."""

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
    ("clause", "said"),
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
def test_each_is_told_by_name_and_place(clause, said):
    """With what there is instead, or what would help."""
    assert [said] == report(HEAD + clause)


@pytest.mark.parametrize("clause", ["Class bulk", "Class default", "Importance 0.9", ""])
def test_what_is_there_is_not_told(clause):
    """Nobody is warned of what has its effect."""
    assert [] == report(HEAD + clause)


@pytest.mark.parametrize(
    ("policy", "expected"), [("whole", []), ("half", ["W19"]), ("plain", ["W19", "W19"]), ("no such policy", [])]
)
def test_the_doubt_goes_with_the_policy(policy, expected):
    """A policy that reads a clause ends the warning; one that does not exist is another verb's trouble."""
    parsed = within(
        parse(HEAD + "Urgency uniform Life overwrite"), InstallationMeans(policy=policy, policies=OWN.policies)
    )

    assert expected == [problem.code for problem in parsed.warnings]


def test_alterations_defaults_and_yaml_are_judged_too():
    """Whatever says it, in whatever form."""
    texts = ("Alter s0 Class qqq", "Defaults For Tags a Class qqq")
    form = within(load("- name: s\n  pages: https://x.example\n  monitor: links\n  class: qqq\n"), OWN)

    assert [["E48"], ["E48"]] == [[line.split()[1] for line in report(text)] for text in texts]
    assert [(4, "E48")] == [(problem.line, problem.code) for problem in form.problems]


@pytest.mark.parametrize("text", ACCEPTED)
def test_a_text_that_asks_for_nothing_of_it_is_what_it_was(text):
    """No policy is asked, nothing is changed, unless a clause speaks of it."""
    parsed = parse(text, known=KNOWN.get)
    spoken = {"class", "urgency", "life", "watch"} & {part for places in parsed.places for part in places}

    assert spoken or parsed == within(parsed, InstallationMeans(policies=None))  # type: ignore[arg-type]
