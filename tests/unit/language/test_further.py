"""Later clauses: defaults of tags, transforms, reports, Watch, Alter, Confirm."""

import pytest

from tidings.language.forms import parse_file
from tidings.language.parser import parse, read
from tidings.language.verify import KnownSentinel
from tidings.language.write.printer import to_text
from tidings.language.yaml.form import to_yaml
from tidings.model.watch.asking import Asking, Header, Value
from tidings.model.watch.sentinel import (
    DEFAULT_NOTIFY,
    AllOf,
    Alter,
    ChangeLife,
    Channel,
    Command,
    Compare,
    Condition,
    Defaults,
    FetchAt,
    FetchEvery,
    FetchOnChange,
    FetchOnDemand,
    Interest,
    Notify,
    Opening,
    Point,
    Rate,
    Sentinel,
    Then,
    Transform,
    Urgency,
    Watched,
)

MINUTE = 60_000_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
NOW = 1_700_000_000_000_000
HEAD = "Create Sentinel a Using https://x.example As A, https://y.example As any "
WATCHING = f"{HEAD}Monitor links "


def statements(text, **given):
    return read(text, now=NOW, **given)


def only(text, **given):
    return statements(text, **given)[-1]


ROWS = [
    ("Fetch at 6:00 mon, thu-sat slack 3 min", "fetch", FetchAt((360,), (0, 3, 4, 5), 3 * MINUTE)),
    ("Fetch at 23:59", "fetch", FetchAt((1_439,))),
    ("Fetch on demand", "fetch", FetchOnDemand()),
    ("Fetch on change within 5 min", "fetch", FetchOnChange(within=5 * MINUTE)),
    (
        "Fetch on change between 1 min and 1 day within 5 min overwrite",
        "fetch",
        FetchOnChange(MINUTE, DAY, 5 * MINUTE, "overwrite"),
    ),
    (
        "During fri-mon 20:00 to 02:00, tue, wed 08:00 to 9:30",
        "during",
        (Opening((0, 4, 5, 6), 1_200, 120), Opening((1, 2), 480, 570)),
    ),
    ("To first change", "end", Point("change")),
    ("Then within 5 min check any 1 of A, any", "then", (Then(5 * MINUTE, ("A", "any"), 1),)),
    ("Then within 5 min check any", "then", (Then(5 * MINUTE, ("any",)),)),
    ("Notify by feed every 1 week or 10 changes", "notify", (Notify((Channel("feed"),), Rate("every", 7 * DAY, 10)),)),
    ("Notify by stream every 10 changes", "notify", (Notify((Channel("stream"),), Rate("every", 0, 10)),)),
    (
        "Notify by console every 10 changes or 1 week",
        "notify",
        (Notify((Channel("console"),), Rate("every", 7 * DAY, 10)),),
    ),
    (
        "Notify by console at 8:30 mon-fri",
        "notify",
        (Notify((Channel("console"),), Rate("at", clocks=(510,), days=(0, 1, 2, 3, 4))),),
    ),
    (
        "Errors to console, https://h.example/x",
        "errors",
        (Channel("console"), Channel("webhook", "https://h.example/x")),
    ),
    (
        'Transform keep lines "Price", drop lines regex "^Ad" Transform replace regex "(\\d+) EUR" with "\\1", sort, unique lines',
        "transform",
        (
            Transform("keep", "Price"),
            Transform("drop", "^Ad", is_pattern=True),
            Transform("replace", r"(\d+) EUR", is_pattern=True, replacement=r"\1"),
            Transform("sort"),
            Transform("unique"),
        ),
    ),
    ("Urgency window 0 s", "urgency", Urgency("window", 0)),
    ("Urgency exponential", "urgency", Urgency()),
    ("Life 2 hour", "life", ChangeLife("window", span=2 * HOUR)),
    ("Class default", "budget_class", "default"),
]


@pytest.mark.parametrize(("clause", "field", "meaning"), ROWS, ids=[clause for clause, _, _ in ROWS])
def test_each_clause_fills_its_field(clause, field, meaning):
    """They are in the order of the text."""
    assert meaning == getattr(only(WATCHING + clause), field)


@pytest.mark.parametrize(
    ("word", "life", "urgency"),
    [
        ("archive", ChangeLife("forever"), Urgency("uniform")),
        ("front page", ChangeLife("overwrite"), Urgency("uniform")),
        ("bulletin", ChangeLife("forever"), Urgency("window", 0)),
        ("ticker", ChangeLife("overwrite"), Urgency("window", 0)),
    ],
)
def test_watch_sets_life_and_urgency_of_a_scenario(word, life, urgency):
    """They are the four scenarios of paper 000, Figures 2 and 3; an own clause overrides them."""
    sentinel = only(f"{WATCHING}Watch as {word}")
    other = only(f"{WATCHING}Urgency exponential 1 hour Watch as {word}")

    assert (life, urgency) == (sentinel.life, sentinel.urgency)
    assert (life, Urgency("exponential", HOUR)) == (other.life, other.urgency)


def test_condition_may_be_negative_and_follow_of_or_in():
    """`value < -2.5` is a temperature; `in` and `of` come in either order."""
    first = only(f'{HEAD}Monitor number of A in css "b" where value < -2.5 but rises by 3')
    second = only(f'{HEAD}Monitor number in css "b" of A where value < -2.5 but rises by 3')

    assert first == second
    assert (Condition("value", "<", -2.5), Condition("rises", ">=", 3.0)) == first.monitor.where


GROUP = 'Defaults For Tags work, old Notify by console Fetch 2 hour Header "X" "1" For 3 day;'


def test_sentinel_uses_the_defaults_of_its_tags():
    """Its own clauses override them, and they override the defaults of the language."""
    group, sentinel = statements(f"{GROUP} {WATCHING} Tags work Fetch 1 hour")

    assert (
        Defaults(
            ("work", "old"),
            group.clauses,
        )
        == group
    )
    assert ["fetch", "for", "notify", "header"] == [word for word, _ in group.clauses.stated]
    assert (
        FetchEvery(HOUR),
        (Notify((Channel("console"),), Rate("immediate")),),
        3 * DAY,
        Asking(headers=(Header("X", Value("1")),)),
    ) == (
        sentinel.fetch,
        sentinel.notify,
        sentinel.span,
        sentinel.asking,
    )


def test_defaults_hold_only_for_their_tags():
    """They also must come before the sentinel."""
    first, _, second = statements(
        f"{WATCHING} Tags work; {GROUP} Create Sentinel b Using https://x.example Monitor links Tags home"
    )

    assert (FetchOnChange(), FetchOnChange()) == (first.fetch, second.fetch)


def test_first_tag_overrides_later_ones():
    """If two tags have the same clause, the first tag of the sentinel counts; To and For are one
    clause.
    """
    text = (
        "Defaults For Tags x Fetch 1 hour To 2031-01-01; Defaults For Tags y Fetch 2 hour For 3 day Importance 1;"
        f"{WATCHING} Tags y, x"
    )
    sentinel = only(text)

    assert (FetchEvery(2 * HOUR), 3 * DAY, None, 1.0) == (
        sentinel.fetch,
        sentinel.span,
        sentinel.end,
        sentinel.importance,
    )


def test_own_end_ignores_the_length_of_a_tag():
    """To of the sentinel and For of its tag do not set the end twice."""
    sentinel = only(f"{GROUP} {WATCHING} Tags work To 2031-01-01")

    assert (None, "2031-01-01") == (sentinel.span, sentinel.end.text)


def test_sentinel_may_refuse_a_default():
    """`none` removes the clause of a tag."""
    sentinel = only(f"{GROUP} {WATCHING} Tags work Header none")

    assert () == sentinel.asking.headers


def test_tag_may_have_a_monitor_clause():
    """Then a sentinel needs none."""
    sentinel = only("Defaults For Tags w Monitor words inserted; Create Sentinel a Using https://x.example Tags w")

    assert Interest("words", direction="inserted") == sentinel.monitor


def test_known_defaults_come_from_the_caller():
    """A new statement replaces all defaults of a tag."""
    (stored,) = statements("Defaults For Tags w Fetch 2 hour Notify by console")
    known = {"w": stored.clauses}.get
    sentinel = only(f"{WATCHING} Tags w", defaults=known)
    other = only(f"Defaults For Tags w Fetch 3 hour; {WATCHING} Tags w", defaults=known)
    without = only(f"Defaults For Tags w; {WATCHING} Tags w", defaults=known)

    assert FetchEvery(2 * HOUR) == sentinel.fetch
    assert (FetchEvery(3 * HOUR), DEFAULT_NOTIFY) == (other.fetch, other.notify)
    assert FetchOnChange() == without.fetch


def test_derived_sentinel_ignores_defaults():
    """Its base has everything already."""
    child = only(f"{GROUP} {WATCHING}; Create Sentinel c Using a Tags work")

    assert FetchOnChange() == child.fetch


def test_date_of_a_tag_is_in_the_zone_of_the_sentinel():
    """A default date is a day in every zone."""
    paris = only(f"Defaults For Tags w From 2031-07-01; {WATCHING} Tags w Zone Europe/Paris")
    utc = only(f"Defaults For Tags w From 2031-07-01; {WATCHING} Tags w")

    assert 2 * HOUR == utc.start.instant - paris.start.instant


GIVEN = only(f"{WATCHING} Exclude words <the> For 3 day Tags x")
EXISTING = {
    "a": KnownSentinel(GIVEN, "enabled", NOW - DAY, NOW + 2 * DAY),
    "pinned": KnownSentinel(only("Create Sentinel pinned Using https://x.example Monitor links Compare first")),
    "old": KnownSentinel(
        only("Create Sentinel old Using https://x.example Monitor links"), "ended", ended_at=NOW - DAY
    ),
    "waits": KnownSentinel(only("Create Sentinel waits Using https://x.example Monitor links From end(a)"), "waiting"),
}


@pytest.mark.parametrize(
    ("clauses", "changed", "reach"),
    [
        ("Notify by console", {"notify": (Notify((Channel("console"),), Rate("immediate")),)}, "A"),
        ("Fetch 2 hour Tags y", {"fetch": FetchEvery(2 * HOUR), "tags": ("y",)}, "B"),
        ("Exclude none", {"exclude": ()}, "C"),
        ("Monitor words of A AND images of any within 1 hour", None, "C"),
        ("To 2031-01-01", {"span": None, "end": Point("at", text="2031-01-01", instant=1_924_992_000_000_000)}, "B"),
        ('Body "q=1"', {"asking": Asking(method="POST", body=Value("q=1"))}, "C"),
        ("Watch as ticker", {"life": ChangeLife("overwrite"), "urgency": Urgency("window", 0)}, "A"),
    ],
)
def test_alter_replaces_only_the_given_clauses(clauses, changed, reach):
    """The class of the change is the highest of its clauses (sentinels §2.2)."""
    altered = only(f"Alter a {clauses}", known=EXISTING.get)
    assert isinstance(altered, Alter)
    expected = changed or {
        "monitor": AllOf((Interest("words", of="A"), Interest("images", of="any"))),
        "window": HOUR,
    }
    fields = [field for field in Sentinel.__slots__ if field not in expected]

    assert reach == altered.reach
    assert expected == {field: getattr(altered.sentinel, field) for field in expected}
    assert [getattr(GIVEN, field) for field in fields] == [getattr(altered.sentinel, field) for field in fields]


def test_later_statements_use_altered_clauses():
    """A derived sentinel of the same text has them."""
    _, child = statements("Alter a Fetch 2 hour; Create Sentinel b Using a", known=EXISTING.get)

    assert FetchEvery(2 * HOUR) == child.fetch


FAULTS = [
    ("Alter a", "1:8: E03 found the end of the text; expected a clause (hint: Alter NAME Fetch 1 hour)"),
    (
        "Alter a Using https://z.example",
        (
            '1:7: E36 "a" has other pages: give one new address for each page, in order'
            " (hint: it has https://x.example As A, https://y.example As any)"
        ),
    ),
    ("Alter b Fetch 1 hour", '1:7: E20 there is no sentinel "b"'),
    (
        "Alter old Fetch 1 hour",
        '1:7: E33 "old" has ended on 2023-11-13 and cannot be altered (hint: Drop it, then create it again)',
    ),
    ("Alter a Monitor links of C", '1:26: E27 no page is called "C" here (hint: pages: A, any)'),
    ("Alter a From end(waits)", "1:9: E35 a → waits → a wait for one another (hint: give one of them a date, or now)"),
    ("Alter a To end(a)", '1:9: E20 "a" cannot wait for itself (hint: name another sentinel)'),
    ("Alter a To now For 3 day", "1:7: E32 To and For both set the end (hint: keep one)"),
    (
        "Confirm old",
        '1:9: E33 "old" has ended on 2023-11-13 and cannot be confirmed (hint: Drop it, then create it again)',
    ),
    (
        "Defaults For Tags w Tags x",
        "1:21: E42 Tags cannot be a default (hint: Defaults For Tags a, b names the tags)",
    ),
    (
        "Defaults For Tags w",
        '1:19: E42 the tag "w" has no defaults to remove (hint: Defaults For Tags NAME Fetch 1 hour)',
    ),
    (
        "Defaults For Tags w Then within 5 min check A",
        '1:45: E27 no page is called "A" here (hint: name a page: Using https://… As A)',
    ),
    (
        "Defaults For Tags to Fetch 1 hour",
        '1:19: E04 "to" is a keyword of the language and cannot be a name (hint: try to_1)',
    ),
    (f"{WATCHING}Notify by console every 0 changes", None),
    (f"{WATCHING}During mon 08:00 to 08:00", None),
    (f"{WATCHING}During mon 08:00 to 25:00", None),
    (f"{WATCHING}Then within 5 min check any 3 of A, any", None),
    (f'{WATCHING}Transform keep lines ""', None),
    (f"{WATCHING}Exclude words <a,,b>", None),
    (f"{WATCHING}ChangeHistory 0", None),
    (f"{WATCHING}Life 0 changes", None),
    (f"{HEAD}Monitor table 0", None),
    (f"{HEAD}Monitor words where share > 20", None),
    (f"{HEAD}Monitor number where value < 20%", None),
    (f"{HEAD}Monitor number where share > 20%", None),
    (f'{HEAD}Monitor number where contains "a"', None),
    (f"{HEAD}Monitor status where changed > 2", None),
    (f'{WATCHING}Exclude none Exclude css "a"', None),
]
LATER_CODES = "E16 E14 E08 E16 E07 E07 E16 E16 E16 E16 E28 E28 E28 E28 E23".split()


@pytest.mark.parametrize(
    ("text", "line"),
    [(text, line) for text, line in FAULTS if line],
)
def test_impossible_clauses_are_refused(text, line):
    """The error has place, code and hint."""
    parsed = parse(text, known=EXISTING.get, defaults=lambda tag: None, now=NOW)

    assert [line] == [str(problem) for problem in parsed.problems]


@pytest.mark.parametrize(
    ("text", "code"),
    list(zip([text for text, line in FAULTS if line is None], LATER_CODES, strict=True)),
)
def test_impossible_numbers_and_hours_are_refused(text, code):
    """Each clause has one fault, at its place."""
    parsed = parse(text)

    assert [code] == [problem.code for problem in parsed.problems]
    assert all(problem.column > len(HEAD) for problem in parsed.problems)


WARNINGS = [
    (
        "Confirm waits",
        '1:9: W17 "waits" has the clause Compare pairwise, so Confirm has no effect (hint: Confirm works only with Compare first)',
    ),
    ("Confirm pinned", None),
    (
        "Alter a From 2031-01-01 To none",
        '1:9: W18 "a" has started on 2023-11-13: From has no effect any more (hint: Disable pauses it)',
    ),
    (
        f'{WATCHING}Header "X" secret "token" Body secret "set"',
        '1:106: W9 the secret "token" is not set yet: pages that need it are in error until you set it (hint: tidings secret set token)',
    ),
    (
        f'{WATCHING}Notify by webhook secret "token", secret "set"',
        '1:113: W9 the secret "token" is not set yet: messages to it wait until it is (hint: tidings secret set token)',
    ),
    (
        f'{WATCHING}Errors to secret "token"',
        '1:105: W9 the secret "token" is not set yet: messages to it wait until it is (hint: tidings secret set token)',
    ),
    (
        f'{HEAD}Monitor regex "\\pL{{200}}"',
        "1:88: W4 the pattern is large",
    ),
    (
        f'{HEAD}Monitor regex "x*"',
        "1:88: W16 the pattern also matches the empty text, which is everywhere (hint: write + instead of *, or add a text that must be there)",
    ),
    (f"{HEAD}Monitor links of A AND links of any within 1 hour", None),
    (f'{HEAD}Monitor links AND words where contains "x"', None),
]


@pytest.mark.parametrize(("text", "line"), WARNINGS, ids=range(len(WARNINGS)))
def test_doubtful_clauses_have_a_warning(text, line):
    """The statement is accepted; None: there is no warning."""
    others = EXISTING if text.startswith(("Confirm", "Alter")) else {}
    parsed = parse(text, known=others.get, secrets={"set"}, now=NOW)
    output = [str(warning) for warning in parsed.warnings]

    assert () == parsed.problems
    assert 1 == len(parsed.statements)
    assert ([line] if line else []) == [warning[: len(line or "")] for warning in output]


def test_unknown_secrets_are_not_checked():
    """Without the names of secrets, none is missing."""
    assert () == parse(f'{WATCHING}Header "X" secret "token"').warnings


def test_enable_may_start_afresh():
    """`fresh` makes no comparison across the pause."""
    assert (Command("enable", "a", fresh=True), Command("enable", "fresh")) == read("Enable a fresh; Enable fresh")


def test_files_must_be_allowed():
    """They are off by default, and only whole paths are accepted."""
    text = "Create Sentinel a Using file:///srv/report.html Monitor words"
    (problem,) = parse(text).problems
    relative = parse("Create Sentinel a Using file://../x Monitor words", files=True).problems
    climbing = parse("Create Sentinel a Using file:///srv/%2e%2e/x Monitor words", files=True).problems

    assert ("E22", "file: addresses are not allowed here") == (problem.code, problem.message)
    assert (Watched("file:///srv/report.html"),) == only(text, files=True).pages
    assert ["E22", "E22"] == [each.code for each in (*relative, *climbing)]


def test_words_inside_later_clauses_begin_no_clause():
    """A text with a fault is not cut inside `Errors to`, `Transform drop`, `Defaults For Tags`."""
    text = (
        f'{WATCHING}Errors to console Transform sort, drop lines "a" Fetch 2;'
        " Defaults For Tags w For 3 Notify by console; Alter x Ftch 2 day"
    )

    assert ["E05", "E05", "E24"] == [problem.code for problem in parse(text).problems]


def test_compare_is_printed_with_its_number():
    """The kinds are first, moving and every."""
    sentinels = [only(f"{WATCHING}Compare {words}") for words in ("first", "moving 7", "every 5")]

    assert [Compare("first"), Compare("moving", 7), Compare("every", 5)] == [sentinel.compare for sentinel in sentinels]
    assert ["Compare first", "Compare moving 7", "Compare every 5"] == [
        to_text(sentinel).splitlines()[-1].strip() for sentinel in sentinels
    ]


def test_new_address_of_a_page_is_printed_as_it_is_read():
    """Alter … Using has this in sentences and in YAML."""
    text = "Alter a Using https://z.example As A, https://y.example As any\n  Fetch every 2 hour"
    (moved,) = statements(text, known=EXISTING.get)
    (again,) = parse_file("x.yaml", to_yaml([moved]), known=EXISTING.get).statements

    assert ["https://z.example", "https://y.example"] == [page.url for page in moved.sentinel.pages]
    assert "C" == moved.reach
    assert moved == again
    assert moved.pages == statements(to_text(moved), known=EXISTING.get)[0].pages


@pytest.mark.parametrize(
    ("clause", "hint"),
    [
        ("To 2027-12-31", "to include the day, write To 2028-01-01"),
        ("Until 2028-02-29", "to include the day, write To 2028-03-01"),
        ("To 2028-02-28", ""),
        ("To 2027-12-31 18:00", ""),
        ("To 2027-12-31 + 1 day", ""),
        ("To 9999-12-31", ""),
        ("From 2027-01-31", ""),
    ],
)
def test_end_on_the_last_day_of_a_month_has_a_warning(clause, hint):
    """It ends when that day begins, which surprises people (W20)."""
    warnings = parse(f"Create Sentinel s Using https://a.example/ Monitor price {clause}").warnings

    assert [hint] * bool(hint) == [warning.hint for warning in warnings if warning.code == "W20"]
