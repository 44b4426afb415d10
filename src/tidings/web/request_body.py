"""The bodies of requests, bounded: a form sent by a screen, and the parameters of a webhook, parsed
as JSON or as a form.
"""

from __future__ import annotations

import asyncio
import json
from email.message import Message
from email.utils import collapse_rfc2231_value
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NoReturn
from urllib.parse import parse_qs, parse_qsl

from starlette.requests import ClientDisconnect

from tidings.record import dataclass
from tidings.service.sources.outside_events import is_deeper
from tidings.web.markup.translations import translate
from tidings.web.problems import NO_TEXT, ProblemError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request

MOST_BYTES: Final = 65_536
MOST_FIELDS: Final = 200
DEEPEST: Final = 20
BODY_SECONDS: Final = 10.0
FORM: Final = "application/x-www-form-urlencoded"


async def body_of(request: Request, *, seconds: float = BODY_SECONDS, most: int = MOST_BYTES) -> bytes:
    """Return the body of a request. Raises `ProblemError` if it is too large, too slow or
    incomplete.
    """
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:19]) > most:
        raise _too_large(most)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                body += part
                if len(body) > most:
                    raise _too_large(most)
    except TimeoutError:
        message = f"the body did not come within {seconds:g} s"
        raise ProblemError(HTTPStatus.REQUEST_TIMEOUT, message, headers={"connection": "close"}) from None
    except ClientDisconnect:
        raise ProblemError(HTTPStatus.BAD_REQUEST, "the body broke off") from None
    return bytes(body)


def read_parameters(body: bytes, content_type: str) -> dict[str, Any]:
    """Return the params in a body: those of a JSON object or of a form, none if it is empty. Raises
    `ProblemError` with the reason.
    """
    media = content_type.partition(";")[0].strip().lower()
    if not body.strip():
        return {}
    if media == FORM:
        return _form(body)
    if media and media != "application/json" and not media.endswith("+json"):
        message = f"a body of the type {media[:100]} is not understood"
        hint = f"send application/json or {FORM}"
        raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message, hint=hint)
    return _object(body)


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body.decode("utf-8-sig"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        message = (
            "the body is nested too deeply" if isinstance(error, RecursionError) else f"the body is no JSON: {error}"
        )
        raise ProblemError(HTTPStatus.BAD_REQUEST, message) from error
    if not isinstance(found, dict):
        message = "the body is JSON, but no object"
        raise ProblemError(HTTPStatus.BAD_REQUEST, message, hint='send an object, such as {"version": "1.2"}')
    if is_deeper(found, DEEPEST):
        message = f"the body is nested more than {DEEPEST} deep"
        raise ProblemError(HTTPStatus.BAD_REQUEST, message)
    return found


def _form(body: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError as error:
        message = f"the form cannot be read (it has at most {MOST_FIELDS} fields, in UTF-8): {error}"
        raise ProblemError(HTTPStatus.BAD_REQUEST, message) from error
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name not in found:
            found[name] = value
        elif isinstance(found[name], list):
            found[name].append(value)
        else:
            found[name] = [found[name], value]
    return found


def _no_number(text: str) -> NoReturn:
    message = f"{text} is not a number"
    raise ValueError(message)


def _too_large(most: int) -> ProblemError:
    message = f"the body has more than {most:,} bytes"
    return ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, headers={"connection": "close"})


MOST_FORM_BYTES: Final = 262_144
MOST_FORM_FIELDS: Final = 6_000


@dataclass(frozen=True, slots=True)
class SentForm:
    """A submitted form."""

    values: Mapping[str, Sequence[str]]

    def one(self, name: str) -> str:
        """Return the last value of a field, "" if absent."""
        return self.every(name)[-1] if self.every(name) else ""

    def every(self, name: str) -> Sequence[str]:
        """Return all values of a field."""
        return self.values.get(name, ())


async def read_form(request: Request) -> SentForm:
    """Return the form in a request. Raises `ProblemError` for a body that is no form, or
    too large.
    """
    body = await body_of(request, most=MOST_FORM_BYTES)
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and media != FORM:
        raise ProblemError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, translate("a form is expected"), hint=translate("send {form}", form=FORM)
        )
    try:
        found = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MOST_FORM_FIELDS, errors="strict")
    except ValueError as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, translate("the form cannot be read")) from error
    if b"\0" in body or b"%00" in body:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, NO_TEXT)
    return SentForm({name: [one.replace("\r\n", "\n") for one in values] for name, values in found.items()})


MOST_FILE_BYTES: Final = 16 * 1024 * 1024
FILE_SECONDS: Final = 60.0
MOST_PARTS: Final = 20
LONGEST_BOUNDARY: Final = 70
MULTIPART: Final = "multipart/form-data"


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file of a form: its name, as the browser says it, and its content."""

    name: str
    content: bytes


async def read_files(request: Request) -> tuple[SentForm, Mapping[str, SentFile]]:
    """Return the form in a request and the files in it, by field (RFC 7578). An empty field of a
    file is left out.

    Raises `ProblemError` for a body that is no such form, or too large.
    """
    kind = Message()
    kind["content-type"] = request.headers.get("content-type", "")
    boundary = str(kind.get_param("boundary", ""))
    if kind.get_content_type() != MULTIPART or not 0 < len(boundary) <= LONGEST_BOUNDARY or not boundary.isascii():
        return await read_form(request), {}
    body = await body_of(request, seconds=FILE_SECONDS, most=MOST_FILE_BYTES)
    parts = (b"\r\n" + body).split(b"\r\n--" + boundary.encode(), MOST_PARTS + 1)
    values: dict[str, list[str]] = {}
    files: dict[str, SentFile] = {}
    for part in parts[1 : MOST_PARTS + 1]:
        head, gap, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        if not gap:
            continue  # the end, or nothing
        name, file = _read_disposition(head)
        if file is None:
            values.setdefault(name, []).append(content.decode(errors="replace").replace("\r\n", "\n"))
        elif file:
            files[name] = SentFile(file, content)
    return SentForm(values), files


def _read_disposition(head: bytes) -> tuple[str, str | None]:
    """Return the name of a part and that of its file, None if it is none."""
    for line in head.decode(errors="replace").split("\r\n"):
        field, _, value = line.partition(":")
        if field.strip().lower() == "content-disposition":
            message = Message()
            message["content-disposition"] = value.strip()
            name, file = (message.get_param(key, None, "content-disposition") for key in ("name", "filename"))
            return collapse_rfc2231_value(name or ""), None if file is None else collapse_rfc2231_value(file)
    return "", None
