"""A service with people in it: an admin, two editors, a reader, and what each of them shows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from tests.asgi import Answer, ask
from tests.world import World
from tidings.clock import HOUR
from tidings.service.people import accounts as accounts_of
from tidings.service.people import tokens
from tidings.service.run.monitor import Monitor
from tidings.storage.people import accounts
from tidings.storage.watches import sentinels
from tidings.web.inside import Inside
from tidings.web.routes import application
from tidings.web.screens.desk import Desk
from tidings.web.server import HttpServer

PASSWORD = "correct horse battery"
ORIGIN = "http://127.0.0.1:8780"
ROLES = {"ada": "admin", "anna": "editor", "bob": "editor", "rita": "reader"}
SCOPES = {"admin": "admin", "editor": "edit", "reader": "read"}
_KEPT: list[str] = []


def hash_password() -> str:
    """Return the hash of `PASSWORD`, made once: it takes long on purpose."""
    if not _KEPT:
        _KEPT.append(accounts_of.hash_of(PASSWORD))
    return _KEPT[0]


@dataclass
class People:
    """The application, and the headers of each who asks."""

    app: Any
    inside: Inside
    desk: Desk
    monitor: Monitor
    headers: dict[str, dict[str, str]] = field(default_factory=dict)

    async def ask(self, who: str, method: str, path: str, **more: Any) -> Answer:
        """Ask as somebody."""
        given = {**self.headers.get(who, {}), **more.pop("headers", {})}
        return await ask(self.app, path, method, headers=given, **more)

    def trusting(self, proxy: str) -> People:
        """Return the same service, which trusts a proxy."""
        serve = replace(self.inside.settings.serve, proxies=(proxy,))
        inside = replace(self.inside, settings=replace(self.inside.settings, serve=serve))
        return replace(self, app=application(inside, self.desk), inside=inside)

    async def ask_with(self, headers: list[tuple[str, str]]) -> Answer:
        """Ask for the inbox with headers of which one may be given twice."""
        return await ask(self.app, "/", headers=headers)

    async def sign_in_from(self, address: str, name: str) -> Answer:
        """Send the form to sign in from another address."""

        async def from_there(scope: Any, receive: Any, send: Any) -> None:
            await self.app({**scope, "client": (address, 50_000)}, receive, send)

        return await replace(self, app=from_there).sign_in(name)

    async def sign_in(self, name: str, password: str = PASSWORD, **headers: str) -> Answer:
        """Send the form to sign in."""
        return await self.send("nobody", "/login", {"name": name, "password": password}, **headers)

    async def send(self, who: str, path: str, fields: dict[str, str], **headers: str) -> Answer:
        """Send a form."""
        given = {"content-type": "application/x-www-form-urlencoded", "origin": ORIGIN, **headers}
        return await self.ask(who, "POST", path, headers=given, body=urlencode(fields).encode())


def settle_in(world: World) -> dict[str, dict[str, str]]:
    """Make the accounts, a token for each and one of each scope for the installation; return their
    headers.
    """
    now, headers = world.clock.wall(), {}

    def write(c: Any) -> None:
        for name, role in ROLES.items():
            row = accounts_of.add(c, name, role, hash_password(), at=now)
            token, _ = tokens.add(c, name, SCOPES[role], owner_id=row.id, at=now)
            headers[name] = {"authorization": f"Bearer {token.reveal()}"}
        for scope in SCOPES.values():
            token, _ = tokens.add(c, scope, scope, at=now)
            headers[scope] = {"authorization": f"Bearer {token.reveal()}"}

    world.write(write)
    return headers


async def with_people(world: World, monitor: Monitor, story: Any) -> None:
    """Play a story among people: anna watches `annas`, the installation `common`."""
    world.page("/a", "<title>A</title><p>one 1</p>")
    world.page("/b", "<title>B</title><p>one 1</p>")
    hook = world.receiver()
    world.add(
        f"Create Sentinel annas Using {{/a}} Monitor all words"
        f" Fetch every 1 hour Tags hers Notify by webhook {hook}, feed"
    )
    world.add("Create Sentinel common Using {/b} Monitor all words Fetch every 1 hour")
    headers = settle_in(world)
    anna = world.read(accounts.get_by_name, "anna")
    world.write(lambda c: sentinels.give(c, sentinels.find(c, "annas").id, anna.id))
    door = HttpServer(world.settings)
    monitor.committer.listen(door.note)
    desk = Desk(world.settings, world.clock, door.changes)
    inside = door.inside(monitor)
    try:
        await world.settle(monitor)
        world.page("/a", "<title>A</title><p>one 2</p>")
        world.page("/b", "<title>B</title><p>one 2</p>")
        await world.pass_time(monitor, HOUR)
        await story(People(application(inside, desk), inside, desk, monitor, headers))
    finally:
        door.changes.end()
        await desk.close()
