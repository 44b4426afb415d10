import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.notification.payload import MOST_BYTES, MOST_LINE_BYTES, console_body, stream_body, webhook_body

AT = 1_700_000_000_000_000


def record(**other):
    return {
        "record": "change",
        "id": "c1",
        "sentinel": "rates",
        "page": "3",
        "url": "https://example.org/rates?x=1",
        "kind": "words",
        "from_version": "3.1",
        "to_version": "3.2",
        "inserted": ["4.1 %"],
        "deleted": ["4.0 %"],
        "updated": [{"old": "Mon", "new": "Tue"}],
        "moved": [],
        "summary": "4.0 % → 4.1 %",
        "modified_at": None,
        "polled_at": "2023-11-14T22:13:19.000000Z",
        "detected_at": "2023-11-14T22:13:20.000000Z",
        **other,
    }


def read(*records):
    body = webhook_body(records, "rates", at=AT)
    return len(body), json.loads(body)


def test_one_change_is_found():
    """The data is the whole record."""
    assert {"type": "change.found", "timestamp": "2023-11-14T22:13:20.000000Z", "data": record()} == read(record())[1]


def test_several_changes_are_a_digest():
    """The changes keep their order, and the sentinel is named."""
    second = record(id="c2")

    assert {
        "type": "change.digest",
        "timestamp": "2023-11-14T22:13:20.000000Z",
        "data": {"sentinel": "rates", "changes": [record(), second]},
    } == read(record(), second)[1]


def test_empty_message_is_refused():
    """A message needs at least one change."""
    with pytest.raises(ValueError, match="at least one change"):
        webhook_body([], "rates", at=AT)


def test_long_text_is_cut_and_counts_the_rest():
    """A receiver sees the beginning and the number of missing characters."""
    size, body = read(record(inserted=["x" * 50_000]))

    assert size <= MOST_BYTES
    assert ["x" * 4_000 + " … and 46000 more characters"] == body["data"]["inserted"]


def test_long_list_is_cut_and_counts_the_rest():
    """`more` has the number of entries that are left out of each list. The others are unchanged."""
    size, body = read(record(inserted=[f"line {n} of many" for n in range(5_000)], moved=["a"]))

    assert size <= MOST_BYTES
    assert {"inserted": 5_000 - len(body["data"]["inserted"])} == body["data"]["more"]
    assert "line 0 of many" == body["data"]["inserted"][0]
    assert ["a"] == body["data"]["moved"]


def test_long_digest_has_its_first_changes():
    """`more` counts the others."""
    size, body = read(*(record(id=f"c{n}") for n in range(1_000)))
    kept = [change["id"] for change in body["data"]["changes"]]

    assert size <= MOST_BYTES
    assert len(kept) > 10
    assert [f"c{n}" for n in range(len(kept))] == kept
    assert 1_000 - len(kept) == body["data"]["more"]


def test_given_records_are_not_modified():
    """Only the message is cut; the stored record stays whole."""
    given_record = record(inserted=["x" * 50_000], updated=[{"old": "y" * 50_000, "new": ""}])
    webhook_body([given_record], "rates", at=AT)

    assert 50_000 == len(given_record["inserted"][0])
    assert 50_000 == len(given_record["updated"][0]["old"])
    assert "more" not in given_record


def test_lists_of_frames_are_cut_too():
    """The frames keep their addresses."""
    frames = [record(url=f"https://example.org/{n}", inserted=["x" * 9_000] * 30) for n in range(9)]
    size, body = read(record(inserted=["x" * 9_000] * 270, frames=frames))

    assert size <= MOST_BYTES
    assert [f"https://example.org/{n}" for n in range(9)] == [part["url"] for part in body["data"]["frames"]]
    assert all(part["more"] == {"inserted": 30 - len(part["inserted"])} for part in body["data"]["frames"])


def test_ids_and_urls_are_never_cut():
    """A cut id or address finds nothing."""
    url = "https://example.org/" + "u" * 5_000
    _, body = read(record(url=url, inserted=["x" * 50_000] * 30))

    assert url == body["data"]["url"]


TEXTS = st.text(max_size=200).map(lambda text: text * 40)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.builds(record, inserted=st.lists(TEXTS, max_size=5), deleted=st.lists(TEXTS, max_size=5), summary=TEXTS),
        min_size=1,
        max_size=8,
    )
)
def test_webhook_body_is_small_and_valid_for_any_text(records):
    """The body is JSON below the limit."""
    size, body = read(*records)

    assert size <= MOST_BYTES
    assert body["type"] in {"change.found", "change.digest"}


def test_lone_surrogates_are_escaped():
    """A text that cannot be encoded does not stop the delivery."""
    _, body = read(record(summary="a\ud800b"))

    assert "a\ud800b" == body["data"]["summary"]


def test_console_has_one_line_for_each_change():
    """A line has the time, the sentinel, the summary and the address."""
    second = record(summary="two\nlines", detected_at=None)

    assert [
        "2023-11-14T22:13:20Z  rates  4.0 % → 4.1 %  https://example.org/rates?x=1",
        "-  rates  two lines  https://example.org/rates?x=1",
    ] == console_body([record(), second]).decode().splitlines()


def test_console_counts_edits_without_a_summary():
    """The counts are by kind of edit."""
    assert "  1 updated, 1 deleted, 1 inserted  " in console_body([record(summary="")]).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[2Jx", "\\u001b[2Jx"),
        ("a\u202eb", "a\\u202eb"),
        ("\x07\x9b", "\\u0007\\u009b"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
)
def test_console_escapes_control_characters(text, expected):
    """No page controls the terminal or the writing direction. Emoji are unchanged."""
    assert f"  {expected}  " in console_body([record(summary=text)]).decode()


def test_console_line_is_limited():
    """A page of a megabyte gives no line of a megabyte."""
    line = console_body([record(summary="x" * 10**6)]).decode()

    assert "more characters" in line
    assert len(line) < 400
    assert record()["url"] in line


def test_stream_has_one_line_for_each_record():
    """No text of a page ends the line, and lone surrogates are escaped for UTF-8."""
    records = [record(summary="one\ntwo\r\u2028three"), record(inserted=["\ud800"])]
    lines = stream_body(records).decode().split("\n")

    assert [*records] == [json.loads(line) for line in lines[:-1]]
    assert "" == lines[-1]


def test_stream_line_is_limited():
    """A change of a megabyte is cut like that of a webhook, and counts the rest."""
    line = stream_body([record(inserted=["word " * 300] * 1_000)])

    assert len(line) <= MOST_LINE_BYTES + 1
    assert 0 < json.loads(line)["more"]["inserted"] < 1_000


def test_contexts_are_cut_with_their_lists():
    """The message has no context of a text that was left out."""
    texts = [f"{number} {'word ' * 200}" for number in range(100)]
    context = [{"of": "inserted", "number": number, "heading": "h" * 80} for number in range(40)]
    size, message = read(record(inserted=texts, context=context))

    assert MOST_BYTES >= size
    numbers = {one["number"] for one in message["data"]["context"]}
    assert numbers == set(range(len(message["data"]["inserted"])))
