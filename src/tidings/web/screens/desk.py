"""The shared objects of the screens: their own store, comparisons of stored versions, the health,
and the page frame.

Users' writes use a separate connection, so that the service sees them like writes of another
process, and no screen delays a check.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from functools import partial
from http import HTTPStatus
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import RedirectResponse

from tidings.clock import HOUR, SECOND
from tidings.record import replace
from tidings.service.health.sources import health_of_service
from tidings.service.health.trouble import Health
from tidings.service.on_demand import trial
from tidings.service.on_demand.compare import Comparisons
from tidings.service.on_demand.simulation import simulate
from tidings.service.on_demand.try_receivers import send_test_message
from tidings.storage.db.database import open_database
from tidings.storage.search.index import SearchIndex
from tidings.storage.search.log import SearchLog
from tidings.storage.watches import inbox, sentinels
from tidings.storage.write.store import Store
from tidings.web.api.stream import SharedReads
from tidings.web.markup import formats
from tidings.web.markup.render import POLICY, environment, pack
from tidings.web.markup.told import LONGEST, tell
from tidings.web.markup.translations import say
from tidings.web.problems import ProblemError
from tidings.web.rate_limits import Tries

if TYPE_CHECKING:
    from datetime import tzinfo

    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.clock import Clock
    from tidings.detection.job.contract import Body
    from tidings.language.problems import Problem
    from tidings.service.notify.rehearse import Rehearsed
    from tidings.service.on_demand.simulation import Outcome, PageHistory
    from tidings.service.on_demand.trial import Tried
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.web.access import Asker
    from tidings.web.inside import Arrivals

ZONE_COOKIE: Final = "tidings-zone"
"""The cookie with the reader's time zone, written by the screens' script; neither secret nor
identifying.
"""
COUNTED_FOR_SECONDS: Final = 20.0
MOST_COPIES: Final = 16
LARGEST_COPY: Final = 2_000_000
"""Largest page, in bytes, offered for picking parts."""
TEST_PATIENCE: Final = 10 * SECOND
"""How long a test message may wait for an answer."""
MOST_TRIALS: Final = 2
"""Most concurrent trials; each has its own processes."""


class TrialCopies:
    """Pages received by trials, each for its user, under an unguessable name; only the
    newest few.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, Body]] = {}

    def keep(self, body: Body, owner_id: int) -> str:
        """Store a page; return its name, "" if it is too large."""
        if len(body.data) > LARGEST_COPY:
            return ""
        name = secrets.token_urlsafe(12)
        self._kept[name] = owner_id, body
        if len(self._kept) > MOST_COPIES:
            del self._kept[next(iter(self._kept))]
        return name

    def get(self, name: str, owner_id: int) -> Body | None:
        """Return a stored page of a user, None if there is none."""
        owner, body = self._kept.get(name, (None, None))
        return body if owner == owner_id else None


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
        self.copies = TrialCopies()
        """pages from trials, for picking parts"""
        self.readings = SharedReads()
        """shared reads of followers"""
        self._begun = clock.now()
        self._trying = asyncio.Semaphore(MOST_TRIALS)
        self.clock = clock
        self.arrivals = arrivals
        self.store = Store(database)
        self.comparisons = Comparisons(self.store.read, settings, dialect=database.dialect)
        self._index: SearchIndex | None = None
        self._log: SearchLog | None = None
        self._simulating: ProcessPoolExecutor | None = None
        self._health = Health()
        self._read_at = float("-inf")

    async def close(self) -> None:
        """Close the database and the process that compares."""
        await self.comparisons.close()
        if self._simulating is not None:
            self._simulating.shutdown(cancel_futures=True)
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
        health = await self.health()
        if asker.sees_all:
            return health
        names = set(await self.store.read(sentinels.names, viewer=asker.viewer))
        seen = (
            replace(one, sentinels=tuple(name for name in one.sentinels if name in names)) for one in health.troubles
        )
        return Health(tuple(one for one in seen if one.sentinels))

    @property
    def uptime(self) -> float:
        """Return for how many seconds the server has been open."""
        return (self.clock.now() - self._begun) / SECOND

    def is_first_code(self, text: str) -> bool:
        """Return whether a text is the valid code for the first account."""
        is_same = hmac.compare_digest(text.encode(errors="replace"), self.first_code.encode())
        return is_same and self.clock.now() - self._begun <= HOUR

    async def health(self) -> Health:
        """Return the health of everything watched, at most 20 s old."""
        now = asyncio.get_running_loop().time()
        if now - self._read_at >= COUNTED_FOR_SECONDS:
            self._health = await self.store.read(health_of_service, self.settings, now=self.clock.wall())
            self._read_at = now
        return self._health

    def forget_health(self) -> None:
        """Drop the cached health: something was just fixed."""
        self._read_at = float("-inf")

    async def try_out(self, text: str) -> tuple[list[Tried], tuple[Problem, ...]]:
        """Return what statements of the language would watch, each page fetched once; only the cost
        of the checks is stored.

        Raises `SentinelError` with every problem found.
        """

        def run() -> tuple[list[Tried], tuple[Problem, ...]]:
            database = open_database(self.settings, create=False)
            try:
                return asyncio.run(trial.trial(database, text, self.statement_settings))
            finally:
                database.close()

        async with self._trying:
            return await asyncio.to_thread(run)

    async def send_test(self, row: SentinelRow) -> list[Rehearsed]:
        """Send a test message to each receiver of a sentinel; return what became of it."""

        def run() -> list[Rehearsed]:
            database = open_database(self.settings, create=False)
            try:
                return asyncio.run(send_test_message(database, row, self.settings, patience=TEST_PATIENCE))
            finally:
                database.close()

        async with self._trying:
            return await asyncio.to_thread(run)

    async def simulate(self, history: PageHistory, settings: Settings) -> Outcome:
        """Return the simulated outcome of these settings, from a separate process. Raises
        `ProblemError` if that process is killed; the next call starts another.
        """
        async with self._trying:
            if self._simulating is None:
                self._simulating = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            work = partial(simulate, history, settings)
            try:
                return await asyncio.get_running_loop().run_in_executor(self._simulating, work)
            except BrokenExecutor as error:
                self._simulating = None
                message = say("the simulation was killed, perhaps for want of memory; try again")
                raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message) from error

    async def page(
        self, request: Request, template: str, *, title: str, here: str = "", status: int = HTTPStatus.OK, **values: Any
    ) -> Response:
        """Return a screen.

        Args:
            request: The request.
            template: A file of `templates/`.
            title: The window's title.
            here: The current entry of the menu, "" for none.
            status: The status of the response.
            values: The values of the template.
        """
        asker = request.state.asker
        unread, watched = await self.store.read(_counts, asker)
        health = await self.health_for(asker)
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
                problems=len([one for one in health.troubles if one.severity != "note"]),
                zone=str(zone),
                now=now,
                at=lambda instant: formats.stamp(instant, now, zone),
                ago=lambda instant: formats.ago(instant, now),
                told=lambda text, most=LONGEST: tell(text, now, zone, most=most),
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
        title = tell(error, self.clock.wall(), reader_zone(request)).striptags()
        said = await self.page(
            request, "problem.html", title=title, status=error.status, problem=str(error), hint=error.hint
        )
        said.headers.update(error.headers)
        return said


def reader_zone(request: Request) -> tzinfo:
    """Return the zone of displayed times: the account's, else the browser's."""
    return formats.zone_of(request.state.asker.zone or request.cookies.get(ZONE_COOKIE, ""))


def _counts(c: Connection, asker: Asker) -> tuple[int, int]:
    own = inbox.Filter(viewer=asker.viewer, reader=asker.owner_id)
    return inbox.count(c, own), sentinels.count(c, viewer=asker.viewer)


def back(request: Request, fallback: str = "/") -> Response:
    """Redirect to the screen that submitted a form, only to a path of this service."""
    where = request.query_params.get("back", "")
    is_own = where.startswith("/") and not where.startswith(("//", "/\\"))
    return RedirectResponse(where if is_own else fallback, HTTPStatus.SEE_OTHER)
