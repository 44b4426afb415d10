from __future__ import annotations

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from tidings.clock import DAY, MINUTE, SECOND
from tidings.fetching.fetcher import FetchError
from tidings.fetching.http import answers
from tidings.model.observed.outcome import Validators

NOW = 1_700_000_000 * SECOND  # Tue, 14 Nov 2023 22:13:20 GMT


def headers(*pairs: tuple[str, str]) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict(pairs))


@pytest.mark.parametrize(
    "pairs",
    [
        [("Content-Length", "5"), ("Content-Length", "4")],
        [("Content-Length", "5"), ("content-length", "5")],
        [("Content-Length", "5"), ("Transfer-Encoding", "chunked")],
        [("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")],
        [("Transfer-Encoding", "gzip, chunked")],
        [("Transfer-Encoding", "identity")],
    ],
)
def test_contradictory_framing_fails(pairs):
    """More than one way to find the end of a body, or an unknown one, is refused, even if the
    parser accepts it.
    """
    with pytest.raises(FetchError) as error:
        answers.framing_of(headers(*pairs), encoded=False)

    assert "framing" == error.value.kind


@pytest.mark.parametrize(
    ("value", "pause"),
    [
        (None, None),
        ("", None),
        ("59", MINUTE),
        ("61", 61 * SECOND),
        (" 86401 ", DAY),
        ("9" * 5_000, DAY),
        ("Tue, 14 Nov 2023 22:23:20 GMT", 10 * MINUTE),
        ("Tue, 14 Nov 2023 22:23:20", 10 * MINUTE),
        ("Tue, 14 Nov 2023 23:23:20 +0100", 10 * MINUTE),
        ("Tuesday, 14-Nov-23 22:23:20 GMT", 10 * MINUTE),
        ("Mon, 13 Nov 2023 22:13:20 GMT", None),
        ("0", None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", DAY),
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
        ("1.5", None),
        ("-5", None),
        ("²", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, pause):
    """The value is limited to [1 min, 24 h]. An invalid value and a past date are ignored."""
    assert pause == answers.retry_after(value, now=NOW)


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({}, None),
        ({"RateLimit-Remaining": "0", "RateLimit-Reset": "30"}, 30 * SECOND),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOW // SECOND + 600)}, 10 * MINUTE),
        ({"x-ratelimit-remaining": "0.0", "x-ratelimit-reset": str((NOW // SECOND + 600) * 1_000)}, 10 * MINUTE),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "Tue, 14 Nov 2023 22:23:20 GMT"}, 10 * MINUTE),
        ({"X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "1e3"}, 1_000 * SECOND),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "1.5"}, SECOND * 3 // 2),
        ({"RateLimit": "limit=100, remaining=0, reset=30"}, 30 * SECOND),
        ({"RateLimit": '"minute";r=0;t=30, "hour";r=0;t=1800, "day";r=5;t=9000'}, 30 * MINUTE),
        ({"RateLimit": '"minute";r=3;t=30'}, None),
        ({"RateLimit-Remaining": "1", "RateLimit-Reset": "30"}, None),
        ({"RateLimit-Remaining": "0", "RateLimit-Reset": "0"}, None),
        ({"RateLimit-Remaining": "0", "RateLimit-Reset": "9" * 400}, None),
        ({"RateLimit-Remaining": "0", "RateLimit-Reset": "999999"}, DAY),
        ({"RateLimit-Remaining": "none", "RateLimit-Reset": "nan"}, None),
        ({"RateLimit-Remaining": "0"}, None),
        ({"RateLimit-Reset": "30"}, None),
    ],
)
def test_exhausted_rate_limit_has_its_reset(headers, pause):
    """All spellings in use are read: seconds, instants in seconds or milliseconds, and dates. Of
    several limits the longest counts.
    """
    assert pause == answers.rate_limit(answers.multi(headers), now=NOW)


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (429, {"RateLimit-Reset": "600"}, ("busy", 10 * MINUTE)),
        (429, {"RateLimit-Reset": "600", "Retry-After": "60"}, ("busy", MINUTE)),
        (429, {"Retry-After": "0"}, ("busy", None)),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "600"}, ("busy", 10 * MINUTE)),
        (403, {"X-RateLimit-Remaining": "9", "X-RateLimit-Reset": "600"}, ("denied", None)),
        (404, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "600"}, ("404", 10 * MINUTE)),
    ],
)
def test_rate_limit_of_an_error_is_used(status, headers, expected):
    """An exhausted limit has the time of the next request, and makes 403 busy instead of denied."""
    error = answers.failure_of(status, answers.multi(headers), now=NOW)

    assert expected == (error.kind, error.retry_after)


@pytest.mark.parametrize(
    ("pairs", "fresh"),
    [
        ([], None),
        ([("Cache-Control", "public")], None),
        ([("Cache-Control", "max-age=60")], MINUTE),
        ([("Cache-Control", 'public, MAX-AGE="60"')], MINUTE),
        ([("Cache-Control", "max-age=60, max-age=90")], MINUTE),
        ([("Cache-Control", "public"), ("Cache-Control", "max-age=60")], MINUTE),
        ([("Cache-Control", "max-age=60"), ("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")], MINUTE),
        ([("Cache-Control", "s-maxage=60")], MINUTE),
        ([("Cache-Control", "s-maxage=90, max-age=60")], MINUTE),
        ([("Cache-Control", "max-age=90"), ("Age", "30")], MINUTE),
        ([("Cache-Control", "max-age=90"), ("Age", "-30")], 90 * SECOND),
        ([("Cache-Control", "max-age=90"), ("Age", "91")], 0),
        ([("Cache-Control", "max-age=" + "9" * 5_000)], DAY),
        ([("Cache-Control", "max-age=-1")], 0),
        ([("Cache-Control", "max-age")], 0),
        ([("Cache-Control", "max-age=60, no-store")], 0),
        ([("Cache-Control", "no-cache"), ("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")], 0),
        ([("Expires", "Tue, 14 Nov 2023 22:23:20 GMT")], 10 * MINUTE),
        ([("Expires", "Tue, 14 Nov 2023 22:23:20 GMT"), ("Date", "Tue, 14 Nov 2023 22:22:20 GMT")], MINUTE),
        ([("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")], DAY),
        ([("Expires", "Mon, 13 Nov 2023 22:13:20 GMT")], 0),
        ([("Expires", "-1")], 0),
    ],
)
def test_freshness_follows_rfc_9111(pairs, fresh):
    """RFC 9111 §4.2, limited to [0, 24 h]. An unreadable value claims no freshness."""
    assert fresh == answers.freshness(headers(*pairs), now=NOW)


def test_304_keeps_validators_that_it_does_not_repeat():
    """New validators replace old ones."""
    old = Validators('"1"', "Mon")

    assert Validators('"2"', "Mon") == answers.validators_of(headers(("ETag", '"2"')), old, now=NOW)
    assert Validators('"2"') == answers.validators_of(headers(("ETag", '"2"')), now=NOW)


@pytest.mark.parametrize(
    ("date", "modified", "is_kept"),
    [
        ("22:13:20", "22:13:20", False),
        ("22:13:21", "22:13:20", True),
        ("22:13:20", "22:13:50", False),
        ("22:13:20", "22:15:20", True),
        (None, "22:13:20", False),
        (None, "22:13:19", True),
    ],
    ids=[
        "same second",
        "a second later",
        "30 s ahead",
        "2 min ahead",
        "same second of our clock",
        "a second later of our clock",
    ],
)
def test_last_modified_in_the_second_of_the_answer_is_no_validator(date, modified, is_kept):
    """A later write in that second has the same date, and with nginx the same ETag: the server
    would answer "unchanged".
    """
    text = f"Tue, 14 Nov 2023 {modified} GMT"
    epoch = 1_700_000_000 + 60 * (int(modified[3:5]) - 13) + int(modified[6:]) - 20
    dates = [("Last-Modified", text), *([("Date", f"Tue, 14 Nov 2023 {date} GMT")] if date else [])]
    plain = answers.validators_of(headers(("ETag", '"a hash"'), *dates), now=NOW)
    nginx = answers.validators_of(headers(("ETag", f'W/"{epoch:X}-2f"'), *dates), now=NOW)

    assert Validators('"a hash"', text if is_kept else None) == plain
    assert Validators(f'W/"{epoch:X}-2f"' if is_kept else None, text if is_kept else None) == nginx


def test_unreadable_last_modified_is_a_validator():
    """The value is sent back byte for byte."""
    assert Validators(None, "lately") == answers.validators_of(headers(("Last-Modified", "lately")), now=NOW)


@pytest.mark.parametrize("etag", ["", "ä", '"\udce4"', '"a\x01"', '"' + "x" * 2_000 + '"'])
def test_invalid_etag_is_no_validator(etag):
    """The value cannot be stored and sent back. Without a validator the whole page is fetched,
    which is always correct.
    """
    assert not answers.validators_of(headers(("ETag", etag)), now=NOW)


def test_stored_headers_have_no_cookies():
    """Names are in lower case, repeated lines are joined, and incomplete characters are replaced."""
    given = headers(("A", "1"), ("a", "2"), ("Set-Cookie", "s=1"), ("B", "\udce4"), ("C", "ä"))

    assert {"a": "1, 2", "b": "ä", "c": "ä"} == answers.plain_headers(given)
