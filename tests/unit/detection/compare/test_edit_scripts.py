"""Invariants of every comparison, on random edit scripts."""

import random

import pytest

from tests.edit_scripts import list_broken_rules, make_script


def test_invariants_hold_for_random_edit_scripts():
    """Five hundred are tested; `bench/edit_scripts.py` runs ten thousand."""
    broken = {seed: rules for seed in range(500) if (rules := list_broken_rules(*make_script(random.Random(seed))))}

    assert {} == broken


@pytest.mark.parametrize(
    ("old", "new", "left", "rule"),
    [
        ("a b", "b a", 2, "as many words are kept as the script left"),
        ("a", "b", 1, "as many words are kept as the script left"),
    ],
)
def test_broken_invariant_would_be_found(old, new, left, rule):
    """More was left unchanged than possible."""
    assert [rule] == list_broken_rules(old.split(), new.split(), left)
