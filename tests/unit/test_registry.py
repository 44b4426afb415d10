"""A registry is a table with a noun: the error for a row that is not there lists those that are."""

import pytest

from tidings.errors import UsageError
from tidings.registry import Registry


def test_rows_are_found_by_name_in_their_order():
    """It reads like the dictionary it was made from."""
    registry = Registry("policy", {"wic": 1, "fixed": 2})

    assert (1, 2, ["wic", "fixed"]) == (registry["wic"], len(registry), list(registry))
    assert {"wic": 1, "fixed": 2} == dict(registry)


def test_an_unknown_name_is_answered_with_those_there_are():
    """The message names the noun, the name asked for and the rows in alphabetical order."""
    registry = Registry("policy", {"wic": 1, "fixed": 2})
    with pytest.raises(UsageError) as caught:
        registry["nope"]

    assert 'there is no policy "nope"; there are: fixed, wic' == str(caught.value)
    assert caught.value.__suppress_context__


def test_asking_whether_a_row_is_there_raises_nothing():
    """`in` answers yes or no."""
    registry = Registry("policy", {"wic": 1})

    assert "wic" in registry
    assert "nope" not in registry
    assert None not in [*registry]


def test_a_registry_does_not_change_with_its_source():
    """The table is fixed once it is made."""
    rows = {"wic": 1}
    registry = Registry("policy", rows)
    rows["late"] = 2

    assert ["wic"] == list(registry)
