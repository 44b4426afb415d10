"""Response headers as content."""

from dataclasses import replace

import pytest

from tidings.detection.kinds.status import evaluate_headers, header_names, keep_headers
from tidings.model.watch.interest import AllOf, AnyOf, Condition, Interest, Not

VERSION, TAG = Interest("header", header="X-Version"), Interest("header", header="ETag")


def where(*condition, text="", others=(), direction=None):
    return Interest(
        "header",
        header="X-Version",
        direction=direction,
        where=(replace(Condition(*condition), text=text, others=others),),
    )


@pytest.mark.parametrize(
    ("interest", "old", "new", "expected"),
    [
        (VERSION, "1", "2", ((), (), (("X-Version: 1", "X-Version: 2"),))),
        (VERSION, "1", "1", ((), (), ())),
        (VERSION, "", "1", (("X-Version: 1",), (), ())),
        (VERSION, "1", "", ((), ("X-Version: 1",), ())),
        (where("matches", text=r"^2\."), "1.0", "2.0", ((), (), (("X-Version: 1.0", "X-Version: 2.0"),))),
        (where("matches", text=r"^2\."), "2.0", "3.0", ((), (), ())),
        (where("contains", text="BETA"), "1", "2-beta", ((), (), (("X-Version: 1", "X-Version: 2-beta"),))),
        (where("lacks", text="BETA"), "1", "2-beta", ((), (), ())),
        (
            where("lacks", text="rc", others=("alpha",)),
            "1",
            "2-beta",
            ((), (), (("X-Version: 1", "X-Version: 2-beta"),)),
        ),
        (
            where("contains", text="rc", others=("beta",)),
            "1",
            "2-beta",
            ((), (), (("X-Version: 1", "X-Version: 2-beta"),)),
        ),
        (
            where("contains", text="don't İSTANBUL"),
            "1",
            "don\u2019t is\u00adtanbul",
            ((), (), (("X-Version: 1", "X-Version: don\u2019t is\u00adtanbul"),)),
        ),
        (where("matches", text="^re-do$"), "1", "re\u2011do", ((), (), (("X-Version: 1", "X-Version: re\u2011do"),))),
        (where("value", ">", 5), "4", "v 6", ((), (), (("X-Version: 4", "X-Version: v 6"),))),
        (where("becomes", ">", 5), "6", "7", ((), (), ())),
        (where("drops", ">=", 50, True), "100", "50", ((), (), (("X-Version: 100", "X-Version: 50"),))),
        (where("value", ">", 5), "1", "none", ((), (), ())),
        (Interest("header", header="X-Version", direction="inserted"), "1", "2", ((), (), ())),
        (
            Interest("header", header="X-Version", direction="updated"),
            "1",
            "2",
            ((), (), (("X-Version: 1", "X-Version: 2"),)),
        ),
        (where("contains", text="1", direction="deleted"), "1", "", ((), ("X-Version: 1",), ())),
        (AnyOf((TAG, VERSION)), "1", "2", ((), (), (("X-Version: 1", "X-Version: 2"),))),
        (AllOf((TAG, VERSION)), "1", "2", ((), (), ())),
        (AllOf((VERSION, Not(TAG))), "1", "2", ((), (), (("X-Version: 1", "X-Version: 2"),))),
        (Interest("words"), "1", "2", ((), (), ())),
    ],
)
def test_changed_header_is_reported(interest, old, new, expected):
    """It is inserted, deleted or updated; conditions are about the new value, or about the deleted
    one.
    """
    change = evaluate_headers(interest, {"x-version": old, "etag": "a"}, {"x-version": new, "etag": "a"})

    assert expected == (change.inserted, change.deleted, change.updated)
    assert any(expected) == bool(change)


def test_first_value_of_a_header_is_a_baseline():
    """It is not reported."""
    assert not evaluate_headers(VERSION, {}, {"x-version": "1"})


def test_requested_headers_are_stored():
    """A 304 that does not repeat one removes nothing."""
    names = header_names(AnyOf((VERSION, Not(TAG), Interest("words"), VERSION)))
    text = {"X-VERSION": " 1\t2 ", "Other": "x"}

    assert ("x-version", "etag") == names
    assert {"x-version": "1 2", "etag": ""} == keep_headers(names, text, {"etag": "a"}, whole=True)
    assert {"x-version": "1 2", "etag": "a"} == keep_headers(names, text, {"etag": "a"}, whole=False)
