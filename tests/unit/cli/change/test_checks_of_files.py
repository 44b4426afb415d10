"""`tidings add FILE` and `apply` check new pages at once; `--dry-run` shows which clauses are added
or removed.
"""

from __future__ import annotations

import pytest

from tests.fakes import Page
from tidings.cli.change import first_check

HTML = {"Content-Type": "text/html"}


@pytest.fixture
def path(tmp_path, server):
    server.pages["/shop"] = Page(b"<p class='price'>costs 12 euro</p>", HTML)
    found = tmp_path / "s.sentinel"
    found.write_text(
        f"Create Sentinel shop Using {server.url('/shop')} Monitor number\n"
        f'Create Sentinel dead Using {server.url("/news")} Monitor all words in css ".gone"\n'
    )
    return found


@pytest.mark.parametrize("verb", ["add", "apply"])
def test_new_pages_are_checked_and_values_and_dead_selectors_are_shown(tidings, server, path, verb):
    """A user who adds a file sees at once what it watches, and what it does not find."""
    ran = tidings(verb, str(path), checks=True)

    assert "shop  now 12\n" in ran.out
    assert 'dead  warning W7 css ".gone" matches nothing on this page as it is now\n' in ran.out
    assert ["/shop", "/news"] == sorted((seen.path for seen in server.seen if seen.path != "/robots.txt"), reverse=True)


def test_json_has_a_record_for_each_checked_page(tidings, path):
    """A page whose selector matches nothing has no value."""
    found = [one for one in tidings("add", str(path), "--json", checks=True).records if one["record"] == "checked"]

    assert [("shop", "12"), ("dead", None)] == [
        (one["sentinel"], one["now"][0]["number"] if one["now"] and one["now"][0]["count"] else None) for one in found
    ]


def test_no_check_flag_sends_no_request(tidings, server, path):
    """The service makes the first checks."""
    tidings("apply", str(path), "--no-check", checks=True)

    assert [] == server.seen


def test_many_new_pages_are_left_to_the_service(tidings, server, path, monkeypatch):
    """The command returns at once and says who makes the first checks."""
    monkeypatch.setattr(first_check, "MOST_CHECKED", 1)
    ran = tidings("add", str(path), checks=True)

    assert "2 new pages: the service or `tidings check` makes the first checks\n" in ran.out
    assert [] == server.seen


def test_second_apply_checks_nothing(tidings, server, path):
    """Only new pages are checked."""
    tidings("apply", str(path), checks=True)
    server.seen.clear()
    tidings("apply", str(path), checks=True)

    assert [] == server.seen


def test_dry_run_shows_added_clauses_and_writes_nothing(tidings, server, path):
    """A dry run sends no request either."""
    tidings("apply", str(path))
    path.write_text(path.read_text().replace("Monitor number", "Monitor number Fetch every 2 hour Tags kitchen"))
    ran = tidings("apply", str(path), "--dry-run", checks=True)
    text = tidings("show", "shop").out

    assert "shop: would be altered\n    + Fetch every 2 hour\n    + Tags kitchen\n" in ran.out
    assert "dead: unchanged\n" in ran.out
    assert "kitchen" not in text
    assert [] == server.seen
