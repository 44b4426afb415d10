"""`tidings lab`: policies beside each other; what is named there is not taken by the service."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import WebServer
from tidings.lab.compare import COLUMNS
from tidings.scheduling.policies import TO_COMPARE

SMALL = ("--pages", "5", "--days", "2")


def test_the_policy_in_use_and_those_named_are_compared_in_one_world(tidings):
    """A line each, the one in use first; with `--json` a record each, the same numbers again from the same seed."""
    named = ("lab", *SMALL, "--set", "lab.policies=sbr, random", "--set", "schedule.policy=best_effort")
    head, *lines = tidings(*named).out.splitlines()
    records = tidings(*named, "--json").records

    assert ["policy", *COLUMNS] == head.split()
    assert ["best_effort", "sbr", "random"] == [line.split()[0] for line in lines]
    assert ["best_effort", "sbr", "random"] == [record["policy"] for record in records]
    assert all(0 <= record["fresh"] <= 1 and 0 < record["used"] <= 1.5 for record in records)
    assert records == tidings(*named, "--json").records


def test_a_policy_that_nobody_knows_is_refused(tidings):
    """With all that are, the laboratory's among them; and so is a world of nothing."""
    unknown = tidings("lab", *SMALL, "--set", "lab.policies=edf")

    assert (2, True) == (unknown.code, 'no policy "edf"' in unknown.err)
    assert "azar" in unknown.err
    assert 2 == tidings("lab", "--pages", "0").code


@pytest.mark.parametrize("verb", [("check",), ("serve", "--port", "0"), ("plan", "--expert")])
def test_a_setting_of_an_earlier_version_that_names_such_a_policy_is_refused(
    tidings, server: WebServer, tmp_path: Path, verb: tuple[str, ...]
):
    """The error names the policies that the service has; nothing was polled, what is watched stays, and another policy goes on with it."""
    tidings("add", "--url", server.url("/news"), "--name", "n")
    before = len(server.seen)
    (tmp_path / "data" / "tidings.toml").write_text("[schedule]\npolicy = 'cam'\n")
    refused = tidings(*verb)
    asked = len(server.seen) - before
    (tmp_path / "data" / "tidings.toml").write_text("[schedule]\npolicy = 'price'\n")

    assert 2 == refused.code
    assert 'the policy "cam" is one of the laboratory' in refused.err
    assert "there are: best_effort, best_effort_weighted, price, price_hours, round_robin, wic" in refused.err
    assert 0 == asked
    assert 0 == tidings("check", "n").code
    assert len(server.seen) > before


def test_what_is_watched_is_shown_whatever_the_policy_is_called(tidings, server: WebServer):
    """`list`, `show` and `changes` work with a policy that the service refuses."""
    tidings("add", "--url", server.url("/news"), "--name", "n")
    for name in TO_COMPARE[:2]:
        said = [tidings(*verb, "--set", f"schedule.policy={name}") for verb in (("list",), ("show", "n"), ("changes",))]

        assert [0, 0, 0] == [each.code for each in said]
