import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.document.parse import parse
from tidings.model.watch.interest import Interest

SAME = [
    ("<img src=/413-a.jpg>", "<img src=/275-a.jpg srcset='/413-a.jpg 1.5x, /550-a.jpg 2x'>"),
    ("<img src=/275-a.jpg srcset='/413-a.jpg 1.5x'>", "<img src=/413-a.jpg>"),
    ("<img src=/a.jpg srcset='/x.jpg 1x'>", "<img src=/b.jpg srcset='/x.jpg 1x'>"),
    ("<img src=/a srcset='/b 1x, /c 2x'>", "<img src=/d srcset='/c 1x, /e 2x'>"),
    ("<picture><source srcset=/a.avif><img src=/a.jpg></picture>", "<img src=/a.avif>"),
    ("<img data-src=/a data-srcset='/a 1x, /b 2x'>", "<img src=/b>"),
    ("<img src=/a?w=1 srcset='/a?w=2 2x'>", "<img src=/a?w=2>"),
    ("<img src=/a srcset='/b 2x'><img src=/c srcset='/d 2x'>", "<img src=/d><img src=/b>"),
]
NEWS = [
    ("<img src=/a.jpg>", "<img src=/b.jpg>"),
    ("<img src=/a.jpg srcset='/a.jpg 1x'>", "<img src=/b.jpg srcset='/b.jpg 1x'>"),
    ("<img src=/a.jpg srcset='/x.jpg 1x'>", "<img src=/b.jpg srcset='/y.jpg 1x'>"),
    ("<img src=/a srcset='/b 2x'><img src=/c>", "<img src=/b><img src=/d>"),
    ("<img src=/a srcset='/b 2x'>", "<img src=/a srcset='/b 2x'><img src=/b>"),
    ("<img src=/a srcset='/b 2x'><img src=/b>", "<img src=/b>"),
    ("<img src=/a srcset='/b 2x'>", "<img src=/b><img src=/b>"),
    (
        "<img src=data:image/gif;base64,AA srcset='/a, data:x 2x'>",
        "<img src=data:image/gif;base64,AA srcset='/b, data:x 2x'>",
    ),
]


def find(before, now, kind="images"):
    old, new = (
        parse(f"<!doctype html><body>{body}".encode(), "text/html", url="https://x.example/") for body in (before, now)
    )
    return evaluate(Interest(kind), Pair(old, new))


@pytest.mark.parametrize(("before", "now"), SAME)
@pytest.mark.parametrize("kind", ["images", "any"])
def test_an_image_in_another_size_is_the_same_one(kind, before, now):
    """As long as it shares a size with the one before, whichever attribute has it."""
    assert not find(before, now, kind)


@pytest.mark.parametrize(("before", "now"), NEWS)
@pytest.mark.parametrize("kind", ["images", "any"])
def test_another_image_is_told(kind, before, now):
    """One that shares no size with an image that went, or that is there more often than before."""
    assert find(before, now, kind)


def test_only_the_others_are_told():
    """Beside an image in another size, the one that came is told and nothing else."""
    rows = find("<img src=/a srcset='/b 2x'>", "<img src=/new><img src=/b>").objects

    assert [("https://x.example/new", 0, 1)] == [(row.object, row.old, row.new) for row in rows]
