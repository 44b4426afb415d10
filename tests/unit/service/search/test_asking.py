"""What is found is what its reader may see, in order, with what is shown of it."""

import asyncio

import pytest

from tidings.clock import DAY, HOUR, SECOND
from tidings.errors import UsageError
from tidings.search.query import parse
from tidings.service.search.asking import SearchRequest, ask, behind, counts_of, record
from tidings.service.sentinels import register
from tidings.service.sentinels.author import INSTALLATION, Author
from tidings.storage.people import accounts
from tidings.storage.search import find
from tidings.storage.search.find import FoundText
from tidings.storage.search.index import IndexEntry, SearchIndex
from tidings.storage.watches import sentinels, subscriptions
from tidings.storage.write.store import Store

NOW = 1_700_000_000 * SECOND
DAYS = 40


class House:
    """Pages `a` and `b` of two sentinels, `c` of an account, and an index of their texts."""

    def __init__(self, world, folder):
        self.world = world
        self.index = SearchIndex(folder)
        self.index.begin("one")
        self.anna = Author(world.write(accounts.add, "anna", "editor", "x", at=NOW).id, sees_all=False)
        self.pages = {}
        for name, author, tags in (("a", INSTALLATION, "Tags t"), ("b", INSTALLATION, ""), ("c", self.anna, "")):
            text = f"Create Sentinel {name} Using https://{name}.example/ Monitor any change {tags}"
            world.write(register.carry_out, text, world.settings, NOW, "", author)
            row = world.read(sentinels.find, name)
            (sub,) = world.read(subscriptions.listing, sentinel_id=row.id)
            self.pages[name] = sub.page_id

    def put(self, name, seq, text, *, at=NOW, kind="html", title=""):
        entry = IndexEntry(
            page_id=self.pages[name], seq=seq, at=at, kind=kind, host=f"{name}.example", title=title, text=text,
            address=f"https://{name}.example/",
        )  # fmt: skip
        cursor = int(self.index.read_note("cursor") or 0)
        assert self.index.put([entry], cursor=cursor, moved_to=cursor + 1)

    def ask(self, text, *, now=NOW, **more):
        async def play():
            store = Store(self.world.reopen())
            try:
                return await ask(store, self.index, SearchRequest(text=text, **more), now=now)
            finally:
                await store.close()

        return asyncio.run(play())

    def found(self, text, **more):
        """Return the names of the pages that are found."""
        names = {page_id: name for name, page_id in self.pages.items()}
        return [names[result.page.id] for result in self.ask(text, **more).results]


@pytest.fixture
def house(world, tmp_path):
    made = House(world, tmp_path)
    made.put("a", 1, "the sea and the sun")
    made.put("b", 1, "the sea, the sea", kind="feed")
    made.put("c", 1, "the sea")
    yield made
    made.index.close()


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        ("sea", {}, "abc"),
        ("sun", {}, "a"),
        ("rain", {}, ""),
        ("sea", {"viewer": 99, "reader": 99}, "ab"),
        ("sea", {"sentinel": "b"}, "b"),
        ("sea", {"tag": "t"}, "a"),
        ("sea", {"kind": "feed"}, "b"),
        ("sea", {"site": "a.example"}, "a"),
        ("sea site:b.example", {}, "b"),
        ("sea site:b.example", {"site": "a.example"}, "a"),
        ("sea kind:feed", {}, "b"),
    ],
)
def test_filters_and_rights_leave_pages_out(house, text, more, expected):
    """A field goes before the same filter in the words; invisible pages are not counted either."""
    answer = house.ask(text, **more)

    assert sorted(expected) == sorted(house.found(text, **more))
    assert len(expected) == answer.count == sum(number for _, number in answer.sites) == sum(n for _, n in answer.kinds)


def test_account_sees_its_own(house):
    """And those of everybody."""
    own = house.anna.owner_id

    assert ["a", "b", "c"] == sorted(house.found("sea", viewer=own, reader=own))


@pytest.mark.parametrize("text", ["", "  ", "site:a.example", '""'])
def test_query_without_words_is_refused(house, text):
    """So is an unknown kind."""
    with pytest.raises(UsageError):
        house.ask(text)
    with pytest.raises(UsageError):
        house.ask("sea", kind="poem")


def test_results_are_shown_in_parts(house):
    """Their ranks count on, the total stays."""
    whole = house.ask("sea").results
    second = house.ask("sea", limit=2, offset=1)

    assert ([1, 2, 3], [2, 3], 3) == ([r.rank for r in whole], [r.rank for r in second.results], second.count)
    assert [r.page for r in whole[1:]] == [r.page for r in second.results]
    assert [] == house.ask("sea", offset=3).results


def test_times_count_texts_that_came_later(house):
    """The first text of a page is no news."""
    assert {0} == {number for _, number in house.ask("sea").times}
    for days, name in ((0.5, "a"), (5, "b"), (DAYS, "c")):
        house.put(name, 2, f"the sea again {days}", at=NOW + DAYS * DAY - round(days * DAY))
    answer = house.ask("sea", now=NOW + DAYS * DAY)

    assert [("today", 1), ("7 days", 2), ("30 days", 2), ("365 days", 3)] == answer.times


def test_past_day_has_the_texts_of_that_day(house):
    """Former and present ones are on one scale."""
    house.put("a", 2, "the sky", at=NOW + DAY)

    assert ["b", "c"] == sorted(house.found("sea"))
    assert ["a", "b", "c"] == sorted(house.found("sea", at=NOW + HOUR))
    scores = [result.hit.score for result in house.ask("sea", at=NOW + HOUR).results]
    assert sorted(scores, reverse=True) == scores
    assert ["b"] == house.found("sea", at=NOW + HOUR)[:1], "it says it twice"


def test_record_marks_what_was_sought(house):
    """It has no score, and the ranges fit the text."""
    house.put("b", 2, "rain falls into the sea", title="Weather", at=NOW + HOUR)
    (result,) = [r for r in house.ask("sea").results if r.hit.seq == 2]
    found = record(result)

    assert "score" not in found
    assert (f"{house.pages['b']}.2", "Weather", ["b"], None) == (
        found["version"],
        found["title"],
        found["sentinels"],
        found["until"],
    )
    assert ["sea"] == [found["snippet"][start:end] for start, end in found["marks"]]


def test_page_without_a_title_is_shown_by_its_address(house):
    """One that has a title is shown by that."""
    house.put("b", 2, "the sea", title="Weather", at=NOW + HOUR)
    shown = {result.page.id: "".join(piece for piece, _ in result.title) for result in house.ask("sea").results}

    assert "Weather" == shown[house.pages["b"]]
    assert "https://a.example/" == shown[house.pages["a"]]


def test_words_of_title_and_address_have_their_weights():
    """Each as often as it stands there."""
    text = FoundText("Sea", "https://x.example/sky", "the sea, the sea, the sky", 6, None)
    sea, sky, sun = (counts_of(text, parse(word).phrases)[word] for word in ("sea", "sky", "sun"))

    assert (2 + find.TITLE, 1 + find.ADDRESS, 0) == (sea, sky, sun)


def test_versions_that_are_not_indexed_yet_are_counted(house):
    """From the position of the index on."""
    house.world.commit(house.world.make_stored(b"one", house.pages["a"]))

    async def play():
        store = Store(house.world.reopen())
        try:
            return await behind(store, house.index)
        finally:
            await store.close()

    house.index.begin("one")
    assert 1 == asyncio.run(play())
