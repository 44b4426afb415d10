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
│   │   └── UnreadableTextError   the stored text of one sentinel cannot be read
│   ├── StoreNewerError           written by a newer Tidings
│   ├── StoreStalledError         not usable for now; a running service goes on by itself
│   │   ├── StoreBusyError        somebody else holds it for too long
│   │   ├── StoreFullError        the disk takes nothing more
│   │   └── StoreLostError        the server of the database does not answer
│   ├── SingleWriterError         this SQLite allows one writing process only
│   ├── PollerBusyError           another process polls already
│   ├── StaleEpochError           this process has lost the right to poll and deliver
│   │   └── ShardsMovedError      the planners divide the pages anew
│   ├── ClaimLostError            another process sends what this one was sending
│   ├── OvertakenError            a sentinel was altered while its page was checked
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
        """A language problem as seen from here: it can be printed and returned as data."""

        def __str__(self) -> str: ...

        def as_dict(self) -> Mapping[str, object]:
            """Return the problem with the keys of a JSON record."""
            ...


class TidingsError(Exception):
    """Tidings could not do what was asked; the text says why and what helps."""

    exit_code = 3


class UsageError(TidingsError):
    """The request is not possible as stated."""

    exit_code = 2


class SettingError(UsageError):
    """A setting is unknown or has an invalid value."""


class AddressError(UsageError):
    """Tidings will not watch the address; the text says which part is at fault."""


class SentinelError(UsageError):
    """The text is not a valid sentinel; `problems` has each fault with its position, code,
    expectation and hint.
    """

    def __init__(self, problems: Sequence[PrintableProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class ImportFileError(UsageError):
    """A file of another program is invalid, or exceeds the limits; nothing of it was imported."""


class UnknownNameError(UsageError):
    """There is nothing of that name."""


class StoreError(TidingsError):
    """The data directory cannot be used as it is."""


class StoreMissingError(StoreError):
    """The directory was used before and its database is missing; no new one is created in its
    place.
    """


class StoreDamagedError(StoreError):
    """The database is damaged; nothing is served from it."""


class UnreadableTextError(StoreDamagedError):
    """The stored text of one sentinel cannot be read; all others are as they were."""


class StoreNewerError(StoreError):
    """The database was written by a newer Tidings; it is not touched."""


class StoreStalledError(StoreError):
    """The data directory cannot be used for now, for a reason of the machine: permissions, memory,
    files, a faulty disk; stored data is intact.
    """


class StoreBusyError(StoreStalledError):
    """Another process held the database for longer than Tidings waits."""


class StoreFullError(StoreStalledError):
    """The disk is full; stored data is intact."""


class StoreLostError(StoreStalledError):
    """The database server does not answer, or refuses for now; nothing is half written."""


class SingleWriterError(StoreError):
    """This SQLite is safe with one writing process only, and another one is running."""


class PollerBusyError(StoreError):
    """Another process polls and delivers for this data directory."""


class StaleEpochError(StoreError):
    """This process has lost the lease to poll and deliver; it wrote nothing."""


class ShardsMovedError(StaleEpochError):
    """Another planner came or went: this one ends its run, and begins another with its new part of
    the pages.
    """


class ClaimLostError(StoreError):
    """Another process sends the messages of this endpoint now; the result was not written."""


class OvertakenError(StoreError):
    """A sentinel was altered since the messages of a unit were made from its text, or another
    process reported what is reported once; nothing of it was written, and they are made anew.
    """


class SecretError(StoreError):
    """A secret cannot be decrypted, or its key file cannot be used; everything else works."""


class UnitError(StoreError):
    """A unit contradicts what is stored; nothing of it was written."""


class BackupError(TidingsError):
    """A file is not an intact backup, or no backup can be written there; existing files are
    unchanged.
    """


class BlobError(TidingsError):
    """A stored body cannot be restored."""


class BudgetError(TidingsError):
    """The budget does not allow this request now."""


class BusError(TidingsError):
    """The message bus between machines cannot be reached now; a later call may succeed."""


class ServiceError(TidingsError):
    """The running service did not answer in time."""


class ClockSetBackError(TidingsError):
    """The machine's clock was set back while this process polled; it restarts from the new time."""


class ListenError(TidingsError):
    """The service's address cannot be bound."""


class OutputError(TidingsError):
    """Standard output cannot be written, e.g. because the disk is full."""


def spell_install(extra: str = "") -> str:
    """Return the command that installs Tidings, with an extra. It never names a package alone: that
    name at a registry need not be ours.
    """
    extras = f"[{extra}]" if extra else ""
    return f"pip install --upgrade 'tidings{extras} @ git+REPOSITORY'  # docs/begin/install.md"
