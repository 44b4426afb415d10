"""Who asks, and what they may: one `Asker` a request, by token, by session, by a proxy's word, or
because nobody else can ask.

What an entrance needs stands in its row (R-13); which objects an asker sees is decided here for all
of them, by the names of the path's parameters, so that no screen and no resource can forget it.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal

from tidings.service.people import tokens
from tidings.storage.people import tokens as token_rows
from tidings.storage.watches import changes, deliveries, sentinels, subscriptions
from tidings.storage.watches.events import OWNER
from tidings.web.guard import REALM, shown_token
from tidings.web.problems import ProblemError

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.storage.db.connection import Connection
    from tidings.web.inside import Inside

Role = Literal["reader", "editor", "admin"]
Who = Literal["anybody", "readers", "editors", "admins", "hook", "hub"]
"""`readers`, `editors` and `admins` have at least that role; `hook` checks its own token by itself,
`hub` the one in its address and what it signs; `anybody` is told nothing that matters.
"""
RANKS: Final[Mapping[str, int]] = {"reader": 0, "editor": 1, "admin": 2}
_ROLES: Final[Mapping[str, Role]] = {"read": "reader", "edit": "editor", "admin": "admin"}
_NEEDED: Final[Mapping[str, Role]] = {"readers": "reader", "editors": "editor", "admins": "admin"}


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: with which role, for which owner, whose `name` is empty for the installation
    itself.

    `sees_all` says that the sentinels of all owners are shown; `is_named` that something said who
    it is.
    """

    role: Role
    owner_id: int = OWNER
    name: str = ""
    sees_all: bool = True
    is_named: bool = True

    @property
    def viewer(self) -> int | None:
        """Return the owner by whom lists are narrowed, None for who sees all."""
        return None if self.sees_all else self.owner_id

    def may(self, who: Who) -> bool:
        """Say whether the role is enough for an entrance."""
        return who not in _NEEDED or RANKS[self.role] >= RANKS[_NEEDED[who]]

    def may_alter(self, owner_id: int) -> bool:
        """Say whether the sentinels of an owner are the asker's to change: not those that are only
        shared.
        """
        return self.sees_all or owner_id in {OWNER, self.owner_id}


LOCAL: Final = Asker("admin", is_named=False)
"""Whoever asks a service that only this machine can reach and that has neither a token nor an
account.
"""


async def asker_of(request: Request, inside: Inside) -> Asker:
    """Return who asks. Raises `ProblemError` for a token that is none, and where one is needed and
    none is shown.
    """
    serve, shown = inside.settings.serve, shown_token(request.headers)
    if shown:
        return await _holder(shown, inside)
    if serve.token:
        raise _unknown("the token is missing")
    return Asker("reader", is_named=False) if serve.edit_token else LOCAL


async def _holder(shown: str, inside: Inside) -> Asker:
    """Return whose a token is: one of the settings, or one that `tidings token` made."""
    serve = inside.settings.serve
    if serve.edit_token and _is_same(shown, serve.edit_token):
        return Asker("editor")
    if serve.token and _is_same(shown, serve.token):
        return Asker("reader")
    now = inside.clock.wall()
    row = await inside.store.read(tokens.recognise, shown, now)
    if row is None:
        raise _unknown("the token is missing or is another")
    if not tokens.is_use_noted(row, now):
        await inside.store.write(token_rows.use, row.id, now)
    return Asker(_ROLES[row.scope], row.owner_id, sees_all=row.owner_id == OWNER)


def check_role(asker: Asker, who: Who, inside: Inside) -> None:
    """Raise `ProblemError` unless a role is enough; whoever could show something better is asked
    for it.
    """
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
    message = f"this is for {who}, and you are {'an' if asker.role[0] in 'ae' else 'a'} {asker.role} here"
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


# -- objects ---------------------------------------------------------------------------------------


def check_objects(c: Connection, asker: Asker, named: Mapping[str, object], *, alters: bool) -> None:
    """Raise `ProblemError` (404) for an object that the asker does not see, or (403) sees and may
    not alter.

    Args:
        asker: Who asks.
        named: The parameters of the path; their names say what they are of.
        alters: Whether it is asked to change something.
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


def _named(c: Connection, name: str) -> list[int]:
    row = sentinels.last_of(c, name)
    return [] if row is None else [row.id]


def _of_change(c: Connection, change_id: str) -> list[int]:
    found = changes.get(c, change_id)
    return [] if found is None else [found.row.sentinel_id]


def _of_page(c: Connection, page: str) -> list[int]:
    if not (page.isascii() and page.isdecimal() and len(page) < 19):
        return []
    return [sub.sentinel_id for sub in subscriptions.listing(c, page_id=int(page))]


def _of_delivery(c: Connection, delivery: str) -> list[int]:
    found = deliveries.get(c, delivery)
    return [] if found is None else [found.sentinel_id]


_OWNERS: Final[Mapping[str, Callable[[Connection, str], list[int]]]] = {
    "name": _named,
    "id": _of_change,
    "page": _of_page,
    "delivery": _of_delivery,
}
_WORDS: Final = {"name": "sentinel", "id": "change", "page": "page", "delivery": "delivery"}
