"""Expressions: AND, OR, NOT and directions over the findings of kinds."""

import pytest
from hypothesis import given

from tests.strategies import expressions
from tidings.detection.ask.expression import digests_of, evaluate
from tidings.detection.kinds.interests import interests_of
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount
from tidings.model.watch.sentinel import AllOf, AnyOf, Interest, Not

ANY, WORDS, LINKS, IMAGES = (Interest(kind) for kind in ("any", "words", "links", "images"))

W = ChangeSet(
    kinds=("words",),
    inserted=("new",),
    deleted=("old",),
    edits=(Edit("insert", 0, 0, 0, 1), Edit("delete", 2, 3, 3, 3)),
)
L = ChangeSet(kinds=("links",), inserted=("/l",), objects=(ObjectCount("links", "/l", 0, 1),))
I = ChangeSet(kinds=("images",), deleted=("/i",), objects=(ObjectCount("images", "/i", 1, 0),))  # noqa: E741 - with W and L


class Findings:
    """Stands for a pair of versions in which kinds find what they are given."""

    def __init__(self, findings):
        self.findings = findings

    def part(self, scope):
        assert scope.is_whole
        return self

    def has(self, interest):
        return True

    def compare(self, interest, term=""):
        return tuple(finding for finding in self.findings if interest.kind in {"any", finding.kinds[0]})


def make_change(*findings):
    return Findings(findings)


def kinds_of(expression, *findings):
    return evaluate(expression, make_change(*findings)).kinds


@pytest.mark.parametrize(
    ("expression", "findings", "expected"),
    [
        (ANY, [], ()),
        (ANY, [W, I], ("words", "images")),
        (AnyOf((LINKS, IMAGES)), [L], ("links",)),
        (AnyOf((LINKS, IMAGES)), [W], ()),
        (AllOf((LINKS, IMAGES)), [L], ()),
        (AllOf((LINKS, IMAGES)), [L, I], ("links", "images")),
        (AllOf((ANY, Not(IMAGES))), [I], ()),
        (AllOf((ANY, Not(IMAGES))), [W, I], ("words",)),
        (AllOf((ANY, Not(WORDS), Not(LINKS))), [W, L, I], ("images",)),
        (AllOf((WORDS, Not(LINKS))), [W, L], ()),
        (AllOf((WORDS, Not(LINKS))), [W], ("words",)),
        (AllOf((ANY, LINKS, Not(LINKS))), [W, L], ()),
        (AllOf((AnyOf((WORDS, LINKS)), Not(LINKS))), [W, L], ("words",)),
        (AnyOf((AllOf((LINKS, IMAGES)), WORDS)), [W, L], ("words",)),
        (AllOf((LINKS, Not(AnyOf((WORDS, IMAGES))))), [L, W], ()),
        (AllOf((ANY, Not(AnyOf((WORDS, IMAGES))))), [L, W], ("links",)),
        (Not(LINKS), [W], ()),
        (AllOf((Not(LINKS),)), [W], ()),
    ],
)
def test_and_or_and_not_join_findings(expression, findings, expected):
    """OR unites; AND needs every part; NOT removes what a sibling contains, otherwise it is a veto
    (sentinels §4.5).
    """
    assert expected == kinds_of(expression, *findings)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (Interest("words", direction="inserted"), (("new",), ())),
        (Interest("words", direction="deleted"), ((), ("old",))),
        (Interest("any", direction="inserted"), (("new", "/l"), ())),
        (AllOf((ANY, Not(Interest("links", direction="inserted")))), (("new",), ("old", "/i"))),
        (AllOf((ANY, Not(Interest("words", direction="inserted")))), (("/l",), ("old", "/i"))),
        (AllOf((ANY, Not(Interest("any", direction="deleted")))), (("new", "/l"), ())),
    ],
)
def test_direction_keeps_its_part_of_a_finding(expression, expected):
    """Under NOT only that part is removed."""
    found = evaluate(expression, make_change(W, L, I))

    assert expected == (found.inserted, found.deleted)


@given(expressions)
def test_expression_without_findings_has_no_change(expression):
    """It can be skipped if all its digests are equal."""
    assert ChangeSet() == evaluate(expression, make_change())
    assert digests_of(expression)


@given(expressions)
def test_expression_only_selects_findings(expression):
    """Every edit and row of its change is one that a kind found."""
    found = evaluate(expression, make_change(W, L, I))

    assert set(found.edits) <= set(W.edits)
    assert set(found.objects) <= {*L.objects, *I.objects}
    assert bool(found) == bool(found.kinds)


def test_leaves_are_listed_from_left_to_right():
    """Interests under NOT are included."""
    assert [ANY, LINKS, IMAGES] == list(interests_of(AllOf((ANY, Not(AnyOf((LINKS, IMAGES)))))))
