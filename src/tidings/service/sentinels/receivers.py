"""Check the receivers that statements name, when they are parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.errors import AddressError
from tidings.fetching import address
from tidings.model.watch.sentinel import Alter, Defaults, Sentinel
from tidings.notification import addresses
from tidings.notification.apprise_channel import check_service
from tidings.service.watch.watchlist import list_channels

if TYPE_CHECKING:
    from tidings.model.watch.sentinel import Channel, Statement


def check_addressees(statement: Statement) -> None:
    """Raise `AddressError`, with the expected form, for a receiver in a statement that no message
    can reach.
    """
    where, channels = addressees(statement)
    for channel in channels:
        try:
            _check_channel(channel)
        except AddressError as error:
            raise AddressError(f"{where}: {error}") from None


def addressees(statement: Statement) -> tuple[str, tuple[Channel, ...]]:
    """Return a statement's name and the channels it names."""
    match statement:
        case Sentinel():
            return statement.name, tuple(list_channels(statement))
        case Alter(name=name, sentinel=Sentinel() as after):
            return name, tuple(list_channels(after))
        case Defaults(tags=tags, clauses=clauses):
            notify, errors = dict(clauses.stated).get("notify", ()), dict(clauses.stated).get("errors", ())
            where = f"the defaults of {', '.join(tags)}"
            return where, (*(channel for clause in notify for channel in clause.channels), *errors)
    return "", ()


def _check_channel(channel: Channel) -> None:
    if channel.is_secret:
        return  # its content is checked where it can be decrypted
    if channel.kind in {"webhook", "url"}:
        address.rebuild(channel.address)
    elif channel.kind == "apprise":
        check_service(channel.address)
    else:
        addresses.check(channel.kind, channel.address)
