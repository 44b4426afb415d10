"""Sentinels built in Python are the same as from a text."""

import pytest

from tidings.errors import SentinelError
from tidings.language.build import (
    any_change,
    apprise,
    at,
    availability,
    best_effort,
    check,
    console,
    dashboard,
    days,
    digest,
    email,
    entries,
    every,
    feed,
    hours,
    images,
    immediate,
    items,
    keywords,
    lasting,
    links,
    minutes,
    notify,
    nth_number,
    number,
    on_demand,
    phrases,
    regex,
    seconds,
    sentinel,
    status,
    step,
    table,
    webhook,
    words,
)
from tidings.language.parser import parse, read
from tidings.model.watch.asking import Asking
from tidings.model.watch.sentinel import Sentinel

PAGE = "https://x.example"
HEAD = f"Create Sentinel a Using {PAGE} Monitor "


def test_example_of_the_study_is_built():
    """Names of pages are keywords (sentinels §1.7)."""
    built = sentinel(
        "oil",
        A="https://blog.example/feed",
        B="https://news.example/breaking",
        monitor=items.inserted.of("A").where(contains="oil"),
        then=[check("B", within=minutes(10))],
        fetch=every(minutes(3), slack=minutes(2)),
        notify=[notify(dashboard, rate=immediate)],
    )

    assert read(
        "Create Sentinel oil Using https://blog.example/feed As A, https://news.example/breaking As B"
        ' Monitor items inserted of A where contains "oil" Then within 10 min check B Fetch every 3 min slack 2 min'
        " Notify by dashboard immediate"
    ) == (built,)


MONITORS = [
    (any_change & ~images, "any change AND NOT images"),
    (links | images | words.deleted, "links OR images OR words deleted"),
    (
        keywords("oil", "gas") & phrases("low risk").updated & table(2),
        "keywords <oil, gas> AND phrase <low risk> updated AND table 2",
    ),
    (
        table(2, "Price").where(value="< 9") | number.between("Total:") | words.between("A", "B") | nth_number(3),
        'table 2 column "Price" where value < 9 OR number after "Total:" OR all words between "A" and "B" OR number 3',
    ),
    (
        number.within("css", ".price").where(becomes="< 100", changes="more than 5%"),
        'number in css ".price" where becomes < 100 but changes by more than 5%',
    ),
    (
        items.where(contains=("oil", "gas"), lacks="coal", page_lacks=("sold", "gone")),
        'items where contains <oil, gas> but lacks "coal" but page lacks <sold, gone>',
    ),
    (number.where(is_="< 100", lowest="so far"), "number where is < 100 but lowest so far"),
    (number.where(highest="30 days"), "number where highest of 30 day"),
    (availability.where(is_="in stock"), 'availability where is "in stock"'),
    (links.unseen, "all links where never seen before"),
    (status.where(matches="4.."), 'status where matches "4.."'),
    (regex(r"v\d+").inserted | entries(), r'regex "v\d+" inserted OR list'),
    (words.where(share=">= 20%", inserted="> 3"), "words where share >= 20% but inserted > 3"),
]


@pytest.mark.parametrize(("change", "text"), MONITORS, ids=[text for _, text in MONITORS])
def test_change_types_are_narrowed_and_joined(change, text):
    """& is AND, | is OR, ~ is NOT."""
    assert read(HEAD + text) == (sentinel("a", PAGE, monitor=change),)


def test_receivers_and_rates_are_built():
    """Channels, reports, quiet hours and limits are known."""
    built = sentinel(
        "a",
        PAGE,
        monitor=links,
        fetch=at("06:00", "mon-fri", "sun", slack=seconds(90)),
        notify=[
            notify(email("ann@x.example"), webhook("https://h.example"), rate=digest(days(7), changes=10)),
            notify(apprise("ntfy://n.example/t"), feed, rate=best_effort, quiet=("20:00", "07:00"), most=(3, hours(1))),
        ],
        errors=[console],
    )

    assert read(
        f"{HEAD}links Fetch at 06:00 mon-fri, sun slack 90 s"
        " Notify by email ann@x.example, https://h.example every 1 week or 10 changes"
        " Notify by ntfy://n.example/t, feed best effort quiet 20:00 to 07:00 max 3 per 1 hour Errors to console"
    ) == (built,)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"monitor": ~links}, "E26"),
        ({"monitor": words.where(value="< 3")}, "E28"),
        ({"monitor": links, "fetch": every(0)}, "E05"),
        ({"monitor": links.of("A")}, "E27"),
        ({"monitor": links, "then": [check("B", within=hours(1))]}, "E27"),
    ],
)
def test_refused_values_have_the_problems_of_a_text(fields, message):
    """The messages are the same."""
    with pytest.raises(SentinelError, match=message):
        sentinel("a", PAGE, **fields)


def test_unreadable_values_are_refused():
    """They are conditions, times and unknown fields."""
    with pytest.raises(ValueError, match='value="cheap" cannot be read'):
        number.where(value="cheap")
    with pytest.raises(ValueError, match='"25:00" is not a time of day'):
        at("25:00")
    with pytest.raises(TypeError, match="narrow each"):
        (links | images).inserted.of("A")
    with pytest.raises(TypeError, match="fetsh"):
        sentinel("a", PAGE, monitor=links, fetsh=on_demand)


def test_duration_of_a_change_is_built():
    """It is a number of checks or a time."""
    twice = sentinel("a", PAGE, monitor=words, lasting=lasting(checks=2))
    hour = sentinel("a", PAGE, monitor=words, lasting=lasting(hours(1)))

    assert read(f"{HEAD}all words for 2 checks") == (twice,)
    assert read(f"{HEAD}all words for at least 1 hour") == (hour,)


def test_unreadable_span_has_a_hint():
    """It is that of the lowest value."""
    with pytest.raises(ValueError, match='lowest="a month" cannot be read; write "so far" or for example "30 days"'):
        number.where(lowest="a month")


def test_steps_are_built():
    """A typed text can be a secret; a step without a place is for the whole page."""
    asking = Asking(
        render="browser",
        steps=(
            step("click", "More", by="text"),
            step("fill", "#pw", secret="shop"),
            step("press", value="Enter"),
            step("wait", wait=seconds(2)),
            step("scroll"),
        ),
    )
    steps = 'click text "More", fill "#pw" with secret "shop", press "Enter", wait 2 s, scroll'
    written = parse(f"Create Sentinel a Using https://a.example/ Monitor all words Render browser steps ({steps})")
    (made,) = written.statements

    assert isinstance(made, Sentinel)
    assert asking == made.asking
