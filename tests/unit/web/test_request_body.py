import asyncio
import json
from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from tests.asgi import scope_of
from tidings.web.problems import ProblemError
from tidings.web.request_body import (
    DEEPEST,
    FORM,
    MOST_BYTES,
    MOST_FIELDS,
    MOST_FILE_BYTES,
    SentFile,
    body_of,
    read_files,
    read_parameters,
)

JSON = "application/json"
READ = [
    ("nothing", b"", JSON, {}),
    ("white space", b" \n", JSON, {}),
    ("an object", b'{"a": 1, "b": [true, null, "\xc3\xa9"]}', JSON, {"a": 1, "b": [True, None, "é"]}),
    ("with a charset", b'{"a": 1}', "application/json; charset=utf-8", {"a": 1}),
    ("of a vendor type", b'{"a": 1}', "application/vnd.github+json", {"a": 1}),
    ("without a type", b'{"a": 1}', "", {"a": 1}),
    ("with a byte order mark", b'\xef\xbb\xbf{"a": 1}', JSON, {"a": 1}),
    ("a form", b"version=1.2&note=a+b%26c&empty=", FORM, {"version": "1.2", "note": "a b&c", "empty": ""}),
    ("a repeated name", b"a=1&a=2&a=3", FORM, {"a": ["1", "2", "3"]}),
    ("at the maximum depth", b'{"a":' * DEEPEST + b"1" + b"}" * DEEPEST, JSON, None),
]  # fmt: skip
REFUSED = [
    ("no JSON", b"{a: 1}", JSON, 400, "is no JSON"),
    ("no UTF-8", b'{"a": "\xff"}', JSON, 400, "is no JSON"),
    ("UTF-16", '{"a": 1}'.encode("utf-16"), JSON, 400, "is no JSON"),
    ("a list", b"[1]", JSON, 400, "no object"),
    ("a text", b'"a"', JSON, 400, "no object"),
    ("no number", b'{"a": NaN}', JSON, 400, "NaN is not a number"),
    ("an infinite number", b'{"a": -Infinity}', JSON, 400, "Infinity is not a number"),
    ("a number of 60,000 digits", b'{"a": ' + b"9" * 60_000 + b"}", JSON, 400, "is no JSON"),
    (
        "above the maximum depth",
        b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1),
        JSON,
        400,
        f"more than {DEEPEST} deep",
    ),
    ("only brackets", b"[" * 60_000, JSON, 400, "nested too deeply|is no JSON"),
    ("objects without end", b'{"a":' * 10_000, JSON, 400, "nested too deeply|is no JSON"),
    ("too many fields", b"&".join(b"a%d=1" % n for n in range(MOST_FIELDS + 1)), FORM, 400, "at most"),
    ("a form in no UTF-8", b"a=%ff", FORM, 400, "cannot be read"),
    ("a file", b"--x", "multipart/form-data; boundary=x", 415, "multipart/form-data is not understood"),
    ("XML", b"<a/>", "text/xml", 415, "text/xml is not understood"),
]


@pytest.mark.parametrize(("body", "media", "expected"), [row[1:] for row in READ], ids=[row[0] for row in READ])
def test_json_objects_and_forms_become_parameters(body, media, expected):
    """An empty body gives no parameters."""
    assert (json.loads(body) if expected is None else expected) == read_parameters(body, media)


@pytest.mark.parametrize(("body", "media", "status", "text"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])  # fmt: skip
def test_other_bodies_are_refused_with_the_reason(body, media, status, text):
    """None of them raises an unexpected exception."""
    with pytest.raises(ProblemError, match=text) as error:
        read_parameters(body, media)

    assert status == error.value.status


def request_of(parts, headers=()):
    """Return a request with a body in these parts; after None it stays open without more data."""

    async def receive():
        part = parts.pop(0) if parts else None
        if part is None:
            await asyncio.Event().wait()
        if part == "gone":
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    return Request(scope_of("/", "POST", headers), receive)


def test_body_is_read_until_its_last_part():
    """The server passes it on in parts."""
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
    ids=["declared as large", "absurdly large", "large but not declared", "stalled", "aborted"],
)
def test_body_is_limited_in_size_and_time(parts, headers, status):
    """No client fills the memory or keeps a connection forever."""
    with pytest.raises(ProblemError) as error:
        asyncio.run(body_of(request_of(parts, headers), seconds=0.05))

    assert status == error.value.status


@given(st.binary(max_size=300), st.sampled_from([JSON, FORM, "", "text/plain", "application/json; charset=\xff"]))
def test_any_body_is_read_or_refused(body, media):
    """No input of a stranger raises an unexpected exception."""
    status, found = 200, {}
    try:
        found = read_parameters(body, media)
    except ProblemError as problem:
        status = problem.status

    assert status in {200, 400, 415}
    assert isinstance(found, dict)


def send_form(body, media):
    """Return the fields and files of a form."""

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    request = Request(scope_of("/import", "POST", [("content-type", media)]), receive)
    form, files = asyncio.run(read_files(request))
    return {name: list(values) for name, values in form.values.items()}, dict(files)


FIELD = b'--b\r\nContent-Disposition: form-data; name="act"\r\n\r\nshow\r\n'
FILE = b'--b\r\ncontent-disposition: form-data; name="file"; filename="%s"\r\nContent-Type: x/y\r\n\r\n%s\r\n'
MULTIPART = "multipart/form-data; boundary=b"


@pytest.mark.parametrize("content", [b"", b"\r\n", b"a\r\n--c\r\nb", b"\x00\xff\r\r\n\n", b"PK\x03\x04" * 9])
def test_file_of_a_form_arrives_as_it_was(content):
    """Whatever bytes it has, but a line that begins with the boundary."""
    form, files = send_form(FIELD + FILE % (b"a b.zip", content) + b"--b--\r\n", MULTIPART)

    assert ({"act": ["show"]}, {"file": SentFile("a b.zip", content)}) == (form, files)


@pytest.mark.parametrize(
    ("body", "media", "expected"),
    [
        (b"act=show", FORM, ({"act": ["show"]}, {})),
        (FIELD + b"--b--", 'multipart/form-data; boundary="b"', ({"act": ["show"]}, {})),
        (FILE % (b"", b"") + b"--b--", MULTIPART, ({}, {})),
        (b"--b\r\nno head", MULTIPART, ({}, {})),
        (b"--b\r\nX: y\r\n\r\nz\r\n--b--", MULTIPART, ({"": ["z"]}, {})),
        (b"", MULTIPART, ({}, {})),
        (FIELD * 500 + b"--b--", MULTIPART, None),
    ],
)
def test_other_forms_with_files_are_read_as_far_as_they_go(body, media, expected):
    """A field of a file that nobody chose is left out; of many parts the first are read."""
    form, files = send_form(body, media)

    assert (expected or ({"act": ["show"] * 20}, {})) == (form, files)


@pytest.mark.parametrize(
    ("body", "media", "status"),
    [
        (b"x", "multipart/form-data", 415),
        (b"x", f"multipart/form-data; boundary={'b' * 71}", 415),
        (b"x" * (MOST_FILE_BYTES + 1), MULTIPART, 413),
    ],
)
def test_form_without_boundary_or_end_is_refused(body, media, status):
    """So is one that is too large."""
    with pytest.raises(ProblemError) as refused:
        send_form(body, media)

    assert status == refused.value.status
