"""The routes of the server: every path, its method, and who may use it. One without that does not
exist (R-13).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from tidings.errors import StoreError, TidingsError
from tidings.record import dataclass
from tidings.web.access import NOBODY, Asker, Who, asker_of, check_objects, check_role, make_stream_right
from tidings.web.api import health, hooks, stream
from tidings.web.markup import refused, render
from tidings.web.markup.translations import choose_language
from tidings.web.problems import ProblemError, problem_from, problem_of, refuse_while_stalled
from tidings.web.request_guard import READING, RequestGuard
from tidings.web.resources import feeds
from tidings.web.resources.compatible import COMPATIBLE_OPERATIONS
from tidings.web.resources.operations import OPERATIONS
from tidings.web.screens import (
    change,
    collections,
    fewer,
    imports,
    inbox,
    installation,
    make,
    people,
    plan,
    published,
    search,
    sentinel,
    sentinels,
)

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
ScreenRoute = tuple[str, Literal["GET", "POST"], Who, Callable[["Request", "Desk"], Awaitable["Response"]]]
"""A screen: its path, method, role and handler. Whatever changes something, or fetches a page,
requires an editor.
"""


@dataclass(frozen=True, slots=True)
class GuardedRoute:
    """A path, its method, who may use it, and its handler; `is_of_all`: only for those who see the
    sentinels of all owners; `refuse` answers authenticated askers without the right.
    """

    path: str
    method: Method
    who: Who
    answer: Answer
    is_of_all: bool = False
    refuse: Callable[[Request, ProblemError], Awaitable[Response]] | None = None


def program_routes() -> tuple[GuardedRoute, ...]:
    """Return all routes, each with its state across requests."""
    counted, signalled, hub_pace, batches = hooks.event_pace(), hooks.signal_pace(), hooks.hub_pace(), stream.Batches()

    pulse, figures = health.Pulse(), health.Metrics()

    async def hook(request: Request, inside: Inside) -> Response:
        return await hooks.receive_event(request, inside, counted)

    async def follow(request: Request, inside: Inside) -> Response:
        return await stream.answer(request, inside, batches)

    async def signal(request: Request, inside: Inside) -> Response:
        return await hooks.receive_signal(request, inside, signalled)

    async def notify_hub(request: Request, inside: Inside) -> Response:
        return await hooks.receive_notification(request, inside, hub_pace)

    return (
        GuardedRoute(HEALTH, "GET", "anybody", pulse.answer),
        GuardedRoute("/metrics", "GET", "readers", figures.answer, is_of_all=True),
        GuardedRoute(f"/feeds/{feeds.ALL}.atom", "GET", "readers", feeds.answer_channel_feed),
        GuardedRoute("/feeds/{name:path}.atom", "GET", "readers", feeds.answer_channel_feed),
        GuardedRoute("/api/v1/stream", "GET", "readers", follow, is_of_all=True),
        GuardedRoute("/api/v1/hooks/{name}", "POST", "hook", hook),
        GuardedRoute("/api/v1/signals", "POST", "readers", signal, is_of_all=True),
        GuardedRoute("/api/v1/websub/{token}", "GET", "hub", hooks.verify_hub),
        GuardedRoute("/api/v1/websub/{token}", "POST", "hub", notify_hub),
    )


def screen_routes(desk: Desk) -> tuple[GuardedRoute, ...]:
    """Return the routes for users: the screens with their stylesheets and scripts."""

    def at(answer: Callable[[Request, Desk], Awaitable[Response]], who: Who) -> Answer:
        async def answer_request(request: Request, inside: Inside) -> Response:
            del inside
            choose_language(request.headers.get("accept-language", ""))
            try:
                return await answer(request, desk)
            except (ProblemError, TidingsError) as error:
                problem = error if isinstance(error, ProblemError) else problem_of(error)
            if who == "anybody" or problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
                raise problem  # the frame of a screen shows how much is watched, and reads the database
            return await desk.problem(request, problem)

        return answer_request

    async def refuse(request: Request, problem: ProblemError) -> Response:
        choose_language(request.headers.get("accept-language", ""))
        return await desk.problem(request, problem)

    return (
        GuardedRoute("/static/{hash}/{name}", "GET", "anybody", at(render.static, "anybody")),
        *(GuardedRoute(path, method, who, at(answer, who), refuse=refuse) for path, method, who, answer in SCREENS),
    )


def api_routes(desk: Desk) -> tuple[GuardedRoute, ...]:
    """Return the API routes, which read and write what the screens do."""

    def at(one: Operation) -> Answer:
        async def answer_request(request: Request, inside: Inside) -> Response:
            return await one.respond(request, desk, inside, request.state.asker)

        return answer_request

    return tuple(
        GuardedRoute(one.path, one.method, one.who, at(one), one.is_of_all)
        for one in (*OPERATIONS, *COMPATIBLE_OPERATIONS)
    )


def application(inside: Inside, desk: Desk | None = None) -> ASGIApp:
    """Return the ASGI application of a running service; without a desk it has no screens."""
    every = (*program_routes(), *(() if desk is None else (*api_routes(desk), *screen_routes(desk))))
    inner = Starlette(
        routes=_routes(every, inside),
        exception_handlers=_HANDLERS,
    )
    inner.router.redirect_slashes = False
    serve = inside.settings.serve
    public = urlsplit(serve.public_url).hostname
    names = frozenset(name.lower().removesuffix(".") for name in (*serve.names, *([public] if public else [])))
    return RequestGuard(inner, inside.clock, names, refused.refuse)


async def _refuse(request: Request, error: Exception) -> Response:
    return refused.refuse(problem_from(error), request.url.path, request.headers)


_HANDLERS: Final[Mapping[type[Exception], ExceptionHandler]] = dict.fromkeys(
    (ProblemError, HTTPException, StoreError, Exception), _refuse
)


def _routes(every: Iterable[GuardedRoute], inside: Inside) -> list[Route]:
    """Return one route per path, for all its methods."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for one in every:
        by_path.setdefault(one.path, {})[one.method] = _admitting(one, inside)

    def dispatching(by_method: Mapping[str, Endpoint]) -> Endpoint:
        async def dispatch(request: Request) -> Response:
            return await by_method["GET" if request.method == "HEAD" else request.method](request)

        return dispatch

    return [Route(path, dispatching(found), methods=[*found]) for path, found in by_path.items()]


def _admitting(entrance: GuardedRoute, inside: Inside) -> Endpoint:
    async def enter(request: Request) -> Response:
        if inside.store.outage is not None and entrance.path != HEALTH:
            raise refuse_while_stalled()
        request.state.asker = NOBODY
        if entrance.who not in {"anybody", "hook", "hub"}:
            request.state.asker = asker = await asker_of(request, inside)
            request.state.stream_right = make_stream_right(request, inside, asker)
            try:
                await _check(request, entrance, inside, asker)
            except ProblemError as problem:
                if entrance.refuse is None or problem.status == HTTPStatus.UNAUTHORIZED:
                    raise
                return await entrance.refuse(request, problem)
        return await entrance.answer(request, inside)

    return enter


async def _check(request: Request, entrance: GuardedRoute, inside: Inside, asker: Asker) -> None:
    """Raise `ProblemError` unless the role suffices and the asker may see the path's objects."""
    check_role(asker, entrance.who, inside)
    if entrance.is_of_all and not asker.sees_all:
        message = "this shows the sentinels of all users, and you see your own"
        raise ProblemError(HTTPStatus.FORBIDDEN, message, hint="/api/v1/events has the changes of yours")
    alters = request.method not in READING and entrance.who != "markers"
    await inside.store.read(check_objects, asker, request.path_params, alters=alters)


SCREENS: Final[tuple[ScreenRoute, ...]] = (
    ("/", "GET", "readers", inbox.show),
    ("/inbox", "POST", "markers", inbox.act),
    ("/inbox/all-read", "POST", "markers", inbox.all_read),
    ("/changes/{id}", "GET", "readers", change.show),
    ("/changes/{id}", "POST", "markers", change.act),
    ("/changes/{id}/rendered", "GET", "readers", change.render),
    ("/changes/{id}/picture", "GET", "readers", change.share),
    ("/changes/{id}/text", "GET", "readers", change.show_as_text),
    ("/changes/{id}/screenshot", "GET", "readers", change.screenshot),
    ("/changes/{id}/screenshots", "GET", "readers", change.differing),
    ("/changes/{id}/fewer", "GET", "readers", fewer.show),
    ("/changes/{id}/fewer", "POST", "editors", fewer.act),
    ("/sentinels", "GET", "readers", sentinels.show),
    ("/sentinels", "POST", "editors", sentinels.act),
    ("/sentinels/{name}", "GET", "readers", sentinel.show),
    ("/sentinels/{name}", "POST", "editors", sentinel.act),
    ("/new", "GET", "editors", make.show),
    ("/new", "POST", "editors", make.act),
    ("/new/page", "GET", "editors", make.pick),
    ("/import", "GET", "editors", imports.show),
    ("/import", "POST", "editors", imports.act),
    ("/search", "GET", "readers", search.show),
    ("/search/{page}/open", "GET", "readers", search.open_page),
    ("/search/{page}/{number}/text", "GET", "readers", search.show_text),
    ("/collections", "GET", "readers", collections.show),
    ("/collections/{name}", "GET", "readers", collections.show_one),
    ("/plan", "GET", "readers", plan.show),
    ("/health", "GET", "readers", installation.show_health),
    ("/health", "POST", "editors", installation.act),
    ("/settings", "GET", "readers", installation.show_settings),
    ("/live", "GET", "readers", inbox.follow),
    ("/login", "GET", "anybody", people.show),
    ("/login", "POST", "anybody", people.act),
    ("/logout", "POST", "readers", people.leave),
    ("/account", "GET", "readers", people.show_account),
    ("/account", "POST", "readers", people.act_on_account),
    ("/users", "GET", "admins", people.users),
    ("/users", "POST", "admins", people.act_on_users),
    ("/public", "GET", "editors", published.manage),
    ("/public", "POST", "editors", published.act),
    ("/public/{token}/changes", "GET", "anybody", published.show),
    ("/public/{token}/feed.atom", "GET", "anybody", feeds.publish_atom),
    ("/public/{token}/feed.json", "GET", "anybody", feeds.publish_json),
)
