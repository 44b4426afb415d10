"""The user's own account: time zone, password, tokens, shared tags, data export."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import available_timezones

from starlette.responses import RedirectResponse, Response

from tidings.clock import DAY, MINUTE
from tidings.errors import TidingsError, UsageError
from tidings.service.people import accounts as accounts_of
from tidings.service.people import tokens as tokens_of
from tidings.storage.observed import polls
from tidings.storage.people import accounts, tokens
from tidings.web.access import RANKS, ROLES_OF_SCOPES
from tidings.web.guard import find_token
from tidings.web.markup import forms
from tidings.web.markup.catalogue import say
from tidings.web.problems import ProblemError
from tidings.web.screens.people import HASHING, begin_session

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.storage.db.connection import Connection
    from tidings.web.markup.forms import SentForm
    from tidings.web.screens.desk import Desk

LONGEST_TAG: Final = 100


def _check_signed_in(request: Request) -> None:
    """Raise `ProblemError` unless a user has signed in to an account: a program with a token must
    not create one with more rights.
    """
    if not request.state.asker.name or find_token(request.headers):
        hint = say("an admin makes one: `tidings user add NAME`")
        raise ProblemError(HTTPStatus.FORBIDDEN, say("this is for people who have signed in"), hint=hint)


async def show(request: Request, desk: Desk, *, problem: str = "", token: str = "") -> Response:
    """Return the account screen.

    Args:
        request: The request.
        desk: The shared objects of the screens.
        problem: The error of the submitted form, empty for none.
        token: A new token, shown only this once.
    """
    _check_signed_in(request)
    asker = request.state.asker

    def read(c: Connection) -> dict[str, Any]:
        own = accounts.get(c, asker.owner_id)
        return {
            "checks": own.checks_per_day if own else 0.0,
            "made": polls.sum_share(c, desk.clock.wall() - DAY, owner_id=asker.owner_id),
            "tokens": tokens.listing(c, owner_id=asker.owner_id),
            "shared": accounts.list_shared_tags(c, asker.owner_id),
        }

    return await desk.page(
        request,
        "account.html",
        title=say("Account"),
        here="account",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        problem=problem,
        token=token,
        scopes=[scope for scope, role in ROLES_OF_SCOPES.items() if RANKS[role] <= RANKS[asker.role]],
        zones=sorted(available_timezones()),
        **await desk.store.read(read),
    )


async def act(request: Request, desk: Desk) -> Response:
    """Set the zone or the password, create or revoke a token, share a tag or not, export
    the data.
    """
    _check_signed_in(request)
    form, asker = await forms.read_form(request), request.state.asker
    try:
        match form.one("act"):
            case "zone":
                zone = form.one("zone").strip()
                if zone and zone not in available_timezones():
                    raise UsageError(
                        say("there is no time zone {zone}; one is called like Europe/Berlin", zone=repr(zone[:60]))
                    )
                await desk.store.write(accounts.alter, asker.owner_id, zone=zone)
            case "password":
                return await _set_password(request, desk, form)
            case "token":
                return await _make_token(request, desk, form)
            case "revoke":
                await desk.store.write(tokens.revoke, form.one("token"), owner_id=asker.owner_id)
            case "share":
                if not (tag := form.one("tag").strip()[:LONGEST_TAG]):
                    raise UsageError(say("name the tag that is shared"))
                await desk.store.write(accounts.share, asker.owner_id, tag)
            case "unshare":
                await desk.store.write(accounts.unshare, asker.owner_id, form.one("tag"))
            case "export":
                return await _export(request, desk)
            case _:
                pass
    except TidingsError as error:
        return await show(request, desk, problem=str(error))
    return RedirectResponse("/account", HTTPStatus.SEE_OTHER)


async def _set_password(request: Request, desk: Desk, form: SentForm) -> Response:
    """Change the password, given the present one; all other sessions end."""
    asker = request.state.asker
    address = request.client.host if request.client is not None else ""
    if wait := desk.tries.wait(asker.name, address, desk.clock.now()):
        raise UsageError(say("too many tries; wait {minutes} min", minutes=max(1, round(wait / MINUTE))))
    row = await desk.store.read(accounts.get_by_name, asker.name)
    async with HASHING:
        if not await asyncio.to_thread(accounts_of.opens, row, form.one("old")):
            raise UsageError(say("the password until now is another one"))
        kept = await asyncio.to_thread(accounts_of.hash_of, form.one("password"))
    await desk.store.write(accounts_of.set_password, asker.name, kept)
    return await begin_session(request, desk, row, "/account")


async def _make_token(request: Request, desk: Desk, form: SentForm) -> Response:
    asker, scope = request.state.asker, form.one("scope")
    if RANKS[ROLES_OF_SCOPES.get(scope, "admin")] > RANKS[asker.role]:
        raise UsageError(say("a token does no more than its owner may"))
    made, _ = await desk.store.write(
        tokens_of.add, form.one("name").strip(), scope, owner_id=asker.owner_id, at=desk.clock.wall()
    )
    return await show(request, desk, token=made.reveal())


async def _export(request: Request, desk: Desk) -> Response:
    name = request.state.asker.name
    found = await desk.store.read(accounts_of.export, name, data=desk.settings.data, now=desk.clock.wall())
    headers = {"content-disposition": 'attachment; filename="tidings-account.json"', "cache-control": "no-store"}
    return Response(json.dumps(found, ensure_ascii=False, indent=1).encode(), 200, headers, "application/json")
