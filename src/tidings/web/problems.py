"""HTTP errors as problem records in JSON (RFC 9457), like all other problems, with advice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import Response

from tidings.errors import (
    SentinelError,
    StoreError,
    StoreStalledError,
    TidingsError,
    UnknownNameError,
    UnreadableTextError,
)
from tidings.service.show.records import problem_record

if TYPE_CHECKING:
    from starlette.datastructures import Headers

PROBLEM: Final = "application/problem+json"


class ProblemError(Exception):
    """A refused request; `status` is that of the answer, `hint` the advice.

    `problems` are the errors in a text, each with its position.
    """

    def __init__(
        self,
        status: HTTPStatus,
        message: str,
        *,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
        problems: Sequence[Mapping[str, object]] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.hint = hint
        self.headers = dict(headers or {})
        self.problems = tuple(problems)


NO_TEXT: Final = "a text may not contain the character with the number 0"
"""What is said of an input with a character that PostgreSQL does not store."""


def problem_of(error: TidingsError) -> ProblemError:
    """Return the HTTP problem for an error of the service."""
    if isinstance(error, SentinelError):
        found = [one.as_dict() for one in error.problems]
        return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), problems=found)
    if isinstance(error, UnknownNameError):
        return ProblemError(HTTPStatus.NOT_FOUND, str(error))
    if isinstance(error, StoreStalledError):
        return refuse_while_stalled()
    if isinstance(error, StoreError) and not isinstance(error, UnreadableTextError):
        message = "the request could not be completed; send it again"
        return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"retry-after": "5"})
    return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))


def refuse_while_stalled() -> ProblemError:
    """Return the problem of a request while the database cannot be used."""
    return ProblemError(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "the database of this service cannot be used now; ask again in some seconds",
        hint="if this lasts, `tidings doctor` on the machine of the service says why",
        headers={"retry-after": "5"},
    )


def reads_pages(path: str, headers: Headers) -> bool:
    """Return whether somebody reads the answer in a browser, and no program does."""
    return "text/html" in headers.get("accept", "") and not path.startswith(("/api/", "/compatible/", "/feeds/"))


def answer(error: ProblemError, *, where: str) -> Response:
    """Return a problem as the response for the path `where`."""
    details = {
        "type": "about:blank",
        "title": error.status.phrase,
        "status": int(error.status),
        "detail": str(error),
        "instance": quote(where),
        **({"hint": error.hint} if error.hint else {}),
        **({"problems": list(error.problems)} if error.problems else {}),
    }
    body = json.dumps(problem_record(str(error), where=where, details=details), ensure_ascii=True)
    return Response(body, error.status, {**error.headers, "cache-control": "no-store"}, PROBLEM)


def problem_from(error: Exception) -> ProblemError:
    """Return what an exception means to the asker: a raised problem, a database that cannot be
    used, an unknown path or method, or an internal error, which is only logged.
    """
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, StoreError):
        return problem_of(error)
    if not isinstance(error, HTTPException):
        return ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, "a fault of the service, described in its log")
    status = HTTPStatus(error.status_code)
    if status == HTTPStatus.NOT_FOUND:
        hint = (
            "there are /feeds/NAME.atom, /feeds/all.atom, /api/v1/stream, /api/v1/hooks/NAME,"
            " /api/v1/signals, /healthz and what /api/v1/openapi.json says"
        )
        return ProblemError(status, "there is nothing at this address", hint=hint, headers=error.headers)
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        return ProblemError(status, "this address does not take such a request", headers=error.headers)
    return ProblemError(status, status.phrase.lower(), headers=error.headers)
