"""The contract between `Database` and a database product; `sqlite` and `postgres` are its two
rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tidings.errors import StoreError
from tidings.storage.db.connection import Connection


class DatabaseDriver(Protocol):
    """One open database of one product. All methods raise errors of the tree, made by
    `translate`.
    """

    dialect: str
    single_writer: bool
    connection: Connection

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Return the exception types of the driver's library and of the system below it."""
        ...

    @property
    def where(self) -> str:
        """Return the database's name for messages, without password."""
        ...

    def begin_read(self) -> None:
        """Begin a read-only transaction on one snapshot."""
        ...

    def begin_write(self) -> None:
        """Begin the one writing transaction: wait for others, then raise `StoreBusyError`."""
        ...

    def commit(self) -> None:
        """Make the transaction durable."""
        ...

    def has_committed(self) -> bool:
        """Return whether the last write is durable although its `commit` raised `StoreLostError`;
        reconnects to find out.
        """
        ...

    def rollback(self) -> None:
        """Roll the transaction back; a lost connection has already been rolled back."""
        ...

    def has_changed(self) -> bool:
        """Return whether another connection has committed since the last call."""
        ...

    def has_table(self, name: str) -> bool:
        """Return whether a table of that name exists."""
        ...

    def copy_before(self, revision: str) -> str:
        """Store a copy of the database at `revision`; return its path, or "" if this product makes
        no copies.
        """
        ...

    def copy_to(self, path: Path) -> None:
        """Copy a consistent state of the database into a new file, while others write.

        Raise `StoreError` if this product makes no copies.
        """
        ...

    def quick_check(self, *, deep: bool = False) -> list[str]:
        """Return the faults that the product finds in its pages; `deep`: also in its indexes, which
        takes longer.
        """
        ...

    def interrupt(self) -> None:
        """Interrupt what another thread is running on this connection, with an error."""
        ...

    def translate(self, error: Exception) -> StoreError:
        """Return the error of our tree for a driver error."""
        ...

    def close(self) -> None:
        """Close the connection; closing twice is allowed."""
        ...
