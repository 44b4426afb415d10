"""Each command on a real page, with its output as text and as records."""

from __future__ import annotations

import pytest

from tests.fakes import Page

CHANGE = {
    "id", "sentinel", "page", "url", "kind", "from_version", "to_version", "inserted", "deleted", "updated", "moved", "summary",
    "modified_at", "polled_at", "detected_at", "record",
}  # fmt: skip
POLL = {"record", "page", "url", "at", "outcome", "text_changed", "status", "bytes", "cost", "reason"}


def _change_page(server, text: str) -> None:
    server.pages["/news"] = Page(f"<title>The News</title><p>{text}</p>".encode(), {"Content-Type": "text/html"})


@pytest.fixture
def watched(tidings, server):
    """Watch a page as `n`; it has a baseline."""
    tidings("add", "--url", server.url("/news"), "--name", "n")
    return tidings


def test_add_url_shows_title_monitor_and_state(tidings, server):
    """The title becomes the name. The first version is a baseline and not reported."""
    ran = tidings("add", "--url", server.url("/news"), "--json")
    (record,) = ran.records

    assert 0 == ran.code
    assert ("The News", "all words", "ok", []) == (
        record["title"],
        record["monitor"],
        record["outcome"],
        record["warnings"],
    )
    assert record["name"].endswith("the-news")
    assert "enabled" == record["state"]
    assert [] == tidings("changes", "--json").records


def test_add_url_of_a_failing_page_is_a_warning(tidings, server):
    """After a 404 the page is checked again later."""
    ran = tidings("add", "--url", server.url("/gone"), "--json")

    assert 0 == ran.code
    assert "404" == ran.records[0]["outcome"]
    assert ran.records[0]["warnings"]


def test_add_refuses_an_unsupported_address(tidings):
    """Nothing is registered, and the error names the scheme."""
    ran = tidings("add", "--url", "ftp://example.org/")

    assert 2 == ran.code
    assert "ftp" in ran.err


def test_add_stores_all_statements_or_none(tidings, tmp_path, server):
    """One of two statements is invalid."""
    path = tmp_path / "s.txt"
    path.write_text(
        f"Create Sentinel one Using {server.url('/news')} Monitor any change;\nCreate Sentinel two Using {server.url('/x')} Montor links"
    )

    ran = tidings("add", str(path))

    assert 2 == ran.code
    assert [] == tidings("list", "--json").records


def test_check_prints_a_change_with_all_fields(watched, server):
    """The output is a poll record and a change record. With `--exit-code`, the exit code is 1."""
    _change_page(server, "count 2")

    ran = watched("check", "n", "--json", "--exit-code")
    poll, change = ran.records

    assert 1 == ran.code
    assert POLL <= set(poll)
    assert ("poll", "changed", True) == (poll["record"], poll["outcome"], poll["text_changed"])
    assert CHANGE <= set(change)
    assert ("n", [{"old": "1", "new": "2"}], [], []) == (
        change["sentinel"],
        change["updated"],
        change["inserted"],
        change["deleted"],
    )
    assert server.url("/news") == change["url"]


def test_check_of_an_unchanged_page_exits_with_0(watched):
    """This holds with `--exit-code` too."""
    ran = watched("check", "n", "--json", "--exit-code")

    assert 0 == ran.code
    assert ["unchanged"] == [r["outcome"] for r in ran.records]


def test_check_without_budget_exits_with_3(watched):
    """The check of a named sentinel uses the budget too."""
    ran = watched("check", "n", "--set", "budget.polls_per_day=0", "--set", "budget.burst=1")
    again = watched("check", "n", "--set", "budget.polls_per_day=0", "--set", "budget.burst=1")

    assert 3 in {ran.code, again.code}
    assert "budget" in ran.err + again.err


def test_page_error_is_a_record_and_exits_with_0(watched, server):
    """The outcome is `error` with its kind."""
    server.pages["/news"] = Page(b"", status=503)

    ran = watched("check", "n", "--json")
    poll, *troubles = ran.records

    assert 0 == ran.code
    assert ("error", "busy", 503) == (poll["outcome"], poll["kind"], poll["status"])
    assert [("shaky(busy)", "note")] == [(t["trouble"], t["severity"]) for t in troubles]


def test_history_and_diff_show_versions(watched, server):
    """Ids and numbers both name versions. The default is the last two."""
    for text in ("count 2", "count 3"):
        _change_page(server, text)
        watched("check", "n")

    versions = watched("history", "n", "--json").records
    last = watched("diff", "n", "--json").records[0]
    wide = watched("diff", "n", versions[0]["id"], versions[2]["id"], "--json").records[0]

    assert [1, 2, 3] == [v["number"] for v in versions]
    assert [{"old": "2", "new": "3"}] == last["updated"]
    assert [{"old": "1", "new": "3"}] == wide["updated"]
    assert wide["updated"] == watched("diff", "n", "1", "3", "--json").records[0]["updated"]
    assert "[-2-]{+3+}" in watched("diff", "n").out
    assert 3 == len(watched("history", "n", "--polls", "--json").records)


def test_diff_writes_an_html_page(watched, server):
    """`--format html` writes one complete page with the changes and the versions. Text of the
    watched page is escaped.
    """
    _change_page(server, "count &lt;script&gt;alert(2)&lt;/script&gt;\u200b")
    watched("check", "n")

    ran = watched("diff", "n", "--view", "changes", "--format", "html")

    assert 0 == ran.code
    assert ran.out.startswith("<!DOCTYPE html>\n")
    assert ran.out.endswith("</html>\n")
    assert "version 1 (" in ran.out
    assert "&lt;script&gt;alert" in ran.out
    assert "<script" not in ran.out


def test_diff_has_single_dual_and_table_views(watched, server):
    """The views show the context of the change, both versions side by side, or rows."""
    _change_page(server, "the price of the kettle is count 2 euro as of today")
    watched("check", "n")
    _change_page(server, "the price of the kettle is count 3 euro as of today")
    watched("check", "n")

    single, dual, table = (watched("diff", "n", "--view", view).out for view in ("single", "dual", "table"))
    pages = [watched("diff", "n", "--view", view, "--format", "html").out for view in ("single", "dual", "table")]

    assert "kettle is count [-2-] {+3+} euro as of" in single
    assert "before: " in dual
    assert 2 == dual.count("kettle is count")
    assert "updated" in table
    assert "kettle" not in table
    assert all(page.startswith("<!DOCTYPE html>\n") for page in pages)
    assert [0, 1, 1] == [page.count("<table>") for page in pages]


def test_diff_of_equal_versions_says_so(watched, server):
    """A change of markup only is no difference, in either format."""
    _change_page(server, "<b>count</b> 1")
    watched("check", "n")

    text = [watched("diff", "n", "--format", form).out for form in ("text", "html")]

    assert all("no difference in what is watched" in out for out in text)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--view", "gazette"), "invalid choice: 'gazette'"),
        (("--json", "--format", "html"), "--json cannot be used with --format"),
    ],
)
def test_unknown_view_is_a_usage_error(watched, words, expected):
    """No other view is shown instead."""
    ran = watched("diff", "n", *words)

    assert (2, "") == (ran.code, ran.out if "--json" not in words else "")
    assert expected in ran.err + ran.out


@pytest.mark.parametrize("words", [("1", "9"), ("x",), ("7.1",)])
def test_diff_of_an_unknown_version_is_a_usage_error(watched, words):
    """The error names the version."""
    ran = watched("diff", "n", *words)

    assert 2 == ran.code
    assert "version" in ran.err


def test_disable_enable_and_drop(watched):
    """A dropped sentinel is no longer listed."""
    states = [
        watched("disable", "n", "--json").records[0]["state"],
        watched("enable", "n", "--json").records[0]["state"],
    ]
    dropped = watched("drop", "n")

    assert ["disabled", "enabled"] == states
    assert 0 == dropped.code
    assert [] == watched("list", "--json").records
    assert 2 == watched("show", "n").code


def test_mistyped_name_suggests_the_nearest(watched, server):
    """The exit code is 2."""
    watched("add", "--url", server.url("/news"), "--name", "prices")

    ran = watched("disable", "pricse")

    assert 2 == ran.code
    assert "prices" in ran.err


def test_show_prints_text_health_and_versions(watched):
    """The text is the canonical one."""
    (record,) = watched("show", "n", "--json").records

    assert record["text"].startswith("Create Sentinel n Using")
    assert [("ok", 1)] == [(p["health"], p["versions"]) for p in record["pages"]]


def test_show_lists_the_next_steps_and_their_reasons(tidings, server, tmp_path):
    """The steps are the end, the next check and the next report. A paused sentinel names the
    command that enables it.
    """
    text = f"Create Sentinel n Using {server.url('/news')} Monitor any change Fetch every 2 hour For 2 day Notify By console every 1 day"
    (tmp_path / "n.sentinel").write_text(text)
    tidings("add", str(tmp_path / "n.sentinel"))
    tidings("check", "n")
    shown = tidings("show", "n")
    (record,) = tidings("show", "n", "--json").records
    tidings("disable", "n")
    (paused,) = tidings("show", "n", "--json").records

    assert [("end", "For 2 day"), ("check", "Fetch every 2 hour"), ("news", "every 1 day, if there are changes")] == [
        (p["what"], p["why"]) for p in record["next"]
    ]
    assert all(p["at"] is not None for p in record["next"])
    assert "next check" in shown.out
    assert ("check", None) == (paused["next"][1]["what"], paused["next"][1]["at"])
    assert "tidings enable n" in paused["next"][1]["why"]


@pytest.mark.parametrize("text", ["Fetch every 2 hour", "Fetch every 120 min Exclude none"])
def test_alter_without_a_change_makes_no_revision(tidings, server, tmp_path, text):
    """The clause has the same meaning in other words. `alter` and an Alter in a text report it, and
    nothing is written.
    """
    path = tmp_path / "s.sentinel"
    path.write_text(f"Create Sentinel n Using {server.url('/news')} Monitor all words Fetch every 2 hour")
    tidings("add", str(path))
    path.write_text(f"Alter n {text}")

    for ran in (tidings("alter", "n", text), tidings("add", str(path))):
        assert (0, "n already has this clause (revision 1); nothing is altered\n") == (ran.code, ran.out)
    assert 1 == tidings("show", "n", "--json").records[0]["revision"]


def test_alter_replaces_clauses_in_a_new_revision(tidings, server, tmp_path):
    """An error has its place, and then nothing is altered."""
    (tmp_path / "n.sentinel").write_text(f"Create Sentinel n Using {server.url('/news')} Monitor any change")
    tidings("add", str(tmp_path / "n.sentinel"))
    ran = tidings("alter", "n", "Fetch every 2 hour", "Monitor", "all links")
    (record,) = tidings("show", "n", "--json").records
    wrong = tidings("alter", "n", "Fetch every 2 month")

    assert 0 == ran.code
    assert "revision 2" in ran.out
    assert "Monitor all links" in record["text"]
    assert "Fetch every 2 hour" in record["text"]
    assert (2, 1) == (wrong.code, wrong.err.count("E05"))
    assert 2 == tidings("show", "n", "--json").records[0]["revision"]


def test_enable_fresh_ignores_changes_in_the_pause(tidings, server):
    """The next version is a new baseline."""
    tidings("add", "--url", server.url("/news"), "--name", "n", "--no-test")
    tidings("disable", "n")
    _change_page(server, "count 2")
    (enabled,) = tidings("enable", "n", "--fresh", "--json").records
    tidings("check", "n")

    assert "enabled" == enabled["state"]
    assert [] == tidings("changes", "n", "--json").records


def test_deliveries_are_listed_and_replayed(tidings, server, tmp_path):
    """A webhook that was refused waits; replay queues it again with the same id."""
    server.pages["/hook"] = Page(b"", status=500)
    tidings("add", "--url", server.url("/news"), "--name", "n", "--notify", server.url("/hook"), "--no-test")
    _change_page(server, "count 2")
    tidings("check", "n")

    (waiting,) = tidings("deliveries", "--json").records
    shown = tidings("deliveries").out.splitlines()[1]
    short = waiting["id"][:12]
    refused = tidings("deliveries", "replay", short, "nosuch")
    untouched = tidings("deliveries", "--json").records
    (replayed,) = tidings("deliveries", "replay", short, "--json").records

    assert f"  {short}  " in shown
    assert (2, [waiting]) == (refused.code, untouched)

    assert ("delivery", "waiting", 1) == (waiting["record"], waiting["status"], waiting["attempts"])
    assert (waiting["id"], 0) == (replayed["id"], replayed["attempts"])
    assert 2 == tidings("deliveries", "replay").code


def test_settings_are_listed_with_their_variables(tidings):
    """Secrets are printed as `***`."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    ran = tidings("settings", "--json", "--set", f"notify.webhook_secret={secret}")
    rows = {r["name"]: r for r in ran.records}

    assert "TIDINGS_FETCH_HOST_GAP_SECONDS" == rows["fetch.host_gap_seconds"]["variable"]
    assert "***" == rows["notify.webhook_secret"]["value"]
    assert secret not in ran.out + tidings("settings", "--set", f"notify.webhook_secret={secret}").out


def test_control_characters_of_a_title_are_escaped(tidings, server):
    """This includes bidirectional marks."""
    server.pages["/news"] = Page(
        "<title>ev\x1b[31mil\u202e</title><p>x</p>".encode(), {"Content-Type": "text/html; charset=utf-8"}
    )

    out = tidings("add", "--url", server.url("/news")).out

    assert "\x1b" not in out
    assert "\u202e" not in out


def test_check_reports_a_comparison_that_was_given_up(tidings, tmp_path, server):
    """Otherwise the versions would count as equal. It is a line and a record."""
    page = "<p>{}</p>" + "<i>x</i>" * 15_000
    path = tmp_path / "s.sentinel"
    path.write_text(f'Create Sentinel dear Using {server.url("/dear")} Monitor all words in xpath "//*[count(//*)>0]"')
    tidings("add", str(path))
    reported = []
    for number, flags in enumerate(([], ["--json"], [])):
        server.pages["/dear"] = Page(page.format(number).encode(), {"Content-Type": "text/html"})
        reported.append(tidings("check", "dear", *flags))
    (problem,) = [record for record in reported[1].records if "event" in record]

    assert ("dear", "comparison.given_up") == (problem["sentinel"], problem["event"])
    assert f"dear: {problem['summary']}".replace("1 and 2", "2 and 3") in reported[2].out
    assert "versions 1 and 2 could not be compared: could not compare: xpath" in problem["summary"]
    assert [0, 0, 0] == [ran.code for ran in reported]


def test_apply_dry_run_writes_nothing(tidings, tmp_path, server):
    """A dry run prints the steps; `--exit-code` gives 1 if there are some."""
    folder = tmp_path / "watches"
    folder.mkdir()
    (folder / "a.sentinel").write_text(f"Create Sentinel one Using {server.url('/news')} Monitor any change")

    dry = tidings("apply", str(folder), "--dry-run", "--exit-code", "--json")
    listed = tidings("list", "--json").records
    done = tidings("apply", str(folder), "--json")

    assert (1, [("one", "created", True)]) == (dry.code, [(r["name"], r["action"], r["dry_run"]) for r in dry.records])
    assert [] == listed
    assert (0, ["created"]) == (done.code, [r["action"] for r in done.records])


def test_apply_names_the_file_of_an_error_and_writes_nothing(tidings, tmp_path, server):
    """One of two files is invalid."""
    (tmp_path / "a.sentinel").write_text(f"Create Sentinel one Using {server.url('/news')} Monitor any change")
    (tmp_path / "b.sentinel").write_text("Create Sentinel two Using http://a.example/ Monitor imges")

    ran = tidings("apply", str(tmp_path))

    assert 2 == ran.code
    assert "b.sentinel:1:" in ran.err
    assert [] == tidings("list", "--json").records


def test_apply_warns_with_file_and_place(tidings, tmp_path, server):
    """Each file has the warnings that `add` prints, in a dry run too, as text or as records."""
    pages = [server.url("/news"), server.url("/other")]
    for name, url in zip("ab", pages, strict=True):
        (tmp_path / f"{name}.sentinel").write_text(
            f"Create Sentinel {name} Using {url}\nMonitor all words\nNotify By email you@x.example"
        )
    text = [(f"{tmp_path / file}.sentinel", 3, 11, "W10") for file in "ab"]

    dry = tidings("apply", str(tmp_path), "--dry-run")
    done = tidings("apply", str(tmp_path), "--json").records

    assert [f"warning: {file}:{line}:{column}: {code}" for file, line, column, code in text] == [
        " ".join(line.split()[:3]) for line in dry.err.splitlines()
    ]
    assert text == [(r["file"], r["line"], r["column"], r["code"]) for r in done if r["record"] == "problem"]


def test_add_and_apply_read_yaml(tidings, tmp_path, server):
    """`add` reads the YAML form of any file that ends in .yaml; `apply` reads only *.sentinel.yaml,
    as other YAML is not ours.
    """
    (tmp_path / "a.sentinel.yaml").write_text(f"- name: one\n  pages: [{server.url('/news')}]\n  monitor: any change\n")
    (tmp_path / "compose.yaml").write_text("services: {}\n")
    single = tmp_path / "compose.yaml"

    applied = tidings("apply", str(tmp_path), "--json")
    again = tidings("apply", str(tmp_path), "--json")
    single.write_text(f"name: two\npages: {server.url('/other')}\nmonitor: {{type: imges}}\n")
    refused = tidings("add", str(single))

    assert [["created"], ["unchanged"]] == [[r["action"] for r in ran.records] for ran in (applied, again)]
    assert (2, True) == (refused.code, "3:17: E10" in refused.err)


def test_command_shows_the_page_and_stores_nothing(tidings, tmp_path, server):
    """`tidings test` shows title, counts and first words of the present page."""
    path = tmp_path / "s.sentinel"
    path.write_text(f"Create Sentinel one Using {server.url('/news')} Monitor all words")

    (record,) = tidings("test", str(path), "--json").records

    assert ("one", "ok", "The News", "all words") == (
        record["sentinel"],
        record["outcome"],
        record["title"],
        record["monitor"],
    )
    assert record["first_words"].startswith("count 1")
    assert "there is no database" in tidings("list", "--json").records[0]["message"]


def test_command_reads_a_text_like_add(tidings, tmp_path, server, monkeypatch):
    """The defaults of the tag and the operator's shortest interval apply. An existing sentinel is
    tried as a new one.
    """
    group, path = tmp_path / "g.sentinel", tmp_path / "s.sentinel"
    group.write_text("Defaults For Tags shop Monitor all links")
    path.write_text(f"Create Sentinel one Using {server.url('/news')} Tags shop Fetch every 1 s")
    tidings("add", str(group))
    tidings("add", str(path))
    monkeypatch.setenv("TIDINGS_FETCH_PAGE_FLOOR_SECONDS", "60")

    warning, record = tidings("test", str(path), "--json").records

    assert ("W5", "all links") == (warning["code"], record["monitor"])


def test_command_reports_a_failing_page(tidings, tmp_path, server):
    """The outcome is the kind of error."""
    path = tmp_path / "s.sentinel"
    path.write_text(f"Create Sentinel one Using {server.url('/gone')} Monitor all words")

    (record,) = tidings("test", str(path), "--json").records

    assert "404" == record["outcome"]
    assert record["warnings"]


def test_settings_are_shown_by_section_or_name(tidings):
    """An unknown name is an error that suggests the nearest one."""
    shown = [tidings("settings", name, "--json").records for name in ("budget", "budget.burst")]
    refused = [tidings("settings", name) for name in ("budgt", "budget.bust", "zzz")]

    assert ["budget.burst"] == [record["name"] for record in shown[1]]
    assert all(record["name"].startswith("budget.") for record in shown[0])
    assert [2, 2, 2] == [ran.code for ran in refused]
    assert ["budget", "budget.burst", "fetch, budget"] == [
        text for ran, text in zip(refused, ("budget", "budget.burst", "fetch, budget"), strict=True) if text in ran.err
    ]


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (["--every", "5"], '--every: E05 "5" has no unit'),
        (["--monitor", "imges"], '--monitor: E10 found "imges"'),
        (["--notify", "http://a.example/", "--notify", "foo"], '--notify: E15 "foo"'),
        (["--name", "Monitor"], "--name: E04"),
        (["--name", "my jobs"], '--name: E04 "my jobs" cannot be the name of a sentinel'),
    ],
)
def test_error_in_a_flag_names_the_flag(tidings, server, flags, text):
    """Flags have no lines to which an error could refer."""
    ran = tidings("add", "--url", server.url("/news"), *flags)

    assert (2, text) == (ran.code, ran.err[: len(text)])


def test_page_that_never_answered_is_shown_as_such(tidings, server):
    """No dash replaces the missing time."""
    tidings("add", "--url", server.url("/gone"), "--name", "gone")
    tidings("add", "--url", server.url("/news"), "--name", "news")

    assert "    0 versions in 1 check; not checked successfully yet" in tidings("show", "gone").out.splitlines()
    assert any(
        "1 version in 1 check; checked 2" in line and line.endswith("its text has not changed")
        for line in tidings("show", "news").out.splitlines()
    )


def test_changes_of_a_dropped_sentinel_can_be_read(tidings, server):
    """The name refers to the dropped sentinel until another one has it. An unknown name is still an
    error.
    """
    tidings("add", "--url", server.url("/news"), "--name", "n")
    _change_page(server, "count 2")
    tidings("check", "n")
    tidings("drop", "n")
    past = [("changes", "n"), ("history", "n"), ("diff", "n"), ("deliveries", "--sentinel", "n")]

    assert ["n"] == [record["sentinel"] for record in tidings("changes", "n", "--json").records]
    assert [0] * 4 == [tidings(*words).code for words in past]
    assert [2] * 4 == [tidings(*words[:-1], "m").code for words in past]
    assert 2 == tidings("check", "n").code


def test_error_of_alter_has_its_column_in_the_given_clauses(tidings, server):
    """Columns do not count the words that the command adds before the clauses."""
    tidings("add", "--url", server.url("/news"), "--name", "n")

    assert tidings("alter", "n", "Monitr links").err.startswith('1:1: E24 unknown clause "Monitr"')
    assert tidings("alter", "n", "Monitor links", "Fetch 5").err.startswith("1:22: E05")


def test_selector_without_a_match_is_reported(tidings, server, tmp_path):
    """`check`, `show` and `doctor` report W7, so that no user waits in vain."""
    path = tmp_path / "s.sentinel"
    path.write_text(f'Create Sentinel n Using {server.url("/news")} Monitor words in css ".none" Fetch on demand')
    tidings("add", str(path))
    text = 'W7 css ".none" matches nothing on this page as it is now'
    first, second = (tidings("check", "n") for _ in range(2))

    mend = "(fix: tidings show n  # then alter the clause that names it: tidings alter n 'CLAUSE')"
    assert [f"n: {text}: {server.url('/news')}  {mend}"] == [line for line in first.out.splitlines() if "W7" in line]
    assert [line for line in second.out.splitlines() if "W7" in line] == [
        line for line in first.out.splitlines() if "W7" in line
    ]
    assert f"{text}: {server.url('/news')}  {mend}" in tidings("show", "n").out.splitlines()
    assert ["warn"] == [r["status"] for r in tidings("doctor", "--json").records if text in r.get("detail", "")]


def test_repeated_enable_and_disable_say_already(tidings, server):
    """The repeated command changes nothing."""
    tidings("add", "--url", server.url("/news"), "--name", "n")
    text = [tidings(verb, "n").out for verb in ("enable", "disable", "disable", "enable", "enable")]

    assert [
        f"n is {what}\n" for what in ("already watched", "paused", "already paused", "watched again", "already watched")
    ] == text


def test_limit_0_shows_all(tidings, server):
    """All commands with `--limit` accept 0. A negative limit is a usage error."""
    tidings("add", "--url", server.url("/news"), "--name", "n")
    for count in ("2", "3"):
        _change_page(server, f"count {count}")
        tidings("check", "n")
    verbs = [("changes",), ("history", "n"), ("history", "n", "--polls"), ("deliveries",), ("plan",)]

    assert [2, 3, 3, 0] == [len(tidings(*verb, "--limit", "0", "--json").records) for verb in verbs[:-1]]
    assert [1, 1, 1, 0] == [len(tidings(*verb, "--limit", "1", "--json").records) for verb in verbs[:-1]]
    assert [2] * 5 == [tidings(*verb, "--limit", "-1").code for verb in verbs]


def test_sentinel_is_tested_by_its_name(tidings, server):
    """`test` needs no text for a sentinel that exists; a file of this name comes first."""
    tidings("add", "--url", server.url("/news"), "--name", "news")

    assert tidings("test", "news").out.startswith(f"news  {server.url('/news')}  ok\n")
    assert "nws cannot be read: No such file" in tidings("test", "nws").err


def test_export_writes_text_by_default(tidings, server):
    """The form that a person reads and `add` accepts."""
    tidings("add", "--url", server.url("/news"), "--name", "news")

    assert tidings("export", "text").out == (ran := tidings("export")).out
    assert ran.out.startswith("Create Sentinel news ")


def test_the_text_of_an_old_version_is_shown(watched, server):
    """By its number, as the other commands name versions."""
    _change_page(server, "count 2")
    watched("check", "n")

    assert ["count 1"] == [line for line in watched("show", "n", "--version", "1").out.splitlines() if line]
    assert "count 2" in watched("show", "n", "--version", "2", "--json").records[0]["text"]
    assert "there is no version 9" in watched("show", "n", "--version", "9").err


@pytest.mark.parametrize(("when", "count"), [("today", 1), ("now", 0), ("2 days ago", 1), ("7d", 1), ("2099-01-01", 0)])
def test_changes_and_versions_of_a_period(watched, server, when: str, count: int):
    """The same words on every command that lists what happened."""
    _change_page(server, "count 2")
    watched("check", "n")

    assert count == len(watched("changes", "--json", "--since", when).records)
    assert 2 * count == len(watched("history", "n", "--json", "--since", when).records)
    assert 2 * count == len(watched("history", "n", "--json", "--polls", "--since", when).records)
    assert count == len(watched("export", "jsonl", "--since", when).records)
    assert 2 * count == len(watched("export", "jsonl", "--of", "checks", "--since", when).records)


def test_a_period_has_an_end(watched, server):
    """`--last` is a length of time until now; a number without a unit is refused."""
    _change_page(server, "count 2")
    watched("check", "n")

    assert [] == watched("changes", "--json", "--until", "yesterday").records
    assert 1 == len(watched("changes", "--json", "--until", "today", "--last", "1 day").records)
    assert "--last 5d, or --limit 5" in watched("changes", "--last", "5").err
    assert "'2026-02-30' is not a date" in watched("changes", "--since", "2026-02-30").err
    assert "sentinels as they are now" in watched("export", "yaml", "--since", "today").err


def test_a_page_is_tried_with_the_flags_of_add(tidings, server, tmp_path):
    """Nothing is stored."""
    ran = tidings("test", "--url", server.url("/news"), "--select", "p", "--monitor", "number", "--json")

    assert ["1"] == [now["number"] for record in ran.records for now in record["now"]]
    assert 3 == tidings("list").code


def test_a_test_message_is_sent_without_a_sentinel(tidings, server):
    """The exit code is 3 if the receiver refuses it."""
    server.pages["/hook"] = Page(b"ok", {}, status=200)

    assert 0 == tidings("test", "--notify", server.url("/hook")).code
    assert "has accepted a test message" in tidings("test", "--notify", server.url("/hook")).out
    assert "could not be notified" in tidings("test", "--notify", server.url("/gone")).out
    assert 3 == tidings("test", "--notify", server.url("/gone")).code
    assert "give a FILE" in tidings("test").err


def test_all_sentinels_are_paused_and_continued(watched, server):
    """Or those of a tag."""
    watched("add", "--url", server.url("/other"), "--name", "o", "--tag", "home")

    assert ["o is paused"] == watched("disable", "--tag", "home").out.splitlines()
    assert ["n is paused", "o is already paused"] == watched("disable", "--all").out.splitlines()
    assert ["n is watched again", "o is watched again"] == watched("enable", "--all").out.splitlines()
    assert 'no sentinel has the tag "x"' in watched("disable", "--tag", "x").err
    assert "give a NAME" in watched("disable").err


def test_failing_sentinels_are_listed(watched, server):
    """A sentinel without a problem is left out."""
    assert "no sentinel has a problem" in watched("list", "--failing").out

    server.pages["/news"] = Page(b"", {}, status=500)
    watched("check", "n")

    assert ["n"] == [record["name"] for record in watched("list", "--failing", "--json").records]
