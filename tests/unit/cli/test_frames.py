"""The commands on a page with frames."""

from __future__ import annotations

import pytest

from tests.fakes import Page

HTML = {"Content-Type": "text/html; charset=utf-8"}


def _show(server, text: str) -> None:
    base = (
        "<title>Manual</title><frameset><frame src=/menu><frame src=/text><frame src=https://ads.example/></frameset>"
    )
    server.pages["/manual"] = Page(base.encode(), HTML)
    server.pages["/menu"] = Page(b"<p>menu one two three</p>", HTML)
    server.pages["/text"] = Page(f"<p>text {text}</p>".encode(), HTML)


@pytest.fixture(autouse=True)
def floor(monkeypatch, tidings):
    """Set a floor, so that frames are first polled when a user runs `check`."""
    monkeypatch.setenv("TIDINGS_FETCH_PAGE_FLOOR_SECONDS", "60")


@pytest.fixture
def manual(tidings, server):
    """Watch a page with two frames of its own site as `m`; it was polled twice."""
    _show(server, "of yore")
    tidings("add", "--url", server.url("/manual"), "--name", "m")
    tidings("check", "m")
    return tidings


def test_first_check_counts_the_frames(tidings, server):
    """`add --url` returns at once; the frames are polled at the next check."""
    _show(server, "of yore")
    ran = tidings("add", "--url", server.url("/manual"), "--name", "m")

    assert "2 frames)" in ran.out
    assert "/text" not in server.paths()
    tidings("check", "m")
    assert {"/manual", "/menu", "/text"} <= set(server.paths())


def test_first_version_of_a_frame_is_a_baseline(manual, server):
    """Later changes of the frame are reported with its address."""
    assert [] == manual("changes", "--json").records
    _show(server, "of today")
    records = manual("check", "m", "--json").records
    (change,) = [record for record in records if record["record"] == "change"]
    polls = {record["url"]: record["outcome"] for record in records if record["record"] == "poll"}

    assert {"/manual": "changed", "/menu": "unchanged", "/text": "changed"} == {
        url.removeprefix(server.url("")): outcome for url, outcome in polls.items()
    }
    assert [server.url("/text")] == [frame["url"] for frame in change["frames"]]
    assert "in text" in change["summary"]


def test_history_counts_the_frames_of_each_version(manual):
    """There is a column in the text, and a field in the records."""
    shown = manual("history", "m").out

    assert [0, 2] == [record["frames"] for record in manual("history", "m", "--json").records]
    assert "FRAMES" in shown


def test_diff_names_the_frame_and_counts_frames(manual, server):
    """This holds for stored changes and for versions compared on demand, as text and as HTML."""
    _show(server, "of today")
    manual("check", "m")
    _show(server, "of the morrow")
    manual("check", "m")
    stored, asked = manual("diff", "m", "2", "3"), manual("diff", "m", "2", "4")
    page = manual("diff", "m", "2", "4", "--format", "html").out

    for ran in (stored, asked):
        assert f"in {server.url('/text')}" in ran.out
        assert "UTC, 2 frames" in ran.out
    assert "[-yore-]{+the morrow+}" in asked.out
    assert f'in <a href="{server.url("/text")}"' in page
    assert [server.url("/text")] == [f["url"] for f in manual("diff", "m", "2", "4", "--json").records[0]["frames"]]


def test_show_lists_frames_and_names_the_failed_one(manual, server):
    """A frame in error is named with its reason, while the page itself is ok."""
    server.pages["/text"] = Page(b"gone", status=410)
    manual("check", "m")
    shown = manual("show", "m")
    (record,) = manual("show", "m", "--json").records

    assert f"2 frames: {server.url('/menu')}, {server.url('/text')}" in shown.out
    assert f"partial: {server.url('/text')}: 410" in shown.out
    assert ["ok", "error"] == [frame["health"] for frame in record["pages"][0]["frames"]]
    assert "partial" in manual("list").out
    assert True is manual("history", "m", "--polls", "--json").records[-1]["partial"]


def test_command_lists_frames_without_polling_them(tidings, server, tmp_path):
    """`tidings test` names the frames that would be polled."""
    _show(server, "of yore")
    path = tmp_path / "s.txt"
    path.write_text(f"Create Sentinel m Using {server.url('/manual')} Monitor any change")
    ran = tidings("test", str(path))

    assert f"frames   2: {server.url('/menu')}, {server.url('/text')}" in ran.out
    assert [server.url("/menu"), server.url("/text")] == tidings("test", str(path), "--json").records[0]["frames"]
    assert "/text" not in server.paths()
