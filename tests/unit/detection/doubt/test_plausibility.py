"""Doubtful answers: walls, log-ins, errors, empty, collapsed and damaged bodies."""

import pytest

from tests import blocked_pages, data_sets
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
    ("expected", "body"), [row[1:] for row in blocked_pages.MAKERS], ids=[row[0] for row in blocked_pages.MAKERS]
)
def test_pages_of_known_makers_are_recognized(expected, body):
    """Walls and errors are, at a first check, and instead of a long page or a short one."""
    assert [expected] * 3 == [kind(body), kind(body, **make_known()), kind(body, usual_words=60, usual_title=TITLE)]


@pytest.mark.parametrize(("language", "text"), blocked_pages.ROBOTS)
def test_pages_for_robots_are_recognized_in_every_language(language, text):
    """The sentence is on a page with the site's own title."""
    body = blocked_pages.page(TITLE, f"<p>{text}")

    assert ["blocked"] * 3 == [kind(body), kind(body, **make_known()), kind(body, usual_words=60, usual_title=TITLE)]


@pytest.mark.parametrize(("language", "text"), blocked_pages.REFUSALS)
def test_refusals_are_recognized_in_every_language(language, text):
    """They are the title or the text."""
    title, sentence = (
        blocked_pages.page(f"{text} | Example", "<p>Home News Contact"),
        blocked_pages.page("Example", f"<p>{text}"),
    )

    assert ["blocked"] * 4 == [kind(page, **how) for page in (title, sentence) for how in KNOWN_OR_NOT]


@pytest.mark.parametrize(("language", "text"), blocked_pages.NOT_FOUND)
def test_not_found_with_status_200_is_recognized_in_every_language(language, text):
    """It is the title among the site's own navigation, or the text."""
    title = blocked_pages.page(f"{text} – Example", f"<nav>{WORDS}</nav>")
    sentence = blocked_pages.page("Example", f"<p>{text}")

    assert ["soft_error"] * 4 == [kind(page, **how) for page in (title, sentence) for how in KNOWN_OR_NOT]


@pytest.mark.parametrize(("language", "text"), blocked_pages.MAINTENANCE)
def test_maintenance_is_recognized_in_every_language(language, text):
    """The sentence is under the page's own title."""
    body = blocked_pages.page(TITLE, f"<h1>Example</h1><p>{text}")

    assert ["soft_error"] * 2 == [kind(body), kind(body, **make_known())]


@pytest.mark.parametrize(("language", "text"), blocked_pages.OUT_OF_ORDER)
def test_errors_in_words_are_recognized_in_every_language(language, text):
    """Only words show the error, under the page's own title."""
    body = blocked_pages.page(TITLE, f"<p>{text}")

    assert ["soft_error"] * 2 == [kind(body), kind(body, **make_known())]


@pytest.mark.parametrize(("language", "title", "text"), blocked_pages.LOGINS)
def test_logins_are_recognized_in_every_language(language, title, text):
    """They have a title, a sentence, or a password field beside few words."""
    by_title, by_text = blocked_pages.page(f"{title} – Example", "<p>Home"), blocked_pages.page("Example", f"<p>{text}")
    by_field = blocked_pages.page(TITLE, "<input name=user><input type=password> Example")

    assert ["login"] * 3 == [kind(page, **make_known()) for page in (by_title, by_text, by_field)]


@pytest.mark.parametrize(("language", "title", "text"), blocked_pages.LOGINS)
def test_login_page_may_be_watched(language, title, text):
    """At a first check it is the page that was asked for, and facts.login warns. It stays so."""
    body = blocked_pages.page(title, f"<p>{text}<input type=password>")

    assert ["", ""] == [kind(body), kind(body, old=body)]


@pytest.mark.parametrize(
    "body", [row[1] for row in blocked_pages.ORDINARY], ids=[row[0] for row in blocked_pages.ORDINARY]
)
def test_ordinary_pages_are_plausible(body):
    """Articles about walls, forms with a captcha, pages behind a guard and script-built pages are,
    at a first check and later.
    """
    assert [PLAUSIBLE] * 2 == [judge_body(body), judge_body(body, old=body)]


@pytest.mark.parametrize(
    "body", [b"", b" \n", b"\xef\xbb\xbf", b"<html></html>", b"<!doctype html><title>x</title><body></body>"]
)
def test_page_without_any_content_is_empty(body):
    """It has no text, links, images, scripts or frames."""
    assert ["empty"] * 2 == [kind(body), kind(body, **make_known())]


@pytest.mark.parametrize(
    "body",
    ["<script src=a></script>", "<img src=a>", "<a href=b></a>", "<frameset><frame src=a></frameset>", "<svg></svg>"],
)
def test_page_without_text_is_empty_only_if_it_had_text(body):
    """A first check accepts a script-built page, pictures or frames."""
    assert ["", "empty"] == [kind(body), kind(body, **make_known())]
    assert "" == kind(body, usual_words=0, usual_title="")


def test_page_with_less_than_three_tenths_of_its_words_has_collapsed():
    """A page of a few words cannot collapse (contracts §11)."""
    thirty = " ".join(WORDS.split()[:30])
    least = " ".join(WORDS.split()[: FEWEST_USUAL // 4])

    assert "" == kind(f"<p>{thirty}", usual_words=100)
    assert "collapsed" == kind(f"<p>{thirty}", usual_words=101)
    assert "collapsed" == kind(f"<p>{least}", usual_words=FEWEST_USUAL)
    assert "" == kind(f"<p>{least}", usual_words=FEWEST_USUAL - 1)
    assert "" == kind(f"<p>{thirty}")


def test_reason_has_the_numbers_of_words():
    """They are the present and the usual one."""
    assert ("collapsed", "most of the page is gone: it has 2 words, usually the page has 1,500") == judge_body(
        "<p>a b", usual_words=1_500
    )


@pytest.mark.parametrize(
    ("body", "content_type"),
    [("[]", "application/json"), ('{"items": []}', "application/json"), ("null", "application/json")],
)
def test_empty_list_has_collapsed(body, content_type):
    """It had many items; a first check accepts it."""
    assert ["collapsed", ""] == [kind(body, content_type, usual_words=500), kind(body, content_type)]


def test_feed_without_items_has_collapsed():
    """Its own title and description are still there."""
    items = "".join(f"<item><title>News {n}</title><description>{WORDS}</description></item>" for n in range(5))
    feed = "<rss><channel><title>Example news</title><description>All the news</description>{}</channel></rss>"

    assert "collapsed" == kind(feed.format(""), "application/rss+xml", old=feed.format(items))
    assert "" == kind(feed.format(items), "application/rss+xml", old=feed.format(items))


def test_data_may_shrink():
    """A list of outages falls from a thousand words to fifty after a storm."""
    assert "" == kind("[" + ",".join(f'"street {n}"' for n in range(25)) + "]", "application/json", usual_words=1_000)


def test_words_of_a_wall_in_data_are_no_wall():
    """JSON and plain text are judged by their amount only."""
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
def test_redirect_is_judged_by_its_target(expected, url):
    """It may be a log-in, a consent page, a wall, an error, or the home page; a page that moved is
    plausible.
    """
    assert expected == redirect(url)


def test_usual_redirect_is_plausible():
    """The version before came from there or is similar; a home or log-in address does not redirect
    to one.
    """
    home = "https://shop.example/"

    assert "" == redirect(home, reference_url=home)
    assert "" == redirect(home, usual_title="Welcome", usual_words=100)
    assert "" == redirect(home, asked="https://shop.example/index.html")
    assert "" == redirect("https://shop.example/login/step2", asked="https://shop.example/login")
    assert "" == kind(f"<p>{WORDS}", asked_url=URL, url="https://shop.example/login")


def test_consent_page_is_doubted_at_a_first_check():
    """Nobody wants to watch it, and it would never go away."""
    assert "blocked" == kind(f"<p>{WORDS}", asked_url=URL, url="https://consent.example/x")


def test_unreadable_address_is_harmless():
    """It leads nowhere."""
    assert "" == redirect("http://[")


def test_earlier_password_field_is_no_login():
    """A page with a log-in box that loses its text has collapsed, and may be accepted later."""
    old = f"<title>{TITLE}</title><input type=password><p>{WORDS}"

    assert "collapsed" == kind(f"<title>{TITLE}</title><input type=password><p>a b", old=old)


def test_truncated_page_has_collapsed():
    """It is half a page with a correct length: the end of the version before is missing."""
    old = f"<html><body><p>{WORDS}</p></body></html>"

    assert "collapsed" == kind(f"<html><body><p>{WORDS[:500]}", old=old)
    assert "" == kind(f"<html><body><p>{WORDS} more</p></body></html><!-- made in 3 ms -->", old=old)
    assert "" == kind(f"<p>{WORDS[:500]}", old=f"<p>{WORDS}")
    assert "collapsed" == kind(f"<p>{WORDS[:500]}</p><p cla", old=f"<p>{WORDS}</p>")


def test_body_that_the_connection_ended_may_not_halve():
    """Without a length and without a last chunk half a page looks complete: a shrink to less than
    half is doubted (H-042).
    """
    old = f"<p>{WORDS}"
    part = f"<p>{WORDS[: len(WORDS) * 2 // 5]}"

    assert "collapsed" == kind(part, old=old, is_unframed=True)
    assert "" == kind(part, old=old)
    assert "" == kind(f"<p>{WORDS[: len(WORDS) * 3 // 5]}", old=old, is_unframed=True)
    assert "" == kind(part, is_unframed=True)


def test_truncated_data_has_collapsed():
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
def test_broken_letters_are_recognized_beside_whole_ones(text):
    """They are encoded twice, lost, or question marks; the reverse is a page that was repaired."""
    old = f"<p>{WORDS} {text}"
    twice = "".join(
        chr(b) if b in {0x81, 0x8D, 0x8F, 0x90, 0x9D} else bytes([b]).decode("cp1252") for b in old.encode()
    )
    broken = [twice, old.encode().decode("ascii", "replace"), old.encode("ascii", "replace").decode()]

    assert ["collapsed"] * 3 == [kind(body, old=old) for body in broken]
    assert [""] * 3 == [kind(old, old=body) for body in broken]
    assert [""] * 3 == [kind(body + " more", old=body) for body in broken]


def test_broken_letters_without_a_space_are_recognized():
    """Chinese has hundreds of characters in a row; only the first are decoded."""
    old = f"<p>{WORDS} {'港口的价格' * 300}"
    twice = "".join(
        chr(b) if b in {0x81, 0x8D, 0x8F, 0x90, 0x9D} else bytes([b]).decode("cp1252") for b in old.encode()
    )

    assert "collapsed" == kind(twice, old=old)
    assert "" == kind(old, old=twice)


def test_question_marks_elsewhere_are_no_lost_letters():
    """A page that loses its accents was rewritten if no `?` replaces them, however many it gains
    elsewhere.
    """
    old = f"<p>{WORDS} Größe, für, später, über, böse: “opt-in” why?"

    assert "" == kind(f"<p>{WORDS} Grosse: why? when?", old=old)
    assert "" == kind(
        f'<p>{WORDS} Grosse: "opt-in" /a?x=1 /b?x=1 /c?x=1 /d?x=1 /e?x=1 /f?x=1 /g?x=1 why? when?', old=old
    )


def test_letters_are_lost_if_half_of_their_words_have_question_marks():
    """Some servers write one for each byte; other text of the page does not matter."""
    old = f"<p>{WORDS} Größe für später"

    assert "collapsed" == kind(f"<p>{WORDS} Gr??e f??r sp??ter /a?b=1", old=old)
    assert "collapsed" == kind(f"<p>{WORDS} Gr??e f?r more", old=old)
    assert "" == kind(f"<p>{WORDS} Gr??e fuer spaeter", old=old)


def test_lost_spaces_join_the_words_whose_letters_are_lost():
    """A space of another kind is lost with the letters; what an entity keeps is not lost, and says nothing."""
    old = f"<p>{WORDS} “Open\xa0Terms” “Next\u2009Page” “No\xa0One”"

    assert "collapsed" == kind(f"<p>{WORDS} ?Open?Terms? ?Next?Page? ?No?One?", old=old)
    assert "collapsed" == kind(f"<p>{WORDS} ?Open&nbsp;Terms? ?Next&thinsp;Page? ?No&nbsp;One?", old=old)
    many = " ".join(f"{n}&nbsp;000" for n in range(20))
    assert "collapsed" == kind(f"<p>{WORDS} {many} ?a? ?b? ?c?", old=f"<p>{WORDS} {many} “a” “b” “c”")


def test_bodies_without_text_are_not_judged():
    """A PDF has no words to count; an unreadable page has its own problem."""
    assert "" == kind(b"%PDF-1.7 x", "application/pdf", **make_known())
    assert "" == kind("<p " + " ".join(f"a{n}" for n in range(1_100)) + ">", **make_known())


def test_error_status_is_only_checked_for_walls():
    """A 403 whose body is a challenge is a wall; its length does not matter."""
    assert "blocked" == kind("<p><script>window._cf_chl_opt={}</script>", status=403, **make_known())
    assert "" == kind("<p>no", status=403, **make_known())


def test_job_returns_its_suspicion():
    """The service's knowledge goes in, kind and reason come out; a first check has no usual words."""
    old = Body(data=f"<title>{TITLE}</title><p>{WORDS} Größe</p>".encode(), content_type="text/html", url=URL)
    new = Body(
        data=blocked_pages.page("Sign in", "<p>Hello").encode(),
        content_type="text/html",
        url="https://shop.example/login",
    )
    job = Job(new=new, references={3: old}, known={}, wanted=(), usual_words=101, usual_title=TITLE, asked_url=URL)
    seen, first = examine(job), examine(Job(new=new, references={}, known={}, wanted=(), asked_url=URL))

    assert "login" == seen.suspicion
    assert seen.why.startswith(
        "this looks like a log-in page: its title says “sign in”; it has 1 words, usually the page has 101"
    )
    assert ("", "") == (first.suspicion, first.why)


def test_real_pages_are_plausible_at_a_first_check():
    """220 pages and 73 in other charsets have no suspicion."""
    bodies = [*data_sets.html_pages(), *(body for _, body in data_sets.files_of("html_corpus/charsets.tar.zst"))]
    found = [verdict for body in bodies if (verdict := judge_body(body, None))[0]]

    assert 293 == len(bodies)
    assert [] == found


def test_versions_of_real_pages_are_no_walls():
    """Each is compared with the one before: none is a wall, a log-in or an error."""
    pairs = data_sets.page_pairs("terms-html")[:200]
    found = [
        verdict
        for pair in pairs
        if (verdict := judge_body(pair.new, pair.content_type, old=pair.old))[0] not in {"", "collapsed", "empty"}
    ]

    assert 200 == len(pairs)
    assert [] == found


def test_long_page_is_judged_by_its_beginning():
    """It is judged at once for all letters; `bench/plausibility.py` measures it."""
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
