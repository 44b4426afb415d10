"""Stored pages are shown without anything that acts or fetches."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.unit.presentation.safe.pages import PAGES, acting
from tidings.document.document import Document
from tidings.document.parse import parse
from tidings.presentation.safe import markup
from tidings.presentation.safe.markup import HEADERS, POLICY, Written, frame, rewrite
from tidings.presentation.safe.markup import page as write_page


def _rewrite(document: Document) -> Written:
    made = rewrite(document)
    assert made is not None
    return made


def show(page: str) -> str:
    """Return a page as it is shown."""
    return write_page(
        _rewrite(parse(page.encode(), "text/html; charset=utf-8", url="http://x.example/a/", keep_tree=True))
    )


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_shown_page_neither_acts_nor_fetches(page):
    """Only listed elements are written, without handlers, addresses or styles that fetch (R-11)."""
    made = show(page)

    assert [] == acting(made)
    assert 1 == made.count('http-equiv="Content-Security-Policy"')


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_shown_page_is_parsed_as_the_same_page(page):
    """Nothing hides in a text and comes out at the next parser (mutation XSS)."""
    made = show(page)
    for scripting in (True, False):
        tree = LexborHTMLParser(made.encode(), scripting=scripting)
        names = {node.tag for node in tree.root.traverse()} if tree.root is not None else set()
        assert set() == names & {
            "script",
            "iframe",
            "object",
            "embed",
            "form",
            "base",
            "link",
            "svg",
            "math",
            "template",
            "noscript",
        }
    body = made.partition("</head>")[2].partition(">")[2].removesuffix("</body></html>\n")
    assert markup.clean(body) == body


def test_text_of_removed_elements_stays():
    """Buttons, drawings and fields are removed; no word is lost."""
    page = "<form>a<button>b</button></form><svg><text>c</text></svg><select><option>d<option>e</select><textarea>f</textarea>"
    document = parse(page.encode(), "text/html", keep_tree=True)

    assert document.tokens == parse(write_page(_rewrite(document)).encode(), "text/html; charset=utf-8").tokens


def test_link_is_shown_as_text_with_its_address():
    """The address of a script is text too."""
    assert '<span class="tidings-link" title="/b?c=1&amp;d">x</span>' in show("<a href='/b?c=1&d' target=_top>x</a>")


def test_image_is_shown_if_the_page_contains_it():
    """For other images a box shows the words, and nothing is requested."""
    made = show("<img src='data:image/png;base64,AAAA'><img src=other.png alt=B onerror=x>")

    assert 'src="data:image/png;base64,AAAA"' in made
    assert '<img alt="B" class="tidings-image">' in made
    assert "other.png" not in made


def test_harmless_styles_stay():
    """Rules and attributes stay; a single declaration that fetches is removed."""
    made = show(
        "<style>@media (min-width:1px){p{color:red;background:url(x)}}</style><p style='margin:0;behavior:x' class='a b'>x"
    )

    assert "@media (min-width:1px){p{color:red}}" in made
    assert '<p style="margin:0" class="a b">' in made


def test_frame_runs_nothing_and_has_no_origin():
    """Its sandbox is empty. The answer in it may fetch nothing, and is sandboxed also if it is
    opened by itself.
    """
    assert 'sandbox="" src="/x?&quot;"' in frame('/x?"', "Version 2")
    assert "default-src 'none'" in POLICY
    assert HEADERS["content-security-policy"].endswith("; sandbox")


def test_data_is_not_shown_in_a_frame():
    """The same is true of pages that were parsed without their tree."""
    assert None is rewrite(parse(b'{"a": 1}', "application/json", keep_tree=True))
    assert None is rewrite(parse(b"<p>x", "text/html"))
