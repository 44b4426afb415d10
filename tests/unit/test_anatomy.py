"""Where the CPU of a poll goes (`bench/anatomy.py`): what is added up, and that counting leaves nothing behind."""

from collections import Counter

import pytest
from bench.anatomy import ROUNDS, counting, layer, measure_spent, table

from tidings import record
from tidings.model.observed.page import Saturation
from tidings.service.examine import page_state
from tidings.storage.db.connection import Connection


@pytest.mark.parametrize(
    ("thread", "expected"), [("MainThread", "loop"), ("store_0", "store"), ("asyncio_3", "other"), ("", "other")]
)
def test_a_thread_belongs_to_a_layer(thread, expected):
    """By the name that the pool of threads gives it."""
    assert expected == layer(thread)


def test_a_layer_has_spent_what_its_threads_have():
    """One that is new counts from its start, one that has ended not at all."""
    before = {("loop", 1): 100, ("worker", 7): 50, ("other", 2): 9}
    after = {("loop", 1): 130, ("worker", 7): 60, ("worker", 8): 5}

    assert {"loop": 30, "store": 0, "other": 0, "worker": 15} == measure_spent(before, after)


def test_dear_steps_are_counted_while_asked_for_and_not_after():
    """Statements, the rows that they write, and each `replace` by its class."""
    counts: Counter[str] = Counter()

    def run(_text, _rows):
        return type("Cursor", (), {"rowcount": 2, "fetchall": list})

    connection, text = Connection("sqlite", run, run), "SELECT 1"
    with counting(counts):
        connection.rows(text)
        connection.many(text, [{}, {}])
        connection.many(text, [])
        vars(page_state)["replace"](Saturation(), polls=1)
    connection.rows(text)
    vars(page_state)["replace"](Saturation(), polls=2)

    assert {"statements": 2, "rows written": 2, "replace": 1, "  replace Saturation": 1} == counts
    assert vars(page_state)["replace"] is record.replace


def test_the_table_has_a_row_for_each_layer_and_each_count():
    """What was not counted in a round has an empty cell."""
    result = {name: {"loop": 1, "store": 0.5, "other": 0, "worker": 2, "all": 3.5, "counts": {}} for name in ROUNDS}
    result["changed"]["counts"] = {"statements": 16.4}

    lines = table(result).splitlines()

    assert ["all", "3.500", "3.500", "3.500"] == lines[5].split()
    assert ["statements", "16.4"] == lines[-1].split()
