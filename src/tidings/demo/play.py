"""Run the demo: a town wakes up, the real service watches it, and everything reported is counted.

The service is a process of its own (`tidings serve`) that knows the town only over HTTP, and
reports by signed webhooks to the town's post office. This process edits the pages, kills the
service, and compares its own log with the messages. `play` emits records: `change` (the service's
own), `note` and `summary`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from tidings.clock import SECOND, Clock, SystemClock
from tidings.demo import process, script
from tidings.demo.process import ServiceProcess
from tidings.demo.report import Notified, Tally, count_fixed_interval, evenly, tally
from tidings.demo.town import Town
from tidings.errors import ServiceError
from tidings.model.interval import Instant
from tidings.model.observed.page import PageState
from tidings.notification.webhook import make_secret, read_secrets, signature
from tidings.record import dataclass
from tidings.service.sentinels.register import register
from tidings.service.show.records import rfc3339
from tidings.settings import load
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import Database, open_database
from tidings.storage.observed import pages, polls, versions
from tidings.storage.watches import changes
from tidings.storage.write import invariants

Record = dict[str, Any]
Output = Callable[[Record], None]

BEAT_SECONDS: Final = 0.1
HEALTH_SECONDS: Final = 0.5
SUMMARY_SECONDS: Final = 30.0
FIRST_POLLS_SECONDS: Final = 10.0
SETTINGS: Final = """# Made by `tidings demo` for its town on loopback; all else is as usual.
[fetch]
allow_networks = ["127.0.0.0/8"]
host_gap_seconds = 0
page_floor_seconds = 1

[schedule]
policy = "best_effort"  # a town where days pass in seconds is no web: what `price` expects of an unknown page is half a change a day
pace_seconds = 1

[serve]
tick_seconds = 0.2

[budget]
polls_per_day = 10_000_000

[notify]
webhook_secret = "{secret}"

[detect]
second_polls = false  # a minute is all of the demo: nothing waits for a second check
"""


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """The content of the service's database: (page, number) of each version, the id of each change,
    and further facts.
    """

    versions: frozenset[tuple[int, int]]
    changes: frozenset[str]
    reported_versions: frozenset[tuple[int, int]]
    polls: Mapping[str, int]
    faults: tuple[str, ...] = ()

    @property
    def quiet(self) -> int:
        """Return how many new versions were not reported."""
        return sum(number > 1 for _, number in self.versions - self.reported_versions)


async def play(directory: Path, output: Output, *, seed: int, seconds: float | None, stop: asyncio.Event) -> None:
    """Play until `stop` is set or `seconds` have passed since the service was ready.

    Raises `UsageError` for a directory that is not the demo's, `ServiceError` if the service failed
    or lost something.

    Args:
        directory: The demo's own data directory, emptied.
        output: Takes each record.
        seed: The seed of all randomness.
        seconds: How long to play; None until it is stopped.
        stop: Ends the play when it is set.
    """
    with process.take(directory):
        secret = make_secret()
        (directory / "tidings.toml").write_text(SETTINGS.format(secret=secret), encoding="utf-8")
        performance = Performance(directory, output, seed=seed, keys=read_secrets(secret))
        await performance.run(seconds=seconds, stop=stop)


class Performance:
    """One run of the demo."""

    def __init__(self, directory: Path, output: Output, *, seed: int, keys: tuple[bytes, ...]) -> None:
        self._clock: Clock = SystemClock()
        self._begun = time.monotonic()
        self._directory = directory
        self._settings = load(directory, environment={})
        self._output = output
        self._keys = keys
        self._opening = script.opening(seed)
        self._edits = script.edits(seed)
        self._next = next(self._edits)
        self._town = Town(script.PLACES, self._opening, troubles=script.TROUBLES, clock=self._clock, post=self.receive)
        self._service = ServiceProcess(directory)
        self._tellings: dict[str, list[Notified]] = {}
        self._messages: set[str] = set()
        self._arrived: set[str] = set()
        self._repeated = self._repeated_before = self._false_alarms = 0
        self._ailing: dict[str, float] = {}
        self._is_faulty = False
        self._kill_at = script.KILLS[0]
        self._killed: StoredFacts | None = None
        self._dead: list[tuple[Instant, Instant]] = []

    # -- the run
    # --------------------------------------------------------------------------------------

    async def run(self, *, seconds: float | None, stop: asyncio.Event) -> None:
        """Open the town, start the service, and run the script."""
        async with self._town.open() as town:
            self._output(
                {"record": "note", "kind": "begin", "pages": len(town.houses), "directory": str(self._directory)}
            )
            database = open_database(self._settings)
            try:
                register(database, self._sentences(), settings=self._settings, now=self._clock.now())
                took = await self._service.start(stop)
                ready = time.monotonic()
                self._output(
                    {
                        "record": "note",
                        "kind": "ready",
                        "seconds": round(ready - self._begun, 2),
                        "service_seconds": round(took, 2),
                        "url": self._service.url,
                    }
                )
                await self._wait_until_known(stop)
                if stop.is_set():
                    return
                town.wake()
                await self._live(database, until=None if seconds is None else ready + seconds, stop=stop)
                await self._service.stop()  # nothing arrives after the summary
                self._report_losses(database)
                self._summarise(database, last=True)
            finally:
                await self._service.stop()
                database.close()

    async def _wait_until_known(self, stop: asyncio.Event) -> None:
        """Wait until every page has been polled once: earlier edits belong to the baseline."""
        waits = [asyncio.create_task(self._town.known.wait()), asyncio.create_task(stop.wait())]
        await asyncio.wait(waits, timeout=FIRST_POLLS_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def _live(self, database: Database, *, until: float | None, stop: asyncio.Event) -> None:
        summary_at, health_at = SUMMARY_SECONDS, 0.0
        while not stop.is_set() and (until is None or time.monotonic() < until or self._killed is not None):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), BEAT_SECONDS)
            self._edit()
            elapsed = self._town.measure_elapsed()
            if not self._service.is_running():
                raise self._service.fault()
            if elapsed >= health_at:
                health_at = elapsed + HEALTH_SECONDS
                self._report_health(database.read(_health))
                self._report_fault()
                self._report_losses(database)
            if elapsed >= self._kill_at:
                self._kill_at = elapsed + script.KILLS[1]
                await self._kill(database, stop)
            if elapsed >= summary_at:
                summary_at += SUMMARY_SECONDS
                self._summarise(database)

    def _edit(self) -> None:
        """Make the due edits."""
        while self._next.at <= self._town.measure_elapsed():
            self._town.edit(self._next)
            self._next = next(self._edits)

    def _sentences(self) -> str:
        return "\n".join(
            f"Create Sentinel {house.place.name} Using {house.url} Monitor {house.place.monitor}"
            f" Notify by webhook {self._town.post_url} immediate"
            for house in self._town.houses.values()
        )

    # -- the post office
    # ------------------------------------------------------------------------------

    def receive(self, headers: Mapping[str, str], body: bytes) -> int:
        """Accept a message signed by the service; a repeated one is only counted."""
        message_id, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
        if not stamp.isdigit():
            return HTTPStatus.UNAUTHORIZED
        right = signature(message_id, int(stamp) * SECOND, body=body, keys=self._keys)
        if not hmac.compare_digest(right, headers.get("webhook-signature", "")):
            return HTTPStatus.UNAUTHORIZED
        if message_id in self._messages:
            self._repeated += 1
            return HTTPStatus.NO_CONTENT
        self._messages.add(message_id)
        message = json.loads(body)["data"]
        for record in message.get("changes", [message]):
            if record.get("record") == "change":  # other records are on the service itself: a failing page, say
                self._note_message(record, self._clock.now())
        return HTTPStatus.NO_CONTENT

    def _note_message(self, record: Record, at: Instant) -> None:
        """Record what a message reported, and print it beside what had happened."""
        self._arrived.add(record["id"])
        house = self._town.houses[record["sentinel"]]
        number = house.number_at(_instant(record["polled_at"]))
        known = self._tellings.setdefault(house.place.name, [])
        elapsed = round(self._town.measure_elapsed(), 3)
        if not number or any(notice.number == number for notice in known):
            self._false_alarms += 1
            self._output({**record, "edit": "", "edits": 0, "elapsed_seconds": elapsed})
            return
        seen = max((notice.number for notice in known if notice.number < number), default=0)
        known.append(Notified(number, at))
        self._output(
            {
                **record,
                "edit": house.log[number - 1].text,
                "edits": number - seen,
                "edited_at": rfc3339(house.log[seen].at),
                "told_at": rfc3339(at),
                "delay_seconds": round((at - house.log[seen].at) / SECOND, 3),
                "elapsed_seconds": elapsed,
            }
        )

    # -- scenes
    # ---------------------------------------------------------------------------------------

    def _note(self, kind: str, **more: Any) -> None:
        self._output(
            {"record": "note", "kind": kind, "elapsed_seconds": round(self._town.measure_elapsed(), 3), **more}
        )

    def _report_health(self, states: Mapping[str, PageState]) -> None:
        """Report once that a page cannot be read, and once that it can be again."""
        for name, house in self._town.houses.items():
            state = states[house.url]
            is_ill = state.failures > 0
            if is_ill and name not in self._ailing:
                self._ailing[name] = self._town.measure_elapsed()
                retry = max(0, (state.retry_at or 0) - self._clock.now()) / SECOND
                self._note("error", sentinel=name, error=state.kind, text=state.reason, retry_seconds=round(retry))
            elif not is_ill and name in self._ailing:
                away = self._town.measure_elapsed() - self._ailing.pop(name)
                self._note("recovered", sentinel=name, seconds=round(away, 1))

    def _report_fault(self) -> None:
        """Report once that the service itself has a fault."""
        if self._service.has_erred and not self._is_faulty:
            self._is_faulty = True
            self._note("fault", log=str(self._directory / "serve.log"))

    async def _kill(self, database: Database, stop: asyncio.Event) -> None:
        """Kill the service, wait a moment, and start it again."""
        self._killed, self._repeated_before = database.read(_count_stored), self._repeated
        pid, dead = self._service.pid, self._clock.now()
        await self._service.kill()
        self._note("killed", pid=pid)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), 1.0)
        self._edit()
        took = await self._service.start(stop)
        self._dead.append((dead, self._clock.now()))
        self._note("back", seconds=round(took, 2))

    def _report_losses(self, database: Database) -> None:
        """After a kill: compare with the state before, once everything that is stored has arrived
        as well.

        Raises `ServiceError` if something is missing.
        """
        before = self._killed
        if before is None:
            return
        now = database.read(_count_stored, check=True)
        missing = len(before.versions - now.versions) + len(before.changes - now.changes)
        if missing or now.faults:
            faults = "; ".join((*((f"{missing} versions or changes are missing",) if missing else ()), *now.faults))
            message = f"the kill has cost something: {faults}; please report it with {self._directory}"
            raise ServiceError(message)
        if before.changes <= self._arrived:
            self._killed = None
            self._note(
                "kept",
                versions=len(before.versions),
                changes=len(before.changes),
                repeated=self._repeated - self._repeated_before,
            )

    # -- the count
    # ------------------------------------------------------------------------------------

    def _summarise(self, database: Database, *, last: bool = False) -> None:
        stored = database.read(_count_stored)
        now = self._clock.now()
        town = self._town
        log = {name: tuple(house.log) for name, house in town.houses.items()}
        polls = {name: stored.polls[house.url] for name, house in town.houses.items()}
        reported = tally(log, self._tellings)

        def count_fixed(given: Mapping[str, int]) -> Tally:
            return count_fixed_interval(
                log,
                self._opening,
                polls=given,
                alive=self._alive(now),
                is_down=lambda place, at: town.trouble(place, at) is not None,
            )

        total = sum(polls.values())
        even = evenly(total, tuple(log))
        lived = sum(end - begin for begin, end in self._alive(now))
        self._output(
            {
                "record": "summary",
                "last": last,
                "elapsed_seconds": round(town.measure_elapsed(), 3),
                "changes": sum(map(len, log.values())),
                "looks": total,
                **_counts(reported),
                "overtaken": reported.overtaken,
                "waiting": reported.waiting,
                "quiet_versions": stored.quiet,
                "versions": len(stored.versions),
                "false_alarms": self._false_alarms,
                "repeated_messages": self._repeated,
                "fixed": {
                    "interval_seconds": round(lived / SECOND * len(even) / max(1, total), 2),
                    **_counts(count_fixed(even)),
                },
                "fixed_same_looks_per_page": _counts(count_fixed(polls)),
            }
        )

    def _alive(self, now: Instant) -> list[tuple[Instant, Instant]]:
        """Return the periods in which the service ran."""
        begins = [self._town.woke_at, *(end for _, end in self._dead)]
        ends = [*(begin for begin, _ in self._dead), now]
        return list(zip(begins, ends, strict=True))


def _counts(tally: Tally) -> Record:
    seconds = tally.median_seconds
    return {"told": tally.reported, "median_seconds": None if seconds is None else round(seconds, 3)}


def _instant(text: str) -> Instant:
    return round(datetime.fromisoformat(text).timestamp() * SECOND)


def _health(connection: Connection) -> dict[str, PageState]:
    return {identity.given: state for identity, state in pages.listing(connection)}


def _count_stored(connection: Connection, *, check: bool = False) -> StoredFacts:
    listed: Sequence[Any] = pages.listing(connection)
    found = changes.listing(connection, quiet=True)
    polls_of = Counter(row.page_id for row in polls.listing(connection))
    return StoredFacts(
        versions=frozenset((s.page_id, v.seq) for _, s in listed for v in versions.listing(connection, s.page_id)),
        changes=frozenset(change.row.id for change in found),
        reported_versions=frozenset((change.row.page_id, change.row.to_seq) for change in found),
        polls={identity.given: polls_of[state.page_id] for identity, state in listed},
        faults=tuple(invariants.check(connection)) if check else (),
    )
