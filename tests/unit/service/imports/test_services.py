"""Smaller formats: a file of each, written by its public documentation, and the sentinels from it."""

import json

import pytest

from tests.bounded import bound_time
from tidings.errors import ImportFileError
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
        {
            "type": "Agents::TriggerAgent",
            "name": "T",
            "options": {"rules": [{"type": "field<value", "path": "price", "value": "9"}]},
        },
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
            'Monitor number in css ".price" where value < 9',
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


def scenario(tmp_path, others, links, extract=None):
    """Return what becomes of an agent that watches a shop, with these other agents behind it."""
    shop = {
        "type": "Agents::WebsiteAgent",
        "name": "Shop",
        "schedule": "every_1h",
        "options": {
            "url": "https://a.example/",
            "extract": extract or {"price": {"css": ".price"}, "title": {"xpath": "//h1"}},
        },
    }
    agents = [shop, *({**one, "type": f"Agents::{one['type']}"} for one in others)]
    given = {"name": "", "agents": agents, "links": [{"source": a, "receiver": b} for a, b in links]}
    (tmp_path / "h.json").write_text(json.dumps(given))
    return [judge(draft, name_of(draft.title, draft.url), learn=False) for draft in read(tmp_path / "h.json")[1]]


def trigger(name, *rules, **options):
    """Return an agent that passes on what its rules match."""
    given = [dict(zip(("type", "path", "value"), rule, strict=True)) for rule in rules]
    return {"type": "TriggerAgent", "name": name, "options": {"rules": given, **options}}


def mail(*recipients, **given):
    """Return an agent that sends mail."""
    return {"type": "EmailAgent", "name": "M", "options": {"recipients": list(recipients)}, **given}


CHEAP = ("field<value", "price", "100")
TRIGGERED = [
    ([trigger("T", CHEAP)], 'Monitor number in css ".price" where value < 100\n'),
    ([trigger("T", ("field<value", "$.price", "100"))], 'Monitor number in css ".price" where value < 100\n'),
    ([trigger("T", CHEAP, ("field>=value", "price", "5"))], "where value < 100 but value >= 5\n"),
    (
        [trigger("T", CHEAP, ("field>value", "price", "500"), must_match=1)],
        'OR number in css ".price" where value > 500\n',
    ),
    ([trigger("T", ("regex", "title", "kettle"))], 'Monitor all words in xpath "//h1" where matches "kettle"\n'),
    ([trigger("T", ("regex", "elsewhere", "kettle"))], 'all words in css ".price" where matches "kettle" OR'),
    ([trigger("T", CHEAP, ("regex", "title", "kettle"))], 'Monitor number in css ".price" where value < 100\n'),
    ([trigger("T", ("field<value", "elsewhere", "100"))], 'Monitor all words in css ".price" OR all words in xpath'),
    ([trigger("T", ("field<value", "price", "{{x}}"))], 'Monitor all words in css ".price" OR all words in xpath'),
    ([trigger("T", ("not in", "price", "5"))], 'Monitor all words in css ".price" OR all words in xpath'),
]


@pytest.mark.parametrize("number", range(len(TRIGGERED)))
def test_rule_of_a_trigger_asks_of_the_field_that_it_names(tmp_path, number):
    """What is compared is the extracted part, under the condition."""
    others, line = TRIGGERED[number]
    [one] = scenario(tmp_path, [*others, mail("a@x.example")], [(0, 1), (1, 2)])

    assert line in one.text + "\n"
    assert "Notify by email a@x.example" in one.text


def test_each_branch_is_a_sentinel_of_its_own(tmp_path):
    """The conditions of one branch do not narrow another; a branch tells its own receivers."""
    others = [
        trigger("Cheap", CHEAP),
        trigger("Dear", ("field>value", "price", "900")),
        mail("a@x.example", "b@x.example"),
        mail("c@x.example"),
        mail("d@x.example"),
    ]
    found = scenario(tmp_path, others, [(0, 1), (0, 2), (1, 3), (2, 4), (2, 5), (0, 5)])

    texts = {
        one.name: [line.strip() for line in one.text.splitlines() if "Monitor" in line or "Notify" in line]
        for one in found
    }
    assert {
        "Shop": ['Monitor all words in css ".price" OR all words in xpath "//h1"', "Notify by email d@x.example"],
        "Shop-Cheap": [
            'Monitor number in css ".price" where value < 100',
            "Notify by email a@x.example",
            "Notify by email b@x.example",
        ],
        "Shop-Dear": [
            'Monitor number in css ".price" where value > 900',
            "Notify by email c@x.example",
            "Notify by email d@x.example",
        ],
    } == texts


@pytest.mark.parametrize("place", [0, 1, 2])
def test_disabled_agent_passes_nothing_on(tmp_path, place):
    """Whoever is behind it is told nothing."""
    others = [{"type": "ChangeDetectorAgent", "name": "C"}, trigger("T", CHEAP), mail("a@x.example")]
    others[place] = {**others[place], "disabled": True}
    [one] = scenario(tmp_path, others, [(0, 1), (1, 2), (2, 3)])

    assert "Notify" not in one.text


def test_agents_in_a_circle_and_many_ways_are_read_in_time(tmp_path):
    """Each way is followed once, and there is a limit."""
    width = 24
    others = [trigger(f"T{n}", CHEAP) for n in range(2 * width)] + [mail("a@x.example")]
    links = [(0, 1), (0, 2)]
    for n in range(1, 2 * width - 1, 2):
        links += [(n, n + 2), (n, n + 3), (n + 1, n + 2), (n + 1, n + 3)]
    links += [(2 * width - 1, 2 * width + 1), (2 * width - 1, 1), (2 * width, 2 * width + 1)]
    with bound_time(seconds=60):
        found = scenario(tmp_path, others, links)

    assert 1 <= len(found) <= 64 + 1


INTERVALS = [
    0,
    -5,
    0.5,
    1e-9,
    1e300,
    float("inf"),
    float("nan"),
    "",
    "x",
    "0",
    "-3",
    "²",
    "1e5",
    None,
    True,
    [],
    {},
    "9" * 400,
]


@pytest.mark.parametrize("value", INTERVALS, ids=repr)
def test_interval_that_is_no_time_is_left_out_with_a_note(tmp_path, value):
    """No file of any program makes Tidings check a page each second, or fails."""
    quoted = json.dumps(value)
    files = {
        "w.csv": f'url,interval\nhttps://a.example/,"{value}"\n',
        "d.json": json.dumps(
            {
                **DISTILL,
                "data": [
                    {"uri": "https://a.example/", "schedule": {"type": "INTERVAL", "params": {"interval": value}}}
                ],
            }
        ),
        "v.json": json.dumps([{"url": "https://a.example/", "mode": "TEXT", "interval": value}]),
        "u.json": json.dumps(
            {**UPDATE_SCANNER, "data": {"type": "Page", "url": "https://a.example/", "scanRateMinutes": value}}
        ),
        "kibitzr.yml": f"checks: [{{url: 'https://a.example/', period: {quoted}}}]",
        "k2.yml": f"checks: [{{url: 'https://a.example/', schedule: {{unit: hours, every: {quoted}}}}}]",
        "watch.json": json.dumps(
            {
                "url": "https://a.example/",
                "time_between_check_use_default": False,
                "time_between_check": {"hours": value},
            }
        ),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        [draft] = read(tmp_path / name)[1]
        one = judge(draft, "x", learn=False)
        [line] = [line for line in one.text.splitlines() if "Fetch every" in line] or [""]
        noted = any(note.grade in {"approximated", "refused"} for note in one.notes)

        assert one.text, name
        assert noted or not any(line.endswith(f" {count} s") for count in range(60)), (name, one.text)


ODD = ["\ud800", ["x", {"a": 1}], {"a": None}, "9" * 400, float("inf"), [[1]], True]


@pytest.mark.parametrize("value", ODD, ids=["half a character", "list", "map", "digits", "endless", "lists", "true"])
def test_value_of_an_unexpected_type_loses_no_file(tmp_path, value):
    """Whatever one field has, each job is read, and what is stored and printed is text."""
    selections = [{"dynamic": value, "delay": value, "frames": [{"index": value, "includes": value}]}]
    quoted = json.dumps(str(value))
    page = {"uri": "https://a.example/", "name": value, "state": value, "config": {"selections": selections}}
    files = {
        "d.json": json.dumps({**DISTILL, "data": [page]}),
        "kibitzr.yml": f"checks: [{{url: 'https://a.example/', schedule: {{unit: day, at: {quoted}}}}}]",
        "watch.json": json.dumps({"url": "https://a.example/", "title": value, "time_between_check": value}),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        try:
            found = read(tmp_path / name)[1]
        except ImportFileError:  # YAML has no half characters
            assert "\ud800" == value
            continue
        one = judge(found[0], name_of(found[0].title, found[0].url), learn=False)

        assert (1, True) == (len(found), bool(one.text))
        assert " ".join((one.text, *(note.text for note in one.notes))).encode()


def test_whole_characters_of_two_halves_are_read(tmp_path):
    """JSON writes a picture as two escapes, and a backslash as two."""
    (tmp_path / "watch.json").write_text(
        '{"url": "https://a.example/", "time_between_check": {}, "title": "\\ud83d\\ude00 \\\\ud800"}'
    )
    [draft] = read(tmp_path / "watch.json")[1]

    assert "\U0001f600 \\ud800" == draft.title
