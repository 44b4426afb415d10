"""Damaged data directories: flipped bits, zeroed pages and truncated files, by seed, and the
outcome of starting a service on them.

```
made = Made(folder, server)  # pages with some versions, small and as files, stopped as a kill leaves it
outcome = try_damage(made, folder / "1", seed=1)
```
A service must refuse with the way out, or go on; if what is stored says something else than before, whoever is concerned is notified.
"""

from __future__ import annotations

import asyncio
import logging
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes import WebServer
from tests.world import World
from tidings.clock import HOUR
from tidings.errors import TidingsError
from tidings.storage.db.sqlite import sqlite3  # type: ignore[attr-defined]  # the library that Tidings itself uses

PAGES = 5
REPORTED = frozenset({"data.damaged", "page.error", "comparison.given_up", "problem.unit", "problem.rule"})
"""Events that say that something was lost."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a damage: `refused` with its text, `told`, `harmless` (nothing stored says anything else), or `silent`, `traceback`."""

    seed: int
    damage: str
    what: str
    text: str = ""


class Made:
    """A data directory to be damaged, and the web that it watches."""

    def __init__(self, folder: Path, server: WebServer) -> None:
        self.server = server
        self.world = World(folder / "made", server, store__blob_file_bytes="500", store__chain_length="4")
        hook = self.world.receiver()
        for number in range(PAGES):
            self.world.page(f"/{number}", body(number, 0))
        self.world.add(
            ";".join(
                f"Create Sentinel s{n} Using {{/{n}}} Monitor any change Fetch every 1 hour Notify By webhook {hook} immediate"
                for n in range(PAGES)
            )
        )
        asyncio.run(self._live())
        self.rows = _content(self.world.directory / "tidings.db")

    async def _live(self) -> None:
        async with self.world.monitor() as monitor:
            for edition in range(1, 5):
                await self.world.settle(monitor)
                for number in range(PAGES):
                    self.world.page(f"/{number}", body(number, edition))
                self.world.clock.advance(HOUR)

    def copy(self, folder: Path) -> World:
        """Return a copy, as a process that was killed would leave it."""
        shutil.copytree(self.world.directory, folder)
        (folder / "lock").write_text("99999999\n")
        world = World(folder, self.server, store__blob_file_bytes="500", store__chain_length="4")
        world.clock.move_to(self.world.clock.now())
        return world


def body(number: int, edition: int) -> str:
    """Return what a page shows."""
    rng = random.Random(f"{number}")
    words = " ".join(f"w{rng.getrandbits(30):x}" for _ in range(60 if number % 2 else 300))
    return f"<title>Page {number}</title><p>edition {edition} of page {number}</p><p>{words}</p>"


def _content(path: Path) -> dict[str, list[Any]] | None:
    """Return all rows of all tables, None if they cannot be read."""
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    connection.text_factory = bytes
    try:
        names = [row[0].decode() for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: sorted(map(repr, connection.execute(f"SELECT * FROM {name} NOT INDEXED"))) for name in names}
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    finally:
        connection.close()


# -- ways of damage ------------------------------------------------------------------------------------------------------------


def _flip(path: Path, rng: random.Random, count: int, *, start: int = 0, end: int | None = None) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(count):
        place = rng.randrange(start, len(data) if end is None else min(end, len(data)))
        data[place] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def _flips(count: int) -> Callable[[Path, random.Random], str]:
    def flips(data: Path, rng: random.Random) -> str:
        _flip(data / "tidings.db", rng, count)
        return f"{count} bits"

    return flips


def _header(data: Path, rng: random.Random) -> str:
    _flip(data / "tidings.db", rng, 1, end=100)
    return "a bit of the header"


def _cut(data: Path, rng: random.Random) -> str:
    path = data / "tidings.db"
    size = rng.randrange(path.stat().st_size)
    with path.open("r+b") as file:
        file.truncate(size)
    return f"cut at {size}"


def _zero(data: Path, rng: random.Random) -> str:
    path = data / "tidings.db"
    page = rng.randrange(1, path.stat().st_size // 4096)
    with path.open("r+b") as file:
        file.seek(page * 4096)
        file.write(bytes(4096))
    return f"page {page} zeroed"


def _garbage_wal(data: Path, rng: random.Random) -> str:
    (data / "tidings.db-wal").write_bytes(rng.randbytes(rng.choice((1, 32, 5_000, 100_000))))
    return "a garbage WAL"


def _blob(data: Path, rng: random.Random) -> str:
    files = sorted(path for path in (data / "blobs").rglob("*") if path.is_file())
    path = rng.choice(files)
    way = rng.choice(("missing", "short", "flipped", "empty"))
    if way == "missing":
        path.unlink()
    elif way == "flipped":
        _flip(path, rng, 1)
    else:
        path.write_bytes(path.read_bytes()[: 0 if way == "empty" else rng.randrange(path.stat().st_size)])
    return f"a blob file {way}"


_VALUES = (
    ("page", "headers"), ("page", "body"), ("page", "polled_at"), ("page", "failures"), ("subscription", "taken"), ("subscription", "missing"),
    ("subscription", "remembered"), ("subscription", "next_tick"), ("sentinel_revision", "text"), ("estimate", "state"), ("event", "data"),
    ("change", "edits"), ("version", "headers"), ("digest", "objects"), ("host", "started_at"),
)  # fmt: skip


def _value(data: Path, rng: random.Random) -> str:
    table, column = rng.choice(_VALUES)
    value = rng.choice(('{"', "[[[", "null", "[1, {}]", "\x00\x01", "nonsense"))
    with sqlite3.connect(data / "tidings.db") as connection:
        row = connection.execute(f"SELECT min(rowid) FROM {table}").fetchone() if table != "event" else (None,)
        where = "rowid = :row" if row[0] is not None else "1 = 1"
        connection.execute(f"UPDATE {table} SET {column} = :value WHERE {where}", {"value": value, "row": row[0]})
    connection.close()
    return f"{table}.{column} = {value!r}"


WAYS: tuple[Callable[[Path, random.Random], str], ...] = (
    _flips(1), _flips(20), _flips(200), _header, _cut, _zero, _garbage_wal, _blob, _value, _value,
)  # fmt: skip


# -- what becomes of it ----------------------------------------------------------------------------------------------------------


def try_damage(made: Made, folder: Path, *, seed: int) -> Outcome:
    """Damage a copy, start the service on it, let all pages change once, and return what became of that."""
    rng = random.Random(f"damage {seed}")
    world = made.copy(folder)
    damage = WAYS[seed % len(WAYS)](folder, rng)
    after = _content(folder / "tidings.db")
    for number in range(PAGES):
        world.page(f"/{number}", body(number, 100 + seed))
    tracebacks: list[str] = []
    handler = _Tracebacks(tracebacks)
    logging.getLogger().addHandler(handler)
    try:
        asyncio.run(_start(world))
    except TidingsError as error:
        is_helpful = any(
            word in str(error) for word in ("doctor", "restore --replace BACKUP", "put a copy", "put back")
        )
        return Outcome(seed, damage, "refused" if is_helpful else "refused without a way out", str(error))
    except Exception as error:  # noqa: BLE001 - what a user would see as a traceback
        return Outcome(seed, damage, "traceback", f"{type(error).__name__}: {error}")
    finally:
        logging.getLogger().removeHandler(handler)
    if tracebacks:
        return Outcome(seed, damage, "traceback", tracebacks[0])
    reported = [event for event in world.read(_events) if event in REPORTED]
    if reported:
        return Outcome(seed, damage, "told", ", ".join(sorted(set(reported))))
    if after == made.rows and "blob" not in damage:
        return Outcome(seed, damage, "harmless")
    if "blob" in damage and not world.violations():
        return Outcome(seed, damage, "harmless")
    return Outcome(seed, damage, "silent", _difference(made.rows, after))


def _events(connection: Any) -> list[str]:
    """Return the types of all events; their data may be what was damaged."""
    return [row[0] for row in connection.rows("SELECT type FROM event")]


async def _start(world: World) -> None:
    async with world.monitor() as monitor:
        await asyncio.wait_for(world.pass_time(monitor, HOUR), 60)


def _difference(before: dict[str, list[Any]] | None, after: dict[str, list[Any]] | None) -> str:
    if before is None or after is None:
        return "not readable"
    names = [name for name in before if before[name] != after.get(name)]
    return ", ".join(names)


class _Tracebacks(logging.Handler):
    def __init__(self, found: list[str]) -> None:
        super().__init__()
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        """Note a record that would print a traceback."""
        if record.exc_info:
            self._found.append(logging.Formatter().format(record)[-1500:])
