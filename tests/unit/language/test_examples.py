"""The twenty-five sentinels of `strategies_language` have the expected model (sentinels §1.5)."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from tests.strategies_language import EXAMPLES
from tidings.language.parser import parse
from tidings.language.verify import KnownSentinel
from tidings.language.write.printer import to_text
from tidings.model.watch.asking import Asking, Header, Value
from tidings.model.watch.sentinel import (
    AllOf,
    AnyOf,
    Cap,
    ChangeLife,
    Channel,
    Command,
    Compare,
    Condition,
    FetchEvery,
    FetchOnChange,
    History,
    Interest,
    Not,
    Notify,
    Opening,
    Pattern,
    Point,
    Quiet,
    Rate,
    Selector,
    Sentinel,
    StopWords,
    Then,
    Urgency,
    Watched,
)

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
LATE_1998 = 910_000_000 * SECOND
ANY, LINKS, IMAGES, WORDS = (Interest(kind) for kind in ("any", "links", "images", "words"))


def mail(who: str) -> Channel:
    return Channel("email", who)


@cache
def everything() -> Mapping[str, Sentinel]:
    """Read all examples, each with those before it."""
    made: dict[str, KnownSentinel] = {}
    for text in EXAMPLES:
        parsed = parse(text, known=made.get, now=LATE_1998)
        assert () == parsed.problems
        made |= {output.name: KnownSentinel(output) for output in parsed.statements if isinstance(output, Sentinel)}
    return {name: known.sentinel for name, known in made.items()}


MEANING: Mapping[str, Mapping[str, Any]] = {
    "s1": {
        "monitor": AllOf((LINKS, IMAGES)),
        "fetch": FetchEvery(2 * DAY),
        "start": Point("at", text="2002-12-02", instant=1_038_787_200 * SECOND),
        "end": Point("at", text="2003-01-02", instant=1_041_465_600 * SECOND),
        "notify": (Notify((mail("jill@aol.com"),), Rate("every", 4 * DAY)),),
        "compare": Compare("pairwise"),
    },
    "s2": {
        "pages": (Watched("http://www.cnn.com"),),
        "monitor": AllOf((ANY, Not(IMAGES))),
        "fetch": FetchEvery(2 * DAY),
        "notify": (Notify((mail("jill@aol.com"),), Rate("every", 4 * DAY)),),
        "presentation": "only_change",
        "start": Point("start", sentinel="s1"),
        "end": Point("end", sentinel="s1"),
        "base": "s1",
        "correlated": True,
    },
    "home": {
        "monitor": ANY,
        "fetch": FetchOnChange(),
        "notify": (Notify((Channel("dashboard"),), Rate("interactive")),),
    },
    "news": {
        "monitor": Interest("keywords", ("merger", "takeover")),
        "notify": (Notify((mail("ann@example.org"),), Rate("immediate")),),
    },
    "course": {
        "monitor": Interest("keywords", ("cse5331",), "inserted"),
        "fetch": FetchEvery(4 * HOUR),
        "start": Point("now"),
        "span": 30 * DAY,
        "notify": (Notify((mail("alex@example.org"),), Rate("best_effort")),),
        "history": History(changes=3),
        "presentation": "dual_frame",
    },
    "terms": {
        "monitor": Interest("phrases", ("we may share your data",)),
        "compare": Compare("first"),
        "presentation": "dual_frame",
    },
    "price": {
        "monitor": Interest("number", selector=Selector("css", ".price"), where=(Condition("becomes", "<", 100),)),
        "fetch": FetchEvery(30 * MINUTE),
        "notify": (Notify((Channel("apprise", "ntfy://ntfy.example/deals"),), Rate("immediate")),),
    },
    "fx": {
        "monitor": Interest(
            "number", selector=Selector("css", "#usd"), where=(Condition("changes", ">", 5, is_percent=True),)
        ),
        "compare": Compare("first"),
    },
    "jobs": {
        "monitor": Interest("links", direction="inserted", selector=Selector("css", "ul.jobs > li")),
        "notify": (Notify((Channel("feed"),), Rate("immediate")),),
    },
    "api": {
        "monitor": Interest("any", selector=Selector("jsonpath", "$.components[*].status")),
        "fetch": FetchEvery(MINUTE, 30 * SECOND),
        "asking": Asking(headers=(Header("Authorization", Value("api-token", is_secret=True)),)),
        "notify": (Notify((Channel("webhook", "https://hooks.example/x"),), Rate("immediate")),),
    },
    "rss": {
        "monitor": Interest("items", direction="inserted"),
        "fetch": FetchOnChange(5 * MINUTE, DAY),
        "life": ChangeLife("overwrite"),
    },
    "tab": {"monitor": Interest("table", ordinal=2), "compare": Compare("every", 5), "presentation": "table"},
    "weekly": {
        "monitor": WORDS,
        "exclude": (StopWords(("the", "a", "of")), Selector("css", "footer"), Pattern(r"\d+ visitors")),
        "compare": Compare("moving", 7),
        "notify": (Notify((mail("bo@example.org"),), Rate("at", clocks=(8 * 60,))),),
    },
    "ver": {"monitor": Interest("regex", pattern=r"v(\d+\.\d+\.\d+)")},
    "down": {
        "monitor": Interest("status", where=(Condition("matches", text="4..|5.."),)),
        "fetch": FetchEvery(5 * MINUTE),
        "notify": (Notify((Channel("apprise", "tgram://token/chat"),), Rate("immediate"), cap=Cap(3, HOUR)),),
    },
    "big": {
        "monitor": Interest(
            "words",
            where=(Condition("share", ">", 20, is_percent=True), Condition("contains", text="retracted")),
        )
    },
    "either": {
        "monitor": AllOf(
            (AnyOf((Interest("keywords", ("recall",)), Interest("phrases", ("safety notice",)))), Not(IMAGES))
        )
    },
    "office": {
        "monitor": ANY,
        "fetch": FetchEvery(10 * MINUTE),
        "during": (Opening((0, 1, 2, 3, 4), 8 * 60, 18 * 60),),
        "zone": "Europe/Paris",
        "notify": (Notify((mail("cy@example.org"),), Rate("every", DAY), Quiet(20 * 60, 7 * 60)),),
    },
    "spa": {
        "monitor": WORDS,
        "select": Selector("css", "main"),
        "asking": Asking(render="browser"),
        "fetch": FetchEvery(HOUR),
    },
    "after_s1": {"start": Point("end", sentinel="course"), "end": Point("end", 7 * DAY, sentinel="course")},
    "pair": {
        "pages": (Watched("https://a.example/", "A"), Watched("https://b.example/", "B")),
        "monitor": AllOf((Interest("any", of="A"), Interest("any", of="B"))),
        "window": HOUR,
    },
    "oil": {
        "monitor": Interest("items", direction="inserted", of="A", where=(Condition("contains", text="oil"),)),
        "then": (Then(10 * MINUTE, ("B", "C")),),
        "fetch": FetchEvery(3 * MINUTE, 2 * MINUTE),
        "notify": (Notify((Channel("dashboard"), mail("dee@example.org")), Rate("immediate")),),
    },
    "vip": {
        "fetch": FetchOnChange(),
        "importance": 0.9,
        "urgency": Urgency("exponential", 10 * MINUTE),
        "life": ChangeLife("changes", changes=20),
        "budget_class": "gold",
    },
    "multi": {
        "pages": tuple(Watched(f"https://a.example/{number}") for number in (1, 2, 3)),
        "monitor": AnyOf((LINKS, IMAGES)),
        "notify": (Notify((mail("ed@example.org"),), Rate("every", 7 * DAY)),),
        "history": History(age=90 * DAY),
    },
    "quiet": {
        "pages": (Watched("https://example.org/news"),),
        "monitor": Interest("keywords", ("merger",)),
        "notify": (Notify((Channel("dashboard"),), Rate("interactive")),),
        "base": "news",
        "correlated": True,
        "start": Point("start", sentinel="news"),
        "end": Point("end", sentinel="news"),
    },
}
PLAIN = Sentinel(name="plain", pages=(), monitor=ANY)


@pytest.mark.parametrize("name", MEANING)
def test_each_example_has_the_meaning_of_the_study(name):
    """What is written is in the model, and all other clauses have their defaults."""
    sentinel = everything()[name]
    fields = [field for field in Sentinel.__slots__ if field not in {"name", "pages"} or field in MEANING[name]]

    assert {field: MEANING[name].get(field, getattr(PLAIN, field)) for field in fields} == {
        field: getattr(sentinel, field) for field in fields
    }


def test_twenty_five_examples_are_tested():
    """None is left out."""
    assert (25, 25) == (len(EXAMPLES), len(MEANING))


def test_last_example_pauses_resumes_and_drops():
    """The statements of a text are executed in order."""
    others = {name: KnownSentinel(sentinel) for name, sentinel in everything().items() if name != "quiet"}
    parsed = parse(EXAMPLES[24], known=others.get)

    assert (Command("disable", "news"), Command("enable", "news"), Command("drop", "fx")) == parsed.statements[1:]


@pytest.mark.parametrize("name", MEANING)
def test_each_example_is_printed_as_it_is_read(name):
    """Reading the canonical text gives the sentinel again."""
    sentinel, others = (
        everything()[name],
        {key: KnownSentinel(value) for key, value in everything().items() if key != name},
    )
    parsed = parse(to_text(sentinel), known=others.get, now=LATE_1998)

    assert ((sentinel,), ()) == (parsed.statements, parsed.problems)
