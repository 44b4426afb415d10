"""Imports from urlwatch and webchanges: each key and filter, in more than sixty jobs of each, and
histories of the programs.
"""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
import yaml

from tidings.service.imports import urlwatch
from tidings.service.imports.draft import judge, name_of
from tidings.service.imports.filters import FILTERS, WHY, list_named
from tidings.service.imports.import_jobs import read

FILES = Path(__file__).parents[3] / "imports"
T, A, R = "translated", "approximated", "refused"
Case = tuple[dict[str, Any], str, str, str]
COMMON: list[Case] = [
    # keys of the job, a line that its sentinel has, its grade, what a note says
    ({}, "Monitor any change", A, "the source is compared there"),
    ({"filter": ["html2text"]}, "Monitor all words", T, ""),
    ({"filter": "html2text"}, "Monitor all words", T, ""),
    ({"filter": "css:.price,html2text"}, 'Select css ".price"', T, ""),
    ({"filter": "html2text:re,grep:EUR"}, 'Transform keep lines regex "EUR"', T, ""),
    ({"filter": [{"html2text": "pyhtml2text"}]}, "Monitor all words OR links", T, ""),
    ({"filter": [{"html2text": {"method": "lynx"}}]}, "Monitor all words OR links", T, ""),
    ({"filter": [{"css": "#a"}, "html2text"]}, 'Select css "#a"', T, ""),
    ({"filter": [{"css": "#a"}]}, 'Monitor any change\n  Select css "#a"', A, "the source is compared there"),
    ({"filter": [{"css": {"selector": "#a", "exclude": ".b"}}, "html2text"]}, 'Exclude css ".b"', T, ""),
    ({"filter": [{"css": {"selector": "li", "sort": True}}, "html2text"]}, "Transform sort", T, ""),
    ({"filter": [{"css": {"selector": "li", "maxitems": 1}}, "html2text"]}, 'Select xpath "(//li)[1]"', T, ""),
    (
        {"filter": [{"css": {"selector": "ul > li", "skip": 1, "maxitems": 2}}, "html2text"]},
        'Select xpath "(//ul/li)[position() > 1 and position() <= 3]"',
        T,
        "",
    ),
    ({"filter": [{"xpath": {"path": "//li", "skip": 2}}, "html2text"]}, '"(//li)[position() > 2]"', T, ""),
    (
        {"filter": [{"css": {"selector": "a:not(.b)", "maxitems": 1}}]},
        'css "a:not(.b)"',
        A,
        "all that the selector finds",
    ),
    ({"filter": [{"css": {"selector": "li", "method": "xml"}}, "html2text"]}, 'Select css "li"', A, "method"),
    ({"filter": [{"css": "a:contains(x)"}, "html2text"]}, "Select xpath \"//a[contains(., 'x')]\"", T, ""),
    ({"filter": [{"xpath": "//h1/text()"}]}, 'Select xpath "//h1/text()"', T, ""),
    ({"filter": [{"xpath": {"path": "//a/@href", "exclude": "//b"}}]}, 'Exclude xpath "//b"', T, ""),
    ({"filter": [{"xpath": "matches(//p, 'x')"}]}, "Monitor all words", A, "XPath 1.0"),
    ({"filter": [{"element-by-id": "main"}, "html2text"]}, 'Select css "[id=\\"main\\"]"', T, ""),
    ({"filter": [{"element-by-class": "a b"}, "html2text"]}, 'Select css "[class=\\"a b\\"]"', T, ""),
    ({"filter": [{"element-by-style": "x: y"}, "html2text"]}, 'Select css "[style=\\"x: y\\"]"', T, ""),
    ({"filter": [{"element-by-tag": "article"}, "html2text"]}, 'Select css "article"', T, ""),
    ({"filter": [{"css": "#a, #c"}, {"css": ".b"}, "html2text"]}, 'Select css "#a .b, #c .b"', T, ""),
    ({"filter": [{"element-by-id": "a"}, {"xpath": "//p"}, "html2text"]}, '"//*[@id = \\"a\\"]//p"', T, ""),
    ({"filter": [{"xpath": "//ul"}, {"xpath": "(//li)[1]"}, "html2text"]}, 'xpath "(//ul//li)[1]"', T, ""),
    ({"filter": [{"xpath": "//a/@href"}, {"css": "b"}]}, 'Select xpath "//a/@href"', A, "one selector for both"),
    ({"filter": ["html2text", {"css": ".b"}]}, "Monitor all words", A, "one selector for both"),
    ({"filter": [{"grep": "^Price"}]}, 'keep lines regex "^Price"', T, ""),
    ({"filter": [{"grepi": "advert"}]}, 'drop lines regex "advert"', T, ""),
    ({"filter": [{"grep": "(?<=a)b"}]}, "Monitor all words", A, "RE2"),
    ({"filter": [{"re.sub": {"pattern": "\\d+", "repl": "N"}}]}, 'replace regex "\\d+" with "N"', T, ""),
    (
        {"filter": ["html2text", {"between": {"start": "Open", "end": "Closed"}}]},
        'between "Open" and "Closed"',
        A,
        "rest",
    ),
    ({"filter": ["html2text", {"between": {"start": "^Open"}}]}, "Monitor all words", A, "two plain texts"),
    ({"filter": ["hexdump"]}, "Monitor all words", A, "bytes"),
    ({"filter": [{"re.sub": "x+"}]}, 'replace regex "x+" with ""', T, ""),
    ({"filter": [{"re.sub": "(?s)a.*b"}]}, 'replace regex "(?s)a.*b" with ""', A, "line by line"),
    ({"filter": [{"re.sub": "(?m)^[ \\t]*"}]}, "Transform replace", T, ""),
    ({"filter": [{"re.sub": "\\s+$"}]}, "Transform replace", A, "line by line"),
    ({"filter": ["html2text", {"re.findall": "v(\\d+)"}]}, 'Monitor regex "v(?:\\d+)"', T, ""),
    ({"filter": [{"re.findall": {"pattern": "v(\\d+)", "repl": "\\1"}}]}, 'Monitor regex "v(\\d+)"', T, ""),
    ({"filter": [{"re.findall": {"pattern": "(a)([(])", "repl": "\\2"}}]}, 'Monitor regex "(?:a)([(])"', T, ""),
    (
        {"filter": [{"re.findall": {"pattern": "(a)(?P<n>b)", "repl": "\\1 of \\g<n>"}}]},
        'Monitor regex "(a)(?:b)" OR regex "(?:a)(b)"',
        T,
        "",
    ),
    ({"filter": ["html2text", "sort"]}, "Transform sort", T, ""),
    ({"filter": [{"sort": {"reverse": True}}]}, "Transform sort", A, "rising"),
    ({"filter": [{"sort": {"separator": ","}}]}, "Monitor all words", A, "only lines"),
    ({"filter": ["html2text", "remove-duplicate-lines"]}, "Transform unique", T, ""),
    ({"filter": ["html2text", "strip", "striplines", "beautify", "reverse"]}, "Monitor all words", T, "layout"),
    ({"filter": ["format-json"]}, "Monitor all words", T, "layout"),
    ({"filter": ["pdf2text"]}, "Monitor all words", T, ""),
    ({"filter": [{"pdf2text": {"password": "x"}}]}, "Monitor all words", A, "password"),
    ({"filter": ["ical2text"]}, "Monitor all words", T, ""),
    ({"filter": [{"csv2text": "{name} at {1}"}]}, 'Monitor column "name" OR column 2', T, ""),
    ({"filter": ["csv2text"]}, "Monitor table", T, ""),
    ({"filter": [{"jq": ".a.b[0]"}]}, 'Select jsonpath "$.a.b[0]"', T, ""),
    ({"filter": [{"jq": ".a[] | .b?"}]}, 'Select jsonpath "$.a[*].b"', T, ""),
    ({"filter": [{"jq": ".a | length"}]}, "Monitor all words", A, "only paths"),
    ({"filter": [{"jq": "map(.a)"}]}, 'Select jsonpath "$[*].a"', T, ""),
    ({"filter": [{"jq": '.[] | select(.x == "y" and .n > 3) | .b'}]}, '$[?@.x == \\"y\\" && @.n > 3].b', T, ""),
    (
        {"filter": [{"jq": '.[] | "\\(.a) at \\(.b)"'}]},
        'in jsonpath "$[*].a" OR all words in jsonpath "$[*].b"',
        A,
        "one by one",
    ),
    ({"filter": [{"shellpipe": "jq -r .tag_name"}]}, 'Select jsonpath "$.tag_name"', T, ""),
    ({"filter": [{"shellpipe": "jq . | sh"}]}, "Monitor all words", A, "no shell is run"),
    ({"filter": ["sha1sum"]}, "Monitor any change", A, "a sum of all bytes"),
    ({"filter": [{"shellpipe": "tr a b"}]}, "Monitor all words", A, "no shell is run"),
    ({"filter": ["ocr"]}, "Monitor all words", A, "pictures"),
    ({"filter": ["my_own"]}, "Monitor all words", A, "hooks.py"),
    ({"filter": ["html2text"], "name": "Über uns"}, "Create Sentinel w-Über-uns Using", T, ""),
    ({"filter": ["html2text"], "tags": "a, b c"}, "Tags a, b-c", T, ""),
    ({"filter": ["html2text"], "tags": ["x"]}, "Tags x", T, ""),
    ({"filter": ["html2text"], "enabled": False}, "Disable ", T, ""),
    ({"filter": ["html2text"], "method": "POST", "data": "q=1"}, 'Body "q=1"', T, ""),
    ({"filter": ["html2text"], "data": {"q": "a b"}}, 'Body "q=a%20b"', T, ""),
    ({"filter": ["html2text"], "data": {"password": "c4nary"}}, "Body secret", T, ""),
    ({"filter": ["html2text"], "post": "q=1"}, 'Body "q=1"', T, ""),
    ({"filter": ["html2text"], "headers": {"Accept": "x"}}, 'Header "Accept" "x"', T, ""),
    ({"filter": ["html2text"], "headers": {"Authorization": "Bearer c4nary"}}, 'Header "Authorization" secret', T, ""),
    ({"filter": ["html2text"], "cookies": {"a": "c4nary", "b": 2}}, 'Header "Cookie" secret', T, ""),
    ({"filter": ["html2text"], "https_proxy": "http://p.example:3128"}, "Proxy http://p.example:3128", T, ""),
    ({"filter": ["html2text"], "timeout": 90}, "Timeout 90 s", T, ""),
    ({"filter": ["html2text"], "timeout": 3_600}, "Timeout 10 min", A, "at most ten minutes"),
    ({"filter": ["html2text"], "ssl_no_verify": True}, "Monitor all words", A, "Trust"),
    ({"filter": ["html2text"], "encoding": "latin1"}, "Monitor all words", A, "encoding comes"),
    ({"filter": ["html2text"], "ignore_http_error_codes": "404, 5xx"}, "Monitor all words", A, "errors are reported"),
    ({"filter": ["html2text"], "max_tries": 3}, "Monitor all words", A, "three checks"),
    ({"filter": ["html2text"], "compared_versions": 3}, "Monitor all words", A, "learned as noise"),
    ({"filter": ["html2text"], "treat_new_as_changed": True}, "Monitor all words", A, "baseline"),
    ({"filter": ["html2text"], "diff_filter": [{"grep": "^[+]"}]}, "Monitor all words inserted", T, ""),
    ({"filter": ["html2text"], "diff_filter": [{"grep": "^[-]"}]}, "Monitor all words deleted", T, ""),
    (
        {"filter": ["html2text"], "diff_filter": [{"grep": "^[@+]"}, {"grepi": "^[+]{3}"}]},
        " inserted",
        T,
        "",
    ),
    ({"filter": ["html2text"], "diff_filter": [{"grepi": "^-"}, {"grepi": "@@"}]}, " inserted", T, ""),
    ({"filter": ["html2text"], "diff_filter": [{"grep": "EUR"}]}, "Monitor all words", A, "use a condition"),
    ({"filter": ["html2text"], "mystery": 1}, "Monitor all words", A, "is unknown"),
    ({"url": "https://u:c4nary@site.example/", "filter": ["html2text"]}, 'Header "Authorization" secret', T, ""),
    ({"command": "df -h"}, "", R, "it runs a command"),
    ({"kind": "my-kind", "filter": ["html2text"]}, "", R, "hooks.py"),
]
IGNORED = "ignore_connection_errors ignore_timeout_errors ignore_too_many_redirects".split()
OWN: dict[str, list[Case]] = {
    "urlwatch": [
        ({"filter": ["html2text", "pretty-xml"], "user_visible_url": "https://x.example/"}, "Monitor all words", T, ""),
        (
            {"filter": ["html2text"], "ignore_incomplete_reads": True, **dict.fromkeys(IGNORED, True)},
            "Monitor all words",
            A,
            "lasting errors",
        ),
        ({"filter": ["html2text"], "http_proxy": "http://p.example:1"}, "Monitor all words", T, ""),
        ({"navigate": "https://app.example/", "filter": ["html2text"], "browser": "firefox"}, "Render browser", T, ""),
        ({"command": "df", "stderr": "urlwatch"}, "", R, "it runs a command"),
        ({"navigate": "https://app.example/", "filter": ["html2text"]}, "Render browser", T, ""),
        (
            {"navigate": "https://app.example/", "filter": ["html2text"], "wait_for": "#x"},
            'steps (wait for css "#x")',
            T,
            "",
        ),
        (
            {"navigate": "https://app.example/", "filter": ["html2text"], "wait_until": "load"},
            "Render browser",
            A,
            "at rest",
        ),
        (
            {"navigate": "https://app.example/", "filter": ["html2text"], "useragent": "x"},
            'Header "User-Agent" "x"',
            T,
            "",
        ),
        ({"filter": ["html2text"], "diff_tool": "wdiff"}, "Monitor all words", A, "by Tidings alone"),
        ({"filter": ["html2text"], "ignore_cached": True}, "Monitor all words", T, ""),
    ],
    "webchanges": [
        *(
            ({"use_browser": True, "filters": ["html2text"], key: "x"}, "Render browser", A, "is a step")
            for key in (
                "evaluate ignore_default_args init_script initialization_js initialization_url switches user_data_dir"
                " wait_for_navigation wait_for_url connect_over_cdp".split()
            )
        ),
        ({"filters": ["html2text"], "no_redirects": True}, "Monitor all words", A, "redirects are followed"),
        *(
            ({"filters": ["html2text"], key: True}, "Monitor all words", A, "Tidings decides")
            for key in (
                "fingerprints http_version ignore_dh_key_too_small impersonate retries same_site_delay stealth".split()
            )
        ),
        *(
            ({"filters": ["html2text"], key: True}, "Monitor all words", A, "lasting errors")
            for key in (*IGNORED, "ignore_incomplete_reads", "suppress_errors", "suppress_error_ended")
        ),
        *(
            ({"filters": ["html2text"], key: True}, "Monitor all words", T, "")
            for key in (
                "contextlines empty_as_transient ignore_cached is_markdown markdown_padded_tables monospace"
                " no_conditional_request tz index_number".split()
            )
        ),
        ({"filters": ["html2text"], "diff_filters": ["additions_only"]}, "Monitor all words", A, "use a condition"),
        ({"filters": ["html2text"], "diff_tool": "wdiff"}, "Monitor all words", A, "by Tidings alone"),
        ({"filters": ["html2text"], "proxy": "http://p.example:1"}, "Proxy http://p.example:1", T, ""),
        ({"filters": ["html2text"], "ignore_https_errors": True}, "Monitor all words", A, "Trust"),
        ({"navigate": "https://app.example/", "filters": ["html2text"], "wait_until": "load"}, "Render", A, "at rest"),
        ({"use_browser": True, "filters": ["html2text"], "wait_for": 2}, "steps (wait 2 s)", T, ""),
        ({"command": "df", "stderr": "x", "user_visible_url": "x"}, "", R, "it runs a command"),
        (
            {"filters": "pypdf format-xml jsontoyaml pretty-xml strip_each_line strip_empty_lines".split()},
            "all words",
            T,
            "",
        ),
        ({"filters": ["ascii85"]}, "Monitor all words", A, "bytes"),
        ({"use_browser": True, "filters": ["html2text"]}, "Render browser", T, ""),
        ({"use_browser": True, "filters": ["html2text"], "wait_for_selector": "#x"}, 'wait for css "#x"', T, ""),
        (
            {
                "use_browser": True,
                "filters": ["html2text"],
                "wait_for_selector": [{"selector": "//x", "state": "hidden"}],
            },
            'wait for xpath "//x"',
            A,
            "not until it is gone",
        ),
        ({"use_browser": True, "filters": ["html2text"], "wait_for_timeout": 5}, "steps (wait 5 s)", T, ""),
        ({"use_browser": True, "filters": ["html2text"], "referer": "x"}, 'Header "Referer" "x"', T, ""),
        (
            {
                "use_browser": True,
                "filters": ["html2text"],
                "http_credentials": {"username": "a", "password": "c4nary"},
            },
            'Header "Authorization" secret',
            T,
            "",
        ),
        ({"filters": ["html2text"]}, "Monitor all words OR links", T, ""),
        ({"filters": [{"html2text": {"ignore_links": True}}]}, "Monitor all words", T, ""),
        ({"filters": [{"html2text": "strip_tags"}]}, "Monitor all words", T, ""),
        (
            {"filters": ["html2text", {"keep_lines_containing": "EUR"}]},
            "Monitor all words\n",
            A,
            "links in these lines",
        ),
        ({"use_browser": True, "filters": ["html2text"], "wait_for_function": "f()"}, "Render browser", A, "is a step"),
        ({"use_browser": True, "filters": ["html2text"], "block_elements": ["img"]}, "Render browser", A, "is a step"),
        ({"filters": ["html2text"], "additions_only": True}, "Monitor all words inserted", T, ""),
        ({"filters": ["html2text"], "additions_only": 0.5}, "inserted", A, "loses most of its text"),
        ({"filters": ["html2text"], "deletions_only": True}, "Monitor all words deleted", T, ""),
        ({"filters": ["html2text"], "differ": "table"}, "Monitor all words", T, ""),
        ({"filters": ["html2text"], "differ": {"name": "deepdiff"}}, "Monitor all words", A, "by their places"),
        ({"filters": ["html2text"], "differ": {"image": {"x": 1}}}, "Monitor all words", A, "by Tidings alone"),
        ({"filters": ["html2text"], "data": {"a": 1}, "data_as_json": True}, 'Body "{\\"a\\": 1}"', T, ""),
        ({"filters": ["html2text"], "params": {"q": "x"}}, "/?q=x", T, ""),
        ({"filters": ["html2text"], "http_client": "requests"}, "Monitor all words", A, "Tidings decides"),
        ({"filters": ["html2text"], "note": "ask Ann"}, "-- ask Ann", T, ""),
        ({"filters": ["html2text"], "suppress_repeated_errors": True}, "Monitor all words", A, "lasting errors"),
        ({"filters": [{"keep_lines_containing": "EUR 5."}]}, 'keep lines regex "EUR 5\\."', T, ""),
        ({"filters": [{"delete_lines_containing": {"re": "^Ad"}}]}, 'drop lines regex "^Ad"', T, ""),
        ({"filters": [{"remove_repeated": {"adjacent": True}}]}, "Transform unique", A, "not only neighbours"),
        ({"filters": [{"execute": "x"}]}, "Monitor all words", A, "no program"),
        ({"filters": ["absolute_links", "html2text"]}, "Monitor all words", T, ""),
        ({"filters": ["sha256sum"]}, "Monitor any change", A, "a sum of all bytes"),
        ({"filters": ["base64"]}, "Monitor all words", A, "bytes"),
    ],
}
CASES: dict[str, list[Case]] = {
    "urlwatch": [*COMMON, *OWN["urlwatch"]],
    "webchanges": [
        *(
            ({("filters" if key == "filter" else key): value for key, value in job.items()}, line, grade, why)
            for job, line, grade, why in COMMON
        ),
        *OWN["webchanges"],
    ],
}
GRADES = {"urlwatch": (69, 35, 3), "webchanges": (91, 74, 3)}


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Return the result of each case of each program."""
    found = {}
    for peer, cases in CASES.items():
        path = tmp_path_factory.mktemp(peer) / ("urls.yaml" if peer == "urlwatch" else "jobs.yaml")
        jobs = [
            job if job.keys() & {"navigate", "command", "url"} else {"url": f"https://site-{number}.example/", **job}
            for number, (job, *_) in enumerate(cases)
        ]
        path.write_text("﻿" + yaml.safe_dump_all(jobs, allow_unicode=True))
        kind, drafts = read(path)
        assert peer == kind.name
        found[peer] = [judge(draft, name_of(draft.title, draft.url), learn=False) for draft in drafts]
    return found


@pytest.mark.parametrize(("peer", "number"), [(peer, number) for peer in CASES for number in range(len(CASES[peer]))])
def test_job_becomes_an_equivalent_sentinel(judged, peer, number):
    """The text has the line, the grade is right, and a note explains each difference."""
    _, line, grade, why = CASES[peer][number]
    one = judged[peer][number]

    assert line in one.text
    assert grade == one.grade, one.notes
    assert why in " ".join(note.text for note in one.notes)
    assert "c4nary" not in one.text


@pytest.mark.parametrize("peer", CASES)
def test_counts_match_the_documentation(judged, peer):
    """The documentation has the numbers of translated, approximated and refused jobs."""
    grades = [one.grade for one in judged[peer]]

    assert len(CASES[peer]) == len(grades) >= 60
    assert GRADES[peer] == tuple(grades.count(grade) for grade in (T, A, R))


@pytest.mark.parametrize("peer", CASES)
def test_each_key_and_filter_has_a_case(peer):
    """So what the documentation says of the tables is true."""
    jobs = [job for job, *_ in CASES[peer]]
    keys = {key for job in jobs for key in job}
    names = {name for job in jobs for key in ("filter", "filters") for name, _ in list_named(job.get(key))}
    rest = {key for key in urlwatch.FIELDS if peer == "webchanges" or key in URLWATCH} - keys

    assert set() == rest - {"chromium_revision", "useragent", "user_agent", "https_proxy", "http_proxy", "browser"}
    assert set() == {*FILTERS, *WHY} - names - (LATER_FILTERS if peer == "urlwatch" else set())


URLWATCH = frozenset(
    """tags enabled diff_filter diff_tool treat_new_as_changed compared_versions max_tries method data headers cookies
    timeout ssl_no_verify ignore_cached ignore_connection_errors ignore_timeout_errors ignore_too_many_redirects
    ignore_incomplete_reads ignore_http_error_codes encoding wait_until wait_for stderr user_visible_url name""".split()
)
"""The keys of urlwatch 2.29."""
LATER_FILTERS = frozenset(
    "keep_lines_containing delete_lines_containing remove_repeated pypdf sha256sum strip_each_line format-xml"
    " jsontoyaml strip_empty_lines absolute_links execute ascii85 base64".split()
)
"""Those of webchanges alone."""


PAGES = ("each", "half", "never", "broken")


@pytest.mark.parametrize(
    ("peer", "list_", "database", "changes"),
    [("urlwatch", "urls.yaml", "cache.db", [4, 2, 0, 3]), ("webchanges", "jobs.yaml", "snapshots.db", [3, 2, 0, 2])],
)
def test_history_of_the_program_gives_the_times_of_changes(tmp_path, peer, list_, database, changes):
    """The program has stored five states, one of them an error. webchanges stores four texts of a
    page.
    """
    jobs = [{"name": page, "url": f"http://127.0.0.1:18765/{page}", "filter": [{"css": ".price"}]} for page in PAGES]
    (tmp_path / list_).write_text(yaml.safe_dump_all(jobs))
    with sqlite3.connect(tmp_path / database) as raw:
        raw.executescript((FILES / f"{peer}.sql").read_text())
    raw.close()
    kind, drafts = read(tmp_path)

    assert peer == kind.name
    assert changes == [len(draft.changed_at) for draft in drafts]
    assert all(sorted(draft.changed_at) == draft.changed_at for draft in drafts)


def test_settings_give_receivers_and_defaults(tmp_path):
    """Enabled reporters become receivers. A default applies to jobs without their own value."""
    (tmp_path / "urls.yaml").write_text("url: https://a.example/\n---\nurl: https://b.example/\ntimeout: 5\n")
    settings = {
        "job_defaults": {"all": {"timeout": 20}, "url": {"headers": {"Accept": "x"}}},
        "report": {
            "telegram": {"enabled": True, "bot_token": "1:abcdefg", "chat_id": "5"},
            "slack": {"enabled": False, "webhook_url": "https://hooks.slack.com/services/A/B/C"},
            "email": {"enabled": True, "to": "ann@example.org", "from": "x"},
            "xmpp": {"enabled": True},
        },
    }
    (tmp_path / "urlwatch.yaml").write_text(yaml.safe_dump(settings))
    texts = [judge(draft, "x", learn=False) for draft in read(tmp_path)[1]]

    assert "Timeout 20 s" in texts[0].text
    assert "Timeout 5 s" in texts[1].text
    assert 'Header "Accept" "x"' in texts[1].text
    assert "Notify by tgram://1:abcdefg/5" in texts[0].text
    assert "Notify by email ann@example.org" in texts[0].text
    assert "slack" not in texts[0].text
    assert ["report: xmpp"] == [note.field for note in texts[0].notes if note.grade == "refused"]


def read_job(tmp_path, job, config=None, name="urls.yaml"):
    """Return the result for one job beside these settings."""
    (tmp_path / name).write_text(yaml.safe_dump(job))
    if config is not None:
        (tmp_path / ("urlwatch.yaml" if name == "urls.yaml" else "config.yaml")).write_text(yaml.safe_dump(config))
    [draft] = read(tmp_path)[1]
    return judge(draft, "x", learn=False)


PAGE = {"url": "https://a.example/", "filter": ["html2text"]}
BROWSED = {"url": "https://a.example/", "use_browser": True, "filters": ["html2text"]}
MANY = {"enabled": True, "to": "Ann <ann@a.example>, bob@b.example"}
RECEIVED = [
    # the program's list of jobs, a reporter, its receivers
    ("urls.yaml", {"email": MANY}, ["email ann@a.example", "email bob@b.example"]),
    ("jobs.yaml", {"email": MANY}, ["email ann@a.example", "email bob@b.example"]),
    ("urls.yaml", {"email": {"enabled": False, "to": "a@a.example"}}, []),
    ("urls.yaml", {"telegram": {"enabled": True, "bot_token": "1:abcdefg", "chat_id": "5"}}, ["tgram://1:abcdefg/5"]),
    (
        "urls.yaml",
        {"telegram": {"enabled": True, "bot_token": "1:abcdefg", "chat_id": [5, "-6"]}},
        ["tgram://1:abcdefg/5", "tgram://1:abcdefg/-6"],
    ),
    (
        "urls.yaml",
        {"mailgun": {**MANY, "from_mail": "me@d.example", "domain": "d.example", "api_key": "k" * 8, "region": "eu"}},
        [f"mailgun://me@d.example/{'k' * 8}/{to}?region=eu" for to in ("ann@a.example", "bob@b.example")],
    ),
    (
        "urls.yaml",
        {"pushover": {"enabled": True, "user": "u" * 30, "app": "a" * 30, "device": "phone"}},
        [f"pover://{'u' * 30}@{'a' * 30}/phone"],
    ),
]


@pytest.mark.parametrize("number", range(len(RECEIVED)))
def test_each_receiver_of_a_reporter_is_imported(tmp_path, number):
    """A list of receivers is a clause for each."""
    name, report, expected = RECEIVED[number]
    one = read_job(tmp_path, PAGE, {"report": report}, name)

    assert [f"Notify by {one}" for one in expected] == [
        line.strip() for line in one.text.splitlines() if "Notify" in line
    ]


READ_AS_THERE = [
    # the list of jobs, a job, defaults, a line that its sentinel has, one that it has not
    ("urls.yaml", {**PAGE, "timeout": None}, {"all": {"timeout": 5}}, "Timeout 5 s", "never"),
    ("urls.yaml", {**PAGE, "timeout": 7}, {"url": {"timeout": 5}}, "Timeout 7 s", "never"),
    ("urls.yaml", PAGE, {"all": {"timeout": 5}, "url": {"timeout": 6}}, "Timeout 6 s", "never"),
    ("urls.yaml", {**PAGE, "headers": {"A": "b"}}, {"all": {"headers": {"C": "d"}}}, 'Header "A" "b"', 'Header "C"'),
    ("jobs.yaml", {**PAGE, "headers": {"A": "b"}}, {"all": {"headers": {"C": "d"}}}, 'Header "C" "d"', "never"),
    ("jobs.yaml", {**PAGE, "data": {"a": 1}}, {"all": {"data": {"b": 2}}}, 'Body "b=2&a=1"', "never"),
    ("urls.yaml", {**PAGE, "http_proxy": "http://p.example:1"}, {}, "Monitor all words", "Proxy"),
    ("urls.yaml", {**PAGE, "https_proxy": "http://p.example:1"}, {}, "Proxy http://p.example:1", "never"),
    ("urls.yaml", {**PAGE, "data": "q=1"}, {}, 'Header "Content-Type" "application/x-www-form-urlencoded"', "Method"),
    ("urls.yaml", {**PAGE, "data": "{}", "headers": {"content-type": "a/b"}}, {}, '"content-type" "a/b"', "urlencoded"),
    ("urls.yaml", {**PAGE, "data": "q=1", "method": "GET"}, {}, "Monitor all words", "Body"),
    ("urls.yaml", {**PAGE, "data": "q=1", "method": "PUT"}, {}, 'Method "PUT"', "never"),
    (
        "jobs.yaml",
        {**PAGE, "data": "[1]", "data_as_json": True},
        {},
        'Header "Content-Type" "application/json"',
        "never",
    ),
    ("jobs.yaml", {**PAGE, "data": [["a", 1], ["b", 2]]}, {}, 'Body "a=1&b=2"', "never"),
    ("jobs.yaml", {**BROWSED, "http_credentials": "me:c4nary"}, {}, 'Header "Authorization" secret', "c4nary"),
    (
        "jobs.yaml",
        {**BROWSED, "http_credentials": "https://me:c4nary@a.example"},
        {},
        '"Authorization" secret',
        "c4nary",
    ),
    ("jobs.yaml", {**BROWSED, "wait_for_selector": "text=Ready"}, {}, 'wait for text "Ready"', "never"),
    ("jobs.yaml", {**BROWSED, "wait_for_selector": [{"selector": "#a"}, "//b"]}, {}, 'wait for css "#a"', "never"),
    ("jobs.yaml", {**PAGE, "differ": {"name": "deepdiff", "data_type": "xml"}}, {}, "Monitor all words", "never"),
    ("jobs.yaml", {**BROWSED, "wait_for_timeout": 2}, {}, "wait 2 s", "never"),
    ("jobs.yaml", {**PAGE, "filter": ["html2text", {"remove_repeated": {"separator": ","}}]}, {}, "words", "unique"),
]


@pytest.mark.parametrize("number", range(len(READ_AS_THERE)))
def test_job_means_what_its_program_reads(tmp_path, number):
    """Defaults, requests and waits, as urlwatch 2.29 and webchanges 3.37.0 read them."""
    name, job, defaults, line, lacks = READ_AS_THERE[number]
    one = read_job(tmp_path, job, {"job_defaults": defaults}, name)

    assert line in one.text
    assert lacks not in one.text
    assert "changes are compared and shown by Tidings alone" not in [note.text for note in one.notes]
