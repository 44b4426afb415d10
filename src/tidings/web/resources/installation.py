"""The installation: the asker, the plan and the budget, health, settings without their secrets; and
its users and tokens, for admins: list, create, alter, remove, export.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from tidings import __version__
from tidings.clock import DAY
from tidings.service.explain.plan_summary import list_coming_polls, summarize_plan
from tidings.service.people import accounts as accounts_of
from tidings.service.people import tokens as tokens_of
from tidings.settings import table
from tidings.storage.observed import polls
from tidings.storage.people import accounts, tokens
from tidings.storage.watches.events import OWNER
from tidings.web.access import check_objects
from tidings.web.resources.operation import Reply

if TYPE_CHECKING:
    from tidings.storage.db.connection import Connection
    from tidings.web.resources.operation import Call
    from tidings.web.resources.shapes import NewToken, NewUser, UserAlteration


async def me(call: Call) -> Any:
    """Return the asker."""
    asker = call.asker
    return {"name": asker.name, "role": asker.role, "sees_all": asker.sees_all, "version": __version__}


async def plan(call: Call) -> Any:
    """Return the next checks, the soonest first."""
    query, now, settings = call.query, call.desk.clock.wall(), call.desk.settings

    def read(c: Connection) -> dict[str, Any]:
        names = [query.sentinel] if query.sentinel else []
        for name in names:
            check_objects(c, call.asker, {"name": name}, alters=False)
        coming = list_coming_polls(c, settings, names=names, now=now, viewer=call.asker.viewer)
        words = summarize_plan(c, settings, coming, now=now).lines() if call.asker.sees_all else []
        return {
            "items": [poll.record(expert=False) for poll in coming[: query.limit]],
            "polls_per_day": float(settings.budget.polls_per_day),
            "spent_today": float(polls.sum_costs(c, now - DAY)),
            "words": list(words),
        }

    return await call.read(read)


async def health(call: Call) -> Any:
    """Return what needs attention."""
    found = await call.desk.health_for(call.asker)
    return {"status": found.status, "items": [one.record() for one in found.troubles]}


async def settings(call: Call) -> Any:
    """Return all settings; of secret ones only whether they are set, and that only to the
    operator.
    """

    def value(name: str) -> Any:
        found = call.desk.settings.value(name)
        return list(map(str, found)) if isinstance(found, tuple) else found

    rows = [
        {
            "name": row.name,
            "value": None if row.secret else value(row.name),
            "help": row.help,
            "is_secret": row.secret,
        }
        for row in table()
    ]
    return {"items": rows}


async def list_users(call: Call) -> Any:
    """Return all accounts."""
    return {"items": [accounts_of.record(row) for row in await call.read(accounts.listing)]}


async def add_user(call: Call) -> Any:
    """Create an account."""
    new: NewUser = call.body
    password_hash = await asyncio.to_thread(accounts_of.hash_of, new.password)
    role = "" if new.role is UNSET else new.role
    row = await call.write(accounts_of.add, new.name, role, password_hash, at=call.desk.clock.wall())
    return Reply(accounts_of.record(row), HTTPStatus.CREATED)


async def alter_user(call: Call) -> Any:
    """Change an account's role, password or share of the budget."""
    changed: UserAlteration = call.body
    name = call.get_parameter("user")
    password_hash = (
        None if changed.password is UNSET else await asyncio.to_thread(accounts_of.hash_of, changed.password)
    )

    def write(c: Connection) -> dict[str, Any]:
        row = accounts.get_by_name(c, name)
        if changed.role is not UNSET:
            accounts_of.set_role(c, row.name, changed.role)
        if changed.checks_per_day is not UNSET:
            accounts_of.set_share(c, row.name, changed.checks_per_day or 0.0)
        if password_hash is not None:
            accounts_of.set_password(c, row.name, password_hash)
        return accounts_of.record(accounts.get_by_name(c, name))

    return await call.write(write)


async def remove_user(call: Call) -> Any:
    """Remove an account with all that is only its own."""
    row = await call.read(accounts.get_by_name, call.get_parameter("user"))
    count = await call.write(accounts_of.remove, row.name, call.desk.clock.wall(), data=call.desk.settings.data)
    call.desk.forget_recent()
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
