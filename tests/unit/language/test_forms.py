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
    ("said", "meant"),
    [
        ("all links raw", Interest("links", form="raw")),
        ("Links CANONICAL inserted", Interest("links", form="canonical", direction="inserted")),
        ("images resolved", Interest("images", form="resolved")),
        ("all words strict", Interest("words", form="strict")),
        ('phrase "low risk" strict', Interest("phrases", ("low risk",), form="strict")),
    ],
)
def test_forms_stand_behind_the_type(said, meant):
    """Before the direction, in any case."""
    assert meant == monitor(said)


@pytest.mark.parametrize("said", ["all links strict", "all words raw", "any change strict", "number canonical"])
def test_a_form_of_another_type_is_refused(said):
    """With what it is a form of."""
    with pytest.raises(SentinelError, match="E28"):
        monitor(said)


def test_forms_in_python():
    """The same in Python; a type without the form says so."""
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
def test_what_is_a_change_in_which_form(interest, old, new, forms):
    """Addresses at three levels, resolved as usual; words with case and without symbols as the thesis has them."""
    known = ("", *FORMS[interest.kind])

    assert forms == {form for form in known if find(replace(interest, form=form), old, new)}


def test_strict_terms_that_differ_in_case_are_two():
    """`Oil` and `OIL` are looked for each by itself."""
    change = find(Interest("keywords", ("Oil", "OIL"), form="strict"), "x", "OIL Oil Oil oil")

    assert [("Oil", 2), ("OIL", 1)] == [(row.object, row.new) for row in change.objects]
    assert [("Oil", 4)] == [
        (row.object, row.new) for row in find(Interest("keywords", ("Oil", "OIL")), "x", "OIL Oil Oil oil").objects
    ]
