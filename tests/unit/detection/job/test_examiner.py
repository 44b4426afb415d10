"""A job: the old and new bodies of a page, and what is found for each sentinel."""

import dataclasses
import gc
import pickle
import subprocess
import sys

import pytest

from tests import data_sets
from tidings.detection.job import examiner
from tidings.detection.job.contract import EXTRACTION, Body, Job, Noise, Wanted
from tidings.detection.job.examiner import compare_bodies, examine
from tidings.document.select.extraction import Extraction
from tidings.document.text.words import RULES_VERSION
from tidings.model.observed.change import ChangeSet
from tidings.model.watch.sentinel import AllOf, Interest, Selector

ANY, WORDS, LINKS, IMAGES = (Interest(kind) for kind in ("any", "words", "links", "images"))


def body(text, content_type="text/html", **more):
    return Body(
        data=text if isinstance(text, bytes) else text.encode(), content_type=content_type, url="http://x.org/", **more
    )


def first(new, **more):
    return examine(Job(new=new, references={}, known={}, wanted=(), **more))


def job(old, new, expression=ANY, **more):
    before = first(old)
    wanted = (Wanted(key=7, reference=1, expression=expression),)
    rest = {"references": {1: old}, "known": {1: before.digest}, "text_digest": before.digest.text}
    return Job(new=new, wanted=wanted, last_charset=before.charset, **(rest | more))


def test_first_version_is_described():
    """Without references there are charset, kind, title, digests and facts, and no change."""
    seen = first(body("<title>Shop</title><p>only <b>€5</b> now<a href=/a>x</a><img src=/i>"))

    assert ("utf-8", "utf-8", "html", "Shop") == (seen.charset, seen.charset_source, seen.media_type, seen.title)
    assert (EXTRACTION, RULES_VERSION) == (seen.digest.extraction, seen.digest.rules_version)
    assert (False, (), "") == (seen.text_changed, seen.found, seen.problem)
    assert (4, 1, 1, "only €5 nowx") == (seen.facts.words, seen.facts.links, seen.facts.images, seen.facts.first_words)


def test_change_belongs_to_its_subscription():
    """It has its reference and the name of the text in which it counts."""
    seen = examine(job(body("<p>price 5"), body("<p>price 6")))
    (found,) = seen.found

    assert seen.text_changed
    assert (7, 1, EXTRACTION) == (found.key, found.reference, found.extraction)
    assert (("5", "6"),) == found.change.updated


def test_each_reference_and_expression_is_compared():
    """Subscriptions of one page may use other versions and kinds; equal ones share the change."""
    old, older, new = body("<p>a b"), body("<p>a"), body("<p>a b<a href=/l></a>")
    wanted = (
        Wanted(key=1, reference=2, expression=ANY),
        Wanted(key=2, reference=1, expression=WORDS),
        Wanted(key=3, reference=2, expression=WORDS),
        Wanted(key=4, reference=2, expression=ANY),
        Wanted(key=5, reference=2, expression=AllOf((LINKS, IMAGES))),
    )
    seen = examine(Job(new=new, references={1: older, 2: old}, known={}, wanted=wanted))

    assert {1: ("links",), 2: ("words",), 4: ("links",)} == {found.key: found.change.kinds for found in seen.found}
    assert seen.found[0].change is seen.found[-1].change


def test_old_body_is_not_read_if_digests_are_equal():
    """Only markup changed."""
    old, new = body("<p>a <b>b</b><a href=/l?s=1>"), body("<div>a b<a href=/l?s=2>")
    seen = examine(job(old, new, references={}))

    assert (False, (), "") == (seen.text_changed, seen.found, seen.problem)


def test_digests_of_other_rules_are_computed_again():
    """After a change of the rules the old body is read by the new ones: an update of Tidings
    reports nothing.
    """
    old = body("<p>a b")
    stale = dataclasses.replace(first(old).digest, rules_version=RULES_VERSION - 1, text="made by other rules")
    same = examine(job(old, body("<div>a b"), known={1: stale}, text_digest=stale.text))
    other = examine(job(old, body("<div>a c"), known={1: stale}, text_digest=stale.text))

    assert (False, ()) == (same.text_changed, same.found)
    assert (True, 1) == (other.text_changed, len(other.found))


def test_other_charset_label_is_no_change():
    """The same bytes were once labelled ISO-8859-1 (changedetection.io 2963): the last charset
    holds.
    """
    old, new = (
        body("<p>naïve café", "text/html; charset=utf-8"),
        body("<p>naïve café ", "text/html; charset=iso-8859-1"),
    )
    seen = examine(job(old, new))

    assert (False, (), "utf-8", "last good") == (seen.text_changed, seen.found, seen.charset, seen.charset_source)


def test_other_label_with_the_same_text_is_no_change():
    """If the last charset gives the same text, it holds; otherwise the declared one does."""
    data = "<p>Цена пять".encode("cp1251")
    old = body(data, "text/html; charset=windows-1251")
    same = examine(job(old, body(data + b" ", "text/html; charset=iso-8859-1")))

    assert (False, (), "cp1251", "last good") == (same.text_changed, same.found, same.charset, same.charset_source)


def test_old_body_is_read_in_its_known_charset():
    """It is that of its own version."""
    old = body("<p>naïve café".encode(), "text/html; charset=iso-8859-1", charset="utf-8")
    change, problem = compare_bodies(old, body("<p>naïve café"), ANY)

    assert (False, "") == (bool(change), problem)


@pytest.mark.parametrize(
    "hard", ["<div>" * 20_000, "<p " + " ".join(f"a{n}" for n in range(5_000)) + ">"], ids=["deep", "attributes"]
)
def test_unreadable_page_is_a_problem(hard):
    """On either side nothing is found and nothing is "unchanged": `could not compare`. An old
    version is a problem only for those who compare with it.
    """
    easy = body("<p>a")
    new = examine(job(easy, body(hard)))
    old = examine(
        Job(new=easy, references={1: body(hard)}, known={}, wanted=(Wanted(key=1, reference=1, expression=ANY),))
    )
    change, problem = compare_bodies(easy, body(hard), ANY)

    assert new.problem.startswith("could not compare: ")
    assert new.unread == new.problem
    assert [1] == [refused.key for refused in old.refused]
    assert old.refused[0].reason.startswith("could not compare: ")
    assert ("", "") == (old.problem, old.unread)
    assert ((), ()) == (new.found, old.found)
    assert (False, new.problem) == (bool(change), problem)


def test_changed_picture_is_reported():
    """Without text the body is compared."""
    seen = examine(job(body(b"GIF89a a", "image/gif"), body(b"GIF89a b", "image/gif"), LINKS))

    assert ("binary", True, 1, "body") == (
        seen.media_type,
        seen.text_changed,
        len(seen.found),
        seen.found[0].change.objects[0].kind,
    )


def test_facts_show_script_pages_and_logins():
    """The first has scripts and no text, the second asks for a password."""
    scripts = first(
        body("<div id=app></div><script src=/app.js></script><noscript>Please enable JavaScript</noscript>")
    ).facts
    login = first(body("<form>Name <input><input type=password>")).facts
    article = first(body("<script></script><input type=password>" + "word " * 500)).facts

    assert (True, False) == (scripts.scripts_only, scripts.login)
    assert (False, True) == (login.scripts_only, login.login)
    assert (False, False) == (article.scripts_only, article.login)


def test_jobs_and_results_are_pickled():
    """They go to the worker and back unchanged."""
    asked = job(body("<p>a"), body("<p>b"))
    seen = examine(asked)

    assert asked == pickle.loads(pickle.dumps(asked))
    assert seen == pickle.loads(pickle.dumps(seen))


def test_digests_depend_on_the_seed():
    """Others cannot predict those of an installation."""
    assert first(body("<p>a")).digest != first(body("<p>a"), seed=9).digest


def test_shuffled_list_of_links_is_compared_in_limited_time():
    """5,000 small items are in another order (web-monitoring-processing 169)."""
    items = [f"<li><a href=/{number}>{number}</a>" for number in range(5_000)]
    change, _ = compare_bodies(body("".join(items)), body("".join(items[::-1])), ANY)

    assert ("words",) == change.kinds


def test_changes_of_real_pages_agree_with_the_data_set():
    """On forty pages text changes as the set says; otherwise only signs, title or entities differ."""
    pairs = data_sets.page_pairs()[::26]
    wrong = []
    for pair in pairs:
        seen = examine(job(body(pair.old, pair.content_type), body(pair.new, pair.content_type), WORDS))
        assert seen.text_changed == bool(seen.found), pair.file
        if seen.text_changed != pair.text_changed:
            wrong.append((pair.file, pair.text_changed))

    assert 40 == len(pairs)
    assert all(text for _, text in wrong), wrong  # never a change where the text is the same
    assert len(wrong) <= 4, wrong


PART = Interest("words", selector=Selector("css", "#a"))


def parts_of(new, *expressions):
    wanted = tuple(Wanted(key=key, reference=0, expression=e) for key, e in enumerate(expressions))
    return examine(Job(new=new, references={}, known={}, wanted=wanted))


def test_first_check_stores_the_digest_of_each_part():
    """Parts have digests under their own names, and the beginning of their text."""
    seen = parts_of(body("<p id=a>one two<p>three"), PART, ANY, Interest("words", selector=Selector("css", "#x")))

    assert [Extraction((Selector("css", "#a"),)).fingerprint] == [digest.extraction for digest in seen.parts][:1]
    assert [(0, 2, "one two")] == [(one.key, one.words, one.first_words) for one in seen.selected]
    assert [(2, ('css "#x"',), True)] == [(one.key, one.names, one.is_all) for one in seen.absent]


def test_part_with_an_equal_digest_is_not_compared(monkeypatch):
    """The old page is not read; another part may have changed."""
    old, new = body("<p id=a>one<p>two"), body("<p id=a>one<p>three")
    known = parts_of(old, PART).parts
    seen = job(old, new, PART, known_parts={1: known})
    monkeypatch.setattr(examiner, "evaluate", lambda *_: pytest.fail("compared"))

    assert () == examine(seen).found


def test_digest_of_another_extraction_is_not_used():
    """An edited filter has none yet: the old body is extracted again, and unchanged text is no
    change.
    """
    old, new = body("<p id=a>one<p id=b>two"), body("<p id=a>one<p id=b>two!<p>x")
    known = parts_of(old, PART).parts
    other = Interest("words", selector=Selector("css", "#b"))

    assert () == examine(job(old, new, other, known_parts={1: known})).found
    assert 1 == len(examine(job(old, body("<p id=b>three"), other, known_parts={1: known})).found)


def test_number_has_its_own_digest():
    """A sign is no word: -5 and 5 have the same text, and differ; `1.5` and `1,5` are one number."""
    number = Interest("number")

    assert 1 == len(examine(job(body("<p>-5"), body("<p>5"), number)).found)
    assert () == examine(job(body("<p>1.5"), body("<p>1,5"), number)).found


def test_refusal_concerns_only_its_sentinel():
    """Others that wait for the same body have their result."""
    dear = Interest("words", selector=Selector("xpath", "count(//p)"))
    old, new = body("<p>a"), body("<p>b")
    wanted = tuple(Wanted(key=key, reference=1, expression=e) for key, e in ((1, dear), (2, ANY), (3, dear)))
    seen = examine(Job(new=new, references={1: old}, known={}, wanted=wanted))

    assert ([1, 3], [2], "") == ([one.key for one in seen.refused], [one.key for one in seen.found], seen.problem)
    assert all(one.reason.startswith("could not compare: xpath") for one in seen.refused)
    assert (ChangeSet(), True) == (compare_bodies(old, new, dear)[0], bool(compare_bodies(old, new, dear)[1]))


def test_job_leaves_no_garbage():
    """Its documents are freed with its result: the process collects no garbage between jobs."""
    noisy = job(body("<p>price 5<p>a"), body("<p>price 6<p>a"), noise=Noise(learns=True, polls=3, at=2, times={1: 1}))
    picked = job(body("<p>price 5"), body("<p>price 6"), Interest("words", selector=Selector("css", "p")))
    for each in (noisy, picked):
        examine(each)  # what is compiled when it is first called
    gc.collect()
    gc.disable()

    try:
        found = [len(examine(each).found) for each in (noisy, picked)]
        left = gc.collect()
    finally:
        gc.enable()

    assert ([1, 1], 0) == (found, left)


def test_worker_does_not_load_numpy():
    """It starts without numpy, a client and a database: few pages need the first, none the others."""
    code = (
        "import sys, tidings.detection.job.examiner; "
        "print({'numpy', 'aiohttp', 'sqlite3', 'tidings.storage'} & {*sys.modules})"
    )

    assert "set()\n" == subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
