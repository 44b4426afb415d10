"""The routes of the server: every path, its method, and who may use it. One without that does not
exist (R-13).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from tidings.errors import TidingsError
from tidings.record import dataclass
from tidings.web.access import LOCAL, Asker, Who, asker_of, check_objects, check_role
from tidings.web.api import feeds, health, hooks, metrics, signals, stream, websub
from tidings.web.guard import READING, RequestGuard
from tidings.web.markup import render
from tidings.web.markup.catalogue import choose_language
from tidings.web.problems import ProblemError, on_fault, on_http_error, on_problem, problem_of
from tidings.web.resources.compatible import COMPATIBLE_OPERATIONS
from tidings.web.resources.operations import OPERATIONS
from tidings.web.screens.screens import SCREENS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, ExceptionHandler

    from tidings.web.inside import Inside
    from tidings.web.resources.operation import Method, Operation
    from tidings.web.screens.desk import Desk

HEALTH: Final = "/healthz"
Endpoint = Callable[["Request"], Awaitable["Response"]]
Answer = Callable[["Request", "Inside"], Awaitable["Response"]]


@dataclass(frozen=True, slots=True)
class Entrance:
    """A path, its method, who may use it, and its handler; `is_of_all`: only for those who see the
    sentinels of all owners; `refuse` answers authenticated askers without the right.
    """

    path: str
    method: Method
    who: Who
    answer: Answer
    is_of_all: bool = False
    refuse: Callable[[Request, ProblemError], Awaitable[Response]] | None = None


def entrances() -> tuple[Entrance, ...]:
    """Return all routes, each with its state across requests."""
    counted, signalled, told, batches = hooks.pace(), signals.pace(), websub.pace(), stream.Batches()

    pulse, figures = health.Pulse(), metrics.Metrics()

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
        Entrance("/metrics", "GET", "readers", figures.answer, is_of_all=True),
        Entrance("/feeds/{name:path}.atom", "GET", "readers", feeds.answer),
        Entrance("/api/v1/stream", "GET", "readers", follow, is_of_all=True),
        Entrance("/api/v1/hooks/{name}", "POST", "hook", hook),
        Entrance("/api/v1/signals", "POST", "readers", signal, is_of_all=True),
        Entrance("/api/v1/websub/{token}", "GET", "hub", websub.verify),
        Entrance("/api/v1/websub/{token}", "POST", "hub", tell),
    )


def screens(desk: Desk) -> tuple[Entrance, ...]:
    """Return the routes for users: the screens with their stylesheets and scripts."""

    def at(answer: Callable[[Request, Desk], Awaitable[Response]]) -> Answer:
        async def answer_request(request: Request, inside: Inside) -> Response:
            del inside
            choose_language(request.headers.get("accept-language", ""))
            try:
                return await answer(request, desk)
            except ProblemError as problem:
                return await desk.problem(request, problem)
            except TidingsError as error:
                return await desk.problem(request, problem_of(error))

        return answer_request

    async def refuse(request: Request, problem: ProblemError) -> Response:
        choose_language(request.headers.get("accept-language", ""))
        return await desk.problem(request, problem)

    return (
        Entrance("/static/{hash}/{name}", "GET", "anybody", at(render.static)),
        *(Entrance(path, method, who, at(answer), refuse=refuse) for path, method, who, answer in SCREENS),
    )


def resources(desk: Desk) -> tuple[Entrance, ...]:
    """Return the API routes, which read and write what the screens do."""

    def at(one: Operation) -> Answer:
        async def answer_request(request: Request, inside: Inside) -> Response:
            return await one.respond(request, desk, inside, request.state.asker)

        return answer_request

    return tuple(
        Entrance(one.path, one.method, one.who, at(one), one.is_of_all) for one in (*OPERATIONS, *COMPATIBLE_OPERATIONS)
    )


def application(inside: Inside, desk: Desk | None = None) -> ASGIApp:
    """Return the ASGI application of a running service; without a desk it has no screens."""
    every = (*entrances(), *(() if desk is None else (*resources(desk), *screens(desk))))
    inner = Starlette(
        routes=_routes(every, inside),
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


def _routes(every: Iterable[Entrance], inside: Inside) -> list[Route]:
    """Return one route per path, for all its methods."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for one in every:
        by_path.setdefault(one.path, {})[one.method] = _admitting(one, inside)

    def dispatching(by_method: Mapping[str, Endpoint]) -> Endpoint:
        async def dispatch(request: Request) -> Response:
            return await by_method["GET" if request.method == "HEAD" else request.method](request)

        return dispatch

    return [Route(path, dispatching(found), methods=[*found]) for path, found in by_path.items()]


def _admitting(entrance: Entrance, inside: Inside) -> Endpoint:
    async def enter(request: Request) -> Response:
        if inside.store.outage is not None and entrance.path != HEALTH:
            raise ProblemError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "the database of this service cannot be reached now; ask again later",
                headers={"retry-after": "5"},
            )
        request.state.asker = LOCAL
        if entrance.who not in {"anybody", "hook", "hub"}:
            request.state.asker = asker = await asker_of(request, inside)
            try:
                await _check(request, entrance, inside, asker)
            except ProblemError as problem:
                if entrance.refuse is None or problem.status == HTTPStatus.UNAUTHORIZED:
                    raise
                return await entrance.refuse(request, problem)
        return await entrance.answer(request, inside)

    return enter


async def _check(request: Request, entrance: Entrance, inside: Inside, asker: Asker) -> None:
    """Raise `ProblemError` unless the role suffices and the asker may see the path's objects."""
    check_role(asker, entrance.who, inside)
    if entrance.is_of_all and not asker.sees_all:
        message = "this shows the sentinels of all users, and you see your own"
        raise ProblemError(HTTPStatus.FORBIDDEN, message, hint="/api/v1/events has the changes of yours")
    alters = request.method not in READING and entrance.who != "markers"
    await inside.store.read(check_objects, asker, request.path_params, alters=alters)
