import random

import pytest

from tests.edit_scripts import list_broken_rules, make_script


def test_what_must_hold_of_every_comparison():
    """On five hundred random scripts; `bench/edit_scripts.py` runs ten thousand."""
    broken = {seed: rules for seed in range(500) if (rules := list_broken_rules(*make_script(random.Random(seed))))}

    assert {} == broken


@pytest.mark.parametrize(
    ("old", "new", "left", "rule"),
    [
        ("a b", "b a", 2, "as many words are kept as the script left"),
        ("a", "b", 1, "as many words are kept as the script left"),
    ],
)
def test_a_broken_rule_would_be_seen(old, new, left, rule):
    """Where more was left alone than can have been."""
    assert [rule] == list_broken_rules(old.split(), new.split(), left)
