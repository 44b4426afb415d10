"""Frames and iframes of a page."""

from __future__ import annotations

import pytest

from tidings.document.document import Document
from tidings.document.html.frames import ALL, ALONE, MOST_NAMED, addresses_of
from tidings.document.parse import parse

URL = "https://site.example/doc/index.html"


def read(html: str, *, with_written_frames: bool = False) -> Document:
    return parse(html.encode(), "text/html; charset=utf-8", url=URL, with_written_frames=with_written_frames)


def find(html: str, depth: int = ALL) -> tuple[str, ...]:
    document = read(html)
    return addresses_of(document.frames, document.base, depth=depth)


FRAMESET = """<frameset cols="20%,80%"><frameset rows="30%,70%"><frame src="a.html"><frame src="/b.html#top"></frameset>
<frame src="c.html?x=1"><noframes><p>no <iframe src="never.html"></iframe></p></noframes></frameset>"""


def test_framesets_are_always_followed():
    """Frames of nested framesets are found in the order of the page, without fragments; `noframes`
    is left out.
    """
    expected = tuple(f"https://site.example/{path}" for path in ("doc/a.html", "b.html", "doc/c.html?x=1"))

    assert expected == find(FRAMESET, depth=0) == find(FRAMESET, depth=ALL)
    assert () == find(FRAMESET, depth=ALONE)


def test_iframes_are_followed_at_depth_2():
    """One in a template or in `noscript` is not there."""
    html = """<p>text <iframe src="one.html"></iframe></p><div><iframe loading="lazy" src="two.html">else</iframe></div>
    <template><iframe src="no.html"></iframe></template><noscript><iframe src="no.html"></iframe></noscript>"""

    assert ("https://site.example/doc/one.html", "https://site.example/doc/two.html") == find(html)
    assert () == find(html, depth=0)


@pytest.mark.parametrize(
    "attributes", ['data-src="x.html"', 'src="" data-src="x.html"', 'src="about:blank" data-src="x.html"']
)
def test_lazy_iframe_has_the_address_for_its_script(attributes: str):
    """It is filled later."""
    assert ("https://site.example/doc/x.html",) == find(f"<iframe {attributes}></iframe>")


@pytest.mark.parametrize(
    "address",
    ["data:text/html,hi", "javascript:void(0)", "about:blank", "", "   ", "mailto:a@b.example", "ftp://x.example/"],
)
def test_frame_without_a_web_address_is_not_followed(address: str):
    """It has a script, data or nothing."""
    assert () == find(f'<iframe src="{address}"></iframe>')


def test_addresses_of_frames_are_joined_with_the_base():
    """`<base href>` counts as for links."""
    html = '<head><base href="/other/"></head><body><iframe src="x.html"></iframe></body>'

    assert ("https://site.example/other/x.html",) == find(html)


def test_repeated_frame_is_one():
    """Equal addresses are listed once, the first place counts, and there is a limit."""
    twice = '<iframe src="x.html"></iframe><iframe src="y.html"></iframe><iframe src="HTTPS://Site.example:443/doc/x.html#a"></iframe>'
    many = "".join(f'<iframe src="{n}.html"></iframe>' for n in range(2 * MOST_NAMED))

    assert ("https://site.example/doc/x.html", "https://site.example/doc/y.html") == find(twice)
    assert MOST_NAMED == len(find(many))


WRITTEN = """<p>before</p><iframe src="unused.html" srcdoc="<p>inner <a href='in.html'>link</a></p><img src='p.png'>
<iframe src='deep.html'></iframe><iframe srcdoc='&lt;p&gt;innermost&lt;/p&gt;'></iframe>"></iframe><p>after</p>"""


def test_srcdoc_is_text_of_the_page():
    """If iframes are followed, its words, links, images and frames are at its place."""
    document = read(WRITTEN, with_written_frames=True)

    assert ["before", "inner", "link", "innermost", "after"] == document.tokens
    assert (("in.html",), ("p.png",)) == (document.links, document.images)
    assert ("https://site.example/doc/deep.html",) == addresses_of(document.frames, document.base, depth=ALL)


def test_srcdoc_is_left_out_without_iframes():
    """The page's text is as before."""
    assert ["before", "after"] == read(WRITTEN).tokens


def test_nested_srcdoc_is_limited():
    """Pages inside pages are read to a depth that no web page reaches."""
    html = "core"
    for _ in range(12):
        html = f'<p>x</p><iframe srcdoc="{html.replace("&", "&amp;").replace(chr(34), "&quot;")}"></iframe>'

    assert ["x"] * 4 == read(html, with_written_frames=True).tokens
