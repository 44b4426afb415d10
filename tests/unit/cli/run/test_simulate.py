"""`tidings lab` compares policies; the service refuses the laboratory's policies."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import WebServer
from tidings.lab.compare import COLUMNS
from tidings.scheduling.policies import TO_COMPARE

SMALL = ("--pages", "5", "--days", "2")


def test_current_and_named_policies_are_compared_on_the_same_pages(tidings):
    """Each has one line or record, the current one first. The same seed gives the same numbers."""
    named = ("lab", *SMALL, "--set", "lab.policies=sbr, random", "--set", "schedule.policy=best_effort")
    head, *lines = tidings(*named).out.splitlines()
    records = tidings(*named, "--json").records

    assert ["policy", *COLUMNS] == head.split()
    assert ["best_effort", "sbr", "random"] == [line.split()[0] for line in lines]
    assert ["best_effort", "sbr", "random"] == [record["policy"] for record in records]
    assert all(0 <= record["fresh"] <= 1 and 0 < record["used"] <= 1.5 for record in records)
    assert records == tidings(*named, "--json").records


def test_unknown_policy_is_refused(tidings):
    """The error lists all policies, those of the laboratory too. A simulation without pages is
    refused as well.
    """
    unknown = tidings("lab", *SMALL, "--set", "lab.policies=edf")

    assert (2, True) == (unknown.code, 'no policy "edf"' in unknown.err)
    assert "azar" in unknown.err
    assert 2 == tidings("lab", "--pages", "0").code


@pytest.mark.parametrize("verb", [("check",), ("serve", "--port", "0"), ("plan", "--expert")])
def test_laboratory_policy_in_the_settings_is_refused(
    tidings, server: WebServer, tmp_path: Path, verb: tuple[str, ...]
):
    """An earlier version allowed it. The error names the policies of the service; nothing is
    polled, and sentinels continue with another policy.
    """
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


def test_reading_commands_work_with_a_laboratory_policy(tidings, server: WebServer):
    """`list`, `show` and `changes` work with a policy that the service refuses."""
    tidings("add", "--url", server.url("/news"), "--name", "n")
    for name in TO_COMPARE[:2]:
        text = [tidings(*verb, "--set", f"schedule.policy={name}") for verb in (("list",), ("show", "n"), ("changes",))]

        assert [0, 0, 0] == [each.code for each in text]
