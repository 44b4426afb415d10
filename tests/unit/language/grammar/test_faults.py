"""Every row of sentinels §1.6 has its code, place, expectation and hint."""

import pytest

from tidings.language.parser import parse
from tidings.language.verify import KnownSentinel
from tidings.model.watch.sentinel import Interest, Sentinel, Watched

HEAD = "Create Sentinel s9 Using https://x.example"
WATCHING = f"{HEAD} Monitor any change"
DAY = 86_400_000_000
FEBRUARY_1 = 1_769_904_000_000_000


def make(name: str) -> Sentinel:
    return Sentinel(name=name, pages=(Watched("https://x.example/"),), monitor=Interest("any"))


EXISTING = {
    "s1": KnownSentinel(make("s1")),
    "price": KnownSentinel(make("price")),
    "old": KnownSentinel(make("old"), "ended", start_at=FEBRUARY_1 - DAY, end_at=FEBRUARY_1, ended_at=FEBRUARY_1),
}

ROWS = [
    (
        "Create Sentinl s9 Using https://x.example Monitor any change",
        '1:8: E03 found "Sentinl"; expected "Collection" or "Sentinel" (hint: did you mean "Sentinel"?)',
    ),
    (
        "Creat Sentinel s9 Using https://x.example Monitor any change",
        '1:1: E03 found "Creat"; expected "Create" (hint: did you mean "Create"?)',
    ),
    (
        "Create Sentinel monitor Using https://x.example Monitor any change",
        '1:17: E04 "monitor" is a keyword of the language and cannot be a name (hint: try monitor_1)',
    ),
    (
        "Create Sentinel s9 Using www.cnn.com Monitor any change",
        '1:26: E22 found "www.cnn.com"; expected a URL or the name of a sentinel (hint: write https://www.cnn.com)',
    ),
    (
        "Create Sentinel s9 Using ftp://x.example/f Monitor any change",
        '1:26: E22 cannot watch "ftp:" addresses; expected http:// or https://',
    ),
    (
        f"{HEAD}\nFetch 2 day",
        '1:17: E25 sentinel "s9" has no Monitor clause; expected a Monitor clause (hint: Monitor any change)',
    ),
    (
        f"{HEAD}\nMonitor all imges",
        '2:13: E10 found "imges" after "all"; expected words, links or images (hint: did you mean "images"?)',
    ),
    (
        f"{HEAD}\nMonitor keywords oil, gas",
        '2:18: E03 found "oil" (hint: write Monitor keyword "oil" OR keyword "gas")',
    ),
    (f"{HEAD} Monitor keywords <a,,b>", "1:61: E07 empty keyword in the list (hint: remove the extra comma)"),
    (
        f'{HEAD}\nMonitor phrase "low risk',
        '2:16: E02 text is not closed; expected a closing " (hint: write \\" for a quote inside a text)',
    ),
    (
        f"{HEAD}\nMonitor phrase 'low risk'",
        '2:16: E01 unexpected character "\'" (hint: write Monitor phrase "low risk")',
    ),
    (
        f"{HEAD}\nMonitor (links OR images\nFetch 2 day",
        '3:1: E09 found "Fetch"; expected ")" (hint: a "(" above is not closed)',
    ),
    (
        f"{HEAD}\nMonitor NOT images",
        "1:17: E26 a sentinel that consists only of NOT can never report anything (hint: Monitor any change AND NOT images)",
    ),
    (
        f"{WATCHING}\nFetch 2\nNotify By dashboard",
        '3:1: E05 "2" has no unit; expected s, min, hour, day or week',
    ),
    (
        f"{WATCHING}\nFetch every 1 month",
        '2:15: E05 unknown unit "month" (hint: write Fetch every 30 day; months and years have no fixed length)',
    ),
    (
        f"{WATCHING}\nFetch on change between 2 day and 1 hour",
        '2:25: E14 "between 2 day and 1 hour" leaves no time for a check (hint: the smaller interval comes first)',
    ),
    (
        f"{WATCHING}\nFrom 25/12/02 To 2003-01-01",
        '2:6: E08 "25/12/02" is not a month/day/year date (hint: write it as 2002-12-25 (year-month-day))',
    ),
    (
        f"{WATCHING}\nFrom 2026-03-02 To 2026-03-01",
        "2:17: E31 To 2026-03-01 is not after From 2026-03-02",
    ),
    (
        f"{WATCHING}\nFrom end(old) For 2 day",
        (
            '2:1: E30 end(old) has already passed: "old" ended on 2026-02-01'
            " (hint: start now, or use a sentinel that is still alive)"
        ),
    ),
    (f"{WATCHING}\nFrom end(s99)", '2:1: E20 there is no sentinel "s99"'),
    (f"{WATCHING}\nTo now For 3 day", "1:17: E32 To and For both set the end (hint: keep one)"),
    (
        f"{WATCHING}\nNotify By fax 555",
        (
            '2:11: E15 "fax" is not available as a channel'
            " (hint: give an Apprise or https:// address instead, for example tgram://bot/chat)"
        ),
    ),
    (
        f"{WATCHING}\nCompare moving 1",
        (
            "2:16: E16 Compare moving 1 makes no sense; expected a whole number from 2"
            " (hint: Compare pairwise compares each version with the one before)"
        ),
    ),
    (
        f'{HEAD} Monitor all words in css ".price" where value < 100',
        (
            '1:84: E28 "value" needs a number, but words yields text'
            ' (hint: write Monitor number in css ".price" where value < 100)'
        ),
    ),
    (
        f"{HEAD} Monitor number where blow 100",
        '1:65: E13 "blow" does not begin a condition; expected value, becomes, changes by, rises by, …',
    ),
    (
        "Create Sentinel s9 Using https://x.example As A Monitor any change\nThen within 10 min check B",
        '2:26: E27 no page is called "B" here (hint: pages: A)',
    ),
    (
        f'{HEAD} Monitor regex "v(\\d+"',
        "1:58: E11 bad pattern: missing )",
    ),
    (
        "Create Sentinel s1 Using https://x.example Monitor any change",
        '1:17: E21 you already have a sentinel "s1" (hint: use another name, or Drop it first)',
    ),
    (
        f"{WATCHING}\nNotify none",
        '2:8: E03 found "none"; expected a channel (hint: Notify by dashboard: changes are shown, and no message is sent)',
    ),
    (
        f"{WATCHING}\nNotify By console immediate max 3 per month",
        '2:39: E03 found "month"; expected a number or s, min, hour, day or week',
    ),
    (f"{WATCHING}\nNotfy By dashboard", '2:1: E24 unknown clause "Notfy" (hint: did you mean "Notify"?)'),
    (
        f"{WATCHING} Fetch 1 hour\nFetch 2 hour",
        "2:1: E23 second Fetch clause (hint: the first is on line 1)",
    ),
    (
        f"{WATCHING}\nZone Paris",
        '2:6: E18 unknown time zone "Paris" (hint: write Zone Europe/Paris)',
    ),
    (
        f"{WATCHING}\nImportance 5",
        "2:12: E19 importance 5 is out of range; expected a number above 0, at most 1",
    ),
    ("Disable pric", '1:9: E20 there is no sentinel "pric" (hint: did you mean "price"?)'),
]


@pytest.mark.parametrize(("text", "line"), ROWS, ids=[line.split("(hint")[0][:60] for _, line in ROWS])
def test_each_error_of_the_study_has_its_message(text, line):
    """The text has only this problem, in these words at this place."""
    parsed = parse(text, known=EXISTING.get, names=EXISTING, now=FEBRUARY_1 + DAY)

    assert [line] == [str(problem) for problem in parsed.problems]


MORE_ROWS = [
    (
        "Create Sentinel Using https://x.example Monitor any change",
        '1:17: E03 found "Using" (hint: write Create Sentinel x Using https://x.example Monitor any change)',
    ),
    (
        "Create Sentinel s9 Using Monitor any change",
        '1:26: E03 found "Monitor"; expected a URL or the name of a sentinel',
    ),
    (
        "Create Sentinel s9 Monitor any change",
        '1:20: E03 found "Monitor"; expected "Using" (hint: Using https://… says which page)',
    ),
    (
        "Create Sentinel s9",
        '1:19: E03 found the end of the text; expected "Using" (hint: Using https://… says which page)',
    ),
    (
        "Monitor any change",
        '1:1: E03 found "Monitor"; expected "Create", "Enable", "Disable", "Drop", "Alter", "Confirm" or "Defaults"',
    ),
    (
        "Create Sentinel s9 Using https:// Monitor any change",
        '1:26: E22 "https://" names no host; expected https://host/path',
    ),
    (
        "Create Sentinel s9 Using https://[::1 Monitor any change",
        '1:26: E22 "https://[::1" is not an address: Invalid IPv6 URL',
    ),
    (
        "Create Sentinel s9 Using https://x.example:port/ Monitor any change",
        "1:26: E22 \"https://x.example:port/\" is not an address: Port could not be cast to integer value as 'port'",
    ),
    (
        "Create Sentinel s9 Using localhost:8000/x Monitor any change",
        '1:26: E22 found "localhost:8000/x"; expected a URL or the name of a sentinel (hint: write https://localhost:8000/x)',
    ),
    (
        "Create Sentinel s9 Using https://x.example, https://x.example Monitor any change",
        "1:45: E17 https://x.example is listed twice (hint: leave one out)",
    ),
    (
        "Create Sentinel s9 Using https://x.example As A, https://y.example As A Monitor any change",
        '1:71: E27 two pages are called "A" (hint: give each its own name)',
    ),
    ("Create Sentinel s9 Using nobody", '1:26: E20 there is no sentinel "nobody"'),
    ("Create Sentinel s9 Using prize", '1:26: E20 there is no sentinel "prize" (hint: did you mean "price"?)'),
    ("Create Sentinel s9 Using s1 From end(s9)", '1:29: E20 "s9" cannot wait for itself (hint: name another sentinel)'),
    (
        f"{WATCHING}\nFrom end(s1) - 1 day",
        '2:1: E34 nobody knows yet when "s1" ends, so a time before it is impossible (hint: end(s1) without a minus)',
    ),
    (f"{HEAD}\nMonitor links)", '2:14: E09 found ")" (hint: no "(" is open here)'),
    (
        f"{HEAD}\nMonitor imges",
        '2:9: E10 found "imges"; expected any change, all words, all links or all images (hint: did you mean "images"?)',
    ),
    (f"{HEAD}\nMonitor any chnge", '2:13: E03 found "chnge"; expected "change" (hint: did you mean "change"?)'),
    (
        f"{HEAD}\nMonitor links OR NOT images",
        "1:17: E26 a sentinel that consists only of NOT can never report anything (hint: Monitor any change AND NOT images)",
    ),
    (
        f"{HEAD}\nMonitor keywords <a, b",
        "2:18: E02 list is not closed; expected a closing > (hint: write <a, b> on one line)",
    ),
    (
        f"{WATCHING}\nFetch 2 hurs",
        '2:9: E05 unknown unit "hurs"; expected s, min, hour, day or week (hint: did you mean "hour"?)',
    ),
    (f"{WATCHING}\nFetch 0 s", '2:7: E05 "0 s" has no length; expected more than 0 s'),
    (f"{WATCHING}\nFor 5300 week", '2:5: E05 "5300 week" is too long; expected at most 100 years'),
    (
        f"{WATCHING}\nFetch 1 hour slack 2 hour",
        "2:14: E14 slack 2 hour is longer than the interval of 1 hour (hint: otherwise the next check would be due before this one)",
    ),
    (
        f'{HEAD}\nMonitor keywords "zz","!!"',
        '2:23: E10 found "!!" (hint: write Monitor keyword "zz" OR keyword "!!")',
    ),
    (
        f"{WATCHING}\nFetch on change slack 1 min",
        "2:17: E14 slack belongs to a fixed interval (hint: Fetch 1 hour slack 5 min)",
    ),
    (
        f"{WATCHING}\nFetch 2 day slck 1 hour",
        '2:13: E03 found "slck"; expected "OR" or "slack" (hint: did you mean "slack"?)',
    ),
    (
        f"{WATCHING}\nFrom 2026-02-30",
        '2:6: E08 "2026-02-30" is not a date (hint: February 2026 has 28 days)',
    ),
    (
        f"{WATCHING}\nFrom 2031-04-31",
        '2:6: E08 "2031-04-31" is not a date (hint: April 2031 has 30 days)',
    ),
    (
        f"{WATCHING}\nFrom 2/30/31",
        '2:6: E08 "2/30/31" is not a date (hint: February 2031 has 28 days)',
    ),
    (
        f"{WATCHING}\nZone Europe/Berlim",
        '2:6: E18 unknown time zone "Europe/Berlim" (hint: write Zone Europe/Berlin)',
    ),
    (
        f"{WATCHING}\nZone new_yrok",
        '2:6: E18 unknown time zone "new_yrok" (hint: write Zone America/New_York)',
    ),
    (
        f"{WATCHING}\nZone zzz",
        '2:6: E18 unknown time zone "zzz"; expected an IANA name such as Europe/Paris',
    ),
    (
        'Create Sentinel s Using https://x.example Monitor regex "(?<=EUR )[0-9]+"',
        '1:57: E11 bad pattern: "(?<=" is a look-around, which RE2 patterns do not have',
    ),
    (
        'Create Sentinel s Using https://x.example Monitor regex "a(?!b)"',
        '1:57: E11 bad pattern: "(?!" is a look-around, which RE2 patterns do not have',
    ),
    (
        "Create Sentinel s Using https://x.example Monitor regex <(a)\\1>",
        '1:57: E11 bad pattern: "\\1" is a reference to a group, which RE2 patterns do not have',
    ),
    (
        f"{WATCHING}\nFrom tomorrow",
        '2:6: E03 found "tomorrow" (hint: write From now + 1 day)',
    ),
    (f"{WATCHING}\nFrom end(s1", '2:12: E09 found the end of the text; expected ")" (hint: a "(" above is not closed)'),
    (f"{WATCHING}\nTo now", "2:1: E31 To now is not after From now"),
    (f"{WATCHING}\nFrom end(s1) To end(s1)", "2:14: E31 To end(s1) is not after From end(s1)"),
    (
        f"{WATCHING}\nNotify By emial jill@aol.com",
        '2:11: E15 "emial" is not available as a channel (hint: did you mean "email"?)',
    ),
    (
        f"{WATCHING}\nNotify By email",
        "2:16: E03 found the end of the text (hint: write Notify by email you@example.org)",
    ),
    (
        f"{WATCHING}\nNotify By 7",
        '2:11: E03 found "7"; expected email ADDRESS, webhook URL, console, dashboard, feed or stream',
    ),
    (
        f"{WATCHING}\nNotify By webhook ftp://x.example/",
        '2:19: E22 a webhook cannot be a "ftp:" address; expected http:// or https://',
    ),
    (
        f"{WATCHING}\nNotify By console interactive",
        (
            "2:19: E15 interactive works only for the dashboard, not for console"
            " (hint: write immediate, or every 1 hour)"
        ),
    ),
    (f"{WATCHING}\nTags a, links", None),
    (
        f"{WATCHING}\nTags a, monitor",
        '2:9: E04 "monitor" is a keyword of the language and cannot be a name (hint: try monitor_1)',
    ),
    (f"{WATCHING}\nImportance 0", "2:12: E19 importance 0 is out of range; expected a number above 0, at most 1"),
    (
        "Enable old",
        '1:8: E33 "old" has ended on 2026-02-01 and cannot be enabled (hint: Drop it, then create it again)',
    ),
    (
        "Disable s1 Fetch 2 day",
        '1:12: E03 found "Fetch"; expected "Create", "Enable", "Disable", "Drop", "Alter", "Confirm" or "Defaults" (hint: Disable takes a name and nothing else)',
    ),
    (
        f"{WATCHING}\nTo end(old)",
        '2:1: E30 end(old) has already passed: "old" ended on 2026-02-01 (hint: give a date, or use For)',
    ),
    (f"{HEAD} Monitor any change;;\n§", '2:1: E01 unexpected character "§"'),
    ("", None),
    ("-- nothing but a comment", None),
]


@pytest.mark.parametrize(("text", "line"), MORE_ROWS)
def test_rarer_faults_have_place_code_and_hint(text, line):
    """None: the text has no fault."""
    parsed = parse(text, known=EXISTING.get, names=EXISTING, now=FEBRUARY_1 + DAY)

    assert ([] if line is None else [line]) == [str(problem) for problem in parsed.problems]


def test_each_clause_has_its_own_fault():
    """A fault does not hide others: they are in the order of the text."""
    text = f"{HEAD}\nMonitor all imges\nFetch 2\nFrom 25/12/02\nNotify By fax 5\nZone Paris\nDisable nobody"
    parsed = parse(text, known=EXISTING.get)

    assert ["2 E10", "4 E05", "4 E08", "5 E15", "6 E18", "7 E20"] == [f"{p.line} {p.code}" for p in parsed.problems]


def test_at_most_ten_faults_are_reported():
    """More would not be read."""
    parsed = parse(
        "\n".join(f"Create Sentinel s{number} Using www.x.example Monitor any change" for number in range(30))
    )

    assert [f"{line} E22" for line in range(1, 11)] == [f"{problem.line} {problem.code}" for problem in parsed.problems]


def test_fault_of_defaults_is_reported_once():
    """A sentinel that lacks Monitor because of them has no fault of its own."""
    text = "Defaults For Tags new Fetch soon Create Sentinel d Using https://d.example Tags new Drop d"

    assert [(1, "E03")] == [(problem.line, problem.code) for problem in parse(text, known=EXISTING.get).problems]


def test_fault_of_a_sentinel_is_reported_once():
    """A statement that names it has no fault of its own."""
    parsed = parse(f"{HEAD} Monitor all imges; Disable s9; Create Sentinel s8 Using s9", known=EXISTING.get)

    assert ["E10"] == [problem.code for problem in parsed.problems]
