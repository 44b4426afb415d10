"""Troubles of all and of single sentinels, the worst first."""

from __future__ import annotations

import pytest

from tidings.service.health.trouble import Health, Severity, Trouble


def trouble(severity: Severity = "warn", *names: str, is_general: bool = False) -> Trouble:
    """Return a trouble of these sentinels."""
    words = f"{severity} of {', '.join(names) or 'all'}"
    return Trouble(brief="x", words=words, severity=severity, sentinels=names, is_general=is_general)


def words(health: Health) -> list[str]:
    """Return the words of the troubles."""
    return [one.words for one in health.troubles]


@pytest.mark.parametrize(
    ("severities", "status"),
    [((), "ok"), (("note",), "ok"), (("note", "warn"), "warn"), (("warn", "fail", "note"), "fail")],
)
def test_worst_trouble_decides_the_status(severities: tuple[Severity, ...], status: str):
    """A note alone is ok."""
    assert status == Health.of_all([trouble(one) for one in severities]).status


def test_worst_trouble_is_first_and_equal_ones_keep_their_order():
    """The order is that in which they were found."""
    found = [trouble("note", "a"), trouble("warn", "b"), trouble("fail", "c"), trouble("warn", "d")]

    assert ["fail of c", "warn of b", "warn of d", "note of a"] == words(Health.of_all(found))


def test_sentinel_has_its_own_and_the_general_troubles():
    """Each is listed once, in the same order."""
    found = [trouble("warn", "a", "b", "a"), trouble("fail", is_general=True), trouble("note", "b")]
    health = Health.of_all(found)

    assert ["fail of all", "warn of a, b, a"] == words(health.of("a"))
    assert ["fail of all", "warn of a, b, a", "note of b"] == words(health.of("b"))
    assert ["fail of all"] == words(health.of("c"))
    assert words(health.of("b")) == words(health.of_any(["b", "c"]))
    assert ["warn of a, b, a", "note of b"] == [one.words for one in health.own]


def test_line_of_a_trouble_has_its_fix():
    """Some troubles have no fix."""
    assert "w  (fix: tidings serve)" == Trouble(brief="x", words="w", mend="tidings serve").line
    assert "w" == Trouble(brief="x", words="w").line


def test_record_of_a_trouble_has_all_fields():
    """The record names the first sentinel, or the requested one."""
    record = trouble("fail", "a", "b").record()

    assert ("fail", ["a", "b"], None) == (record["severity"], record["sentinels"], record["since"])
    assert "a" in str(record)
    assert trouble("fail", "a", "b").record(sentinel="b") != record
