"""What a page became over several changes of one message."""

import pytest

from tidings.presentation.net import newest_first
from tidings.presentation.presenters import PRESENTERS


def change(inserted=(), deleted=(), updated=(), *, url="https://a.example/", kind="words", number=1, **more):
    pairs = [{"old": old, "new": new} for old, new in updated]
    return {
        "record": "change", "sentinel": "s", "url": url, "kind": kind, "from_version": f"1.{number}", "to_version": f"1.{number + 1}",
        "inserted": list(inserted), "deleted": list(deleted), "updated": pairs, "moved": [], "summary": "1 text updated",
        "polled_at": "2026-01-01T00:00:00Z", "detected_at": "2026-01-01T00:00:00Z", **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([{"updated": [("1", "2")]}, {"updated": [("2", "3")]}], '"1" → "3"'),
        ([{"updated": [("1", "2")]}, {"updated": [("2", "1")]}], "as it was before"),
        ([{"inserted": ["x"]}, {"deleted": ["x"]}, {"inserted": ["y"]}], '+"y"'),
        ([{"deleted": ["x"]}, {"inserted": ["x"]}], "as it was before"),
        ([{"inserted": ["x"]}, {"updated": [("x", "y")]}], '+"y"'),
        ([{"updated": [("1", "2")]}, {"deleted": ["2"]}], '-"1"'),
        ([{"updated": [("1", "3"), ("2", "3")]}, {"inserted": ["x"]}], '"1" → "3"; "2" → "3"; +"x"'),
        ([{"updated": [("1", "3"), ("2", "3")]}, {"updated": [("3", "4")]}], '"2" → "3"; "1" → "4"'),
        ([{"inserted": list("abc")}, {"inserted": list("de")}], '+"a"; +"b"; +"c"; and 2 more'),
    ],
)
def test_edits_are_followed_from_the_first_to_the_last(changes, said):
    """What came and went again is left out; what became something else is told from its beginning to its end."""
    records = [change(**edits, number=n) for n, edits in enumerate(changes, 1)]
    (net, *rest) = newest_first(records, net=True)

    assert f"{len(changes)} changes, net: {said}" == net["summary"]
    assert ("1.1", f"1.{len(changes) + 1}") == (net["from_version"], net["to_version"])
    assert records[::-1] == rest


def test_only_pages_that_changed_more_than_once_have_one():
    """Each page and kind by itself; composites and notices have none."""
    once = change(inserted=["x"], url="https://b.example/")
    several = change(inserted=["x"], parts=[{"url": "https://a.example/"}])
    notice = {"record": "notice", "event": "page.error", "url": "https://a.example/"}
    records = [once, change(updated=[("1", "2")]), several, notice, several, change(updated=[("2", "3")], number=2)]
    told = newest_first(records, net=True)

    assert [*records[:0:-1], once] == [record for record in told if "net" not in record.get("summary", "")]
    assert [0] == [place for place, record in enumerate(told) if "net" in record.get("summary", "")]


@pytest.mark.parametrize("name", sorted(PRESENTERS))
def test_every_view_can_draw_it(name):
    """It is a change record like others."""
    told = newest_first([change(updated=[("1", "2")]), change(updated=[("2", "3")], number=2)], net=True)

    assert "2 changes, net:" in PRESENTERS[name].present(told)


def test_the_newest_is_read_first():
    """Page by page, so that nobody jumps between pages: the page that changed last, and of each page its last change."""
    a, b = ([change(inserted=[f"{name}{n}"], url=f"https://{name}.example/") for n in range(2)] for name in "ab")
    told = newest_first([a[0], b[0], b[1], a[1]])

    assert ["a1", "a0", "b1", "b0"] == [record["inserted"][0] for record in told]
