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
def test_nothing_in_a_shown_page_acts_or_fetches(page):
    """Whatever a page tries: only listed elements are written, no handler, no address, no style that fetches (R-11)."""
    made = show(page)

    assert [] == acting(made)
    assert 1 == made.count('http-equiv="Content-Security-Policy"')


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_shown_page_reads_the_same_again(page):
    """What was written means the same to the parser that reads it next: nothing hides in a text to come out later (mutation XSS)."""
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


def test_texts_of_a_page_stay_with_what_goes():
    """Buttons, drawings and fields go, what they say stays; no word is lost."""
    page = "<form>a<button>b</button></form><svg><text>c</text></svg><select><option>d<option>e</select><textarea>f</textarea>"
    document = parse(page.encode(), "text/html", keep_tree=True)

    assert document.tokens == parse(write_page(_rewrite(document)).encode(), "text/html; charset=utf-8").tokens


def test_a_link_is_text_that_shows_its_address():
    """One sees where it led; an address of a script is text too."""
    assert '<span class="tidings-link" title="/b?c=1&amp;d">x</span>' in show("<a href='/b?c=1&d' target=_top>x</a>")


def test_images_stand_in_the_page_or_are_their_words():
    """A picture within the page is shown; else the words of the image stand in a box, and nothing is asked for."""
    made = show("<img src='data:image/png;base64,AAAA'><img src=other.png alt=B onerror=x>")

    assert 'src="data:image/png;base64,AAAA"' in made
    assert '<img alt="B" class="tidings-image">' in made
    assert "other.png" not in made


def test_styles_of_a_page_stay_as_far_as_they_are_harmless():
    """A page looks like itself: its rules and attributes stay, one declaration that fetches goes alone."""
    made = show(
        "<style>@media (min-width:1px){p{color:red;background:url(x)}}</style><p style='margin:0;behavior:x' class='a b'>x"
    )

    assert "@media (min-width:1px){p{color:red}}" in made
    assert '<p style="margin:0" class="a b">' in made


def test_the_frame_runs_nothing_and_is_of_no_origin():
    """The frame has an empty sandbox; the answer in it may fetch nothing, and is sandboxed also where somebody opens it by itself."""
    assert 'sandbox="" src="/x?&quot;"' in frame('/x?"', "Version 2")
    assert "default-src 'none'" in POLICY
    assert HEADERS["content-security-policy"].endswith("; sandbox")


def test_what_is_no_page_is_not_shown_as_one():
    """Data and pages that were read without their tree give nothing to put into a frame."""
    assert None is rewrite(parse(b'{"a": 1}', "application/json", keep_tree=True))
    assert None is rewrite(parse(b"<p>x", "text/html"))
