"""What goes wrong at the door, told as every other problem is: a JSON record that says what helps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response

from tidings.service.show.records import problem_record

if TYPE_CHECKING:
    from starlette.requests import Request


class ProblemError(Exception):
    """A request that is not done; `status` is the answer's, `hint` what the asker can do."""

    def __init__(
        self, status: HTTPStatus, message: str, *, hint: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.hint = hint
        self.headers = dict(headers or {})


def answer(error: ProblemError, *, where: str) -> Response:
    """Return a problem as the answer to a request for the path `where`."""
    record = problem_record(str(error), where=where, details={"hint": error.hint} if error.hint else None)
    body = json.dumps(record, ensure_ascii=True)
    return Response(body, error.status, {**error.headers, "cache-control": "no-store"}, "application/json")


async def on_problem(request: Request, error: Exception) -> Response:
    """Answer with a problem that was raised on the way."""
    assert isinstance(error, ProblemError)  # noqa: S101 - it is registered for no other
    return answer(error, where=request.url.path)


async def on_http_error(request: Request, error: Exception) -> Response:
    """Answer for what is not there, and for a verb that it does not know."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for no other
    status = HTTPStatus(error.status_code)
    hint = (
        "there are /feeds/NAME.atom, /feeds/all.atom, /api/v1/stream, /api/v1/hooks/NAME, /api/v1/signals and /healthz"
    )
    problem = ProblemError(
        status, status.phrase.lower(), hint=hint if status == HTTPStatus.NOT_FOUND else "", headers=error.headers
    )
    return answer(problem, where=request.url.path)


async def on_fault(request: Request, error: Exception) -> Response:
    """Answer for a fault of ours; the log has it whole, a stranger learns nothing of it."""
    del error
    problem = ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, "a fault of the service, told in its log")
    return answer(problem, where=request.url.path)
