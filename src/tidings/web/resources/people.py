"""Users and tokens, for admins: list, create, alter, remove, export."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from tidings.clock import DAY
from tidings.service.people import accounts as accounts_of
from tidings.service.people import tokens as tokens_of
from tidings.storage.people import accounts, tokens
from tidings.storage.watches.events import OWNER
from tidings.web.resources.operation import Reply

if TYPE_CHECKING:
    from tidings.storage.db.connection import Connection
    from tidings.web.resources.operation import Call
    from tidings.web.resources.shapes import NewToken, NewUser, UserAlteration


async def list_users(call: Call) -> Any:
    """Return all accounts."""
    return {"items": [accounts_of.record(row) for row in await call.read(accounts.listing)]}


async def add_user(call: Call) -> Any:
    """Create an account."""
    new: NewUser = call.body
    kept = await asyncio.to_thread(accounts_of.hash_of, new.password)
    row = await call.write(accounts_of.add, new.name, new.role, kept, at=call.desk.clock.wall())
    return Reply(accounts_of.record(row), HTTPStatus.CREATED)


async def alter_user(call: Call) -> Any:
    """Change an account's role, password or share of the budget."""
    changed: UserAlteration = call.body
    name = call.get_parameter("user")
    kept = None if changed.password is UNSET else await asyncio.to_thread(accounts_of.hash_of, changed.password)

    def write(c: Connection) -> dict[str, Any]:
        row = accounts.get_by_name(c, name)
        if changed.role is not UNSET:
            accounts_of.set_role(c, row.name, changed.role)
        if changed.checks_per_day is not UNSET:
            accounts_of.set_share(c, row.name, changed.checks_per_day or 0.0)
        if kept is not None:
            accounts_of.set_password(c, row.name, kept)
        return accounts_of.record(accounts.get_by_name(c, name))

    return await call.write(write)


async def remove_user(call: Call) -> Any:
    """Remove an account with all that is only its own."""
    row = await call.read(accounts.get_by_name, call.get_parameter("user"))
    count = await call.write(accounts_of.remove, row.name, call.desk.clock.wall())
    await asyncio.to_thread(accounts_of.forget_searches, call.desk.settings.data, row.id)
    call.desk.forget_health()
    return {"sentinels": count}


async def export_user(call: Call) -> Any:
    """Return all stored data of an account."""
    desk = call.desk
    return await call.read(
        accounts_of.export, call.get_parameter("user"), data=desk.settings.data, now=desk.clock.wall()
    )


async def list_tokens(call: Call) -> Any:
    """Return all tokens, without their secrets."""

    def read(c: Connection) -> dict[str, Any]:
        names = accounts.names(c)
        found = tokens.listing(c)
        return {"items": [tokens_of.record(row, user=names.get(row.owner_id, "")) for row in found]}

    return await call.read(read)


async def add_token(call: Call) -> Any:
    """Create a token, which only this answer contains."""
    new: NewToken = call.body
    now = call.desk.clock.wall()

    def write(c: Connection) -> dict[str, Any]:
        owner_id = accounts.get_by_name(c, new.user).id if new.user else OWNER
        expires_at = None if new.days is None else now + new.days * DAY
        made, row = tokens_of.add(c, new.name, new.scope, owner_id=owner_id, at=now, expires_at=expires_at)
        return {**tokens_of.record(row, user=new.user), "token": made.reveal()}

    return Reply(await call.write(write), HTTPStatus.CREATED)


async def revoke_token(call: Call) -> Any:
    """Revoke a token."""
    await call.write(tokens.revoke, call.get_parameter("token"))
    return {"revoked": call.get_parameter("token")}
