"""Refused requests before and beside any screen: a page in the reader's language for people, a
record in English for programs. The page shows nothing of what is watched.
"""

from __future__ import annotations

from datetime import UTC
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import Response

from tidings.web.markup.localize import localize
from tidings.web.markup.render import POLICY, environment
from tidings.web.markup.translations import choose_language
from tidings.web.problems import ProblemError, answer, reads_pages

if TYPE_CHECKING:
    from starlette.datastructures import Headers


def refuse(problem: ProblemError, path: str, headers: Headers) -> Response:
    """Return a problem as the response to a request.

    Args:
        problem: The problem.
        path: The path of the request.
        headers: Its headers.
    """
    if not reads_pages(path, headers):
        return answer(problem, where=path)
    choose_language(headers.get("accept-language", ""))
    html = (
        environment()
        .get_template("refused.html")
        .render(
            problem=localize(problem, 0, UTC),
            hint=localize(problem.hint, 0, UTC),
            is_unknown=problem.status == HTTPStatus.UNAUTHORIZED,
        )
    )
    own = {**problem.headers, "content-security-policy": POLICY, "cache-control": "no-store"}
    return Response(html, problem.status, own, "text/html; charset=utf-8")
