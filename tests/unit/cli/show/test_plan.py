"""`tidings plan` shows the next checks and their reasons."""

from __future__ import annotations

import pytest

from tidings.clock import HOUR
from tidings.scheduling.policies import POLICIES
from tidings.scheduling.policy import Remembers
from tidings.service.explain.explain_sentinel import BY_TURNS


@pytest.fixture
def watched(tidings, server):
    """Watch two pages, one of them at an interval."""
    server.pages["/other"] = server.pages["/news"]
    tidings("add", "--url", server.url("/news"), "--name", "hourly", "--every", "1h")
    tidings("add", "--url", server.url("/other"), "--name", "free")
    return tidings


def test_next_checks_are_listed_soonest_first_with_reasons(watched):
    """`--limit` sets how many are listed; the others are counted."""
    flags = ("--set", "schedule.policy=best_effort")
    *records, whole = watched("plan", "--json", *flags).records
    lines = watched("plan", "--limit", "1", *flags).out.splitlines()

    assert {"hourly", "free"} == {record["sentinel"] for record in records}
    assert all(record["record"] == "plan" and record["reason"] and record["url"] for record in records)
    assert sorted(record["at"] for record in records) == [record["at"] for record in records]
    assert {"check"} == {record["kind"] for record in records}
    assert "and 1 more" in lines[1]
    assert 3 == len(lines)
    assert "outline" == whole["kind"]
    assert 48.0 == whole["looks_a_day"]  # one each hour; the other one starts at the pace


def test_paused_sentinel_has_no_time(watched):
    """The reason names the command that enables the sentinel. An unknown name is an error."""
    watched("disable", "free")
    (record,) = watched("plan", "free", "--json").records
    unknown = watched("plan", "nobody")

    assert record["at"] is None
    assert "tidings enable free" in record["reason"]
    assert 2 == unknown.code
    assert "nobody" in unknown.err


def test_check_after_the_end_of_its_sentinel_is_not_planned(tidings, server, tmp_path):
    """The reason says so, in `plan` and in `show`."""
    statement = tmp_path / "short.sentinel"
    text = f"Create Sentinel short Using {server.url('/news')} Monitor all words Fetch every 1 day From now For 1 hour"
    statement.write_text(text, encoding="utf-8")
    tidings("add", str(statement))
    tidings("check", "short")
    (planned,) = tidings("plan", "--json", "short").records
    shown = [p for p in tidings("show", "short", "--json").records[0]["next"] if p["what"] == "check"]

    assert planned["at"] is None
    assert planned["reason"].startswith("none, because the sentinel ends before that")
    assert [(None, planned["reason"])] == [(poll["at"], poll["why"]) for poll in shown]


def test_start_at_the_end_of_a_dropped_sentinel_is_planned(tidings, server, tmp_path):
    """The service has not made its next step yet, but the time is known."""
    statement = tmp_path / "two.sentinel"
    page = server.url("/news")
    texts = [f"Create Sentinel x Using {page} Monitor all words"]
    texts += [f"Create Sentinel y Using {page} Monitor all words From end(x) + 1 hour"]
    statement.write_text(";".join(texts), encoding="utf-8")
    tidings("add", str(statement))
    tidings("check", "x")
    (before,) = [p for p in tidings("show", "y", "--json").records[0]["next"] if p["what"] == "start"]
    tidings("drop", "x")
    (after,) = [p for p in tidings("show", "y", "--json").records[0]["next"] if p["what"] == "start"]

    assert before["at"] is None
    assert after["at"] is not None


def test_each_page_of_a_paused_sentinel_is_listed(watched, server, tmp_path):
    """Each page is one record, with its own address."""
    pages = [server.url("/news"), server.url("/other")]
    statement = tmp_path / "both.sentinel"
    statement.write_text(f"Create Sentinel both Using {pages[0]}, {pages[1]} Monitor all words", encoding="utf-8")
    watched("add", str(statement))
    watched("check", "both")
    before = watched("plan", "both", "--json").records
    watched("disable", "both")
    after = watched("plan", "both", "--json").records

    assert pages == sorted(record["url"] for record in before)
    assert {(r["page"], r["url"]) for r in before} == {(r["page"], r["url"]) for r in after}
    assert [None, None] == [record["at"] for record in after]


def test_expert_flag_shows_learned_rates_and_prices(watched):
    """The policy `price` learns rates."""
    flags = ("--set", "schedule.policy=price")
    for _ in range(2):
        watched("check", "free", *flags)
    records = watched("plan", "--expert", "--json", *flags).records
    text = watched("plan", "--expert", *flags).out
    free = next(record for record in records if record.get("sentinel") == "free")
    kinds = {record["kind"]: record for record in records}

    assert free["learned"]["rate"]["shape"] > 0
    assert "changes a day expected" in text
    assert "price" == free["bid"]["due_by"]
    assert free["bid"]["wait"] == pytest.approx(free["bid"]["gap"], rel=1e-3)
    assert {"check", "outline", "price", "certificate"} == set(kinds)
    assert kinds["price"]["price"] == pytest.approx(kinds["price"]["floor"], rel=0.01)
    assert (24.0, False) == (kinds["price"]["promised"], kinds["price"]["binds"])
    assert kinds["certificate"]["share"] is None
    assert "none yet: it needs 7 days of checks" in text


def test_show_and_plan_agree_under_round_robin(watched):
    """This policy keeps no instants: both commands ask the planner."""
    flags = ("--set", "schedule.policy=round_robin")
    watched("check", "free", *flags)
    (planned,) = watched("plan", "free", "--json", *flags).records
    (shown,) = [p for p in watched("show", "free", "--json", *flags).records[0]["next"] if p["what"] == "check"]

    assert (planned["at"], planned["reason"]) == (shown["at"], shown["why"])
    assert "in turn, about every" in planned["reason"]


def test_policies_without_instants_are_listed():
    """For all others, the plan reads the instants that they keep."""
    made = {name: make(HOUR) for name, make in POLICIES.items()}

    assert BY_TURNS == {name for name, policy in made.items() if not isinstance(policy, Remembers)}


def test_expert_flag_without_prices_shows_rates_only(watched):
    """Expert words never occur in the ordinary plan."""
    text = watched("plan", "--expert", "--set", "schedule.policy=best_effort").out
    plain = watched("plan", "--set", "schedule.policy=price").out

    assert not [word for word in ("price", "certificate") if word in text]
    assert not [word for word in ("price", "bid", "CEI", "posterior", "certificate") if word in plain]
    assert "schedule.pace_seconds = 7200 halves them, 1800 doubles them" in plain


def test_expert_flag_works_with_every_policy(watched):
    """A policy may have no price, no rates or no instants."""
    text = {name: watched("plan", "--expert", "--json", "--set", f"schedule.policy={name}") for name in POLICIES}

    assert {0} == {each.code for each in text.values()}
    assert {"check", "outline"} <= {record["kind"] for record in text["round_robin"].records}
    assert {"check", "outline", "price", "certificate"} == {record["kind"] for record in text["price_hours"].records}


def test_plan_without_sentinels_names_the_next_command(tidings, server):
    """The command is `tidings add`."""
    tidings("add", "--url", server.url("/news"), "--name", "n")
    tidings("drop", "n")

    assert "tidings add" in tidings("plan").out
