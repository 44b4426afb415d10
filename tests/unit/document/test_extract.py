"""The part of a page that Select, `in`, Exclude and Transform leave (contracts §8)."""

import pytest

from tidings.document.extract import extract, take
from tidings.document.parse import parse
from tidings.document.select import chosen
from tidings.document.select.extraction import PAGE, WHOLE, Extraction, make_name
from tidings.model.watch.interest import Pattern, Selector, StopWords, Transform

PAGE_OF_JOBS = """<!doctype html><html><head><title>Jobs</title><meta property="og:price" content="19.99"></head><body>
<nav><a href="/home">Home</a></nav><h1>Our jobs</h1>
<ul class="jobs"><li><a href="/j/1">Bak<b>er</b></a> full time</li><li><a href="/j/2">Smith</a> <i>half</i> time</li></ul>
<p class="price">from <span>1&nbsp;234</span>,50</p><footer>Seen by 17 visitors<img src="/seal.png"></footer></body></html>"""


def css(text):
    return Selector("css", text)


def xpath(text):
    return Selector("xpath", text)


def jsonpath(text):
    return Selector("jsonpath", text)


def html(text=PAGE_OF_JOBS):
    return parse(text.encode(), "text/html; charset=utf-8", url="http://x.org/", keep_tree=True)


def json(text):
    return parse(text.encode(), "application/json", url="http://x.org/", keep_tree=True)


def lines(document, *selectors, exclude=(), transform=()):
    part = extract(document, Extraction(selectors, exclude, transform))
    assert not part.problem
    return part.lines


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([css("ul.jobs > li")], ["Baker full time", "Smith half time"]),
        ([css(".price span")], ["1 234"]),
        ([css("ul"), css("i")], ["half"]),
        ([css("i"), css("ul")], ["half"]),
        ([css("li, b")], ["Baker full time", "Smith half time"]),
        ([css("b")], ["er"]),
        ([css("title")], ["Jobs"]),
        ([css("meta[property='og:price']")], ["19.99"]),
        ([xpath("//ul[@class='jobs']/li[2]")], ["Smith half time"]),
        ([xpath("//li/a/@href")], ["/j/1", "/j/2"]),
        ([css("li:last-child"), xpath("//a/@href")], ["/j/2"]),
        ([xpath("//p/text()")], ["from", ",50"]),
        ([xpath("//li[contains(., 'half')]//text()")], ["Smith", "half", "time"]),
        ([css("footer"), xpath("//p")], None),
        ([css(".gone")], None),
        ([xpath("//h6")], None),
        ([jsonpath("$.a")], None),
    ],
    ids=lambda value: " ".join(s.text for s in value) if value and hasattr(value[0], "text") else "",
)
def test_part_is_the_union_of_all_selectors(selectors, expected):
    """It is in the order of the page, with words whole; a selector that finds nothing is missing."""
    part = extract(html(), Extraction(tuple(selectors)))

    assert (expected or []) == part.lines
    assert (selectors[-1] if expected is None else None) == part.missing
    assert "" == part.problem


def test_part_has_its_own_links_and_images():
    """Others do not count, and the base of the page holds."""
    part = extract(html(), Extraction((css("ul"),)))

    assert (("/j/1", "/j/2"), ()) == (part.links, part.images)
    assert html().base == part.base


def test_exclusion_leaves_the_page_unchanged():
    """It is removed from the selection only."""
    page = html()

    assert ["full time", "time"] == lines(page, css("li"), exclude=(css("a"), xpath("//i")))
    assert ["Baker full time", "Smith half time"] == lines(page, css("li"))
    assert ("/home", "/j/1", "/j/2") == extract(page, Extraction(exclude=(css("footer"),))).links
    assert () == extract(page, Extraction(exclude=(css("footer"),))).images


def test_excluded_block_separates_words():
    """An excluded inline element splits no word."""
    assert ["a", "c"] == lines(html("<div>a<p>b</p>c</div>"), exclude=(css("p"),))
    assert ["ac"] == lines(html("<p>a<b>b</b>c</p>"), exclude=(css("b"),))


def test_excluded_words_and_patterns_are_removed():
    """Words are removed at every place in any case, also several in a row; a match of a pattern
    separates words.
    """
    page = html("<p>The price of the Sea, Of course</p><p>Views: 5|Price 3</p><p>17 visitors</p>")
    exclude = (StopWords(("the", "of course")), Pattern(r"Views: \d+"), Pattern(r"^\d+ visitors$"))

    assert ["price of Sea,", "|Price 3"] == lines(page, exclude=exclude)


def test_transforms_work_on_lines_in_order():
    """Each step gets the lines of the step before."""
    page = html("<p>b 2</p><p>a 1</p><p>b 2</p><p>note</p>")
    steps = (
        Transform("drop", "note"),
        Transform("replace", r"(\w) (\d)", is_pattern=True, replacement=r"\2=\1\\"),
        Transform("sort"),
        Transform("unique"),
        Transform("keep", r"^\d=", is_pattern=True),
        Transform("replace", "=", replacement=": "),
    )

    assert ["1: a\\", "2: b\\"] == lines(page, transform=steps)
    assert ["note"] == lines(page, transform=(Transform("keep", "no"),))


def test_lines_are_blocks_or_preformatted():
    """A line end in the source is no line; a block is one, and so is each line of plain and
    preformatted text.
    """
    page = html("<p>one\ntwo</p><pre>three\nfour</pre>five<br>six")
    text = parse(b"b  one\n\na two\n", "text/plain", keep_tree=True)

    assert ["one two", "three", "four", "five", "six"] == lines(page, exclude=(StopWords(("x",)),))
    assert ["a two", "b one"] == lines(text, transform=(Transform("sort"),))
    shouted = parse(b"ONE Two", "text/plain", keep_tree=True)
    assert ["one two"] == lines(shouted, transform=(Transform("fold"),))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (("fold",), "Straße HOME Home Two"),
        (("fold", "sort"), "HOME Home Straße Two"),
        (("fold", "unique"), "Straße HOME Two"),
        (("sort", "fold"), "HOME Home Straße Two"),
    ],
)
def test_text_without_case_is_displayed_as_written(steps, expected):
    """It is compared in lower case, and equal lines have their letters in order."""
    page = html("<p>Straße</p><p>HOME</p><p>Home</p><p>Two</p>")
    part = extract(page, Extraction(transform=tuple(Transform(step) for step in steps)))
    shown = part.as_written

    assert expected == shown.get_text(0, len(part.tokens))
    assert expected.lower().encode() == part.canonical


def test_letters_whose_lower_case_is_longer_are_displayed():
    """A capital İ has two characters in lower case."""
    part = extract(html("<p>İstanbul now</p>"), Extraction(transform=(Transform("fold"),)))

    assert "İstanbul now" == part.as_written.get_text(0, len(part.tokens))


def test_jsonpath_keeps_values_as_written():
    """Numbers keep their form, filters compare them as numbers, and selected keys count."""
    data = json('{"c": [{"s": "up", "p": 1.50}, {"s": "down", "p": 20, "t": null}], "big": 123456789012345678901}')

    assert ["up", "down"] == lines(data, jsonpath("$.c[*].s"))
    assert ["1.50"] == lines(data, jsonpath("$.c[?@.p < 10].p"))
    assert ["123456789012345678901"] == lines(data, jsonpath("$.big"))
    assert ["s", "down", "t", "null"] == lines(data, jsonpath("$.c[1]"), exclude=(jsonpath("$.c[*].p"),))
    assert ["up"] == lines(data, jsonpath("$.c[0]"), jsonpath("$..s"))
    assert jsonpath("$.x") == extract(data, Extraction((jsonpath("$.x"),))).missing
    assert css("p") == extract(data, Extraction((css("p"),))).missing


def test_xpath_knows_the_namespaces_of_the_document():
    """Elements of the default namespace have no prefix, others the document's own."""
    feed = b"""<feed xmlns="http://www.w3.org/2005/Atom" xmlns:x="urn:x"><entry x:k="v"><title>One</title><x:n>1</x:n></entry>
        <entry><title>Two</title></entry></feed>"""
    document = parse(feed, "application/atom+xml", keep_tree=True)

    assert ["One", "Two"] == lines(document, xpath("//entry/title"))
    assert ["1"] == lines(document, xpath("//x:n"))
    assert ["v"] == lines(document, xpath("//entry/@x:k"))
    assert ["Two"] == lines(document, xpath("//entry"), exclude=(xpath("//entry[1]"),))


def test_selector_finds_nothing_in_a_body_without_nodes():
    """In a picture or a plain text the part is missing, not empty."""
    picture = parse(b"\x89PNG\r\n\x1a\n", "image/png", keep_tree=True)

    assert css("p") == extract(picture, Extraction((css("p"),))).missing
    assert xpath("//p") == extract(parse(b"plain", "text/plain", keep_tree=True), Extraction((xpath("//p"),))).missing


def test_page_without_clauses_is_whole():
    """Its name is `page`; each clause gives another name, for each order of words another."""
    page = html()
    some = [
        WHOLE,
        Extraction((css("p"),)),
        Extraction((xpath("p"),)),
        Extraction(exclude=(css("p"),)),
        Extraction(exclude=(Pattern("p"),)),
        Extraction(exclude=(StopWords(("p",)),)),
        Extraction(transform=(Transform("sort"), Transform("unique"))),
        Extraction(transform=(Transform("unique"), Transform("sort"))),
    ]

    assert page is extract(page, WHOLE)
    assert PAGE == WHOLE.fingerprint == make_name(WHOLE)
    assert len(some) == len({extraction.fingerprint for extraction in some})
    assert make_name(*some[:2]) != make_name(*reversed(some[:2]))


def test_part_is_extracted_once():
    """A second request returns the same document."""
    page = html()
    extraction = Extraction((css("li"),))

    assert extract(page, extraction) is extract(page, Extraction((css("li"),)))
    assert take(extract(page, extraction)) is take(extract(page, extraction))


@pytest.mark.parametrize(
    "text",
    ["//*[count(//*)>0]/ancestor::*[count(//*)>0]", "//*[count(preceding::*)>1]", "//p[//p[//p]]"],
    ids=["H-073", "preceding", "nested"],
)
def test_h_073_xpath_with_multiplying_cost_is_refused(text):
    """It is no comparison and never "unchanged"; on a small page it is answered."""
    large = html("<p>x</p>" * 20_000)
    small = html("<p>x</p>" * 20)

    assert "could not compare: xpath" in extract(large, Extraction((xpath(text),))).problem
    assert "" == extract(small, Extraction((xpath(text),))).problem


def test_h_074_selectors_have_limits(monkeypatch):
    """Nested `:not` is answered or refused at once, deep pages are searched, and too many matches
    are refused.
    """
    deep = html("<div>" * 4_000 + "<b>x</b>")
    monkeypatch.setattr(chosen, "MOST_MATCHES", 100)

    assert ["x"] == lines(deep, css(":not(" * 16 + "b" + ")" * 16))
    assert ["x"] == lines(deep, xpath("//b"))
    assert "more than 100 parts" in extract(html("<p>x</p>" * 101), Extraction((css("p"),))).problem
    assert "more than 100 parts" in extract(html("<p>x</p>" * 101), Extraction((xpath("//p"),))).problem
    assert "more than 100 parts" in extract(json("[" + "1," * 101 + "1]"), Extraction((jsonpath("$[*]"),))).problem


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("b ~ p ~ p", "<p>x</p>" * 20_000),
        ("p:has(~ p ~ b)", "<p>x</p>" * 20_000),
        ("b div div div", "<div>" * 3_000),
        ("div:has(div:has(div:has(b)))", "<div>" * 3_000),
        ("b, p ~ p ~ p", "<p>x</p>" * 20_000),
    ],
)
def test_css_selector_with_too_many_ways_is_refused(text, body):
    """Lexbor would need minutes; on a page of the usual shape the same selector is answered."""
    usual = html("<div><div><ul>" + "<li><p>x</p><p>y</p></li>" * 300 + "</ul></div></div>")

    assert "could not compare: css" in extract(html(body), Extraction((css(text),))).problem
    assert "" == extract(usual, Extraction((css(text),))).problem


COPIED = (
    "body > div:nth-child(1)" + " > div:nth-child(1)" * 19 + " > ul:nth-child(1) > li:nth-child(7) > a:nth-child(1) > b"
)
"""What browsers copy of an element."""


@pytest.mark.parametrize(
    "text", ["main article div ul li a span b", "a[href~='x y z'] b", "ul > li + li", "li:nth-child(2n + 1)", COPIED]
)
def test_usual_css_selectors_are_accepted(text):
    """Long paths, attributes with blanks and counted children are usual."""
    page = html("<div>" * 20 + "<ul>" + "<li><a><b>x</b></a></li>" * 2_000 + "</ul>")

    assert "" == extract(page, Extraction((css(text),))).problem


def test_jsonpath_over_everything_is_limited(monkeypatch):
    """A path that searches everywhere in a large text is refused before it starts."""
    monkeypatch.setattr(chosen, "MOST_NODES", 100)

    assert "too many" in extract(json("[" + "1," * 101 + "1]"), Extraction((jsonpath("$..a"),))).problem


@pytest.mark.parametrize("text", ["unparsed-text('file:///etc/passwd')", "document('x')//p", "count(//p)"])
def test_h_071_functions_outside_xpath_1_0_and_values_are_refused(text):
    """They are no part of a page, whatever accepted them."""
    assert "could not compare: xpath" in extract(html(), Extraction((xpath(text),))).problem


def test_names_that_xml_does_not_allow_do_not_stop_xpath():
    """A page may have odd tags, attributes and characters."""
    page = html('<p on:x="1" a"b="2">a\x01b<fb:like>like</fb:like></p>')

    assert ["like"] == lines(page, xpath("//p/*"))
