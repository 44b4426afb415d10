"""Sessions: the stored state of a login, encrypted like secrets, outside the page's identity
(decision 0059).

One per owner, password secret, origin of the form and user. One text holds the cookies and the last
attempts; no statement can use its name.
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
"""Wait before the next attempt after the first, the second and each further failed one."""
MOST_A_DAY: Final = 3
"""Attempts per day, including successful ones: sites lock accounts with too many."""


@dataclass(frozen=True, slots=True)
class Session:
    """The stored state of a login: cookies, consecutive failures, times of the last attempts."""

    cookies: tuple[Cookie, ...] = ()
    failures: int = 0
    tried: tuple[Instant, ...] = ()
    reason: str = ""
    was_in: bool = field(default=False)
    """whether a login ever worked: then the session was lost"""

    def next_try(self, now: Instant) -> Instant:
        """Return when the next login may be attempted, `now` or later."""
        tried = [at for at in self.tried if at <= now]  # a clock may have been wrong
        due = now
        if self.failures and tried:
            due = tried[-1] + WAITS[min(self.failures, len(WAITS)) - 1]
        if len(tried) >= MOST_A_DAY:
            due = max(due, tried[-MOST_A_DAY] + DAY)
        return max(due, now)

    def trying(self, now: Instant) -> Session:
        """Return the session with an attempt in progress: after a crash it counts as failed."""
        return replace(self, failures=self.failures + 1, tried=(*self.tried, now)[-MOST_A_DAY:])

    def fail(self, reason: str) -> Session:
        """Return the session with the reason why the attempt failed."""
        return replace(self, reason=reason)

    def succeed(self, cookies: Iterable[Cookie]) -> Session:
        """Return the session after a login."""
        return replace(self, cookies=tuple(cookies), failures=0, reason="", was_in=True)

    def renew(self, cookies: Iterable[Cookie], now: Instant) -> Session:
        """Return the session with the cookies that an answer has set, without expired ones."""
        jar = {(c.name, c.domain, c.path): c for c in (*self.cookies, *cookies)}
        kept = (c for c in jar.values() if c.expires_at is None or c.expires_at > now)
        return replace(self, cookies=tuple(kept), failures=0, reason="", was_in=True)


class Sessions:
    """Stores sessions; `read` and `write` run a function in a database transaction."""

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
        """Return the stored session of a login.

        Empty if its secret was set since, or if it cannot be decrypted.
        """
        text: str = await self._read(_load, self._vault, login)
        return _session(text) if text else Session()

    async def save(self, login: FormLogin, session: Session, now: Instant) -> None:
        """Store a session; durable on return."""
        await self._write(_save, self._vault, login, _text(session), now)


def name_of(login: FormLogin) -> str:
    """Return the name under which the session of a login is stored."""
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
