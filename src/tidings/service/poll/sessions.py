"""Sessions: what is kept of a login, encrypted as secrets are, outside the page's identity
(decision 0059).

One for each owner, secret of the password, origin of the form and user. One text holds the
cookies and how the last tries ended; no statement can use its name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, field
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY, HOUR
from tidings.errors import SecretError
from tidings.fetching import address
from tidings.model.secret import Cookie, Secret, reveal
from tidings.record import dataclass, replace
from tidings.storage.secrets.vault import SESSION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.outcome import FormLogin
    from tidings.storage.db.connection import Connection
    from tidings.storage.secrets.vault import Vault

WAITS: Final[tuple[Duration, ...]] = (HOUR, 6 * HOUR, DAY)
"""How long after the first, the second and each further try that failed the next one is."""
MOST_A_DAY: Final = 3
"""Tries within a day, those that succeeded too: sites lock accounts that are tried too often."""


@dataclass(frozen=True, slots=True)
class Session:
    """What is kept of a login: cookies, the tries that failed in a row, when the last ones were."""

    cookies: tuple[Cookie, ...] = ()
    failures: int = 0
    tried: tuple[Instant, ...] = ()
    reason: str = ""
    was_in: bool = field(default=False)
    """whether it ever worked: then it was lost"""

    def next_try(self, now: Instant) -> Instant:
        """Return when the form may be tried, `now` or later."""
        tried = [at for at in self.tried if at <= now]  # a clock may have been wrong
        due = now
        if self.failures and tried:
            due = tried[-1] + WAITS[min(self.failures, len(WAITS)) - 1]
        if len(tried) >= MOST_A_DAY:
            due = max(due, tried[-MOST_A_DAY] + DAY)
        return max(due, now)

    def trying(self, now: Instant) -> Session:
        """Return it with a try that has not succeeded yet: a crash counts as one that failed."""
        return replace(self, failures=self.failures + 1, tried=(*self.tried, now)[-MOST_A_DAY:])

    def fail(self, reason: str) -> Session:
        """Return it with why the try failed."""
        return replace(self, reason=reason)

    def succeed(self, cookies: Iterable[Cookie]) -> Session:
        """Return it after a login."""
        return replace(self, cookies=tuple(cookies), failures=0, reason="", was_in=True)

    def renew(self, cookies: Iterable[Cookie], now: Instant) -> Session:
        """Return it with the cookies that an answer has set; those that have expired are gone."""
        jar = {(c.name, c.domain, c.path): c for c in (*self.cookies, *cookies)}
        kept = (c for c in jar.values() if c.expires_at is None or c.expires_at > now)
        return replace(self, cookies=tuple(kept), failures=0, reason="", was_in=True)


class Sessions:
    """Keeps sessions; `read` and `write` run a function in a transaction of the database."""

    def __init__(
        self,
        vault: Vault,
        *,
        read: Callable[..., Awaitable[Any]],
        write: Callable[..., Awaitable[Any]],
    ) -> None:
        self._vault = vault
        self._read = read
        self._write = write

    async def load(self, login: FormLogin) -> Session:
        """Return what is kept of a login.

        Nothing, if its secret was set anew since or it does not open.
        """
        text: str = await self._read(_load, self._vault, login)
        return _session(text) if text else Session()

    async def save(self, login: FormLogin, session: Session, now: Instant) -> None:
        """Keep a session; it is durable then."""
        await self._write(_save, self._vault, login, _text(session), now)


def name_of(login: FormLogin) -> str:
    """Return under which name the session of a login is kept."""
    origin = address.parse(login.url).origin
    account = hashlib.sha256(reveal(login.user).encode(errors="surrogatepass")).hexdigest()[:16]
    return f"{SESSION}{login.secret}:{account}:{origin}"


def _load(c: Connection, vault: Vault, login: FormLogin) -> str:
    try:
        opened = vault.open(c, name_of(login), owner_id=login.owner_id)
    except SecretError:
        return ""
    return "" if opened is None or opened.set_at < login.set_at else opened.value.reveal()


def _save(c: Connection, vault: Vault, login: FormLogin, text: str, now: Instant) -> None:
    vault.put(c, name_of(login), Secret(text), kind="session", owner_id=login.owner_id, at=now)


def _text(session: Session) -> str:
    cookies = [{**asdict(cookie), "value": cookie.value.reveal()} for cookie in session.cookies]
    return json.dumps({**asdict(session), "cookies": cookies})


def _session(text: str) -> Session:
    data = json.loads(text)
    cookies = (Cookie(**{**cookie, "value": Secret(cookie["value"])}) for cookie in data.pop("cookies"))
    return Session(cookies=tuple(cookies), **{**data, "tried": tuple(data["tried"])})
