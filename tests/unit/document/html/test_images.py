"""Images of a page: their addresses and sizes."""

import pytest

from tidings.document.html.images import Image, all_of, first_of
from tidings.document.parse import parse

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


def images(body):
    return list(parse(f"<!doctype html><body>{body}".encode(), "text/html").images)


@pytest.mark.parametrize(
    "image",
    [
        "<img src=/a.jpg>",
        "<img data-src=/a.jpg>",
        "<img src=/blank.gif data-src=/a.jpg loading=lazy>",
        f"<img src={PIXEL} data-original=/a.jpg>",
        f"<img src='{PIXEL}' data-srcset='/a.jpg 320w, /a-640.jpg 640w' sizes=100vw>",
        "<img srcset='/a.jpg, /a-2.jpg 2x'>",
        "<img src='about:blank' srcset=' \n/a.jpg\t1x, /a-2.jpg 2x'>",
        "<img src=/a.jpg srcset='/a-1.jpg 1x, /a-2.jpg 2x'>",
        "<picture><source srcset='/a.jpg 1x'><source srcset=/a.webp><img alt=x></picture>",
        f"<picture><source data-srcset=/a.jpg><img src={PIXEL}></picture>",
        "<picture><source srcset=/a.avif><img src=/a.jpg></picture>",
        f"<img src='{PIXEL}' data-src='{PIXEL}' srcset=/a.jpg>",
    ],
)
def test_an_image_is_the_same_whichever_attribute_carries_it(image):
    """One that is loaded late, or has several sizes, is the image that a reader finally sees
    (W-97).
    """
    assert ["/a.jpg"] == images(image)


def test_image_needs_an_address():
    """A picture written into the page is an image; one without an address is none."""
    assert [PIXEL] == images(f"<img src='{PIXEL}'>")
    assert [] == images("<img><img alt=x srcset=''><picture><source media=x><img></picture>")
    assert [""] == images("<img src=''>")


@pytest.mark.parametrize(("candidates", "expected"), [("", ""), (" a 1x, b 2x", "a"), ("a, b", "a"), ("\na\n2x", "a")])
def test_first_candidate_of_a_set_counts(candidates, expected):
    """Its descriptor is left out."""
    assert expected == first_of(candidates)


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        ("", []),
        ("a 1x, b 2x", ["a", "b"]),
        ("a 1x,b 2x", ["a", "b"]),
        ("/w_4,h_3/x.jpg 1x,/y.jpg 2x", ["/w_4,h_3/x.jpg", "/y.jpg"]),
        (" a\t100w , b", ["a", "b"]),
        ("a, b, c,", ["a", "b", "c"]),
        ("a,b 2x", ["a,b"]),
    ],
)
def test_candidates_of_a_set_are_listed(candidates, expected):
    """A comma separates them after a descriptor or before white space; within an address it is part
    of it.
    """
    assert expected == all_of(candidates)


def test_image_has_its_sizes():
    """They are the candidates of its own sets and of the sources beside it; a placeholder is none."""
    (image,) = images(f"<picture><source srcset='/a.avif, {PIXEL} 2x'><img src=/a.jpg srcset='/b.jpg 2x'></picture>")

    assert isinstance(image, Image)
    assert ("/b.jpg", "/a.avif") == image.sizes
