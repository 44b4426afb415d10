"""`tidings serve`: watch, notify, and show what changed in a browser, until SIGTERM or Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import logging
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from tidings.cli.output import add_json, json_line, write_json, write_line, write_nowhere
from tidings.clock import SECOND
from tidings.errors import ClockSetBackError, OutputError, SettingError, StaleEpochError, StoreStalledError, UsageError
from tidings.plugs.home_assistant import inform_home_assistant
from tidings.record import replace
from tidings.service.health.metrics import Meter
from tidings.service.run.assembly import poller
from tidings.service.run.from_settings import open_poller
from tidings.service.run.indexer import indexing
from tidings.service.run.notifier import notifier
from tidings.service.run.presence import ROLES, check_role, name_process
from tidings.service.run.web_only import web_only
from tidings.service.show.finding import spell_count
from tidings.service.show.records import change_record, rfc3339
from tidings.storage.people import accounts
from tidings.web.server import HttpServer, find_supervisor

if TYPE_CHECKING:
    from tidings.model.interval import Duration
    from tidings.model.observed.unit import Unit
    from tidings.service.run.monitor import Monitor
    from tidings.service.run.presence import Presence
    from tidings.service.watch.committer import Committer
    from tidings.settings import Settings
    from tidings.web.inside import Served

T = TypeVar("T")
FORMATS: Final = ("text", "json")
M_ARENA_MAX: Final = -8
"""How many heaps the C library keeps at most (`mallopt`)."""
_log = logging.getLogger("tidings.serve")


class JsonFormatter(logging.Formatter):
    """Writes a record with `at`, `level`, `logger`, `message`, and `exception` if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line of JSON, without the line end."""
        found = {
            "at": rfc3339(round(record.created * SECOND)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            found["exception"] = self.formatException(record.exc_info)
        return json_line(found).rstrip("\n")


def set_up(form: str) -> None:
    """Log on standard error. Raises `SettingError` for an unknown form."""
    if form not in FORMATS:
        raise SettingError(f"serve.log_format cannot be {form!r}: expected {' or '.join(FORMATS)}")
    handler = logging.StreamHandler(sys.stderr)
    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonFormatter() if form == "json" else plain)
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


def announce(text: str) -> None:
    """Write a line that begins with the program's name, or a record."""
    if any(isinstance(handler.formatter, JsonFormatter) for handler in logging.getLogger().handlers):
        _log.info("%s", text)
        return
    with contextlib.suppress(OSError):  # the reader may have left; the service goes on
        sys.stderr.write(f"tidings: {text}\n")
        sys.stderr.flush()


PATIENCE_SECONDS = 15.0
"""How long a starting service waits for a running `check` or `add --url`."""
MOST_PORT = 65_535
PAUSE_WHEN_REFUSED_SECONDS = 1.0
"""pause before a new attempt to write to a database that is locked or full"""
STEP_PAUSE_SECONDS = 0.002
"""Pause between steps: without it a busy service would make a step for each answer."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("--host", metavar="H", help="the address to listen on (serve.host; default 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, metavar="N", help="the port (serve.port; default 8780); 0 takes any free port"
    )
    parser.add_argument(
        "--role",
        choices=ROLES,
        default="all",
        help="all: the whole service (default); poller: only fetch pages for a service on another machine, through"
        " bus.url; planner, notifier, web: a part of the service, on PostgreSQL (docs/howto/many-machines.md)",
    )
    parser.add_argument("--verbose", action="store_true", help="log every check")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve until stopped."""
    _share_heap()
    settings = _set_address(settings, arguments)
    set_up(settings.serve.log_format)
    for name in settings.ignored:
        _log.warning("%s is no longer a setting and has no effect; remove it", name)
    check_role(settings, arguments.role)
    return asyncio.run(_fetch(settings) if arguments.role == "poller" else _serve(arguments, settings))


def _share_heap() -> None:
    """Have all threads use one heap of the C library, where it can (glibc).

    Each thread would have its own, and keep there what it frees: 23 MB at 50,000 pages.
    """
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(M_ARENA_MAX, 1)


def _set_address(settings: Settings, arguments: argparse.Namespace) -> Settings:
    """Return the settings with the given address."""
    if arguments.port is not None and not 0 <= arguments.port <= MOST_PORT:
        message = f"--port {arguments.port} is not a port; write a number from 0 (any free port) to {MOST_PORT:,}"
        raise UsageError(message)
    given = {name: getattr(arguments, name) for name in ("host", "port") if getattr(arguments, name) is not None}
    return replace(settings, serve=replace(settings.serve, **given))


def _make_stop() -> asyncio.Event:
    """Return an event that is set once the process is to stop."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_complain)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


async def _fetch(settings: Settings) -> int:
    """Fetch pages for a remote service until stopped."""
    if not settings.bus.url:
        raise UsageError("a poller needs the bus.url and bus.secret of its service (docs/howto/many-machines.md)")
    stop = _make_stop()
    fetching = open_poller(settings)
    taking = asyncio.create_task(fetching.run(settings.bus.lanes))
    stopped = asyncio.create_task(stop.wait())
    announce(f"poller: takes {' and '.join(settings.bus.lanes)} from {fetching.where}")
    try:
        await asyncio.wait({taking, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if taking.done():
            taking.result()
    finally:
        for task in (taking, stopped):
            task.cancel()
        await asyncio.wait({taking, stopped})
        await fetching.close()
    announce(f"stopped after {spell_count(fetching.made, 'check')}")
    return 0


async def _serve(arguments: argparse.Namespace, settings: Settings) -> int:
    """Do the work of a role until stopped; begin again when the clock was set back and, as a
    planner, when the pages are divided anew. Return the exit code.
    """
    stop, planner = _make_stop(), name_process() if arguments.role == "planner" else ""
    while True:
        door = None if arguments.role in {"planner", "notifier"} else HttpServer(settings)
        try:
            if arguments.role == "notifier":
                return await _notify(settings, stop, as_json=arguments.json)
            if arguments.role == "web" and door is not None:
                return await _show(settings, door, stop)
            return await _watch(arguments, settings, door, stop, planner=planner)
        except ClockSetBackError as error:
            announce(f"{error}; the service restarts with the new time")
            if door is not None:
                settings = replace(settings, serve=replace(settings.serve, port=door.port))
        except StaleEpochError as error:  # another process has taken over, or wants a part
            if not planner:
                announce(f"stopped: {error}")
                return error.exit_code
            announce(f"{error}; this planner begins again")


async def _notify(settings: Settings, stop: asyncio.Event, *, as_json: bool) -> int:
    """Send due messages until stopped."""
    async with contextlib.AsyncExitStack() as stack:
        opening = notifier(settings, stream=sys.stderr if as_json else sys.stdout)
        sending = await _unless(stop, stack.enter_async_context(opening))
        if sending is not None:
            _count(sending.committer, sending.presence)
            announce("ready: sends messages")
            stopped = asyncio.create_task(stop.wait())
            stopped.add_done_callback(lambda _: sending.store.hurry())
            async with find_supervisor().watching():
                await _loop(sending, stopped, most=round(settings.serve.tick_seconds * SECOND))
    announce("stopped")
    return 0


async def _show(settings: Settings, door: HttpServer, stop: asyncio.Event) -> int:
    """Serve screens and API until stopped."""
    async with contextlib.AsyncExitStack() as stack:
        served = await _unless(stop, stack.enter_async_context(web_only(settings)))
        if served is not None:
            door.bind()
            announce("ready: shows what the other processes find")
            stopped = asyncio.create_task(stop.wait())
            stopped.add_done_callback(lambda _: served.store.hurry())
            served.on_streamed, served.on_changed = door.arrivals.wake, door.changes.wake
            async with indexing(settings), _answering(door, served, stop), find_supervisor().watching():
                await _loop(served, stopped, most=round(settings.serve.tick_seconds * SECOND))
    announce("stopped")
    return 0


async def _watch(
    arguments: argparse.Namespace, settings: Settings, door: HttpServer | None, stop: asyncio.Event, *, planner: str
) -> int:
    """Serve until stopped; without a door, for a planner, show nothing.

    Raises `ClockSetBackError`, since everything in memory depends on the former clock, and
    `StaleEpochError` if another process has taken over or is to have a part of the pages.
    """
    begun = time.perf_counter()
    console = sys.stderr if arguments.json else sys.stdout
    async with contextlib.AsyncExitStack() as stack:
        serving = poller(
            settings,
            stream=console,
            patience_seconds=PATIENCE_SECONDS,
            spreads=True,
            endures=True,
            planner=planner,
        )
        monitor = await _unless(stop, stack.enter_async_context(serving))
        if monitor is None:
            announce("stopped")
            return 0
        if door is not None:
            door.bind()
            monitor.committer.listen(door.note)
            monitor.listen_to_writing(door.arrivals.wake)  # a notifier may have put something on the stream
        if monitor.presence is not None:
            _count(monitor.committer, monitor.presence)
        printer = Printer(monitor, as_json=arguments.json, verbose=arguments.verbose)

        monitor.committer.listen(printer)
        await monitor.live()
        count = len(monitor.watchlist.pages)
        took = time.perf_counter() - begun
        announce(
            f"ready: {spell_count(count, 'page')}, {spell_count(len(monitor.watchlist.sentinels), 'sentinel')},"
            f" data in {settings.data} ({took:.2f} s)"
        )
        stopped = asyncio.create_task(stop.wait())
        stopped.add_done_callback(lambda _: monitor.store.hurry())
        try:
            async with contextlib.AsyncExitStack() as around:
                if door is not None:
                    await around.enter_async_context(indexing(settings))
                await around.enter_async_context(inform_home_assistant(monitor, settings))
                if door is not None:
                    opened = monitor.ways_in.hubs.open
                    await around.enter_async_context(_answering(door, monitor, stop, opened=opened))
                await around.enter_async_context(find_supervisor().watching())
                await _loop(monitor, stopped, most=round(settings.serve.tick_seconds * SECOND))
        finally:
            if printer.is_output_lost:
                write_nowhere()
    announce("stopped")
    return 0


def _count(committer: Committer, presence: Presence) -> None:
    """Note counters in the database, for the metrics of processes that only serve."""
    meter = Meter(pollers=presence.pollers.taken)
    committer.listen(meter.note)
    presence.write_note = meter.export


def _complain(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error outside any task; lack of memory in one line, where no traceback would help."""
    if isinstance(context.get("exception"), MemoryError):
        logging.getLogger("tidings.service").error("no memory is left: %s", context.get("message", ""))
    else:
        loop.default_exception_handler(context)


async def _unless(stop: asyncio.Event, starting: Coroutine[Any, Any, T]) -> T | None:
    """Return what was started, or None if stopped first: starting may wait for a database or
    another poller.
    """
    task, stopped = asyncio.create_task(starting), asyncio.create_task(stop.wait())
    await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if task.done():
        return task.result()
    task.cancel()
    await asyncio.wait({task})
    return None if task.cancelled() else task.result()


@contextlib.asynccontextmanager
async def _answering(
    door: HttpServer, served: Served, stop: asyncio.Event, *, opened: Callable[[], None] = lambda: None
) -> AsyncIterator[None]:
    """Open the HTTP server beside the first checks, and close it before the service stops; a
    failure to open ends the service. `opened` is called once it answers.
    """

    async def open_() -> None:
        try:
            await door.open(served)
        except BaseException:
            stop.set()
            raise
        opened()
        announce(f"listening on {door.url}")
        if sys.stderr.isatty() and not await served.store.read(accounts.exist):
            announce(
                f"there are no accounts; make the first at {door.url}/login within an hour; code: {door.first_code}"
            )

    opening = asyncio.create_task(open_())
    try:
        yield
    finally:
        try:
            await opening
        finally:
            await door.close()


class RunsInSteps(Protocol):
    """What runs in steps."""

    async def step(self) -> None:
        """Do what is due."""
        ...

    async def rest(self, *, most: Duration) -> None:
        """Wait for work, for at most `most`."""
        ...


async def _loop(monitor: RunsInSteps, stopped: asyncio.Task[bool], *, most: int) -> None:
    """Run steps until stopped; rest for at most `most` µs at a time."""
    printed = ""
    while not stopped.done():
        try:
            await monitor.step()
            printed = ""
        except StoreStalledError as error:
            if printed != str(error):
                announce(f"{error}; the service continues when it can")
            printed = str(error)
            await asyncio.wait({stopped}, timeout=PAUSE_WHEN_REFUSED_SECONDS)
        resting = asyncio.create_task(monitor.rest(most=most))
        await asyncio.wait({resting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        resting.cancel()
        await asyncio.sleep(STEP_PAUSE_SECONDS)


class Printer:
    """Prints findings as they are made. A closed or full output is reported once and disturbs
    nothing else.
    """

    def __init__(self, monitor: Monitor, *, as_json: bool, verbose: bool) -> None:
        self._monitor = monitor
        self._as_json = as_json
        self._verbose = verbose
        self.is_output_lost = False
        """whether the last write to standard output failed"""

    def __call__(self, unit: Unit) -> None:
        """Print the results of a committed unit."""
        try:
            self._print(unit)
        except (BrokenPipeError, OutputError) as error:
            if not self.is_output_lost:
                cause = error.__cause__ if isinstance(error, OutputError) else error
                announce(
                    f"standard output cannot be written ({getattr(cause, 'strerror', cause)}); the service continues"
                )
            self.is_output_lost = True

    def _print(self, unit: Unit) -> None:
        watchlist = self._monitor.watchlist
        for row in unit.changes:
            page = watchlist.pages.get(row.page_id)
            owner = watchlist.sentinels.get(row.sentinel_id)
            if page is None or owner is None or row.quiet:
                continue
            if self._as_json:
                write_json(change_record(row, sentinel=owner.row.name, url=page.identity.given))
            elif not any(target.kind == "console" for target in owner.everybody()):  # that channel writes it itself
                write_line(f"{owner.row.name}: {row.summary}  {page.identity.given}")
        if self._verbose and unit.poll is not None and unit.page is not None:
            page = watchlist.pages.get(unit.page.page_id)
            where = page.identity.given if page is not None else f"page {unit.page.page_id}"
            announce(f"{unit.poll.outcome} {where}{f': {unit.poll.reason}' if unit.poll.outcome == 'error' else ''}")
