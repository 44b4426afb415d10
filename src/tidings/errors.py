"""Every error that Tidings raises, one tree, each saying what the user can do.

```
TidingsError                      exit 3: the verb could not do its work
├── UsageError                    exit 2: what was asked is not possible as it was said
│   ├── SettingError              a setting that is unknown or has a bad value
│   ├── AddressError              a URL that Tidings will not watch
│   ├── ImportFileError           a file of another program that cannot be taken in
│   ├── SentinelError             a text of the sentinel language, with its problems
│   └── UnknownNameError          no sentinel, version or delivery of that name
├── StoreError                    the data directory
│   ├── StoreMissingError         a used directory has lost its database
│   ├── StoreDamagedError         the database is not whole
│   ├── StoreNewerError           written by a newer Tidings
│   ├── StoreStalledError         it cannot be used for now; a running service goes on by itself when it can
│   │   ├── StoreBusyError        somebody else holds it for too long
│   │   ├── StoreFullError        the disk takes nothing more
│   │   └── StoreLostError        the server of the database does not answer
│   ├── SingleWriterError         this SQLite allows one writing process only
│   ├── PollerBusyError           another process polls already
│   ├── StaleEpochError           this process has lost the right to poll and deliver
│   ├── SecretError               a secret, or the file with its key, cannot be opened
│   └── UnitError                 what was to be written contradicts what is stored
├── BackupError                   a file that is to be a backup, or cannot become one
├── BlobError                     a stored body cannot be given back
├── BudgetError                   a request that the budget does not allow now
├── BusError                      what carries work between machines does not answer now
├── ServiceError                  a running service did not answer
├── ClockSetBackError             the machine's clock was set back: what polls must start again
├── ListenError                   the address to serve at cannot be had
└── OutputError                   what was found could not be written out
```

Ordinary outcomes (unchanged, a failed fetch, a killed job) are values, never errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    class PrintableProblem(Protocol):
        """What a language problem looks like from here: it can be printed and told as data."""

        def __str__(self) -> str: ...

        def as_dict(self) -> Mapping[str, object]:
            """Return the fault with the keys of a JSON record."""
            ...


class TidingsError(Exception):
    """Tidings could not do what was asked; the text says why and what helps."""

    exit_code = 3


class UsageError(TidingsError):
    """What was asked is not possible as it was said."""

    exit_code = 2


class SettingError(UsageError):
    """A setting is unknown or has a value that it cannot have."""


class AddressError(UsageError):
    """The address is one that Tidings will not watch; the text says which part is at fault."""


class SentinelError(UsageError):
    """The text is no sentinel; `problems` holds each fault with its place, code, expectation and hint."""

    def __init__(self, problems: Sequence[PrintableProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class ImportFileError(UsageError):
    """A file of another program is not what it should be, or more than is read; nothing of it was taken in."""


class UnknownNameError(UsageError):
    """There is nothing of that name."""


class StoreError(TidingsError):
    """The data directory cannot be used as it is."""


class StoreMissingError(StoreError):
    """The directory has been used and its database is gone; nothing new is put in its place."""


class StoreDamagedError(StoreError):
    """The database is not whole; nothing is served from it."""


class StoreNewerError(StoreError):
    """The database was written by a newer Tidings; it is left untouched."""


class StoreStalledError(StoreError):
    """The data directory cannot be used for now, for a reason of the machine: rights, memory, files, a disk in error; what was stored is there."""


class StoreBusyError(StoreStalledError):
    """Somebody else held the database for longer than Tidings waits."""


class StoreFullError(StoreStalledError):
    """The disk takes nothing more; what was written before is there."""


class StoreLostError(StoreStalledError):
    """The server of the database does not answer, or refuses for now; nothing of what was under way is half written."""


class SingleWriterError(StoreError):
    """This SQLite is safe with one writing process only, and another one is running."""


class PollerBusyError(StoreError):
    """Another process polls and delivers for this data directory."""


class StaleEpochError(StoreError):
    """This process has lost the lease to poll and deliver; nothing of it was written."""


class SecretError(StoreError):
    """A secret cannot be opened, or the file with its key cannot be used; everything else can."""


class UnitError(StoreError):
    """What was to be written contradicts what is stored; nothing of it was written."""


class BackupError(TidingsError):
    """A file is no whole backup, or none can be made there; what was there before is as it was."""


class BlobError(TidingsError):
    """A stored body cannot be given back as it was."""


class BudgetError(TidingsError):
    """The budget does not allow this request now."""


class BusError(TidingsError):
    """What carries work between machines cannot be reached now; a later call may succeed."""


class ServiceError(TidingsError):
    """The running service did not answer in time."""


class ClockSetBackError(TidingsError):
    """The machine's clock was set back while this process polled; it starts again by what the clock says now."""


class ListenError(TidingsError):
    """The address on which the service was to answer cannot be had."""


class OutputError(TidingsError):
    """Standard output does not take what a verb has to say: a full disk, for example."""
