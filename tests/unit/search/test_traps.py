"""Addresses without end are known by their form and by what they turned out to be."""

from __future__ import annotations

import random

import pytest

from tidings.search.traps import ENOUGH, NEAR, FormRecord, form_of, likeness, sketch_of, trap_of


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
