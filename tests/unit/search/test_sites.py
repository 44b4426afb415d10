"""Sites without an end are recognized by the form of their addresses and by their content."""

from __future__ import annotations

import random

import pytest

from tests.bounded import bound_time
from tidings.search.sites import (
    ENOUGH,
    NEAR,
    FormRecord,
    address_of,
    belongs,
    form_of,
    hashes_of,
    is_page,
    likeness,
    shares,
    sketch_of,
    terms_of_link,
    trap_of,
    worth_refresh,
    worth_unseen,
)


def test_addresses_of_one_template_have_the_same_form():
    """Numbers and codes are left open; names of parameters count."""
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
def test_trap_is_recognized_by_its_address(url: str, expected: str):
    """Its path repeats or does not end, or it has many parameters."""
    assert expected == trap_of(url)


def test_similarity_is_near_that_of_the_shingles():
    """It is about a third for texts that share half of their shingles, and 1 for equal texts."""
    draw = random.Random(7)
    words = ["".join(draw.choices("abcdefghij", k=6)) for _ in range(600)]
    one, other = " ".join(words[:400]), " ".join(words[200:600])

    assert 1.0 == likeness(*map(hashes_of, (sketch_of(one), sketch_of(one))))
    assert 0.15 < likeness(hashes_of(sketch_of(one)), hashes_of(sketch_of(other))) < 0.55
    assert likeness(hashes_of(sketch_of(one)), hashes_of(sketch_of(" ".join(words[400:])))) < 0.1


def test_months_of_a_calendar_are_similar():
    """Numbers are no part of a sketch."""
    months = [
        f"Events of month {month}: " + " ".join(f"{day} nothing planned" for day in range(31)) for month in (1, 2)
    ]

    assert likeness(hashes_of(sketch_of(months[0])), hashes_of(sketch_of(months[1]))) >= NEAR


def test_form_with_similar_pages_is_a_trap():
    """Enough of them must be read; a form whose pages differ is none."""
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


def test_searched_words_raise_the_worth_of_a_page():
    """Their share of all searches counts; depth and a bad form lower the worth."""
    searched = shares({"price": 3.0, "oil": 1.0})

    def worth(anchor: str, **more: object) -> float:
        given: dict[str, object] = {"depth": 1, "is_news": False, **more}
        terms = terms_of_link(anchor, "https://a.example/p")
        return worth_unseen(float(given.pop("share_new", 0.8)), terms=terms, sought=searched, **given)  # type: ignore[arg-type]

    assert worth("the oil price") > worth("the price") > worth("oil") > worth("contact")
    assert worth("contact") > worth("contact", depth=2)
    assert worth("contact", is_news=True) == pytest.approx(2 * worth("contact"))
    assert worth("contact", share_new=0.4) == pytest.approx(worth("contact") / 2)
    assert ("oil", "prices", "2026") == terms_of_link("", "https://a.example/oil-prices/2026")


def test_refresh_is_worth_its_probability_of_a_change_and_its_new_links():
    """The worth falls with each link from the first pages."""
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
def test_patterns_select_addresses(url: str, patterns: tuple[str, ...], *, expected: bool):
    """A star stands for any letters, an exclamation mark excludes, and a path belongs to the
    sentinel's own sites.
    """
    assert expected == belongs(url, patterns, OWN)


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("/aXbYc", "/a*b*c", True),
        ("/abc", "/a*b*c", True),
        ("/abcd", "/a*b*c", False),
        ("/ab", "/a*b*b", False),
        ("/abb", "/a*b*b", True),
        ("/aab", "/*ab", True),
        ("/a", "/a", True),
        ("/a\nb", "/a*b", True),
        ("/a.b", "/a.b", True),
        ("/axb", "/a.b", False),
        ("/", "*", True),
        ("/aa", "/a*a", True),
        ("/a", "/a*a", False),
    ],
)
def test_star_stands_for_any_letters(path: str, pattern: str, *, expected: bool) -> None:
    """Of none or many, and every other sign for itself."""
    assert expected == belongs(f"https://a.example{path}", [pattern], ["https://a.example"])


def test_many_stars_take_linear_time() -> None:
    """A link of many letters cannot hold up the service."""
    with bound_time(5):
        assert not belongs(f"https://a.example/{'a' * 900}", [f"/{'*a' * 40}*b"], ["https://a.example"])


def test_patterns_of_paths_are_about_the_path() -> None:
    """Without one it is `/`; what follows a question mark is part of it."""
    own = ["https://a.example"]

    assert belongs("https://a.example?lang=en", ["/*"], own)
    assert belongs("https://a.example/x?lang=en", ["/x?lang=*"], own)


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
def test_spellings_of_an_address_are_one(url: str, expected: str):
    """Sessions, tracking, fragments and the order of parameters do not matter."""
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
def test_pictures_are_not_requested(url: str, *, expected: bool):
    """The end of a path shows what is no page."""
    assert expected == is_page(url)
