"""The lines that the demo prints, within the width of the terminal."""

from __future__ import annotations

from typing import Any

import pytest

from tidings.demo.report import Logged, Notified, Tally, count_fixed_interval, describe, evenly, head, lines, tally

CHANGE: dict[str, Any] = {
    "record": "change",
    "sentinel": "kettle",
    "url": "http://127.0.0.2:8000/",
    "inserted": [],
    "deleted": [],
    "updated": [{"old": "31", "new": "29"}],
    "moved": [],
    "summary": '1 text updated: "31" → "29"',
    "edit": "the kettle: 29, below 30",
    "edits": 1,
    "delay_seconds": 1.26,
    "elapsed_seconds": 68.4,
}
SUMMARY: dict[str, Any] = {
    "record": "summary",
    "last": False,
    "elapsed_seconds": 90.0,
    "changes": 95,
    "looks": 918,
    "told": 88,
    "median_seconds": 1.62,
    "overtaken": 2,
    "waiting": 5,
    "quiet_versions": 81,
    "false_alarms": 0,
    "fixed": {"interval_seconds": 3.21, "told": 78, "median_seconds": 1.94},
}
NOTES: list[dict[str, Any]] = [
    {"kind": "begin", "pages": 35},
    {"kind": "ready", "seconds": 1.5, "url": "http://127.0.0.1:8999/"},
    {
        "kind": "error",
        "error": "5xx",
        "sentinel": "library",
        "text": "the server answered 500: it has an internal error",
        "retry_seconds": 60,
    },
    {"kind": "recovered", "sentinel": "library", "seconds": 60.2},
    {"kind": "fault", "log": "/srv/demo/serve.log"},
    {"kind": "killed", "pid": 4711},
    {"kind": "back", "seconds": 1.1},
    {"kind": "kept", "versions": 99, "changes": 34, "repeated": 2},
]


def test_change_is_one_line_with_its_delay():
    """The line has the time, the page, the edit, the reported change and the delay."""
    (line,) = lines(CHANGE)

    assert ' 1:08  kettle    the kettle: 29, below 30  "31" → "29"                     1.3 s' == line


def test_line_counts_edits_reported_together():
    """Without the count, the line would claim that each edit was reported."""
    (line,) = lines({**CHANGE, "edits": 3})

    assert "(3 edits)" in line


def test_false_alarm_is_named():
    """A message that no edit explains is a false alarm."""
    (line,) = lines({key: value for key, value in CHANGE.items() if key != "delay_seconds"} | {"edit": "", "edits": 0})

    assert "false alarm" in line


def test_blocked_page_is_shown_with_its_reason_and_as_no_change():
    """The details of the page's words are left out."""
    record = {
        "kind": "error",
        "error": "blocked",
        "sentinel": "tickets",
        "text": "this looks like a wall; it has 4 words",
    }
    text = " ".join(
        " ".join(lines({"record": "note", "elapsed_seconds": 20.0, "retry_seconds": 300, **record})).split()
    )

    assert "is blocked, not changed: this looks like a wall. Nobody is notified; it is checked again in 300 s." in text


def test_summary_compares_tidings_with_a_fixed_interval():
    """Both numbers of reported changes are shown, and the reasons for the others."""
    text = " ".join(" ".join(lines(SUMMARY)).split())

    assert "Tidings reported 88 of 95 changes with 918 checks, median 1.6 s;" in text
    assert "a fixed interval with as many checks (3.2 s): 78 of 95, median 1.9 s." in text
    assert "2 overtaken by the page's next edit, 5 not checked yet" in text
    assert "81 quiet changes kept (not asked for, so not reported); 0 false alarms." in text


def test_summary_without_reports_has_no_median():
    """The line ends after the checks."""
    empty = {**SUMMARY, "told": 0, "median_seconds": None, "overtaken": 0, "waiting": 0}

    assert "Tidings reported 0 of 95 changes with 918 checks;" in " ".join(lines(empty))


@pytest.mark.parametrize("width", [64, 80, 110])
@pytest.mark.parametrize(
    "record",
    [
        {**CHANGE, "updated": [{"old": "a long text " * 9, "new": "b"}], "edit": "something long happened there, twice", "edits": 12},
        SUMMARY,
        *({"record": "note", "elapsed_seconds": 3599.0, **note} for note in NOTES),
    ],
    ids=lambda record: record.get("kind", record["record"]),
)  # fmt: skip
def test_every_line_fits_the_terminal_width(record, width):
    """The terminal wraps no record and no header."""
    longest = max(len(line) for line in [*lines(record, width=width), head(width)])

    assert longest <= width


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"updated": [{"old": "31", "new": "29"}]}, '"31" → "29"'),
        ({"inserted": ["http://127.0.0.2:8000/fair/1"]}, '+ "/fair/1"'),
        ({"deleted": ["gone"], "moved": ["here"]}, 'moved "here", - "gone"'),
        ({}, "one thing changed"),
    ],
)
def test_change_is_described_by_its_texts(found, expected):
    """Addresses on the page itself are shortened. Without texts, the summary is shown."""
    nothing: dict[str, Any] = {"updated": [], "inserted": [], "deleted": [], "moved": []}

    assert expected == describe({"url": "http://127.0.0.2:8000/", "summary": "one thing changed", **nothing, **found})


S = 1_000_000


def edits(*seconds, contents=None):
    contents = contents or [f"content {number}" for number in range(1, len(seconds) + 1)]
    return [Logged(at * S, "edited", content) for at, content in zip(seconds, contents, strict=True)]


LOG = {"shop": edits(10, 20, 22, 40), "board": edits(15)}
OPENING = {"shop": "content 0", "board": "content 0"}


def test_message_counts_once_with_the_delay_of_its_oldest_edit():
    """One message at 25 reports the edits at 20 and 22: one reported change with a delay of 5 s,
    and one overtaken edit.
    """
    tallied = tally(LOG, {"shop": [Notified(1, 11 * S), Notified(3, 25 * S)], "board": [Notified(1, 18 * S)]})

    assert Tally(delays=(1 * S, 5 * S, 3 * S), overtaken=1, waiting=1) == tallied
    assert 3 == tallied.reported
    assert 3.0 == tallied.median_seconds


def test_every_edit_is_reported_overtaken_or_waiting():
    """The three counts add up to the number of edits."""
    tallied = tally(LOG, {"shop": [Notified(3, 25 * S)]})

    assert sum(map(len, LOG.values())) == tallied.reported + tallied.overtaken + tallied.waiting


def test_order_and_repeats_of_messages_do_not_change_the_count():
    """A message may arrive late or twice."""
    in_order = tally(LOG, {"shop": [Notified(1, 11 * S), Notified(3, 25 * S)]})
    disturbed = tally(LOG, {"shop": [Notified(3, 25 * S), Notified(1, 11 * S), Notified(3, 26 * S)]})

    assert in_order == disturbed


def test_tally_without_messages_has_no_median():
    """All edits are waiting."""
    assert None is tally(LOG, {}).median_seconds
    assert 5 == tally(LOG, {}).waiting


def test_polls_are_distributed_evenly_and_completely():
    """The fixed interval has exactly as many polls as Tidings."""
    assert {"a": 4, "b": 3, "c": 3} == evenly(10, ("a", "b", "c"))


def test_fixed_interval_counts_merged_edits_once():
    """Five polls from 0 to 50 s are at 5, 15, 25, 35 and 45: they see the edits at 20 and 22 as one
    change.
    """
    tallied = count_fixed_interval({"shop": LOG["shop"]}, OPENING, polls={"shop": 5}, alive=[(0, 50 * S)])

    assert Tally(delays=(5 * S, 5 * S, 5 * S), overtaken=1, waiting=0) == tallied


def test_fixed_interval_sees_nothing_while_the_server_is_down():
    """The poll at 15 s fails; the edit of 10 s is seen with the others at 25 s."""
    tallied = count_fixed_interval(
        {"shop": LOG["shop"]},
        OPENING,
        polls={"shop": 5},
        alive=[(0, 50 * S)],
        is_down=lambda place, at: place == "shop" and at == 15 * S,
    )

    assert Tally(delays=(15 * S, 5 * S), overtaken=2, waiting=0) == tallied


def test_fixed_interval_has_no_polls_while_the_service_is_dead():
    """The polls are distributed over the time in which the service runs: with 20 s dead, five polls
    in 50 s are still 10 s apart.
    """
    tallied = count_fixed_interval(
        {"shop": edits(38)}, OPENING, polls={"shop": 5}, alive=[(0, 20 * S), (40 * S, 70 * S)]
    )

    assert Tally(delays=(7 * S,), overtaken=0, waiting=0) == tallied


def test_fixed_interval_does_not_see_a_reverted_edit():
    """The page has the content of the last poll again."""
    log = {"shop": edits(11, 13, contents=["sale", "content 0"])}
    tallied = count_fixed_interval(log, OPENING, polls={"shop": 5}, alive=[(0, 50 * S)])

    assert 0 == tallied.reported


@pytest.mark.parametrize("polls", [0, 1])
def test_fixed_interval_with_few_polls_reports_no_more_than_polls(polls):
    """The numbers of polls are 0 and 1."""
    tallied = count_fixed_interval({"board": LOG["board"]}, OPENING, polls={"board": polls}, alive=[(0, 50 * S)])

    assert polls == tallied.reported
