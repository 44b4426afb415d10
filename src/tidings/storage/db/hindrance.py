"""What keeps a data directory from being written, as far as its file system says so; found out without writing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from tidings.storage.db.lock import PollerLock

LEAST_BYTES: Final = 64 * 1024
"""With less room than this no version and no transaction of some size can be stored."""


def hindrance(data: Path) -> str:
    """Return why nothing can be written to a directory now: no room, no inodes, a read-only file system; "" if nothing shows."""
    try:
        left = os.statvfs(data)
    except FileNotFoundError:
        return ""  # it is made when it is needed
    except OSError as error:
        return error.strerror or str(error)
    if left.f_flag & os.ST_RDONLY:
        return "the file system is read-only"
    free = left.f_bavail if os.geteuid() else left.f_bfree  # root may use what is reserved
    if left.f_blocks and free * left.f_frsize < LEAST_BYTES:
        return "no room is left on the disk"
    if left.f_files and not left.f_favail:
        return "the disk takes no more files (no inode is free)"
    return ""


def standstill(data: Path) -> str:
    """Return what keeps polls of pages from being stored now: what the process that polls says, else what the file system shows; "" for nothing."""
    if said := PollerLock(data).trouble():
        return said
    shown = hindrance(data)
    return f"nothing can be stored in {data}: {shown}" if shown else ""
