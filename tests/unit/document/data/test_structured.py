"""JSON, XML, feeds and calendars as texts."""

import pytest

from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import compare_bodies
from tidings.document.parse import parse
from tidings.model.watch.interest import Interest

RSS = "<?xml version='1.0'?><rss><channel><title>News</title>{}<item><title>One</title><link>http://x/1</link>{}</item></channel></rss>"


def words(data, content_type=None):
    return parse(data.encode(), content_type).tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"name": "caf\\u00e9", "n": [1.50, true, null]}', ["n", "1.50", "true", "null", "name", "café"]),
        ('{"a": 1, "a": 2}', ["a", "1", "a", "2"]),
        ('{"b": {"d": 1, "c": 2}, "a": [3, 1]}', ["a", "3", "1", "b", "c", "2", "d", "1"]),
        ('{"a": NaN, "b": 1e999}', ["a", "NaN", "b", "1e999"]),
        ('["\\ud800x"]', ["\ufffd", "x"]),
        ('{"a": "<b>x</b>"}', ["a", "<", "b", ">", "x", "<", "b", ">"]),
    ],
)
def test_json_text_has_sorted_keys_and_values(text, expected):
    """Keys are sorted and escapes are decoded; of a double key both count (H-066, H-067)."""
    assert expected == words(text)


def test_numbers_may_have_any_length():
    """A 5,000-digit integer is a word like another (H-066)."""
    assert ["9" * 5_000] == words(f"[{'9' * 5_000}]")


def test_json_that_is_too_deep_is_read_as_text():
    """100,000 nested arrays (H-065) raise nothing, and their words are compared."""
    assert ["deep"] == words("[" * 100_000 + '"deep"')


def test_xml_text_is_that_of_its_elements():
    """Each element separates words; comments and instructions are no text; CDATA and attributes
    are.
    """
    assert ["no", "a", "b", "c", "d"] == words(
        '<?xml version="1.0"?><x y="no">a<y>b</y>c<!-- no --><?no no?><z><![CDATA[d]]></z></x>'
    )


def test_attributes_of_xml_are_sorted_by_name():
    """Their values count; their order, prefixes and the place of the schema do not; in a feed only
    texts count.
    """
    rate = '<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b"><c rate="1.08" currency="USD"/></r>'
    other = "<r><c currency='USD' rate='1.08'></c></r>"

    assert ["USD", "1.08"] == words(f"<?xml version='1.0'?>{rate}") == words(f"<?xml version='1.0'?>{other}")
    assert ["a"] == words('<rss version="2.0"><channel><item><title lang="en">a</title></item></channel></rss>')


def test_html_in_a_feed_has_its_own_text():
    """A description of escaped HTML or CDATA is read as a reader shows it."""
    escaped = RSS.format("", "<description>&lt;p&gt;un&lt;b&gt;broken&lt;/b&gt;&lt;/p&gt;</description>")
    section = RSS.format("", "<description><![CDATA[<p>un<b>broken</b></p>]]></description>")

    assert words(escaped) == words(section)
    assert "unbroken" in words(escaped)


def test_build_date_of_a_feed_is_no_text():
    """`lastBuildDate` differs at each poll, and so may the date of an item; their other text stays."""
    first = RSS.format("<lastBuildDate>Mon 10:06:29</lastBuildDate>", "<pubDate>Mon 9:00</pubDate>")
    second = RSS.format("<lastBuildDate>Mon 10:14:53</lastBuildDate>", "<pubDate>Mon 9:00</pubDate>")

    assert words(first) == words(second)
    assert words(first) == words(RSS.format("", "<pubDate>Tue 9:00</pubDate>"))


def test_feed_has_links_and_a_title():
    """Its links are its link elements; the title is the first one."""
    feed = parse(RSS.format("", "").encode())
    atom = parse(
        b'<feed xmlns="http://www.w3.org/2005/Atom"><title>A</title><entry><link href="http://x/2"/></entry></feed>'
    )

    assert ("News", ("http://x/1",)) == (feed.title, feed.links)
    assert ("A", ("http://x/2",)) == (atom.title, atom.links)


@pytest.mark.parametrize(
    "document_type",
    [
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:1/"> %p;]>',
        "<!DOCTYPE x [<!ENTITY a '"
        + "ha" * 10
        + "'>"
        + "".join(f"<!ENTITY {b} '{('&' + a + ';') * 10}'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
        + "<!ENTITY e '&i;'>]>",
    ],
    ids=["file", "network", "laughs"],
)
def test_entities_are_neither_loaded_nor_expanded(document_type):
    """One that names a file or an address, or one that grows, gives nothing (H-061 to H-063)."""
    document = parse(f'<?xml version="1.0"?>{document_type}<rss><title>t</title><x>before &e; after</x></rss>'.encode())

    assert "root" not in document.text
    assert len(document.text) < 4_000
    assert {"before", "after"} <= set(document.tokens)


def test_invalid_xml_is_read_as_text():
    """A body that ends early or is nested too deeply keeps every word."""
    assert "kept" in words('<?xml version="1.0"?><a>kept')
    assert "kept" in words('<?xml version="1.0"?>' + "<a>" * 100_000 + "kept")


@pytest.mark.parametrize(
    "lead", ["\n", " \r\n\t", "\ufeff", "\n\ufeff", "<!-- made by x -->\n", "\n<!-- a --><!-- b -->"]
)
def test_xml_is_read_after_text_before_it(lead):
    """A feed has the same entries and links with and without it."""
    declared = "<?xml version='1.0' encoding='utf-8'?>"
    feed = (
        "<rss version='2.0'><channel><item><title>Entry</title><link>http://b.example/1</link></item></channel></rss>"
    )
    for text, media in ((feed, "application/rss+xml"), ("<r><c id='1'>a</c></r>", "application/xml")):
        plain, late = (
            parse(f"{before}{declared}{text}".encode(), media, url="http://x.org/", keep_tree=True)
            for before in ("", lead)
        )

        assert (plain.media, plain.pieces, plain.links) == (late.media, late.pieces, late.links)
        assert late.media != "text"


def calendar(*events):
    return (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"
        + "".join(f"BEGIN:VEVENT\r\n{event}\r\nEND:VEVENT\r\n" for event in events)
        + "END:VCALENDAR\r\n"
    )


def compare(old, new):
    first, second = (
        Body(data=text.encode(), content_type="text/calendar; charset=utf-8", url="http://x.org/")
        for text in (old, new)
    )
    change, problem = compare_bodies(first, second, Interest("any"))
    assert not problem
    return " ".join((*change.inserted, *change.deleted, *(text for pair in change.updated for text in pair)))


A = "UID:a\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Tea for all of us\r\nSEQUENCE:1"
B = "UID:b\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Walk\r\nBEGIN:VALARM\r\nTRIGGER:-PT15M\r\nEND:VALARM"


@pytest.mark.parametrize(
    "new",
    [
        calendar(B, A),
        calendar(A.replace("20260101", "20260202"), B.replace("20260101", "20260203")),
        calendar(A.replace("SEQUENCE:1", "SEQUENCE:7"), B),
        calendar(A.replace("Tea for all", "Tea fo\r\n r all"), B),
        calendar(A + "\r\nLAST-MODIFIED:20260101T000000Z", B).replace("\r\n", "\n"),
    ],
)
def test_technical_parts_of_a_calendar_are_no_change(new):
    """They are the order of events, stamps, the count of edits, folded lines, and line ends."""
    assert "" == compare(calendar(A, B), new)


@pytest.mark.parametrize(
    ("new", "text"),
    [
        (calendar(A.replace("Tea", "Coffee"), B), "Coffee"),
        (calendar(A, B.replace("PT15M", "PT30M")), "PT30M"),
        (calendar(A, B, "UID:c\r\nSUMMARY:Swimming"), "Swimming"),
        (calendar(B), "Tea"),
        (calendar(A, B)[:-20], "END"),
    ],
)
def test_event_of_a_calendar_is_compared(new, text):
    """Its summary, its alarm, a new or missing event, and a truncated calendar are changes."""
    assert text in compare(calendar(A, B), new)
