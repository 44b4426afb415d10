"""The fetcher of pages behind a login form: sends the cookies of the stored session, and logs in
through the form where they no longer work (decision 0059).

The password leaves in one request: the POST of the form, to the origin of its page or one that the
sentinel names. An attempt is recorded before it is made, so that a crash counts as one.

A session is stored encrypted like secrets, outside the identity of the page: one per owner,
password secret, origin of the form and user. One text holds the cookies and the last attempts; no
statement can use its name.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from tidings.clock import DAY, HOUR, SECOND
from tidings.document.structures.login_form import LoginForm, LoginPage, LoginQuestion, read
from tidings.errors import AddressError, SecretError
from tidings.fetching import address
from tidings.fetching.http import redirects
from tidings.isolation.runner import Died
from tidings.model.observed.outcome import Failed, Fetched, Unchanged, Validators
from tidings.model.secret import Cookie, Secret, reveal
from tidings.record import dataclass, replace
from tidings.storage.secrets import SESSION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tidings.clock import Clock
    from tidings.fetching.fetcher import Fetcher, Permit
    from tidings.isolation.runner import Runner
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.outcome import FetchRequest, FormLogin, Outcome
    from tidings.storage.db.connection import Connection
    from tidings.storage.secrets import Vault

_LOGGED_OUT: Final = frozenset({401, 403})
_OF_HTML: Final = ("text/html", "application/xhtml+xml")


class _LoginError(Exception):
    """Why a login failed, as the end of a sentence."""


class FormLoginFetcher:
    """Fetches pages with a login (`fetcher.Fetcher`).

    `others` makes all requests, and is closed with it.
    """

    def __init__(self, others: Fetcher, runner: Runner, sessions: Sessions, *, clock: Clock) -> None:
        self.others = others
        self.runner = runner
        self.sessions = sessions
        self.clock = clock
        self._locks: dict[str, asyncio.Lock] = {}

    async def fetch(self, request: FetchRequest, permit: Permit) -> Outcome:
        """Fetch a page, logged in; see `fetcher.Fetcher.fetch`."""
        login = request.login
        if login is None:
            return await self.others.fetch(request, permit)
        lock = self._locks.setdefault(name_of(login), asyncio.Lock())
        async with lock:  # a second request uses the login of the first
            return await _Visit(self, request, login, permit).outcome()

    async def close(self) -> None:
        """Close the underlying fetcher."""
        await self.others.close()


class _Visit:
    """One fetch of a page, repeated until it is logged in or the login has failed; used once."""

    def __init__(self, by: FormLoginFetcher, request: FetchRequest, login: FormLogin, permit: Permit) -> None:
        self._by = by
        self._request = request
        self._login = login
        self._permit = permit
        self._requests = 0
        self._bytes = 0

    async def outcome(self) -> Outcome:
        """Return the outcome of the page.

        One new login is tried, and only if the next attempt is due.
        """
        session = await self._by.sessions.load(self._login)
        if session.cookies:
            seen = await self._ask(self._request, session)
            if await self._is_in(seen):
                return await self._keep(seen, session)
        now = self._now
        if session.next_try(now) > now:
            return self._lose(session, session.reason or "there were too many attempts")
        return await self._repair(session)

    @property
    def _now(self) -> Instant:
        return self._by.clock.now()

    async def _repair(self, before: Session) -> Outcome:
        session = before.trying(self._now)
        await self._save(session)
        try:
            session = await self._log_in(session)
        except _LoginError as error:
            session = session.fail(str(error))
            await self._save(session)
            return self._lose(session, str(error))
        seen = await self._ask(replace(self._request, validators=Validators()), session)
        if isinstance(seen, Failed) and seen.status not in _LOGGED_OUT:
            await self._save(session)  # the page is at fault, not the login
            return seen
        if await self._is_in(seen):
            return await self._keep(seen, session, is_new=True)
        why = "the form accepted the password, but the page still asks for a login"
        if self._login.success:
            why = f"the form accepted the password, but the page has no {self._login.success}"
        failed = before.trying(self._now).fail(why)
        await self._save(failed)
        return self._lose(failed, why)

    async def _log_in(self, session: Session) -> Session:
        """Submit the form. Raises `_LoginError`. The session gets the cookies of the answer."""
        login, origin = self._login, address.parse(self._login.url).origin
        named = {origin, *(address.parse(address.rebuild(url)).origin for url in login.via)}
        allowed = frozenset({*named, address.parse(self._request.url).origin})
        plain = replace(
            self._request,
            url=login.url,
            method="GET",
            body=None,
            headers=redirects.headers_for(login.url, first=self._request.url, headers=self._request.headers),
            validators=Validators(),
            final_url="",
            render="",
            steps=(),
            screenshot=False,
            origins=allowed,
        )
        page = await self._ask(plain, replace(session, cookies=()))
        if not isinstance(page, Fetched):
            raise _LoginError(_describe("the login page", page))
        form = _usable(await self._read(page), named)
        cookies = session.renew(page.cookies, self._now).cookies if page.cookies else ()
        fields = [*form.fields, (form.user, reveal(login.user)), (form.password, login.password.reveal())]
        sent = {"content-type": "application/x-www-form-urlencoded", "referer": page.final_url}
        sent["origin"] = address.parse(page.final_url).origin
        post = replace(
            plain,
            url=address.rebuild(form.action),
            method="POST",
            headers=(*((n, v) for n, v in plain.headers if n.lower() not in sent), *sent.items()),
            body=Secret(urlencode(fields)),
        )
        answer = await self._ask(post, replace(session, cookies=cookies))
        if not isinstance(answer, Fetched):
            raise _LoginError(_describe("the form", answer))
        after = await self._read(answer)
        if after.asks_password and not after.is_found:
            human = " and asks for a captcha" if after.has_captcha else ""
            raise _LoginError(
                f"the form was shown again{human}: the user or the password is wrong, or its token has expired"
            )
        return session.succeed(replace(session, cookies=cookies).renew(answer.cookies, self._now).cookies)

    async def _ask(self, request: FetchRequest, session: Session) -> Outcome:
        cookies = (*request.cookies, *session.cookies)
        seen = await self._by.others.fetch(replace(request, cookies=cookies), self._permit)
        self._requests += seen.requests
        self._bytes += seen.wire_bytes
        return replace(seen, requests=self._requests, wire_bytes=self._bytes)

    async def _is_in(self, seen: Outcome) -> bool:
        """Return whether a page is as it is for a logged-in user.

        A failure of another kind says nothing.
        """
        if isinstance(seen, Unchanged):
            return True
        if isinstance(seen, Failed):
            return seen.status not in _LOGGED_OUT
        if not self._login.success and not _is_html(seen):
            return True
        page = await self._read(seen)
        if page.problem:
            return True  # the examination reports it
        return page.is_found if self._login.success else not page.asks_password

    async def _read(self, seen: Fetched) -> LoginPage:
        question = LoginQuestion(seen.body, seen.content_type, seen.final_url, self._login.success)
        done = await self._by.runner.run(read, question)
        return LoginPage(problem=done.reason) if isinstance(done, Died) else done.value

    async def _keep(self, seen: Outcome, session: Session, *, is_new: bool = False) -> Outcome:
        """Store the cookies that the site has renewed."""
        if isinstance(seen, Failed):
            return seen
        renewed = session.renew(seen.cookies, self._now)
        if is_new or renewed != session:
            await self._save(renewed)
        return seen

    async def _save(self, session: Session) -> None:
        await self._by.sessions.save(self._login, session, self._now)

    def _lose(self, session: Session, why: str) -> Failed:
        now = self._now
        until = session.next_try(now)
        name = address.parse(self._login.url).host
        shown = datetime.fromtimestamp(until / SECOND, UTC).strftime("%Y-%m-%d %H:%M UTC")
        what = "was lost and could not be repaired" if session.was_in else "failed"
        reason = f"login to {name} {what}: {why}; next try {shown}"
        return Failed(
            kind="login",
            reason=reason,
            retry_after=max(until - now, 1),
            requests=self._requests,
            wire_bytes=self._bytes,
        )


def _usable(page: LoginPage, named: set[str]) -> LoginForm:
    """Return the form of a login page. Raises `_LoginError` if no password may be sent with it."""
    if page.has_captcha:
        message = "its page asks for a captcha: log in with a browser and store its cookies"
        raise _LoginError(f"{message} (tidings secret set NAME --cookies FILE)")
    if page.problem:
        raise _LoginError(f"its page cannot be read: {page.problem}")
    form = page.form
    if form is None:
        raise _LoginError("its page no longer has a form with one user and one password, or scripts build it")
    if form.method != "POST":
        raise _LoginError("its form would put the password into an address")
    try:
        action = address.rebuild(form.action)
    except AddressError as error:
        raise _LoginError(f"its form has no valid address: {error}") from error
    origin = address.parse(action).origin
    if origin not in named:
        raise _LoginError(f'its form leads to {origin}; if that is right, write via "{origin}"')
    if not address.is_safe_for_passwords(action):
        raise _LoginError("its form would send the password over http")
    return form


def _describe(what: str, outcome: Failed | Unchanged) -> str:
    return f"{what} got no answer: {outcome.reason}" if isinstance(outcome, Failed) else f"{what} was not sent"


def _is_html(seen: Fetched) -> bool:
    media = (seen.content_type or "").partition(";")[0].strip().lower()
    return media in _OF_HTML or (not media and seen.body.lstrip()[:1] == b"<")


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
        valid = (c for c in jar.values() if c.expires_at is None or c.expires_at > now)
        return replace(self, cookies=tuple(valid), failures=0, reason="", was_in=True)


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
