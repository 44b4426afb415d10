"""Addresses without end are known by their form and by what they turned out to be."""

from __future__ import annotations

import random

import pytest

from tidings.search.sites import (
    ENOUGH,
    NEAR,
    FormRecord,
    address_of,
    belongs,
    form_of,
    is_page,
    likeness,
    shares,
    sketch_of,
    terms_of_link,
    trap_of,
    worth_refresh,
    worth_unseen,
)


def test_addresses_of_one_template_have_one_form():
    """Numbers and codes are left open, names of parameters count."""
    forms = {form_of(f"https://a.example/2026/{month:02}?day={month}&view=list") for month in range(1, 13)}

    assert {"a.example/#/#?day&view"} == forms
    assert form_of("https://a.example/guide/intro") != form_of("https://a.example/guide/outro")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/a/b/a/b/a/b/a/b", "its path repeats itself"),
        (f"https://a.example/{'/'.join(map(str, range(20)))}", "its path does not end"),
        ("https://a.example/?a=1&b=2&c=3&d=4&e=5&f=6", "too many parameters"),
        ("https://a.example/docs/a/api/a", ""),
    ],
)
def test_some_traps_are_seen_from_outside(url: str, expected: str):
    """Paths that repeat or do not end, and many parameters."""
    assert expected == trap_of(url)


def test_likeness_is_about_that_of_the_shingles():
    """Of texts that share half of their shingles it is about a third; of equal texts it is 1."""
    draw = random.Random(7)
    words = ["".join(draw.choices("abcdefghij", k=6)) for _ in range(600)]
    one, other = " ".join(words[:400]), " ".join(words[200:600])

    assert 1.0 == likeness(sketch_of(one), sketch_of(one))
    assert 0.15 < likeness(sketch_of(one), sketch_of(other)) < 0.55
    assert likeness(sketch_of(one), sketch_of(" ".join(words[400:]))) < 0.1


def test_months_of_a_calendar_say_the_same():
    """Numbers are no part of a sketch."""
    months = [
        f"Events of month {month}: " + " ".join(f"{day} nothing planned" for day in range(31)) for month in (1, 2)
    ]

    assert likeness(sketch_of(months[0]), sketch_of(months[1])) >= NEAR


def test_a_form_whose_pages_say_the_same_is_a_trap():
    """Once enough of them were read; one whose pages differ is none."""
    same, different = FormRecord(), FormRecord()
    draw = random.Random(3)
    for number in range(ENOUGH + 4):
        same.note(f"https://a.example/{number}", sketch_of("one and the same text of a page"))
        text = " ".join("".join(draw.choices("abcdefgh", k=7)) for _ in range(50))
        assert "" == different.note(f"https://b.example/{number}", sketch_of(text))

    assert same.is_trap
    assert not different.is_trap
    assert 1 == same.new
    assert different.share_new > 0.8


def test_words_that_are_searched_for_make_a_page_worth_more():
    """By the share that they have of all searches; depth and a bad form make it worth less."""
    sought = shares({"price": 3.0, "oil": 1.0})

    def worth(anchor: str, **more: object) -> float:
        given: dict[str, object] = {"depth": 1, "is_news": False, **more}
        terms = terms_of_link(anchor, "https://a.example/p")
        return worth_unseen(float(given.pop("share_new", 0.8)), terms=terms, sought=sought, **given)  # type: ignore[arg-type]

    assert worth("the oil price") > worth("the price") > worth("oil") > worth("contact")
    assert worth("contact") > worth("contact", depth=2)
    assert worth("contact", is_news=True) == pytest.approx(2 * worth("contact"))
    assert worth("contact", share_new=0.4) == pytest.approx(worth("contact") / 2)
    assert ("oil", "prices", "2026") == terms_of_link("", "https://a.example/oil-prices/2026")


def test_a_refresh_is_worth_its_chance_of_a_change_and_what_it_names():
    """Less for each link from the first pages; and so many new pages."""
    assert 0.4 == pytest.approx(worth_refresh(0.4, depth=0, importance=1.0, yields=0.0))
    assert 0.4 * 0.85**2 / 2 == pytest.approx(worth_refresh(0.4, depth=2, importance=0.5, yields=0.0))
    assert 2.1 == pytest.approx(worth_refresh(0.1, depth=0, importance=1.0, yields=2.0))
    assert {} == shares({})


OWN = ("https://docs.example",)


@pytest.mark.parametrize(
    ("url", "patterns", "expected"),
    [
        ("https://docs.example/a/b", ("/a/*",), True),
        ("https://docs.example/b", ("/a/*",), False),
        ("https://docs.example/a/", ("/a/*",), True),
        ("https://docs.example/a/old/x", ("/a/*", "!/a/old/*"), False),
        ("https://docs.example/a/old/x", ("!/a/old/*", "/a/*"), False),
        ("https://other.example/a/b", ("/a/*",), False),
        ("https://other.example/a/b", ("https://other.example/a/*",), True),
        ("https://docs.example/a/b.c", ("/a/b?c",), False),
        ("https://docs.example/a?p=2", ("/a*",), True),
        ("https://docs.example", ("/*",), True),
    ],
)
def test_patterns_say_what_belongs(url: str, patterns: tuple[str, ...], *, expected: bool):
    """A star stands for any letters, an exclamation mark leaves out, a path is one of the own
    sites.
    """
    assert expected == belongs(url, patterns, OWN)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://A.example/x?utm_source=n&b=2&a=1#top", "https://a.example/x?a=1&b=2"),
        ("https://a.example/x;jsessionid=0A1B2C?b=1", "https://a.example/x?b=1"),
        ("https://a.example", "https://a.example/"),
        ("mailto:anna@a.example", ""),
        ("javascript:void(0)", ""),
        ("ftp://a.example/x", ""),
        (f"https://a.example/{'x' * 2_000}", ""),
    ],
)
def test_an_address_is_one_however_it_is_written(url: str, expected: str):
    """Sessions, tracking, fragments and the order of parameters say nothing."""
    assert expected == address_of(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/x.pdf", True),
        ("https://a.example/x.PNG", False),
        ("https://a.example/v1.2/x", True),
        ("https://a.example/png", True),
        ("https://a.example/x.html", True),
    ],
)
def test_no_request_is_spent_on_pictures(url: str, *, expected: bool):
    """The end of a path says what is no page."""
    assert expected == is_page(url)
