"""Imports from kibitzr: a file is read check by check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tidings.clock import HOUR, MINUTE
from tidings.service.imports.draft import Draft, judge
from tidings.service.imports.kibitzr import read
from tidings.service.imports.reading import Files


def drafts(folder: Path, *checks: dict[str, Any], notifiers: Any = None) -> list[Draft]:
    """Return the drafts of checks."""
    path = folder / "kibitzr.yml"
    path.write_text(yaml.safe_dump({"checks": list(checks), "notifiers": notifiers or {}}))
    return list(read(Files(path)))


def test_check_without_a_period_has_five_minutes(tmp_path: Path):
    """This is the default of kibitzr."""
    first, second = drafts(
        tmp_path, {"name": "A", "url": "http://a.example/"}, {"url": "http://b.example/", "period": "1 hour"}
    )

    assert (5 * MINUTE, HOUR) == (first.every, second.every)
    assert ("A", "http://a.example/", ["all words"]) == (first.title, first.url, [part.text for part in first.parts])


def test_script_is_refused(tmp_path: Path):
    """So is a check without an address."""
    for check in ({"name": "A", "script": "echo"}, {"name": "A"}):
        (draft,) = drafts(tmp_path, check)

        assert draft.fault.startswith("it runs a script")


def test_batch_becomes_a_page_for_each_item(tmp_path: Path):
    """Each page has its own name."""
    check = {"batch": "Shop {}", "url-pattern": "http://a.example/{}", "items": ["x", "y"]}

    assert [("Shop x", "http://a.example/x"), ("Shop y", "http://a.example/y")] == [
        (draft.title, draft.url) for draft in drafts(tmp_path, check)
    ]


@pytest.mark.parametrize(
    ("schedule", "clauses"),
    [
        ([{"unit": "day", "at": "08:30"}, {"unit": "days", "at": "18:00"}], ["Fetch at 08:30, 18:00 daily"]),
        ([{"unit": "monday", "at": "08:30"}, {"unit": "friday", "at": "08:30"}], ["Fetch at 08:30 mon, fri"]),
        ({"unit": "sunday"}, ["Fetch at 00:00 sun"]),
    ],
)
def test_several_times_are_one_clause(tmp_path: Path, schedule: Any, clauses: list[str]):
    """Several times of a day, or several days."""
    (draft,) = drafts(tmp_path, {"name": "A", "url": "http://a.example/", "schedule": schedule})

    assert clauses == [clause.text for clause in draft.clauses]


def test_times_that_one_clause_cannot_say_are_reported(tmp_path: Path):
    """The first ones are imported; the job is not lost."""
    schedule = [{"unit": "monday", "at": "08:30"}, {"unit": "friday", "at": "09:00"}]
    (draft,) = drafts(tmp_path, {"name": "A", "url": "http://a.example/", "schedule": schedule})
    judged = judge(draft, "a", learn=False)

    assert "Fetch at 08:30 mon" in judged.text
    assert any("Fetch at 09:00 fri" in note.text for note in judged.notes if note.grade == "refused")


@pytest.mark.parametrize("field", ["period", "schedule", "transform", "notify"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), [[1]], {"every": "x"}, [3], True])
def test_field_of_an_unexpected_type_loses_no_check(tmp_path: Path, field: str, value: Any):
    """The other checks are read, and so are the other fields of the same check."""
    first, second = drafts(
        tmp_path, {"name": "A", "url": "http://a.example/", field: value}, {"name": "B", "url": "http://b.example/"}
    )

    assert ("http://a.example/", "http://b.example/") == (first.url, second.url)
    assert first.parts


IN_MAIN = (
    "xpath \"((//*[@id = 'main'])[1]"
    "//*[contains(concat(' ', normalize-space(@class), ' '), concat(' ', 'price', ' '))])[1]\""
)


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        (
            [{"css": "#main"}, {"css": ".price"}],
            IN_MAIN,
        ),
        ([{"css-all": "li, dd"}, {"css-all": "a"}], 'css "li a, dd a"'),
        ([{"xpath": "//ul"}, {"xpath-all": "//li"}], 'xpath "(//ul)[1]//li"'),
        ([{"xpath-all": "//ul"}, {"xpath": "//li"}], 'xpath "(//ul//li)[1]"'),
        ([{"jq": ".items[]"}, {"jq": ".price"}], 'jsonpath "$.items[*].price"'),
        ([{"css-all": "li"}, {"tag": "b"}], 'xpath "(//li//b)[1]"'),
    ],
)
def test_each_step_selects_in_what_the_one_before_left(tmp_path: Path, steps: Any, line: str):
    """So does kibitzr: the price is in the part, and nowhere else."""
    (draft,) = drafts(tmp_path, {"name": "A", "url": "http://a.example/", "transform": [*steps, "text"]})
    judged = judge(draft, "a", learn=False)

    assert f"Select {line}" in judged.text
    assert "translated" == judged.grade


@pytest.mark.parametrize("steps", [["text", {"css": "a"}], [{"css-all": "a"}, {"jq": ".a"}]])
def test_step_that_no_selector_can_say_is_left_out(tmp_path: Path, steps: Any):
    """The note says so."""
    (draft,) = drafts(tmp_path, {"name": "A", "url": "http://a.example/", "transform": steps})

    assert ["refused"] == [note.grade for note in draft.notes if "another step left" in note.text]


def test_each_receiver_is_imported(tmp_path: Path):
    """Lists of addresses and of chats."""
    notify = [
        {"smtp": {"recipients": ["a@x.example", "b@x.example, c@x.example"]}},
        {"telegram": {"token": "1:a", "chat": [5, 6]}},
    ]
    (draft,) = drafts(tmp_path, {"name": "A", "url": "http://a.example/", "notify": notify})

    assert [f"Notify by email {one}@x.example" for one in "abc"] + [
        "Notify by tgram://1:a/5",
        "Notify by tgram://1:a/6",
    ] == [clause.text for clause in draft.clauses]
