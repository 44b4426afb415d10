"""The shared objects of the screens: their own store, comparisons of stored versions, the health,
and the page frame.

Users' writes use a separate connection, so that the service sees them like writes of another
process, and no screen delays a check.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, TypeVar, cast

from starlette.responses import RedirectResponse

from tidings.clock import HOUR, SECOND
from tidings.isolation.runner import Died
from tidings.record import replace
from tidings.service.health.receivers import list_receivers
from tidings.service.health.sources import health_of_service
from tidings.service.health.trouble import Health
from tidings.service.on_demand import trial
from tidings.service.on_demand.compare import Comparisons
from tidings.service.on_demand.trial import Tried
from tidings.service.on_demand.try_receivers import send_test_message
from tidings.service.on_demand.what_if import try_budget
from tidings.service.run.from_settings import open_long_runner
from tidings.service.watch.watchlist import meaning
from tidings.storage.db.database import open_database
from tidings.storage.search.index import SearchIndex
from tidings.storage.search.log import SearchLog
from tidings.storage.watches import inbox, sentinels
from tidings.storage.watches.events import OWNER
from tidings.storage.write.store import Store
from tidings.web.access import NOBODY
from tidings.web.api.stream import SharedReads
from tidings.web.markup import formats
from tidings.web.markup.localize import LONGEST, localize
from tidings.web.markup.render import POLICY, environment, pack
from tidings.web.markup.translations import translate
from tidings.web.problems import ProblemError
from tidings.web.rate_limits import Tries
from tidings.web.request_body import SentFile
from tidings.web.screens.what_if import WhatIf

if TYPE_CHECKING:
    from datetime import tzinfo

    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.clock import Clock
    from tidings.isolation.runner import Runner
    from tidings.language.problems import Problem
    from tidings.model.interval import Instant
    from tidings.service.health.receivers import Receiver
    from tidings.service.notify.rehearse import Rehearsed
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.web.access import Asker
    from tidings.web.inside import Arrivals

ZONE_COOKIE: Final = "tidings-zone"
"""The cookie with the reader's time zone, written by the screens' script; neither secret nor
identifying.
"""
RECENT: Final = 20 * SECOND
MOST_RECENT: Final = 64
"""Most results that are shared, of all users."""
MOST_COPIES: Final = 16
MOST_UPLOADS: Final = 3
TEST_PATIENCE: Final = 10 * SECOND
"""How long a test message may wait for an answer."""
MOST_AT_ONCE: Final = 3
MOST_OF_A_USER: Final = 2
"""Most concurrent works of a kind, such as trials, which have their own processes."""


A = TypeVar("A")
R = TypeVar("R")
T = TypeVar("T")
P = ParamSpec("P")


class CachedCopies(Generic[T]):
    """What users sent or trials received, for a next step: each for its user, under an unguessable
    name; only the newest few of each user.

    Args:
        most: How many of a user there are at most; all users have four times as many.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[str, tuple[int, T]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, copy: T, owner_id: int) -> str:
        """Store a copy; return its name."""
        name = secrets.token_urlsafe(12)
        self._kept[name] = owner_id, copy
        counts = Counter(owner for owner, _ in self._kept.values())
        if counts[owner_id] > self._most:
            self._forget_oldest(owner_id)
        elif len(self._kept) > 4 * self._most:
            self._forget_oldest(max(counts, key=lambda owner: counts[owner]))
        return name

    def _forget_oldest(self, owner_id: int) -> None:
        del self._kept[next(name for name, (owner, _) in self._kept.items() if owner == owner_id)]

    def get(self, name: str, owner_id: int) -> T | None:
        """Return a stored copy of a user, None if there is none."""
        owner, copy = self._kept.get(name, (None, None))
        return copy if owner == owner_id else None

    def drop(self, name: str) -> None:
        """Forget a copy."""
        self._kept.pop(name, None)


class Slots:
    """Room for one kind of long work: at most three at once, and two of a user."""

    def __init__(self) -> None:
        self._all = asyncio.Semaphore(MOST_AT_ONCE)
        self._own: dict[int, asyncio.Semaphore] = {}

    @contextlib.asynccontextmanager
    async def take(self, owner_id: int) -> AsyncIterator[None]:
        """Wait for a slot, and hold it."""
        async with self._own.setdefault(owner_id, asyncio.Semaphore(MOST_OF_A_USER)), self._all:
            yield


class Desk:
    """The shared objects of all screens. `close` it.

    Args:
        settings: The settings in use.
        clock: The clock.
        arrivals: Wakes those who follow events.
    """

    def __init__(self, settings: Settings, clock: Clock, arrivals: Arrivals) -> None:
        database = open_database(settings, create=False)
        self.settings = settings
        self.statement_settings = replace(
            settings,
            fetch=replace(settings.fetch, allow_commands=False),
            events=replace(settings.events, allow_commands=False, allow_files=()),
        )
        """the settings by which statements from a browser are checked.

        None of them may run a command, or create an event from a file
        """
        self.tries = Tries()
        """limits password attempts"""
        self.first_code = secrets.token_urlsafe(12)
        """the code that creates the first account, within an hour"""
        self.copies = CachedCopies[Tried](MOST_COPIES)
        """pages from trials, for picking parts"""
        self.uploads = CachedCopies[SentFile](MOST_UPLOADS)
        """files that are shown before they are imported"""
        self.readings = SharedReads()
        """shared reads of followers"""
        self._begun = clock.now()
        self._trials, self._tests, self._computing = Slots(), Slots(), Slots()
        self.clock = clock
        self.arrivals = arrivals
        self.store = Store(database)
        self.comparisons = Comparisons(self.store.read, settings, dialect=database.dialect)
        self._index: SearchIndex | None = None
        self._log: SearchLog | None = None
        self._apart: Runner | None = None
        self.what_if = WhatIf(self.store, settings, partial(self.work_apart, try_budget))
        """the curve of the plan"""
        self._recent: dict[Hashable, tuple[Instant, Any]] = {}

    async def close(self) -> None:
        """Close the database and the process that compares."""
        await self.comparisons.close()
        await self.what_if.close()
        if self._apart is not None:
            await self._apart.close()
        for opened in (self._index, self._log):
            if opened is not None:
                opened.close()
        await self.store.close()

    @property
    def log(self) -> SearchLog | None:
        """Return the log of searches, None if it is off."""
        if self._log is None and self.settings.search.log:
            self._log = SearchLog(self.settings.data)
        return self._log

    @property
    def index(self) -> SearchIndex:
        """Return the search index, opened at the first search."""
        if self._index is None:
            self._index = SearchIndex(self.settings.data)
        return self._index

    async def health_for(self, asker: Asker) -> Health:
        """Return the health of what an asker may see."""
        now, viewer = self.clock.wall(), asker.viewer
        return await self.recent(("health", viewer), health_of_service, self.settings, now=now, viewer=viewer)

    async def receivers_for(self, asker: Asker) -> list[Receiver]:
        """Return the receivers of the sentinels that an asker sees."""
        return await self.recent(("receivers", asker.viewer), list_receivers, viewer=asker.viewer)

    @property
    def uptime(self) -> float:
        """Return for how many seconds the server has been open."""
        return (self.clock.now() - self._begun) / SECOND

    def is_first_code(self, text: str) -> bool:
        """Return whether a text is the valid code for the first account."""
        is_same = hmac.compare_digest(text.encode(errors="replace"), self.first_code.encode())
        return is_same and self.clock.now() - self._begun <= HOUR

    async def recent(
        self, name: Hashable, read: Callable[Concatenate[Connection, P], T], *args: P.args, **given: P.kwargs
    ) -> T:
        """Return `read(connection, ...)`, or what it returned for this name at most 20 s ago: for
        what takes long with thousands of sentinels.
        """
        now = self.clock.now()
        at, value = self._recent.get(name, (0, None))
        if not at or now - at >= RECENT:
            value = await self.store.read(read, *args, **given)
            if len(self._recent) >= MOST_RECENT:
                self._recent.clear()
            self._recent[name] = now, value
        return cast("T", value)

    def forget_recent(self) -> None:
        """Drop what was read lately: something was just altered."""
        self._recent.clear()

    async def try_out(self, text: str, asker: Asker) -> tuple[list[Tried], tuple[Problem, ...]]:
        """Return what statements of the language would watch, each page fetched once; only the cost
        of the checks is stored.

        Raises `SentinelError` with every problem found, `UsageError` for what the asker may not do.

        Args:
            text: The statements.
            asker: Who tries them.
        """

        def run() -> tuple[list[Tried], tuple[Problem, ...]]:
            database = open_database(self.settings, create=False)
            try:
                return asyncio.run(trial.trial(database, text, self.statement_settings, author=asker.author))
            finally:
                database.close()

        async with self._trials.take(asker.owner_id):
            return await asyncio.to_thread(run)

    async def test_receiver(self, number: str, asker: Asker) -> Rehearsed:
        """Send a test message to a receiver, as the first sentinel does that notifies it and that
        the asker may alter. Raises `ProblemError` if none does, or if it cannot be tested.
        """
        known = [one for one in await self.receivers_for(asker) if str(one.row.id) == number]
        own = [(one.row, row) for one in known for row in one.users if asker.may_alter(row.owner_id)]
        tested = [one for to, row in own[:1] for one in await self.send_test(row, asker, (to.kind, to.address))]
        if not tested:
            message = translate("no test message can be sent to this receiver")
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, message)
        self.forget_recent()
        return tested[0]

    async def send_test(self, row: SentinelRow, asker: Asker, only: tuple[str, str] | None = None) -> list[Rehearsed]:
        """Send a test message to each receiver of a sentinel, or to the `only` one (kind, address);
        return what became of it.
        """

        def run() -> list[Rehearsed]:
            database = open_database(self.settings, create=False)
            try:
                return asyncio.run(
                    send_test_message(database, meaning(row.text), self.settings, patience=TEST_PATIENCE, only=only)
                )
            finally:
                database.close()

        async with self._tests.take(asker.owner_id):
            return await asyncio.to_thread(run)

    async def work_apart(self, function: Callable[[A], R], argument: A, owner_id: int = OWNER) -> R:
        """Return the result of long work, from a separate process. Raises `ProblemError` if that
        process was killed; the next call starts another.

        Args:
            function: What is done, in the other process.
            argument: Its argument.
            owner_id: Who asked for it.
        """
        async with self._computing.take(owner_id):
            if self._apart is None:
                self._apart = open_long_runner(self.settings)
            found = await self._apart.run(function, argument)
        if isinstance(found, Died):
            message = translate("this took too much time or memory, and was ended")
            raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message, hint=found.reason)
        return found.value

    async def page(
        self,
        request: Request,
        template: str,
        *,
        title: str,
        here: str = "",
        status: int = HTTPStatus.OK,
        unread: int | None = None,
        watched: int = 0,
        **values: Any,
    ) -> Response:
        """Return a screen; without menu and counts for those who were not asked who they are.

        Args:
            request: The request.
            template: A file of `templates/`.
            title: The window's title.
            here: The current entry of the menu, "" for none.
            status: The status of the response.
            unread: How many changes the asker has not read; counted if None, with `watched`.
            watched: How many sentinels the asker sees.
            values: The values of the template.
        """
        asker = request.state.asker
        is_inside = asker != NOBODY
        if unread is None:
            unread, watched = await self.store.read(_counts, asker) if is_inside else (0, 0)
        health = await self.health_for(asker) if is_inside else Health()
        zone, now = reader_zone(request), self.clock.wall()
        html = (
            environment()
            .get_template(template)
            .render(
                title=title,
                here=here,
                unread=unread,
                watched=watched,
                asker=asker,
                is_inside=is_inside,
                problems=len([one for one in health.troubles if one.severity != "note"]),
                zone=str(zone),
                now=now,
                at=lambda instant: formats.stamp(instant, now, zone),
                ago=lambda instant: formats.ago(instant, now),
                localize=lambda text, most=LONGEST: localize(text, now, zone, most=most),
                **values,
            )
        )
        headers = {
            "content-security-policy": POLICY,
            "cache-control": "no-store",
            "referrer-policy": "same-origin",  # under `no-referrer` a form's Origin would be `null`, which the guard refuses
        }
        return pack(request, html.encode(), status, headers, "text/html; charset=utf-8")

    async def problem(self, request: Request, error: ProblemError) -> Response:
        """Return a problem as a screen, with advice."""
        title = localize(error, self.clock.wall(), reader_zone(request)).striptags()
        response = await self.page(
            request, "problem.html", title=title, status=error.status, problem=str(error), hint=error.hint
        )
        response.headers.update(error.headers)
        return response


def reader_zone(request: Request) -> tzinfo:
    """Return the zone of displayed times: the account's, else the browser's."""
    return formats.zone_of(request.state.asker.zone or request.cookies.get(ZONE_COOKIE, ""))


def _counts(c: Connection, asker: Asker) -> tuple[int, int]:
    own = inbox.Filter(viewer=asker.viewer, reader=asker.owner_id)
    return inbox.count(c, own), sentinels.count(c, viewer=asker.viewer)


def report_refused(refused: Sequence[str], number: int) -> None:
    """Raise `ProblemError` with the reasons if some of `number` acts were refused."""
    if refused:
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            translate("{many} of {all} could not be done", many=len(refused), all=number),
            hint="; ".join(refused[:5]),
        )


def back(request: Request, fallback: str = "/") -> Response:
    """Redirect to the screen that submitted a form, only to a path of this service."""
    where = request.query_params.get("back", "")
    is_own = where.startswith("/") and not where.startswith(("//", "/\\"))
    return RedirectResponse(where if is_own else fallback, HTTPStatus.SEE_OTHER)
