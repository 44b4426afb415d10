"""Authentication and authorization: one `Asker` per request, from a token, a session, a trusted
proxy's header, or the local machine.

The role an entrance needs is in its row (R-13). Which objects an asker may see is decided here, by
the names of the path's parameters, so that no screen or resource can forget it.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlencode
from uuid import UUID

from tidings.record import dataclass, replace
from tidings.service.people import tokens
from tidings.service.sentinels.author import Author
from tidings.service.watch.watchlist import load_users
from tidings.storage.people import accounts
from tidings.storage.people import tokens as token_rows
from tidings.storage.watches import changes, deliveries, sentinels, subscriptions
from tidings.storage.watches.events import OWNER
from tidings.web.inside import StreamRight
from tidings.web.markup.translations import translate
from tidings.web.problems import ProblemError, reads_pages
from tidings.web.request_guard import READING, REALM, find_token

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.model.interval import Instant
    from tidings.settings import ServeSettings
    from tidings.storage.db.connection import Connection
    from tidings.storage.people.accounts import AccountRow
    from tidings.storage.people.tokens import TokenRow
    from tidings.web.inside import Inside

Role = Literal["reader", "editor", "admin"]
Who = Literal["anybody", "readers", "markers", "editors", "admins", "hook", "hub"]
"""`readers`, `editors` and `admins` have at least that role; `markers` are editors, and readers
with an account, whose inbox marks are their own; `hook` checks its own token, `hub` the token in
its address and its signature; `anybody` gets nothing confidential.
"""
RANKS: Final[Mapping[str, int]] = {"reader": 0, "editor": 1, "admin": 2}
ROLES_OF_SCOPES: Final[Mapping[str, Role]] = {"read": "reader", "edit": "editor", "admin": "admin"}
_NEEDED: Final[Mapping[str, Role]] = {"readers": "reader", "markers": "editor", "editors": "editor", "admins": "admin"}


@dataclass(frozen=True, slots=True)
class Asker:
    """The authenticated user: role and owner; `name` is empty for the installation itself.

    `sees_all`: sees the sentinels of all owners; `is_named`: was identified. `zone` is the user's
    time zone, if set.
    """

    role: Role
    owner_id: int = OWNER
    name: str = ""
    sees_all: bool = True
    is_named: bool = True
    zone: str = ""

    @property
    def viewer(self) -> int | None:
        """Return the owner whose sentinels lists show, None for all."""
        return None if self.sees_all else self.owner_id

    @property
    def author(self) -> Author:
        """Return the asker as the author of statements."""
        return Author(self.owner_id, self.sees_all)

    def may(self, who: Who) -> bool:
        """Return whether the role suffices for an entrance."""
        if who == "markers" and self.owner_id != OWNER:
            return True
        return who not in _NEEDED or RANKS[self.role] >= RANKS[_NEEDED[who]]

    def may_alter(self, owner_id: int) -> bool:
        """Return whether the asker may change an owner's sentinels: not those that are only
        shared.
        """
        return self.author.may_alter(owner_id)


COMPATIBLE: Final = "/compatible/changedetection"
"""Under this path the header `x-api-key` holds a token, as for clients of
changedetection.io's API.
"""
LOCAL: Final = Asker("admin", is_named=False)
"""The asker of a service that only this machine can reach and that has neither a token nor an
account.
"""
NOBODY: Final = Asker("reader", owner_id=0, sees_all=False, is_named=False)
"""The asker of an entrance for anybody, who was not asked for a name: such an answer shows nothing
of what is watched.
"""


def make_stream_right(request: Request, inside: Inside, asker: Asker) -> StreamRight:
    """Return the admission of a request that was authenticated as this asker."""

    async def stands() -> bool:
        try:
            return await asker_of(request, inside, notes=False) == asker
        except ProblemError:
            return False

    return StreamRight(asker.owner_id, stands)


async def asker_of(request: Request, inside: Inside, *, notes: bool = True) -> Asker:
    """Authenticate a request.

    Raises `ProblemError` for an invalid token, and for a missing one where one is needed.

    Args:
        request: The request.
        inside: The inside of the service.
        notes: Whether the use of the token or session is recorded.
    """
    serve, shown = inside.settings.serve, find_token(request.headers)
    if not shown and request.url.path.startswith(f"{COMPATIBLE}/"):
        shown = request.headers.get("x-api-key", "").strip()
    if shown:
        return await _holder(shown, inside, notes=notes)
    session = request.cookies.get(cookie_name(serve), "")
    proxied = get_proxied_name(request, inside)
    account, noted, has_accounts = await inside.store.read(_find_account, session, proxied, inside.clock.wall())
    if account is not None:
        if session and not proxied:
            _check_own_page(request)
            if notes and inside.clock.wall() - noted > token_rows.NOTED_EVERY:
                await inside.store.write(token_rows.use_session, tokens.hash_of(session), inside.clock.wall())
        return of_account(account)
    if serve.token or has_accounts:
        if has_accounts and is_visit(request):
            raise ProblemError(HTTPStatus.SEE_OTHER, "sign in first", headers={"location": sign_in_at(request)})
        raise _unknown("the token is missing" if serve.token else "sign in first")
    return Asker("reader", is_named=False) if serve.edit_token else LOCAL


def of_account(row: AccountRow) -> Asker:
    """Return an account as an asker; admins see all."""
    return Asker(row.role, row.id, row.name, sees_all=row.role == "admin", zone=row.zone)


def _find_account(c: Connection, session: str, proxied: str, now: Instant) -> tuple[AccountRow | None, Instant, bool]:
    """Return the signed-in account, when its use was last recorded, and whether any account
    exists.
    """
    if not accounts.exist(c):
        return None, 0, False
    if proxied:
        return accounts.find(c, proxied), now, True
    found = token_rows.find_session(c, tokens.hash_of(session), now) if session else None
    return (None, 0, True) if found is None else (*found, True)


def cookie_name(serve: ServeSettings) -> str:
    """Return the name of the session cookie; over https one that no other host can set."""
    return "__Host-tidings" if serve.public_url.lower().startswith("https:") else "tidings-session"


def get_proxied_name(request: Request, inside: Inside) -> str:
    """Return the user name that a trusted proxy has authenticated, "" if none.

    The header is ignored from any other sender, and for the API, which has no browser login. Raises
    `ProblemError` if it is repeated, too long or not a name.
    """
    serve = inside.settings.serve
    client = request.client.host if request.client is not None else ""
    if not serve.proxies or client not in serve.proxies or request.url.path.startswith("/api/"):
        return ""
    wanted = serve.proxy_header.lower()
    alike = [value for name, value in request.headers.items() if name.replace("_", "-") == wanted]
    if not alike:
        return ""
    if (
        len(alike) > 1
        or len(alike[0]) > accounts.LONGEST_NAME
        or alike[0] != alike[0].strip()
        or not alike[0].isprintable()
    ):
        raise ProblemError(HTTPStatus.BAD_REQUEST, "the proxy's header does not name one user")
    return alike[0]


def find_address(request: Request, serve: ServeSettings) -> str:
    """Return the address of a client: behind a trusted proxy the one that the proxy adds last to
    `X-Forwarded-For`.
    """
    client = request.client.host if request.client is not None else ""
    if client not in serve.proxies:
        return client
    given = request.headers.getlist("x-forwarded-for")
    named = given[-1].rpartition(",")[2].strip() if given else ""
    try:
        return str(ipaddress.ip_address(named))
    except ValueError:
        return client


def is_visit(request: Request) -> bool:
    """Return whether a browser opens a screen."""
    return request.method == "GET" and reads_pages(request.url.path, request.headers)


def sign_in_at(request: Request) -> str:
    """Return the address of the sign-in form, which leads back to the present screen."""
    query = f"?{request.url.query}" if request.url.query else ""
    return f"/login?{urlencode({'next': request.url.path + query})}"


def _check_own_page(request: Request) -> None:
    """Raise `ProblemError` unless a change by a session comes from a page of this service,
    according to the browser.
    """
    if request.method in READING or "origin" in request.headers or "sec-fetch-site" in request.headers:
        return  # the guard checked both
    raise ProblemError(HTTPStatus.FORBIDDEN, "a form has to come from a page of this service; use a token for programs")


async def _holder(shown: str, inside: Inside, *, notes: bool) -> Asker:
    """Return the owner of a token from the settings or from `tidings token`."""
    serve = inside.settings.serve
    if serve.edit_token and _is_same(shown, serve.edit_token):
        return Asker("editor")
    if serve.token and _is_same(shown, serve.token):
        return Asker("reader")
    now = inside.clock.wall()
    row, account = await inside.store.read(_token, shown, now)
    if row is None:
        raise _unknown("the token is missing or is another")
    if notes and not tokens.is_use_noted(row, now):
        await inside.store.write(token_rows.use, row.id, now)
    if account is None:
        return Asker(ROLES_OF_SCOPES[row.scope])
    role = min(ROLES_OF_SCOPES[row.scope], account.role, key=lambda one: RANKS[one])
    return replace(of_account(account), role=role)


def _token(c: Connection, shown: str, now: Instant) -> tuple[TokenRow | None, AccountRow | None]:
    """Return a token and its account, whose role limits it."""
    row = tokens.recognise(c, shown, now)
    account = None if row is None or row.owner_id == OWNER else accounts.get(c, row.owner_id)
    return (None, None) if row is not None and row.owner_id != OWNER and account is None else (row, account)


def check_role(asker: Asker, who: Who, inside: Inside) -> None:
    """Raise `ProblemError` unless the role suffices; it names the ways to authenticate, if any."""
    if asker.may(who):
        return
    serve = inside.settings.serve
    if serve.token and not serve.edit_token and asker == Asker("reader"):
        message = "the screens of this service only show: serve.token is for readers"
        hint = "set serve.edit_token (`openssl rand -hex 24` makes one) and log in with it, or use the command line"
        raise ProblemError(HTTPStatus.FORBIDDEN, message, hint=hint)
    if serve.edit_token and asker in {Asker("reader"), Asker("reader", is_named=False)} and who != "admins":
        message = "the token lets you read only" if asker.is_named else "the token is missing or is another"
        hint = "log in again with serve.edit_token as the password"
        raise ProblemError(HTTPStatus.UNAUTHORIZED, message, hint=hint, headers=REALM)
    wanted = "editors" if who == "markers" else who
    message = f"this is for {wanted}, and you are {'an' if asker.role[0] in 'ae' else 'a'} {asker.role} here"
    hint = "`tidings token add NAME --scope SCOPE` makes a token that may do more"
    raise ProblemError(HTTPStatus.FORBIDDEN, message, hint=hint)


def _unknown(message: str) -> ProblemError:
    hint = (
        "send it as `Authorization: Bearer TOKEN`, or as the password of a login with any name;"
        " it is serve.token, or one of `tidings token`"
    )
    return ProblemError(HTTPStatus.UNAUTHORIZED, message, hint=hint, headers=REALM)


def _is_same(shown: str, token: str) -> bool:
    return hmac.compare_digest(shown.encode(errors="surrogatepass"), token.encode(errors="surrogatepass"))


def check_objects(c: Connection, asker: Asker, named: Mapping[str, object], *, alters: bool) -> None:
    """Raise `ProblemError`: 404 for an object that the asker may not see, 403 for one that it may
    not alter.

    Args:
        asker: The asker.
        named: The path's parameters; their names are the kinds of objects.
        alters: Whether the request is a change.
    """
    if asker.sees_all:
        return
    for parameter, value in named.items():
        if (find := _OWNERS.get(parameter)) is None:
            continue
        seen = [id_ for id_ in find(c, str(value)) if sentinels.is_seen(c, id_, asker.viewer)]
        if not seen:
            raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no such {_WORDS[parameter]}")
        if alters and not any(asker.may_alter(sentinels.get(c, id_).owner_id) for id_ in seen):
            raise ProblemError(HTTPStatus.FORBIDDEN, "it is shared with you to read; only its owner alters it")


def check_masks(c: Connection, asker: Asker, page_id: int) -> None:
    """Raise `ProblemError` (403) if somebody else watches a page: its masks are those of all."""
    watching = {sub.sentinel_id for sub in subscriptions.listing(c, page_id=page_id)}
    rows = [sentinels.get(c, id_) for id_ in watching]
    if not asker.sees_all and any(row.state != "ended" and not asker.may_alter(row.owner_id) for row in rows):
        raise ProblemError(
            HTTPStatus.FORBIDDEN,
            translate("somebody else watches this page too, and this would change what they are notified of"),
            hint=translate("to leave a part out for yourself, write an Exclude clause in your sentinel"),
        )


def _list_by_name(c: Connection, name: str) -> list[int]:
    row = sentinels.last_of(c, name)
    return [] if row is None else [row.id]


def _of_change(c: Connection, change_id: str) -> list[int]:
    found = changes.get(c, change_id)
    return [] if found is None else [found.row.sentinel_id]


def watch_of(sentinel_id: int, page_id: int) -> UUID:
    """Return the id of a sentinel's page in changedetection.io's API."""
    return UUID(int=sentinel_id << 80 | 0x8 << 76 | 0b10 << 62 | page_id)


def page_of_watch(text: str) -> tuple[int, int]:
    """Return the sentinel and page of such an id, (0, 0) if it is invalid."""
    try:
        number = UUID(text).int
    except ValueError:
        return 0, 0
    sentinel_id, page_id = number >> 80, number & (1 << 62) - 1
    return (sentinel_id, page_id) if UUID(int=number) == watch_of(sentinel_id, page_id) else (0, 0)


def _of_watch(c: Connection, watch: str) -> list[int]:
    sentinel_id, page_id = page_of_watch(watch)
    subscriptions_of = subscriptions.listing(c, sentinel_id=sentinel_id)
    return [sentinel_id] if any(sub.page_id == page_id for sub in subscriptions_of) else []


def _of_page(c: Connection, page: str) -> list[int]:
    if not (page.isascii() and page.isdecimal() and len(page) < 19):
        return []
    return [sub.sentinel_id for sub in subscriptions.listing(c, page_id=int(page))]


def _of_delivery(c: Connection, delivery: str) -> list[int]:
    found = deliveries.get(c, delivery)
    return [] if found is None else [found.sentinel_id]


def _of_receiver(c: Connection, receiver: str) -> list[int]:
    if not (receiver.isascii() and receiver.isdecimal() and len(receiver) < 19):
        return []
    return [one.row.id for one in load_users(c, int(receiver), zone="")]


_OWNERS: Final[Mapping[str, Callable[[Connection, str], list[int]]]] = {
    "name": _list_by_name,
    "id": _of_change,
    "page": _of_page,
    "delivery": _of_delivery,
    "receiver": _of_receiver,
    "watch": _of_watch,
}
_WORDS: Final = {
    "name": "sentinel",
    "id": "change",
    "page": "page",
    "delivery": "delivery",
    "receiver": "receiver",
    "watch": "watch",
}
