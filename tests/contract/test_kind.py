"""The contract of change types, for every row of the table (004 §3.4.2)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import share
from tests.strategies import csv_texts, json_values, xml_elements
from tests.strategies import pages as contents
from tidings.detection.job.gates import FURTHER, are_equal, digest_of
from tidings.detection.kinds.registry import KINDS, TERM_KINDS, row_of
from tidings.document.parse import parse
from tidings.model.watch.sentinel import Interest

ROWS = {
    **{name: TERM_KINDS[name].for_term("one") if name in TERM_KINDS else row for name, row in KINDS.items()},
    "regex": row_of(Interest("regex", pattern=r"\w+")),
}

OFFERS = [
    f'<script type="application/ld+json">{{"@type": "Product", "offers": {offer}}}</script>'
    for offer in ('{"price": "5"}', '{"price": 6, "availability": "InStock"}', '{"availability": "SoldOut"}')
]
pages = st.builds("".join, st.tuples(contents, st.sampled_from(["", *OFFERS])))
"""Pages, some of which sell something."""

every_kind = pytest.mark.parametrize("kind", ROWS.values(), ids=list(ROWS))


def page(body):
    return read(f"<!doctype html><body>{body}", "text/html")


def read(text, content_type):
    return parse(text.encode(), content_type, url="http://x.org/", keep_tree=True)


BODIES = {
    "html": (pages, page),
    "json": (json_values, lambda value: read(json.dumps(value), "application/json")),
    "csv": (csv_texts, lambda text: read(text, "text/csv")),
    "xml": (xml_elements, lambda inside: read(f"<?xml version='1.0'?><x xmlns:r='r:'>{inside}</x>", "application/xml")),
}
"""What is compared, by its media: how its versions are drawn, and how one is read."""

versions = st.sampled_from(list(BODIES)).flatmap(
    lambda media: st.tuples(st.just(BODIES[media][1]), BODIES[media][0], BODIES[media][0])
)
"""(how to read them, an old version, a new one)"""


def digests(document):
    return digest_of(document, further={*FURTHER, *(name for kind in ROWS.values() for name in kind.digests)})


@every_kind
def test_kind_is_registered_under_its_name(kind):
    """It contains itself and names existing digests."""
    known = {"text", *digests(page("")).objects, *digests(read("[]", "application/json")).objects, "body"}

    assert ROWS[kind.name] is kind
    assert kind.name in kind.contains
    assert kind.contains <= set(KINDS)
    assert set(kind.digests) <= known


@every_kind
@share(0.4)
@given(drawn=versions)
def test_same_page_has_no_change(kind, drawn):
    """The page is parsed twice and compared with itself."""
    reader, body, _ = drawn

    assert () == kind.compare(reader(body), reader(body))


@every_kind
@share(0.4)
@given(drawn=versions)
def test_equal_digests_mean_no_change(kind, drawn):
    """The digest gate never hides a change."""
    reader, old, new = drawn
    before, after = reader(old), reader(new)
    found = kind.compare(before, after)

    assert not (found and are_equal(kind.digests, digests(before), digests(after)))


@every_kind
@share(0.4)
@given(drawn=versions)
def test_findings_are_not_empty_and_of_one_category(kind, drawn):
    """Each finding is a change and names its category."""
    reader, old, new = drawn
    found = kind.compare(reader(old), reader(new))

    assert all(found)
    assert [1] * len(found) == [len(finding.kinds) for finding in found]
    assert len({finding.kinds for finding in found}) == len(found)


@every_kind
@share(0.4)
@given(drawn=versions)
def test_change_is_symmetric(kind, drawn):
    """A change from old to new is also one from new to old. (A price or number that disappears is
    reported as a missing part.)
    """
    reader, old, new = drawn
    is_there = getattr(kind, "is_there", lambda document: True)
    is_lost, is_new = not is_there(reader(new)), not is_there(reader(old))
    there = {finding.kinds for finding in kind.compare(reader(old), reader(new))}
    back = {finding.kinds for finding in kind.compare(reader(new), reader(old))}

    assert there == (set() if is_lost else back if not is_new else there)
    assert back == (set() if is_new else there if not is_lost else back)


@every_kind
@share(0.4)
@given(old=pages, new=pages)
def test_change_of_a_contained_kind_is_a_change(kind, old, new):
    """Subtracting a contained type therefore never adds findings."""
    before, after = page(old), page(new)
    found = bool(kind.compare(before, after))

    for name in kind.contains:
        assert found or not ROWS[name].compare(before, after)
