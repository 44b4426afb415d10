"""A process that writes to a store until it is done or killed, and prints what is durable.

`python -m tests.store_child secrets DATA URL NAME COUNT` writes `COUNT` secrets, a transaction each.
`python -m tests.store_child units DATA URL` takes the lease and commits charged polls of page 1, each with a version and news.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from tests.stores import World
from tidings.settings import Settings, StoreSettings
from tidings.storage import secrets
from tidings.storage.db.database import open_database


def write_secrets(settings: Settings, name: str, count: int) -> None:
    """Write secrets one by one."""
    database = open_database(settings)
    for number in range(count):
        database.write(secrets.put, f"{name}-{number}", name)
    database.close()


def write_units(settings: Settings) -> None:
    """Commit versions with news for ever; print a version's number once it is durable."""
    world = World(settings)
    if not world.read(lambda c: c.value("SELECT count(*) FROM sentinel")):
        world.watch()
    endpoint = world.endpoint()
    for seq in itertools.count(world.state().last_seq + 1):
        change = world.change(id=f"change-{seq}", from_seq=seq - 1, to_seq=seq)
        news = world.news(change, endpoint) if seq > 1 else {}
        world.commit(world.make_stored(f"body {seq}".encode() * 500, **news, cursors=(world.cursor(taken=(seq,)),)))
        print(seq, flush=True)


def main() -> None:
    """Do what the command line says."""
    verb, data, url, *more = sys.argv[1:]
    settings = Settings(data=Path(data), store=StoreSettings(url=url, busy_seconds=30.0))
    if verb == "secrets":
        write_secrets(settings, more[0], int(more[1]))
    else:
        write_units(settings)


if __name__ == "__main__":
    main()
