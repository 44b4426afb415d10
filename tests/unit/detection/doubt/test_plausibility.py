import pytest

from tests import data_sets, wall_pages
from tests.bounded import bound_time
from tidings.detection.doubt.plausibility import FEWEST_USUAL, PLAUSIBLE, Answer, judge
from tidings.detection.job.contract import Body, Job
from tidings.detection.job.examiner import examine
from tidings.document.parse import parse

URL = "https://shop.example/harbour/prices"
TITLE = "Prices – Example"
WORDS = " ".join(f"word{n}" for n in range(100))


def judge_body(body, content_type="text/html; charset=utf-8", *, old=None, **more):
    data = body.encode() if isinstance(body, str) else body
    if old is not None:
        before = old.encode() if isinstance(old, str) else old
        reference = parse(before, content_type)
        known = {"usual_words": reference.words, "usual_title": reference.title}
        more = known | {"reference_data": before, "reference": lambda: reference} | more
    return judge(Answer(document=parse(data, content_type), data=data, **more))


def kind(body, content_type="text/html; charset=utf-8", **more):
    return judge_body(body, content_type, **more)[0]


def make_known(**more):
    return {"usual_words": 500, "usual_title": TITLE} | more


KNOWN_OR_NOT = ({"usual_words": None}, make_known())


def redirect(url, body=f"<title>Welcome</title><p>{WORDS}", asked=URL, **more):
    return kind(body, asked_url=asked, url=url, **make_known(usual_words=110) | more)


@pytest.mark.parametrize(
    ("expected", "body"), [row[1:] for row in wall_pages.MAKERS], ids=[row[0] for row in wall_pages.MAKERS]
)
def test_makers_pages_are_known(expected, body):
    """Walls and errors of known makers: at a first look, and instead of a long page or a short one."""
    assert [expected] * 3 == [kind(body), kind(body, **make_known()), kind(body, usual_words=60, usual_title=TITLE)]


@pytest.mark.parametrize(("language", "text"), wall_pages.ROBOTS)
def test_pages_for_robots_are_known_in_every_language(language, text):
    """A sentence on a page under the site's own title."""
    body = wall_pages.page(TITLE, f"<p>{text}")

    assert ["blocked"] * 3 == [kind(body), kind(body, **make_known()), kind(body, usual_words=60, usual_title=TITLE)]


@pytest.mark.parametrize(("language", "text"), wall_pages.REFUSALS)
def test_refusals_are_known_in_every_language(language, text):
    """As a title or as the text."""
    title, sentence = (
        wall_pages.page(f"{text} | Example", "<p>Home News Contact"),
        wall_pages.page("Example", f"<p>{text}"),
    )

    assert ["blocked"] * 4 == [kind(page, **how) for page in (title, sentence) for how in KNOWN_OR_NOT]


@pytest.mark.parametrize(("language", "text"), wall_pages.NOT_FOUND)
def test_not_found_under_status_200_is_known_in_every_language(language, text):
    """As a title among the site's own navigation or as the text."""
    title = wall_pages.page(f"{text} – Example", f"<nav>{WORDS}</nav>")
    sentence = wall_pages.page("Example", f"<p>{text}")

    assert ["soft_error"] * 4 == [kind(page, **how) for page in (title, sentence) for how in KNOWN_OR_NOT]


@pytest.mark.parametrize(("language", "text"), wall_pages.MAINTENANCE)
def test_maintenance_is_known_in_every_language(language, text):
    """A sentence under the page's own title."""
    body = wall_pages.page(TITLE, f"<h1>Example</h1><p>{text}")

    assert ["soft_error"] * 2 == [kind(body), kind(body, **make_known())]


@pytest.mark.parametrize(("language", "text"), wall_pages.OUT_OF_ORDER)
def test_errors_in_words_are_known_in_every_language(language, text):
    """An error that only words tell, under the page's own title."""
    body = wall_pages.page(TITLE, f"<p>{text}")

    assert ["soft_error"] * 2 == [kind(body), kind(body, **make_known())]


@pytest.mark.parametrize(("language", "title", "text"), wall_pages.LOGINS)
def test_logins_are_known_in_every_language(language, title, text):
    """By the title, by a sentence, by a password field where few words are left."""
    by_title, by_text = wall_pages.page(f"{title} – Example", "<p>Home"), wall_pages.page("Example", f"<p>{text}")
    by_field = wall_pages.page(TITLE, "<input name=user><input type=password> Example")

    assert ["login"] * 3 == [kind(page, **make_known()) for page in (by_title, by_text, by_field)]


@pytest.mark.parametrize(("language", "title", "text"), wall_pages.LOGINS)
def test_a_login_page_may_be_watched(language, title, text):
    """At a first look it is the page that somebody asked for; facts.login warns. It stays so."""
    body = wall_pages.page(title, f"<p>{text}<input type=password>")

    assert ["", ""] == [kind(body), kind(body, old=body)]


@pytest.mark.parametrize("body", [row[1] for row in wall_pages.ORDINARY], ids=[row[0] for row in wall_pages.ORDINARY])
def test_ordinary_pages_are_plausible(body):
    """Articles about walls, forms with a captcha, pages behind a guard, script-built pages: at a first look and afterwards."""
    assert [PLAUSIBLE] * 2 == [judge_body(body), judge_body(body, old=body)]


@pytest.mark.parametrize(
    "body", [b"", b" \n", b"\xef\xbb\xbf", b"<html></html>", b"<!doctype html><title>x</title><body></body>"]
)
def test_nothing_at_all_is_empty_at_once(body):
    """No text, no links, no images, no scripts, no frames."""
    assert ["empty"] * 2 == [kind(body), kind(body, **make_known())]


@pytest.mark.parametrize(
    "body",
    ["<script src=a></script>", "<img src=a>", "<a href=b></a>", "<frameset><frame src=a></frameset>", "<svg></svg>"],
)
def test_a_page_without_text_is_empty_only_if_it_had_some(body):
    """A first look takes a script-built page, pictures or frames as they are; later it is a page that lost its text."""
    assert ["", "empty"] == [kind(body), kind(body, **make_known())]
    assert "" == kind(body, usual_words=0, usual_title="")


def test_collapsed_is_under_three_tenths_of_the_usual():
    """A page of a few words cannot collapse (contracts §11)."""
    thirty = " ".join(WORDS.split()[:30])
    least = " ".join(WORDS.split()[: FEWEST_USUAL // 4])

    assert "" == kind(f"<p>{thirty}", usual_words=100)
    assert "collapsed" == kind(f"<p>{thirty}", usual_words=101)
    assert "collapsed" == kind(f"<p>{least}", usual_words=FEWEST_USUAL)
    assert "" == kind(f"<p>{least}", usual_words=FEWEST_USUAL - 1)
    assert "" == kind(f"<p>{thirty}")


def test_a_reason_gives_the_numbers():
    """People read how many words there are and how many there usually are."""
    assert ("collapsed", "most of the page is gone: it has 2 words, usually the page has 1,500") == judge_body(
        "<p>a b", usual_words=1_500
    )


@pytest.mark.parametrize(
    ("body", "content_type"),
    [("[]", "application/json"), ('{"items": []}', "application/json"), ("null", "application/json")],
)
def test_a_list_with_nothing_in_it_has_collapsed(body, content_type):
    """Where there were many; a first look takes it as it is."""
    assert ["collapsed", ""] == [kind(body, content_type, usual_words=500), kind(body, content_type)]


def test_a_feed_without_items_has_collapsed():
    """Its own title and description are still there."""
    items = "".join(f"<item><title>News {n}</title><description>{WORDS}</description></item>" for n in range(5))
    feed = "<rss><channel><title>Example news</title><description>All the news</description>{}</channel></rss>"

    assert "collapsed" == kind(feed.format(""), "application/rss+xml", old=feed.format(items))
    assert "" == kind(feed.format(items), "application/rss+xml", old=feed.format(items))


def test_data_may_shrink_as_the_world_does():
    """A list of outages falls from a thousand words to fifty when the storm is over."""
    assert "" == kind("[" + ",".join(f'"street {n}"' for n in range(25)) + "]", "application/json", usual_words=1_000)


def test_words_of_a_wall_are_no_wall_in_data():
    """JSON and plain text are judged by their amount alone."""
    body = '{"title": "Access denied", "text": "verify you are human"}'

    assert ["", ""] == [kind(body, "application/json"), kind("Access denied", "text/plain")]


@pytest.mark.parametrize(
    ("expected", "url"),
    [
        ("login", "https://shop.example/login?next=/harbour/prices"),
        ("login", "https://shop.example/account/signin.aspx"),
        ("login", "https://accounts.example/"),
        ("login", "https://shop.example/de/anmelden"),
        ("blocked", "https://consent.shop.example/collect?s=1"),
        ("blocked", "https://validate.perfdrive.com/abc?ssa=1"),
        ("blocked", "https://www.example/sorry/index?continue=x"),
        ("soft_error", "https://shop.example/404.html"),
        ("soft_error", "https://shop.example/not-found"),
        ("soft_error", "https://shop.example/"),
        ("", "https://www.shop.example/harbour/prices/"),
        ("", "https://shop.example/harbour/prices-2026"),
        ("", "https://shop.example/harbour/login-prices"),
    ],
)
def test_a_redirect_tells_by_where_it_leads(expected, url):
    """To a log-in, a consent page, a wall, an error, the home page; not to where a page has simply moved."""
    assert expected == redirect(url)


def test_a_redirect_that_always_was_is_the_page():
    """The version before came from there, or looks the same; an address that is a home or a log-in already leads to none."""
    home = "https://shop.example/"

    assert "" == redirect(home, reference_url=home)
    assert "" == redirect(home, usual_title="Welcome", usual_words=100)
    assert "" == redirect(home, asked="https://shop.example/index.html")
    assert "" == redirect("https://shop.example/login/step2", asked="https://shop.example/login")
    assert "" == kind(f"<p>{WORDS}", asked_url=URL, url="https://shop.example/login")


def test_a_consent_page_is_told_at_a_first_look():
    """Nobody means to watch it, and it would never go away."""
    assert "blocked" == kind(f"<p>{WORDS}", asked_url=URL, url="https://consent.example/x")


def test_addresses_that_are_none_are_no_trouble():
    """What cannot be read as an address leads nowhere."""
    assert "" == redirect("http://[")


def test_a_password_field_that_was_there_before_is_no_login():
    """A page with a log-in box in its head that loses its text has collapsed, and may be believed later."""
    old = f"<title>{TITLE}</title><input type=password><p>{WORDS}"

    assert "collapsed" == kind(f"<title>{TITLE}</title><input type=password><p>a b", old=old)


def test_a_page_that_breaks_off_is_known_by_its_end():
    """Half a page under a correct length: the end that the version before has is missing."""
    old = f"<html><body><p>{WORDS}</p></body></html>"

    assert "collapsed" == kind(f"<html><body><p>{WORDS[:500]}", old=old)
    assert "" == kind(f"<html><body><p>{WORDS} more</p></body></html><!-- made in 3 ms -->", old=old)
    assert "" == kind(f"<p>{WORDS[:500]}", old=f"<p>{WORDS}")
    assert "collapsed" == kind(f"<p>{WORDS[:500]}</p><p cla", old=f"<p>{WORDS}</p>")


def test_a_body_that_only_the_connection_ended_may_not_halve():
    """Without a length and without a last chunk half a page looks like a whole one: a shrink to less than half is doubted (H-042)."""
    old = f"<p>{WORDS}"
    part = f"<p>{WORDS[: len(WORDS) * 2 // 5]}"

    assert "collapsed" == kind(part, old=old, is_unframed=True)
    assert "" == kind(part, old=old)
    assert "" == kind(f"<p>{WORDS[: len(WORDS) * 3 // 5]}", old=old, is_unframed=True)
    assert "" == kind(part, is_unframed=True)


def test_data_that_breaks_off_is_known_by_its_end():
    """JSON and XML cannot end anywhere."""
    listed = "[" + ", ".join(f'"word{n}"' for n in range(100)) + "]"
    feed = f"<rss><channel><title>News</title><item><title>{WORDS}</title></item></channel></rss>"

    assert "collapsed" == kind(listed[:600], "application/json", old=listed)
    assert "" == kind(listed[: listed.index(', "word50"')] + "]", "application/json", old=listed)
    assert "collapsed" == kind(feed[:500], "application/rss+xml", old=feed)
    assert "" == kind(feed.replace("word7", "other"), "application/rss+xml", old=feed)


@pytest.mark.parametrize(
    "text", ["Größe: „für später“, 5 €", "Цены на яблоки", "りんごの値段", "Isn’t it – well – naïve?"]
)
def test_broken_letters_are_known_beside_whole_ones(text):
    """Encoded twice, lost, or question marks; the same the other way round is a page that was mended."""
    old = f"<p>{WORDS} {text}"
    twice = "".join(
        chr(b) if b in {0x81, 0x8D, 0x8F, 0x90, 0x9D} else bytes([b]).decode("cp1252") for b in old.encode()
    )
    broken = [twice, old.encode().decode("ascii", "replace"), old.encode("ascii", "replace").decode()]

    assert ["collapsed"] * 3 == [kind(body, old=old) for body in broken]
    assert [""] * 3 == [kind(old, old=body) for body in broken]
    assert [""] * 3 == [kind(body + " more", old=body) for body in broken]


def test_broken_letters_without_a_space_are_known():
    """Chinese writes hundreds of characters on end; only the first are read back."""
    old = f"<p>{WORDS} {'港口的价格' * 300}"
    twice = "".join(
        chr(b) if b in {0x81, 0x8D, 0x8F, 0x90, 0x9D} else bytes([b]).decode("cp1252") for b in old.encode()
    )

    assert "collapsed" == kind(twice, old=old)
    assert "" == kind(old, old=twice)


def test_questions_in_plain_letters_are_questions():
    """A page that loses its accents and does not gain question marks was written anew."""
    assert "" == kind(f"<p>{WORDS} Grosse: why? when?", old=f"<p>{WORDS} Größe, für, später, über, böse: why?")


def test_bodies_that_are_no_text_are_not_judged():
    """A PDF has no words to count; a page that cannot be read has a problem of its own."""
    assert "" == kind(b"%PDF-1.7 x", "application/pdf", **make_known())
    assert "" == kind("<p " + " ".join(f"a{n}" for n in range(1_100)) + ">", **make_known())


def test_a_status_of_error_is_asked_only_for_walls():
    """A 403 whose body is a challenge is a wall; its being short means nothing."""
    assert "blocked" == kind("<p><script>window._cf_chl_opt={}</script>", status=403, **make_known())
    assert "" == kind("<p>no", status=403, **make_known())


def test_a_job_says_what_it_suspects():
    """The seams: what the service knows goes in, kind and reason come out; a first look is one without usual words."""
    old = Body(data=f"<title>{TITLE}</title><p>{WORDS} Größe</p>".encode(), content_type="text/html", url=URL)
    new = Body(
        data=wall_pages.page("Sign in", "<p>Hello").encode(), content_type="text/html", url="https://shop.example/login"
    )
    job = Job(new=new, references={3: old}, known={}, wanted=(), usual_words=101, usual_title=TITLE, asked_url=URL)
    seen, first = examine(job), examine(Job(new=new, references={}, known={}, wanted=(), asked_url=URL))

    assert "login" == seen.suspicion
    assert seen.why.startswith(
        "this looks like a log-in page: its title says “sign in”; it has 1 words, usually the page has 101"
    )
    assert ("", "") == (first.suspicion, first.why)


def test_real_single_pages_are_plausible_at_a_first_look():
    """220 pages and 73 in other charsets: no suspicion."""
    bodies = [*data_sets.html_pages(), *(body for _, body in data_sets.files_of("html_corpus/charsets.tar.zst"))]
    found = [verdict for body in bodies if (verdict := judge_body(body, None))[0]]

    assert 293 == len(bodies)
    assert [] == found


def test_real_successive_pages_are_no_walls():
    """HTML pages of the set, one version beside the other: none is a wall, a log-in or an error."""
    pairs = data_sets.page_pairs("terms-html")[:200]
    found = [
        verdict
        for pair in pairs
        if (verdict := judge_body(pair.new, pair.content_type, old=pair.old))[0] not in {"", "collapsed", "empty"}
    ]

    assert 200 == len(pairs)
    assert [] == found


def test_a_page_is_judged_by_its_beginning():
    """A page of many words is judged at once when it is read, whatever its letters; `bench/plausibility.py` measures it."""
    text = " ".join(f"слово{n} “été”" for n in range(30_000))
    data = f"<html><title>{TITLE}</title><p>{text}</html>".encode()
    document = parse(data, "text/html")
    answer = Answer(
        document=document,
        data=data,
        reference_data=data,
        reference=lambda: document,
        **make_known(usual_words=document.words),
    )

    with bound_time(2):  # 0.2 s for all of them
        for _ in range(1_000):
            judge(answer)
