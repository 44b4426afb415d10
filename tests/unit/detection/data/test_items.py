"""Feeds: which entries are the same, with changing ids, alternating titles and returning entries
(detection §5).
"""

import json
from collections import Counter
from urllib.parse import urlsplit

import pytest

from tests.data_sets import files_of
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.data.items import Items, marks_of
from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import compare_bodies
from tidings.document.extract import extract
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.document.structures.entries import entries_of
from tidings.model.watch.interest import Condition, Interest, Selector
from tidings.service.watch.subscription_memory import MOST_MARKS, remember

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
    """Return what is reported of these versions one after the other: (inserted, deleted, updated)
    of each.
    """
    seen: tuple[str, ...] = ()
    received, before = [], None
    for text in texts:
        document = feed(text, media)
        if before is not None:
            change = evaluate(interest, Pair(before, document).knowing(frozenset(seen)))
            received.append((list(change.inserted), list(change.deleted), list(change.updated)))
        seen, before = remember(seen, marks_of(document)), document
    return received


def post(number, *, id_=None, title=None, link=None, text="text"):
    return (id_ or f"id{number}", title or f"Title {number}", link or f"http://x.org/{number}", text)


QUIET: tuple[list[str], list[str], list[tuple[str, str]]] = ([], [], [])


def new(number):
    return ([f"Title {number} http://x.org/{number}"], [], [])


ONE, TWO, THREE, FOUR = map(post, (1, 2, 3, 4))


def test_returning_entry_is_not_new():
    """It fell off the end, or was removed and added again."""
    assert [new(4), QUIET] == follow(rss(THREE, TWO, ONE), rss(FOUR, THREE, TWO), rss(ONE, FOUR, THREE, TWO))


def test_returning_entry_with_another_id_is_not_new():
    """Its link is the same."""
    again = post(1, id_="other")

    assert [new(4), QUIET] == follow(rss(THREE, TWO, ONE), rss(FOUR, THREE, TWO), rss(again, FOUR, THREE, TWO))


def test_new_ids_of_all_entries_are_no_news():
    """At every check ids differ, and links and titles are the same. A new entry among them is
    reported.
    """
    versions = [rss(*(post(n, id_=f"{poll}-{n}") for n in (3, 2, 1))) for poll in range(4)]
    more = rss(*(post(n, id_=f"x-{n}") for n in (4, 3, 2, 1)))

    assert [QUIET, QUIET, QUIET, new(4)] == follow(*versions, more)


def test_entries_with_new_ids_and_links_are_known_by_their_titles():
    """The feed moved: equal titles are the same entry, and a nearly equal one was edited."""
    moved = [post(n, id_=f"y{n}", link=f"https://new.org/{n}") for n in (2, 1)]
    titles = [("a", "A long title of an entry", "http://x.org/a", "t"), TWO]
    edited = [("b", "A long title of the entry", "https://new.org/b", "t"), moved[0]]

    assert [QUIET] == follow(rss(TWO, ONE), rss(*moved))
    ((inserted, deleted, updated),) = follow(rss(*titles), rss(*edited))
    assert ([], [], 1) == (inserted, deleted, len(updated))


def test_edited_title_among_new_ids_is_only_an_update():
    """It stands between two others."""
    long = ("b", "A long title of an entry", "http://x.org/b", "t")
    moved = ("y", "A long title of the entry", "https://new.org/b", "t")
    first, last = (post(n, id_=f"y{n}", link=f"https://new.org/{n}") for n in (1, 3))
    ((inserted, deleted, updated),) = follow(rss(ONE, long, THREE), rss(first, moved, last))

    assert ([], [], 1) == (inserted, deleted, len(updated))


def test_alternating_title_is_reported_once():
    """A/B tests of headlines: the second title is an update, and the alternation is silent; a new
    text is reported all the same.
    """
    first, second = post(1, title="Mild", text="body"), post(1, title="Shocking", text="body")
    third = post(1, title="Mild", text="another body")
    received = follow(*map(rss, (first, second, first, second, third)))

    assert [1, 0, 0, 1] == [len(updated) for _, _, updated in received]
    assert [("Mild http://x.org/1", "Shocking http://x.org/1")] == received[0][2]
    assert all(not inserted and not deleted for inserted, deleted, _ in received)


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
def test_order_and_repeated_entries_are_no_news(old, new_):
    """Nor is an entry that falls off the end."""
    received = follow(rss(*old), rss(*new_))

    assert [] == received[0][1]
    assert len(received[0][0]) <= (new_.count(ONE) > old.count(ONE))


def test_returning_item_of_a_list_is_new_each_time():
    """A list on a page is no feed."""
    bodies = [json.dumps([{"id": n} for n in numbers]) for numbers in ((1, 2), (1,), (1, 2))]

    assert [1, 0] == [len(deleted) for _, deleted, _ in follow(*bodies, media="application/json")]
    assert [0, 1] == [len(inserted) for inserted, _, _ in follow(*bodies, media="application/json")]


def test_conditions_are_about_new_entries_only():
    """Entries that were there before do not count for `contains`."""
    wanted = Interest("items", where=(Condition("contains", text="Title 1"),))

    assert [QUIET] == follow(rss(THREE, TWO, ONE), rss(THREE, TWO), rss(ONE, THREE, TWO), interest=wanted)[1:]


def test_marks_of_entries_are_limited():
    """The oldest are removed first; those of present entries stay."""
    seen = remember([f"m{n}" for n in range(MOST_MARKS)], ["new", "m5"])

    assert MOST_MARKS == len(seen)
    assert ("m1", "m2", "new", "m5") == (*seen[:2], *seen[-2:])
    assert 2 * MOST_MARKS == len(remember([], [f"m{n}" for n in range(2 * MOST_MARKS)]))


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
def test_every_form_of_feed_has_entries(text, expected):
    """Each has name, link, title and text."""
    (entry,) = entries_of(feed(text))

    assert expected == (entry.id, entry.link, entry.title, entry.text)


@pytest.mark.parametrize("text", [ATOM, RDF, ENCODED, rss(THREE, TWO, ONE)], ids=["atom", "rdf", "encoded", "rss"])
def test_selected_entries_are_those_of_the_feed(text):
    """A selector that finds all entries changes nothing about them."""
    whole = feed(text)
    xpath = "//*[local-name()='item' or local-name()='entry']"
    part = extract(whole, Extraction((Selector("xpath", xpath),)))

    assert entries_of(whole) == entries_of(part)


def test_feed_that_was_malformed_for_a_while_has_no_news():
    """Another parser reads the same entries."""
    whole = rss(THREE, TWO, ONE)

    assert [QUIET, QUIET] == follow(whole, whole.replace("</channel></rss>", "<oops"), whole)


def test_html_of_a_json_feed_is_text():
    """Other markup is no edit."""
    text = '{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "title": "A", "content_html": "%s"}]}'

    assert [QUIET] == follow(text % "<p>x</p>", text % "<div class=y>x</div>", media="application/feed+json")
    assert 1 == len(follow(text % "<p>x</p>", text % "<p>z</p>", media="application/feed+json")[0][2])


def test_entries_with_one_link_are_distinguished_by_title():
    """They have no ids, as in a feed of releases, and later ones are distinguished too."""

    def release(*numbers):
        items = "".join(f"<item><title>Release {n}</title><link>http://x.org/</link></item>" for n in numbers)
        return f"<rss version='2.0'><channel>{items}</channel></rss>"

    received = follow(release(2, 1), release(3, 2), release(4, 3), release(1, 4, 3))

    assert [["Release 3 http://x.org/"], ["Release 4 http://x.org/"], []] == [inserted for inserted, _, _ in received]


def test_shared_id_hides_no_entry():
    """Every entry has the same guid."""
    received = follow(*(rss(*(post(n, id_="same") for n in numbers)) for numbers in ((2, 1), (3, 2, 1), (4, 3, 2))))

    assert [new(3), new(4)] == received


def test_feed_that_is_empty_once_has_no_news():
    """Nothing is deleted, and the entries are not new afterwards."""
    assert [QUIET, QUIET] == follow(rss(TWO, ONE), rss(), rss(TWO, ONE))


MOST_BYTES = 20_000
"""Larger feeds are left out for the time that they take."""


def names_of(entries):
    """Return the names of real entries: their own ids, and link with title."""
    ids = Counter(entry.id for entry in entries)
    own = {entry.id for entry in entries if entry.id and ids[entry.id] == 1}
    return {entry.label: {entry.label, *({entry.id} & own)} for entry in entries}


def test_real_feeds_report_each_entry_once():
    """New entries were in no earlier version, and all of those are reported."""
    reported = fresh_ones = 0
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
                reported, fresh_ones = reported + len(set(change.inserted)), fresh_ones + len(fresh)
            known.update(*names.values())
            seen, before = remember(seen, marks_of(document)), document

    assert reported == fresh_ones > 60


@pytest.mark.parametrize("kind", ["any", "words", "items"])
@pytest.mark.parametrize("moved", ["pubDate", "slash:comments"])
def test_date_and_answers_of_an_entry_are_no_news(kind, moved):
    """Its text is; a date in a text is a text."""

    def feed(value, text="text of 5 May"):
        parts = {"pubDate": "Mon, 05 Jan 2026 10:00:00 GMT", "slash:comments": "1"} | ({moved: value} if value else {})
        inner = "".join(f"<{name}>{output}</{name}>" for name, output in parts.items())
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
def test_new_address_of_data_is_reported_once(text, media):
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
def test_other_enclosure_is_reported(form):
    """The entry is updated with its name, in each form of feed."""
    found = list_enclosures(form, "http://cdn.org/a.mp3", "http://cdn.org/b.mp3")

    assert (("One: /a.mp3", "One: /b.mp3"),) == found.updated


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("now", ["http://cdn2.org/a.mp3", "https://cdn.org/a.mp3?sig=2", "/a.mp3"])
def test_same_enclosure_on_another_host_is_no_news(form, now):
    """Hosts and queries come from machines: signatures, counters, the nearest server."""
    assert not list_enclosures(form, "http://cdn.org/a.mp3?sig=1", now)


@pytest.mark.parametrize("form", ["rss", "atom", "json"])
@pytest.mark.parametrize(("before", "now"), [("", "/a.mp3"), ("/a.mp3", "")])
def test_new_or_missing_enclosure_is_reported(form, before, now):
    """The entry had no recording before."""
    assert list_enclosures(form, before, now).updated


@pytest.mark.parametrize("form", ["rss", "atom", "json"])
@pytest.mark.parametrize("kind", ["any", "links"])
def test_any_change_and_links_report_enclosures(kind, form):
    """They are links of a feed."""
    assert list_enclosures(form, "http://cdn.org/a.mp3", "http://cdn.org/b.mp3", kind)


def test_new_entry_with_an_enclosure_is_reported_once():
    """It has its title and link."""
    (found,) = [evaluate(ITEMS, Pair(feed(rss()), feed(enclosing("rss", "/a.mp3"))))]

    assert (("One http://x.org/1",), ()) == (found.inserted, found.updated)


@pytest.mark.parametrize("form", FORMS)
def test_unreadable_enclosure_hides_no_change(form):
    """A feed is compared with any addresses."""
    assert not list_enclosures(form, "http://[::1/a.mp3", "http://[::1/a.mp3")
    assert list_enclosures(form, "http://[::1/a.mp3", "http://cdn.org/b.mp3").updated


def found_by(kind, *given):
    """Return (inserted, deleted, updated) of a kind's findings."""
    found = given[0] if len(given) == 1 else kind.compare(*given)
    return [([*one.inserted], [*one.deleted], len(one.updated)) for one in found]


def test_empty_feed_is_passing_once_its_entries_are_known():
    """Before that, its entries went."""
    full, empty = feed(rss(ONE)), feed(rss())

    assert [([], ["Title 1 http://x.org/1"], 0)] == found_by(Items(), full, empty)
    assert [] == found_by(Items(frozenset(marks_of(full))), full, empty)


def test_marks_of_a_feed_say_nothing_of_a_list():
    """An item that returns to a list is new."""
    known = Items(frozenset(marks_of(feed(rss(ONE)))))
    old, new = (
        feed(json.dumps(value), "application/json")
        for value in ([], [{"id": "id1", "title": "Title 1", "link": "http://x.org/1"}])
    )

    assert 1 == len(found_by(known, old, new)[0][0])


def test_chosen_entries_match_and_went_the_right_way():
    """Deleted ones are chosen only if those are asked for; else those that came or were updated."""
    edited = post(2, text="other")
    old, new_ = feed(rss(THREE, TWO, ONE)), feed(rss(FOUR, edited, ONE))

    def choose(direction, word):
        return found_by(Items(), Items().choose(old, new_, direction, lambda text: word in text))

    assert [(["Title 4 http://x.org/4"], [], 1)] == choose(None, "Title")
    assert [([], ["Title 3 http://x.org/3"], 0)] == choose("deleted", "Title")
    assert [([], [], 1)] == choose(None, "other")
    assert [] == choose("deleted", "other") == choose(None, "Title 3")
