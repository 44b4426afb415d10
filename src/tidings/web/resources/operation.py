"""An operation of the API: its row in the table, its call, and their translation from and to HTTP;
lists are given in pages, whose cursor is the key of the last item, so that nothing is repeated or
skipped while items arrive.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import msgspec
from starlette.responses import Response

from tidings.clock import SECOND
from tidings.errors import TidingsError
from tidings.record import dataclass
from tidings.web.problems import NO_TEXT, ProblemError, problem_of
from tidings.web.request_body import body_of
from tidings.web.resources.shapes import Nothing

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.model.interval import Instant
    from tidings.web.access import Asker, Who
    from tidings.web.inside import Inside
    from tidings.web.screens.desk import Desk

T = TypeVar("T")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
JSON: Final = "application/json"
MOST_BYTES: Final = 1_000_000
"""Most bytes of a body."""
_NUL: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""The escape of the character 0 in JSON."""


@dataclass(frozen=True, slots=True)
class Call:
    """A parsed and checked request: `query` and `body` have the types that the operation
    declares.
    """

    request: Request
    desk: Desk
    inside: Inside
    asker: Asker
    query: Any
    body: Any

    def get_parameter(self, parameter: str) -> str:
        """Return a parameter of the path."""
        return str(self.request.path_params[parameter])

    def number(self, parameter: str) -> int:
        """Return a numeric parameter of the path. Raises `ProblemError` (404) for any other."""
        text = self.get_parameter(parameter)
        if not (text.isascii() and text.isdecimal() and len(text) < 19):
            raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no such {parameter}")
        return int(text)

    async def read(self, fn: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        """Read the database."""
        return await self.desk.store.read(fn, *arguments, **more)

    async def write(self, fn: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        """Write to the database as another process would."""
        return await self.desk.store.write(fn, *arguments, **more)


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the table.

    `query`, `body` and `returns` are the types for the document; `takes` are the media types of a
    body other than JSON, `gives` the media type of an answer other than JSON. `is_of_all` restricts
    it to those who see all sentinels.
    """

    method: Method
    path: str
    who: Who
    name: str
    summary: str
    answer: Callable[[Call], Awaitable[Any]]
    returns: Any = None
    query: type[msgspec.Struct] = Nothing
    body: Any = None
    takes: tuple[str, ...] = ()
    gives: str = JSON
    status: HTTPStatus = HTTPStatus.OK
    problems: tuple[int, ...] = ()
    is_of_all: bool = False
    parameters: Mapping[str, str] = field(default_factory=dict)
    """the description of each path parameter"""

    async def respond(self, request: Request, desk: Desk, inside: Inside, asker: Asker) -> Response:
        """Respond to a request. Raises `ProblemError` for an invalid one.

        Args:
            request: The request.
            desk: The shared objects of the screens.
            inside: The running service.
            asker: The asker, already authorized.
        """
        call = Call(request, desk, inside, asker, _query(request, self.query), await self._body(request))
        try:
            found = await self.answer(call)
        except TidingsError as error:
            raise problem_of(error) from error
        if isinstance(found, Response):
            return found
        return _answer(request, found, self.status)

    async def _body(self, request: Request) -> Any:
        if self.body is None:
            return None
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media not in {JSON, *self.takes}:
            message = f"a body of the type {media[:100] or '(none given)'} is not understood"
            hint = f"send {' or '.join((JSON, *self.takes))}"
            raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message, hint=hint)
        sent = await body_of(request, most=MOST_BYTES)
        if b"\0" in sent or _NUL.search(sent) is not None:
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, NO_TEXT)
        if media != JSON:
            return Text(_decode(sent), media)
        _check_depth(sent)
        try:
            return msgspec.json.decode(sent, type=self.body)
        except msgspec.ValidationError as error:
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"the body: {error}") from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ProblemError(HTTPStatus.BAD_REQUEST, f"the body is no JSON: {error}") from error


@dataclass(frozen=True, slots=True)
class Text:
    """A text body and its media type."""

    text: str
    media: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with its own status or headers."""

    value: Any
    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)


def etag_of(value: Any) -> str:
    """Return an ETag that changes with any part of the value."""
    return f'"{hashlib.sha256(msgspec.json.encode(value)).hexdigest()[:32]}"'


def check_match(request: Request, value: Any) -> None:
    """Raise `ProblemError` (412) if the request's If-Match differs from the present state."""
    given = request.headers.get("if-match")
    if given is None or given.strip() == "*":
        return
    if etag_of(value) not in {one.strip() for one in given.split(",")}:
        message = "it was altered since you read it"
        raise ProblemError(HTTPStatus.PRECONDITION_FAILED, message, hint="read it again, and alter what is there now")


def _query(request: Request, wanted: type[msgspec.Struct]) -> Any:
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in given:
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"{name[:40]} is given twice")
        if "\0" in value:
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"{name[:40]} holds a NUL")
        given[name] = value
    try:
        return msgspec.convert(given, wanted, strict=False)
    except msgspec.ValidationError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, _spell(str(error))) from error


_FAULTS: Final = (
    (r"Object contains unknown field `(?P<name>.*)`", "there is no parameter {name}"),
    (r"Object missing required field `(?P<name>.*)`", "the parameter {name} is missing"),
    (r"Expected `str` of length >= 1 - at `\$\.(?P<name>\w+)`", "{name} is empty"),
    (r"Expected `str` of length <= (?P<most>\d+) - at `\$\.(?P<name>\w+)`", "{name} has {most:,} characters at most"),
    (r"Expected `int` >= (?P<least>\d+) - at `\$\.(?P<name>\w+)`", "{name} is {least:,} or more"),
    (r"Expected `int` <= (?P<most>\d+) - at `\$\.(?P<name>\w+)`", "{name} is {most:,} at most"),
    (r"Expected `int`, got .* - at `\$\.(?P<name>\w+)`", "{name} is a whole number"),
)
"""What msgspec says of a query, and the same in plain words."""


def _spell(fault: str) -> str:
    """Return a fault of a query in words."""
    for pattern, words in _FAULTS:
        if found := re.fullmatch(pattern, fault, re.DOTALL):
            given = {name: value[:40] if name == "name" else int(value) for name, value in found.groupdict().items()}
            return words.format(**given)
    return f"the query: {fault}"


def _answer(request: Request, found: Any, status: HTTPStatus) -> Response:
    answered = found if isinstance(found, Reply) else Reply(found, status)
    body = msgspec.json.encode(answered.value)
    headers = {"cache-control": "no-store", **answered.headers}
    if request.method in {"GET", "HEAD"}:
        tag = etag_of(answered.value)
        headers |= {"etag": tag, "cache-control": "private, no-cache", "vary": "authorization, cookie"}
        given = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
        if given & {tag, "*"}:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(body, answered.status, headers, JSON)


def _decode(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"the body is not in UTF-8: {error}") from error


DEEPEST: Final = 100


def _check_depth(body: bytes) -> None:
    """Raise `ProblemError` for JSON that is nested too deeply; brackets within texts count too,
    which does not affect real bodies.
    """
    depth = 0
    for byte in body if body.count(b"[") + body.count(b"{") > DEEPEST else b"":
        depth += (byte in b"[{") - (byte in b"]}")
        if depth > DEEPEST:
            raise ProblemError(HTTPStatus.BAD_REQUEST, f"the body is nested more than {DEEPEST} deep")


def page(found: Sequence[T], limit: int, record: Callable[[T], Any], key: Callable[[T], object]) -> dict[str, Any]:
    """Return one page of a list, given up to `limit` + 1 items.

    Args:
        found: The items.
        limit: Most items of a page.
        record: Returns the record of an item.
        key: Returns the key of an item, the next page's cursor.
    """
    shown = found[:limit]
    more = str(key(shown[-1])) if len(found) > limit else None
    return {"items": [record(one) for one in shown], "next": more}


def after_number(cursor: str, *, first: int) -> int:
    """Return the number in a cursor, `first` for none. Raises `ProblemError` for one not from this
    service.
    """
    if not cursor:
        return first
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 19):
        raise foreign()
    return int(cursor)


def foreign() -> ProblemError:
    """Return the error for a cursor not from this service."""
    message = "there is no item in this list at which the cursor points"
    return ProblemError(HTTPStatus.NOT_FOUND, message, hint="take `next` of the page before")


def moment(text: str | None) -> Instant | None:
    """Return the instant of an RFC 3339 date and time (µs), None for none. Raises `ProblemError`
    for an invalid one, or one without a zone.
    """
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is None or "T" not in text.upper():
            raise ValueError(text)
        return round(at.timestamp() * SECOND)
    except (ValueError, OverflowError):
        message = f"{text!r} is not a date and time with a zone (RFC 3339)"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, message, hint="such as 2026-05-01T12:00:00Z") from None
