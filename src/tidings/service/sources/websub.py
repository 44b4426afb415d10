"""WebSub: subscribe to the hubs that feeds name; their notifications are hints, weighed like any
other (W3C WebSub).

Hubs are used only if `serve.public_url` is set, while the HTTP server runs, and for feeds whose
hints count: fetched on change, without secrets. A hub's content is never a version: it only
suggests a poll. A subscription is renewed before its lease ends, and cancelled when the feed is no
longer watched.

`LeftCallbacks` answers what hubs send, in any process: whether a request belongs to a subscription,
and what it changes (W3C WebSub §5.2, §7).
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urljoin

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.errors import AddressError, BudgetError
from tidings.fetching import address
from tidings.model.observed.unit import Estimate
from tidings.model.observed.version import LONGEST_HUB, Hub
from tidings.record import replace
from tidings.service.show.finding import Finding, ok, shorten, warn
from tidings.service.watch.shards import ALL
from tidings.storage.db import lock
from tidings.storage.observed import estimates, hints, pages
from tidings.storage.observed.hints import HubRow

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.fetching.fetcher import Poster
    from tidings.fetching.politeness import HostGate
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.outcome import Fetched
    from tidings.model.observed.unit import Unit
    from tidings.service.sources.signals import LeftSignals, Signals
    from tidings.service.watch.shards import Shards
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.sources.websub")

HUB: Final = "hub"
"""The name under which a page's hub is stored."""
PATH: Final = "/api/v1/websub/"
FIRST_WAIT: Final[Duration] = 10 * MINUTE
"""First wait before a hub that has not verified is asked again; doubles each time, up to a day."""
REVIEWED_EVERY: Final[Duration] = MINUTE
LEAVE_ATTEMPTS: Final = 3
UNANSWERED_ATTEMPTS: Final = 3
"""After this many accepted but unverified requests it is reported that the hub may not reach this
service.
"""
MEND: Final = "make sure that hubs can reach serve.public_url; until then the feed is checked without them"
AT_ONCE: Final = 4
_LINK: Final = re.compile(r"<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:\"[^\"]*\"|[^\s\",;]*))*)")
_REL: Final = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s\",;]*))", re.IGNORECASE)


def hub_in(headers: Mapping[str, str], named: Hub, base: str) -> Hub:
    """Return the hub that an answer names, Link headers first, with absolute addresses; empty if
    one is invalid (W3C WebSub §4).
    """
    linked: dict[str, str] = {}
    for target, rest in _LINK.findall(headers.get("link", "")[: 4 * LONGEST_HUB]):
        for quoted, bare in _REL.findall(rest):
            for relation in (quoted or bare).lower().split():
                linked.setdefault(relation, target)
    found = Hub(linked["hub"], linked.get("self", "")) if "hub" in linked else named
    if not found.address:
        return Hub()
    try:
        hub, topic = address.rebuild(urljoin(base, found.address)), urljoin(base, found.topic or base)
        address.rebuild(topic)
    except (AddressError, ValueError):
        return Hub()
    return Hub(hub, topic) if max(len(hub), len(topic)) <= LONGEST_HUB else Hub()


def estimates_of(page_id: int, fetched: Fetched, named: Hub, at: Instant) -> tuple[Estimate, ...]:
    """Return the estimate to store of the hub that a new version names, empty if it names none.

    Args:
        page_id: The page.
        fetched: Its new version.
        named: The hub that it names.
        at: When it was polled (µs).
    """
    found = hub_in(fetched.headers, named, fetched.final_url)
    state = {"hub": found.address, "topic": found.topic}
    return (Estimate(page_id=page_id, name=HUB, state=state, at=at),) if found.address else ()


class Subscriber:
    """Subscribes to hubs and handles their callbacks. `public_url` is this service's public address
    (empty: no hub is used), `keys` are the installation's.

    `next_due` is when there may be a request. Pages of other `shards` are left to their planners.
    """

    def __init__(
        self,
        store: Store,
        pages: Mapping[int, WatchedPage],
        signals: Signals,
        poster: Poster,
        gate: HostGate,
        clock: Clock,
        *,
        public_url: str,
        keys: Sequence[bytes],
        epoch: int,
        timeout_seconds: float,
        shards: Shards = ALL,
    ) -> None:
        self._store = store
        self._shards = shards
        self._pages = pages
        self._signals = signals
        self._poster = poster
        self._gate = gate
        self._clock = clock
        self._public_url = public_url.rstrip("/")
        self._keys = keys
        self._epoch = epoch
        self._timeout_seconds = timeout_seconds
        self._hubs: dict[int, Hub] = {}
        self._rows: dict[int, HubRow] = {}
        self._asking: set[int] = set()
        self.next_due: Instant | None = None

    async def load(self) -> None:
        """Load the hubs of pages, and the state of their subscriptions."""
        known = await self._store.read(estimates.of_newest_versions, HUB)
        here = {page_id: state for page_id, state in known.items() if self._shards.is_all or page_id in self._pages}
        self._hubs = {page_id: hub for page_id, state in here.items() if (hub := _read(state)).address}
        self._rows = await self._list_rows()
        if not self._public_url:  # hubs are off: their callbacks get 410
            for page_id in list(self._rows):
                await self._drop(page_id)
        self._agree()

    def _agree(self) -> None:
        """Align the hints' covered pages with the active subscriptions: the latter are stored at
        once, the former seconds later.
        """
        tracker, now = self._signals.tracker, self._clock.now()
        reachable = {i: row for i, row in self._rows.items() if row.state in {"asked", "active"}}
        for page_id in tracker.pages_of(KIND):
            if page_id not in reachable:
                tracker.leave(page_id, KIND)
        for page_id, row in reachable.items():
            if row.until is not None and row.until > now:
                tracker.cover(page_id, KIND)

    def open(self) -> None:
        """Allow subscriptions: the HTTP server can answer hubs now."""
        if self._public_url and self._keys and self._signals.are_heeded:
            self.next_due = 0

    def note(self, unit: Unit) -> None:
        """Record the hub that a new version names."""
        if unit.version is None:
            return
        named = [_read(each.state) for each in unit.estimates if each.name == HUB]
        if named:
            self._hubs[unit.version.page_id] = named[0]
        else:
            self._hubs.pop(unit.version.page_id, None)

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the due requests to hubs; each is recorded before it leaves."""
        if self.next_due is None or now < self.next_due:
            return []
        self.next_due = now + REVIEWED_EVERY
        await self.follow()
        rows: list[HubRow] = []
        for page_id in sorted(self._hubs.keys() | self._rows.keys()):
            if len(self._asking) + len(rows) >= AT_ONCE:
                break
            if page_id not in self._asking and (row := await self._next(page_id, now)) is not None:
                rows.append(row)
        self._asking.update(row.page_id for row in rows)
        return [self._ask(row) for row in rows]

    async def _next(self, page_id: int, now: Instant) -> HubRow | None:
        """Return the row of a due request, already written, None if none is due."""
        row, wanted = self._rows.get(page_id), self._make_wanted(page_id)
        if row is None:
            if not wanted.address:
                return None
            row = HubRow(page_id, *wanted, token=secrets.token_urlsafe(32), state="asked", due_at=now)
        is_wanted = (row.hub, row.topic) == wanted
        if not is_wanted and row.state != "leaving":
            self._signals.tracker.leave(page_id, KIND)
            if row.state == "refused":
                await self._drop(page_id)
                return None
            row = replace(row, state="leaving", attempts=0, due_at=now)
        if row.state == "active" and row.until is not None and row.until <= now:
            self._signals.tracker.leave(page_id, KIND)
            row = replace(row, state="asked", due_at=now)
        if row.due_at is None or row.due_at > now:
            return None
        is_over = row.attempts >= LEAVE_ATTEMPTS or (row.until is not None and row.until <= now)
        if row.state == "leaving" and is_over:
            await self._drop(page_id)
            return None
        wait = min(FIRST_WAIT * 2 ** min(row.attempts, 16), DAY)
        row = replace(row, asked_at=now, attempts=row.attempts + 1, due_at=now + wait)
        await self._put(row)
        return row

    async def _ask(self, row: HubRow) -> None:
        """Subscribe to a page's hub, or unsubscribe; the hub's verification arrives at the HTTP
        server (W3C WebSub §5.1).
        """
        mode = "unsubscribe" if row.state == "leaving" else "subscribe"
        form = {
            "hub.mode": mode,
            "hub.topic": row.topic,
            "hub.callback": f"{self._public_url}{PATH}{row.token}",
            **(
                {"hub.lease_seconds": LEASE // SECOND, "hub.secret": secret_of(row.token, self._keys[0])}
                if mode == "subscribe"
                else {}
            ),
        }
        try:
            host = address.host_of(row.hub)
            async with self._gate.permit(host) as permit:
                await permit.hop(host)
                answer = await self._poster.post(
                    row.hub,
                    headers={"content-type": "application/x-www-form-urlencoded"},
                    body=urlencode(form).encode(),
                    timeout_seconds=self._timeout_seconds,
                )
            problem = answer.error
        except BudgetError as error:
            problem = str(error)
        finally:
            self._asking.discard(row.page_id)
        await self.follow()
        now = self._rows.get(row.page_id)
        if now is not None and now.token == row.token and problem != now.problem:
            if problem:
                log.warning("the hub of page %s: %s", row.page_id, problem)
            await self._put(replace(now, problem=problem))

    def _make_wanted(self, page_id: int) -> Hub:
        """Return the hub to subscribe to for a page, if any."""
        page = self._pages.get(page_id)
        if page is None or not self._signals.is_weighed(page_id):
            return Hub()
        is_plain = page.identity.owner_id is None and page.identity.method == "GET" and page.identity.proxy is None
        return self._hubs.get(page_id, Hub()) if is_plain else Hub()

    async def follow(self) -> None:
        """Read what other processes have stored of the answers of hubs."""
        if self._rows:
            self._rows = await self._list_rows()
            self._agree()

    async def _list_rows(self) -> dict[int, HubRow]:
        """Return the stored subscriptions of this planner's pages, watched or not."""
        rows = {row.page_id: row for row in await self._store.read(hints.list_hubs)}
        if self._shards.is_all or not rows:
            return rows
        hosts = await self._store.read(pages.list_hosts, rows.keys())
        return {page_id: row for page_id, row in rows.items() if self._shards.owns(hosts[page_id])}

    async def knows(self, token: str) -> bool:
        """Return whether a callback token belongs to an active subscription."""
        return is_known(find_row(self._rows.values(), token))

    async def verify(self, token: str, params: Mapping[str, str]) -> str | None:
        """Return the challenge if the hub verifies a request of ours, else None; record its refusal
        (W3C WebSub §5.2, §5.3).
        """
        row = find_row(self._rows.values(), token)
        challenge, answered = judge_callback(row, params, self._clock.now())
        if row is None or challenge is None:
            return None
        if answered is None:
            await self._drop(row.page_id)
            return challenge
        if answered.state == "refused":
            self._signals.tracker.leave(row.page_id, KIND)
        else:
            self._signals.tracker.cover(row.page_id, KIND)
        await self._put(answered)
        return challenge

    async def deliver(self, token: str, body: bytes, signature: str) -> bool:
        """Record a hub's notification as a hint; return whether its signature is valid. Others are
        ignored (W3C WebSub §7.1).
        """
        row = find_row(self._rows.values(), token)
        if row is None or not is_signed(token, body, signature, self._keys):
            return False
        await self._signals.take([row.page_id], kind=KIND)
        return True

    async def _put(self, row: HubRow) -> None:
        await self._store.write(_put, row, epoch=self._epoch)
        self._rows[row.page_id] = row

    async def _drop(self, page_id: int) -> None:
        await self._store.write(_drop, page_id, epoch=self._epoch)
        self._rows.pop(page_id, None)


def _read(state: Mapping[str, Any]) -> Hub:
    return Hub(str(state.get("hub", "")), str(state.get("topic", "")))


def _put(c: Connection, row: HubRow, *, epoch: int) -> None:
    lock.check_epoch(c, epoch)
    hints.put_hub(c, row)


def _drop(c: Connection, page_id: int, *, epoch: int) -> None:
    lock.check_epoch(c, epoch)
    hints.drop_hub(c, page_id)


def findings(c: Connection) -> Iterator[Finding]:
    """Yield `doctor`'s findings: each hub that does not notify as requested, and why if known."""
    rows = hints.list_hubs(c)
    failing = [
        warn("hub", f"{row.hub}: {why}: {pages.identity(c, row.page_id).given}", MEND)
        for row in rows
        if (why := _trouble(row))
    ]
    yield from shorten(failing)
    if not failing:
        active = sum(row.state == "active" for row in rows)
        yield ok("hubs", f"{active} of {len(rows)} report new entries" if rows else "no hub is used")


def _trouble(row: HubRow) -> str:
    """Return why a hub does not notify, empty if it does or soon may."""
    if row.problem or row.state != "asked" or row.attempts < UNANSWERED_ATTEMPTS:
        return row.problem
    return f"it took {row.attempts} requests and has verified none"


KIND: Final = "websub"
"""The kind of the hints that hubs give."""
LEASE: Final[Duration] = 10 * DAY
"""The requested lease; a hub may grant less or more."""
LEASE_LEAST, LEASE_MOST = HOUR, 30 * DAY
LONGEST_CHALLENGE: Final = 1_024
METHODS: Final = frozenset({"sha1", "sha256", "sha384", "sha512"})
"""Signature methods of hubs (W3C WebSub §7.1); the signature keeps forged hints out, and many still
use sha1.
"""


class LeftCallbacks:
    """Answers the callbacks of hubs in a process that does not poll.

    Args:
        store: The database.
        signals: Accepts hints.
        clock: The clock.
        keys: The keys of the installation.
    """

    def __init__(self, store: Store, signals: LeftSignals, clock: Clock, *, keys: Sequence[bytes]) -> None:
        self._store = store
        self._signals = signals
        self._clock = clock
        self._keys = keys

    async def knows(self, token: str) -> bool:
        """Return whether a callback token belongs to an active subscription."""
        return is_known(find_row(await self._store.read(hints.list_hubs), token))

    async def verify(self, token: str, params: Mapping[str, str]) -> str | None:
        """Return the challenge if the hub verifies a request of ours, else None; record its refusal
        (W3C WebSub §5.2, §5.3).
        """
        return await self._store.write(_verify, token, params, now=self._clock.now())

    async def deliver(self, token: str, body: bytes, signature: str) -> bool:
        """Record a hub's notification as a hint; return whether its signature is valid. Others are
        ignored (W3C WebSub §7.1).
        """
        row = find_row(await self._store.read(hints.list_hubs), token)
        if row is None or not is_signed(token, body, signature, self._keys):
            return False
        await self._signals.take([row.page_id], kind=KIND)
        return True


def find_row(rows: Iterable[HubRow], token: str) -> HubRow | None:
    """Return the subscription with a callback token, or None."""
    shown = token.encode(errors="replace")
    return next((row for row in rows if hmac.compare_digest(row.token.encode(), shown)), None)


def is_known(row: HubRow | None) -> bool:
    """Return whether a subscription is active, or may become so."""
    return row is not None and row.state in {"asked", "active"}


def secret_of(token: str, key: bytes) -> str:
    """Return the secret of one subscription, derived from a key of the installation and not
    stored.
    """
    return hmac.new(key, b"websub " + token.encode(), hashlib.sha256).hexdigest()


def is_signed(token: str, body: bytes, signature: str, keys: Iterable[bytes]) -> bool:
    """Return whether a notification has a valid signature of its subscription.

    Args:
        token: The token of the callback.
        body: The notification.
        signature: Method and digest, as the hub gives them.
        keys: The keys of the installation.
    """
    method, _, given = signature.strip().partition("=")
    if method not in METHODS:
        return False
    shown = given.lower().encode("ascii", "replace")
    expected = (hmac.new(secret_of(token, key).encode(), body, method).hexdigest() for key in keys)
    return any(hmac.compare_digest(each.encode(), shown) for each in expected)


def judge_callback(row: HubRow | None, params: Mapping[str, str], now: Instant) -> tuple[str | None, HubRow | None]:
    """Return the answer to a hub's request, None if it is refused; and the subscription after it,
    None if it has ended.

    Args:
        row: The subscription with the token of the request; None if there is none.
        params: The parameters of the request.
        now: The present (µs).
    """
    if row is None or params.get("hub.topic") != row.topic:
        return None, row
    challenge, mode = params.get("hub.challenge", ""), params.get("hub.mode", "")
    if mode == "denied":
        reason = f"the hub refuses: {params.get('hub.reason', 'it gives no reason')[:200]}"
        return "", replace(row, state="refused", problem=reason, due_at=now + DAY)
    if not 0 < len(challenge) <= LONGEST_CHALLENGE:
        return None, row
    if mode == "unsubscribe" and row.state == "leaving":
        return challenge, None
    if mode == "subscribe" and row.state != "leaving":
        seconds = params.get("hub.lease_seconds", "")
        lease = int(seconds[:12]) * SECOND if seconds.isascii() and seconds.isdecimal() else LEASE
        lease = min(max(lease, LEASE_LEAST), LEASE_MOST)
        until = now + lease
        return challenge, replace(row, state="active", until=until, due_at=now + lease * 2 // 3, attempts=0, problem="")
    return None, row


def _verify(c: Connection, token: str, params: Mapping[str, str], *, now: Instant) -> str | None:
    row = find_row(hints.list_hubs(c), token)
    challenge, answered = judge_callback(row, params, now)
    if row is None or challenge is None:
        return None
    if answered is None:
        hints.drop_hub(c, row.page_id)
    else:
        hints.put_hub(c, answered)
    return challenge
