"""Jobs with framed pages: a page and its frames as members."""

from __future__ import annotations

import dataclasses
import hashlib
import pickle

import pytest

from tests.edit_scripts import apply_edits
from tidings.detection.ask.summary import summary
from tidings.detection.job.contract import WITH_FRAMES, Body, Found, FramedJob, Noise, Part, Wanted
from tidings.detection.job.framed import compare_versions, examine
from tidings.document.parse import parse
from tidings.model.observed.change import FrameShare, shares
from tidings.model.watch.sentinel import AllOf, Interest, Not

ANY, WORDS, LINKS, IMAGES = (Interest(kind) for kind in ("any", "words", "links", "images"))
BASE = '<title>Doc</title><frameset cols="*,*"><frame src="/menu"><frame src="/text"></frameset>'
MENU, TEXT = "<p>menu one two</p><a href=/x>x</a>", "<p>text three four</p>"


def part(path: str, html: str, url: str = "") -> Part:
    data, address = html.encode(), f"http://x.org{path}"
    body = Body(data=data, content_type="text/html; charset=utf-8", url=url or address, charset="utf-8")
    return Part(key=f"key of {path}", url=address, sha256=hashlib.sha256(data).hexdigest(), body=body)


def version(base: str = BASE, **frames: str) -> tuple[Part, ...]:
    return (part("/", base), *(part(f"/{name}", html) for name, html in frames.items()))


OLD = version(menu=MENU, text=TEXT)


def job(new: tuple[Part, ...], expression: object = ANY, old: tuple[Part, ...] = OLD, **more: object) -> FramedJob:
    before = examine(FramedJob(new=old, references={}, known={}, wanted=()))
    wanted = (Wanted(key=7, reference=1, expression=expression),)  # type: ignore[arg-type]
    rest = {"references": {1: old}, "known": {1: before.digest}, "text_digest": before.digest.text} | more
    return FramedJob(new=new, wanted=wanted, **rest)  # type: ignore[arg-type]


def tokens(parts: tuple[Part, ...]) -> list[str]:
    documents = [parse(p.body.data, p.body.content_type, url=p.body.url) for p in parts]
    return [token for document in documents for token in document.tokens]


def test_first_version_of_a_framed_page_is_described():
    """The title is that of the holder; words and links are counted over all members."""
    seen = examine(FramedJob(new=OLD, references={}, known={}, wanted=()))

    assert ("Doc", WITH_FRAMES) == (seen.title, seen.digest.extraction)
    assert (7, 1, 0, "menu one two x") == (
        seen.facts.words, seen.facts.links, seen.facts.images, seen.facts.first_words,
    )  # fmt: skip
    assert (False, (), "") == (seen.text_changed, seen.found, seen.problem)


def test_change_in_a_frame_has_its_label():
    """Only that frame has a share, and the summary names it."""
    seen = examine(job(version(menu=MENU, text="<p>text three 4</p>")))
    (found,) = seen.found

    assert seen.text_changed
    assert (("four", "4"),) == found.change.updated
    assert (FrameShare("http://x.org/text", updated=1, edits=1),) == found.change.frames
    assert 'in text: text three "4" (was "four")' == summary(found.change)


def test_edits_count_the_tokens_of_all_members():
    """Applied to those of the old members in order, they give those of the new ones."""
    new = version("<p>holder</p>", menu="<p>menu 1 two</p>", text="<p>text and more three</p>")
    old = version("<p>holder then</p>", menu=MENU, text=TEXT)
    (found,) = examine(job(new, WORDS, old=old)).found

    assert 3 == len(found.change.frames)
    assert tokens(new) == apply_edits(found.change.edits, tokens(old), tokens(new))


def test_lists_are_split_into_shares_in_the_order_of_the_page():
    """A text common to two frames is reported for both."""
    new = version(menu="<p>menu one two sold</p><a href=/x>x</a><a href=/y></a>", text="<p>text sold three four</p>")
    (found,) = examine(job(new)).found
    menu, text = found.change.frames

    assert ("http://x.org/menu", "http://x.org/text") == (menu.url, text.url)
    assert ["sold", "http://x.org/y"] == list(found.change.inserted[: menu.inserted])
    assert ["sold"] == list(found.change.inserted[menu.inserted : menu.inserted + text.inserted])
    assert (1, 0) == (menu.objects, text.objects)
    assert "in 2 parts of the page" == summary(found.change).partition(":")[0]


def test_moved_frame_is_the_same_frame():
    """Members are paired by their page: another order is no change."""
    swapped = BASE.replace("menu", "MARK").replace("text", "menu").replace("MARK", "text")
    seen = examine(job((part("/", swapped), OLD[2], OLD[1])))

    assert ((), False) == (seen.found, seen.text_changed)


def test_replaced_frame_is_deleted_and_inserted():
    """The page names another frame."""
    new = version(BASE.replace("/text", "/news"), menu=MENU, news="<p>fresh words</p>")
    (found,) = examine(job(new)).found

    assert (("fresh words",), ("text three four",)) == (found.change.inserted, found.change.deleted)
    assert ["http://x.org/news", "http://x.org/text"] == [share.url for share in found.change.frames]
    assert ["fresh", "words"] == tokens(new)[4:6]
    assert {(4, 6), (4, 4), (0, 0)} >= {(edit.new_start, edit.new_end) for edit in found.change.edits}


def test_first_answer_of_a_failed_frame_is_a_baseline():
    """The old page named it too."""
    (base, menu, _) = OLD

    assert () == examine(job(OLD, old=(base, menu), known={})).found
    assert () == examine(job(OLD, old=(base,), known={})).found


def test_frame_beyond_a_limit_is_not_deleted():
    """The page still names it."""
    base, menu, _ = OLD

    assert () == examine(job((base, menu))).found


def test_frame_is_found_by_every_form_of_its_address():
    """It may have characters beyond ASCII."""
    base = '<frameset><frame src="/größe"></frameset>'
    frame = part("/gr%C3%B6%C3%9Fe", TEXT)

    assert () == examine(job((part("/", base), frame), old=(part("/", base),), known={})).found


def test_and_may_be_fulfilled_in_two_frames():
    """NOT removes its findings in every frame."""
    new = version(menu=MENU + "<img src=/i>", text=TEXT + "<a href=/y>three</a>")
    (both,) = examine(job(new, AllOf((LINKS, IMAGES)))).found
    (words,) = examine(job(new, AllOf((ANY, Not(LINKS), Not(IMAGES))))).found

    assert {"links", "images"} == set(both.change.kinds)
    assert () == examine(job(version(menu=MENU + "<img src=/i>", text=TEXT), AllOf((LINKS, IMAGES)))).found
    assert (("words",), ("three",)) == (words.change.kinds, words.change.inserted)


def test_keywords_are_excluded_in_each_frame():
    """`all words AND NOT keyword` excludes nothing else."""
    new = version(menu=MENU.replace("one", "one sale"), text=TEXT.replace("four", "sale four five"))
    (found,) = examine(job(new, AllOf((WORDS, Not(Interest("keywords", terms=("sale",))))))).found

    assert ("five",) == found.change.inserted
    assert ["http://x.org/text"] == [share.url for share in found.change.frames]


def test_links_of_a_frame_have_its_own_base():
    """It may come from another site."""
    old = (part("/", BASE), part("/menu", MENU, url="http://y.org/deep/page"))
    new = (part("/", BASE), part("/menu", MENU + "<a href=z>z</a>", url="http://y.org/deep/page"))
    (found,) = examine(job(new, LINKS, old=old)).found

    assert ("http://y.org/deep/z",) == found.change.inserted


def test_unreadable_frame_is_named_in_the_problem():
    """Nothing is compared, and nothing is "unchanged"."""
    hostile = "<p>" + "<b>" * 200_000
    seen = examine(job(version(menu=hostile, text="<p>other</p>")))

    assert seen.problem.startswith("http://x.org/menu: could not compare")
    assert () == seen.found


def test_digests_of_other_rules_are_computed_again():
    """A digest of older rules, or from before frames were followed, decides nothing."""
    new = version(menu=MENU, text=TEXT + "<p>more</p>")
    known = examine(FramedJob(new=new, references={}, known={}, wanted=())).digest
    stale = [dataclasses.replace(known, rules_version=0), dataclasses.replace(known, extraction="page")]

    for digest in stale:
        seen = examine(job(new, known={1: digest}))
        assert (1, True) == (len(seen.found), seen.text_changed)


def test_any_two_versions_are_compared_on_demand():
    """They may have frames; a problem is reported instead of a change."""
    found, problem = compare_versions(OLD, version(menu=MENU, text="<p>text</p>"), WORDS, 0)
    nothing, why = compare_versions(OLD, version(menu="<b>" * 200_000, text=TEXT), WORDS, 0)

    assert (("three four",), "") == (found.deleted, problem)
    assert not nothing
    assert why


@pytest.mark.parametrize("depth", [0, 2])
def test_srcdoc_is_text_of_its_page_only(depth: int):
    """If iframes are followed, the iframes of a frame are not."""
    written = '<p>a</p><iframe srcdoc="inner"></iframe>'
    parts = (part("/", written), part("/menu", written))
    seen = examine(FramedJob(new=parts, references={}, known={}, wanted=(), depth=depth))

    assert (3 if depth else 2) == seen.facts.words


def test_job_and_result_of_a_framed_page_are_pickled():
    """A body in two versions is sent once."""
    large = version(menu="<p>" + "word " * 50_000, text=TEXT)
    sent = pickle.dumps(job((large[0], large[1], part("/text", "<p>new</p>")), old=large))

    assert len(sent) < 1.5 * len(large[1].body.data)
    assert 1 == len(examine(pickle.loads(sent)).found)


def test_values_in_frames_are_noise_too():
    """A counter in a frame is masked, and a word beside it is reported."""

    def see(old: str, new: str) -> tuple[Found, bool]:
        whole = examine(job(version(menu=MENU, text=new), old=version(menu=MENU, text=old), noise=Noise()))
        (found,) = whole.found
        return found, whole.text_changed

    quiet, is_news = see("<p>5 views, boots", "<p>6 views, boots")
    reported, is_news_too = see("<p>5 views, boots", "<p>6 views, shoes")

    assert (True, False, False, True) == (quiet.quiet, is_news, reported.quiet, is_news_too)
    assert (("boots", "shoes"),) == reported.change.updated
    assert ["count"] == [one.mask for one in reported.change.masked]


def test_contexts_are_numbered_over_all_members():
    """The first changed text of the second frame is the second of the page, and the first of its
    share.
    """
    seen = examine(
        job(version(menu="<h1>Menu</h1><p>menu 1 two</p><a href=/x>x</a>", text="<p>text three 4</p>"), WORDS)
    )
    (found,) = seen.found

    numbers = [(one.of, one.number) for one in found.change.contexts]
    assert len(numbers) == len(set(numbers))
    for share, part in shares(found.change):
        for one in part.contexts:
            texts = getattr(part, one.of)
            assert one.number < len(texts), share.url
