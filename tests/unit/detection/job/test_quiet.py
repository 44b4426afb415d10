"""Noise through whole jobs: checks in a row, what is told of each, and what is quiet (detection §4, §6)."""

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
    """A page that is looked at once an hour, with a second look a minute later wherever one is asked for."""

    expression: Any = ANY
    kept: frozenset = frozenset()
    memory: Memory = field(default_factory=Memory)
    seconds: int = 0
    seen: Any = None
    _stored: dict = field(default_factory=dict)
    _base: int = 0
    _at: int = NINE

    def look(self, html, *, second=None, content_type="text/html"):
        """Return what an hour later is told of a page that shows `html`, "" for nothing, or `quiet: …`; a minute after it shows `second`."""
        self.seen = self._look(html, HOUR, content_type=content_type)
        self._base = max(self._stored)
        if self.seen.second_look:
            self.seconds += 1
            self.second(html if second is None else second)
        return say(self.seen)

    def second(self, html):
        """Look a minute later, for nobody."""
        self._look(html, MINUTE, is_second=True)

    def _look(self, html, after, *, is_second=False, content_type="text/html"):
        self._at += after
        newest = max(self._stored, default=0)
        kept = {seq: self._stored[seq] for seq in {newest, self._base} - {0}}
        new = Body(data=html.encode("latin-1"), content_type=content_type, url="http://x.org/")
        noise = Noise(
            memory=self.memory,
            kept=self.kept,
            at=self._at,
            times={seq: at for seq, (_, _, at) in kept.items()},
            learns=True,
            polls=newest + 1,
            is_second=is_second,
            asked=((self.expression, WHOLE),),
        )
        seen = examine(
            Job(
                new=new,
                references={seq: body for seq, (body, _, _) in kept.items()},
                known={seq: digest for seq, (_, digest, _) in kept.items()},
                wanted=(Wanted(key=1, reference=self._base, expression=self.expression),)
                if kept and not is_second
                else (),
                text_digest=kept[newest][1].text if newest else "",
                noise=noise,
            )
        )
        self._stored = kept | {newest + 1: (new, seen.digest, self._at)}
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


def test_a_relative_time_is_quiet_and_what_stands_beside_it_is_told():
    """What is masked is kept beside what is told."""
    watch = Watch()
    watch.look(page("Posted 3 hours ago", "boots"))

    assert "quiet: 3>4" == watch.look(page("Posted 4 hours ago", "boots"))
    assert "boots>shoes" == watch.look(page("Posted yesterday", "shoes"))
    assert [("4 hours ago", "yesterday", "time")] == [(m.old, m.new, m.mask) for m in watch.seen.found[0].change.masked]


def test_ignored_text_never_triggers_and_the_price_beside_it_is_told():
    """changedetection.io 425: `Views: 5|Price 3`; only the price of the same line is told."""
    watch = Watch()
    watch.look(page("Views: 5|Price 3"))

    assert "quiet: 5>6" == watch.look(page("Views: 6|Price 3"))
    assert "3>4" == watch.look(page("Views: 1,407|Price 4"))


def test_a_clock_is_noise_while_it_goes_as_the_looks_do():
    """What an hour later says an hour more is the clock of the page; an appointment that was moved is not."""
    watch = Watch()
    watch.look(page("at 10:00"))

    assert "quiet: 10:00>11:00" == watch.look(page("at 11:00"))
    assert "11:00>17:45" == watch.look(page("at 17:45"))


def test_a_learned_part_of_a_line_hides_no_price_beside_it():
    """changedetection.io 3127: the line is not ignored because a part of it is noise."""
    watch = Watch()
    told = [
        watch.look(page(f"v {n * 7919 % 977} x price 10"), second=page(f"v {n * 31 % 101} y price 10"))
        for n in range(12)
    ]

    assert ["quiet" in line for line in told][-3:] == [True] * 3
    assert "10>12" == watch.look(page("v 555 x price 12"))


def test_a_sale_twice_is_two_events():
    """changedetection.io 855: text that was seen once alerts again."""
    watch = Watch()

    assert ["", "+SALE", "-SALE", "+SALE", "-SALE", "+SALE"] == [
        watch.look(page(*text)) for text in ([], ["SALE"], [], ["SALE"], [], ["SALE"])
    ]


def test_a_block_that_rotates_is_quiet_after_two_returns():
    """Urlwatch 22: A, B, A on alternate fetches; a third content is told."""
    one, two = page("try it for nothing"), page("buy one, get another")
    watch = Watch()
    told = [watch.look(html, second=other) for html, other in [(one, two), (two, one)] * 4]

    assert [line.startswith("quiet") for line in told[-3:]] == [True] * 3
    assert "quiet" not in watch.look(page("we are closing down"))


def test_links_that_rotate_are_quiet_and_a_new_one_among_them_is_told():
    """Two teasers of one directory in turn; the third was never shown."""

    def teaser(number):
        return page("news", f'<a href="/tease/{number}.html">more</a>')

    watch = Watch()
    told = [watch.look(teaser(n), second=teaser(3 - n)) for n in (1, 2) * 5]

    assert [line.startswith("quiet") for line in told[-3:]] == [True] * 3
    assert "+http://x.org/tease/77.html -http://x.org/tease/2.html" == watch.look(teaser(77))


def test_what_is_new_at_a_second_look_is_told_at_the_next():
    """What rotates shows something new while nobody is told; it is told beside another change, an hour later."""
    between = "some words stand still between the two of them"
    one, two = page("try it for nothing", between, "boots"), page("buy one, get another", between, "boots")
    watch = Watch()
    for html, other in [(one, two), (two, one)] * 4:
        watch.look(html, second=other)
    watch.second(page("we are closing down", between, "boots"))

    assert "closing down" in watch.look(page("we are closing down", between, "shoes"))


def test_an_advertisement_is_learned_and_an_article_beside_it_is_told():
    """New at each look and within a minute: noise after five. What comes beside it, with its links, is not."""
    texts = (
        "cheap red boots;win a car today;learn to sing in a week;the best soap of all;new roofs by Miller;fly to the moon;hats;a warm coat;"
        "tea from Assam;your own bakery;two for one;dance until dawn;the last tickets;oak tables"
    )
    ads = [f'<a href="http://ads.example/{n}">{text}</a>' for n, text in enumerate(texts.split(";"))]
    watch = Watch(ANY)
    told = [watch.look(page(ads[n], "the news"), second=page(ads[13 - n], "the news")) for n in range(10)]

    assert ["quiet" in line for line in told[-4:]] == [True] * 4
    assert {"words"} <= {thing.sort for thing in watch.memory.masks}
    last = watch.look(
        page(ads[4], "the news", "<a href=/b>The bridge has fallen into the river and nobody knows how</a>")
    )
    assert "bridge" in last
    assert "ads.example" not in last
    assert not last.startswith("quiet")


def test_links_within_an_advertisement_are_noise_wherever_they_lead():
    """Each to a host of its own, which nobody could learn; a link on the page's own root is never noise."""
    watch, root = Watch(), Watch()
    texts = "red boots;win a car;learn to sing;best soap;new roofs;fly to Rome;hats;a coat;Assam tea;a bakery;two for one;dance".split(
        ";"
    )

    def ad(n):
        return page("the news of today", f'<a href="http://ads{n}.example/{n}">{texts[n]}</a>', "the weather")

    told = [watch.look(ad(n), second=ad(11 - n)) for n in range(8)]
    links = [root.look(page(f'<a href="/n{n}">more</a>'), second=page(f'<a href="/m{n}">more</a>')) for n in range(8)]

    assert ["quiet" in line for line in told[-2:]] == [True] * 2
    assert not any("quiet" in line for line in links)


def test_a_newspaper_is_never_silenced():
    """New headlines at every look for sixty hours, none of them within a minute."""
    watch = Watch()
    told = [watch.look(page(f"headline of hour {n} by x{n}y", "weather")) for n in range(60)]

    assert all(told[1:])
    assert not any("quiet" in line for line in told)
    assert 0 < watch.seconds <= 2 + 60 // 50 + 1


@pytest.mark.parametrize(
    "expression",
    [
        Interest("keywords", ("views",)),
        Interest("any", selector=Selector("css", ".n")),
        Interest("number", selector=Selector("css", ".n")),
    ],
)
def test_what_somebody_names_is_not_masked(expression):
    """A keyword, a selector, a number: told as it stands, and no second look is made for it."""
    watch = Watch(expression)
    watch.look(page("<span class=n>5 views</span>"))

    assert "quiet" not in watch.look(page("<span class=n>6 views</span> 7 views"))
    assert watch.seen.found
    assert 0 == watch.seconds


def test_what_is_no_word_in_the_thesis_way_is_none_beside_noise():
    """`words strictly` hears no symbols; it hears none where a time beside them is left out either."""
    watch = Watch(Interest("words", form="strict"))
    watch.look(page("3 hours ago", "one - two", "boots"))

    assert "quiet: 3>4" == watch.look(page("4 hours ago", "one + two", "boots"))
    assert "boots>shoes" == watch.look(page("5 hours ago", "one - two", "shoes"))


def test_what_is_taken_out_of_the_page_leaves_its_masks():
    """`any change AND NOT any change in css ".clock"` still looks at the rest through masks, and so does NOT with a keyword."""
    without_part = Watch(AllOf((ANY, Not(Interest("any", selector=Selector("css", ".clock"))))))
    without_word = Watch(AllOf((WORDS, Not(Interest("keywords", ("red",))))))
    for watch in (without_part, without_word):
        watch.look(page("<b class=clock>x</b>", "3 hours ago"))

    assert "quiet: 3>4" == without_part.look(page("<b class=clock>y</b>", "4 hours ago"))
    assert "x>y" == without_word.look(page("<b class=clock>y</b> red", "4 hours ago"))


def test_a_mask_that_was_switched_off_masks_nothing():
    """By the name of its class, or of all classes."""
    for kept in ({"time"}, {VALUES}):
        watch = Watch(kept=frozenset(kept))
        watch.look(page("3 hours ago"))

        assert "3>4" == watch.look(page("4 hours ago"))


def test_the_masked_text_is_what_estimators_hear_of():
    """Whether the text changed is said of the text without what is noise."""
    watch = Watch()
    watch.look(page("3 hours ago", "boots"))
    watch.look(page("4 hours ago", "boots"))
    quiet = watch.seen.text_changed
    watch.look(page("5 hours ago", "shoes"))

    assert (False, True) == (quiet, watch.seen.text_changed)


def test_a_picture_that_became_another_has_changed():
    """A body without text has no words that could be noise: that it is another one is a change, for estimators too."""
    watch = Watch()
    for picture in ("first", "second"):
        watch.look(f"{PNG}{picture}", content_type="image/png")

    assert watch.seen.text_changed


def test_sessions_in_watched_links_are_learned():
    """`all links` compares addresses with their queries; a key that differs in a minute is noise, a new link is not."""
    watch = Watch(LINKS)

    def links(n, *more):
        return page("".join(f'<a href="/{name}?sid=s{n * 7919 % 977}k&id=3">{name}</a>' for name in ("a", "b", *more)))

    told = [watch.look(links(n), second=links(n + 500)) for n in range(10)]

    assert [line.startswith("quiet") or not line for line in told[-4:]] == [True] * 4
    last = watch.look(links(77, "new"))
    assert "/new?" in last
    assert "/a?" not in last


def test_each_address_names_the_mask_that_leaves_it_out():
    """Of two query keys that are noise each has its own, so that switching one off tells what it left out."""
    watch = Watch(LINKS)

    def links(n):
        return page(f'<a href="/a?sid=s{n * 7919 % 977}k">a</a><a href="/b?cb=c{n * 31 % 977}d">b</a>')

    for n in range(10):
        watch.look(links(n), second=links(n + 500))
    ids = {thing.name: thing.id for thing in watch.memory.masks}
    masked = {(row.old or row.new).partition("=")[0][-3:]: row.mask for row in watch.seen.found[0].change.masked}

    assert {"sid": ids["sid"], "?cb": ids["cb"]} == masked


def test_another_order_is_noise_only_while_the_words_are_the_same():
    """A list that is drawn anew at each look is learned; an item that comes into it is told."""
    orders = list(itertools.permutations(["red boots", "wool hat", "rain coat", "silk tie"]))
    watch = Watch()
    told = [watch.look(page(*orders[n * 5 % 24]), second=page(*orders[n * 7 % 24])) for n in range(16)]

    assert sum(line.startswith("quiet") for line in told[-5:]) >= 3
    assert "straw bag" in watch.look(page("straw bag", *orders[3]))
    last = watch.look(page("red boots", "linen tie", "rain coat", "silk tie"))
    assert "linen" in last
    assert "quiet" not in last


def shop(n, *, news="x"):
    """A page of which six places in prose, a list, a table and five paragraphs alike are drawn anew by n."""
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
def test_any_number_of_noisy_places_is_learned_wherever_prose_is_compared(expression):
    """Of the page, a part of it, a list, a table, entries: quiet after the first few polls, and news in the midst of it is told."""
    watch = Watch(expression)
    told = [watch.look(shop(n), second=shop(n + 500)) for n in range(10)]
    news = watch.look(shop(77, news="bridge"))

    assert ["quiet" in line for line in told[-4:]] == [True] * 4
    assert "bridge" in news
    assert len(re.findall(r"k\d+z>", news)) <= 1  # that whose neighbour is the news


@pytest.mark.parametrize("media", ["application/json", "text/html"])
def test_blocks_that_share_words_are_one_place(media):
    """Advertisements whose words agree by chance, and tokens of data beside one another."""

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
    told = [watch.look(body(n), second=body(3 * n + 1), content_type=media) for n in range(12)]

    assert ["quiet" in line for line in told[-4:]] == [True] * 4


def test_a_price_beside_a_counter_is_never_covered():
    """`30 EUR - 12 watching`: the mask covers the count alone."""
    watch = Watch()
    told = [
        watch.look(page(f"30 EUR - {n * 7919 % 977} seers"), second=page(f"30 EUR - {n * 31 % 977} seers"))
        for n in range(10)
    ]

    assert ["quiet" in line for line in told[-3:]] == [True] * 3
    assert "30>31" == watch.look(page("31 EUR - 555 seers"))


def test_a_condition_is_taken_at_its_word():
    """What has a `where` is compared as it stands, however noisy the page is."""
    plain, named = Watch(), Watch(Interest("any", where=(Condition("contains", text="x"),)))
    for watch, is_quiet in ((plain, True), (named, False)):
        told = [watch.look(page(f"k{n * 7919 % 977}x"), second=page(f"k{n * 31 % 977}x")) for n in range(8)]

        assert is_quiet == ("quiet" in told[-1])
