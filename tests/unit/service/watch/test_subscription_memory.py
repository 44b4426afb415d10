"""What a subscription knows beside the versions of its page."""

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
def test_what_is_stored_is_read_again(known: Remembered):
    """Headers, marks and selectors; nothing is stored as nothing."""
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
def test_what_cannot_be_read_is_as_if_nothing_were_known(text: str):
    """A row that another Tidings wrote, or that was damaged, keeps no page from being looked at."""
    assert Remembered() == Remembered.of(text)
