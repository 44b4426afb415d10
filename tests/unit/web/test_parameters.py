import asyncio
import json
from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from tests.asgi import scope_of
from tidings.web.parameters import DEEPEST, FORM, MOST_BYTES, MOST_FIELDS, body_of, read
from tidings.web.problems import ProblemError

JSON = "application/json"
READ = [
    ("nothing", b"", JSON, {}),
    ("white space", b" \n", JSON, {}),
    ("an object", b'{"a": 1, "b": [true, null, "\xc3\xa9"]}', JSON, {"a": 1, "b": [True, None, "é"]}),
    ("with a charset", b'{"a": 1}', "application/json; charset=utf-8", {"a": 1}),
    ("of a kind of its own", b'{"a": 1}', "application/vnd.github+json", {"a": 1}),
    ("without a type", b'{"a": 1}', "", {"a": 1}),
    ("with a mark in front", b'\xef\xbb\xbf{"a": 1}', JSON, {"a": 1}),
    ("a form", b"version=1.2&note=a+b%26c&empty=", FORM, {"version": "1.2", "note": "a b&c", "empty": ""}),
    ("a name that comes again", b"a=1&a=2&a=3", FORM, {"a": ["1", "2", "3"]}),
    ("as deep as may be", b'{"a":' * DEEPEST + b"1" + b"}" * DEEPEST, JSON, None),
]  # fmt: skip
REFUSED = [
    ("no JSON", b"{a: 1}", JSON, 400, "is no JSON"),
    ("no UTF-8", b'{"a": "\xff"}', JSON, 400, "is no JSON"),
    ("UTF-16", '{"a": 1}'.encode("utf-16"), JSON, 400, "is no JSON"),
    ("a list", b"[1]", JSON, 400, "no object"),
    ("a text", b'"a"', JSON, 400, "no object"),
    ("no number", b'{"a": NaN}', JSON, 400, "NaN is not a number"),
    ("no end of a number", b'{"a": -Infinity}', JSON, 400, "Infinity is not a number"),
    ("a number without end", b'{"a": ' + b"9" * 60_000 + b"}", JSON, 400, "is no JSON"),
    ("one too deep", b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1), JSON, 400, f"more than {DEEPEST} deep"),
    ("brackets alone", b"[" * 60_000, JSON, 400, "nested too deeply|is no JSON"),
    ("objects without end", b'{"a":' * 10_000, JSON, 400, "nested too deeply|is no JSON"),
    ("too many fields", b"&".join(b"a%d=1" % n for n in range(MOST_FIELDS + 1)), FORM, 400, "at most"),
    ("a form in no UTF-8", b"a=%ff", FORM, 400, "cannot be read"),
    ("a file", b"--x", "multipart/form-data; boundary=x", 415, "multipart/form-data is not understood"),
    ("XML", b"<a/>", "text/xml", 415, "text/xml is not understood"),
]


@pytest.mark.parametrize(("body", "media", "expected"), [row[1:] for row in READ], ids=[row[0] for row in READ])
def test_what_a_hook_may_bring(body, media, expected):
    """JSON objects and forms become params; nothing becomes none."""
    assert (json.loads(body) if expected is None else expected) == read(body, media)


@pytest.mark.parametrize(("body", "media", "status", "said"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])  # fmt: skip
def test_what_it_may_not(body, media, status, said):
    """Whatever else comes is refused with what is wrong with it, never a fault of ours."""
    with pytest.raises(ProblemError, match=said) as error:
        read(body, media)

    assert status == error.value.status


def request_of(parts, headers=()):
    """Return a request whose body comes in these parts; None: nothing more comes, and nobody leaves."""

    async def receive():
        part = parts.pop(0) if parts else None
        if part is None:
            await asyncio.Event().wait()
        if part == "gone":
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    return Request(scope_of("/", "POST", headers), receive)


def test_a_body_comes_in_parts():
    """Until the last one."""
    assert b"abc" == asyncio.run(body_of(request_of([b"a", b"b", b"c"])))


@pytest.mark.parametrize(
    ("parts", "headers", "status"),
    [
        ([b"x"], [("content-length", str(MOST_BYTES + 1))], HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        ([b"x"], [("content-length", "9" * 5_000)], HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        ([b"x" * MOST_BYTES, b"x"], [], HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        ([b"x", None], [], HTTPStatus.REQUEST_TIMEOUT),
        ([b"x", "gone"], [], HTTPStatus.BAD_REQUEST),
    ],
    ids=["said to be large", "absurdly large", "large without saying so", "dripping", "broken off"],
)
def test_a_body_is_bounded_in_size_and_time(parts, headers, status):
    """Nobody fills the memory or holds a place for ever."""
    with pytest.raises(ProblemError) as error:
        asyncio.run(body_of(request_of(parts, headers), seconds=0.05))

    assert status == error.value.status


@given(st.binary(max_size=300), st.sampled_from([JSON, FORM, "", "text/plain", "application/json; charset=\xff"]))
def test_whatever_comes_is_read_or_refused(body, media):
    """Nothing that a stranger sends is a fault of ours."""
    status, found = 200, {}
    try:
        found = read(body, media)
    except ProblemError as problem:
        status = problem.status

    assert status in {200, 400, 415}
    assert isinstance(found, dict)
