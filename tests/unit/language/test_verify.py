"""Doubtful and impossible lives, intervals and joins."""

import pytest

from tidings.language.parser import parse
from tidings.language.verify import KnownSentinel
from tidings.model.watch.sentinel import Interest, Sentinel, Watched

SECOND = 1_000_000
DAY = 86_400 * SECOND
NOW = 1_700_000_000 * SECOND  # 2023-11-14
HEAD = "Create Sentinel a Using https://x.example Monitor any change"


def make(name, base=None):
    return Sentinel(name=name, pages=(Watched("https://x.example"),), monitor=Interest("any"), base=base)


KNOWN = {
    "alive": KnownSentinel(make("alive"), "enabled", start_at=NOW - DAY),
    "waiting": KnownSentinel(make("waiting"), "waiting", start_at=NOW + DAY, end_at=NOW + 3 * DAY),
    "old": KnownSentinel(make("old"), "ended", NOW - 9 * DAY, NOW - DAY, NOW - DAY),
    "b0": KnownSentinel(make("b0")),
    **{f"b{step}": KnownSentinel(make(f"b{step}", f"b{step - 1}")) for step in range(1, 9)},
}


def report(text, **arguments):
    parsed = parse(text, known=KNOWN.get, now=NOW, **arguments)
    return [str(problem) for problem in (*parsed.problems, *parsed.warnings)]


WARNINGS = [
    (f"{HEAD} From 2020-01-01", "1:62: W12 From 2020-01-01 has passed: it starts now"),
    (f"{HEAD} To 2030-01-01", "1:62: W6 ends on 2030-01-01, more than a year away"),
    (f"{HEAD} For 100 week", "1:62: W6 ends on 2025-10-14, more than a year away"),
    (
        f"{HEAD} To 2023-01-01",
        "1:62: W11 its end has passed on 2023-01-01: nothing will be watched (hint: give a later To)",
    ),
    (
        "Create Sentinel a Using old",
        '1:17: W2 copies an ended schedule: "old" ended on 2023-11-13 (hint: add From now to start it now)',
    ),
]


@pytest.mark.parametrize(("text", "line"), WARNINGS)
def test_doubtful_life_has_a_warning(text, line):
    """Past starts, past and distant ends and ended schedules are accepted."""
    assert [line] == report(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD} From 2023-11-15 For 1 week",
        f"{HEAD} From start(alive)",
        f"{HEAD} From end(alive) To end(alive) + 1 week",
        f"{HEAD} From end(waiting) - 1 day",
        f"{HEAD} From end(old) + 2 day",
        f"{HEAD} To start(waiting)",
        "Create Sentinel a Using b7",
        "Drop old",
        "Enable alive; Disable waiting",
    ],
)
def test_sensible_life_has_no_warning(text):
    """It has future events, a minus before a planned time, or an offset beyond the end of an ended
    sentinel.
    """
    assert [] == report(text)


FAULTS = [
    (f"{HEAD} From start(waiting) - 1 day To start(old)", "E30"),
    (f"{HEAD} To start(alive)", "E30"),
    (f"{HEAD} From start(old)", "E30"),
    (f"{HEAD} From end(alive) - 1 day", "E34"),
    (f"{HEAD} From 2023-11-20 To 2023-11-20", "E31"),
    (f"{HEAD} From now + 3 day To 2023-11-16", "E31"),
    (f"{HEAD} From now + 3 day To now + 2 day", "E31"),
    (f"{HEAD} From end(a)", "E20"),
    ("Create Sentinel a Using b8", "E29"),
    ("Disable old", "E33"),
]


@pytest.mark.parametrize(("text", "code"), FAULTS)
def test_impossible_life_is_refused(text, code):
    """It has past events, times before something unknown, an end before its start, or waits for
    itself.
    """
    assert [code] == [line.split()[1] for line in report(text)]


def test_interval_below_the_floor_has_a_warning():
    """W5 has both intervals; there is none without a floor, or above it."""
    text = f"{HEAD} Fetch 10 s"
    floor = 60 * SECOND

    assert [
        (
            "1:62: W5 Fetch 10 s is shorter than the minimum: the page is checked every 1 min"
            " (hint: fetch.page_floor_seconds sets the minimum)"
        )
    ] == report(text, floor=floor)
    assert ["W5"] == [
        line.split()[1] for line in report(f"{HEAD} Fetch on change between 10 s and 1 hour", floor=floor)
    ]
    assert [] == report(text) + report(f"{HEAD} Fetch 1 min", floor=floor) + report(
        f"{HEAD} Fetch on change", floor=floor
    )


def test_text_without_a_time_has_no_warning_about_the_past():
    """It is checked without a clock."""
    assert () == parse(f"{HEAD} From 2020-01-01 To 2021-01-01").warnings


def test_text_can_be_read_as_if_it_were_new():
    """With `anew` it is not refused for the names that it creates, and they are unknown before."""
    text = (
        "Create Event tick Using webhook Create Sentinel alive Using https://x.example Monitor links From event(tick)"
    )
    early = (
        "Create Sentinel child Using alive Monitor links; Create Sentinel alive Using https://x.example Monitor links"
    )

    assert ["1:14: E21", "1:49: E21"] == [line[:9] for line in report(text, events={"tick": []})]
    assert [] == report(text, events={"tick": []}, anew=True)
    assert ["1:29: E20"] == [line[:9] for line in report(early, anew=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://a.example, https://b.example Monitor all words AND status", ["1:62: E27"]),
        ('https://a.example, https://b.example Monitor links OR (any change AND NOT header "ETag")', ["1:62: E27"]),
        ("https://a.example As A, https://b.example Monitor all words of A AND status of A", []),
        ("https://a.example As A, https://b.example As B Monitor all words AND status", []),
        ("https://a.example, https://b.example Monitor all words OR status", []),
    ],
)
def test_expression_over_several_pages_needs_their_names(text, expected):
    """A single page is clear."""
    assert expected == [line[:9] for line in report(f"Create Sentinel s Using {text}") if " E" in line]


@pytest.mark.parametrize(
    ("monitor", "is_refused"),
    [
        ("pages AND price", True),
        ("price AND NOT pages", True),
        ('(pages OR price) AND keyword "oil"', True),
        ('price OR (new pages AND keyword "oil")', True),
        ("pages OR price", False),
        ('new pages AND NOT pages that mention "oil"', False),
        ('links AND keyword "oil"', False),
    ],
)
def test_list_of_pages_is_not_joined_with_a_change_of_a_page(monitor, is_refused):
    """They are compared separately, so such a collection would never report anything."""
    found = [
        line for line in report(f"Create Collection c Using https://x.example/ Monitor {monitor}") if "E27" in line
    ]
    assert is_refused is bool(found)
