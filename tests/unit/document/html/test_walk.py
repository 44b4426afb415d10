"""The words, links and facts of a page."""

import pytest
from hypothesis import given
from selectolax.lexbor import LexborHTMLParser

from tests import data_sets
from tests.strategies import pages
from tidings.document.html.walk import BREAK, walk
from tidings.document.text.words import tokens_of

INLINE = set(
    "a abbr acronym b basefont bdi bdo big blink cite code data del dfn em font i img ins kbd label mark nobr q s samp small span "
    "strike strong sub sup time tspan tt u var wbr".split()
)


def root_of(page):
    root = LexborHTMLParser(page, scripting=True).root
    assert root is not None
    return root


def walk_page(page):
    return walk(root_of(page.encode()))


def words(page):
    return tokens_of("".join(walk_page(page).pieces))


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("un<b>break</b>able", ["unbreakable"]),
        ("<li>one<li>two", ["one", "two"]),
        ("<div>x</div>y<br>z", ["x", "y", "z"]),
        ("<table><tr><td>a<td>b<tr><td>c</table>d", ["a", "b", "c", "d"]),
        ("<select><option>a<option>b</select>c", ["a", "b", "c"]),
        ("a<!-- c -->b", ["ab"]),
        ("bo<b>ld</b>", ["bold"]),
        ("</p><ul><li>one</li><li>two</li></ul>tail", ["one", "two", "tail"]),
        ("<p>a</p>b", ["a", "b"]),
        ("<i><div>a</div></i>b", ["a", "b"]),
        ("<b>a</b><i>b</i>", ["ab"]),
        ("<span>a<span></span></span>b", ["ab"]),
        ("a<div></div>b", ["a", "b"]),
        ("a<my-card>b</my-card>c", ["a", "b", "c"]),
        ("lo<wbr>ng", ["long"]),
        ("a<script>x</script>b<style>y</style>c", ["abc"]),
        ("<noscript><p>no</p></noscript><template>no</template><iframe>no</iframe>yes", ["yes"]),
        ("<head><title>no</title></head><body>yes", ["yes"]),
        ("<p hidden>there</p><p style='display:none'>too", ["there", "too"]),
        ("<textarea>kept</textarea><button>ok</button>", ["kept", "ok"]),
        ("<svg><title>no</title><text>drawn</text></svg>", ["drawn"]),
        ("<svg><style>a<b>c</b></style></svg>d", ["cd"]),
        ("<p>&eacute;&#233;é&amp;&lt;", ["ééé", "<"]),
        ("a<script></script>b", ["ab"]),
    ],
)
def test_words_are_those_that_a_reader_sees(page, expected):
    """Inline elements join, all others separate; invisible parts are left out (detection §1.2)."""
    assert expected == words(page)


def test_page_has_addresses_title_and_facts():
    """They are links, images, the first base, the title outside drawings, running scripts, and
    passwords.
    """
    found = walk_page(
        "<title> A \n title</title><base href=/x/><base href=/y/><script></script><a href=1>q</a><a>no</a><area href=2>"
        "<img src=3><svg><title>s</title><a href=no>t</a></svg><a href=4>u</a><input type=PASSWORD>"
    )

    assert (["1", "2", "4"], ["3"]) == (found.links, found.images)
    assert ("A title", "/x/", 1, True) == (found.title, found.base, found.scripts, found.password)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>a\0b\ufffe c\rd", ["ab", "c", "d"]),
        ("\u202eevil\u202c <p>x", ["evil", "x"]),
        ("no html at all", ["no", "html", "at", "all"]),
        ("<body>one<body>two", ["onetwo"]),
        ("seen<script>never closed <p>hidden", ["seen"]),
        ("<div>" * 300 + "deep", ["deep"]),
    ],
)
def test_broken_page_keeps_its_text(page, expected):
    """It has NUL bytes, lone CR, bidi overrides, missing and doubled elements (H-057, H-059,
    H-060): the text is that of a browser.
    """
    assert expected == words(page)


def reference(node):
    """Return the words below a node by a plain recursion, which the walk must agree with."""

    def pieces(node):
        if node.is_text_node:
            return node.text_content or ""
        if node.is_comment_node or node.tag in {"script", "style", "noscript", "template", "title"}:
            return ""
        inside = ""
        child = node.first_child
        while child is not None:
            inside += pieces(child)
            child = child.next
        return inside if node.tag in INLINE else f"\n{inside}\n"

    return tokens_of(pieces(node))


@given(pages)
def test_walk_agrees_with_a_plain_recursion(page):
    """This is so for all pages."""
    root = root_of(page.encode())

    assert reference(root) == tokens_of("".join(walk(root).pieces))


def test_breaks_are_distinguished_from_text():
    """A text node of line ends is no break: the places of tokens depend on that."""
    pieces = walk_page("<pre>\n\na</pre>").pieces

    assert [False] == [piece is BREAK for piece in pieces if piece.strip()]


def test_walk_of_real_pages_agrees_with_the_recursion():
    """This is so for small pages too."""
    wrong = []
    for number, page in enumerate(data_sets.html_pages()[::8]):
        if b"<iframe" in page or b"<noframes" in page or b"<svg" in page:
            continue
        root = root_of(page)
        if reference(root) != tokens_of("".join(walk(root).pieces)):
            wrong.append(number)

    assert [] == wrong


@pytest.mark.parametrize(
    ("attributes", "count"),
    [("", 1), (" type=module", 1), (' type="application/ld+json"', 0), (" type=APPLICATION/JSON", 0)],
)
def test_script_with_data_does_not_run(attributes, count):
    """Data for programs builds no page."""
    assert count == walk_page(f"<p>a</p><script{attributes}>{{}}</script>").scripts
