"""Feeds: what is the same entry, over ids that churn, titles that flap, and what was there
before (detection §5).
"""

import json
from collections import Counter
from urllib.parse import urlsplit

import pytest

from tests.data_sets import files_of
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.data.items import marks_of
from tidings.detection.find.keyed import MOST_MARKS, remember
from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import compare_bodies
from tidings.document.extract import extract
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.document.structures.entries import entries_of
from tidings.model.watch.interest import Condition, Interest, Selector

ITEMS = Interest("items")


def feeds():
    """Return the versions of each real feed."""
    pages: dict[str, list[tuple[str, bytes]]] = {}
    for name, body in files_of("page_versions/feed.tar.zst"):
        pages.setdefault(name.rsplit("/", 1)[0], []).append((name, body))
    return [[body for _, body in sorted(versions)] for versions in pages.values()]


def feed_of(body):
    return parse(body, "application/rss+xml", url="http://x.org/feed", keep_tree=True)


def rss(*items):
    inside = "".join(
        f"<item><title>{title}</title><guid isPermaLink='false'>{id_}</guid><link>{link}</link><description>{text}</description></item>"
        for id_, title, link, text in items
    )
    return f"<rss version='2.0'><channel><title>f</title>{inside}</channel></rss>"


def feed(text, media="application/rss+xml"):
    return parse(text.encode(), media, url="http://x.org/feed", keep_tree=True)


def follow(*texts, interest=ITEMS, media="application/rss+xml"):
    """Return what somebody hears who looks at these versions one after the other: (inserted,
    deleted, updated) of each.
    """
    seen: tuple[str, ...] = ()
    heard, before = [], None
    for text in texts:
        document = feed(text, media)
        if before is not None:
            change = evaluate(interest, Pair(before, document).knowing(frozenset(seen)))
            heard.append((list(change.inserted), list(change.deleted), list(change.updated)))
        seen, before = remember(seen, marks_of(document)), document
    return heard


def post(number, *, id_=None, title=None, link=None, text="text"):
    return (id_ or f"id{number}", title or f"Title {number}", link or f"http://x.org/{number}", text)


QUIET: tuple[list[str], list[str], list[tuple[str, str]]] = ([], [], [])


def new(number):
    return ([f"Title {number} http://x.org/{number}"], [], [])


ONE, TWO, THREE, FOUR = map(post, (1, 2, 3, 4))


def test_an_entry_that_comes_back_is_not_new():
    """It fell off the end, or was taken out and put in again: whoever has read it is not told
    again.
    """
    assert [new(4), QUIET] == follow(rss(THREE, TWO, ONE), rss(FOUR, THREE, TWO), rss(ONE, FOUR, THREE, TWO))


def test_an_entry_that_comes_back_under_another_id_is_not_new():
    """It leads where it led."""
    again = post(1, id_="other")

    assert [new(4), QUIET] == follow(rss(THREE, TWO, ONE), rss(FOUR, THREE, TWO), rss(again, FOUR, THREE, TWO))


def test_ids_that_are_all_given_anew_are_no_news():
    """At every look other ids; links and titles are what they were. A new entry among them is
    told.
    """
    versions = [rss(*(post(n, id_=f"{look}-{n}") for n in (3, 2, 1))) for look in range(4)]
    more = rss(*(post(n, id_=f"x-{n}") for n in (4, 3, 2, 1)))

    assert [QUIET, QUIET, QUIET, new(4)] == follow(*versions, more)


def test_ids_and_links_given_anew_leave_the_titles():
    """A feed that moved: what has the same title is the same, and one that is nearly the same
    was edited.
    """
    moved = [post(n, id_=f"y{n}", link=f"https://new.org/{n}") for n in (2, 1)]
    titles = [("a", "A long title of an entry", "http://x.org/a", "t"), TWO]
    edited = [("b", "A long title of the entry", "https://new.org/b", "t"), moved[0]]

    assert [QUIET] == follow(rss(TWO, ONE), rss(*moved))
    ((inserted, deleted, updated),) = follow(rss(*titles), rss(*edited))
    assert ([], [], 1) == (inserted, deleted, len(updated))


def test_a_title_shown_in_turn_with_another_is_told_once():
    """A/B tests of headlines: the second title is an update, the way back and forth is silence;
    a new text is told all the same.
    """
    first, second = post(1, title="Mild", text="body"), post(1, title="Shocking", text="body")
    third = post(1, title="Mild", text="another body")
    heard = follow(*map(rss, (first, second, first, second, third)))

    assert [1, 0, 0, 1] == [len(updated) for _, _, updated in heard]
    assert [("Mild http://x.org/1", "Shocking http://x.org/1")] == heard[0][2]
    assert all(not inserted and not deleted for inserted, deleted, _ in heard)


@pytest.mark.parametrize(
    ("old", "new_"),
    [
        ((THREE, TWO, ONE), (ONE, THREE, TWO)),
        ((THREE, TWO, ONE), (THREE, TWO)),
        ((ONE, ONE, TWO), (ONE, TWO, ONE)),
        ((ONE, TWO), (ONE, ONE, TWO)),
    ],
    ids=["order", "off the end", "twice in another order", "one twice"],
)
def test_what_is_no_news_of_a_feed(old, new_):
    """Order, what falls off, an entry that is there twice."""
    heard = follow(rss(*old), rss(*new_))

    assert [] == heard[0][1]
    assert len(heard[0][0]) <= (new_.count(ONE) > old.count(ONE))


def test_entries_of_a_list_are_told_each_time():
    """A page's list is no feed: what is there again has come."""
    bodies = [json.dumps([{"id": n} for n in numbers]) for numbers in ((1, 2), (1,), (1, 2))]

    assert [1, 0] == [len(deleted) for _, deleted, _ in follow(*bodies, media="application/json")]
    assert [0, 1] == [len(inserted) for inserted, _, _ in follow(*bodies, media="application/json")]


def test_conditions_see_news_only():
    """What was there before has no part in `contains`."""
    wanted = Interest("items", where=(Condition("contains", text="Title 1"),))

    assert [QUIET] == follow(rss(THREE, TWO, ONE), rss(THREE, TWO), rss(ONE, THREE, TWO), interest=wanted)[1:]


def test_marks_are_bounded_and_those_of_what_is_there_stay():
    """The oldest go first."""
    seen = remember([f"m{n}" for n in range(MOST_MARKS)], ["new", "m5"])

    assert MOST_MARKS == len(seen)
    assert ("m1", "m2", "new", "m5") == (*seen[:2], *seen[-2:])
    assert len(remember([], [f"m{n}" for n in range(2 * MOST_MARKS)])) == 2 * MOST_MARKS


ATOM = (
    "<feed xmlns='http://www.w3.org/2005/Atom'><title>f</title><entry><id>urn:1</id><title type='html'>A &amp;amp; &lt;b&gt;B&lt;/b&gt;</title>"
    "<link rel='self' href='/self'/><link rel='alternate' href='/1'/><updated>{when}</updated>"
    "<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>one</p><p>t<b>wo</b></p></div></content></entry></feed>"
)
RDF = (
    "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'><channel rdf:about='c'/>"
    "<item rdf:about='http://x.org/1'><title>A</title><link>http://x.org/1</link><description>d</description></item></rdf:RDF>"
)
ENCODED = (
    "<rss xmlns:content='http://purl.org/rss/1.0/modules/content/'><channel><item><title>A</title><guid>http://x.org/1</guid>"
    "<description>short</description><content:encoded><![CDATA[<p>the whole <i>text</i></p>]]></content:encoded></item></channel></rss>"
)
BROKEN = "<rss version='2.0'><channel><item><guid>1</guid><title>A & B</title><link>/1</link><description>x &nbsp; y</description></item></channel>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ATOM, ("urn:1", "/1", "A & B", "A & B one two")),
        (RDF, ("http://x.org/1", "http://x.org/1", "A", "A d")),
        (ENCODED, ("http://x.org/1", "http://x.org/1", "A", "A the whole text")),
        (BROKEN, ("1", "/1", "A & B", "A & B x y")),
        (rss(ONE), ("id1", "http://x.org/1", "Title 1", "Title 1 text")),
    ],
    ids=["atom", "rdf", "content:encoded", "not well-formed", "rss"],
)
def test_feeds_of_every_form(text, expected):
    """What an entry is called, where it leads, its title and its text."""
    (entry,) = entries_of(feed(text))

    assert expected == (entry.id, entry.link, entry.title, entry.text)


@pytest.mark.parametrize("text", [ATOM, RDF, ENCODED, rss(THREE, TWO, ONE)], ids=["atom", "rdf", "encoded", "rss"])
def test_entries_that_are_selected_are_those_of_the_feed(text):
    """One reader: a selector that finds all entries changes nothing about them."""
    whole = feed(text)
    xpath = "//*[local-name()='item' or local-name()='entry']"
    part = extract(whole, Extraction((Selector("xpath", xpath),)))

    assert entries_of(whole) == entries_of(part)


def test_a_feed_that_was_broken_for_a_while_has_no_news():
    """Read by another reader its entries are the same."""
    whole = rss(THREE, TWO, ONE)

    assert [QUIET, QUIET] == follow(whole, whole.replace("</channel></rss>", "<oops"), whole)


def test_the_html_of_a_json_feed_is_text():
    """Other markup is no edit."""
    text = '{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "title": "A", "content_html": "%s"}]}'

    assert [QUIET] == follow(text % "<p>x</p>", text % "<div class=y>x</div>", media="application/feed+json")
    assert 1 == len(follow(text % "<p>x</p>", text % "<p>z</p>", media="application/feed+json")[0][2])


def test_entries_that_share_where_they_lead_are_each_new():
    """No ids, and one address for all (a feed of releases): the titles tell them apart, also
    those that come later.
    """

    def release(*numbers):
        items = "".join(f"<item><title>Release {n}</title><link>http://x.org/</link></item>" for n in numbers)
        return f"<rss version='2.0'><channel>{items}</channel></rss>"

    heard = follow(release(2, 1), release(3, 2), release(4, 3), release(1, 4, 3))

    assert [["Release 3 http://x.org/"], ["Release 4 http://x.org/"], []] == [inserted for inserted, _, _ in heard]


def test_an_id_that_several_share_hides_nothing():
    """The same guid on every entry."""
    heard = follow(*(rss(*(post(n, id_="same") for n in numbers)) for numbers in ((2, 1), (3, 2, 1), (4, 3, 2))))

    assert [new(3), new(4)] == heard


def test_an_empty_feed_between_two_is_no_news():
    """A feed that is empty once deletes nothing, and what was there is not new."""
    assert [QUIET, QUIET] == follow(rss(TWO, ONE), rss(), rss(TWO, ONE))


MOST_BYTES = 20_000
"""Larger feeds are left out for the time that they take."""


def names_of(entries):
    """Return what real entries are known by here: their id if it is their own, and where they
    lead with their title.
    """
    ids = Counter(entry.id for entry in entries)
    own = {entry.id for entry in entries if entry.id and ids[entry.id] == 1}
    return {entry.label: {entry.label, *({entry.id} & own)} for entry in entries}


def test_real_feeds_tell_each_entry_once():
    """Some versions of real feeds: what is told as new was in none before, and of what was in
    none all is told.
    """
    told = fresh_ones = 0
    for versions in (some for some in feeds() if len(some[0]) < MOST_BYTES):
        known: set[str] = set()
        seen: tuple[str, ...] = ()
        before = None
        for body in versions[:4]:
            document = feed_of(body)
            names = names_of(entries_of(document))
            if before is not None:
                change = evaluate(ITEMS, Pair(before, document).knowing(frozenset(seen)))
                fresh = {label for label, own in names.items() if not own & known}
                paths = {urlsplit(label.rsplit(" ", 1)[-1]).path for label in fresh}
                assert {urlsplit(label.rsplit(" ", 1)[-1]).path for label in change.inserted} <= paths
                told, fresh_ones = told + len(set(change.inserted)), fresh_ones + len(fresh)
            known.update(*names.values())
            seen, before = remember(seen, marks_of(document)), document

    assert told == fresh_ones > 60


@pytest.mark.parametrize("kind", ["any", "words", "items"])
@pytest.mark.parametrize("moved", ["pubDate", "slash:comments"])
def test_when_an_entry_was_published_and_how_many_answered_it_is_no_news_alone(kind, moved):
    """Its text is; a date in a text is a text."""

    def feed(value, text="text of 5 May"):
        parts = {"pubDate": "Mon, 05 Jan 2026 10:00:00 GMT", "slash:comments": "1"} | ({moved: value} if value else {})
        inner = "".join(f"<{name}>{said}</{name}>" for name, said in parts.items())
        body = (
            "<?xml version='1.0'?><rss version='2.0' xmlns:slash='http://purl.org/rss/1.0/modules/slash/'><channel><title>t</title>"
            f"<item><guid>g</guid><title>T</title>{inner}<description>{text}</description></item></channel></rss>"
        )
        return Body(data=body.encode(), content_type="application/rss+xml", url="http://x.org/")

    assert not compare_bodies(feed(""), feed("Tue, 06 Jan 2026 10:00:00 GMT"), Interest(kind))[0]
    assert compare_bodies(feed(""), feed("", "text of 6 May"), Interest(kind))[0]


SITEMAP = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</urlset>"


@pytest.mark.parametrize(
    ("text", "media"),
    [
        (lambda n: SITEMAP.format("".join(f"<url><loc>/{at}</loc></url>" for at in range(n))), "application/xml"),
        (
            lambda n: json.dumps(
                {
                    "version": "https://jsonfeed.org/version/1",
                    "items": [{"id": f"i{at}", "url": f"/{at}", "title": f"T{at}"} for at in range(n)],
                }
            ),
            "application/json",
        ),
    ],
)
def test_a_new_address_of_data_is_told_once(text, media):
    """`any change` has it among its words, `links` as a link, `items` as an entry."""

    def insert(kind):
        old, new_ = (Body(data=text(n).encode(), content_type=media, url="http://x.org/") for n in (2, 3))
        found = compare_bodies(old, new_, Interest(kind))
        return list(found[0].inserted)

    assert [1, ["http://x.org/2"], 1] == [len(insert("any")), insert("links"), len(insert("items"))]


PODCAST = "<enclosure url='{}' type='audio/mpeg' length='1'/>"
OF_ATOM = "<link rel='enclosure' href='{}'/>"


def enclosing(form, address):
    match form:
        case "rss":
            item = f"<item><guid>1</guid><title>One</title><link>/1</link>{PODCAST.format(address)}</item>"
            return f"<?xml version='1.0'?><rss version='2.0'><channel><title>t</title>{item}</channel></rss>"
        case "atom":
            entry = f"<entry><id>1</id><title>One</title><link href='/1'/>{OF_ATOM.format(address)}</entry>"
            return f"<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title>{entry}</feed>"
        case "atom in rss":
            return enclosing("rss", "").replace(
                PODCAST.format(""), f"<a:link xmlns:a='http://www.w3.org/2005/Atom' rel='enclosure' href='{address}'/>"
            )
        case "broken":
            return enclosing("rss", address).replace("<title>t</title>", "<title>t & u</title>")
        case _:
            attached = {
                "id": "1",
                "title": "One",
                "url": "/1",
                "attachments": [{"url": address, "mime_type": "audio/mpeg"}],
            }
            return json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [attached]})


FORMS = ("rss", "atom", "atom in rss", "broken", "json")


def list_enclosures(form, before, now, kind="items"):
    media = "application/feed+json" if form == "json" else "application/xml"
    old, new = (
        parse(enclosing(form, address).encode(), media, url="http://x.org/feed", keep_tree=True)
        for address in (before, now)
    )
    return evaluate(Interest(kind), Pair(old, new))


@pytest.mark.parametrize("form", FORMS)
def test_another_file_enclosed_is_told(form):
    """An entry of which only the enclosure is another one is an update that says which, in each
    form of feeds.
    """
    found = list_enclosures(form, "http://cdn.org/a.mp3", "http://cdn.org/b.mp3")

    assert (("One: /a.mp3", "One: /b.mp3"),) == found.updated


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("now", ["http://cdn2.org/a.mp3", "https://cdn.org/a.mp3?sig=2", "/a.mp3"])
def test_the_same_file_on_another_host_is_no_news(form, now):
    """Hosts and queries of enclosures come from machines: signatures, counters, the nearest
    server.
    """
    assert not list_enclosures(form, "http://cdn.org/a.mp3?sig=1", now)


@pytest.mark.parametrize("form", ["rss", "atom", "json"])
@pytest.mark.parametrize(("before", "now"), [("", "/a.mp3"), ("/a.mp3", "")])
def test_an_enclosure_that_comes_or_goes_is_told(form, before, now):
    """An entry that had no recording and has one."""
    assert list_enclosures(form, before, now).updated


@pytest.mark.parametrize("form", ["rss", "atom", "json"])
@pytest.mark.parametrize("kind", ["any", "links"])
def test_any_change_and_links_tell_enclosures(kind, form):
    """They are links of a feed."""
    assert list_enclosures(form, "http://cdn.org/a.mp3", "http://cdn.org/b.mp3", kind)


def test_a_new_entry_with_an_enclosure_is_told_once():
    """As before: by its title and where it leads."""
    (found,) = [evaluate(ITEMS, Pair(feed(rss()), feed(enclosing("rss", "/a.mp3"))))]

    assert (("One http://x.org/1",), ()) == (found.inserted, found.updated)


@pytest.mark.parametrize("form", FORMS)
def test_an_enclosure_that_no_browser_finds_hides_no_change(form):
    """A feed is compared whatever addresses it names."""
    assert not list_enclosures(form, "http://[::1/a.mp3", "http://[::1/a.mp3")
    assert list_enclosures(form, "http://[::1/a.mp3", "http://cdn.org/b.mp3").updated
