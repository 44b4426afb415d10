"""The contract between `Database` and a database product; `sqlite` and `postgres` are its two rows."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tidings.errors import StoreError
from tidings.storage.db.connection import Connection


class DatabaseDriver(Protocol):
    """One open database of one product. All methods raise errors of the tree, made by `translate`."""

    dialect: str
    single_writer: bool
    connection: Connection

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Return what the driver's library raises, and what the system below it does."""
        ...

    @property
    def where(self) -> str:
        """Return the database's name for messages, without any password."""
        ...

    def begin_read(self) -> None:
        """Begin a transaction that sees one state and can write nothing."""
        ...

    def begin_write(self) -> None:
        """Begin the one writing transaction; waits for others, then raises `StoreBusyError`."""
        ...

    def commit(self) -> None:
        """Make the transaction durable."""
        ...

    def has_committed(self) -> bool:
        """Return whether the last write is durable although its `commit` raised `StoreLostError`; connects anew to find out."""
        ...

    def rollback(self) -> None:
        """Leave nothing of the transaction; a connection that is lost has nothing of it left."""
        ...

    def has_changed(self) -> bool:
        """Return whether another connection has committed since last asked."""
        ...

    def has_table(self, name: str) -> bool:
        """Return whether a table of that name is there."""
        ...

    def copy_before(self, revision: str) -> str:
        """Keep a copy of the database as it is at `revision`; return where, or "" if this product keeps none."""
        ...

    def copy_to(self, path: Path) -> None:
        """Copy one state of the database into a new file, while others go on writing.

        Raise `StoreError` if this product keeps no copies.
        """
        ...

    def quick_check(self, *, deep: bool = False) -> list[str]:
        """Return what the product itself finds wrong with its pages; `deep`: also with its indexes, which takes longer."""
        ...

    def interrupt(self) -> None:
        """End what another thread has under way on this connection, with an error."""
        ...

    def translate(self, error: Exception) -> StoreError:
        """Return the error of our tree that says what happened and what helps."""
        ...

    def close(self) -> None:
        """Close the connection; closing twice is allowed."""
        ...
