"""Texts of a change and their place, as people read them."""

import pytest

from tidings.document.text.placed import (
    LinkPair,
    join_updates,
    pair_links,
    place_text,
    place_update,
    say_once,
    say_path,
)
from tidings.model.observed.change import EditContext


def context(**parts):
    return EditContext("updated", 0, **parts)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (context(heading="Price", label="Price", before="Price: "), context(label="Price", before="Price: ")),
        (context(heading="Price", before="Price: "), context(before="Price: ")),
        (context(heading="Status:", label="Queue :"), context(heading="Status", label="Queue")),
        (context(heading="やかん", label="価格："), context(heading="やかん", label="価格")),
        (context(label="Now", above="now"), context(label="Now")),
        (context(heading="Fees", label="Adults", before="Adults "), context(heading="Fees", label="Adults", before="Adults ")),
        (context(), context()),
    ],
)  # fmt: skip
def test_no_place_is_said_twice(given, expected):
    """Nor does a heading or label end with a colon, since one is written after it."""
    assert expected == say_once(given)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("service[name=search].state", "service › search › state"),
        ("jobs[id=8].title", "jobs › id 8 › title"),
        ("open[2]", "open › number 3"),
        ("[name=search].state", "search › state"),
        ("data.stock.count", "data.stock.count"),
        ("see [1] below", "see [1] below"),
        ("Price", "Price"),
    ],
)
def test_path_with_brackets_is_words(path, expected):
    """Any other label stays as it is."""
    assert expected == say_path(path)


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("Cats too", context(after="."), ("Cats too.", context())),
        ("Cats too", context(after=" and dogs."), ("Cats too", context(after=" and dogs."))),
        ('jobs[id=8]: {"id": 8, "title": "Driver", "open": true, "pay": 1.50}', context(), ("id: 8, title: Driver, open: true, pay: 1.50", context(label="jobs"))),
        ('jobs[id=8]: {"id": 8, "tags": ["a"]}', context(), ('{"id": 8, "tags": ["a"]}', context(label="jobs"))),
        ("open[2]: c", context(), ("c", context(label="open"))),
        ('[id=8]: {"id": 8', context(), ('{"id": 8', context())),
        ("see [1]: this", context(), ("see [1]: this", context())),
        ("Pot | 7", context(label="Name | Price"), ("Name: Pot, Price: 7", context())),
        ("Pot | 7 | 8", context(label="Name | Price"), ("Pot | 7 | 8", context(label="Name | Price"))),
    ],
)  # fmt: skip
def test_new_text_is_whole(text, given, expected):
    """The end of its sentence belongs to it; an element of data or a row has the names of its
    values.
    """
    assert expected == place_text(text, given)


def test_updates_of_one_sentence_are_one():
    """A reader sees the sentence once, with all its changes."""
    first = place_update("small", "large", context(before="We are a ", after=" shop in York. Come in."))
    second = place_update("Leeds", "York", context(before="We are a large shop in ", after="."))
    third = place_update("5", "6", context(before="It costs ", after=" euro."))
    joined = list(join_updates([first, second, third]))

    assert [("small shop in Leeds", "large shop in York"), ("5", "6")] == [(one.old, one.new) for one in joined]
    assert (("small", "large", " shop in "), ("Leeds", "York", "")) == joined[0].between
    assert ("We are a ", ".") == (joined[0].context.before, joined[0].context.after)


def test_updates_of_two_places_stay_two():
    """The same words below another heading are another sentence."""
    first = place_update("small", "large", context(heading="A", before="We are a ", after=" shop in York."))
    second = place_update("Leeds", "York", context(heading="B", before="We are a large shop in ", after="."))

    assert [first, second] == list(join_updates([first, second]))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"/a": "form", "/b": "map"}, {"/c": "map", "/d": "form"}, [("/a", "/d", "form", "form"), ("/b", "/c", "map", "map")]),
        ({"/a": "more", "/b": "more"}, {"/c": "more"}, []),
        ({"/a": "form 2025"}, {"/b": "form 2026"}, [("/a", "/b", "form 2025", "form 2026")]),
        ({"/a": ""}, {"/b": "form"}, []),
        ({}, {"/b": "form"}, []),
    ],
)  # fmt: skip
def test_link_with_another_address_is_a_pair(old, new, expected):
    """Its text names it, if only one link has this text."""
    assert [LinkPair(*pair) for pair in expected] == pair_links(old, new)


def test_pages_of_a_sitemap_are_said_in_words():
    """A new page is its address, a field of a page its name."""
    new = "urlset/url[loc=https://x.example/new]: https://x.example/new 2026-02-01"
    text, context = place_text(new, EditContext("inserted", 0))

    assert ("https://x.example/new (2026-02-01)", "page of the sitemap") == (text, context.label)
    assert "https://x.example/b › last change" == say_path("urlset/url[loc=https://x.example/b]/lastmod")
    assert "https://x.example/b" == say_path("sitemapindex/sitemap[loc=https://x.example/b]")
