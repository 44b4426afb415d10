from types import SimpleNamespace
from typing import Any

from tidings.cli.run import check
from tidings.cli.run.check import _Waiting
from tidings.service.run.check import Checked, Results


def test_wait_is_printed_once_until_it_changes(capsys):
    """Without a terminal too: a user who runs `check` by cron can read why it takes long (S-7)."""
    say = _Waiting()
    for text in ("waiting for a", "waiting for a", "waiting for b"):
        say(text)

    assert "tidings: waiting for a\ntidings: waiting for b\n" == capsys.readouterr().err


def test_results_are_printed_once(capsys: Any) -> None:
    """What is committed together is printed at once; a new version without a change waits for the
    end, since a change of several pages may still include it.
    """
    report = check._Report(as_json=False, is_quiet=False)
    polled = [(_poll(1, "unchanged"), "http://a.example/1"), (_poll(2, "changed"), "http://a.example/2")]
    report.note([Results([one], []) for one in polled])

    assert "unchanged  http://a.example/1\n" == capsys.readouterr().out

    database: Any = SimpleNamespace(read=lambda _, ids: {id_: f"http://a.example/{id_}" for id_ in ids})
    report.rest(Checked(polls=[poll for poll, _ in polled]), database)

    assert (
        "no news  http://a.example/2  a new version is stored, but nothing that you watch changed\n"
        == capsys.readouterr().out
    )


def _poll(number: int, outcome: str) -> Any:
    return SimpleNamespace(id=number, page_id=number, outcome=outcome)


def test_all_checks_every_enabled_sentinel(tidings, server):
    """Even those that are not due; a paused one is left out."""
    for name in ("one", "two", "paused"):
        server.pages[f"/{name}"] = server.pages["/news"]
        tidings("add", "--url", server.url(f"/{name}"), "--name", name)
    tidings("disable", "paused")
    ran = tidings("check", "--all", "--json")

    assert {server.url("/one"), server.url("/two")} == {one["url"] for one in ran.records if one["record"] == "poll"}
    assert 2 == tidings("check", "--all", "one").code
