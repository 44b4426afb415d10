"""Pages: their identity and their state after polls (contracts §3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from sys import intern
from typing import Any, NamedTuple, TypeVar

from tidings.errors import UnknownNameError
from tidings.model.interval import Instant
from tidings.model.observed.outcome import Validators
from tidings.model.observed.page import LOST_BODY, Health, PageIdentity, PageState, Saturation
from tidings.model.watch.asking import BrowserStep, Header, Login, Value
from tidings.storage.db.connection import (
    NUMBERS,
    Connection,
    SetAside,
    check_numbers,
    from_bytes,
    from_json,
    plain,
    readable,
    select,
    to_bytes,
    to_json,
)

_IDENTITY_COLUMNS, _HOST_COLUMN = 14, 3
_SELECT = (
    "SELECT page.key, page.url, page.given, page.host, page.method, page.body, page.render, page.frames, page.headers, page.trust,"
    " page.proxy, page.login, page.steps, page.owner_id, page.id, page.last_seq, page.body_size, page.body_xxh3, page.text_digest, page.charset, page.title,"
    " page.final_url, page.polled_at, page.checked_at, page.changed_at, page.text_changed_at, page.health, page.kind, page.reason,"
    " page.failures, page.failing_since, page.retry_at, page.polls, page.changes, page.unconditional_in, page.honest_streak,"
    " page.moved_to, page.moved_at, page.moved_sights, page.audited_at, page.suspect_kind, page.suspect_sha256, page.suspect_at, page.fresh_until,"
    " page.fresh_doubt, page.differing, page.differing_soon, page.saturated_quiet, page.saturated_at, page.problem, page.etag, page.last_modified FROM page"
)
_WATCHED = "EXISTS (SELECT 1 FROM subscription WHERE subscription.page_id = page.id AND subscription.active = 1)"
_PRIVATE = (
    "SELECT p.key FROM page p JOIN subscription u ON u.page_id = p.id"
    " WHERE u.sentinel_id = :id AND u.left_at IS NULL AND p.owner_id IS NOT NULL"
)
_REQUESTER = (
    "SELECT p.owner_id FROM page p JOIN subscription u ON u.page_id = p.id"
    " WHERE u.sentinel_id = :id AND p.owner_id IS NOT NULL ORDER BY u.id DESC LIMIT 1"
)
_ENSURE = (
    "INSERT INTO page (key, url, given, host, method, body, render, frames, headers, trust, proxy, login, steps, owner_id)"
    " VALUES (:key, :url, :given, :host, :method, :body, :render, :frames, :headers, :trust, :proxy, :login, :steps, :owner_id)"
    " ON CONFLICT (key) DO NOTHING RETURNING id"
)
_UPDATE = (
    "UPDATE page SET last_seq = :last_seq, body_size = :body_size, body_xxh3 = :body_xxh3, text_digest = :text_digest,"
    " charset = :charset, title = :title, final_url = :final_url, etag = :etag, last_modified = :last_modified,"
    " polled_at = :polled_at, checked_at = :checked_at, changed_at = :changed_at, text_changed_at = :text_changed_at,"
    " health = :health, kind = :kind, reason = :reason, failures = :failures, failing_since = :failing_since, retry_at = :retry_at,"
    " polls = :polls, changes = :changes, unconditional_in = :unconditional_in, honest_streak = :honest_streak, moved_to = :moved_to,"
    " moved_at = :moved_at, moved_sights = :moved_sights,"
    " audited_at = :audited_at, suspect_kind = :suspect_kind, suspect_sha256 = :suspect_sha256, suspect_at = :suspect_at,"
    " fresh_until = :fresh_until, fresh_doubt = :fresh_doubt, differing = :differing, differing_soon = :differing_soon,"
    " saturated_quiet = :saturated_quiet, saturated_at = :saturated_at, problem = :problem"
    " WHERE id = :page_id AND last_seq = :was"
)
_FORGET_BODY = (
    f"UPDATE page SET body_size = {LOST_BODY}, body_xxh3 = '', etag = NULL, last_modified = NULL, audited_at = NULL,"
    " fresh_until = NULL WHERE id = :page_id"
)
_GIVEN = {dialect: f"SELECT id, given FROM page WHERE id IN {numbers}" for dialect, numbers in NUMBERS.items()}
_FRAGMENTS = "SELECT id, given FROM page WHERE given LIKE 'http%://%#%'"
_GIVE = "UPDATE page SET given = :given WHERE id = :id"
_TITLES = {dialect: f"SELECT id, title FROM page WHERE id IN {numbers}" for dialect, numbers in NUMBERS.items()}
_NEVER_SATURATED = Saturation()
_HEALTH: dict[str, Health] = {"ok": "ok"}
T = TypeVar("T")
_AILING = "page.health <> 'ok' OR page.problem <> '' OR page.moved_sights > 0 OR page.saturated_at IS NOT NULL"
_LATE = (
    "COALESCE(page.retry_at, 0) < :before AND EXISTS (SELECT 1 FROM subscription u JOIN sentinel s ON s.id = u.sentinel_id"
    " WHERE u.page_id = page.id AND u.active = 1 AND u.left_at IS NULL AND (u.next_tick IS NULL OR u.next_tick <= :now)"
    " AND COALESCE(page.polled_at, s.started_at, s.created_at) < :before)"
)
_BRIEF = (
    "SELECT subscription.sentinel_id, page.id, page.given, page.health = 'ok', page.polls"
    " FROM subscription JOIN page ON page.id = subscription.page_id"
)
_EXPECTED = (
    "SELECT subscription.sentinel_id, page.id, subscription.label, subscription.taken <> '[]',"
    " subscription.next_tick, subscription.learned, page.given, page.polled_at, page.checked_at,"
    " page.retry_at, page.health, page.kind"
    " FROM subscription JOIN page ON page.id = subscription.page_id"
)


class Expected(NamedTuple):
    """What determines when a page is next polled for a sentinel.

    `label` is its name there, `taken` says whether a version was taken, `next_tick` is the next
    tick, `learned` the learned worth of its changes.
    """

    sentinel_id: int
    page_id: int
    label: str
    taken: bool
    next_tick: Instant | None
    learned: str
    given: str
    polled_at: Instant | None
    checked_at: Instant | None
    retry_at: Instant | None
    health: str
    kind: str


class Brief(NamedTuple):
    """A page of a sentinel as lists show it."""

    sentinel_id: int
    page_id: int
    given: str
    is_well: bool
    polls: int


def ensure(c: Connection, identity: PageIdentity) -> int:
    """Return the id of the page, creating it if it is new. The first `given` stays."""
    found = c.value(
        _ENSURE,
        key=identity.key,
        url=plain(identity.url),
        given=plain(identity.given),
        host=plain(identity.host),
        method=identity.method,
        body=_from_value(identity.body),
        render=identity.render,
        frames=identity.frames,
        headers=to_json([(header.name, header.value.text, header.value.is_secret) for header in identity.headers]),
        trust=plain(identity.trust),
        proxy=_from_value(identity.proxy),
        login=_from_login(identity.login),
        steps=_from_steps(identity.steps),
        owner_id=identity.owner_id,
    )
    if found is None:
        found = c.value("SELECT id FROM page WHERE key = :key", key=identity.key)
    return int(found)


def forget_fragments(c: Connection) -> int:
    """Remove what follows # from the addresses of pages as they were given, which earlier versions
    kept; return how many had it.
    """
    return c.many(_GIVE, [{"id": id, "given": given.partition("#")[0]} for id, given in c.rows(_FRAGMENTS)])


def get(c: Connection, id: int) -> tuple[PageIdentity, PageState]:
    """Return page `id` and its state. Raise `UnknownNameError` if there is none."""
    row = c.one(f"{_SELECT} WHERE id = :id", id=id)
    if row is None:
        raise UnknownNameError(f"there is no page {id}; `tidings list` shows what is watched")
    return readable([row], _to_both, "page")[0]


def list_private_keys(c: Connection, sentinel_id: int) -> frozenset[str]:
    """Return the keys of the pages of a sentinel that are requested with a secret or a cookie."""
    return frozenset(key for (key,) in c.rows(_PRIVATE, id=sentinel_id))


def find_requester(c: Connection, sentinel_id: int) -> int | None:
    """Return the owner of the secrets and cookies with which a sentinel requested a page last, None
    if it used none.
    """
    owner: int | None = c.value(_REQUESTER, id=sentinel_id)
    return owner


def identity(c: Connection, id: int) -> PageIdentity:
    """Return the identity of page `id`. Raise `UnknownNameError` if there is none."""
    return get(c, id)[0]


def state(c: Connection, id: int) -> PageState:
    """Return the state of page `id`. Raise `UnknownNameError` if there is none."""
    return get(c, id)[1]


def find_by_key(c: Connection, key: str) -> int | None:
    """Return the id of the page with that key, or None."""
    found: int | None = c.value("SELECT id FROM page WHERE key = :key", key=key)
    return found


def population(
    c: Connection, *, owns: Callable[[str], bool] | None = None, set_aside: SetAside | None = None
) -> list[tuple[PageIdentity, PageState]]:
    """Return every page that an active subscription watches, in the order of ids; `set_aside` as in
    `readable`.

    Args:
        owns: Returns whether the pages of a host are wanted; None for all.
        set_aside: Takes inconsistent rows.
    """
    rows = c.rows(f"{_SELECT} WHERE {_WATCHED} ORDER BY id")
    wanted = rows if owns is None else [row for row in rows if owns(row[_HOST_COLUMN])]
    return readable(wanted, _to_both, "page", set_aside)


def is_watched(c: Connection, id: int) -> bool:
    """Return whether an active subscription watches page `id`."""
    return bool(c.value(f"SELECT count(*) FROM page WHERE id = :id AND {_WATCHED}", id=id))


def list_hosts(c: Connection, ids: Collection[int]) -> dict[int, str]:
    """Return the hosts of these pages."""
    return {id: host for id in ids for (host,) in c.rows("SELECT host FROM page WHERE id = :id", id=id)}


def addresses(c: Connection, ids: Collection[int]) -> dict[int, str]:
    """Return the addresses of pages as they were given, by id; unknown ids are left out."""
    return dict(c.rows(_GIVEN[c.dialect], listed=to_json([*ids]))) if ids else {}


def titles(c: Connection, ids: Collection[int]) -> dict[int, str]:
    """Return the titles of pages by id; unknown ids are left out."""
    return dict(c.rows(_TITLES[c.dialect], listed=to_json([*ids]))) if ids else {}


def list_addresses(c: Connection) -> list[tuple[int, str]]:
    """Return number and normalised address of every page that an active subscription watches."""
    return c.rows(
        "SELECT id, url FROM page WHERE id IN (SELECT page_id FROM subscription WHERE active = 1) ORDER BY id"
    )


def ailing(c: Connection) -> list[tuple[PageIdentity, PageState]]:
    """Return the watched pages with a condition to report: failing, not comparable, moved or
    saturated.
    """
    return readable(c.rows(f"{_SELECT} WHERE ({_AILING}) AND {_WATCHED} ORDER BY id"), _to_both, "page")


def late(c: Connection, *, before: Instant, now: Instant) -> list[tuple[PageIdentity, PageState]]:
    """Return the watched pages that have waited since `before`, for no tick after `now`: not
    polled, begun or deliberately left since.
    """
    rows = c.rows(f"{_SELECT} WHERE {_LATE} ORDER BY id", before=before, now=now)
    return readable(rows, _to_both, "page")


def count(c: Connection) -> int:
    """Return how many pages are watched."""
    return int(c.value(f"SELECT count(*) FROM page WHERE {_WATCHED}"))


def briefs(c: Connection, *, sentinel_id: int | None = None) -> list[Brief]:
    """Return each page of each sentinel, or of one, as lists show it, in the order of the
    sentinel.
    """
    conditions = ["subscription.left_at IS NULL"]
    if sentinel_id is None:
        rows = c.rows(select(_BRIEF, conditions, "ORDER BY subscription.id"))
    else:
        conditions.append("subscription.sentinel_id = :id")
        rows = c.rows(select(_BRIEF, conditions, "ORDER BY subscription.id"), id=sentinel_id)
    return readable(rows, _to_brief, "page")


def list_expected(c: Connection, *, sentinel_id: int | None = None) -> list[Expected]:
    """Return what determines the next poll of each page of all sentinels, or of one, in the order
    of the sentinel.
    """
    conditions = ["subscription.left_at IS NULL"]
    if sentinel_id is None:
        rows = c.rows(select(_EXPECTED, conditions, "ORDER BY subscription.id"))
    else:
        conditions.append("subscription.sentinel_id = :id")
        rows = c.rows(select(_EXPECTED, conditions, "ORDER BY subscription.id"), id=sentinel_id)
    return readable(rows, _to_expected, "page")


def listing(c: Connection) -> list[tuple[PageIdentity, PageState]]:
    """Return every page, in the order of ids."""
    return readable(c.rows(f"{_SELECT} ORDER BY id"), _to_both, "page")


def update(c: Connection, states: Sequence[tuple[PageState, int]]) -> int:
    """Store states; each pair names the `last_seq` that the row must have before. Return how many
    rows matched.
    """
    return c.batch(_UPDATE, [_values(state, was) for state, was in states])


def forget_bodies(c: Connection, ids: Collection[int]) -> None:
    """Let pages be fetched anew whose newest body cannot be read any more."""
    c.many(_FORGET_BODY, [{"page_id": id} for id in ids])


def _values(state: PageState, was: int) -> tuple[Any, ...]:
    """Return the values of `_UPDATE`, in its order."""
    validators = state.validators
    return (
        state.last_seq,
        state.body_size,
        state.body_xxh3,
        state.text_digest,
        plain(state.charset),
        plain(state.title),
        plain(state.final_url),
        to_bytes(validators.etag),
        to_bytes(validators.last_modified),
        state.polled_at,
        state.checked_at,
        state.changed_at,
        state.text_changed_at,
        state.health,
        state.kind,
        plain(state.reason),
        state.failures,
        state.failing_since,
        state.retry_at,
        state.polls,
        state.changes,
        state.unconditional_in,
        state.honest_streak,
        plain(state.moved_to),
        state.moved_at,
        state.moved_sights,
        state.audited_at,
        state.suspect_kind,
        state.suspect_sha256,
        state.suspect_at,
        state.fresh_until,
        state.fresh_doubt,
        state.saturation.polls,
        state.saturation.soon,
        state.saturation.quiet,
        state.saturation.since,
        plain(state.problem),
        state.page_id,
        was,
    )


def _to_brief(row: tuple[Any, ...]) -> Brief:
    brief = Brief(*row)
    check_numbers(polls=brief.polls)
    return brief


def _to_expected(row: tuple[Any, ...]) -> Expected:
    found = Expected(*row)
    check_numbers(
        next_tick=found.next_tick, polled_at=found.polled_at, checked_at=found.checked_at, retry_at=found.retry_at
    )
    return found


def _to_both(row: tuple[Any, ...]) -> tuple[PageIdentity, PageState]:
    identity = _to_identity(row[:_IDENTITY_COLUMNS])
    return identity, _to_state(row[_IDENTITY_COLUMNS:], identity.url)


def _to_identity(row: tuple[Any, ...]) -> PageIdentity:
    key, url, given, host, method, body, render, frames, headers, trust, proxy, login, steps, owner_id = row
    return PageIdentity(
        key=key,
        url=url,
        given=_share(given, url),
        host=intern(host),
        method=intern(method),
        body=_to_value(body),
        render=render,
        frames=frames,
        headers=() if headers == "[]" else tuple(Header(name, Value(*value)) for name, *value in from_json(headers)),
        trust=trust,
        proxy=_to_value(proxy),
        login=_to_login(login),
        steps=_to_steps(steps),
        owner_id=owner_id,
    )


def _from_login(login: Login | None) -> str:
    if login is None:
        return ""
    user = [login.user.text, login.user.is_secret]
    return to_json([login.url, user, login.password, login.success, login.via])


def _to_login(text: str) -> Login | None:
    if not text:
        return None
    url, user, password, success, via = from_json(text)
    return Login(url, Value(*user), password, success, tuple(via))


def _from_steps(steps: tuple[BrowserStep, ...]) -> str:
    if not steps:
        return ""
    return to_json([[s.verb, s.language, s.place, _from_value(s.value), s.wait] for s in steps])


def _to_steps(text: str) -> tuple[BrowserStep, ...]:
    found = from_json(text) if text else []
    return tuple(
        BrowserStep(verb, language, place, _to_value(value), wait) for verb, language, place, value, wait in found
    )


def _share(value: T, known: T) -> T:
    """Return the object that is held already if the value equals it: a page stays in memory, with
    its address three times and the time of its last poll four times.
    """
    return known if value == known else value


def _to_state(row: tuple[Any, ...], url: str = "") -> PageState:
    (
        page_id, last_seq, body_size, body_xxh3, text_digest, charset, title, final_url,
        polled_at, checked_at, changed_at, text_changed_at, health, kind, reason, failures,
        failing_since, retry_at, polls, changes, unconditional_in, honest_streak, moved_to, moved_at, moved_sights, audited_at, suspect_kind,
        suspect_sha256, suspect_at, fresh_until, fresh_doubt, differing, soon, quiet, saturated_at,
        problem, etag, last_modified,
    ) = row  # fmt: skip
    check_numbers(
        last_seq=last_seq,
        body_size=body_size,
        polled_at=polled_at,
        checked_at=checked_at,
        changed_at=changed_at,
        text_changed_at=text_changed_at,
        failures=failures,
        failing_since=failing_since,
        retry_at=retry_at,
        polls=polls,
        changes=changes,
        unconditional_in=unconditional_in,
        honest_streak=honest_streak,
        moved_at=moved_at,
        moved_sights=moved_sights,
        audited_at=audited_at,
        suspect_at=suspect_at,
        fresh_until=fresh_until,
        fresh_doubt=fresh_doubt,
        saturated_at=saturated_at,
    )
    return PageState(
        page_id=page_id,
        last_seq=last_seq,
        body_size=body_size,
        body_xxh3=body_xxh3,
        text_digest=text_digest,
        charset=intern(charset),
        title=title,
        final_url=_share(final_url, url),
        validators=Validators(from_bytes(etag), from_bytes(last_modified)),
        polled_at=polled_at,
        checked_at=_share(checked_at, polled_at),
        changed_at=_share(changed_at, polled_at),
        text_changed_at=_share(text_changed_at, changed_at),
        health=_HEALTH.get(health, health),
        kind=kind,
        reason=reason,
        failures=failures,
        failing_since=failing_since,
        retry_at=retry_at,
        polls=polls,
        changes=changes,
        unconditional_in=unconditional_in,
        honest_streak=honest_streak,
        audited_at=_share(audited_at, polled_at),
        suspect_kind=suspect_kind,
        suspect_sha256=suspect_sha256,
        suspect_at=suspect_at,
        fresh_until=fresh_until,
        fresh_doubt=fresh_doubt,
        moved_to=moved_to,
        moved_at=moved_at,
        moved_sights=moved_sights,
        saturation=Saturation(differing, soon, quiet, saturated_at) if differing else _NEVER_SATURATED,
        problem=problem,
    )


def _from_value(value: Value | None) -> str:
    return "" if value is None else to_json((value.text, value.is_secret))


def _to_value(text: str) -> Value | None:
    return Value(*from_json(text)) if text else None
