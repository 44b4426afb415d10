"""HTTP errors as problem records in JSON (RFC 9457), like all other problems, with advice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import Response

from tidings.errors import SentinelError, StoreError, TidingsError, UnknownNameError
from tidings.service.show.records import problem_record

if TYPE_CHECKING:
    from starlette.requests import Request


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


def problem_of(error: TidingsError) -> ProblemError:
    """Return the HTTP problem for an error of the service."""
    if isinstance(error, SentinelError):
        found = [one.as_dict() for one in error.problems]
        return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), problems=found)
    if isinstance(error, UnknownNameError):
        return ProblemError(HTTPStatus.NOT_FOUND, str(error))
    if isinstance(error, StoreError):
        message = "the request could not be completed; send it again"
        return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"retry-after": "5"})
    return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))


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


async def on_problem(request: Request, error: Exception) -> Response:
    """Respond with a raised problem."""
    assert isinstance(error, ProblemError)  # noqa: S101 - only registered for it
    return answer(error, where=request.url.path)


async def on_http_error(request: Request, error: Exception) -> Response:
    """Respond to an unknown path or method."""
    assert isinstance(error, HTTPException)  # noqa: S101 - only registered for it
    status = HTTPStatus(error.status_code)
    hint = (
        "there are /feeds/NAME.atom, /feeds/all.atom, /api/v1/stream, /api/v1/hooks/NAME,"
        " /api/v1/signals, /healthz and what /api/v1/openapi.json says"
    )
    problem = ProblemError(
        status, status.phrase.lower(), hint=hint if status == HTTPStatus.NOT_FOUND else "", headers=error.headers
    )
    return answer(problem, where=request.url.path)


async def on_fault(request: Request, error: Exception) -> Response:
    """Respond to an internal error, which is only logged."""
    del error
    problem = ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, "a fault of the service, described in its log")
    return answer(problem, where=request.url.path)
