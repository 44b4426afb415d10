"""Noise over whole jobs: checks in a row, what is reported at each, and what is masked (detection
§4, §6).
"""

import itertools
import json
import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from tidings.detection.job.contract import Body, Job, Noise, Wanted
from tidings.detection.job.examiner import examine
from tidings.detection.noise.memory import VALUES, Memory
from tidings.document.select.extraction import WHOLE
from tidings.model.watch.interest import AllOf, Condition, Interest, Not, Selector

ANY, WORDS, LINKS = Interest("any"), Interest("words"), Interest("links")
HOUR, MINUTE = 3_600_000_000, 60_000_000
NINE = 1_795_856_400_000_000
PNG = "\x89PNG\r\n\x1a\n"
HEAD, TAIL = "<h1>The shop of the town</h1>", "<p>Contact us at any time</p>"


@dataclass
class Watch:
    """A page that is checked once an hour, with a second poll a minute later whenever one is asked
    for.
    """

    expression: Any = ANY
    switched_off: frozenset = frozenset()
    memory: Memory = field(default_factory=Memory)
    seconds: int = 0
    seen: Any = None
    _stored: dict = field(default_factory=dict)
    _base: int = 0
    _at: int = NINE

    def poll(self, html, *, second=None, content_type="text/html"):
        """Return what is reported an hour later of a page that shows `html`, "" for nothing, or
        `quiet: …`; a minute after it shows `second`.
        """
        self.seen = self._poll(html, HOUR, content_type=content_type)
        self._base = max(self._stored)
        if self.seen.second_poll:
            self.seconds += 1
            self.second(html if second is None else second)
        return say(self.seen)

    def second(self, html):
        """Poll a minute later, without a report."""
        self._poll(html, MINUTE, is_second=True)

    def _poll(self, html, after, *, is_second=False, content_type="text/html"):
        self._at += after
        newest = max(self._stored, default=0)
        switched_off = {seq: self._stored[seq] for seq in {newest, self._base} - {0}}
        new = Body(data=html.encode("latin-1"), content_type=content_type, url="http://x.org/")
        noise = Noise(
            memory=self.memory,
            switched_off=self.switched_off,
            at=self._at,
            times={seq: at for seq, (_, _, at) in switched_off.items()},
            learns=True,
            polls=newest + 1,
            is_second=is_second,
            asked=((self.expression, WHOLE),),
        )
        seen = examine(
            Job(
                new=new,
                references={seq: body for seq, (body, _, _) in switched_off.items()},
                known={seq: digest for seq, (_, digest, _) in switched_off.items()},
                wanted=(Wanted(key=1, reference=self._base, expression=self.expression),)
                if switched_off and not is_second
                else (),
                text_digest=switched_off[newest][1].text if newest else "",
                noise=noise,
            )
        )
        self._stored = switched_off | {newest + 1: (new, seen.digest, self._at)}
        self.memory = seen.memory or self.memory
        return seen


def say(seen):
    if not seen.found:
        return ""
    (found,) = seen.found
    change = found.change
    parts = [f"+{text}" for text in change.inserted] + [f"-{text}" for text in change.deleted]
    parts += [f"{old}>{new}" for old, new in change.updated] + [f"~{text}" for text in change.moved]
    return f"quiet: {' '.join(parts)}" if found.quiet else " ".join(parts)


def page(*lines):
    return HEAD + "".join(f"<p>{line}</p>" for line in lines) + TAIL


def test_relative_time_is_masked_and_its_neighbours_are_reported():
    """The masked text is stored with the change."""
    watch = Watch()
    watch.poll(page("Posted 3 hours ago", "boots"))

    assert "quiet: 3>4" == watch.poll(page("Posted 4 hours ago", "boots"))
    assert "boots>shoes" == watch.poll(page("Posted yesterday", "shoes"))
    assert [("4 hours ago", "yesterday", "time")] == [(m.old, m.new, m.mask) for m in watch.seen.found[0].change.masked]


def test_counter_is_masked_and_the_price_beside_it_is_reported():
    """changedetection.io 425: `Views: 5|Price 3`; only the price of the line is reported."""
    watch = Watch()
    watch.poll(page("Views: 5|Price 3"))

    assert "quiet: 5>6" == watch.poll(page("Views: 6|Price 3"))
    assert "3>4" == watch.poll(page("Views: 1,407|Price 4"))


def test_clock_that_runs_with_the_polls_is_noise():
    """A time that is an hour later after an hour is the page's clock; a moved appointment is not."""
    watch = Watch()
    watch.poll(page("at 10:00"))

    assert "quiet: 10:00>11:00" == watch.poll(page("at 11:00"))
    assert "11:00>17:45" == watch.poll(page("at 17:45"))


def test_learned_noise_hides_no_price_beside_it():
    """changedetection.io 3127: a line is not ignored because a part of it is noise."""
    watch = Watch()
    reported = [
        watch.poll(page(f"v {n * 7919 % 977} x price 10"), second=page(f"v {n * 31 % 101} y price 10"))
        for n in range(12)
    ]

    assert [True] * 3 == ["quiet" in line for line in reported][-3:]
    assert "10>12" == watch.poll(page("v 555 x price 12"))


def test_text_that_returns_is_reported_again():
    """changedetection.io 855: `SALE` twice is two events."""
    watch = Watch()

    assert ["", "+SALE", "-SALE", "+SALE", "-SALE", "+SALE"] == [
        watch.poll(page(*text)) for text in ([], ["SALE"], [], ["SALE"], [], ["SALE"])
    ]


def test_rotating_block_is_masked_after_two_returns():
    """Urlwatch 22: A, B, A on alternate polls; a third content is reported."""
    one, two = page("try it for nothing"), page("buy one, get another")
    watch = Watch()
    reported = [watch.poll(html, second=other) for html, other in [(one, two), (two, one)] * 4]

    assert [True] * 3 == [line.startswith("quiet") for line in reported[-3:]]
    assert "quiet" not in watch.poll(page("we are closing down"))


def test_rotating_links_are_masked_and_a_new_one_is_reported():
    """Two teasers of one directory alternate; the third was never shown."""

    def teaser(number):
        return page("news", f'<a href="/tease/{number}.html">more</a>')

    watch = Watch()
    reported = [watch.poll(teaser(n), second=teaser(3 - n)) for n in (1, 2) * 5]

    assert [True] * 3 == [line.startswith("quiet") for line in reported[-3:]]
    assert "+http://x.org/tease/77.html -http://x.org/tease/2.html" == watch.poll(teaser(77))


def test_new_content_of_a_second_poll_is_reported_at_the_next():
    """It rotates, and is reported beside another change, an hour later."""
    between = "some words stand still between the two of them"
    one, two = page("try it for nothing", between, "boots"), page("buy one, get another", between, "boots")
    watch = Watch()
    for html, other in [(one, two), (two, one)] * 4:
        watch.poll(html, second=other)
    watch.second(page("we are closing down", between, "boots"))

    assert "closing down" in watch.poll(page("we are closing down", between, "shoes"))


def test_advertisement_is_learned_and_an_article_beside_it_is_reported():
    """It is new at each poll and within a minute: noise after five. A new article with its links is
    not.
    """
    texts = (
        "cheap red boots;win a car today;learn to sing in a week;the best soap of all;new roofs by Miller;fly to the moon;hats;a warm coat;"
        "tea from Assam;your own bakery;two for one;dance until dawn;the last tickets;oak tables"
    )
    ads = [f'<a href="http://ads.example/{n}">{text}</a>' for n, text in enumerate(texts.split(";"))]
    watch = Watch(ANY)
    reported = [watch.poll(page(ads[n], "the news"), second=page(ads[13 - n], "the news")) for n in range(10)]

    assert [True] * 4 == ["quiet" in line for line in reported[-4:]]
    assert {"words"} <= {thing.sort for thing in watch.memory.masks}
    last = watch.poll(
        page(ads[4], "the news", "<a href=/b>The bridge has fallen into the river and nobody knows how</a>")
    )
    assert "bridge" in last
    assert "ads.example" not in last
    assert not last.startswith("quiet")


def test_links_of_an_advertisement_are_noise():
    """Each has another host, which cannot be learned; a link of the page itself is never noise."""
    watch, root = Watch(), Watch()
    texts = "red boots;win a car;learn to sing;best soap;new roofs;fly to Rome;hats;a coat;Assam tea;a bakery;two for one;dance".split(
        ";"
    )

    def ad(n):
        return page("the news of today", f'<a href="http://ads{n}.example/{n}">{texts[n]}</a>', "the weather")

    reported = [watch.poll(ad(n), second=ad(11 - n)) for n in range(8)]
    links = [root.poll(page(f'<a href="/n{n}">more</a>'), second=page(f'<a href="/m{n}">more</a>')) for n in range(8)]

    assert [True] * 2 == ["quiet" in line for line in reported[-2:]]
    assert not any("quiet" in line for line in links)


def test_newspaper_is_never_masked():
    """It has new headlines at every poll for sixty hours, none within a minute."""
    watch = Watch()
    reported = [watch.poll(page(f"headline of hour {n} by x{n}y", "weather")) for n in range(60)]

    assert all(reported[1:])
    assert not any("quiet" in line for line in reported)
    assert 0 < watch.seconds <= 2 + 60 // 50 + 1


@pytest.mark.parametrize(
    "expression",
    [
        Interest("keywords", ("views",)),
        Interest("any", selector=Selector("css", ".n")),
        Interest("number", selector=Selector("css", ".n")),
    ],
)
def test_requested_text_is_not_masked(expression):
    """A keyword, a selector and a number are reported as they are, without a second poll."""
    watch = Watch(expression)
    watch.poll(page("<span class=n>5 views</span>"))

    assert "quiet" not in watch.poll(page("<span class=n>6 views</span> 7 views"))
    assert watch.seen.found
    assert 0 == watch.seconds


def test_strict_words_beside_noise_have_no_symbols():
    """`words strictly` ignores symbols, also if a time beside them is masked."""
    watch = Watch(Interest("words", form="strict"))
    watch.poll(page("3 hours ago", "one - two", "boots"))

    assert "quiet: 3>4" == watch.poll(page("4 hours ago", "one + two", "boots"))
    assert "boots>shoes" == watch.poll(page("5 hours ago", "one - two", "shoes"))


def test_masks_stay_on_the_rest_of_the_page():
    """`any change AND NOT any change in css ".clock"` still masks the rest, and so does NOT with a
    keyword.
    """
    without_part = Watch(AllOf((ANY, Not(Interest("any", selector=Selector("css", ".clock"))))))
    without_word = Watch(AllOf((WORDS, Not(Interest("keywords", ("red",))))))
    for watch in (without_part, without_word):
        watch.poll(page("<b class=clock>x</b>", "3 hours ago"))

    assert "quiet: 3>4" == without_part.poll(page("<b class=clock>y</b>", "4 hours ago"))
    assert "x>y" == without_word.poll(page("<b class=clock>y</b> red", "4 hours ago"))


def test_mask_that_is_off_masks_nothing():
    """It is switched off by its class, or with all classes."""
    for switched_off in ({"time"}, {VALUES}):
        watch = Watch(switched_off=frozenset(switched_off))
        watch.poll(page("3 hours ago"))

        assert "3>4" == watch.poll(page("4 hours ago"))


def test_estimators_use_the_masked_text():
    """Whether the text changed is decided without noise."""
    watch = Watch()
    watch.poll(page("3 hours ago", "boots"))
    watch.poll(page("4 hours ago", "boots"))
    quiet = watch.seen.text_changed
    watch.poll(page("5 hours ago", "shoes"))

    assert (False, True) == (quiet, watch.seen.text_changed)


def test_other_picture_is_a_change():
    """It has no words that could be noise, so it changed for estimators too."""
    watch = Watch()
    for picture in ("first", "second"):
        watch.poll(f"{PNG}{picture}", content_type="image/png")

    assert watch.seen.text_changed


def test_sessions_in_links_are_learned():
    """`all links` compares queries; a key that differs within a minute is noise, a new link is not."""
    watch = Watch(LINKS)

    def links(n, *more):
        return page("".join(f'<a href="/{name}?sid=s{n * 7919 % 977}k&id=3">{name}</a>' for name in ("a", "b", *more)))

    reported = [watch.poll(links(n), second=links(n + 500)) for n in range(10)]

    assert [True] * 4 == [line.startswith("quiet") or not line for line in reported[-4:]]
    last = watch.poll(links(77, "new"))
    assert "/new?" in last
    assert "/a?" not in last


def test_each_masked_address_names_its_mask():
    """If two query keys are noise, each has its own: switching one off reports its addresses."""
    watch = Watch(LINKS)

    def links(n):
        return page(f'<a href="/a?sid=s{n * 7919 % 977}k">a</a><a href="/b?cb=c{n * 31 % 977}d">b</a>')

    for n in range(10):
        watch.poll(links(n), second=links(n + 500))
    ids = {thing.name: thing.id for thing in watch.memory.masks}
    masked = {(row.old or row.new).partition("=")[0][-3:]: row.mask for row in watch.seen.found[0].change.masked}

    assert {"sid": ids["sid"], "?cb": ids["cb"]} == masked


def test_other_order_of_the_same_words_is_noise():
    """A list in random order is learned; a new item is reported."""
    orders = list(itertools.permutations(["red boots", "wool hat", "rain coat", "silk tie"]))
    watch = Watch()
    reported = [watch.poll(page(*orders[n * 5 % 24]), second=page(*orders[n * 7 % 24])) for n in range(16)]

    assert sum(line.startswith("quiet") for line in reported[-5:]) >= 3
    assert "straw bag" in watch.poll(page("straw bag", *orders[3]))
    last = watch.poll(page("red boots", "linen tie", "rain coat", "silk tie"))
    assert "linen" in last
    assert "quiet" not in last


def shop(n, *, news="x"):
    """Return a page with six random places: in prose, a list, a table and five similar paragraphs;
    n is the seed.
    """
    t = [f"k{(n * 7919 + place * 31) % 99991}z" for place in range(20)]
    items = "".join(
        f"<li>the {name} thing of the shop, key {t[at]} today</li>" for at, name in enumerate(("red", "old", "new"))
    )
    rows = "".join(
        f"<tr><td>part {name}</td><td>{t[at + 3]}</td></tr>" for at, name in enumerate(("oak", "elm", "ash"))
    )
    prose = "".join(
        f"<p>amber hazel ocean vivid cedar jolly quilt {t[at + 6]} ember lemon solar zebra</p>" for at in range(5)
    )
    last = f"<p>{news} is the news of the town</p>"
    return f"{HEAD}<main><ul>{items}<li>{news} is news</li></ul><table><tr><th>Name</th><th>Key</th></tr>{rows}<tr><td>news</td><td>{news}</td></tr></table>{prose}{last}</main>{TAIL}"


@pytest.mark.parametrize(
    "expression",
    [
        ANY,
        WORDS,
        Interest("any", selector=Selector("css", "main")),
        Interest("list"),
        Interest("table"),
        Interest("items"),
    ],
)
def test_many_noisy_places_are_learned_everywhere(expression):
    """They are in the page, a part of it, a list, a table and entries: masked after the first few
    polls, and news among them is reported.
    """
    watch = Watch(expression)
    reported = [watch.poll(shop(n), second=shop(n + 500)) for n in range(10)]
    news = watch.poll(shop(77, news="bridge"))

    assert [True] * 4 == ["quiet" in line for line in reported[-4:]]
    assert "bridge" in news
    assert len(re.findall(r"k\d+z>", news)) <= 1  # that whose neighbour is the news


@pytest.mark.parametrize("media", ["application/json", "text/html"])
def test_blocks_that_share_words_by_chance_are_one_place(media):
    """They are advertisements with common words, and tokens of data beside each other."""

    def body(n):
        words = [
            ("Cheap boots for families", "New sofas for you", "Old lamps for students", "Fine beds for gardeners")[
                n % 4
            ],
            5 + n * 37 % 90,
        ]
        if media == "text/html":
            return page(f"{words[0]} now from ${words[1]}", "the news of today")
        tokens = {name: {"name": name, "token": f"k{n * (7919 + place) % 977}z"} for place, name in enumerate("abc")}
        return json.dumps({**tokens, "news": 7})

    watch = Watch()
    reported = [watch.poll(body(n), second=body(3 * n + 1), content_type=media) for n in range(12)]

    assert [True] * 4 == ["quiet" in line for line in reported[-4:]]


def test_price_beside_a_counter_is_never_masked():
    """`30 EUR - 12 watching`: only the count is masked."""
    watch = Watch()
    reported = [
        watch.poll(page(f"30 EUR - {n * 7919 % 977} seers"), second=page(f"30 EUR - {n * 31 % 977} seers"))
        for n in range(10)
    ]

    assert [True] * 3 == ["quiet" in line for line in reported[-3:]]
    assert "30>31" == watch.poll(page("31 EUR - 555 seers"))


def test_interest_with_a_condition_is_not_masked():
    """An interest with `where` is compared as it is, on every noisy page."""
    plain, named = Watch(), Watch(Interest("any", where=(Condition("contains", text="x"),)))
    for watch, is_quiet in ((plain, True), (named, False)):
        reported = [watch.poll(page(f"k{n * 7919 % 977}x"), second=page(f"k{n * 31 % 977}x")) for n in range(8)]

        assert is_quiet == ("quiet" in reported[-1])
