"""The demo's own directory: emptied at each start, never anybody else's."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tidings.errors import UsageError
from tidings.settings import default_data_directory
from tidings.storage.db.lock import PollerLock

MARK: Final = "tidings-demo"
"""The file by which a directory is known to be the demo's."""
_TEXT: Final = "Made by `tidings demo`, which empties this directory at each start.\n"


def default_home() -> Path:
    """Return the directory beside the user's own data directory; `TIDINGS_DATA` does not move it."""
    environment = {name: value for name, value in os.environ.items() if name != "TIDINGS_DATA"}
    return default_data_directory(environment).with_name("tidings-demo")


@contextlib.contextmanager
def take(home: Path) -> Iterator[None]:
    """Hold a directory for one demo, empty but for its mark.

    Raises `UsageError` if it has something in it that no demo made, or another demo runs there.
    """
    mark = home / MARK
    if home.exists() and not mark.exists() and (not home.is_dir() or any(home.iterdir())):
        message = f"{home} holds something that no demo made, and the demo would empty it; name an empty directory with --data"
        raise UsageError(message)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with mark.open("a+", encoding="utf-8") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"another demo runs in {home}; stop it first, or name another directory with --data"
            raise UsageError(message) from None
        holder = PollerLock(home).holder()
        if holder is not None:
            message = (
                f"the service of an earlier demo (process {holder}) still runs in {home}; stop it first: kill {holder}"
            )
            raise UsageError(message)
        for path in home.iterdir():
            if path == mark:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        held.truncate(0)
        held.write(_TEXT)
        held.flush()
        yield
