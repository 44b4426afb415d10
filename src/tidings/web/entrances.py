"""The entrances of the door: every path, its method, and who may enter. One that does not say who is none (R-13)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal, assert_never
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from tidings.web.api import feeds, health, hooks, signals, stream, websub
from tidings.web.guard import RequestGuard, check_edit_token, check_token
from tidings.web.markup import render
from tidings.web.problems import ProblemError, on_fault, on_http_error, on_problem
from tidings.web.screens.screens import SCREENS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, ExceptionHandler

    from tidings.web.inside import Inside
    from tidings.web.screens.desk import Desk

HEALTH: Final = "/healthz"
Who = Literal["anybody", "readers", "editors", "hook", "hub"]
"""`readers` show serve.token where it is set, `editors` serve.edit_token (where only serve.token is set there are none); `hook` checks its own token by itself, `hub` the one in its address and what it signs; `anybody` is told nothing that matters."""
Answer = Callable[["Request", "Inside"], Awaitable["Response"]]


@dataclass(frozen=True, slots=True)
class Entrance:
    """A path, how it is asked for, who may, and what answers."""

    path: str
    method: Literal["GET", "POST"]
    who: Who
    answer: Answer


def entrances() -> tuple[Entrance, ...]:
    """Return all entrances there are, each with what it keeps from one request to the next."""
    counted, signalled, told, batches = hooks.pace(), signals.pace(), websub.pace(), stream.Batches()

    pulse = health.Pulse()

    async def hook(request: Request, inside: Inside) -> Response:
        return await hooks.answer(request, inside, counted)

    async def follow(request: Request, inside: Inside) -> Response:
        return await stream.answer(request, inside, batches)

    async def signal(request: Request, inside: Inside) -> Response:
        return await signals.answer(request, inside, signalled)

    async def tell(request: Request, inside: Inside) -> Response:
        return await websub.deliver(request, inside, told)

    return (
        Entrance(HEALTH, "GET", "anybody", pulse.answer),
        Entrance("/feeds/{name:path}.atom", "GET", "readers", feeds.answer),
        Entrance("/api/v1/stream", "GET", "readers", follow),
        Entrance("/api/v1/hooks/{name}", "POST", "hook", hook),
        Entrance("/api/v1/signals", "POST", "readers", signal),
        Entrance("/api/v1/websub/{token}", "GET", "hub", websub.verify),
        Entrance("/api/v1/websub/{token}", "POST", "hub", tell),
    )


def screens(desk: Desk) -> tuple[Entrance, ...]:
    """Return the entrances for people: the screens, and the sheets and scripts that they are made with."""

    def at(answer: Callable[[Request, Desk], Awaitable[Response]]) -> Answer:
        async def answered(request: Request, inside: Inside) -> Response:
            del inside
            try:
                return await answer(request, desk)
            except ProblemError as problem:
                return await desk.problem(request, problem)

        return answered

    return (
        Entrance("/static/{hash}/{name}", "GET", "anybody", at(render.static)),
        *(Entrance(path, method, who, at(answer)) for path, method, who, answer in SCREENS),
    )


def application(inside: Inside, desk: Desk | None = None) -> ASGIApp:
    """Return what answers requests to a running service; without a desk there are no screens."""
    every = (*entrances(), *(() if desk is None else screens(desk)))
    inner = Starlette(
        routes=[Route(one.path, _admitting(one, inside), methods=[one.method]) for one in every],
        exception_handlers=_HANDLERS,
    )
    inner.router.redirect_slashes = False
    serve = inside.settings.serve
    public = urlsplit(serve.public_url).hostname
    names = frozenset(name.lower().removesuffix(".") for name in (*serve.names, *([public] if public else [])))
    return RequestGuard(inner, inside.clock, names)


_HANDLERS: Final[Mapping[type[Exception], ExceptionHandler]] = {
    ProblemError: on_problem,
    HTTPException: on_http_error,
    Exception: on_fault,
}


def _admitting(entrance: Entrance, inside: Inside) -> Callable[[Request], Awaitable[Response]]:
    async def enter(request: Request) -> Response:
        match entrance.who:
            case "readers":
                serve = inside.settings.serve
                check_token(request.headers, serve.token, serve.edit_token if serve.token else "")
            case "editors":
                serve = inside.settings.serve
                check_edit_token(request.headers, serve.token, serve.edit_token)
            case "anybody" | "hook" | "hub":
                pass
            case _:
                assert_never(entrance.who)
        if inside.store.outage is not None and entrance.path != HEALTH:
            raise ProblemError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "the database of this service cannot be reached now; ask again later",
                headers={"retry-after": "5"},
            )
        return await entrance.answer(request, inside)

    return enter
