"""Forms of change types: exact, plain, strict."""

from dataclasses import replace

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.document.parse import parse
from tidings.errors import SentinelError
from tidings.language import build
from tidings.language.parser import read
from tidings.model.watch.interest import FORMS, Interest
from tidings.model.watch.sentinel import Sentinel


def monitor(expression):
    (sentinel,) = read(f"Create Sentinel s Using https://example.org/ Monitor {expression}")
    assert isinstance(sentinel, Sentinel)
    return sentinel.monitor


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("all links raw", Interest("links", form="raw")),
        ("Links CANONICAL inserted", Interest("links", form="canonical", direction="inserted")),
        ("images resolved", Interest("images", form="resolved")),
        ("all words strict", Interest("words", form="strict")),
        ('phrase "low risk" strict', Interest("phrases", ("low risk",), form="strict")),
    ],
)
def test_form_follows_the_change_type(text, meant):
    """It comes before the direction, in any case."""
    assert meant == monitor(text)


@pytest.mark.parametrize("text", ["all links strict", "all words raw", "any change strict", "number canonical"])
def test_form_of_another_type_is_refused(text):
    """The message says of which."""
    with pytest.raises(SentinelError, match="E28"):
        monitor(text)


def test_forms_can_be_built_in_python():
    """A type without the form is refused."""
    assert Interest("links", form="raw") == build.links.compare_as("raw").meant
    with pytest.raises(ValueError, match="images have no form strict"):
        build.images.compare_as("strict")


def find(interest, old, new):
    before, after = (parse(f"<body>{body}".encode(), "text/html", url="http://x.org/") for body in (old, new))
    return evaluate(interest, Pair(before, after))


EVERY = {"", "raw", "resolved", "canonical"}
FOUND = [
    # what is watched, two pages, and in which forms they differ ("": as usual)
    (Interest("links"), "<a href=/a?utm_source=1>", "<a href=http://x.org/a?utm_source=2>", {"", "raw", "resolved"}),
    (Interest("links"), "<a href=/a>", "<a href=http://X.org:80/a#b>", {"raw"}),
    (Interest("links"), "<a href=/a?id=1>", "<a href=/a?id=2>", EVERY),
    (Interest("images"), "<img src=/a.png?v=1>", "<img src=/a.png?v=2>", {"", "raw", "resolved"}),
    (Interest("words"), "1,5 € oil", "1.5 $ oil", {""}),
    (Interest("words"), "oil", "Oil", {"", "strict"}),
    (Interest("keywords", ("Oil",)), "x", "oil", {""}),
    (Interest("keywords", ("Oil",)), "x", "Oil", {"", "strict"}),
    (Interest("phrases", ("low risk funds",)), "low risk funds", "low Risk funds", {"strict"}),
]


@pytest.mark.parametrize(("interest", "old", "new", "forms"), FOUND)
def test_form_decides_what_is_a_change(interest, old, new, forms):
    """Addresses have three levels of identity, resolved as usual; words have case and no symbols as
    in the thesis.
    """
    known = ("", *FORMS[interest.kind])

    assert forms == {form for form in known if find(replace(interest, form=form), old, new)}


def test_strict_terms_that_differ_in_case_are_two_terms():
    """`Oil` and `OIL` are searched separately."""
    change = find(Interest("keywords", ("Oil", "OIL"), form="strict"), "x", "OIL Oil Oil oil")

    assert [("Oil", 2), ("OIL", 1)] == [(row.object, row.new) for row in change.objects]
    assert [("Oil", 4)] == [
        (row.object, row.new) for row in find(Interest("keywords", ("Oil", "OIL")), "x", "OIL Oil Oil oil").objects
    ]
