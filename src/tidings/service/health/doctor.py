"""Doctor: check the installation, one line per finding, with the command that fixes it.

`examine` never raises for what it finds: a missing, damaged or newer database is itself a finding,
and one that is partly unreadable is read as far as possible. Beside troubles there is advice:
whether what sentinels ask for is feasible (`promises`), and the state of the budget `classes`.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lxml import etree

from tidings.archive.files import is_file_name
from tidings.bus.bus import hide
from tidings.bus.buses import open_bus
from tidings.clock import DAY, SECOND
from tidings.errors import (
    BusError,
    SettingError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreLostError,
    StoreMissingError,
    StoreNewerError,
    TidingsError,
    spell_install,
)
from tidings.model.interval import Instant
from tidings.model.observed.version import Blob
from tidings.model.watch.sentinel import WHOLE, FetchEvery
from tidings.record import dataclass
from tidings.service.explain import plan_summary
from tidings.service.explain.plan_summary import list_budgets, render_cost
from tidings.service.health import machine, sources
from tidings.service.health.intents import meaning_of
from tidings.service.health.machine import Usage, Version, quote
from tidings.service.secrets import secrets
from tidings.service.show.finding import Finding, fail, ok, shorten, spell_count, spell_length, spell_since, warn
from tidings.service.sources import websub
from tidings.service.watch.watchlist import Subscription, WatchedSentinel
from tidings.settings import Settings
from tidings.storage.db import lock
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import REVISIONS, Database, open_database, quick_check, sqlite_in_use
from tidings.storage.db.restored import PUT_BACK
from tidings.storage.observed import pages, versions
from tidings.storage.secrets import Vault
from tidings.storage.watches import sentinels, subscriptions
from tidings.storage.write import invariants

if TYPE_CHECKING:
    from tidings.model.interval import Duration
    from tidings.scheduling.admission import Admission
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.storage.watches.subscriptions import SubscriptionRow

Restore = Callable[[str, Callable[[str], Blob | None]], bytes]
"""`Archive.restore`: the verified body of a hash, given a function that finds rows."""

UNREADABLE = (TidingsError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError, OSError)
"""What reading a damaged database raises: our own errors, or those of invalid rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The versions in use: Python, SQLite and its mode, libxml2, the libraries with a floor
    (`machine.list_installed`).
    """

    python: Version
    sqlite: Version
    single_writer: bool
    libxml2: Version
    libraries: Mapping[str, Version]


def get_installed() -> Installed:
    """Return the versions of this process."""
    version, single_writer = sqlite_in_use()
    return Installed(
        python=tuple(sys.version_info[:3]),
        sqlite=version,
        single_writer=single_writer,
        libxml2=etree.LIBXML_VERSION,
        libraries=machine.list_installed(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _CheckInput:
    """The input of the checks of an open database."""

    settings: Settings
    database: Database
    now: Instant
    polling: bool
    restore: Restore | None


def attempt(settings: Settings) -> tuple[Database | None, Exception | None]:
    """Open the database of a data directory, or return the error. Creates nothing."""
    try:
        return open_database(settings, create=False), None
    except UNREADABLE as error:
        return None, error


def examine(
    settings: Settings,
    database: Database | None,
    *,
    now: Instant,
    installed: Installed,
    refusal: Exception | None = None,
    restore: Restore | None = None,
    usage: Callable[[Path], Usage] = shutil.disk_usage,
) -> Iterator[Finding]:
    """Yield all findings, good and bad, from the machine up.

    `database` and `refusal` are the result of `attempt`.

    Args:
        settings: The settings in use.
        database: The open database; None if it cannot be opened.
        now: Wall time (µs).
        installed: The versions of this process.
        refusal: Why the database cannot be opened.
        restore: Restores a body, which is verified by its hash; None: only its presence is checked.
        usage: Returns the space of a disk, for tests.
    """
    yield machine.python(installed.python)
    yield from machine.libraries(installed.libraries, libxml2=installed.libxml2)
    yield from machine.list_ignored(settings)
    if database is not None and database.dialect != "sqlite":
        yield ok("database", f"PostgreSQL, schema {REVISIONS[-1]}: {database.where}")
    else:
        yield machine.sqlite(
            installed.sqlite, single_writer=installed.single_writer if database is None else database.single_writer
        )
    yield machine.space(settings.data, usage)
    holder, finding = machine.lock_holder(settings.data)
    yield finding
    if settings.bus.url:
        yield _reach_bus(settings)
    if database is None:
        yield explain_refusal(settings, refusal)
        return
    given = _CheckInput(
        settings=settings, database=database, now=now, polling=_is_polling(database, holder, now), restore=restore
    )
    if database.dialect == "sqlite":
        yield ok("database", f"{database.where}, schema {REVISIONS[-1]}")
    for what, check in CHECKS.items():
        yield from _guard(what, check, given)


def _reach_bus(settings: Settings) -> Finding:
    """Return whether the bus to the pollers answers."""

    async def send() -> None:
        bus = open_bus(settings.bus)
        try:
            await bus.send("doctor", b"")
        finally:
            await bus.close()

    try:
        asyncio.run(send())
    except (BusError, SettingError) as error:
        return fail(
            "bus", f"{error}; no page is checked meanwhile", "tidings settings bus  # and see that its server runs"
        )
    return ok("bus", f"{hide(settings.bus.url)} answers")


def _is_polling(database: Database, holder: int | None, now: Instant) -> bool:
    """Return whether a process polls: by the lock on one machine, by the lease with PostgreSQL."""
    if database.dialect == "sqlite":
        return holder is not None
    try:
        lease = database.read(lock.current_lease, lock.POLLER)
    except UNREADABLE:
        return False
    return lease is not None and bool(lease.holder) and lease.until >= now


def explain_refusal(settings: Settings, refusal: Exception | None) -> Finding:
    """Return why the database cannot be opened, and how to fix that."""
    data = settings.data
    if isinstance(refusal, StoreMissingError) and _is_unused(data):
        return warn("database", f"{data} has no database yet", "tidings add --url URL")
    mend = put_back(settings)
    match refusal:
        case StoreNewerError():
            mend = spell_install()
        case StoreBusyError():
            mend = "tidings doctor  # again; or stop the process that holds it"
        case StoreLostError():
            mend = "tidings settings store  # store.url; check that PostgreSQL runs and accepts the connection"
        case StoreMissingError() | StoreDamagedError():
            pass
        case StoreError() | OSError():
            mend = f"ls -la {quote(data)}; df -h {quote(data)}"
    return fail("database", _spell(refusal), mend)


def _spell(error: Exception | None) -> str:
    """Return an error's message; for a foreign error, with its type."""
    if isinstance(error, TidingsError | OSError):
        return str(error)
    return f"its content is invalid ({type(error).__name__}: {error})"


def put_back(settings: Settings) -> str:
    """Return how to restore a backup in place of the database."""
    if settings.store.url:
        return "restore the server's own backup: pg_restore --clean --dbname=…"
    return f"{PUT_BACK}  # with Tidings stopped; `tidings backup` wrote the file"


def _is_unused(data: Path) -> bool:
    """Return whether the directory holds nothing but a configuration."""
    try:
        return all(path.name == "tidings.toml" for path in data.iterdir())
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _guard(what: str, check: Callable[[_CheckInput], Iterator[Finding]], given: _CheckInput) -> Iterator[Finding]:
    try:
        yield from check(given)
    except StoreBusyError as error:
        yield warn(what, str(error), "tidings doctor  # again")
    except UNREADABLE as error:
        yield fail(what, f"cannot be read: {_spell(error)}", put_back(given.settings))


def _whole(given: _CheckInput) -> Iterator[Finding]:
    mend = put_back(given.settings)
    faults = [fail("quick check", fault, mend) for text in quick_check(given.database) for fault in text.splitlines()]
    yield from shorten(faults, mend=mend)
    if not faults:
        yield ok("quick check", "the database found no fault")


def _bodies(given: _CheckInput) -> Iterator[Finding]:
    blobs, named = given.database.read(_list_bodies)
    lost = [
        fail("blob", f"the body {sha256} is named, but missing", put_back(given.settings))
        for sha256 in sorted(named - blobs.keys())
    ]
    lost += [
        fail("blob", f"blobs/{b.file} is missing, with the body {b.sha256}", _put_back_blob(given, b))
        for b in _without_file(given, blobs)
    ]
    files = sum(1 for blob in blobs.values() if blob.file is not None)
    if not lost and given.restore is not None:
        lost = _not_restored(given, blobs, given.restore)
    yield from shorten(lost, mend=put_back(given.settings))
    if not lost:
        verified = "restored and verified by its hash" if given.restore is not None else "there (--deep verifies them)"
        yield ok(
            "blobs",
            f"{spell_count(len(blobs), 'body', 'bodies')}, {spell_count(files, 'file')} under blobs/, each {verified}",
        )


def _list_bodies(c: Connection) -> tuple[dict[str, Blob], set[str]]:
    return {blob.sha256: blob for blob in versions.blobs(c)}, versions.list_referenced(c)


def _put_back_blob(given: _CheckInput, blob: Blob) -> str:
    if blob.file is None or not is_file_name(blob.file):
        return put_back(given.settings)
    return f"tar -xf BACKUP -C {quote(given.settings.data)} blobs/{blob.file}"


def _without_file(given: _CheckInput, blobs: Mapping[str, Blob]) -> list[Blob]:
    """Return the blobs without their file; rows are read again, since a poller may have replaced
    rows and files meanwhile.
    """
    if all(_has_file(given, blob) for blob in blobs.values()):
        return []
    again, _ = given.database.read(_list_bodies)
    return [blob for blob in again.values() if not _has_file(given, blob)]


def _has_file(given: _CheckInput, blob: Blob) -> bool:
    if blob.file is None:
        return True
    return is_file_name(blob.file) and (given.settings.data / "blobs" / blob.file).is_file()


def _not_restored(given: _CheckInput, blobs: Mapping[str, Blob], restore: Restore) -> list[Finding]:
    """Restore every body, each right after its delta base, so that each is decoded once."""
    found = []
    for sha256 in _by_chain(blobs):
        try:
            _restore(given, sha256, restore)
        except UNREADABLE as error:
            found.append(fail("blob", _spell(error), put_back(given.settings)))
    return found


def _restore(given: _CheckInput, sha256: str, restore: Restore) -> None:
    def lookup(name: str) -> Blob | None:
        return given.database.read(versions.blob, name)

    try:
        restore(sha256, lookup)
    except TidingsError:
        # The poller may just have rewritten or deleted it.
        if lookup(sha256) is not None:
            restore(sha256, lookup)


def _by_chain(blobs: Mapping[str, Blob]) -> Iterator[str]:
    """Yield whole bodies, each followed by the deltas on it, then those whose base is missing."""
    leaning: dict[str, list[str]] = {}
    for blob in blobs.values():
        leaning.setdefault(blob.base, []).append(blob.sha256)
    left = dict.fromkeys(blobs)
    stack = leaning.get("", [])[::-1]
    while stack:
        sha256 = stack.pop()
        if sha256 in left:
            del left[sha256]
            yield sha256
            stack += leaning.get(sha256, ())
    yield from left


def _lease(given: _CheckInput) -> Iterator[Finding]:
    lease = given.database.read(lock.current_lease, lock.POLLER)
    if lease is None or not lease.holder or given.polling:
        yield from _source(given, "lease")
    else:
        detail = (
            f"{lease.holder} ended without releasing its lease, which lasts until {spell_since(lease.until, given.now)}"
        )
        yield warn("lease", detail, "tidings serve  # or `tidings check`: the next process takes it over")


def _invariants(given: _CheckInput) -> Iterator[Finding]:
    mend = put_back(given.settings)
    faults = [fail("invariant", fault, mend) for fault in given.database.read(invariants.check)]
    yield from shorten(faults, mend=mend)
    if not faults:
        yield ok("invariants", "all hold")


def _source(given: _CheckInput, name: str) -> Iterator[Finding]:
    """Yield the findings of one source of `health`; sources are read separately, so that one
    unreadable source stops no other.
    """
    yield from given.database.read(
        lambda c: list(sources.findings(c, name, given.settings, now=given.now, is_polled=given.polling))
    )


def _health(given: _CheckInput, check: Callable[..., Iterator[Finding]], **more: object) -> Iterator[Finding]:
    yield from given.database.read(lambda c: list(check(c, **more)))


CHECKS: Final[Mapping[str, Callable[[_CheckInput], Iterator[Finding]]]] = {
    "quick check": _whole,
    "blobs": _bodies,
    "invariants": _invariants,
    "secrets": lambda given: _health(given, secrets.findings, vault=Vault(given.settings.data)),
    "lease": _lease,
    "browser": lambda given: _health(given, machine.findings, settings=given.settings),
    "intervals": lambda given: _health(given, promises, settings=given.settings),
    "budget": lambda given: _health(given, plan_summary.findings, now=given.now),
    "class": lambda given: _health(given, classes, settings=given.settings, now=given.now),
    "hubs": lambda given: _health(given, websub.findings),
    **{name: partial(_source, name=name) for name in sources.SOURCES if name not in {"lease", "secrets"}},
}
"""Every check of an open database, in the order of the output."""


def promises(c: Connection, *, settings: Settings) -> Iterator[Finding]:
    """Yield whether all polls at fixed intervals can be made in time, within the budget and the
    hosts' limits.
    """
    asked = list(_list_promised(c, settings))
    if not asked:
        yield ok("intervals", "no page is checked at a fixed interval")
        return
    admissions = list(_admissions(asked, settings))
    found = [
        warn("intervals", f"{where} cannot have all checks in time: {_spell_load(admission)}", mend)
        for where, mend, admission in admissions
        if not admission.holds
    ]
    yield from shorten(found, mend="tidings plan")
    if not found:
        whole = admissions[0][2]
        yield ok("intervals", f"all can be kept: {spell_count(len(asked), 'page')}, {whole.load:.0%} of the budget")


def _list_promised(c: Connection, settings: Settings) -> Iterator[tuple[str, Duration, float]]:
    """Yield host, interval and cost of each page with a fixed interval, its shortest."""
    owners = {row.id: row for row in sentinels.listing(c)}
    identities = {state.page_id: identity for identity, state in pages.population(c)}
    floor = round(settings.fetch.page_floor_seconds * SECOND)
    shortest: dict[int, Duration] = {}
    for sub in subscriptions.listing(c, active=True):
        loaded = _load(sub, owners[sub.sentinel_id])
        if loaded is not None and isinstance(loaded.interval, FetchEvery) and sub.page_id in identities:
            interval = max(loaded.interval.interval, floor)
            shortest[sub.page_id] = min(interval, shortest.get(sub.page_id, interval))
    dear = render_cost(settings)
    for page_id, interval in shortest.items():
        identity = identities[page_id]
        yield identity.host, interval, dear if identity.render else 1.0


def _admissions(
    asked: Sequence[tuple[str, Duration, float]], settings: Settings
) -> Iterator[tuple[str, str, Admission]]:
    """Yield for the budget, and for each host with a gap, the remedy and whether its polls fit (bid
    §7).
    """
    import numpy as np  # only needed with such pages: doctor starts quickly

    from tidings.scheduling.admission import admit

    intervals, costs = np.array([i for _, i, _ in asked]), np.array([cost for *_, cost in asked])
    yield (
        "the budget",
        "raise budget.polls_per_day, or longer intervals",
        admit(intervals, costs, settings.budget.polls_per_day / DAY),
    )
    gap = round(settings.fetch.host_gap_seconds * SECOND)
    if not gap:
        return
    by_host: dict[str, list[Duration]] = {}
    for host, interval, _ in asked:
        by_host.setdefault(host, []).append(interval)
    for host, own in sorted(by_host.items()):
        yield (
            host,
            "longer intervals, or a smaller fetch.host_gap_seconds if the site is yours",
            admit(np.array(own), np.ones(len(own)), 1 / gap),
        )


def _spell_load(admission: Admission) -> str:
    if admission.load > 1:
        return f"they are {admission.load:.1f} times what it takes"
    return f"in {spell_length(admission.stretch)} they are {admission.worst:.1f} times what it takes"


def classes(c: Connection, *, settings: Settings, now: Instant) -> Iterator[Finding]:
    """Yield the state of the budget classes."""
    found = [state for state in list_budgets(c, settings, now=now) if state.name != WHOLE]
    yield from (ok("class", f"{state.name}: {state}") for state in found)
    if not found:
        yield ok("class", "none is defined: all checks share one budget")


def _load(sub: SubscriptionRow, owner: SentinelRow) -> Subscription | None:
    """Return a subscription with its parsed sentinel, None if its text cannot be read."""
    sentinel = meaning_of(owner)
    return None if sentinel is None else Subscription(sub, WatchedSentinel(owner, sentinel, {}))
