"""Pages that would take the parser too long are refused before it starts."""

import pytest

from tests import data_sets
from tests.bounded import bound_time
from tidings.document.html.prescan import too_hard


def attributes(count, form=" a{}"):
    return ("<p x=''" + "".join(form.format(number) for number in range(count)) + ">text").encode()


def misnest(count):
    opened = "".join(f"<b i{n}>" for n in range(count)) + "".join(f"<i i{n}>" for n in range(count))
    return (opened + "x</b>" * count).encode()


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (b"<" * 5_000_000, "tags"),
        (b"<p>" * 300_001, "tags"),
        (b"<!-->" * 300_001, "tags"),
        (b"<div>" * 20_000 + b"text", "nested"),
        (b"<div></p>" * 20_000, "nested"),
        (b"<x-y>" * 20_000, "nested"),
        (attributes(5_000), "attributes"),
        (attributes(100_000), "attributes"),
        (attributes(5_000, "/a{}"), "attributes"),
        (attributes(5_000, ' a{}="v"'), "attributes"),
        (attributes(5_000, "a{}='v'"), "attributes"),
        (attributes(900) * 400, "attributes"),
        (misnest(2_000), "overlap"),
        (misnest(20_000), "overlap"),
        ("".join(f"<b i{n}>" for n in range(1_000)).encode() + b"<p>x" * 50_000, "overlap"),
    ],
)
def test_slow_page_is_refused_with_a_reason(page, reason):
    """Each way to make the parser quadratic is found."""
    assert reason in too_hard(page)


HIDING = {
    "a quoted >": "<{0} x='>'>",
    "a quoted end tag": "<{0} x='</{0}>'>",
    "a quoted end tag, with blanks": '<{0} x = "</{0}>">',
    "a quote in a name": "<{0} x'>",
    "= as a name": '<{0} ="><!-- " -->',
    "= in a value": "<{0} x=='>",
    "a quote in a plain value": "<{0} x=it's>",
    "a comment": "<{0}><!--</{0}>-->",
    "a comment that ends at once": "<{0}><!--><{0}><!--->",
    "a comment that ends oddly": "<{0}><!-- --!><{0}>",
    "no comment": "<{0}><!</{0}><?</{0}></ </{0}>",
    "a script": "<{0}><script>'</{0}>'</script>",
    "a script in a script": "<{0}><script><!--<script></script></{0}></script>",
    "a title": "<{0}><title></{0}></title>",
    "an SVG's style": "<svg><style><{0}></style></svg>",
    "CDATA": "<{0}><svg><desc><![CDATA[></{0}>]]></desc></svg>",
    "capitals": "<{0}><SCRIPT></{0}></Script ><TEXTAREA></{0}></TextArea\n>",
}


@pytest.mark.parametrize("way", HIDING)
def test_deep_page_cannot_be_hidden(way):
    """Quotes, comments and scripts hide no tag and make none, as in the HTML standard's tokenizer."""
    assert "nested" in too_hard(HIDING[way].format("div").encode() * 13_000)


@pytest.mark.parametrize("way", HIDING)
def test_overlapping_tags_cannot_be_hidden(way):
    """Formatting tags have different attributes, so that all are opened again."""
    opened = "".join(HIDING[way].replace("{0}", "{0} i" + str(n), 1).format("b") for n in range(3_000))

    assert "overlap" in too_hard((opened + "<p>x" * 1_000).encode())


@pytest.mark.parametrize(
    "form", [" a{}='>'", ' a{}=">"', " a{} =\n'>'", " a{}='<p>'", " a{}='\">'", " ={}='>'", "/a{}='>'"]
)
def test_quoted_end_of_a_tag_hides_no_attributes(form):
    """A `>` in quotes ends no tag: 5,000 attributes are too many with and without it, and so are
    900 in many tags.
    """
    assert "attributes" in too_hard(attributes(5_000, form))
    assert "attributes" in too_hard(attributes(900, form) * 200)
    assert "" == too_hard(attributes(400, form))


UNITS = (
    "< |<a|<a |<a b='|<a b=\"|<a =|<!--|<!-- -|<!|</|<script>|<script><!--<script>|<script><!--|<title>|<title></|<style></styl|<b>"
    "|<i a='>'>x</i>|<p>|<a \n |<a ////|<a b = c = d|<svg><style><b x>|<svg><![CDATA[</b>]]>|> |<!DOCTYPE '|<xmp></xm|<a b=   "
).split("|")


@pytest.mark.parametrize("unit", UNITS, ids=map(str, range(len(UNITS))))
def test_scan_takes_linear_time(unit):
    """Half a megabyte of anything is scanned at once; looking back or ahead at each place would
    take 10¹¹ steps.
    """
    page = unit.encode() * (500_000 // len(unit))

    with bound_time(2):  # at most 0.1 s
        too_hard(page)


@pytest.mark.parametrize(
    "page",
    [
        b"<div>" * 300 + b"text",
        b"<div>" * 4_000 + b"text" + b"</div>" * 4_000,
        attributes(900),
        b"<p>" * 100_000,
        b"<li>x" * 100_000,
        b"<br>" * 100_000,
        b"<a name=x>" * 20_000,
        b"<div><b>x</b></div>" * 20_000,
        b"<b>" * 3_000,
        b"<" * 900_000,
        b"<script>" + b"for(i=0;i<n;i++){ a = b / c; } " * 5_000 + b"</script>",
        b'<p data-x="' + b"a b " * 5_000 + b'">text',
        b"<!-- <p " + b"a b " * 5_000 + b"-->",
        b"",
    ],
)
def test_page_that_only_seems_slow_is_read(page):
    """Long lists, large scripts, long attribute values and implied end tags do not matter."""
    assert "" == too_hard(page)


def test_real_pages_are_not_refused():
    """They are all pages of the corpus."""
    assert [] == [reason for reason in map(too_hard, data_sets.html_pages()) if reason]


def test_versions_of_real_pages_are_not_refused():
    """One in ten is tested."""
    bodies = [body for _, body in data_sets.files_of("page_versions/terms-html.tar.zst")]

    assert [] == [reason for reason in map(too_hard, bodies[::10]) if reason]
