"""Hypothesis strategies for all statements of the language, and for texts that nearly are
statements.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import zip_longest

from hypothesis import strategies as st

from tidings.language.parser import read
from tidings.language.times import DateReading, instant_of, read_date, zone_of
from tidings.language.verify import KnownSentinel, joins_answers
from tidings.language.words import is_reserved
from tidings.language.write.printer import meaning_of
from tidings.language.write.table import ORDER, REACH
from tidings.model.watch.asking import Asking, BrowserStep, Header, Login, Value, url_of
from tidings.model.watch.interest import EXTREMES, FORMS, HIDDEN
from tidings.model.watch.sentinel import (
    DEEPEST,
    MOST_A_DAY,
    AllOf,
    Alter,
    AnyOf,
    Cap,
    ChangeLife,
    Channel,
    Clauses,
    Command,
    Compare,
    Condition,
    CreateEvent,
    Defaults,
    Direction,
    DropEvent,
    EventSource,
    Expression,
    Fetch,
    FetchAt,
    FetchEvery,
    FetchOnChange,
    FetchOnDemand,
    History,
    Interest,
    Lasting,
    Not,
    Notify,
    Opening,
    Pattern,
    Point,
    Quiet,
    Rate,
    Scope,
    Selector,
    Sentinel,
    StopWords,
    Then,
    Transform,
    Urgency,
    Watched,
)

SECOND = 1_000_000


def monitor_of(text: str) -> Expression:
    """Return what a Monitor clause that says this means."""
    (sentinel,) = read(f"Create Sentinel s Using https://a.example/ Monitor {text}")
    assert isinstance(sentinel, Sentinel)
    return sentinel.monitor


DAY = 86_400 * SECOND
PAGE_NAMES = ("A", "any", "b-2")
ZONES = (None, "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "UTC")

names = st.from_regex(r"[A-Za-z_](?:[A-Za-z0-9_]|-[A-Za-z0-9_]){0,12}", fullmatch=True).filter(
    lambda name: not is_reserved(name)
)
urls = st.from_regex(
    r"https?://[a-z]{1,8}\.example(?::[1-9][0-9]{0,3})?(?:/[a-z0-9~?=&%#;,!()'+:-]{0,12}[a-z0-9/])?", fullmatch=True
)
command_urls = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), max_size=8), min_size=2, max_size=4
).map(lambda words: url_of(["df", *words]))
durations = st.one_of(
    st.integers(1, 100_000).map(lambda seconds: seconds * SECOND),
    st.integers(1, 400).map(lambda days: days * DAY),
    st.integers(1, 36_525 * DAY),
)
directions: st.SearchStrategy[Direction | None] = st.sampled_from([None, "inserted", "deleted", "updated"])
terms = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=12)
phrases = st.lists(terms, min_size=1, max_size=4).map(" ".join)

term_lists = phrases.map(lambda text: (text,)) | st.lists(phrases, min_size=2, max_size=4, unique=True).map(tuple)
selectors = st.sampled_from(
    [
        Selector("css", "ul.jobs > li"),
        Selector("css", 'a[href="x"]'),
        Selector("xpath", "//ul[@class='a']/li[1]"),
        Selector("jsonpath", "$.components[*].status"),
        Selector("jsonpath", '$["a b"]'),
    ]
)
patterns = st.sampled_from([r"v(\d+\.\d+)", "a|b", r'"\\"', "é+", r"\\", "x{2,5}"])
texts = phrases
numbers = st.integers(-1_000, 1_000).map(float) | st.floats(-1e9, 1e9).map(lambda number: round(number, 6) + 0.0)
relations = st.sampled_from(["<", "<=", "=", "!=", ">=", ">"])
lastings = st.builds(Lasting, st.integers(1, 1_000)) | st.builds(Lasting, duration=durations)
of_pages = st.builds(Condition, st.sampled_from(["page has", "page lacks"]), text=texts)
of_numbers = st.one_of(
    of_pages,
    st.builds(Condition, st.sampled_from(["value", "is", "becomes"]), relations, numbers),
    st.builds(
        Condition,
        st.sampled_from(["lowest", "highest"]),
        span=st.one_of(st.just(0), durations.filter(lambda duration: duration > 0)),
    ),
    st.builds(
        lambda measure, ends: Condition(measure, "between", ends[0], upper=ends[1]),
        st.sampled_from(["value", "is", "becomes"]),
        st.tuples(numbers, numbers).map(sorted),
    ),
    st.builds(
        Condition,
        st.sampled_from(["changes", "rises", "drops"]),
        st.sampled_from([">=", ">"]),
        numbers.map(abs),
        st.booleans(),
    ),
)
of_texts = st.one_of(
    of_pages,
    st.builds(Condition, st.just("share"), relations, st.integers(0, 100).map(float), st.just(value=True)),
    st.builds(Condition, st.just("share"), relations, st.floats(0, 1)),
    st.builds(
        Condition, st.sampled_from(["inserted", "deleted", "changed"]), relations, numbers.map(abs), st.booleans()
    ),
    st.builds(Condition, st.sampled_from(["contains", "lacks"]), text=texts),
    st.lists(phrases, min_size=2, max_size=3, unique=True).map(
        lambda them: Condition("contains", text=them[0], others=tuple(them[1:]))
    ),
    st.builds(Condition, st.just("matches"), text=patterns),
)
counts = st.integers(1, 1_000)


@st.composite
def interests(draw: st.DrawFn, page_names: tuple[str, ...]) -> Interest:
    """Draw one change type with all that can stand behind it."""
    kind = draw(
        st.sampled_from(
            "any words links images keywords phrases table list regex number items status header price availability".split(),
        )
    )
    of_states = st.builds(Condition, st.just("matches"), text=patterns)
    conditions = {
        "number": of_numbers,
        "price": of_numbers,
        "status": of_states,
        "availability": of_states,
        "header": of_states
        | of_numbers.filter(
            lambda condition: not condition.text and condition.measure not in EXTREMES
        ),  # none are kept
    }.get(kind, of_texts)
    return Interest(
        kind,
        form=draw(st.sampled_from(["", *FORMS.get(kind, ())])),
        terms=draw(term_lists) if kind in {"keywords", "phrases"} else (),
        direction=draw(directions),
        selector=draw(st.none() | selectors),
        of=draw(st.sampled_from([None, *page_names])),
        ordinal=draw(st.none() | counts) if kind in {"table", "list"} else None,
        column=draw(st.sampled_from(["", "Price", "2"])) if kind == "table" else "",
        after=draw(st.sampled_from(["", "Total:"])) if kind == "number" else "",
        before=draw(st.sampled_from(["", 'a "b"'])) if kind == "number" else "",
        pattern=draw(patterns) if kind == "regex" else "",
        header=draw(st.sampled_from(["ETag", "last-modified", "X-Version"])) if kind == "header" else "",
        where=tuple(draw(st.lists(conditions, max_size=2))),
    )


def _all_of(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    positive = st.lists(parts, min_size=1, max_size=3)
    negative = st.lists(parts.map(Not), max_size=2)
    return (
        st.tuples(positive, negative)
        .filter(lambda both: len(both[0]) + len(both[1]) > 1)
        .map(lambda both: AllOf((*both[0], *both[1])))
    )


def _any_of(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.lists(parts, min_size=2, max_size=3).map(lambda some: AnyOf(tuple(some)))


@cache
def expressions_on(page_names: tuple[str, ...]) -> st.SearchStrategy[Expression]:
    """Return expressions over pages of these names."""
    return st.recursive(interests(page_names), lambda parts: _all_of(parts) | _any_of(parts), max_leaves=8)


expressions: st.SearchStrategy[Expression] = expressions_on(())

clocks = st.integers(0, 1_439)
some_clocks = st.lists(clocks, min_size=1, max_size=3, unique=True).map(lambda times: tuple(sorted(times)))
weekdays = st.sets(st.integers(0, 6), min_size=1).map(lambda days: tuple(sorted(days)))
clock_pairs = st.tuples(clocks, clocks).filter(lambda pair: pair[0] != pair[1])
openings = st.tuples(weekdays, clock_pairs).map(lambda both: Opening(both[0], *both[1]))


@st.composite
def fetches(draw: st.DrawFn) -> Fetch:
    """Draw when a page is polled: at an interval, a time of day, on change or on demand, with or without bounds."""
    events = tuple(draw(st.lists(names, max_size=2, unique=True)))
    return replace(draw(_fetches()), events=events)


@st.composite
def _fetches(draw: st.DrawFn) -> Fetch:
    interval = draw(durations)
    match draw(st.integers(0, 5)):
        case 0:
            return FetchEvery(interval)
        case 1:
            return FetchEvery(interval, draw(st.integers(0, interval)))
        case 2:
            return FetchAt(draw(some_clocks), draw(weekdays), draw(st.none() | durations))
        case 3:
            return FetchOnDemand()
    bounds: tuple[int | None, int | None] = (None, None)
    if draw(st.booleans()) and interval < 36_524 * DAY:
        bounds = (interval, interval + draw(st.integers(1, DAY)))
    if draw(st.booleans()):
        return FetchOnChange(*bounds)
    return FetchOnChange(*bounds, draw(durations), draw(st.sampled_from(["window", "overwrite"])))


channels = st.one_of(
    st.sampled_from([Channel(kind) for kind in ("console", "dashboard", "feed", "stream")]),
    names.map(lambda name: Channel("email", f"{name}@x.example")),
    urls.map(lambda url: Channel("webhook", url)),
    names.map(lambda name: Channel("apprise", f"ntfy://{name}/topic")),
    st.builds(Channel, st.sampled_from(["webhook", "apprise"]), names.map(lambda name: f"{name}.x-1"), st.just(True)),
)
some_channels = st.lists(channels, min_size=1, max_size=3, unique=True).map(tuple)


@st.composite
def notifies(draw: st.DrawFn) -> Notify:
    """Draw a Notify clause; only the dashboard can wait until somebody reads it."""
    some = draw(some_channels)
    rates = [
        Rate("immediate"),
        Rate("best_effort"),
        Rate("every", draw(durations)),
        Rate("every", draw(durations), draw(counts)),
        Rate("every", 0, draw(counts)),
        Rate("at", clocks=draw(some_clocks), days=draw(weekdays)),
    ]
    if all(channel.kind == "dashboard" for channel in some):
        rates.append(Rate("interactive"))
    quiet = draw(st.none() | clock_pairs.map(lambda pair: Quiet(*pair)))
    return Notify(some, draw(st.sampled_from(rates)), quiet, draw(st.none() | st.builds(Cap, counts, durations)))


@st.composite
def dates(draw: st.DrawFn, zone: str | None, *, first: int, last: int) -> Point:
    """Draw a date or a time as the language writes it, meant in `zone`, with or without an offset."""
    day = draw(st.datetimes(datetime(first, 1, 1), datetime(last, 1, 1)))
    text = draw(st.sampled_from(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M+05:30"]))
    reading = read_date(day.strftime(text))
    assert isinstance(reading, DateReading)
    where = zone_of(zone or "UTC")
    assert where is not None
    return Point("at", draw(st.integers(-10, 10)) * DAY, reading.text, instant_of(reading, where))


header_names = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,12}", fullmatch=True)
visible = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)
values = visible.map(Value) | st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,12}", fullmatch=True).map(
    lambda name: Value(name, is_secret=True)
)


places = {
    "language": st.sampled_from(["css", "xpath", "text"]),
    "place": st.sampled_from(["#a", 'a[href="/b"]', "More …"]),
}
browser_steps = st.one_of(
    st.builds(BrowserStep, st.sampled_from(["click", "wait", "scroll"]), **places),
    st.builds(BrowserStep, st.just("fill"), value=st.builds(Value, st.just("name"), st.booleans()), **places),
    st.builds(BrowserStep, st.just("select"), value=st.builds(Value, st.just('L "2"')), **places),
    st.builds(BrowserStep, st.just("press"), value=st.just(Value("Enter"))),
    st.builds(BrowserStep, st.just("press"), value=st.just(Value("Control+A")), **places),
    st.builds(BrowserStep, st.just("wait"), wait=st.just(2_000_000)),
    st.just(BrowserStep("scroll")),
)
logins = st.builds(
    Login,
    st.sampled_from(["https://shop.example/login", "http://127.0.0.1:8080/in?a=%22"]),
    values.filter(lambda value: bool(value.text)),
    st.sampled_from(["shop", "pass-word"]),
    st.sampled_from(["", "a.logout", '[title="out"]']),
    st.sampled_from([(), ("https://id.example",), ("https://id.example", "https://b.example/")]),
)


@st.composite
def askings(draw: st.DrawFn) -> Asking:
    """Draw how a page is asked for."""
    body = draw(st.none() | values)
    render = draw(st.sampled_from(["", "browser"]))
    steps = draw(st.lists(browser_steps, max_size=3).map(tuple)) if render else ()
    return Asking(
        method=draw(st.sampled_from(["GET", "POST", "QUERY"])),
        body=body,
        headers=tuple(draw(st.lists(st.builds(Header, header_names, values), max_size=2))),
        timeout=draw(st.none() | st.integers(1, 600).map(lambda seconds: seconds * SECOND)),
        trust=draw(st.sampled_from(["", "ca.pem", 'my "ca".pem'])),
        proxy=draw(st.sampled_from([None, Value("http://proxy.example:3128"), Value("way-out", is_secret=True)])),
        login=draw(st.none() | logins),
        steps=steps,
        render=render,
        screenshot=bool(render) and draw(st.booleans()),
        frames=draw(st.integers(0, 2)),
        robots_ignored=draw(st.sampled_from(["", "this site is mine", 'they "said" so'])),
    )


exclusions = st.one_of(
    st.just(HIDDEN),
    selectors,
    st.builds(Pattern, patterns),
    st.lists(terms.filter(lambda term: not set(term) & set(',<>"')), min_size=1, max_size=3, unique=True).map(
        lambda some: StopWords(tuple(some))
    ),
)
transforms = st.one_of(
    st.builds(Transform, st.sampled_from(["keep", "drop"]), texts),
    st.builds(Transform, st.sampled_from(["keep", "drop"]), patterns, st.just(value=True)),
    st.builds(Transform, st.just("replace"), patterns, st.just(value=True), st.sampled_from(["", r"\1", "x"])),
    st.builds(Transform, st.just("replace"), texts, replacement=texts),
    st.sampled_from([Transform("sort"), Transform("unique"), Transform("fold")]),
)
urgencies = st.one_of(
    st.just(Urgency("uniform")),
    st.just(Urgency()),
    durations.map(lambda span: Urgency("exponential", span)),
    st.just(0).map(lambda span: Urgency("window", span)) | durations.map(lambda span: Urgency("window", span)),
)
lives = st.one_of(
    st.sampled_from([None, ChangeLife("forever"), ChangeLife("overwrite")]),
    durations.map(lambda span: ChangeLife("window", span=span)),
    counts.map(lambda number: ChangeLife("changes", changes=number)),
)
compares = st.one_of(
    st.sampled_from([Compare(), Compare("first")]),
    st.builds(Compare, st.sampled_from(["moving", "every"]), st.integers(2, 100)),
)
histories = st.none() | counts.map(lambda number: History(changes=number)) | durations.map(lambda age: History(age=age))


@st.composite
def thens(draw: st.DrawFn, page_names: tuple[str, ...]) -> Then:
    """Draw what is polled when a part has changed."""
    some = draw(st.lists(st.sampled_from(page_names), min_size=1, max_size=3, unique=True))
    return Then(draw(durations), tuple(some), draw(st.none() | st.integers(1, len(some))))


happenings = st.builds(
    lambda event, offset: Point("event", offset, event=event), names, st.integers(0, 10).map(lambda days: days * DAY)
)
visible_words = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=12)
sources = st.one_of(
    st.just(EventSource("webhook")),
    st.builds(
        lambda path, every: EventSource("file", path=f"/{path}", every=every),
        visible_words.filter(lambda path: ".." not in path),
        st.none() | durations,
    ),
    st.builds(
        lambda argv, every: EventSource("command", argv=("/bin/x", *argv), every=every),
        st.lists(visible_words, max_size=3),
        st.none() | durations,
    ),
)
event_statements = st.builds(CreateEvent, names, sources) | st.builds(DropEvent, names)


scopes = st.builds(
    Scope,
    st.lists(st.sampled_from(["/*", "/docs/*", "https://b.example/*"]), min_size=1, unique=True).map(tuple),
    st.integers(0, DEEPEST),
    st.floats(0.01, MOST_A_DAY),
)


@st.composite
def sentinels(draw: st.DrawFn, *, names_pages: bool = True) -> Sentinel:
    """Draw a sentinel made from pages, with all clauses; on several if these have no names."""
    zone = draw(st.sampled_from(ZONES))
    addresses = draw(
        st.lists(st.one_of(urls, urls, command_urls), min_size=1 if names_pages else 2, max_size=3, unique=True)
    )
    named = PAGE_NAMES[: draw(st.integers(0, len(addresses)))] if names_pages else ()
    end, span = draw(
        st.one_of(
            st.just((None, None)),
            st.just((Point("change"), None)),
            happenings.map(lambda point: (point, None)),
            dates(zone, first=2032, last=2060).map(lambda point: (point, None)),
            durations.map(lambda duration: (None, duration)),
        )
    )
    start = draw(st.one_of(st.just(Point("now")), happenings, dates(zone, first=1971, last=2030)))
    is_clear = len(addresses) in {1, len(named)}
    return Sentinel(
        name=draw(names),
        pages=tuple(Watched(url, name) for url, name in zip_longest(addresses, named)),
        monitor=draw(expressions_on(named).filter(lambda what: is_clear or not joins_answers(what))),
        window=draw(st.none() | durations),
        lasting=draw(st.none() | lastings),
        then=tuple(draw(st.lists(thens(named), max_size=2))) if named else (),
        select=draw(st.none() | selectors),
        exclude=tuple(draw(st.lists(exclusions, max_size=2))),
        transform=tuple(draw(st.lists(transforms, max_size=3))),
        fetch=draw(fetches()),
        during=tuple(draw(st.lists(openings, max_size=2))),
        start=start,
        end=end,
        span=span,
        zone=zone,
        notify=tuple(draw(st.lists(notifies(), min_size=1, max_size=2))),
        errors=draw(st.just(()) | some_channels),
        compare=draw(compares),
        history=draw(histories),
        presentation=draw(st.sampled_from(["auto", "only_change", "single_frame", "dual_frame", "table"])),
        asking=draw(st.just(Asking()) | askings()),
        importance=draw(st.floats(0, 1, exclude_min=True)),
        urgency=draw(urgencies),
        life=draw(lives),
        budget_class=draw(st.just("default") | names),
        tags=tuple(draw(st.lists(names, max_size=3, unique=True))),
        scope=draw(st.none() | scopes) if names_pages else None,
    )


@st.composite
def clauses(draw: st.DrawFn, *, without: frozenset[str] = frozenset()) -> Clauses:
    """Draw clauses as they stand by themselves, at least one: some of those of a sentinel, each as it would have to say it."""
    sentinel = replace(draw(sentinels()), then=(), monitor=draw(expressions))
    words = draw(st.sets(st.sampled_from([word for word in ORDER if word not in without]), min_size=1))
    words -= {"for"} if sentinel.span is None else {"to"}
    words -= {"life"} if sentinel.life is None else set()  # nothing takes a life back
    words -= {"scope"} if sentinel.scope is None else set()
    words |= {"fetch"} if not words else {"zone"} if words & {"from", "to"} else set()
    return Clauses(tuple((word, meaning_of(sentinel, word)) for word in ORDER if word in words))


commands = st.builds(Command, st.sampled_from(["enable", "disable", "drop", "confirm"]), names) | st.builds(
    Command, st.just("enable"), names, fresh=st.just(value=True)
)
alterations = st.builds(
    lambda name, stated: Alter(name, stated, None, max(REACH[word] for word, _ in stated.stated)), names, clauses()
)
group_defaults = st.builds(
    Defaults,
    st.lists(names, min_size=1, max_size=3, unique=True).map(tuple),
    st.just(Clauses()) | clauses(without=frozenset({"tags", "scope"})),
)

EXAMPLES: Sequence[str] = (
    (
        "Create Sentinel s1 Using http://www.cnn.com Monitor all links AND all images Fetch 2 day From 12/02/02 To 01/02/03"
        " Notify By email jill@aol.com Every 4 day Compare pairwise"
    ),
    "Create Sentinel s2 Using s1 Monitor Anychange AND (NOT) images Presentation only change",
    "Create Sentinel home Using https://example.org/ Monitor any change",
    (
        "Create Sentinel news Using https://example.org/news Monitor keywords <merger, takeover> Fetch on change"
        " Notify By email ann@example.org immediate"
    ),
    (
        "Create Sentinel course Using https://uni.example/schedule Monitor keyword <cse5331> inserted Fetch 4 hour From now"
        " For 30 day Notify By email alex@example.org Every best effort Compare pairwise ChangeHistory 3 Presentation dual frame"
    ),
    (
        'Create Sentinel terms Using https://shop.example/terms Monitor phrase "we may share your data" Compare first'
        " Presentation dual frame"
    ),
    (
        'Create Sentinel price Using https://shop.example/item/7 Monitor number in css ".price" where becomes < 100'
        " Fetch 30 min Notify By ntfy://ntfy.example/deals immediate"
    ),
    (
        'Create Sentinel fx Using https://bank.example/rates Monitor number in css "#usd" where changes by more than 5%'
        " Compare first"
    ),
    'Create Sentinel jobs Using https://corp.example/jobs Monitor all links inserted in css "ul.jobs > li" Notify By feed',
    (
        'Create Sentinel api Using https://api.example/v1/status Monitor any change in jsonpath "$.components[*].status"'
        ' Fetch every 1 min slack 30 s Header "Authorization" secret "api-token"'
        " Notify By webhook https://hooks.example/x immediate"
    ),
    (
        "Create Sentinel rss Using https://blog.example/feed.xml Monitor items inserted"
        " Fetch on change between 5 min and 1 day Life overwrite"
    ),
    "Create Sentinel tab Using https://stats.example/table Monitor table 2 Compare every 5 Presentation table",
    (
        "Create Sentinel weekly Using https://gov.example/plan Monitor all words Exclude words <the, a, of>"
        ' Exclude css "footer" Exclude regex "\\d+ visitors" Compare moving 7 Notify By email bo@example.org at 08:00'
    ),
    'Create Sentinel ver Using https://lib.example/download Monitor regex "v(\\d+\\.\\d+\\.\\d+)"',
    (
        'Create Sentinel down Using https://shop.example/ Monitor status where matches "4..|5.." Fetch 5 min'
        " Notify By tgram://token/chat immediate max 3 per 1 hour"
    ),
    'Create Sentinel big Using https://wiki.example/Page Monitor all words where share > 20% but contains "retracted"',
    'Create Sentinel either Using https://a.example/x Monitor (keywords <recall> OR phrase "safety notice") AND NOT images',
    (
        "Create Sentinel office Using https://office.example/board Monitor any change Fetch 10 min"
        " During mon-fri 08:00 to 18:00 Zone Europe/Paris Notify By email cy@example.org Every 1 day quiet 20:00 to 07:00"
    ),
    'Create Sentinel spa Using https://app.example/ Render browser Select css "main" Monitor all words Fetch 1 hour',
    "Create Sentinel after_s1 Using https://www.example.org/next Monitor any change From end(course) To end(course) + 7 day",
    (
        "Create Sentinel pair Using https://a.example/ As A, https://b.example/ As B"
        " Monitor any change of A AND any change of B within 1 hour"
    ),
    (
        "Create Sentinel oil Using https://blog.example/feed As A, https://news.example/breaking As B, https://money.example/"
        ' As C Monitor items inserted of A where contains "oil" Then within 10 min check B, C Fetch every 3 min slack 2 min'
        " Notify By dashboard, email dee@example.org immediate"
    ),
    (
        "Create Sentinel vip Using https://exchange.example/halt Monitor any change Fetch on change Importance 0.9"
        " Urgency exponential 10 min Life 20 changes Class gold"
    ),
    (
        "Create Sentinel multi Using https://a.example/1, https://a.example/2, https://a.example/3 Monitor links OR images"
        " Fetch on change Notify By email ed@example.org Every 1 week ChangeHistory 90 day"
    ),
    (
        "Create Sentinel quiet Using news Monitor keywords <merger> Notify By dashboard interactive; Disable news; Enable news;"
        " Drop fx"
    ),
)
"""The twenty-five sentinels of sentinels §1.5."""

ACCEPTED: Sequence[str] = (
    EXAMPLES[0],
    EXAMPLES[2],
    (
        "Create Sentinel a Using https://a.example/1 As A, https://a.example/2 Monitor (links inserted OR images) AND NOT words"
        " Fetch on change between 5 min and 1 day From 2026-03-01T08:00 For 30 day Zone Europe/Paris"
        " Notify By webhook https://hooks.example/x, console Every 1 hour Notify By dashboard Tags x, y-z Importance 0.9"
    ),
    "Create Sentinel b Using home0 Fetch every 1 min slack 30 s From end(s0) + 1 day To end(s0) + 7 day; Drop s0; Disable home0",
)
"""Texts that Tidings does whole."""

FURTHER: Sequence[str] = (
    (
        "Create Sentinel python Using https://corp.example/jobs Monitor items inserted where contains <Python, Django>"
        ' but lacks <senior, "lead, <team>"> but page lacks "closed"'
    ),
    (
        'Create Sentinel c Using https://a.example/ As A, https://b.example/ As B Monitor number of A in css "b" where value < -2.5'
        ' but changes by 5% Then within 5 min check any 1 of A, B Transform keep lines "a", drop lines regex "b+",'
        ' replace regex "(c)" with "\\1", sort, unique Fetch at 06:00 mon, thu-fri slack 3 min To first change'
        " During sat 08:00 to 18:00, mon-fri 20:00 to 02:00 Errors to console, dashboard Watch as front page"
        " Notify by console every 1 week or 10 changes Exclude none"
    ),
    "Alter s0 Fetch on change within 5 min overwrite Exclude none Notify by stream at 08:00 mon; Confirm home0",
    (
        'Create Event e Using webhook Create Event f Using file "/srv/x y.csv" every 10 min; Create Event g Using command "/bin/x" "-y"'
        " Create Sentinel w Using https://w.example/ Monitor links Fetch every 1 day slack 2 hour or on event(e) or on event(f)"
        " From event(g) + 1 hour To event(e); Drop Event f"
    ),
    (
        "Defaults For Tags old, new For 3 day Compare first Notify by feed every 10 changes; Enable s0 fresh;"
        " Create Sentinel d Using https://d.example/ Monitor links Tags new; Defaults For Tags new"
    ),
)
"""Texts with clauses that came later: defaults, transforms, reports, Alter, Confirm."""

KNOWN: Mapping[str, KnownSentinel] = {
    name: KnownSentinel(
        Sentinel(name=name, pages=(Watched("https://k.example/"),), monitor=Interest("any"), tags=("old",))
    )
    for name in ("home0", "s0")
}
"""Sentinels that the examples speak of."""

_WORDS: Sequence[str] = (
    *sorted({word for text in (*EXAMPLES, *ACCEPTED, *FURTHER) for word in text.split()}),
    *'( ) , ; " < > -- \\ 0 -1 1e9 99999999999999999999999 0.0000001 end(s1) start(x) 2026-02-30 99/99/99'.split(),
    *"0001-01-01 9999-12-31 ../x Europe/ 24:61 // http://[::1 https://x:99999/ ’ é 日本 ٣ ² \x00".split(),
)
_LETTERS = '()<>",;-\\ \n/:.@%0aZ\x00é\u2028\x85'


def injure(text: str, rng: random.Random) -> str:
    """Return a text with up to three words or letters lost, added, swapped, cut off."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = rng.choice((_lose_word, _add_word, _swap_word, _lose_letter, _add_letter, _cut_off, _lose_part))(
            text, rng
        )
    return text


def mutant(rng: random.Random) -> str:
    """Return an example with up to four small injuries: words and letters lost, added, swapped, cut off."""
    text = rng.choice(rng.choice((EXAMPLES, ACCEPTED, FURTHER)))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        text = rng.choice(_INJURIES)(text, rng)
    return text


def _lose_word(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    words.pop(rng.randrange(len(words)))
    return " ".join(words)


def _add_word(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    words.insert(rng.randrange(len(words) + 1), rng.choice(_WORDS))
    return " ".join(words)


def _swap_word(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    words[rng.randrange(len(words))] = rng.choice(_WORDS)
    return " ".join(words)


def _add_example(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    words.insert(rng.randrange(len(words) + 1), rng.choice(EXAMPLES))
    return " ".join(words)


def _lose_letter(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + text[place + 1 :]


def _add_letter(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(_LETTERS) + text[place:]


def _cut_off(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


def _lose_part(text: str, rng: random.Random) -> str:
    first, last = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
    return text[:first] + text[last:]


_INJURIES = (_lose_word, _add_word, _swap_word, _add_example, _lose_letter, _add_letter, _cut_off, _lose_part)
