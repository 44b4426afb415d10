"""Sentinels that the language can say now, as hypothesis strategies, and texts that are nearly of the language."""

import random
from collections.abc import Mapping, Sequence
from datetime import datetime

from hypothesis import strategies as st

from tidings.language.dates import Reading, instant_of, read_date, zone_of
from tidings.language.verify import Known
from tidings.language.words import is_reserved
from tidings.model.asking import Asking, Header, Value
from tidings.model.sentinel import (
    AllOf,
    AnyOf,
    Channel,
    Command,
    Expression,
    Fetch,
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

SECOND = 1_000_000
DAY = 86_400 * SECOND
ZONES = (None, "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "UTC")

names = st.from_regex(r"[A-Za-z_](?:[A-Za-z0-9_]|-[A-Za-z0-9_]){0,12}", fullmatch=True).filter(
    lambda name: not is_reserved(name)
)
urls = st.from_regex(
    r"https?://[a-z]{1,8}\.example(?::[1-9][0-9]{0,3})?(?:/[a-z0-9~?=&%#;,!()'+:-]{0,12}[a-z0-9/])?", fullmatch=True
)
durations = st.one_of(
    st.integers(1, 100_000).map(lambda seconds: seconds * SECOND),
    st.integers(1, 400).map(lambda days: days * DAY),
    st.integers(1, 36_525 * DAY),
)
directions = st.sampled_from([None, "inserted", "deleted", "updated"])
terms = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=12)
phrases = st.lists(terms, min_size=1, max_size=4).map(" ".join)
listed = phrases.filter(lambda text: not set(text) & set(',<>"'))
term_lists = phrases.map(lambda text: (text,)) | st.lists(listed, min_size=2, max_size=4, unique=True).map(tuple)
interests = st.one_of(
    st.builds(Interest, st.sampled_from(["any", "words", "links", "images"]), direction=directions),
    st.builds(Interest, st.sampled_from(["keywords", "phrases"]), terms=term_lists, direction=directions),
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


expressions: st.SearchStrategy[Expression] = st.recursive(
    interests, lambda parts: _all_of(parts) | _any_of(parts), max_leaves=8
)


@st.composite
def fetches(draw: st.DrawFn) -> Fetch:
    """Draw a fixed interval with or without slack, or on change with or without bounds."""
    interval = draw(durations)
    match draw(st.integers(0, 3)):
        case 0:
            return FetchEvery(interval)
        case 1:
            return FetchEvery(interval, draw(st.integers(0, interval)))
        case 2:
            return (
                FetchOnChange(interval, interval + draw(st.integers(1, DAY)))
                if interval < 36_524 * DAY
                else FetchOnChange()
            )
    return FetchOnChange()


channels = st.one_of(
    st.just(Channel("console")),
    st.just(Channel("dashboard")),
    names.map(lambda name: Channel("email", f"{name}@x.example")),
    urls.map(lambda url: Channel("webhook", url)),
)


@st.composite
def notifies(draw: st.DrawFn) -> Notify:
    """Draw a Notify clause; only the dashboard can wait until somebody looks."""
    some = tuple(draw(st.lists(channels, min_size=1, max_size=3)))
    rates = [Rate("immediate"), Rate("every", draw(durations))]
    if all(channel.kind == "dashboard" for channel in some):
        rates.append(Rate("interactive"))
    return Notify(some, draw(st.sampled_from(rates)))


@st.composite
def dates(draw: st.DrawFn, zone: str | None, *, first: int, last: int) -> Point:
    """Draw a date or a time as the language writes it, meant in `zone`, with or without an offset."""
    day = draw(st.datetimes(datetime(first, 1, 1), datetime(last, 1, 1)))
    text = draw(st.sampled_from(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M+05:30"]))
    reading = read_date(day.strftime(text))
    assert isinstance(reading, Reading)
    where = zone_of(zone or "UTC")
    assert where is not None
    return Point("at", draw(st.integers(-10, 10)) * DAY, reading.text, instant_of(reading, where))


header_names = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,12}", fullmatch=True)
visible = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)
values = visible.map(Value) | st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,12}", fullmatch=True).map(
    lambda name: Value(name, is_secret=True)
)


@st.composite
def askings(draw: st.DrawFn) -> Asking:
    """Draw how a page is asked for."""
    body = draw(st.none() | values)
    render = draw(st.sampled_from(["", "browser"]))
    return Asking(
        method=draw(st.sampled_from(["GET", "POST", "QUERY"])),
        body=body,
        headers=tuple(draw(st.lists(st.builds(Header, header_names, values), max_size=2))),
        timeout=draw(st.none() | st.integers(1, 600).map(lambda seconds: seconds * SECOND)),
        trust=draw(st.sampled_from(["", "ca.pem", 'my "ca".pem'])),
        proxy=draw(st.sampled_from([None, Value("http://proxy.example:3128"), Value("way-out", is_secret=True)])),
        render=render,
        screenshot=bool(render) and draw(st.booleans()),
        frames=draw(st.integers(0, 2)),
        robots_ignored=draw(st.sampled_from(["", "this site is mine", 'they "said" so'])),
    )


@st.composite
def sentinels(draw: st.DrawFn) -> Sentinel:
    """Draw a sentinel made from pages."""
    zone = draw(st.sampled_from(ZONES))
    addresses = draw(st.lists(urls, min_size=1, max_size=3, unique=True))
    page_names = draw(st.lists(st.none() | names, min_size=len(addresses), max_size=len(addresses)))
    if len({name for name in page_names if name}) < len([name for name in page_names if name]):
        page_names = [None] * len(addresses)
    end, span = draw(
        st.one_of(
            st.just((None, None)),
            dates(zone, first=2032, last=2060).map(lambda point: (point, None)),
            durations.map(lambda duration: (None, duration)),
        )
    )
    start = draw(st.one_of(st.just(Point("now")), dates(zone, first=1971, last=2030)))
    return Sentinel(
        name=draw(names),
        pages=tuple(Watched(url, name) for url, name in zip(addresses, page_names, strict=True)),
        monitor=draw(expressions),
        fetch=draw(fetches()),
        start=start,
        end=end,
        span=span,
        zone=zone,
        notify=tuple(draw(st.lists(notifies(), min_size=1, max_size=2))),
        asking=draw(st.just(Asking()) | askings()),
        tags=tuple(draw(st.lists(names, max_size=3, unique=True))),
        importance=draw(st.floats(0, 1, exclude_min=True)),
    )


commands = st.builds(Command, st.sampled_from(["enable", "disable", "drop"]), names)

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
"""The twenty-five sentinels of sentinels_and_events §1.5."""

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
"""Texts that have meaning whole."""

KNOWN: Mapping[str, Known] = {
    name: Known(Sentinel(name=name, pages=(Watched("https://k.example/"),), monitor=Interest("any"), tags=("old",)))
    for name in ("home0", "s0")
}
"""Sentinels that the examples speak of."""

_WORDS: Sequence[str] = (
    *sorted({word for text in (*EXAMPLES, *ACCEPTED) for word in text.split()}),
    *'( ) , ; " < > -- \\ 0 -1 1e9 99999999999999999999999 0.0000001 end(s1) start(x) 2026-02-30 99/99/99'.split(),
    *"0001-01-01 9999-12-31 ../x Europe/ 24:61 // http://[::1 https://x:99999/ ’ é 日本 ٣ ² \x00".split(),
)
_LETTERS = '()<>",;-\\ \n/:.@%0aZ\x00é\u2028\x85'


def mutant(rng: random.Random) -> str:
    """Return an example with up to four small injuries: words and letters lost, added, swapped, cut off."""
    text = rng.choice(EXAMPLES if rng.random() < 0.5 else ACCEPTED)
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
