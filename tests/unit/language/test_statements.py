"""The meaning of the basic statements and clauses."""

import pytest

from tidings.language.parser import parse, read
from tidings.language.verify import KnownSentinel
from tidings.model.watch.sentinel import (
    DEFAULT_NOTIFY,
    AllOf,
    AnyOf,
    Channel,
    Command,
    Compare,
    FetchEvery,
    FetchOnChange,
    Interest,
    Not,
    Notify,
    Point,
    Rate,
    Sentinel,
    Watched,
)

HOUR = 3_600_000_000
DAY = 24 * HOUR
NOW = 1_700_000_000_000_000
LINKS, IMAGES = Interest("links"), Interest("images")

BASE = (
    "Create Sentinel base Using https://a.example As A, https://b.example Monitor links Fetch 2 hour slack 5 min"
    " From 2030-01-01 To 2031-01-01 Zone Europe/Paris Notify by console every 1 day Notify by dashboard Tags x Importance 0.9;"
)


def only(text, **arguments):
    return read(text, **arguments)[-1]


def both(text):
    return read(text)


def clause(text):
    return only(f"Create Sentinel a Using https://x.example Monitor any change {text}", now=NOW)


def test_missing_clauses_have_defaults():
    """On change, from now, without end, pairwise, on the dashboard, of medium importance (sentinels
    §1.3).
    """
    assert Sentinel(
        name="a",
        pages=(Watched("https://x.example"),),
        monitor=Interest("any"),
        fetch=FetchOnChange(),
        start=Point("now"),
        notify=DEFAULT_NOTIFY,
        compare=Compare("pairwise"),
        importance=0.5,
    ) == clause("")


def test_pages_may_have_names_and_any_address():
    """A comma or semicolon inside an address belongs to it; before white space it does not."""
    text = "Create Sentinel a Using https://x.example/a,b;c As A, http://[::1]:8000/?q=(1)#é Monitor links; Disable a"
    made, _ = read(text)
    assert isinstance(made, Sentinel)

    assert (Watched("https://x.example/a,b;c", "A"), Watched("http://[::1]:8000/?q=(1)#é")) == made.pages


MONITORS = [
    ("any change", Interest("any")),
    ("Anychange", Interest("any")),
    ("words", Interest("words")),
    ("all links inserted", Interest("links", direction="inserted")),
    ("images deleted", Interest("images", direction="deleted")),
    ("words updated", Interest("words", direction="updated")),
    ("links, images", AnyOf((LINKS, IMAGES))),
    ("links OR images AND words", AnyOf((LINKS, AllOf((IMAGES, Interest("words")))))),
    ("(links OR images) AND words", AllOf((AnyOf((LINKS, IMAGES)), Interest("words")))),
    ("Anychange AND (NOT) images", AllOf((Interest("any"), Not(IMAGES)))),
    ("any change AND NOT (links OR images)", AllOf((Interest("any"), Not(AnyOf((LINKS, IMAGES)))))),
    ("any change AND NOT NOT images", AllOf((Interest("any"), IMAGES))),
    ("((links))", LINKS),
]


@pytest.mark.parametrize(("text", "meaning"), MONITORS)
def test_monitor_joins_change_types(text, meaning):
    """AND binds closer than OR, a comma is an OR, (NOT) is NOT, and two NOTs cancel."""
    assert meaning == only(f"Create Sentinel a Using https://x.example Monitor {text}").monitor


FETCHES = [
    ("Fetch 2 day", FetchEvery(2 * DAY)),
    ("Fetch every 1.5 hours", FetchEvery(HOUR * 3 // 2)),
    ("Fetch 4h slack 0 s", FetchEvery(4 * HOUR, 0)),
    ("Fetch on change", FetchOnChange()),
    ("Fetch on change between 5 min and 1 week", FetchOnChange(HOUR // 12, 7 * DAY)),
]


@pytest.mark.parametrize(("text", "meaning"), FETCHES)
def test_fetch_is_every_interval_or_on_change(text, meaning):
    """The first has a slack, the second bounds."""
    assert meaning == clause(text).fetch


LIVES = [
    ("From now + 1 day For 3 day", (Point("now", DAY), None, 3 * DAY)),
    ("From end(b) To end(b) + 7 day", (Point("end", sentinel="b"), Point("end", 7 * DAY, sentinel="b"), None)),
    ("From start(b) - 1 hour", (Point("start", -HOUR, sentinel="b"), None, None)),
    ("To 2030-01-01 + 1 day", (Point("now"), Point("at", DAY, "2030-01-01", 1_893_456_000_000_000), None)),
    ("From 12/31/68", (Point("at", 0, "2068-12-31", 3_124_137_600_000_000), None, None)),
    ("From 1/2/69", (Point("at", 0, "1969-01-02", -31_449_600_000_000), None, None)),
]


@pytest.mark.parametrize(("text", "meaning"), LIVES)
def test_life_has_a_start_and_an_end_or_a_length(text, meaning):
    """Points are now, dates, and the starts and ends of other sentinels, each with an offset."""
    sentinel = clause(text)

    assert meaning == (sentinel.start, sentinel.end, sentinel.span)


NOTIFIES = [
    ("Notify by dashboard", [Notify((Channel("dashboard"),), Rate("interactive"))]),
    ("Notify by console", [Notify((Channel("console"),), Rate("immediate"))]),
    ('Notify by secret "chat"', [Notify((Channel("apprise", "chat", is_secret=True),), Rate("immediate"))]),
    (
        'Notify by WEBHOOK Secret "h.example-1a", console every 1 day',
        [Notify((Channel("webhook", "h.example-1a", is_secret=True), Channel("console")), Rate("every", DAY))],
    ),
    ("Notify by https://h.example/x", [Notify((Channel("webhook", "https://h.example/x"),), Rate("immediate"))]),
    (
        "Notify By webhook https://h.example/x, dashboard Every 4 day",
        [Notify((Channel("webhook", "https://h.example/x"), Channel("dashboard")), Rate("every", 4 * DAY))],
    ),
    (
        "Notify by email a@x.example immediate Notify by console every 1 hour",
        [
            Notify((Channel("email", "a@x.example"),), Rate("immediate")),
            Notify((Channel("console"),), Rate("every", HOUR)),
        ],
    ),
]


@pytest.mark.parametrize(("text", "meaning"), NOTIFIES)
def test_notify_has_channels_and_a_rate(text, meaning):
    """Without a rate the dashboard waits and others are notified at once; the clause may be
    repeated.
    """
    assert tuple(meaning) == clause(text).notify


def test_importance_tags_compare_and_zone_are_read():
    """A repeated tag counts once, in the given order."""
    sentinel = clause("Compare pairwise Importance 0.25 Tags news, work, news Zone Europe/Paris")

    assert (0.25, ("news", "work"), "Europe/Paris", Compare()) == (
        sentinel.importance,
        sentinel.tags,
        sentinel.zone,
        sentinel.compare,
    )


def test_derived_sentinel_has_the_clauses_and_life_of_its_base():
    """Using NAME copies the clauses; the life follows the base as it happens (sentinels §1.3)."""
    base, child = both(f"{BASE} Create Sentinel c Using base")

    assert (
        Sentinel(
            name="c",
            pages=base.pages,
            monitor=base.monitor,
            fetch=base.fetch,
            zone=base.zone,
            notify=base.notify,
            tags=("x",),
            importance=0.9,
            start=Point("start", sentinel="base"),
            end=Point("end", sentinel="base"),
            base="base",
            correlated=True,
        )
        == child
    )


def test_own_clause_replaces_all_clauses_of_its_kind():
    """One Notify replaces both of the base."""
    child = only(f"{BASE} Create Sentinel c Using base Notify by console Monitor words Tags y")

    assert ((Notify((Channel("console"),), Rate("immediate")),), Interest("words"), ("y",)) == (
        child.notify,
        child.monitor,
        child.tags,
    )


def test_own_start_keeps_the_end_of_the_base():
    """`From now` ends the correlation; the rest of the life is copied."""
    base, child = both(f"{BASE} Create Sentinel c Using base From now")

    assert (False, Point("now"), base.end, None) == (child.correlated, child.start, child.end, child.span)


def test_own_length_replaces_the_end_of_the_base():
    """To and For exclude each other, also over inheritance."""
    base, child = both(f"{BASE} Create Sentinel c Using base For 3 day")

    assert (base.start, None, 3 * DAY) == (child.start, child.end, child.span)


def test_inherited_dates_are_in_the_own_zone():
    """A derived sentinel with a Zone reads them there."""
    base, child = both(f"{BASE} Create Sentinel c Using base From now Zone America/New_York")

    assert 6 * HOUR == child.end.instant - base.end.instant


def test_base_may_be_a_stored_sentinel():
    """It serves like one of the same text."""
    known = KnownSentinel(Sentinel(name="old", pages=(Watched("https://o.example"),), monitor=LINKS))
    child = only("Create Sentinel c Using old Monitor images", known={"old": known}.get)

    assert ("old", known.sentinel.pages, IMAGES) == (child.base, child.pages, child.monitor)


def test_commands_have_a_name():
    """Enable, Disable and Drop are statements like Create."""
    parsed = parse("Enable a; DISABLE b Drop c")

    assert (Command("enable", "a"), Command("disable", "b"), Command("drop", "c")) == parsed.statements
