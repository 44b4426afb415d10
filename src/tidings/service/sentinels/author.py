"""Who writes statements, and what they may name: sentinels, secrets and receivers (0094).

A request with a secret belongs to the owner of that secret. Only an author who sees all may make a
request with a secret of the installation. Others may keep one that their sentinel makes already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.errors import UnknownNameError, UsageError
from tidings.fetching import address
from tidings.language import parser
from tidings.model.watch.asking import secret_names
from tidings.model.watch.sentinel import Alter, Command, Sentinel
from tidings.record import dataclass
from tidings.service.sentinels.receivers import addressees
from tidings.service.watch.watchlist import read_meaning
from tidings.storage import secrets
from tidings.storage.observed import pages
from tidings.storage.watches import sentinels
from tidings.storage.watches.events import OWNER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tidings.model.observed.page import PageIdentity
    from tidings.model.watch.asking import Asking
    from tidings.model.watch.sentinel import Statement
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes statements: the owner of what they create; `sees_all` for one who may use the
    secrets of the installation and alter the sentinels of all owners.
    """

    owner_id: int = OWNER
    sees_all: bool = True

    @property
    def viewer(self) -> int | None:
        """Return the owner whose sentinels the author sees, None for all."""
        return None if self.sees_all else self.owner_id

    @property
    def keeper_id(self) -> int:
        """Return the owner of the defaults and events that the author creates: the installation,
        for one who sees all.
        """
        return OWNER if self.sees_all else self.owner_id

    def may_alter(self, owner_id: int) -> bool:
        """Return whether the author may change an owner's sentinels: not those that are only
        shared.
        """
        return self.sees_all or owner_id in {OWNER, self.owner_id}


INSTALLATION = Author()
"""The author of the command line, who may do everything."""


@dataclass(frozen=True, slots=True)
class RequestRights:
    """How pages are requested for a sentinel: for its owner, by an author. `held` has the keys of
    the pages that it watches already, empty for a new one.
    """

    connection: Connection
    author: Author
    owner_id: int
    held: Collection[str] = ()

    @classmethod
    def of(cls, connection: Connection, row: SentinelRow, author: Author) -> RequestRights:
        """Return them for a stored sentinel."""
        return cls(connection, author, row.owner_id, pages.list_private_keys(connection, row.id))

    @classmethod
    def of_name(cls, connection: Connection, name: str, author: Author) -> RequestRights:
        """Return them for the sentinel of a name if the author may alter it, else for a new one."""
        row = sentinels.last_of(connection, name)
        if row is None or row.state == "ended" or not author.may_alter(row.owner_id):
            return cls(connection, author, author.owner_id)
        return cls.of(connection, row, author)

    def find_held(self, url: str, asking: Asking) -> PageIdentity:
        """Return the identity under which the sentinel watches a page at present."""
        shared = address.identify(url, asking)
        own = address.identify(url, asking, owner_id=self.owner_id)
        return shared if shared.key in self.held else own

    def identify(self, url: str, asking: Asking) -> PageIdentity:
        """Return the identity of a page; its owner is the owner of the secrets that it is requested
        with.

        Raises `AddressError` and `UsageError` as `address.identify` does, and `UsageError` for a
        secret that the author may not use.
        """
        found = self.find_held(url, asking)
        if found.key in self.held:
            return found
        named = secret_names(found)
        own = secrets.names(self.connection, owner_id=self.owner_id) if named else []
        missing = [name for name in named if name not in own or self.owner_id == OWNER]
        if not missing:
            return found
        if not self.author.sees_all:
            raise UsageError(_refuse_secret(missing[0], self.owner_id))
        return address.identify(url, asking)


def _refuse_secret(name: str, owner_id: int) -> str:
    if owner_id == OWNER:
        return f"a sentinel of the command line sends the secret {name} only where an admin says; ask an admin"
    return (
        f"you have no secret {name}: store it on the screen Account first (an admin can also use"
        " `tidings secret set NAME --user YOUR-NAME`); only admins use secrets of the installation"
    )


def check_rights(connection: Connection, author: Author, statements: Iterable[Statement]) -> None:
    """Raise `UnknownNameError` for a sentinel that the author may not see, `UsageError` for one
    that they may not alter or derive from, or a receiver that they may not name by its secret.

    Args:
        author: Who writes the statements.
        statements: The statements as they were written, with the defaults of their tags.
    """
    if author.sees_all:
        return
    known = None
    for statement in statements:
        if isinstance(statement, Alter | Command):
            check_sentinel(connection, author, statement.name)
        elif isinstance(statement, Sentinel) and statement.base:
            check_sentinel(connection, author, statement.base)
        named = [channel for channel in addressees(statement)[1] if channel.is_secret]
        known = _list_receivers(connection, author) if named and known is None else known
        for channel in named:
            if known is not None and channel.endpoint not in known:
                message = f"the secret {channel.address} is no receiver of yours: write the address itself; it is stored encrypted"
                raise UsageError(message)


def check_sentinel(connection: Connection, author: Author, name: str) -> None:
    """Raise an error unless the author may see and alter the sentinel of a name; an unknown name is
    left to the lookup.
    """
    row = sentinels.last_of(connection, name)
    if row is None:
        return
    if not sentinels.is_seen(connection, row.id, author.viewer):
        raise UnknownNameError(f'there is no sentinel "{name}"')
    if not author.may_alter(row.owner_id):
        raise UsageError(f"{name} is shared with you to read; only its owner alters it")


def _list_receivers(connection: Connection, author: Author) -> set[tuple[str, str]]:
    """Return the receivers of the sentinels that the author may alter, and of the defaults of
    tags.
    """
    rows = [row for row in sentinels.listing(connection, is_brief=True) if author.may_alter(row.owner_id)]
    stated: list[Statement] = [read_meaning(row) for row in rows if _NAMED in row.text]
    for owner_id in (OWNER, author.owner_id):
        held = sentinels.list_tag_defaults(connection, owner_id=owner_id)
        stated += [parser.recall(text) for text in held.values()]
    return {channel.endpoint for statement in stated for channel in addressees(statement)[1]}


_NAMED: Final = 'secret "'
