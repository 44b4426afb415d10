import pytest

from tidings.language.monitor import joins_positives, never_fires, unquoted
from tidings.language.parser import parse
from tidings.model.sentinel import AllOf, AnyOf, Interest, Not

LINKS, IMAGES = Interest("links"), Interest("images")


@pytest.mark.parametrize(
    ("expression", "never"),
    [
        (LINKS, False),
        (Not(LINKS), True),
        (AnyOf((LINKS, Not(IMAGES))), True),
        (AllOf((LINKS, Not(IMAGES))), False),
        (AllOf((Not(LINKS), Not(IMAGES))), True),
        (AllOf((LINKS, Not(AllOf((Not(IMAGES), Not(LINKS)))))), True),
        (AllOf((LINKS, AnyOf((IMAGES, Not(LINKS))))), True),
        (AllOf((LINKS, Not(AnyOf((IMAGES, LINKS))))), False),
    ],
)
def test_not_needs_a_change_beside_it(expression, never):
    """NOT alone, in an OR, or beside nothing but NOTs would report every quiet look (E26)."""
    assert never == never_fires(expression)


@pytest.mark.parametrize(
    ("expression", "joins"),
    [
        (LINKS, False),
        (AllOf((LINKS, Not(IMAGES))), False),
        (AllOf((LINKS, IMAGES)), True),
        (AnyOf((LINKS, AllOf((LINKS, IMAGES)))), True),
        (AllOf((LINKS, Not(AllOf((LINKS, IMAGES))))), True),
    ],
)
def test_and_between_changes_is_noticed(expression, joins):
    """Two changes joined by AND are told only when both happen, which surprises people (W8)."""
    assert joins == joins_positives(expression)


def test_only_quotes_and_backslashes_are_escapes():
    r"""`"\d+"` means what it looks like."""
    assert '\\d+ "x" \\' == unquoted('"\\d+ \\"x\\" \\\\"')


@pytest.mark.parametrize("pattern", ["(" * 9_000, "a{99999999999999999999}", "[[a]", "(?P<x>", "x" * 20_000])
def test_hostile_patterns_are_told_as_bad(pattern):
    """Whatever is wrong with a pattern is a fault at its place, or left to E40; nothing is raised or warned of."""
    (problem,) = parse(f'Create Sentinel a Using https://x.example Monitor regex "{pattern}"').problems

    assert problem.code in {"E11", "E40"}
