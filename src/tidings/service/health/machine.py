"""What Tidings runs on: Python, libraries, SQLite, free space, the lock, a browser to render pages.
None of it needs an intact database.

Versions below a floor have vulnerabilities that the rest of the code relies on being fixed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from tidings.errors import spell_install
from tidings.fetching.browser import chromium
from tidings.service.show.finding import Finding, fail, ok, spell_bytes, spell_count, warn
from tidings.storage.db.lock import PollerLock
from tidings.storage.observed import pages

if TYPE_CHECKING:
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection

Version = tuple[int, ...]

PYTHON_FLOOR: Final[Version] = (3, 11)
LIBXML2_FLOOR: Final[Version] = (2, 14)
"""The first version in which libxml2 limits entities by itself."""
LIBRARY_FLOORS: Final[Mapping[str, Version]] = {
    "aiohttp": (3, 14),
    "brotli": (1, 2),
    "lxml": (6,),
    "selectolax": (1, 0, 2),
}
BORROWED_FLOORS: Final[Mapping[str, Version]] = {"urllib3": (2, 6, 3)}
"""Indirect dependencies: no fault if they are missing."""

LEAST_FREE_BYTES: Final = 100 * 10**6
LOW_FREE_BYTES: Final = 2**30
LOW_FREE_SHARE: Final = 0.05

SAFE_SQLITE: Final = "SQLite 3.51.3 or later (or 3.50.7, 3.44.6 of their lines)"


class Usage(Protocol):
    """Bytes of a file system, as `shutil.disk_usage` returns them."""

    @property
    def total(self) -> int:
        """Return its size."""
        ...

    @property
    def free(self) -> int:
        """Return the free bytes."""
        ...


def python(version: Version) -> Finding:
    """Return whether this Python version is supported."""
    if version < PYTHON_FLOOR:
        return fail("python", f"{spell(version)} is older than {spell(PYTHON_FLOOR)}", "PYTHON=python3.13 script/setup")
    return ok("python", spell(version))


def list_installed() -> dict[str, Version]:
    """Return the installed versions of the libraries with a floor."""
    found: dict[str, Version] = {}
    for name in (*LIBRARY_FLOORS, *BORROWED_FLOORS):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = read_version(metadata.version(name))
    return found


def libraries(found: Mapping[str, Version], *, libxml2: Version) -> Iterator[Finding]:
    """Yield a finding for each library that is missing or below its floor, or one that all are
    fine.
    """
    faults = []
    for name, floor in {**LIBRARY_FLOORS, **BORROWED_FLOORS}.items():
        mend = f'python -m pip install "{name}>={spell(floor)}"'
        if name not in found:
            if name in LIBRARY_FLOORS:
                faults.append(fail("library", f"{name} is not installed", mend))
        elif found[name] < floor:
            faults.append(
                fail(
                    "library",
                    f"{name} {spell(found[name])} is older than {spell(floor)}, which fixes known vulnerabilities",
                    mend,
                )
            )
    if libxml2 < LIBXML2_FLOOR:
        detail = f"lxml uses libxml2 {spell(libxml2)}; from {spell(LIBXML2_FLOOR)} on it limits the size of entities"
        faults.append(warn("library", detail, 'python -m pip install --force-reinstall --only-binary lxml "lxml>=6"'))
    yield from faults or [ok("libraries", f"{len(found) + 1} with known minimum versions, none older")]


def list_ignored(settings: Settings) -> Iterator[Finding]:
    """Yield the settings of earlier versions that are still given."""
    for name in settings.ignored:
        yield warn("settings", f"{name} is no longer a setting and has no effect", "remove it")


def sqlite(version: Version, *, single_writer: bool) -> Finding:
    """Return the mode in which this SQLite is used: older ones can corrupt a WAL under two writers
    (contracts §2).
    """
    if single_writer:
        detail = (
            f"{spell(version)} is safe with only one writing process: while a service runs, commands that write are "
            f"refused; {SAFE_SQLITE} has no such limit"
        )
        return warn(
            "sqlite",
            detail,
            "python -m pip install pysqlite3  # if there is a wheel; otherwise use a Python with a newer SQLite",
        )
    return ok("sqlite", f"{spell(version)}, several processes may write")


def space(data: Path, usage: Callable[[Path], Usage]) -> Finding:
    """Return the free space of the data directory."""
    place = next(folder for folder in (data, *data.absolute().parents) if folder.exists())
    try:
        left = usage(place)
    except OSError as error:
        return warn(
            "space", f"{place} does not report its free space: {error.strerror or error}", f"df -h {quote(place)}"
        )
    share = left.free / left.total if left.total else 0.0
    detail = f"{spell_bytes(left.free)} free at {place} ({share:.0%})"
    mend = f"df -h {quote(place)}; free some space, or use another directory with --data"
    if left.free < LEAST_FREE_BYTES:
        return fail("space", detail, mend)
    if left.free < LOW_FREE_BYTES or share < LOW_FREE_SHARE:
        return warn("space", detail, mend)
    return ok("space", detail)


def lock_holder(data: Path) -> tuple[int | None, Finding]:
    """Return the process that holds the poller's lock (None: none) and the finding about it."""
    path = data / "lock"
    try:
        holder = PollerLock(data).holder()
    except OSError as error:
        return None, warn(
            "lock", f"{path} cannot be opened: {error.strerror or error}", f"ls -l {quote(path)}  # who owns it?"
        )
    if holder is None:
        return None, ok("lock", "free: no process checks pages with this data directory")
    if not holder:
        return holder, ok("lock", "a process is about to take it")
    if trouble := PollerLock(data).trouble():
        return holder, fail(
            "lock", f"process {holder} checks pages, but hangs: {trouble}", f"df -h {quote(data)}; ls -la {quote(data)}"
        )
    if is_alive(holder):
        return holder, ok("lock", f"process {holder} checks pages and sends messages")
    detail = (
        f"locked, but process {holder}, which locked it, is not visible: it left a child process, or runs in another "
        "container"
    )
    return holder, warn("lock", detail, f"fuser -v {quote(path)}  # then stop the named process")


def is_alive(pid: int) -> bool:
    """Return whether a process with that id exists."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def read_version(text: str) -> Version:
    """Return the leading numbers of a version: 3.1.6rc1 is (3, 1, 6)."""
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def spell(version: Version) -> str:
    """Return a version with dots."""
    return ".".join(map(str, version))


def quote(path: Path) -> str:
    """Return a path quoted for a shell."""
    return shlex.quote(str(path))


MEND = f"apt-get install chromium; {spell_install('browser')}"
NO_SANDBOX = "as root it runs without its sandbox"


def findings(c: Connection, *, settings: Settings) -> Iterator[Finding]:
    """Yield whether the browser and the extra are installed; a fault only if a page needs them."""
    rendered = sum(1 for identity, _ in pages.population(c) if identity.render)
    missing = chromium.lack(settings.fetch)
    needs = f"{spell_count(rendered, 'page')} {'is' if rendered == 1 else 'are'} rendered"
    if missing:
        yield fail("browser", f"{needs}, but {missing}", MEND) if rendered else ok("browser", f"not needed; {missing}")
        return
    found = f"{chromium.find(settings.fetch)}, by playwright {metadata.version('playwright')}"
    if not chromium.is_root():
        yield ok("browser", f"{found}; {needs}")
    elif rendered:
        yield warn("browser", f"{found}; {needs}, and {NO_SANDBOX}", "run Tidings as a user of its own")
    else:
        yield ok("browser", f"{found}; not needed ({NO_SANDBOX})")
