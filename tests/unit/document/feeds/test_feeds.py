"""Feeds: elements by namespace and place, texts as in RFC 4287, addresses by xml:base, JSON Feed,
and compressed bodies.
"""

import gzip
import json

import pytest

from tidings.document.extract import extract
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.document.structures.entries import entries_of
from tidings.model.watch.interest import Selector

MODULES = (
    'xmlns:media="http://search.yahoo.com/mrss/" xmlns:a="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:content="http://purl.org/rss/1.0/modules/content/"'
)
ATOM = "http://www.w3.org/2005/Atom"
XHTML = 'xmlns="http://www.w3.org/1999/xhtml"'
RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
URLSET = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</urlset>"


def read(text, media="application/xml", url="http://x.org/feed"):
    document = parse(text if isinstance(text, bytes) else text.encode(), media, url=url, keep_tree=True)

    assert not document.problem, document.problem
    return document


def entry(text, media="application/xml"):
    (found,) = entries_of(read(text, media))
    return found


def rss(item, channel=""):
    return f'<rss version="2.0" {MODULES}><channel>{channel}<item>{item}</item></channel></rss>'


def atom(inner, attributes="", feed=""):
    return f'<feed xmlns="{ATOM}" {feed}><title>f</title><entry {attributes}>{inner}</entry></feed>'


@pytest.mark.parametrize(
    "item",
    [
        "<media:title>Photo</media:title><title>Fire</title>",
        "<title>Fire</title><media:content><media:title>Photo</media:title></media:content>",
        "<dc:title>Photo</dc:title><title>Fire</title>",
        "<itunes:title>Photo</itunes:title><title>Fire</title>",
        "<image><title>Photo</title></image><title>Fire</title>",
        "<a:title>Fire</a:title>",
        "<media:group><media:title>Fire</media:title></media:group>",
    ],
)
def test_title_is_the_own_one_of_the_entry(item):
    """A title of an extension or of an inner element counts only if the entry has none."""
    assert "Fire" == entry(rss(item)).title


@pytest.mark.parametrize(
    "item",
    [
        "<description>Nine were hurt</description><media:content><media:credit>Ann</media:credit></media:content>",
        "<media:content url='p.jpg'>Ann</media:content><description>Nine were hurt</description>",
        "<media:description>Ann</media:description><description>Nine were hurt</description>",
        "<itunes:summary>Ann</itunes:summary><description>Nine were hurt</description>",
        "<description>short</description><content:encoded>&lt;p&gt;Nine were hurt</content:encoded>",
        "<media:group><media:description>Nine were hurt</media:description></media:group>",
        f"<description>short</description><body {XHTML}><p>Nine were hurt</p></body>",
    ],
)
def test_text_is_the_longest_of_the_entry(item):
    """The credit of a picture is no content, whatever its element is called."""
    assert "T Nine were hurt" == entry(rss(f"<title>T</title>{item}")).text


@pytest.mark.parametrize(
    ("item", "link"),
    [
        ("<a:link href='http://x.org/self' rel='self'/><link>http://x.org/1</link>", "http://x.org/1"),
        ("<link>http://x.org/1</link><a:link href='http://x.org/self'/>", "http://x.org/1"),
        ("<a:link href='http://x.org/1'/>", "http://x.org/1"),
        ("<a:link href='http://x.org/self' rel='self'/><guid>http://x.org/1</guid>", "http://x.org/1"),
        ("<link/><guid>http://x.org/1</guid>", "http://x.org/1"),
        ("<guid isPermaLink='false'>http://x.org/1</guid>", ""),
        ("<image><link>http://x.org/picture</link></image><link>http://x.org/1</link>", "http://x.org/1"),
    ],
)
def test_link_is_the_own_one_of_the_entry(item, link):
    """Other links replace it only if they lead to the same."""
    assert link == entry(rss(item)).link


@pytest.mark.parametrize(
    "channel",
    [
        "<image><url>http://x.org/logo.png</url><title>Logo</title></image>",
        "<textInput><name>q</name><link>http://x.org/q</link></textInput>",
        "<media:item>no</media:item><itunes:entry>no</itunes:entry>",
        "<category><item>no</item></category>",
    ],
)
def test_element_elsewhere_is_no_entry(channel):
    """A logo of the channel is none, and its title is not the feed's."""
    document = read(rss("<title>T</title>", f"{channel}<title>The Gazette</title>"))

    assert ["T"] == [found.title for found in entries_of(document)]
    assert "The Gazette" == document.title


@pytest.mark.parametrize(
    "text",
    [
        "<rss><channel><item><title>T</title><link>/1</link></item></channel></rss>",
        "<rss version='0.91'><channel/><item><title>T</title><link>/1</link></item></rss>",
        "<rss xmlns='http://backend.userland.com/rss2'><channel><item><title>T</title><link>/1</link></item></channel></rss>",
        f"<rdf:RDF {RDF} xmlns='http://purl.org/rss/1.0/'><channel/><item rdf:about='u'><title>T</title><link>/1</link></item></rdf:RDF>",
        f"<rdf:RDF {RDF} xmlns='http://my.netscape.com/rdf/simple/0.9/'><item><title>T</title><link>/1</link></item></rdf:RDF>",
        f"<rdf:RDF {RDF} xmlns:r='http://purl.org/rss/1.0/'><r:item><r:title>T</r:title><r:link>/1</r:link></r:item></rdf:RDF>",
        "<x:RDF xmlns:x='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'><item><title>T</title><link>/1</link></item></x:RDF>",
        f"<feed xmlns='{ATOM}'><entry><title>T</title><link href='/1'/></entry></feed>",
        f"<b:feed xmlns:b='{ATOM}'><b:entry><b:title>T</b:title><b:link href='/1'/></b:entry></b:feed>",
        "<feed version='0.3' xmlns='http://purl.org/atom/ns#'><entry><title>T</title><link rel='alternate' href='/1'/></entry></feed>",
        "<feed><entry><title>T</title><link href='/1'/></entry></feed>",
    ],
)
@pytest.mark.parametrize("media", ["application/xml", "text/html", "text/plain", "", "application/octet-stream"])
@pytest.mark.parametrize("declared", ["", "<?xml version='1.0'?>\n"])
def test_feed_is_recognized_by_its_root(text, media, declared):
    """RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0 are, with every prefix and content type."""
    document = read(declared + text, media)

    assert ["feed", ("T", "/1")] == [document.media, *((found.title, found.link) for found in entries_of(document))]
    assert ("/1",) == document.links


@pytest.mark.parametrize("text", ["<html><feed></html>", "<p>rss</p>", "<feedback>x</feedback>", "<x:feed>no</x:feed>"])
def test_page_that_mentions_a_feed_is_none(text):
    """Only the root decides."""
    assert "html" == parse(text.encode(), "text/html").media


@pytest.mark.parametrize(
    ("construct", "title"),
    [
        ("<title>1 &lt; 2 &amp;amp; &lt;b&gt;</title>", "1 < 2 &amp; <b>"),
        ("<title type='text'>&lt;b&gt;bold&lt;/b&gt;</title>", "<b>bold</b>"),
        ("<title type='html'>AT&amp;amp;T &lt;b&gt;bold&lt;/b&gt;</title>", "AT&T bold"),
        (f"<title type='xhtml'><div {XHTML}>Recall of <b>lamps</b> &lt;b&gt;</div></title>", "Recall of lamps <b>"),
        (
            "<title type='xhtml'><h:div xmlns:h='http://www.w3.org/1999/xhtml'><h:p>one</h:p><h:p>two</h:p></h:div></title>",
            "one two",
        ),
        ("<title mode='escaped' type='text/html'>&lt;b&gt;bold&lt;/b&gt;</title>", "bold"),
        ("<title mode='base64' type='text/html'>PGI+Ym9sZDwvYj4=</title>", "bold"),
        ("<title mode='base64'>no base64: ä</title>", ""),
    ],
)
def test_text_construct_is_read_by_its_type(construct, title):
    """RFC 4287 §3.1, and the modes of Atom 0.3: plain text is decoded once."""
    assert title == entry(atom(construct)).title
    assert f"T {title}".strip() == entry(atom(f"<title>T</title>{construct.replace('title', 'summary')}")).text


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("the &lt;b&gt; element", "the <b> element"),
        ("&lt;b&gt;bold&lt;/b&gt;", "bold"),
        ("AT&amp;amp;T", "AT&T"),
        ("1 &lt; 2 &amp; 3", "1 < 2 & 3"),
        ("&lt;T&gt; of List&lt;T&gt;&lt;/T&gt;", "<T> of List<T></T>"),
        ("a &amp;madeup; entity", "a &madeup; entity"),
    ],
)
def test_title_of_rss_is_html_if_it_has_tags(title, text):
    """RSS leaves it open: a closing tag or an HTML entity makes it HTML."""
    assert text == entry(rss(f"<title>{title}</title>")).title


def test_malformed_feed_has_its_titles_decoded_once():
    """The library decoded them and says of which type they are."""
    broken = f"<feed xmlns='{ATOM}'><entry><title>the &lt;b&gt; &amp;amp; c</title></entry>"

    assert "the <b> &amp; c" == entry(broken).title


@pytest.mark.parametrize(
    ("feed", "at_entry", "link", "address"),
    [
        ("", "xml:base='http://blog.example/2026/'", "<link href='p1'/>", "http://blog.example/2026/p1"),
        ("xml:base='http://blog.example/'", "", "<link href='p1'/>", "http://blog.example/p1"),
        ("xml:base='http://blog.example/a/'", "xml:base='b/'", "<link href='p1'/>", "http://blog.example/a/b/p1"),
        ("xml:base='/a/'", "xml:base='../b/'", "<link href='p1'/>", "http://x.org/b/p1"),
        ("", "", "<link xml:base='http://l.example/' href='p1'/>", "http://l.example/p1"),
        ("xml:base='http://blog.example/'", "", "<link href='http://o.example/p1'/>", "http://o.example/p1"),
    ],
)
def test_addresses_are_relative_to_xml_base(feed, at_entry, link, address):
    """Each base is relative to the next (RFC 4287 §2)."""
    document = read(atom(f"<title>T</title>{link}", at_entry, feed))
    part = extract(document, Extraction(selectors=(Selector("xpath", "//entry"),)))

    assert [address] * 3 == [entries_of(document)[0].link, *document.links, *part.links]


def test_xml_base_counts_in_rss():
    """An RSS element may have it as well."""
    item = "<title>T</title><link xml:base='http://blog.example/a/'>b</link>"

    assert "http://blog.example/a/b" == entry(rss(item)).link


def json_feed(*items, **more):
    return json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "J", **more, "items": list(items)})


def test_json_feed_is_read_as_a_feed():
    """Entries are its items, also if authors come before them; they have title, content and links."""
    html = {"id": "1", "url": "/1", "title": "One", "content_html": "<p>body</p>", "tags": ["t"], "image": "i.png"}
    other = {"id": 2, "external_url": "http://o.example/2", "content_text": "1 < 2 <b>", "date_modified": "2026-01-01"}
    hubs = [{"type": "rssCloud", "url": "http://c.example/"}, {"type": "WebSub", "url": "http://h.example/"}]
    text = json_feed(html, other, authors=[{"name": "Ann", "url": "/ann"}], hubs=hubs, feed_url="http://x.org/feed")
    document = read(text, "application/feed+json")

    assert [("1", "/1", "One", "One body"), ("2", "http://o.example/2", "", "1 < 2 <b>")] == [
        (found.id, found.link, found.title, found.text) for found in entries_of(document)
    ]
    assert ("J", ("/1", "http://o.example/2")) == (document.title, document.links)
    assert ("http://h.example/", "http://x.org/feed") == (document.hub.address, document.hub.topic)
    assert 1_767_225_600_000_000 == document.updated


@pytest.mark.parametrize("version", ["https://jsonfeed.org/version/1", "http://jsonfeed.org/version/1.1"])
@pytest.mark.parametrize("items", [[], ["no item"], [None, {}], {}, None])
def test_invalid_json_feed_is_read_as_json(version, items):
    """It only claims to be a feed."""
    entries_of(read(json.dumps({"version": version, "items": items}), "application/json"))


@pytest.mark.parametrize(
    "media", ["application/x-gzip", "application/gzip", "application/octet-stream", "application/xml", "text/html", ""]
)
@pytest.mark.parametrize(
    "text", [rss("<title>T</title><link>http://x.org/1</link>"), URLSET.format("<url><loc>http://x.org/1</loc></url>")]
)
def test_compressed_text_is_decompressed(media, text):
    """This is so for every Content-Type; a file may have several members, and text after them is
    left out.
    """
    half = len(text) // 2
    whole = gzip.compress(text[:half].encode()) + gzip.compress(text[half:].encode()) + b"\0\0"

    assert ["http://x.org/1"] == [found.link for found in entries_of(read(whole, media))]


def test_archive_of_files_is_compared_by_its_hash():
    """Its content is no text."""
    packed = gzip.compress(b"name\0\0\0\0")

    assert ("binary", True) == (
        parse(packed, "application/gzip").media,
        parse(packed, "application/gzip").form.startswith("gzip archive"),
    )


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: gzip.compress(b" " * 2_000_000), "becomes more than 200 times larger"),
        (lambda: gzip.compress(b"".join(b"%d " % (n * n) for n in range(900_000)), 1), "more than 10,000,000 bytes"),
        (lambda: gzip.compress(b"text of a page " * 100)[:-12], "ends before its end"),
        (lambda: gzip.compress(b"x") * 1_002, "more than 1,000 parts"),
    ],
    ids=["ratio", "size", "cut", "parts"],
)
def test_bomb_and_truncated_body_are_refused(make, reason):
    """A bomb is not decompressed to its end."""
    assert reason in parse(make(), "application/gzip").problem


def test_sitemap_has_up_to_50_000_addresses():
    """All are links and entries, each once; with one more it is refused, and says so."""
    pages = "".join(f"<url><loc>http://b.example/{n}</loc><lastmod>2026-01-01</lastmod></url>" for n in range(50_000))
    document = read(URLSET.format(pages))
    more = parse(URLSET.format(pages + "<url><loc>/x</loc></url>").encode(), "application/xml")

    assert [50_000, 50_000] == [len(document.links), len(entries_of(document))]
    assert "http://b.example/49999" == document.links[-1] == entries_of(document)[-1].label
    assert "more than 50,000 links" in more.problem


def test_index_of_sitemaps_has_links():
    """Pictures are none: `loc` must be the page's own. Other XML has no links."""
    image = "<image:image xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'><image:loc>http://b.example/p.png</image:loc></image:image>"
    index = "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><sitemap><loc>/a.xml</loc></sitemap></sitemapindex>"

    assert ("/a.xml",) == read(index).links
    assert ("/1",) == read(URLSET.format(f"<url><loc>/1</loc>{image}</url>")).links
    assert () == read("<list><link>/1</link><loc>/2</loc></list>").links
