"""The memory of a subscription besides the versions of its page."""

from __future__ import annotations

import pytest

from tidings.detection.job.contract import Target
from tidings.model.watch.interest import Selector
from tidings.service.watch.subscription_memory import Remembered

KNOWN = Remembered(
    {"etag": '"1"', "x-gone": ""},
    ("first", "second"),
    (
        Target(selector=Selector("css", "#a"), bundle=("p", 1)),
        Target(selector=Selector("css", "#b"), stand_in=Selector("xpath", "//b")),
    ),
)


@pytest.mark.parametrize("known", [KNOWN, Remembered()], ids=["all", "nothing"])
def test_memory_round_trips(known: Remembered):
    """The memory has headers, marks and selectors; an empty one is an empty text."""
    assert known == Remembered.of(known.text)
    assert bool(known.text) == (known != Remembered())


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "7",
        '{"headers":3}',
        '{"marks":3}',
        '{"targets":[3]}',
        '{"targets":[["css"]]}',
        '{"targets":[["css","#a",3,[]]]}',
    ],
)
def test_unreadable_memory_is_empty(text: str):
    """A row of another version of Tidings, or a damaged one, must not stop the polls of a page."""
    assert Remembered() == Remembered.of(text)
