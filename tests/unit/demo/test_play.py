"""The demo's receiver of messages, and a whole run with the real service."""

from __future__ import annotations

import json
import signal

import pytest

from tidings.cli.main import main
from tidings.clock import SECOND
from tidings.demo import script
from tidings.demo.play import Performance
from tidings.demo.script import TownEdit
from tidings.notification.webhook import signature
from tidings.service.show.records import rfc3339

KEYS = (b"k" * 32,)


@pytest.fixture
def text():
    return []


@pytest.fixture
def performance(tmp_path, text):
    """Return a performance whose town is awake."""
    play = Performance(tmp_path, text.append, seed=1, keys=KEYS)
    play._town.wake()
    return play


def edit_and_poll(play, number):
    """Edit the kettle, let a poll see the edit, and return the time of the poll."""
    house = play._town.houses["kettle"]
    play._town.edit(TownEdit(1.0, "kettle", f"edit {number}", f"content {number}"))
    house.seen_at.append(play._clock.now())
    house.seen.append(len(house.log))
    return rfc3339(play._clock.now())


def post(play, message_id, polled_at, *, keys=KEYS, kind="change"):
    record = {"record": kind, "id": f"change-{message_id}", "sentinel": "kettle", "polled_at": polled_at}
    body = json.dumps({"type": "change.found", "data": record}).encode()
    stamp = play._clock.now() // SECOND
    headers = {
        "webhook-id": message_id,
        "webhook-timestamp": str(stamp),
        "webhook-signature": signature(message_id, stamp * SECOND, body=body, keys=keys),
    }
    return play.receive(headers, body)


def test_message_is_shown_with_its_edit_and_delay(performance, text):
    """The record has the edit, the number of edits, and the delay since the edit."""
    status = post(performance, "m1", edit_and_poll(performance, 1))

    assert 204 == status
    assert [("edit 1", 1)] == [(record["edit"], record["edits"]) for record in text]
    assert 0 <= text[0]["delay_seconds"] < 5


def test_unsigned_message_is_refused(performance, text):
    """Only the service may report changes: another key and a missing signature get 401."""
    polled_at = edit_and_poll(performance, 1)

    assert 401 == post(performance, "m1", polled_at, keys=(b"x" * 32,))
    assert 401 == performance.receive({}, b"{}")
    assert [] == text


def test_bulletin_is_accepted_and_is_no_change(performance, text):
    """The service sends a bulletin without `id`, for example when a page cannot be read."""
    body = json.dumps(
        {"type": "tidings.bulletin", "data": {"record": "bulletin", "text": "a page is blocked"}}
    ).encode()
    stamp = performance._clock.now() // SECOND
    signed = signature("b1", stamp * SECOND, body=body, keys=KEYS)
    headers = {"webhook-id": "b1", "webhook-timestamp": str(stamp), "webhook-signature": signed}

    assert 204 == performance.receive(headers, body)
    assert ([], 0) == (text, performance._false_alarms)


def test_repeated_message_is_shown_once(performance, text):
    """The second message has the same id. It is accepted, and counted only as a repeat."""
    polled_at = edit_and_poll(performance, 1)
    statuses = [post(performance, "m1", polled_at), post(performance, "m1", polled_at)]

    assert [204, 204] == statuses
    assert 1 == len(text)


def test_message_for_two_edits_counts_both(performance, text):
    """Both edits happened between two polls."""
    edit_and_poll(performance, 1)
    post(performance, "m1", edit_and_poll(performance, 2))

    assert [("edit 2", 2)] == [(record["edit"], record["edits"]) for record in text]


def test_messages_out_of_order_are_no_false_alarms(performance, text):
    """A delivery that was repeated may arrive after the next one."""
    first, second = edit_and_poll(performance, 1), edit_and_poll(performance, 2)
    post(performance, "m2", second)
    post(performance, "m1", first)

    assert ["edit 2", "edit 1"] == [record["edit"] for record in text]


def test_second_message_for_the_same_poll_is_a_false_alarm(performance, text):
    """No edit explains it: the first message has reported the page's state."""
    polled_at = edit_and_poll(performance, 1)
    post(performance, "m1", polled_at)
    post(performance, "m2", polled_at)

    assert ["edit 1", ""] == [record["edit"] for record in text]


def test_short_run_reports_changes_survives_a_kill_and_exits_with_0(tmp_path, monkeypatch, capsys):
    """The command runs its real service: changes are reported after kill -9 too, and Ctrl-C after
    the next change ends the run.
    """
    monkeypatch.setattr(script, "KILLS", (3.0, 180.0))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("TIDINGS_DATA", str(tmp_path / "real"))
    note, receive, noted = Performance._note, Performance.receive, []

    def noting(play, kind, **more):
        noted.append(kind)
        note(play, kind, **more)

    def receiving(play, headers, body):
        status = receive(play, headers, body)
        if "back" in noted:
            signal.raise_signal(signal.SIGINT)
        return status

    monkeypatch.setattr(Performance, "_note", noting)
    monkeypatch.setattr(Performance, "receive", receiving)

    code = main(["demo", "--for", "60s", "--json"])

    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    changes = [record for record in records if record["record"] == "change"]
    kinds = [record.get("kind") for record in records if record["record"] == "note"]
    summary = records[-1]
    assert 0 == code
    assert ["begin", "ready", "killed", "back", "kept"] == [
        kind for kind in kinds if kind not in {"error", "recovered"}
    ]
    assert 1 <= summary["told"] == len(changes)
    assert 0 == summary["false_alarms"]
    assert summary["told"] + summary["overtaken"] + summary["waiting"] == summary["changes"]
    assert not (tmp_path / "real").exists()
