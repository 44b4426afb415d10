"""The state of budget classes in add, list, show, check and doctor."""

from __future__ import annotations

import pytest


@pytest.fixture
def classed(tidings, server, tmp_path, monkeypatch):
    """Watch a page in a class that allows one check a week, and one without a class."""
    monkeypatch.setenv("TIDINGS_BUDGET_CLASSES", "gentle: 1 per week")
    monkeypatch.setenv("TIDINGS_SCHEDULE_POLICY", "best_effort")
    path = tmp_path / "s.txt"
    path.write_text(
        f"Create Sentinel a Using {server.url('/news')} Monitor any change Class gentle Urgency uniform;"
        f" Create Sentinel b Using {server.url('/b')} Monitor any change"
    )
    tidings.added = tidings("add", str(path))
    return tidings


def test_add_warns_of_unused_clauses_and_refuses_an_unknown_class(classed, server, tmp_path):
    """A clause that the policy does not read is a warning. The error of an unknown class suggests
    the nearest one.
    """
    path = tmp_path / "t.txt"
    path.write_text(f"Create Sentinel c Using {server.url('/c')} Monitor any change Class gentel")
    refused = classed("add", str(path))

    assert (0, 2) == (classed.added.code, refused.code)
    assert "W19" in classed.added.err
    assert "schedule.policy = best_effort" in classed.added.err
    assert "E48" in refused.err
    assert 'did you mean "gentle"?' in refused.err


def test_list_and_show_report_the_class_and_its_budget(classed, tidings, monkeypatch):
    """The budget is full, used up until an instant, or no longer in the settings."""
    full = tidings("show", "a").out
    (row,) = [line.split() for line in tidings("list").out.splitlines() if line.startswith("a ")]
    tidings("check", "a")
    spent, record = tidings("show", "a").out, tidings("show", "a", "--json").records[0]
    again = tidings("check", "a")
    monkeypatch.delenv("TIDINGS_BUDGET_CLASSES")
    gone = tidings("show", "a").out

    assert "gentle" == row[2]
    assert "class gentle: 1 per week; 1 can be used now" in full
    assert "class gentle: 1 per week; it is used up, and allowed again at 20" in spent
    assert ("gentle", "gentle", "1 per week") == (record["class"], *(record["budget"][k] for k in ("class", "allows")))
    assert record["budget"]["left"] < 0.01
    assert 3 == again.code
    assert "budget.classes" in again.err
    assert "class gentle: is not defined (budget.classes); the budget of all checks is used" in gone
    assert "class" not in tidings("show", "b").out


def test_doctor_reports_classes_and_sentinels_of_a_removed_class(classed, tidings, monkeypatch):
    """A class that is no longer in the settings limits no checks, so its sentinels are listed."""
    before = [line for line in tidings("doctor").out.splitlines() if line.split()[1:2] == ["class"]]
    monkeypatch.setenv("TIDINGS_BUDGET_CLASSES", "other: 1 per week")
    after = tidings("doctor").out.splitlines()

    assert 1 == len(before)
    assert "gentle: 1 per week; 1 can be used now" in before[0]
    assert any("a names the class gentle, which is not defined" in line for line in after)
