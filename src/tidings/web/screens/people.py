"""People: sign in and out, the first account, the list of accounts, and one's own: time zone,
password, tokens, shared tags, data export.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import available_timezones

from starlette.responses import RedirectResponse, Response

from tidings.clock import DAY, MINUTE
from tidings.errors import TidingsError, UsageError
from tidings.model.secret import Secret
from tidings.service.people import accounts as accounts_of
from tidings.service.people import tokens as tokens_of
from tidings.service.secrets import secrets as secrets_of
from tidings.storage.observed import polls
from tidings.storage.people import accounts, tokens
from tidings.storage.secrets import Vault
from tidings.web import request_body
from tidings.web.access import RANKS, ROLES_OF_SCOPES, cookie_name, find_address
from tidings.web.markup.formats import count
from tidings.web.markup.render import POLICY, environment, pack
from tidings.web.markup.translations import sentences, translate
from tidings.web.problems import ProblemError
from tidings.web.request_guard import find_token

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.storage.db.connection import Connection
    from tidings.storage.people.accounts import AccountRow
    from tidings.web.access import Asker
    from tidings.web.request_body import SentForm
    from tidings.web.screens.desk import Desk

AT_ONCE: Final = 2
"""Most concurrent password hashes: each takes 19 MiB and 40 ms."""
ROLES: Final = sentences("reader", "editor", "admin")
HASHING: Final = asyncio.Semaphore(AT_ONCE)
LONGEST_TAG: Final = 100


def own_path(text: str) -> str:
    """Return the path of this service to redirect to, `/` for anything else."""
    is_own = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable() and "\\" not in text
    return text if is_own and "%09" not in text and not text.startswith("/%") else "/"


def _door(request: Request, *, problem: str = "", status: int = HTTPStatus.OK, **values: Any) -> Response:
    html = environment().get_template("login.html").render(problem=problem, **values)
    headers = {"content-security-policy": POLICY, "cache-control": "no-store", "referrer-policy": "same-origin"}
    return pack(request, html.encode(), status, headers, "text/html; charset=utf-8")


async def show(request: Request, desk: Desk) -> Response:
    """Return the sign-in form, or the form for the first account if there is none."""
    has_accounts = await desk.store.read(accounts.exist)
    return _door(request, is_first=not has_accounts, next=own_path(request.query_params.get("next", "/")))


async def act(request: Request, desk: Desk) -> Response:
    """Sign in, or create the first account with the code from the terminal."""
    form = await request_body.read_form(request)
    name, password, where = form.one("name"), form.one("password"), own_path(form.one("next") or "/")
    if "origin" not in request.headers and "sec-fetch-site" not in request.headers:
        raise ProblemError(HTTPStatus.FORBIDDEN, translate("sign in from the form of this service"))
    has_accounts = await desk.store.read(accounts.exist)
    address = find_address(request, desk.settings.serve)
    if wait := desk.tries.wait(name, address, desk.clock.now()):
        minutes = max(1, round(wait / MINUTE))
        message = translate("Too many tries. Wait {minutes}.", minutes=count(minutes, "minute"))
        return _door(
            request, problem=message, status=HTTPStatus.TOO_MANY_REQUESTS, is_first=not has_accounts, next=where
        )
    if not has_accounts:
        return await _first(request, desk, name, password, form.one("code"))
    row = await desk.store.read(accounts.find, name)
    async with HASHING:
        is_right = await asyncio.to_thread(accounts_of.opens, row, password)
    if not is_right or row is None:
        message = translate("Wrong name or password.")
        return _door(
            request, problem=message, status=HTTPStatus.UNAUTHORIZED, is_first=False, next=where, name=name[:64]
        )
    desk.tries.succeed(name, address)
    async with HASHING:
        again = await asyncio.to_thread(accounts_of.renew_hash, row, password)
    if again is not None:
        await desk.store.write(accounts.alter, row.id, password=again)
    return await begin_session(request, desk, row, where)


async def _first(request: Request, desk: Desk, name: str, password: str, code: str) -> Response:
    if not desk.is_first_code(code):
        message = translate("This is not the code that the terminal shows, or its hour is over.")
        return _door(request, problem=message, status=HTTPStatus.UNAUTHORIZED, is_first=True, next="/", name=name[:64])
    try:
        async with HASHING:
            password_hash = await asyncio.to_thread(accounts_of.hash_of, password)
        row = await desk.store.write(_make_first, name, password_hash, desk.clock.wall())
    except UsageError as error:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return _door(request, problem=str(error), status=status, is_first=True, next="/", name=name[:64])
    return await begin_session(request, desk, row, "/")


def _make_first(c: Connection, name: str, password_hash: str, now: int) -> AccountRow:
    if accounts.exist(c):
        raise UsageError(translate("there is an account by now: sign in with it"))
    return accounts_of.add(c, name, "admin", password_hash, at=now)


async def begin_session(request: Request, desk: Desk, row: AccountRow, where: str) -> Response:
    """Start a session with a new id; the browser's earlier one ends.

    Args:
        request: The request.
        desk: The shared objects of the screens.
        row: The account.
        where: The path to redirect to.
    """
    cookie, id_ = cookie_name(desk.settings.serve), secrets.token_urlsafe(32)
    if before := request.cookies.get(cookie):
        await desk.store.write(tokens.end_session, tokens_of.hash_of(before))
    await desk.store.write(tokens.begin_session, tokens_of.hash_of(id_), row.id, desk.clock.wall())
    answer = RedirectResponse(where, HTTPStatus.SEE_OTHER)
    is_secure = cookie.startswith("__Host-")
    seconds = tokens.IDLE // 1_000_000
    answer.set_cookie(cookie, id_, max_age=seconds, path="/", secure=is_secure, httponly=True, samesite="lax")
    return answer


async def leave(request: Request, desk: Desk) -> Response:
    """Sign out."""
    cookie = cookie_name(desk.settings.serve)
    if shown := request.cookies.get(cookie):
        await desk.store.write(tokens.end_session, tokens_of.hash_of(shown))
    answer = RedirectResponse("/login", HTTPStatus.SEE_OTHER)
    answer.delete_cookie(cookie, path="/", secure=cookie.startswith("__Host-"), httponly=True, samesite="lax")
    return answer


async def users(request: Request, desk: Desk, *, problem: str = "") -> Response:
    """Return the accounts and tokens."""

    def read(c: Connection) -> dict[str, Any]:
        names = accounts.names(c)
        shared = {row.id: accounts.list_shared_tags(c, row.id) for row in accounts.listing(c)}
        return {
            "users": accounts.listing(c),
            "shared": shared,
            "tokens": [(row, names.get(row.owner_id, "")) for row in tokens.listing(c)],
            "roles": ROLES,
        }

    found = await desk.store.read(read)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK
    return await desk.page(
        request, "users.html", title=translate("Users"), here="users", status=status, problem=problem, **found
    )


def _read_checks(text: str) -> float:
    """Return a number of checks a day, 0 for an empty field. Raise `UsageError` for others."""
    digits = text.replace(",", "").strip()
    if digits and not (digits.isascii() and digits.isdecimal()):
        raise UsageError(translate("write a whole number of checks a day, or nothing for no limit"))
    return float(digits[:12] or 0)


async def act_on_users(request: Request, desk: Desk) -> Response:
    """Create an account, change a role or password, remove an account, or revoke a token."""
    form = await request_body.read_form(request)
    name, role, now = form.one("name"), form.one("role"), desk.clock.wall()
    try:
        match form.one("act"):
            case "add":
                async with HASHING:
                    password_hash = await asyncio.to_thread(accounts_of.hash_of, form.one("password"))
                await desk.store.write(accounts_of.add, name, role, password_hash, at=now)
            case "role":
                await desk.store.write(accounts_of.set_role, name, role)
            case "budget":
                await desk.store.write(accounts_of.set_share, name, _read_checks(form.one("checks")))
            case "password":
                async with HASHING:
                    password_hash = await asyncio.to_thread(accounts_of.hash_of, form.one("password"))
                await desk.store.write(accounts_of.set_password, name, password_hash)
            case "remove":
                await desk.store.write(accounts_of.remove, name, now, data=desk.settings.data)
            case "revoke":
                await desk.store.write(tokens.revoke, form.one("token"))
            case _:
                pass
    except TidingsError as error:
        return await users(request, desk, problem=str(error))
    desk.forget_recent()
    return RedirectResponse("/users", HTTPStatus.SEE_OTHER)


def _check_signed_in(request: Request) -> None:
    """Raise `ProblemError` unless a user has signed in to an account: a program with a token must
    not create one with more rights.
    """
    if not request.state.asker.name or find_token(request.headers):
        hint = translate("an admin makes one: `tidings user add NAME`")
        raise ProblemError(HTTPStatus.FORBIDDEN, translate("this is for people who have signed in"), hint=hint)


async def show_account(request: Request, desk: Desk, *, problem: str = "", token: str = "") -> Response:
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
            "secrets": secrets_of.listing(c, Vault(desk.settings.data), owner_id=asker.owner_id),
        }

    return await desk.page(
        request,
        "account.html",
        title=translate("Account"),
        here="account",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        problem=problem,
        token=token,
        scopes=[scope for scope, role in ROLES_OF_SCOPES.items() if RANKS[role] <= RANKS[asker.role]],
        zones=sorted(available_timezones()),
        **await desk.store.read(read),
    )


async def act_on_account(request: Request, desk: Desk) -> Response:
    """Set the zone or the password, create or revoke a token, set or drop a secret, share a tag or
    not, export the data.
    """
    _check_signed_in(request)
    form, asker = await request_body.read_form(request), request.state.asker
    try:
        match form.one("act"):
            case "zone":
                zone = form.one("zone").strip()
                if zone and zone not in available_timezones():
                    raise UsageError(
                        translate(
                            "there is no time zone {zone}; one is called like Europe/Berlin", zone=repr(zone[:60])
                        )
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
                    raise UsageError(translate("name the tag that is shared"))
                await desk.store.write(accounts.share, asker.owner_id, tag)
            case "unshare":
                await desk.store.write(accounts.unshare, asker.owner_id, form.one("tag"))
            case "secret":
                await desk.store.write(_set_secret, Vault(desk.settings.data), form, asker, desk.clock.wall())
            case "drop":
                await desk.store.write(secrets_of.drop, form.one("name"), owner_id=asker.owner_id)
            case "export":
                return await _export(request, desk)
            case _:
                pass
    except TidingsError as error:
        return await show_account(request, desk, problem=str(error))
    desk.forget_recent()  # others may see less now
    return RedirectResponse("/account", HTTPStatus.SEE_OTHER)


def _set_secret(c: Connection, vault: Vault, form: SentForm, asker: Asker, now: int) -> None:
    """Store a secret of an editor, for their own sentinels."""
    if not asker.may("editors"):
        raise UsageError(translate("a reader has no sentinels, so no secret is needed"))
    secrets_of.set_(c, vault, form.one("name").strip(), Secret(form.one("value")), owner_id=asker.owner_id, at=now)


async def _set_password(request: Request, desk: Desk, form: SentForm) -> Response:
    """Change the password, given the present one; all other sessions end."""
    asker = request.state.asker
    address = find_address(request, desk.settings.serve)
    if wait := desk.tries.wait(asker.name, address, desk.clock.now()):
        raise UsageError(translate("too many tries; wait {minutes} min", minutes=max(1, round(wait / MINUTE))))
    row = await desk.store.read(accounts.get_by_name, asker.name)
    async with HASHING:
        if not await asyncio.to_thread(accounts_of.opens, row, form.one("old")):
            raise UsageError(translate("the old password is wrong"))
        desk.tries.succeed(asker.name, address)
        password_hash = await asyncio.to_thread(accounts_of.hash_of, form.one("password"))
    await desk.store.write(accounts_of.set_password, asker.name, password_hash)
    return await begin_session(request, desk, row, "/account")


async def _make_token(request: Request, desk: Desk, form: SentForm) -> Response:
    asker, scope = request.state.asker, form.one("scope")
    if RANKS[ROLES_OF_SCOPES.get(scope, "admin")] > RANKS[asker.role]:
        raise UsageError(translate("a token does no more than its owner may"))
    made, _ = await desk.store.write(
        tokens_of.add, form.one("name").strip(), scope, owner_id=asker.owner_id, at=desk.clock.wall()
    )
    return await show_account(request, desk, token=made.reveal())


async def _export(request: Request, desk: Desk) -> Response:
    name = request.state.asker.name
    found = await desk.store.read(accounts_of.export, name, data=desk.settings.data, now=desk.clock.wall())
    headers = {"content-disposition": 'attachment; filename="tidings-account.json"', "cache-control": "no-store"}
    return Response(json.dumps(found, ensure_ascii=False, indent=1).encode(), 200, headers, "application/json")
