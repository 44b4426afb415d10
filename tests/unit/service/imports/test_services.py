"""Smaller formats: a file of each, written by its public documentation, and the sentinels from it."""

import json

import pytest

from tidings.service.imports.draft import judge, name_of
from tidings.service.imports.import_jobs import read

DISTILL = {
    "client": {"local": 1},
    "data": [
        {
            "name": "Kettle",
            "uri": "https://a.example/",
            "tags": ["Shops"],
            "state": 40,
            "schedule": '{"type":"INTERVAL","params":{"interval":7200}}',
            "config": json.dumps(
                {
                    "selections": [
                        {
                            "frames": [
                                {
                                    "index": 0,
                                    "includes": [{"type": "xpath", "expr": "//h1"}],
                                    "excludes": [{"type": "css", "expr": ".ad"}],
                                }
                            ],
                            "dynamic": True,
                            "delay": 2,
                        }
                    ],
                    "regexp": {"expr": "x"},
                }
            ),
        },
        {"name": "Off", "uri": "https://b.example/", "state": 30, "schedule": '{"type":"SLOTS"}', "config": "{broken"},
    ],
}
VISUALPING = {
    "jobs": [
        {
            "id": 1,
            "url": "https://a.example/",
            "description": "Price",
            "mode": "VISUAL",
            "interval": 60,
            "active": True,
            "xpath": "//p",
            "keywords": "sale, new",
            "disable_js": False,
            "advanced_schedule": {"start_time": 8, "stop_time": 18, "active_days": [1, 5]},
            "notification": {"config": {"webhook": {"url": "https://hooks.example/x", "active": True}}},
            "crop": {"x": 1},
            "changes": [{"created": "2026-01-01T00:00:00Z"}, {"created": "2026-01-03T00:00:00Z"}],
        }
    ]
}
UPDATE_SCANNER = {
    "id": "https://github.com/sneakypete81/updatescanner/@JSON_BACKUP_ID",
    "version": 1,
    "data": {
        "type": "PageFolder",
        "title": "root",
        "children": [
            {
                "type": "PageFolder",
                "title": "Work",
                "children": [
                    {
                        "type": "Page",
                        "title": "News",
                        "url": "https://a.example/",
                        "scanRateMinutes": 1440,
                        "ignoreNumbers": True,
                        "changeThreshold": 100,
                        "selectors": "main",
                    },
                    {"type": "Page", "title": "By hand", "url": "https://b.example/", "scanRateMinutes": 0},
                ],
            }
        ],
    },
}
HUGINN = {
    "schema_version": 1,
    "name": "Deals",
    "agents": [
        {
            "type": "Agents::WebsiteAgent",
            "name": "Shop",
            "schedule": "every_1h",
            "options": {
                "url": "https://a.example/",
                "type": "html",
                "extract": {"price": {"css": ".price", "value": "."}, "url": {"css": "a", "value": "@href"}},
            },
        },
        {"type": "Agents::TriggerAgent", "name": "T", "options": {"rules": [{"type": "field<value", "value": "9"}]}},
        {"type": "Agents::EmailAgent", "name": "M", "options": {"recipients": ["ann@example.org"]}},
        {"type": "Agents::RssAgent", "name": "Feed", "schedule": "6pm", "options": {"url": "https://b.example/feed"}},
        {"type": "Agents::ShellCommandAgent", "name": "Evil", "options": {"command": "rm"}},
    ],
    "links": [{"source": 0, "receiver": 1}, {"source": 1, "receiver": 2}],
    "control_links": [],
}
KIBITZR = """
notifiers: {telegram: {token: '1:abcdefg', chat: 5}}
checks:
  - name: Prices
    url: https://a.example/
    period: 2 hours
    transform: [{css: .price}, text, {changes: new}, {python: print(1)}]
    notify: [telegram, {slack: {url: 'https://hooks.slack.com/services/A/B/C'}}, {python: x}]
  - name: By day
    url: https://b.example/
    schedule: {every: 1, unit: day, at: '08:30'}
    transform: [{xpath: //h1}]
  - batch: Series {}
    url-pattern: https://c.example/{}
    items: [one, two]
  - name: Script
    script: {bash: ls}
"""
OPML = """<?xml version="1.0"?><opml version="2.0" xmlns:frss="https://freshrss.org/opml"><body>
<outline text="Tech news"><outline text="A &amp; B" type="rss" xmlUrl="https://a.example/feed" htmlUrl="https://a.example/"
 category="/x/y"/></outline>
<outline text="Scraped" type="HTML+XPath" xmlUrl="https://b.example/" frss:xPathItem="//li" frss:xPathItemTitle="h2"
 frss:CURLOPT_COOKIE="sid=c4nary"/>
<outline text="Data" type="JSON+DotNotation" xmlUrl="https://c.example/" frss:jsonItem="data.items"/></body></opml>"""
CSV = "Name;URL;Folder;XPath;Interval;Dynamic Wachet\nKettle;https://a.example/;Shops;//h1;30;TRUE\n;https://b.example/;;;2 moons;\n"
BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><H3>Work</H3><DL><p>
<DT><A HREF="https://a.example/?a=1&amp;b=2" ADD_DATE="1">A &amp; <b>B</b></A></DL><p>
<DT><A HREF="javascript:alert(1)">evil</A></DL>"""
LIST = "# mine\nhttps://a.example/ shops, two words\nhttps://b.example/ ['0a1b']\n\nno address\n"

CASES = {
    "Distill": (
        "d.json",
        json.dumps(DISTILL),
        ["Kettle", "Off"],
        [
            'Select xpath "//h1"',
            'Exclude css ".ad"',
            "Fetch every 2 hour",
            "Render browser",
            "Tags Shops",
            "Disable Off",
        ],
        ["SLOTS", "config.regexp", "whom to notify is not in the file"],
    ),
    "Visualping": (
        "v.json",
        json.dumps(VISUALPING),
        ["Price"],
        [
            'Select xpath "//p"',
            "During mon, fri 08:00 to 18:00",
            "Fetch every 1 hour",
            '(?i)sale|new"',
            "Render browser",
        ],
        ["not pictures", "no part of a picture"],
    ),
    "Update Scanner": (
        "u.json",
        json.dumps(UPDATE_SCANNER),
        ["News", "By-hand"],
        ["Fetch every 1 day", "Fetch on demand", 'Exclude regex "\\d+"', 'Select css "main"', "Tags Work"],
        ["every change counts"],
    ),
    "Huginn": (
        "h.json",
        json.dumps(HUGINN),
        ["Shop", "Feed"],
        [
            'all words in css ".price"',
            'links in css "a"',
            "number where value < 9",
            "Notify by email ann@example.org",
            "Monitor items inserted",
            "Fetch at 18:00 daily",
            "Tags Deals",
        ],
        ["ShellCommandAgent has no equivalent"],
    ),
    "kibitzr": (
        "kibitzr.yml",
        KIBITZR,
        ["Prices", "By-day", "Series-one", "Series-two"],
        [
            "contains(concat(' ', normalize-space(@class), ' '), concat(' ', 'price', ' '))])[1]\"",
            "Monitor all words inserted",
            "Fetch every 2 hour",
            "Fetch at 08:30 daily",
            'Select xpath "(//h1)[1]"',
            "Notify by tgram://1:abcdefg/5",
            "Notify by slack://A/B/C",
            "Using https://c.example/two",
        ],
        ["programs and templates of your own", "it runs a script", "notify: python"],
    ),
    "OPML": (
        "f.opml",
        OPML,
        ["A-B", "Scraped", "Data"],
        [
            "Monitor items inserted",
            "Tags Tech-news, x, y",
            'items in xpath "//li"',
            'items in jsonpath "$.data.items[*]"',
            'Header "Cookie" secret',
        ],
        ["compared by its text"],
    ),
    "CSV": (
        "w.csv",
        CSV,
        ["Kettle", "b-example"],
        ['Select xpath "//h1"', "Fetch every 30 min", "Render browser", "Tags Shops"],
        ["2 moons is not a time"],
    ),
    "bookmarks": ("b.html", BOOKMARKS, ["A-B"], ["Using https://a.example/?a=1&b=2", "Tags Work"], []),
    "list of addresses": (
        "l.txt",
        LIST,
        ["a-example", "b-example"],
        ["Tags shops, two-words"],
        ["line 5 is not an address", "names tags by numbers"],
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_file_is_recognized_and_becomes_sentinels(tmp_path, kind):
    """The content decides. Each expected line is in a sentinel, and each reason in a note."""
    file, content, names, lines, reasons = CASES[kind]
    (tmp_path / file).write_text(content)
    found, drafts = read(tmp_path / file)
    judged = [judge(draft, name_of(draft.title, draft.url), learn=False) for draft in drafts]
    text = "\n".join(one.text for one in judged)
    notes = "\n".join(
        f"{note.field}: {note.text}" for one in judged for note in one.notes if note.grade != "translated"
    )

    assert kind == found.name
    assert names == [one.name for one in judged if one.text]
    assert [] == [line for line in lines if line not in text]
    assert [] == [reason for reason in reasons if reason not in notes]
    assert "c4nary" not in text


def test_changes_of_visualping_are_learned(tmp_path):
    """The API of Visualping has the times of changes."""
    (tmp_path / "v.json").write_text(json.dumps(VISUALPING))
    [draft] = read(tmp_path / "v.json")[1]

    assert 2 == len(draft.changed_at)
    assert 2 * 86_400_000_000 == draft.changed_at[1] - draft.changed_at[0]
