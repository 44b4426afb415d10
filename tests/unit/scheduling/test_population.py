"""The pages of a policy as columns."""

import numpy as np
import pytest

from tidings.scheduling.population import HALF_LIFE, NEVER, RATE, UNPOLLED, LifeKind, Population, UrgencyKind


def three():
    return Population({"id": [30, 10, 20], "cost": [1, 2, 3]})


def test_columns_have_defaults():
    """A page that only has an id is new, may be polled now and has its own host."""
    population = Population({"id": [7]})
    found = {name: population[name].tolist() for name in population}

    assert {
        "id": [7],
        "host": [7],
        "cost": [1.0],
        "importance": [0.5],
        "rate": [np.float32(RATE)],
        "urgency_kind": [UrgencyKind.EXPONENTIAL],
        "urgency_scale": [HALF_LIFE],
        "life_kind": [LifeKind.FOREVER],
        "life_scale": [0],
        "added": [0],
        "last_polled": [UNPOLLED],
        "not_before": [UNPOLLED],
        "shortest": [0],
        "longest": [NEVER],
        "hinted": [0],
        "unannounced": [1.0],
    } == found


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"cost": [1.0]}, 'needs the column "id"'),
        ({"id": [[1, 2]]}, "one dimension"),
        ({"id": [1, 2], "cost": [1.0]}, 'column "cost" must have one value for each of the 2 pages'),
        ({"id": [1, 2], "rate": [0.5]}, 'column "rate" must have one value for each of the 2 pages'),
        ({"id": [3, 1, 3]}, "page 3 is there twice"),
        ({"id": [3, 3]}, "page 3 is there twice"),
        ({"id": [1, 2], "cost": [1.0, 0.0]}, "page 2 must have a finite cost"),
        ({"id": [1, 2], "cost": [float("nan"), 1.0]}, "page 1 must have a finite cost"),
        ({"id": [1], "cost": [float("inf")]}, "page 1 must have a finite cost"),
        ({"id": [1], "importance": [-0.1]}, "finite importance"),
        ({"id": [1], "rate": [-0.1]}, "finite rate"),
        ({"id": [1], "importance": [float("nan")]}, "finite importance"),
        ({"id": [1], "urgency_kind": [3]}, "kind of urgency from 0 to 2"),
        ({"id": [1], "urgency_kind": [UrgencyKind.EXPONENTIAL], "urgency_scale": [0]}, "scale of urgency"),
        ({"id": [1], "urgency_kind": [UrgencyKind.WINDOW], "urgency_scale": [-1]}, "scale of urgency"),
        ({"id": [1], "life_kind": [-1]}, "kind of life from 0 to 3"),
        ({"id": [1], "life_kind": [LifeKind.CHANGES]}, "scale of life"),
        ({"id": [1], "host": [-1]}, "host number"),
        ({"id": [1], "shortest": [-1]}, "shortest interval"),
        ({"id": [1], "shortest": [9], "longest": [8]}, "longest interval"),
        ({"id": [1], "longest": [0]}, "longest interval"),
    ],
)
def test_invalid_column_is_refused(columns, words):
    """The error names the column or page."""
    with pytest.raises(ValueError, match=words):
        Population(columns)


def test_given_arrays_are_copied():
    """The caller may write to them later."""
    cost = np.array([1.0, 2.0])
    population = Population({"id": [1, 2], "cost": cost})
    cost[0] = 99.0

    assert [1.0, 2.0] == population["cost"].tolist()


def test_column_of_one_value_takes_the_space_of_one():
    """This is so after all additions and removals: an unset column costs nothing, and neither does
    one that is uniform again.
    """
    plain = Population({"id": np.arange(100), "added": np.arange(100)})
    other = plain.set([3], {"cost": 2.0})
    back = other.update([7, 200], {"present": [False, True]}).set([3], {"cost": 1.0}).update([201], {})
    strides = [[table[name].strides[0] for name in ("cost", "longest", "added")] for table in (plain, other, back)]

    assert [[0, 0, 8], [8, 0, 8], [0, 0, 8]] == strides
    assert [1.0, 2.0, 1.0] == other["cost"][2:5].tolist()
    assert [101, 101.0] == [back.size, back["cost"].sum()]


def test_arrays_are_read_only():
    """A caller cannot change a state."""
    with pytest.raises(ValueError, match="read-only"):
        three()["cost"][0] = 5.0


def test_rows_of_pages_are_found_in_any_order():
    """A page is found by its id."""
    assert [1, 0, 2] == three().rows([10, 30, 20]).tolist()


def test_unknown_page_is_named():
    """The error has the first one."""
    with pytest.raises(KeyError, match="no page 15"):
        three().rows([10, 15])


def test_unknown_pages_are_masked():
    """Rows are returned for known pages, with a mask of these."""
    rows, here = three().present([99, 20, 5, 30])

    assert [2, 0] == rows.tolist()
    assert [False, True, False, True] == here.tolist()
    assert [False, True] == three().has([11, 10]).tolist()


def test_set_changes_only_the_given_values():
    """Other pages keep theirs, and other columns are not copied."""
    before = three()
    after = before.set([1], {"cost": [9.0]})

    assert [1.0, 9.0, 3.0] == after["cost"].tolist()
    assert [1.0, 2.0, 3.0] == before["cost"].tolist()
    assert after["host"] is before["host"]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"id": [4]}, "id cannot be changed"),
        ({"speed": [4]}, 'no column "speed"'),
        ({"cost": [0]}, "page 10 must have"),
    ],
)
def test_set_refuses_impossible_values(columns, words):
    """Values are checked wherever they are given."""
    with pytest.raises(ValueError, match=words):
        three().set([1], columns)


def test_update_changes_adds_and_removes_pages():
    """One update may do all three; remaining pages keep their order, new ones come last with
    defaults.
    """
    after = three().update([10, 5, 30, 77], {"cost": [8, 6, 1, 1], "present": [True, True, False, False]})

    assert [10, 20, 5] == after.ids.tolist()
    assert [8.0, 3.0, 6.0] == after["cost"].tolist()
    assert [10, 20, 5] == after["host"].tolist()
    assert [0, 2] == after.rows([10, 5]).tolist()


def test_update_uses_a_single_value_for_all_pages():
    """It stands for each of the given pages."""
    assert [7.0, 7.0, 3.0] == three().update([10, 30], {"cost": 7}).set([], {})["cost"].tolist()


@pytest.mark.parametrize(
    ("ids", "columns", "words"),
    [
        ([10, 10], {"cost": [1, 2]}, "named twice"),
        ([10, 20], {"cost": [1, 2, 3]}, "one value for each of the 2"),
        ([40], {"speed": [1]}, "no column 'speed'"),
        ([10], {"speed": [1]}, 'no column "speed"'),
    ],
)
def test_update_refuses_impossible_values(ids, columns, words):
    """A repeated page, a column of the wrong length and an unknown one are errors."""
    with pytest.raises(ValueError, match=words):
        three().update(ids, columns)


def test_update_needs_columns_without_a_default():
    """They must be given for each new page."""
    population = Population({"id": [1], "shelf": [0.5]})
    with pytest.raises(ValueError, match='"shelf" has no default'):
        population.update([2], {})

    assert [0.5, 0.25] == population.update([2], {"shelf": [0.25]})["shelf"].tolist()
