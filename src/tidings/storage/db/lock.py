"""Who may poll and deliver: the lock of the poller's process, and its lease in the database
(contracts §2, F-24); and why the data directory cannot be written.

The lock is flock on `lock` in the data directory; the system drops it when its process ends. The
epoch of a lease rises at each acquisition.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from tidings import disk
from tidings.clock import DAY
from tidings.errors import ClaimLostError, PollerBusyError, StaleEpochError, StoreStalledError
from tidings.model.interval import Duration, Instant
from tidings.model.observed.unit import Claim
from tidings.record import dataclass
from tidings.storage.db.connection import Connection, from_json, to_json

LEAST_BYTES: Final = 64 * 1024
"""With less free space than this, no version and no large transaction can be stored."""
_TRIES = 20
_PAUSE_SECONDS = 0.005
_ROOM = 1_024


class PollerLock:
    """The right of one process to poll and deliver for a data directory.

    The file names the holder and what prevents it from working. It is emptied on release, so a
    crashed process leaves a trace. Its space is allocated from the start, so that it can be written
    on a full disk.
    """

    def __init__(self, data: Path) -> None:
        self._path = data / "lock"
        self._mark = data / "lease"
        self._file: int | None = None
        self.was_cut_off = False
        """whether the previous holder ended without releasing the lock; known once it is
        acquired
        """
        self.left_by = ""
        """the name that a crashed previous holder set with `mark`; empty in a copy of the
        directory
        """

    def acquire(self) -> bool:
        """Acquire the lock; return False if another process has it. Acquiring it twice is allowed.

        A reader (`holder`) locks the file for an instant, so a lock without a living holder is
        retried. Raises `StoreStalledError` if the file cannot be created or written.
        """
        if self._file is not None:
            return True
        try:
            return self._acquire()
        except OSError as error:
            raise StoreStalledError(
                f"{self._path} cannot be written: {error.strerror or error}; check free space, owner and permissions"
            ) from error

    def _acquire(self) -> bool:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for _ in range(_TRIES):
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                is_mine = disk.lock(handle)
                if self._is_current(handle):
                    if is_mine:
                        self.was_cut_off = bool(_read_pid(handle))
                        self.left_by = self._read_mark() if self.was_cut_off else ""
                        os.pwrite(handle, _content(""), 0)
                        os.fsync(handle)
                        self._file, handle = handle, -1
                        return True
                    if _is_alive(_read_pid(handle)):
                        break
            finally:
                if handle >= 0:
                    os.close(handle)
            time.sleep(_PAUSE_SECONDS)
        return False

    def take_over(self) -> bool:
        """Take the lock from a process that has hung; return False if another was quicker.

        The file is replaced: the old process keeps the lock of a file that nobody opens any more.
        The caller must fence its later writes: `acquire_lease` raises the epoch.
        """
        turn = os.open(self._path.with_name(f"{self._path.name}.turn"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            holder = self.holder()
            if holder is None or not disk.lock(turn) or self.holder() != holder:
                return False
            new = self._path.with_name(f"{self._path.name}.new")
            new.unlink(missing_ok=True)
            handle = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(handle, fcntl.LOCK_EX)
            os.pwrite(handle, _content(""), 0)
            os.fsync(handle)
            new.replace(self._path)
            self._file, self.was_cut_off = handle, True
        finally:
            os.close(turn)
        return True

    def _is_current(self, handle: int) -> bool:
        """Return whether an open file is still the one at the path: another process may have
        replaced it.
        """
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return False

    def publish(self, trouble: str) -> None:
        """Publish what prevents this process from working, "" for nothing; if the disk is too full
        even for that, publish nothing.
        """
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.pwrite(self._file, _content(trouble), 0)

    def trouble(self) -> str:
        """Return what prevents the holder from working, "" if nothing does or the lock is free."""
        try:
            handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return ""
        try:
            trouble_text = os.pread(handle, _ROOM, 0).decode(errors="replace").partition("\n")[2].strip()
        except OSError:
            return ""
        finally:
            os.close(handle)
        return trouble_text if trouble_text and self.holder() is not None else ""

    def holder(self) -> int | None:
        """Return the pid of the holder (0 if it has not written it yet), or None if the lock is
        free.
        """
        if self._file is not None:
            return os.getpid()
        try:
            handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            pid = _read_pid(handle)
            return None if disk.lock(handle, shared=True) else pid
        finally:
            os.close(handle)

    def mark(self, holder: str) -> None:
        """Store the name under which the lease is held, so that the next process can recognize the
        lease of a process that crashed here.
        """
        if self._file is not None:
            with contextlib.suppress(OSError):  # without it the next process waits for the lease
                self._mark.write_text(f"{os.fstat(self._file).st_ino} {holder}\n")

    def _read_mark(self) -> str:
        try:
            inode, _, holder = self._mark.read_text(errors="replace").strip().partition(" ")
            return holder if inode == str(self._path.stat().st_ino) else ""
        except OSError:
            return ""

    def release(self, *, cut_off: bool = False) -> None:
        """Release the lock if it is held; with `cut_off`, leave the trace of a crash, for
        `end_earlier_epochs`.
        """
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            if not cut_off:
                os.ftruncate(self._file, 0)
        os.close(self._file)
        self._file = None


def is_stopped(pid: int) -> bool:
    """Return whether a local process is stopped (SIGSTOP, Ctrl-Z, a debugger); False where the
    system cannot say.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] in (["T"], ["t"])


def _content(trouble: str) -> bytes:
    """Return the content of the file, always of one size."""
    return f"{os.getpid()}\n{' '.join(trouble.split())}".encode()[: _ROOM - 1].ljust(_ROOM - 1) + b"\n"


def _read_pid(handle: int) -> int:
    text = os.pread(handle, 32, 0).partition(b"\n")[0].strip()
    return int(text) if text.isdigit() else 0


def _is_alive(pid: int) -> bool:
    if not pid:
        return False
    with contextlib.suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True


def hindrance(data: Path) -> str:
    """Return why a directory cannot be written now: no space, no inodes, a read-only file system;
    "" if no reason is found.
    """
    try:
        left = os.statvfs(data)
    except FileNotFoundError:
        return ""  # it is created on demand
    except OSError as error:
        return error.strerror or str(error)
    if left.f_flag & os.ST_RDONLY:
        return "the file system is read-only"
    free = left.f_bavail if os.geteuid() else left.f_bfree  # root may use the reserved blocks
    if left.f_blocks and free * left.f_frsize < LEAST_BYTES:
        return "the disk is full"
    if left.f_files and not left.f_favail:
        return "the disk has no room for more files (no free inode)"
    return ""


def standstill(data: Path) -> str:
    """Return what prevents polls from being stored now: as the polling process reports it, else as
    the file system shows; "" for nothing.
    """
    if trouble := PollerLock(data).trouble():
        return trouble
    shown = hindrance(data)
    return f"nothing can be stored in {data}: {shown}" if shown else ""


POLLER: Final = "poller"
PLANNERS: Final = "a planner"
"""The holder of the lease of the poller while planners share the pages (`db.planners`)."""
PLANNER: Final = "planner:"
"""Begins the names of leases of planners; the epoch follows."""
ENDPOINT: Final = "endpoint:"
"""Begins the names of leases of endpoints; the number of the endpoint follows."""
ROLE: Final = "role:"
"""Begins the names of rows of processes; role and holder follow."""
REMEMBERED: Final[Duration] = DAY
"""How long a process that ended without notice is listed."""


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """A lease; `holder` is empty once it was released."""

    name: str
    holder: str
    epoch: int
    until: Instant


def current_lease(c: Connection, name: str) -> LeaseRow | None:
    """Return the current lease, or None if it was never acquired."""
    row = c.one("SELECT name, holder, epoch, until FROM lease WHERE name = :name", name=name)
    return None if row is None else LeaseRow(*row)


def acquire_lease(c: Connection, name: str, holder: str, *, at: Instant, until: Instant) -> int:
    """Acquire the lease until `until` and return its new epoch. Raise `PollerBusyError` while
    another holder's lease runs.

    Args:
        name: The name of the lease.
        holder: The process that acquires it.
        at: The present (µs).
        until: When it ends unless it is renewed (µs).
    """
    lease = current_lease(c, name)
    if lease is not None and lease.holder not in {"", holder} and lease.until > at:
        left = (lease.until - at) / 1_000_000
        raise PollerBusyError(
            f"{lease.holder} checks pages and sends messages here; its lease ends in {left:.1f} s if it is not "
            "renewed. Stop that process, or wait"
        )
    if name == POLLER:  # who has all pages to itself shuts out the planners that shared them
        c.execute("DELETE FROM lease WHERE name LIKE 'planner:%'")
    epoch: int = c.value(
        "INSERT INTO lease (name, holder, epoch, until) VALUES (:name, :holder, 1, :until)"
        " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, epoch = lease.epoch + 1, until = excluded.until RETURNING epoch",
        name=name,
        holder=holder,
        until=until,
    )
    return epoch


def shorten_lease(c: Connection, name: str, *, until: Instant) -> None:
    """End a lease no later than `until`: a later end was written by a clock that was ahead. The
    holder renews it.
    """
    c.execute("UPDATE lease SET until = :until WHERE name = :name AND until > :until", name=name, until=until)


def renew_lease(c: Connection, name: str, holder: str, epoch: int, *, until: Instant) -> None:
    """Prolong the lease. Raise `StaleEpochError` if another process has acquired it.

    Args:
        name: The name of the lease.
        holder: The process that holds it.
        epoch: The epoch with which it was acquired.
        until: The new end (µs).
    """
    text = "UPDATE lease SET until = :until WHERE name = :name AND holder = :holder AND epoch = :epoch"
    if not c.execute(text, name=name, holder=holder, epoch=epoch, until=until):
        raise StaleEpochError(f"the lease {name} of {holder} (epoch {epoch}) was taken over; this process stops")


def release_lease(c: Connection, name: str, holder: str, epoch: int) -> None:
    """Release the lease if it is still held; its epoch stays, so that the next one is higher.

    Args:
        name: The name of the lease.
        holder: The process that holds it.
        epoch: The epoch with which it was acquired.
    """
    text = "UPDATE lease SET holder = '', until = 0 WHERE name = :name AND holder = :holder AND epoch = :epoch"
    c.execute(text, name=name, holder=holder, epoch=epoch)


def check_epoch(c: Connection, epoch: int) -> None:
    """Raise `StaleEpochError` unless `epoch` is the poller's newest (0 before the first poller), or
    that of one of several planners.
    """
    epochs = c.rows(_EPOCHS, planner=f"{PLANNER}{epoch}")
    if (epoch, True) in [(each, name != POLLER or holder != PLANNERS) for name, holder, each in epochs]:
        return
    newest = next((each for name, _, each in epochs if name == POLLER), 0)
    if epoch or newest:
        raise StaleEpochError(f"epoch {epoch} is stale, the current one is {newest}; this process stops")


_EPOCHS = "SELECT name, holder, epoch FROM lease WHERE name IN ('poller', :planner)"


def list_epochs(c: Connection) -> set[int]:
    """Return the epochs whose holders may write."""
    rows = c.rows("SELECT name, holder, epoch FROM lease WHERE name = 'poller' OR name LIKE 'planner:%'")
    return {epoch for name, holder, epoch in rows if name != POLLER or holder != PLANNERS}


def server_time(c: Connection) -> Instant:
    """Return the time of PostgreSQL's server (µs), one for all machines."""
    return int(c.value("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"))


def list_claimed(c: Connection, holder: str) -> set[int]:
    """Return the endpoints that other holders have claimed now."""
    rows = c.rows(
        "SELECT name FROM lease WHERE name LIKE 'endpoint:%' AND holder <> '' AND holder <> :holder AND until > :at",
        holder=holder,
        at=server_time(c),
    )
    return {int(name[len(ENDPOINT) :]) for (name,) in rows}


def claim(c: Connection, endpoint_ids: Collection[int], holder: str, *, length: Duration) -> dict[int, Claim]:
    """Claim those of these endpoints that no other holder has claimed; return each with its claim.

    Args:
        endpoint_ids: The endpoints.
        holder: The process that claims them.
        length: How long the claims last unless they are renewed (µs, > 0).
    """
    taken, until = list_claimed(c, holder), server_time(c) + length
    found = {}
    for endpoint_id in endpoint_ids:
        if endpoint_id not in taken:
            name = f"{ENDPOINT}{endpoint_id}"
            found[endpoint_id] = Claim(name, acquire_lease(c, name, holder, at=until, until=until))
    return found


def drop_claim(c: Connection, claim: Claim, holder: str) -> None:
    """Release a claim, if it is still held."""
    release_lease(c, claim.name, holder, claim.epoch)


def is_claimed(c: Connection, claim: Claim) -> bool:
    """Return whether a claim is still the newest of its endpoint."""
    return bool(c.value("SELECT epoch FROM lease WHERE name = :name", name=claim.name) == claim.epoch)


def check_claim(c: Connection, claim: Claim) -> None:
    """Raise `ClaimLostError` unless a claim is still the newest of its endpoint."""
    if not is_claimed(c, claim):
        message = f"{claim.name} was taken over by another process, which sends its messages again"
        raise ClaimLostError(message)


def enrol(c: Connection, role: str, holder: str, *, length: Duration, note: Mapping[str, Any] | None = None) -> None:
    """Note that a process works in a role, and prolong its claims. Rows of processes that ended
    long ago are deleted.

    Args:
        role: Its role.
        holder: Its unique name.
        length: For how long it counts as working without another note (µs, > 0).
        note: What it has counted, as plain JSON.
    """
    at = server_time(c)
    c.execute(
        "INSERT INTO lease (name, holder, epoch, until, note) VALUES (:name, :holder, 0, :until, :note)"
        " ON CONFLICT (name) DO UPDATE SET until = excluded.until, note = excluded.note",
        name=f"{ROLE}{role}:{holder}",
        holder=holder,
        until=at + length,
        note=to_json(dict(note)) if note else "",
    )
    c.execute(
        "UPDATE lease SET until = :until WHERE holder = :holder AND name LIKE 'endpoint:%'",
        holder=holder,
        until=at + length,
    )
    c.execute("DELETE FROM lease WHERE name LIKE 'role:%' AND until < :before", before=at - REMEMBERED)


def retire(c: Connection, holder: str) -> None:
    """Release all claims of a process and delete its rows: it ends, or is known to be dead."""
    c.execute(
        "UPDATE lease SET holder = '', until = 0 WHERE holder = :holder AND name LIKE 'endpoint:%'", holder=holder
    )
    c.execute("DELETE FROM lease WHERE holder = :holder AND name LIKE 'role:%'", holder=holder)


def list_machines(c: Connection) -> set[str]:
    """Return the names of the machines that note their work on this database; none for one in a
    data directory. Those that only fetch need no secret and are left out.
    """
    if c.dialect == "sqlite":
        return set()
    rows = c.rows("SELECT name, holder FROM lease WHERE name LIKE 'role:%' AND until > :now", now=server_time(c))
    return {holder.partition(":")[0] for name, holder in rows if not name.startswith(f"{ROLE}poller:")}


def list_notes(c: Connection) -> list[tuple[LeaseRow, Mapping[str, Any]]]:
    """Return the processes that have noted what they count, by name."""
    rows = c.rows(
        "SELECT name, holder, epoch, until, note FROM lease WHERE name LIKE 'role:%' AND note <> '' ORDER BY name"
    )
    return [(LeaseRow(*row[:4]), from_json(row[4])) for row in rows]


def listing(c: Connection) -> list[LeaseRow]:
    """Return all leases and rows of processes, by name."""
    return [LeaseRow(*row) for row in c.rows("SELECT name, holder, epoch, until FROM lease ORDER BY name")]
