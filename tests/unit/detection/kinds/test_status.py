"""Response headers as content."""

from dataclasses import replace

import pytest

from tidings.detection.kinds.status import evaluate_headers, header_names, keep_headers
from tidings.model.watch.interest import AllOf, AnyOf, Condition, Interest, Not

VERSION, TAG = Interest("header", header="X-Version"), Interest("header", header="ETag")


def where(*condition, text="", direction=None):
    return Interest(
        "header", header="X-Version", direction=direction, where=(replace(Condition(*condition), text=text),)
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
def test_what_changed_of_a_header(interest, old, new, expected):
    """It comes, goes or has another value; conditions are on the new one, or on the one that went."""
    change = evaluate_headers(interest, {"x-version": old, "etag": "a"}, {"x-version": new, "etag": "a"})

    assert expected == (change.inserted, change.deleted, change.updated)
    assert any(expected) == bool(change)


def test_a_header_never_looked_at_is_no_news():
    """The first answer is a baseline."""
    assert not evaluate_headers(VERSION, {}, {"x-version": "1"})


def test_what_is_kept_of_an_answer():
    """The headers that are asked for; a 304 that does not repeat one takes nothing away."""
    names = header_names(AnyOf((VERSION, Not(TAG), Interest("words"), VERSION)))
    said = {"X-VERSION": " 1\t2 ", "Other": "x"}

    assert ("x-version", "etag") == names
    assert {"x-version": "1 2", "etag": ""} == keep_headers(names, said, {"etag": "a"}, whole=True)
    assert {"x-version": "1 2", "etag": "a"} == keep_headers(names, said, {"etag": "a"}, whole=False)
