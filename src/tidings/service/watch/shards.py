"""Shards: which part of the pages a run of a planner works on, by their hosts."""

from __future__ import annotations

from typing import Final
from zlib import crc32

from tidings.fetching.address import LOCAL_HOSTS
from tidings.record import dataclass


@dataclass(frozen=True, slots=True)
class Shards:
    """The `own` shards among `count`. Shard 0 has files, commands and lists of collections, which
    have no host, and what is not divided.
    """

    count: int = 1
    own: frozenset[int] = frozenset({0})

    @property
    def is_all(self) -> bool:
        """Return whether there is no other planner's page."""
        return len(self.own) == self.count

    @property
    def leads(self) -> bool:
        """Return whether this run does what is not divided."""
        return 0 in self.own

    def owns(self, host: str) -> bool:
        """Return whether the pages of a host are this run's."""
        return shard_of(host, self.count) in self.own


ALL: Final = Shards()


def shard_of(host: str, count: int) -> int:
    """Return the shard of a host among `count`."""
    return 0 if count == 1 or host in LOCAL_HOSTS else crc32(host.encode()) % count
