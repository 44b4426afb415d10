"""Imports from changedetection.io: each field of a watch, in more than sixty watches of usual
forms. The files are written by its source code, not by the program.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tidings.service.imports import inherited
from tidings.service.imports.draft import judge
from tidings.service.imports.import_jobs import read

SETTINGS = {
    "settings": {
        "headers": {},
        "requests": {
            "time_between_check": {"hours": 3},
        },
        "application": {
            "schema_version": 33,
            "notification_urls": [],
            "global_ignore_text": [],
            "scheduler_timezone_default": "Europe/Paris",
            "tags": {
                "t1": {"title": "My shops", "overrides_watch": False},
                "t2": {
                    "title": "Strict",
                    "overrides_watch": True,
                    "ignore_text": ["from the tag"],
                    "time_between_check": {"days": 2},
                    "notification_urls": ["ntfy://tag"],
                },
                "t3": {"title": "By address", "url_match_pattern": "*patterned*"},
            },
        },
    }
}
WEEKEND = {
    day: {"enabled": day in {"saturday", "sunday"}, "start_time": "22:00", "duration": {"hours": "4", "minutes": "0"}}
    for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
}
WHOLE = {day: {"enabled": True, "start_time": "00:00", "duration": {"hours": "24", "minutes": "00"}} for day in WEEKEND}

WRITTEN = Path(__file__).parents[3] / "imports" / "changedetection"
STORED = WRITTEN.with_suffix(".tar.gz")
"""What the real program stored of `CASES`, given to its API (tests/imports/README.md)."""
NOT_STORED = {"tag", "llm_prefilter"}
"""Fields that its API takes and does not store as they are here."""
T, A, R = "translated", "approximated", "refused"
CASES: list[tuple[dict[str, Any], str, str, str]] = [
    # fields of the watch, a line that its sentinel has, its grade, what a note says
    ({}, "Monitor all words", T, ""),
    ({"title": "Kettle"}, "Create Sentinel Kettle Using", T, ""),
    ({"title": "Émile & ß"}, "Create Sentinel w-Émile-ß Using", T, ""),
    ({"title": "9 lives"}, "Create Sentinel w-9-lives Using", T, ""),
    ({"title": "Monitor"}, "Create Sentinel Monitor-page Using", T, ""),
    ({"page_title": "From the page"}, "Create Sentinel From-the-page Using", T, ""),
    ({"tags": ["t1"]}, "Tags My-shops", T, ""),
    ({"tags": ["t2"]}, "Monitor all words", T, ""),
    ({"tags": ["t2"], "ignore_text": ["own"]}, 'drop lines regex "(?i)from the tag"', T, ""),
    ({"tags": ["t2"]}, "Notify by ntfy://tag", T, ""),
    ({"tags": ["unknown"]}, "Monitor all words", T, ""),
    ({"url": "https://patterned.example/"}, "Tags By-address", T, ""),
    ({"tag": "old, two words"}, "Tags old, two-words", T, ""),
    ({"paused": True}, "Disable ", T, ""),
    ({"notification_muted": True, "notification_urls": ["ntfy://x"]}, "Monitor all words", A, "shown on the dashboard"),
    ({"method": "POST", "body": '{"a": 1}'}, 'Body "{\\"a\\": 1}"', T, ""),
    ({"method": "POST", "body": "{{now}}"}, 'Method "POST"', A, "a template (Jinja)"),
    ({"headers": {"Accept": "text/html"}}, 'Header "Accept" "text/html"', T, ""),
    ({"headers": {"Cookie": "sid=c4nary"}}, 'Header "Cookie" secret "import-', T, ""),
    ({"url": "https://u:c4nary@site.example/"}, 'Header "Authorization" secret "import-', T, ""),
    ({"proxy": "http://q.example:8080"}, "Proxy http://q.example:8080", T, ""),
    ({"proxy": "no-proxy"}, "Monitor all words", T, ""),
    ({"proxy": "http://u:c4nary@q.example:1080"}, 'Proxy secret "import-', T, ""),
    ({"proxy": "nobody"}, "Monitor all words", A, "proxies.json"),
    ({"fetch_backend": "html_requests"}, "Monitor all words", T, ""),
    ({"fetch_backend": "html_webdriver"}, "Render browser", T, ""),
    ({"fetch_backend": "html_webdriver", "webdriver_delay": 5}, "Render browser steps (wait 5 s)", T, ""),
    ({"webdriver_delay": 5}, "Monitor all words", T, ""),
    ({"fetch_backend": "html_webdriver", "webdriver_js_execute_code": "x()"}, "Render browser", A, "no script of your"),
    ({"link_to_open": "https://site.example/"}, "Monitor all words", A, "messages lead to the page"),
    (
        {
            "fetch_backend": "html_webdriver",
            "browser_steps": [
                {"operation": "Goto site"},
                {"operation": "Click element", "selector": "#ok"},
                {"operation": "Enter text in field", "selector": "#q", "optional_value": "kettle"},
                {"operation": "Wait for seconds", "optional_value": "3"},
                {"operation": "Wait for text", "optional_value": "Results"},
            ],
        },
        'steps (click css "#ok", fill css "#q" with "kettle", wait 3 s, wait for text "Results")',
        T,
        "",
    ),
    (
        {
            "fetch_backend": "html_webdriver",
            "browser_steps": [
                {"operation": "Enter text in field", "selector": "#password", "optional_value": "c4nary"},
                {"operation": "<select> by option text", "selector": "//select", "optional_value": "EUR"},
            ],
        },
        'with secret "import-',
        T,
        "",
    ),
    (
        {
            "fetch_backend": "html_webdriver",
            "browser_steps": [{"operation": "Wait for text in element", "selector": "#a", "optional_value": "Done"}],
        },
        'steps (wait for text "Done")',
        A,
        "anywhere on the page",
    ),
    (
        {
            "fetch_backend": "html_webdriver",
            "browser_steps": [{"operation": "Enter text in field", "selector": "#a", "optional_value": "{{ x }}"}],
        },
        "Monitor all words",
        A,
        "a template (Jinja)",
    ),
    (
        {"fetch_backend": "html_webdriver", "browser_steps": [{"operation": "Execute JS", "optional_value": "x()"}]},
        "Monitor all words",
        A,
        "Execute JS",
    ),
    (
        {"fetch_backend": "html_webdriver", "browser_steps": [{"operation": "Remove elements", "selector": ".ad"}]},
        'Exclude css ".ad"',
        T,
        "",
    ),
    ({"include_filters": [".a", "#b"]}, 'Select css ".a, #b"', T, ""),
    ({"include_filters": ["//h1"]}, 'Select xpath "//h1"', T, ""),
    ({"include_filters": ["xpath:/html/body/p[1]", "xpath1://h2"]}, 'Select xpath "/html/body/p[1] | //h2"', T, ""),
    ({"include_filters": ["xpath:matches(//p, 'x')"]}, "Monitor all words", A, "E06"),
    ({"include_filters": ["json:$.price"]}, 'Select jsonpath "$.price"', T, ""),
    ({"include_filters": ["jq:.items[].name"]}, 'Select jsonpath "$.items[*].name"', T, ""),
    ({"include_filters": ["jq:.[] | select(.on == true) | {name}"]}, '"$[?@.on == true].name"', A, "one by one"),
    ({"include_filters": ["p:contains('x')"]}, "Select xpath \"//p[contains(., 'x')]\"", T, ""),
    ({"include_filters": ["jq:.a | length"]}, "Monitor all words", A, "only paths"),
    ({"include_filters": [".a", "//h1"]}, 'all words in css ".a" OR all words in xpath "//h1"', T, ""),
    ({"subtractive_selectors": ["footer", "//nav"]}, 'Exclude xpath "//nav"', T, ""),
    ({"subtractive_selectors": ["p:contains(x)"]}, "Exclude xpath \"//p[contains(., 'x')]\"", T, ""),
    ({"subtractive_selectors": ["p:hover"]}, "Monitor all words", A, "E06"),
    ({"ignore_text": ["Visitors: (5)"]}, 'drop lines regex "(?i)Visitors\\: \\(5\\)"', T, ""),
    ({"ignore_text": ["/\\d+ seen/i"]}, 'drop lines regex "(?i)\\d+ seen"', T, ""),
    ({"ignore_text": ["/a.*b/s"]}, 'drop lines regex "(?s)a.*b"', A, "line by line"),
    ({"ignore_text": ["/(?!x)y/"]}, "Monitor all words", A, "RE2"),
    ({"extract_lines_containing": ["price", "stock"]}, 'keep lines regex "(?i)(?:price)|(?:stock)"', T, ""),
    ({"extract_text": ["/(\\d+) EUR/"]}, 'Monitor regex "(\\d+) EUR"', T, ""),
    (
        {"extract_text": ["/(\\d+) (EUR)/"]},
        'Monitor regex "(\\d+) (?:EUR)" OR regex "(?:\\d+) (EUR)"',
        T,
        "",
    ),
    ({"extract_text": ["/a/", "b"]}, 'Monitor regex "a" OR regex "(?i)b"', T, ""),
    ({"trigger_text": ["in stock"]}, 'all words where page has "in stock"', T, ""),
    ({"trigger_text": ["in stock", "back, again"]}, 'where page has <"in stock", "back, again">', T, ""),
    ({"trigger_text": ["yes", "/no+/"]}, 'where matches "(?i)(?:yes)|(?:no+)"', A, "what came"),
    ({"text_should_not_be_present": ["sold out"]}, 'all words where page lacks "sold out"', A, "not reported later"),
    ({"text_should_not_be_present": ["/x+/"]}, "Monitor all words", A, "not a pattern"),
    (
        {"text_should_not_be_present": ["sold out"], "include_filters": [".price"]},
        'all words\n  Select css ".price"',
        A,
        "asks of the whole page",
    ),
    (
        {
            "conditions": [{"field": "page_filtered_text", "operator": "!in", "value": "gas"}],
            "subtractive_selectors": ["footer"],
        },
        'all words\n  Exclude css "footer"',
        A,
        "asks of the whole page",
    ),
    ({"trigger_text": ["oil"], "include_filters": ["p"]}, 'page has "oil"', A, "not the selected part"),
    ({"remove_duplicate_lines": True, "sort_text_alphabetically": True}, "Transform sort", T, ""),
    ({"check_unique_lines": True}, "all words where never seen before", T, ""),
    ({"filter_text_removed": False, "filter_text_replaced": False}, "Monitor all words inserted", A, "changed line"),
    ({"filter_text_added": False, "filter_text_replaced": True}, "all words deleted OR all words updated", T, ""),
    (
        {"conditions": [{"field": "extracted_number", "operator": ">", "value": "10.5"}]},
        "number where value > 10.5",
        A,
        "the first number",
    ),
    ({"conditions": [{"field": "page_filtered_text", "operator": "in", "value": "oil"}]}, 'page has "oil"', A, ""),
    ({"conditions": [{"field": "page_filtered_text", "operator": "!in", "value": "gas"}]}, 'page lacks "gas"', A, ""),
    (
        {
            "conditions": [
                {"field": "extracted_number", "operator": ">", "value": 5},
                {"field": "extracted_number", "operator": "!=", "value": 8},
                {"field": "page_filtered_text", "operator": "in", "value": "oil"},
            ]
        },
        'Monitor number where value > 5 but value != 8 but page has "oil"',
        A,
        "the first number",
    ),
    (
        {
            "conditions_match_logic": "ANY",
            "conditions": [
                {"field": "extracted_number", "operator": ">", "value": 5},
                {"field": "page_filtered_text", "operator": "in", "value": "oil"},
            ],
        },
        'Monitor number where value > 5 OR all words where page has "oil"',
        A,
        "the first number",
    ),
    (
        {
            "conditions_match_logic": "ANY",
            "conditions": [
                {"field": "word_count", "operator": ">", "value": 5},
                {"field": "page_filtered_text", "operator": "in", "value": "oil"},
            ],
        },
        "Monitor all words\n",
        A,
        "write a sentinel each",
    ),
    (
        {"conditions": [{"field": "page_filtered_text", "operator": "contains_regex", "value": "a+"}]},
        'where matches "(?i)a+"',
        A,
        "what came must match",
    ),
    ({"conditions": [{"field": "levenshtein_ratio", "operator": "<", "value": 0.8}]}, "where share > 20%", A, ""),
    ({"conditions": [{"field": "word_count", "operator": "<", "value": 5}]}, "Monitor all words", A, "word_count"),
    ({"conditions": [{"field": "", "operator": "in", "value": ""}]}, "Monitor all words", T, ""),
    ({"processor": "restock_diff"}, 'availability where matches "InStock" OR price', T, ""),
    (
        {
            "processor": "restock_diff",
            "restock_diff": {
                "in_stock_processing": "all_changes",
                "follow_price_changes": True,
                "price_change_max": 99,
            },
        },
        "availability OR price where value > 99",
        T,
        "",
    ),
    (
        {
            "processor": "restock_diff",
            "restock_diff": {
                "in_stock_processing": "off",
                "follow_price_changes": True,
                "price_change_min": 5,
                "price_change_threshold_percent": 10,
            },
        },
        "Monitor price where value < 5 but changes by 10%",
        T,
        "",
    ),
    ({"processor": "image_ssim_diff"}, "Render browser screenshot", A, "not pictures"),
    ({"track_ldjson_price_data": "accepted"}, "Monitor price", T, ""),
    (
        {"time_between_check_use_default": False, "time_between_check": {"hours": 1, "minutes": 30}},
        "Fetch every 90 min",
        T,
        "",
    ),
    (
        {
            "time_between_check_use_default": False,
            "time_between_check": {"hours": 3},
            "time_schedule_limit": {"enabled": True, **WEEKEND},
        },
        "During sat 22:00 to 24:00, sun 22:00 to 24:00 Zone",
        T,
        "",
    ),
    (
        {
            "time_between_check_use_default": False,
            "time_between_check": {"days": 1},
            "time_schedule_limit": {"enabled": True, "timezone": "UTC", **WHOLE},
        },
        "Fetch every 1 day",
        T,
        "",
    ),
    (
        {"notification_urls": ["posts://hooks.example/a"]},
        "Notify by webhook https://hooks.example/a",
        A,
        "our own form",
    ),
    (
        {"notification_urls": ["posts://h.example/a?b=1&+X-Token=c4nary"]},
        "Notify by webhook https://h.example/a?b=1\n",
        A,
        "no headers of your own",
    ),
    ({"notification_urls": ["gets://hooks.example/a"]}, "Monitor all words", A, "sent by POST"),
    ({"notification_urls": ["tgram://123456789:abcdefg/5"]}, "Notify by tgram://123456789:abcdefg/5", T, ""),
    ({"notification_urls": ["mailto://a:b@127.0.0.1:8925?to=d@e.example"]}, "Monitor all words", A, "cannot read this"),
    (
        {
            "notification_urls": ["ntfy://x/y"],
            "notification_title": "{{ watch_title }} ({{ watch_tag }})",
            "notification_body": "Look:\n{{diff}}",
        },
        'Notify by ntfy://x/y with title "{{watch_title}} ({{tags}})" text "Look:" "{{diff}}"',
        T,
        "",
    ),
    (
        {"notification_urls": ["post://h.example/a"], "notification_body": '{"text": "{{ diff }}"}'},
        'Notify by webhook http://h.example/a with text "{\\"text\\": \\"{{diff}}\\"}"',
        A,
        "headers and a signature of our own",
    ),
    (
        {"notification_urls": ["ntfy://x/y"], "notification_body": "{% if diff %}{{ preview_url }}{% endif %}"},
        "Notify by ntfy://x/y\n",
        A,
        "preview_url",
    ),
    ({"ignore_status_codes": True}, "Monitor all words", A, "Monitor status"),
    ({"history_snapshot_max_length": 6}, "ChangeHistory 5", T, ""),
    ({"llm_intent": "only new jobs"}, "-- its intent: only new jobs", A, "no language model"),
    ({"llm_prefilter": ".ad"}, 'Exclude css ".ad"', T, ""),
    ({"url": "source:https://site.example/"}, "Monitor any change", A, "not the source"),
    ({"url": "https://site.example/?d={{ now }}"}, "", R, "a template (Jinja)"),
    ({"url": "ftp://site.example/"}, "", R, "cannot be watched"),
    ({"url": "file:///etc/passwd"}, "", R, "file: addresses are not allowed"),
    (
        {"strip_ignored_lines": True, "trim_text_whitespace": True, "notification_format": "html", "page_title": "P"},
        "Monitor all words",
        T,
        "",
    ),
    ({"notification_screenshot": True}, "Monitor all words", A, "messages have no pictures"),
    ({"llm_intent": "a", "llm_change_summary": "in one line"}, "-- its intent: in one line", A, "no language model"),
    ({"webdriver_delay": "x", "fetch_backend": "html_webdriver"}, "Render browser", A, "cannot be read"),
    ({"render_anchor_tag_content": True}, "Monitor all words", T, ""),
    ({"tomorrow": "x"}, "Monitor all words", A, "this field is unknown"),
]
STATE = {"date_created": 1, "check_count": 9, "last_checked": 1_700_000_000, "previous_md5": "x", "uuid": "u"}


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Return the result of each case, read from one backup."""
    path = tmp_path_factory.mktemp("cd") / "backup.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("changedetection.json", json.dumps(SETTINGS))
        for number, (fields, *_) in enumerate(CASES):
            record = {"url": f"https://site-{number}.example/", **STATE, **fields}
            file.writestr(f"u{number}/watch.json", json.dumps(record))
    kind, drafts = read(path)
    assert "changedetection.io" == kind.name
    found = {int(draft.key[1:]): judge(draft, name_of(draft), learn=False) for draft in drafts}
    return [found[number] for number in range(len(CASES))]


def name_of(draft):
    """Return the preferred name of the draft."""
    from tidings.service.imports.draft import name_of as made

    return made(draft.title, draft.url)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_watch_becomes_an_equivalent_sentinel(judged, number):
    """The text has the line, the grade is right, and a note explains each difference."""
    _, line, grade, why = CASES[number]
    one = judged[number]

    assert line in one.text
    assert grade == one.grade, one.notes
    assert why in " ".join(note.text for note in one.notes)
    assert "c4nary" not in one.text


def test_every_field_is_noted_or_translated(judged):
    """Nothing of a watch is lost without a note."""
    silent = []
    for number, (fields, *_) in enumerate(CASES):
        noted = " ".join(f"{note.field} {note.text}" for note in judged[number].notes)
        names = {"url": "url", "time_between_check_use_default": "interval", "time_between_check": "interval"}
        silent += [
            (number, field)
            for field, value in fields.items()
            if value
            and names.get(field, field) not in noted
            and field not in {"url", "restock_diff", "tags", "page_title"}
        ]

    assert [] == [one for one in silent if one[1] not in {"processor", "fetch_backend", "conditions"}]


def test_counts_match_the_documentation(judged):
    """The documentation has the numbers of translated, approximated and refused watches."""
    grades = [one.grade for one in judged]

    assert len(CASES) == len(grades) >= 60
    assert (62, 44, 3) == tuple(grades.count(grade) for grade in (T, A, R))


def test_older_file_formats_are_read(tmp_path):
    """The formats are `url-watches.json` alone, a directory and one watch. The watch's own file is
    preferred.
    """
    old = {**SETTINGS, "watching": {"u1": {"url": "https://a.example/", "title": "Old"}}}
    (tmp_path / "url-watches.json").write_text(json.dumps(old))
    alone = read(tmp_path / "url-watches.json")[1]
    (tmp_path / "u1").mkdir()
    (tmp_path / "u1" / "watch.json").write_text(json.dumps({"url": "https://a.example/", "title": "New"}))
    both = read(tmp_path)[1]
    one = read(tmp_path / "u1" / "watch.json")[1]

    assert ["Old"] == [draft.title for draft in alone]
    assert ["New"] == [draft.title for draft in both] == [draft.title for draft in one]


def test_history_gives_the_times_of_changes(tmp_path):
    """The first line of the index is the first check, which is no change. Invalid lines are
    skipped.
    """
    (tmp_path / "u1").mkdir()
    (tmp_path / "u1" / "watch.json").write_text('{"url": "https://a.example/", "time_between_check": {}}')
    (tmp_path / "u1" / "history.txt").write_text("100,/etc/passwd\nnonsense\n200,b.txt\n300,../../c.txt\n")
    [draft] = read(tmp_path)[1]

    assert [200_000_000, 300_000_000] == draft.changed_at


def test_directory_of_the_real_program_is_imported():
    """No field of 0.60.10 is unknown, and the settings beside a watch are read."""
    found = {draft.title: judge(draft, draft.title, learn=False) for draft in read(WRITTEN)[1]}

    assert {"plain": T, "restock": T, "source": A} == {title: one.grade for title, one in found.items()}
    assert "Monitor availability OR price where value > 99.0" in found["restock"].text


def test_what_the_real_program_stored_of_a_case_has_the_same_meaning():
    """The program writes all its fields into each watch, in its own forms."""
    wrong = []
    for draft in read(STORED)[1]:
        fields, line, grade, why = CASES[int(draft.key[1:])]
        one = judge(draft, name_of(draft), learn=False)
        notes = " ".join(note.text for note in one.notes)
        assert ("this field is unknown" in notes) == ("tomorrow" in fields)
        assert "c4nary" not in one.text
        if not NOT_STORED & fields.keys() and (line not in one.text or grade != one.grade or why not in notes):
            wrong.append((draft.key, fields, one.text, one.notes))

    assert [] == wrong


def test_the_real_program_stored_all_cases_but_those_it_refuses():
    """It refuses unknown proxies, a file, a bad receiver, a bad number and what it sets itself."""
    stored = {int(draft.key[1:]) for draft in read(STORED)[1]}
    refused = [fields for number, (fields, *_) in enumerate(CASES) if number not in stored]

    assert 101 == len(stored)
    assert {"proxy", "url", "processor", "notification_urls", "track_ldjson_price_data", "webdriver_delay"} == {
        next(iter(fields)) for fields in refused
    }


def read_with(tmp_path, settings, record, files=()):
    """Return the result for one watch beside these settings and files."""
    (tmp_path / "u1").mkdir()
    given: dict[str, dict[str, Any]] = {
        "settings": {"application": {"schema_version": 33}, "requests": {"time_between_check": {"hours": 3}}}
    }
    for group, values in settings.items():
        given["settings"].setdefault(group, {}).update(values)
    (tmp_path / "changedetection.json").write_text(json.dumps(given))
    (tmp_path / "u1" / "watch.json").write_text(json.dumps({"url": "https://a.example/p", **record}))
    for name, text in dict(files).items():
        (tmp_path / name).write_text(text)
    [draft] = read(tmp_path)[1]
    return judge(draft, "x", learn=False)


APP, REQ = "application", "requests"
HOME = {"proxy_name": "home", "proxy_url": "http://p.example:1"}
WORK = {"proxy_name": "work", "proxy_url": "http://w.example:1"}
NIGHTS = {"enabled": True, **{day: {**span, "start_time": "20:00"} for day, span in WEEKEND.items()}}
OWN_TIMES = {"time_between_check_use_default": False, "time_between_check": {"hours": 1}}
GROUP = {"tags": {"t": {"title": "A b", "notification_urls": ["ntfy://x/tag"], "notification_title": "of the tag"}}}
INHERITED = [
    # the settings, a watch, a line that its sentinel has, its grade
    ({APP: {"fetch_backend": "html_webdriver"}}, {"fetch_backend": "system"}, "Render browser", T),
    ({APP: {"fetch_backend": "html_webdriver"}}, {"fetch_backend": ""}, "Render browser", T),
    ({APP: {"fetch_backend": "html_webdriver"}}, {"fetch_backend": None}, "Render browser", T),
    ({APP: {"fetch_backend": "html_webdriver"}}, {}, "Render browser", T),
    ({APP: {"fetch_backend": "html_webdriver"}}, {"fetch_backend": "html_requests"}, "words\n  Fetch", T),
    ({APP: {"fetch_backend": "html_webdriver"}}, {"url": "https://a.example/a.pdf"}, "words\n  Fetch", T),
    (
        {APP: {"fetch_backend": "html_webdriver", "webdriver_delay": 4}},
        {"fetch_backend": "system"},
        "browser steps (wait 4 s)",
        T,
    ),
    (
        {APP: {"fetch_backend": "html_webdriver", "webdriver_delay": 4}},
        {"fetch_backend": "system", "webdriver_delay": 2},
        "browser steps (wait 2 s)",
        T,
    ),
    ({APP: {"webdriver_delay": 4}}, {"fetch_backend": "system"}, "words\n  Fetch", T),
    ({REQ: {"extra_browsers": [{"browser_name": "b"}]}}, {"fetch_backend": "extra_browser_b"}, "Render browser", T),
    ({}, {"fetch_backend": "extra_browser_gone"}, "words\n  Fetch", T),
    ({APP: {"tags": {"t": {"fetch_backend": "html_webdriver"}}}}, {"tags": ["t"]}, "words\n  Fetch", T),
    ({APP: GROUP}, {"tags": ["t"]}, 'Notify by ntfy://x/tag with title "of the tag"', T),
    ({APP: GROUP}, {"tags": ["t"], "notification_urls": ["ntfy://x/own"]}, "Notify by ntfy://x/own with title", T),
    ({APP: {"tags": {"t": {**GROUP["tags"]["t"], "notification_muted": True}}}}, {"tags": ["t"]}, "3 hour", T),
    (
        {APP: {"tags": {"t": {"notification_muted": True}}, "notification_urls": ["ntfy://x/all"]}},
        {"tags": ["t"]},
        "Notify by ntfy://x/all",
        T,
    ),
    ({APP: {**GROUP, "notification_urls": ["ntfy://x/all"]}}, {}, "Notify by ntfy://x/all", T),
    ({APP: {"all_muted": True, "notification_urls": ["ntfy://x/all"]}}, {}, "words\n  Fetch every 3 hour", A),
    ({APP: {"all_paused": True}}, {}, "Disable x", T),
    ({APP: {"tags": {"t": {"title": "A", "ignore_text": ["of a tag"]}}}}, {"tags": ["t"]}, "(?i)of a tag", T),
    ({APP: {"tags": {"t": {"title": "A", "include_filters": ["#main"]}}}}, {"tags": ["t"]}, 'css "#main"', T),
    ({REQ: {"time_schedule_limit": NIGHTS}}, {}, "During sat 20:00 to 24:00, sun 20:00 to 24:00 Zone UTC", T),
    ({REQ: {"time_schedule_limit": NIGHTS}}, {"time_schedule_limit": {"enabled": False}}, "During sat 20:00", T),
    ({}, {"time_schedule_limit": NIGHTS}, "words\n  Fetch every 3 hour", T),
    ({REQ: {"time_schedule_limit": NIGHTS}}, OWN_TIMES, "words\n  Fetch every 1 hour", T),
    ({}, {**OWN_TIMES, "time_schedule_limit": NIGHTS}, "During sat 20:00", T),
    ({}, {**OWN_TIMES, "time_schedule_limit": {"enabled": True}}, "Disable x", A),
    ({}, {"time_between_check": {"hours": 1}}, "Fetch every 3 hour", T),
    ({APP: {"schema_version": 14}}, {"time_between_check": {"hours": 1}}, "Fetch every 1 hour", T),
    ({APP: {"schema_version": 14}}, {"time_between_check": {"hours": None}}, "Fetch every 3 hour", T),
    (
        {APP: {"schema_version": 14}, REQ: {"time_schedule_limit": NIGHTS}},
        {"time_between_check": {"hours": 3}},
        "During sat",
        T,
    ),
    (
        {APP: {"schema_version": 14}, REQ: {"time_schedule_limit": NIGHTS}},
        {"time_between_check": {"hours": 1}},
        "words\n  Fetch every 1 hour",
        T,
    ),
    ({}, {**OWN_TIMES, "time_between_check": {"hours": 0}}, "Fetch every 3 s", A),
    ({APP: {"schema_version": 7}}, {"css_filter": ".price"}, 'Select css ".price"', T),
    (
        {APP: {"schema_version": 8}},
        {"notification_urls": ["ntfy://x"], "notification_title": "{watch_url}"},
        "{{watch_url}}",
        T,
    ),
    ({APP: {"schema_version": 17}}, {"processor": "restock_diff"}, "availability OR price\n", T),
    ({}, {"processor": "restock_diff", "restock_settings": {"in_stock_processing": "off"}}, '"InStock" OR price', T),
    (
        {APP: {"tags": {"t": {"overrides_watch": True, "processor_config_restock_diff": {"follow_price_changes": 1}}}}},
        {"processor": "restock_diff", "tags": ["t"]},
        "Monitor price\n",
        T,
    ),
    (
        {
            APP: {
                "tags": {"t": {"overrides_watch": False, "processor_config_restock_diff": {"follow_price_changes": 1}}}
            }
        },
        {"processor": "restock_diff", "tags": ["t"]},
        '"InStock" OR price',
        T,
    ),
    ({REQ: {"extra_proxies": [HOME, WORK]}}, {}, "Proxy http://p.example:1", T),
    ({REQ: {"extra_proxies": [HOME, WORK]}}, {"proxy": "ui-0work"}, "Proxy http://w.example:1", T),
    ({REQ: {"extra_proxies": [HOME, WORK]}}, {"proxy": "ui-0gone"}, "Proxy http://p.example:1", T),
    ({REQ: {"extra_proxies": [HOME, WORK], "proxy": "ui-0work"}}, {}, "Proxy http://w.example:1", T),
    ({REQ: {"extra_proxies": [HOME, WORK], "proxy": "ui-0work"}}, {"proxy": "no-proxy"}, "words\n  Fetch", T),
    ({REQ: {"extra_proxies": [HOME, WORK], "proxy": "no-proxy"}}, {}, "words\n  Fetch", T),
    ({REQ: {"proxy": "of-the-file"}}, {}, "words\n  Fetch", A),
    ({REQ: {"timeout": 90}}, {}, "Timeout 90 s", T),
    ({REQ: {"timeout": 45}}, {}, "words\n  Fetch", T),
    ({REQ: {"default_ua": {"html_requests": "Mine/1"}}}, {}, 'Header "User-Agent" "Mine/1"', T),
    ({REQ: {"default_ua": {"html_webdriver": "Mine/1"}}}, {}, "words\n  Fetch", T),
    ({"headers": {"accept": "a/b"}}, {"headers": {"Accept": "text/html"}}, 'Header "accept" "a/b"', T),
    ({}, {"headers": {"X-Now": "{{ now }}"}}, "words\n  Fetch", A),
    ({}, {"body": "a=1", "method": "GET"}, "words\n  Fetch", A),
    ({}, {"body": "a=1", "method": "PUT"}, 'Body "a=1"', T),
    ({}, {"webdriver_js_execute_code": "x()"}, "words\n  Fetch", T),
    (
        {},
        {
            "conditions_match_logic": "",
            "conditions": [{"field": "page_filtered_text", "operator": "in", "value": "oil"}],
        },
        "words\n  Fetch",
        T,
    ),
    ({APP: {"render_anchor_tag_content": True}}, {}, "Monitor words OR links", T),
    ({APP: {"history_snapshot_max_length": 9}}, {}, "ChangeHistory 8", T),
    ({APP: {"history_snapshot_max_length": 9}}, {"history_snapshot_max_length": 3}, "ChangeHistory 2", T),
    ({REQ: {"jitter_seconds": 30}}, {}, "words\n  Fetch", A),
    ({APP: {"empty_pages_are_a_change": True}}, {}, "words\n  Fetch", A),
    ({APP: {"ignore_whitespace": False}}, {}, "words\n  Fetch", A),
    ({APP: {"rss_reader_mode": True}}, {}, "words\n  Fetch", A),
    ({APP: {"of_tomorrow": True}}, {}, "words\n  Fetch", A),
    ({APP: {"tags": {"t": {"llm_intent": "only new jobs"}}}}, {"tags": ["t"]}, "-- its intent: only new jobs", A),
]


@pytest.mark.parametrize("number", range(len(INHERITED)))
def test_watch_inherits_from_tags_and_settings_as_in_its_program(tmp_path, number):
    """What a field leaves to the settings or a tag is taken from there, as in 0.60.10."""
    settings, record, line, grade = INHERITED[number]
    one = read_with(tmp_path, settings, record)

    assert line in one.text + "\n"
    assert grade == one.grade, one.notes


def test_headers_of_files_win_over_those_of_a_watch(tmp_path):
    """The order: the watch, the settings, the file for all, its own file, those of its tags."""
    tags = {APP: {"tags": {"t": {"title": "My Shops!"}}}, "headers": {"A": "settings", "B": "settings"}}
    files = {
        "headers.txt": "# a comment\nB: all\nC: all",
        "u1/headers.txt": "C: own\nD: own",
        "headers-myshops.txt": "d: tag",
        "headers-other.txt": "E: other",
    }
    one = read_with(tmp_path, tags, {"tags": ["t"], "headers": {"A": "watch", "F": "watch"}}, files)
    found = [line.strip() for line in one.text.splitlines() if "Header" in line]

    expected = {("A", "settings"), ("B", "all"), ("C", "own"), ("d", "tag"), ("F", "watch")}
    assert {f'Header "{name}" "{text}"' for name, text in expected} == set(found)


def test_proxies_of_the_file_are_known(tmp_path):
    """With the list of proxies: its own, that of the settings, else the first."""
    files = {
        "proxies.json": json.dumps({"a": {"url": "http://a.example:1"}, "b": {"url": "http://u:c4nary@b.example"}})
    }
    found = {}
    for own in ("", "a", "b", "gone"):
        (tmp_path / own).mkdir(exist_ok=True)
        found[own] = read_with(tmp_path / f"{own}", {REQ: {"proxy": "b"}}, {"proxy": own}, files).text if own else ""

    assert "Proxy http://a.example:1" in found["a"]
    assert 'Proxy secret "import-' in found["b"]
    assert 'Proxy secret "import-' in found["gone"]


def test_every_setting_of_the_real_program_has_its_place():
    """No setting of 0.60.10 is dropped: a rule reads it, it has a note, or it is of screens."""
    found = json.loads((WRITTEN / "changedetection.json").read_text())["settings"]
    names = [name for group in ("requests", "application") for name in found[group]]
    known = inherited.READ | inherited.OF_SCREENS | inherited.NOTED.keys()

    assert [] == [name for name in names if name not in known and not name.startswith(("llm", "rss_"))]
    assert 44 == len(names)
