"""Sentinels: what users asked for, and the state of each in its life (sentinels §2).

Also the defaults of tags: `Defaults For Tags …`, as the language prints it, per tag.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from tidings.errors import OvertakenError, UnknownNameError, UsageError
from tidings.model.event_type import EventType
from tidings.model.interval import Instant
from tidings.model.observed.page import PageIdentity
from tidings.model.observed.unit import Event, Premise, SentinelMove, Timer
from tidings.model.watch.sentinel import FetchEvery, Sentinel, State, Watched
from tidings.record import dataclass, replace
from tidings.storage.db.connection import NAMES, NUMBERS, UNLIMITED, Connection, select, to_json
from tidings.storage.observed import pages
from tidings.storage.watches import events
from tidings.storage.watches import subscriptions as subscription_rows
from tidings.storage.watches.events import OWNER
from tidings.storage.watches.subscriptions import SubscriptionRow
from tidings.storage.watches.subscriptions import listing as subscriptions

__all__ = [
    "SentinelRow",
    "SubscriptionRow",
    "create",
    "drop",
    "find",
    "get",
    "list_with_text",
    "listing",
    "move",
    "names",
    "subscriptions",
]


@dataclass(frozen=True, slots=True)
class SentinelRow:
    """A stored sentinel; `text` is the newest revision as the language prints it, made at
    `revised_at`, `pages` the number of its pages.
    """

    id: int
    name: str
    state: State
    reason: str
    revision: int
    text: str
    start_at: Instant | None
    end_at: Instant | None
    created_at: Instant
    started_at: Instant | None
    ended_at: Instant | None
    base_id: int | None
    tags: tuple[str, ...]
    pages: int
    revised_at: Instant = 0
    owner_id: int = events.OWNER
    resume_at: Instant | None = None
    """when a disabled sentinel is enabled again"""


_OWN = (
    "SELECT s.id, s.name, s.state, s.reason, s.revision, r.text, s.start_at, s.end_at, s.created_at, s.started_at, s.ended_at,"
    " s.base_id,"
)
_RESUMES = "resume"
"""The kind of the timers that end pauses."""
_PAUSED_UNTIL = "paused_until"
"""The key, in the event of an end, of when a pause would have ended."""
_RESUME_AT = f"(SELECT t.due_at FROM timer t WHERE t.kind = '{_RESUMES}' AND t.ref = s.id)"
_FROM = (
    f" r.created_at, s.owner_id, {_RESUME_AT}"
    " FROM sentinel s JOIN sentinel_revision r ON r.sentinel_id = s.id AND r.number = s.revision"
)
_PAGES = " (SELECT count(DISTINCT u.page_id) FROM subscription u WHERE u.sentinel_id = s.id AND u.left_at IS NULL),"
_SELECT = f"{_OWN}{_PAGES}{_FROM}"
_BRIEF = f"{_OWN} 0,{_FROM}".replace(_RESUME_AT, f"CASE WHEN s.state = 'disabled' THEN {_RESUME_AT} END")
_WATCHES = {
    dialect: "SELECT s.name, s.id, s.state, u.page_id FROM sentinel s"
    " LEFT JOIN subscription u ON u.sentinel_id = s.id AND u.left_at IS NULL"
    f" WHERE s.dropped = 0 AND s.name IN {names} ORDER BY s.id, u.id"
    for dialect, names in NAMES.items()
}
_REVISIONS = {
    dialect: f"SELECT id, revision FROM sentinel WHERE id IN {numbers}" for dialect, numbers in NUMBERS.items()
}
SEEN = (
    "(s.owner_id IN (1, :viewer) OR EXISTS (SELECT 1 FROM tag st JOIN shared_tag sh"
    " ON sh.owner_id = s.owner_id AND sh.tag = st.name WHERE st.sentinel_id = s.id))"
)
"""The condition that the owner `viewer` sees a sentinel `s`: it is their own, everybody's, or
shared by a tag.
"""
OF_TAG = "EXISTS (SELECT 1 FROM tag t WHERE t.sentinel_id = s.id AND t.name = :tag)"
"""The condition that a sentinel has a tag."""
OF_NAME = (
    "s.name = :sentinel AND s.owner_id = (SELECT h.owner_id FROM sentinel h WHERE h.name = :sentinel"
    " ORDER BY CASE WHEN h.dropped = 0 THEN 0 ELSE 1 END, h.id DESC LIMIT 1)"
)
"""The condition that a sentinel `s` has the name `sentinel`, or had it until it was dropped: only
those of the owner who has the name now, or had it last. A name that is free again may be taken by
another owner, who must not see what was found under it before.
"""
_INSERT = (
    "INSERT INTO sentinel (owner_id, name, state, start_at, end_at, created_at, started_at, ended_at, base_id)"
    " VALUES (:owner_id, :name, :state, :start_at, :end_at, :at, :started_at, :ended_at, :base_id)"
    " ON CONFLICT (owner_id, name, dropped) DO NOTHING RETURNING id"
)
_INSERT_TEXT = (
    "INSERT INTO sentinel_revision (sentinel_id, number, text, created_at) VALUES (:sentinel_id, 1, :text, :at)"
)
_PREMISES = f"SELECT revision, state, started_at, ended_at, {_RESUME_AT} FROM sentinel s WHERE id = :id"
_STATE = f"SELECT name, state, {_RESUME_AT}, s.reason FROM sentinel s WHERE id = :id"
_MOVE = (
    "UPDATE sentinel SET state = :state, reason = :reason, started_at = CASE WHEN :started = 1 AND started_at IS NULL THEN :at"
    " ELSE started_at END, ended_at = CASE WHEN :ended = 1 THEN :at ELSE ended_at END WHERE id = :id"
)


def create(
    c: Connection,
    sentinel: Sentinel,
    *,
    text: str,
    pages: Sequence[tuple[Watched, PageIdentity]],
    state: State,
    start_at: Instant | None,
    end_at: Instant | None,
    at: Instant,
    base_id: int | None = None,
    owner_id: int = events.OWNER,
) -> SentinelRow:
    """Store a sentinel with its pages, subscriptions and the event `sentinel.created`; return its
    row.

    A fixed interval ticks first at `start_at` (at `at` if there is none). Raises `UsageError` if
    the name is taken.

    Args:
        sentinel: The parsed sentinel.
        text: Its canonical text.
        pages: Each page as the sentinel names it, with its identity.
        state: The first state.
        start_at: When it starts (µs); None if that is not fixed.
        end_at: When it ends (µs); None if that is not fixed.
        at: When it is created (µs).
        base_id: The sentinel whose life it follows, if any.
        owner_id: The owner.
    """
    is_enabled = state == "enabled"
    is_taken = c.value("SELECT 1 FROM sentinel WHERE name = :name AND dropped = 0", name=sentinel.name) is not None
    sentinel_id = (
        None
        if is_taken
        else c.value(
            _INSERT,
            owner_id=owner_id,
            name=sentinel.name,
            state=state,
            start_at=start_at,
            end_at=end_at,
            at=at,
            started_at=at if is_enabled else None,
            ended_at=at if state == "ended" else None,
            base_id=base_id,
        )
    )
    if sentinel_id is None:
        raise UsageError(
            f"there is a sentinel {sentinel.name} already; use another name, or `tidings drop {sentinel.name}` first"
        )
    c.execute(_INSERT_TEXT, sentinel_id=sentinel_id, text=text, at=at)
    c.many(
        "INSERT INTO tag (sentinel_id, name) VALUES (:sentinel_id, :name)",
        [{"sentinel_id": sentinel_id, "name": name} for name in dict.fromkeys(sentinel.tags)],
    )
    next_tick = first_tick(sentinel, at if start_at is None else start_at)
    _subscribe(c, sentinel_id, pages, next_tick=next_tick, active=is_enabled)
    events.append(
        c,
        [
            Event(
                type=EventType.SENTINEL_CREATED,
                at=at,
                sentinel_id=sentinel_id,
                data={"name": sentinel.name, "state": state},
            )
        ],
    )
    return get(c, sentinel_id)


def _subscribe(
    c: Connection,
    sentinel_id: int,
    watched: Sequence[tuple[Watched, PageIdentity]],
    *,
    next_tick: Instant | None,
    active: bool,
) -> None:
    for page, identity in watched:
        page_id = pages.ensure(c, identity)
        subscription_rows.add(
            c, sentinel_id=sentinel_id, page_id=page_id, label=page.name or "", next_tick=next_tick, active=active
        )


def find(c: Connection, name: str) -> SentinelRow:
    """Return the sentinel of that name that was not dropped. Raise `UnknownNameError` if there is
    none.
    """
    rows = c.rows(f"{_SELECT} WHERE s.name = :name AND s.dropped = 0", name=name)
    if not rows:
        raise UnknownNameError(f'there is no sentinel "{name}"; `tidings list` shows all')
    return _with_tags(c, rows)[0]


class PagesOfSentinel(NamedTuple):
    """What a sentinel watches: its state, and its pages in the order of its subscriptions."""

    sentinel_id: int
    state: State
    page_ids: list[int]


def watches(c: Connection, names: Collection[str]) -> dict[str, PagesOfSentinel]:
    """Return what the sentinels of these names watch, by name; those that do not exist are left
    out.
    """
    found: dict[str, PagesOfSentinel] = {}
    for name, sentinel_id, state, page_id in c.rows(_WATCHES[c.dialect], listed=to_json([*names])):
        watch = found.setdefault(name, PagesOfSentinel(sentinel_id, state, []))
        if page_id is not None and watch.sentinel_id == sentinel_id:
            watch.page_ids.append(page_id)
    return found


def get(c: Connection, id: int) -> SentinelRow:
    """Return sentinel `id`, dropped ones too. Raise `UnknownNameError` if there is none."""
    rows = c.rows(f"{_SELECT} WHERE s.id = :id", id=id)
    if not rows:
        raise UnknownNameError(f"there is no sentinel with the id {id}; `tidings list` shows all")
    return _with_tags(c, rows)[0]


def are_newest(c: Connection, texts: Collection[tuple[int, int]]) -> bool:
    """Return whether each (sentinel, revision) is the newest text of its sentinel."""
    rows = c.rows(_REVISIONS[c.dialect], listed=to_json(sorted({id for id, _ in texts}))) if texts else ()
    present = dict(rows)
    return all(present.get(id, revision) == revision for id, revision in texts)


def get_revised(c: Connection, id: int, revision: int) -> SentinelRow:
    """Return sentinel `id` with the text of an earlier revision, or of the newest if that one is
    gone. Raise `UnknownNameError` if there is no such sentinel.
    """
    row = get(c, id)
    text = "SELECT text, created_at FROM sentinel_revision WHERE sentinel_id = :id AND number = :number"
    found = None if revision == row.revision else c.one(text, id=id, number=revision)
    return row if found is None else replace(row, revision=revision, text=found[0], revised_at=found[1])


def is_living(c: Connection, id: int) -> bool:
    """Return whether there is a sentinel `id` that has not ended."""
    return c.value("SELECT 1 FROM sentinel WHERE id = :id AND state <> 'ended'", id=id) is not None


def list_with_text(c: Connection, words: str) -> list[SentinelRow]:
    """Return the living sentinels whose text contains these words, also inside quotes, in the order
    of creation.
    """
    conditions = ["s.state <> 'ended'", "r.text LIKE :pattern"]
    rows = c.rows(
        select(_SELECT, conditions, "ORDER BY s.id"), pattern=f"%{words}%"
    )  # _ matches any letter: a few more may match
    return [row for row in _with_tags(c, rows) if words in row.text]


def listing(
    c: Connection,
    *,
    ended: bool = False,
    tag: str | None = None,
    viewer: int | None = None,
    state: str = "",
    after: int = 0,
    limit: int = UNLIMITED,
    is_brief: bool = False,
) -> list[SentinelRow]:
    """Return sentinels in the order of creation, those that `viewer` sees (None: all).

    Args:
        ended: Whether those that have ended or were dropped are listed too.
        tag: The tag that they have; None for any.
        viewer: The owner who reads; None for one who sees all.
        state: The state that they are in; "" for any.
        after: The number above which theirs are.
        limit: How many at most.
        is_brief: Whether tags and numbers of pages are left out, which take half of the time.
    """
    conditions = [*([] if ended else ["s.state <> 'ended'"]), *restrict_to_viewer(viewer)]
    given: dict[str, Any] = {"limit": limit} | ({} if viewer is None else {"viewer": viewer})
    if tag is not None:
        conditions.append(OF_TAG)
        given["tag"] = tag
    if state:
        conditions.append("s.state = :state")
        given["state"] = state
    if after:
        conditions.append("s.id > :after")
        given["after"] = after
    tail = "ORDER BY s.id LIMIT :limit"
    if is_brief:
        rows = c.rows(select(_BRIEF, conditions, tail), **given)
        return [SentinelRow(*[*row[:12], (), *row[12:]]) for row in rows]
    return _with_tags(c, c.rows(select(_SELECT, conditions, tail), **given))


def restrict_to_viewer(viewer: int | None) -> list[str]:
    """Return the condition under which an owner sees a sentinel `s`, empty for one who sees all."""
    return [] if viewer is None else [SEEN]


def is_seen(c: Connection, id: int, viewer: int | None) -> bool:
    """Return whether an owner sees a sentinel."""
    text = f"SELECT 1 FROM sentinel s WHERE s.id = :id AND {SEEN}"
    return viewer is None or c.value(text, id=id, viewer=viewer) is not None


def count(c: Connection, *, viewer: int | None = None) -> int:
    """Return how many living sentinels `viewer` sees."""
    text = select("SELECT count(*) FROM sentinel s", ["s.state <> 'ended'", *restrict_to_viewer(viewer)])
    return int(c.value(text, **({} if viewer is None else {"viewer": viewer})))


def tags(c: Connection, *, viewer: int | None = None) -> list[str]:
    """Return the tags of living sentinels that `viewer` sees, in alphabetical order."""
    base = "SELECT DISTINCT t.name FROM tag t JOIN sentinel s ON s.id = t.sentinel_id"
    text = select(base, ["s.state <> 'ended'", *restrict_to_viewer(viewer)], "ORDER BY t.name")
    return [row[0] for row in c.rows(text, **({} if viewer is None else {"viewer": viewer}))]


def names(c: Connection, *, viewer: int | None = None, limit: int = UNLIMITED) -> list[str]:
    """Return the names of the sentinels that `viewer` sees (None: all), in alphabetical order, at
    most `limit`.
    """
    base, conditions = "SELECT s.name FROM sentinel s", ["s.dropped = 0", *restrict_to_viewer(viewer)]
    text = select(base, conditions, "" if limit == UNLIMITED else f"ORDER BY s.name LIMIT {limit:d}")
    return sorted(row[0] for row in c.rows(text, **({} if viewer is None else {"viewer": viewer})))


def is_overtaken(c: Connection, step: SentinelMove) -> bool:
    """Return whether a sentinel on which a step was decided was altered, moved or dropped since."""
    return not all(_holds(c, premise) for premise in step.premises)


def _holds(c: Connection, premise: Premise) -> bool:
    row = c.one(_PREMISES, id=premise.sentinel_id)
    if row is None:
        return False
    revision, state, started_at, ended_at, resume_at = row
    return (
        revision == premise.revision
        and (not premise.states or state in premise.states)
        and started_at in premise.started_at
        and ended_at in premise.ended_at
        and (not premise.resume_at or resume_at in premise.resume_at)
    )


def move(c: Connection, step: SentinelMove) -> None:
    """Move a sentinel to a state, with the event `sentinel.<state>`. Do nothing if it has that
    state already (for as long, if it is disabled), or another one than the step was decided on
    (`step.before`): another process was first.

    Its subscriptions are active while it is enabled. Raises `UsageError` for a step out of `ended`,
    which is final, and `OvertakenError` if another process has taken a step that only one may take.
    """
    row = c.one(_STATE, id=step.sentinel_id)
    if row is None:
        raise UnknownNameError(f"there is no sentinel with the id {step.sentinel_id}; `tidings list` shows all")
    name, before, resume_at, reason = row
    if step.is_sole and (before, reason) == (step.state, step.reason):
        raise OvertakenError(f"another process has ended the sentinel {name}: what it reports is decided again")
    if (before, resume_at) == (step.state, step.resume_at) or step.before not in {None, before}:
        return
    if before == "ended":
        raise UsageError(
            f"the sentinel {name} has ended, which is final; `tidings drop {name}` frees the name for a new one"
        )
    c.execute(
        _MOVE,
        id=step.sentinel_id,
        state=step.state,
        reason=step.reason,
        at=step.at,
        started=int(step.state == "enabled"),
        ended=int(step.state == "ended"),
    )
    subscription_rows.activate(c, step.sentinel_id, active=step.state == "enabled", at=step.at)
    events.put_timers(c, [Timer(kind=_RESUMES, ref=step.sentinel_id, due_at=step.resume_at)])
    data = {"name": name, "before": before, "reason": step.reason}
    data |= {} if step.resume_at is None else {"resume_at": step.resume_at}
    data |= {} if resume_at is None or step.state != "ended" else {_PAUSED_UNTIL: resume_at}
    events.append(
        c, [Event(type=EventType(f"sentinel.{step.state}"), at=step.at, sentinel_id=step.sentinel_id, data=data)]
    )


def alter(
    c: Connection,
    id: int,
    sentinel: Sentinel,
    *,
    text: str,
    pages: Sequence[tuple[Watched, PageIdentity, PageIdentity]],
    start_at: Instant | None,
    end_at: Instant | None,
    ticks_anew: bool,
    compares_anew: bool,
    at: Instant,
) -> SentinelRow:
    """Replace a sentinel's clauses: store a new revision, with the event `sentinel.altered`; return
    its row.

    Cursors stay, so that an altered clause never looks like a change of the page (sentinels §2.2).
    Where a page is now requested differently, the first version of the new one becomes the
    baseline. Earlier changes stay with the revision that found them.

    Args:
        id: The sentinel's number.
        sentinel: The parsed sentinel.
        text: Its canonical text.
        pages: Each page as the sentinel names it, its identity before and now.
        start_at: When it starts (µs); None if that is not fixed.
        end_at: When it ends (µs); None if that is not fixed.
        ticks_anew: Whether a fixed interval begins again.
        compares_anew: Whether the next poll ignores validators.
        at: When it is altered (µs).
    """
    before = get(c, id)
    number = before.revision + 1
    c.execute(
        "INSERT INTO sentinel_revision (sentinel_id, number, text, created_at) VALUES (:id, :number, :text, :at)",
        id=id,
        number=number,
        text=text,
        at=at,
    )
    c.execute(
        "UPDATE sentinel SET revision = :number, start_at = :start_at, end_at = :end_at WHERE id = :id",
        id=id,
        number=number,
        start_at=start_at,
        end_at=end_at,
    )
    c.execute("DELETE FROM tag WHERE sentinel_id = :id", id=id)
    c.many(
        "INSERT INTO tag (sentinel_id, name) VALUES (:sentinel_id, :name)",
        [{"sentinel_id": id, "name": name} for name in dict.fromkeys(sentinel.tags)],
    )
    next_tick = first_tick(sentinel, at)
    for row in subscriptions(c, sentinel_id=id):
        revised = replace(row, revision=number)
        if ticks_anew:
            revised = replace(revised, next_tick=next_tick)
        if compares_anew:
            revised = replace(revised, altered_at=at, learned="")
        elif row.missing is not None:
            revised = replace(revised, missing=replace(row.missing, revision=number))
        subscription_rows.revise(c, revised)
    _move_pages(c, before, number, pages, next_tick=next_tick, at=at)
    events.append(
        c,
        [Event(type=EventType.SENTINEL_ALTERED, at=at, sentinel_id=id, data={"name": before.name, "revision": number})],
    )
    return get(c, id)


def _move_pages(
    c: Connection,
    row: SentinelRow,
    revision: int,
    watched: Sequence[tuple[Watched, PageIdentity, PageIdentity]],
    *,
    next_tick: Instant | None,
    at: Instant,
) -> None:
    """Unsubscribe a sentinel from pages that it now requests differently, and subscribe it to the
    new ones.
    """
    subscriptions_by_page = {(sub.page_id, sub.label): sub for sub in subscriptions(c, sentinel_id=row.id)}
    for page, was, now in watched:
        if was.key == now.key:
            continue
        sub = subscriptions_by_page.pop((pages.ensure(c, was), page.name or ""), None)
        if sub is not None:
            subscription_rows.leave(c, sub.id, at)
        subscription_rows.add(
            c,
            sentinel_id=row.id,
            page_id=pages.ensure(c, now),
            label=page.name or "",
            next_tick=next_tick,
            active=row.state == "enabled",
            since=at,
            revision=revision,
        )


def first_tick(sentinel: Sentinel, at: Instant) -> Instant | None:
    """Return the first tick of a sentinel with a fixed interval; None: it is computed on demand."""
    return at if isinstance(sentinel.fetch, FetchEvery) else None


def renew(c: Connection, id: int, sentinel: Sentinel, at: Instant) -> None:
    """Make the next version of each of a sentinel's pages a new baseline, with the event
    `sentinel.renewed`.

    Args:
        id: The number of the sentinel.
        sentinel: What it means.
        at: When (µs).
    """
    subscription_rows.renew(c, id, at=at, next_tick=first_tick(sentinel, at))
    events.append(c, [Event(type=EventType.SENTINEL_RENEWED, at=at, sentinel_id=id, data={"name": sentinel.name})])


def settle(c: Connection, id: int, *, start_at: Instant | None, end_at: Instant | None, at: Instant) -> None:
    """Store the final start and end of a sentinel, with the event `sentinel.altered`.

    Args:
        id: The sentinel's number.
        start_at: When it starts (µs); None if that is not fixed.
        end_at: When it ends (µs); None if that is not fixed.
        at: When that became known (µs).
    """
    row = get(c, id)
    c.execute(
        "UPDATE sentinel SET start_at = :start_at, end_at = :end_at WHERE id = :id",
        id=id,
        start_at=start_at,
        end_at=end_at,
    )
    events.append(c, [Event(type=EventType.SENTINEL_ALTERED, at=at, sentinel_id=id, data={"name": row.name})])


def last_of(c: Connection, name: str) -> SentinelRow | None:
    """Return the sentinel of that name, else the last dropped one that had it, or None."""
    try:
        return find(c, name)
    except UnknownNameError:
        return last_holder(c, name)


def last_holder(c: Connection, name: str) -> SentinelRow | None:
    """Return the last dropped sentinel that had a name, or None."""
    rows = c.rows(f"{_SELECT} WHERE s.name = :name AND s.dropped <> 0 ORDER BY s.id DESC LIMIT 1", name=name)
    return _with_tags(c, rows)[0] if rows else None


def rename(c: Connection, id: int, name: str, *, text: str, at: Instant) -> SentinelRow:
    """Rename a sentinel, also in its text, with the event `sentinel.altered`; return its row.

    Raises `UsageError` if the name is taken.

    Args:
        id: The sentinel's number.
        name: The new name.
        text: The canonical text with the new name.
        at: When it is renamed (µs).
    """
    if name in names(c):
        raise UsageError(f"there is a sentinel {name} already; use another name, or `tidings drop {name}` first")
    before = get(c, id)
    c.execute("UPDATE sentinel SET name = :name WHERE id = :id", id=id, name=name)
    rewrite(c, id, before.revision, text)
    events.append(
        c, [Event(type=EventType.SENTINEL_ALTERED, at=at, sentinel_id=id, data={"name": name, "before": before.name})]
    )
    return get(c, id)


def reword(c: Connection, id: int, text: str, *, at: Instant) -> None:
    """Replace a sentinel's text by an equivalent one, with the event `sentinel.altered`, so that
    the running service reads it again.

    Args:
        id: The sentinel's number.
        text: Its canonical text.
        at: When it is written (µs).
    """
    row = get(c, id)
    rewrite(c, id, row.revision, text)
    events.append(c, [Event(type=EventType.SENTINEL_ALTERED, at=at, sentinel_id=id, data={"name": row.name})])


def texts(c: Connection) -> list[tuple[int, int, str]]:
    """Return (sentinel, revision, text) of every revision."""
    return list(c.rows("SELECT sentinel_id, number, text FROM sentinel_revision ORDER BY sentinel_id, number"))


def rewrite(c: Connection, id: int, number: int, text: str) -> None:
    """Replace the text of a revision by an equivalent one, without an event.

    Args:
        id: The number of the sentinel.
        number: The number of the revision.
        text: Its canonical text.
    """
    c.execute(
        "UPDATE sentinel_revision SET text = :text WHERE sentinel_id = :id AND number = :number",
        id=id,
        number=number,
        text=text,
    )


def drop(c: Connection, id: int, at: Instant) -> None:
    """End a sentinel (reason `dropped`) and free its name; its history stays. Dropping twice does
    nothing more.
    """
    move(c, SentinelMove(sentinel_id=id, state="ended", at=at, reason="dropped"))
    c.execute("UPDATE sentinel SET dropped = id WHERE id = :id", id=id)


def give(c: Connection, id: int, owner_id: int) -> None:
    """Transfer a sentinel to an owner."""
    c.execute("UPDATE sentinel SET owner_id = :owner_id WHERE id = :id", id=id, owner_id=owner_id)


def restore(c: Connection, id: int, at: Instant) -> SentinelRow:
    """Restore a dropped sentinel with its name and state, and the end of its pause, with the event
    of that state.

    Raises `UsageError` if it was not dropped, or its name is taken by now.
    """
    row = get(c, id)
    ended = events.newest(c, EventType.SENTINEL_ENDED, sentinel_id=id)
    before = "" if ended is None else str(ended.data.get("before", ""))
    if row.state != "ended" or row.reason != "dropped" or not before:
        raise UsageError(f"{row.name} was not dropped while it was watched, so it cannot be restored")
    if row.name in names(c):
        raise UsageError(f"another sentinel is called {row.name} by now; `tidings rename {row.name} NEW-NAME` first")
    return revive(c, id, at)


def revive(c: Connection, id: int, at: Instant) -> SentinelRow:
    """Undo the end of a sentinel: it has the state again that it ended in, and the end of its
    pause, with the event of that state. Do nothing if that is not known.
    """
    row = get(c, id)
    ended = events.newest(c, EventType.SENTINEL_ENDED, sentinel_id=id)
    if row.state != "ended" or ended is None or not (before := str(ended.data.get("before", ""))):
        return row
    c.execute(
        "UPDATE sentinel SET dropped = 0, state = :state, reason = '', ended_at = NULL WHERE id = :id",
        id=id,
        state=before,
    )
    subscription_rows.activate(c, id, active=before == "enabled", at=at)
    data = {"name": row.name, "before": "ended", "reason": "restored"}
    if (resume_at := ended.data.get(_PAUSED_UNTIL)) is not None:
        events.put_timers(c, [Timer(kind=_RESUMES, ref=id, due_at=resume_at)])
        data["resume_at"] = resume_at
    events.append(c, [Event(type=EventType(f"sentinel.{before}"), at=at, sentinel_id=id, data=data)])
    return get(c, id)


def undo_start(c: Connection, id: int, sentinel: Sentinel, at: Instant) -> None:
    """Let a sentinel wait for its start again, with the event `sentinel.waiting`; it then begins
    with a new baseline. A paused one stays paused.

    Args:
        id: The sentinel's number.
        sentinel: Its meaning.
        at: When (µs).
    """
    row = get(c, id)
    state = "waiting" if row.state == "enabled" else row.state
    c.execute("UPDATE sentinel SET state = :state, started_at = NULL WHERE id = :id", id=id, state=state)
    subscription_rows.activate(c, id, active=False, at=at)
    renew(c, id, sentinel, at)
    data = {"name": row.name, "before": row.state, "reason": "the start that it followed was undone"}
    kind = EventType.SENTINEL_WAITING if state == "waiting" else EventType.SENTINEL_ALTERED
    events.append(c, [Event(type=kind, at=at, sentinel_id=id, data=data)])


def text_of(c: Connection, id: int, number: int) -> str:
    """Return the text of a revision, "" if there is none of that number."""
    text = c.value(
        "SELECT text FROM sentinel_revision WHERE sentinel_id = :id AND number = :number", id=id, number=number
    )
    return "" if text is None else str(text)


_TAGS = {
    dialect: f"SELECT sentinel_id, name FROM tag WHERE sentinel_id IN {numbers} ORDER BY sentinel_id, name"
    for dialect, numbers in NUMBERS.items()
}


def _with_tags(c: Connection, rows: list[tuple[Any, ...]]) -> list[SentinelRow]:
    tags: dict[int, list[str]] = {}
    if not rows:
        return []
    for sentinel_id, name in c.rows(_TAGS[c.dialect], listed=to_json([row[0] for row in rows])):
        tags.setdefault(sentinel_id, []).append(name)
    return [SentinelRow(*[*row[:12], tuple(tags.get(row[0], ())), *row[12:]]) for row in rows]


_GET_DEFAULT = "SELECT text FROM tag_default WHERE owner_id = :owner_id AND tag = :tag"
_PUT_DEFAULT = (
    "INSERT INTO tag_default (owner_id, tag, text) VALUES (:owner_id, :tag, :text)"
    " ON CONFLICT (owner_id, tag) DO UPDATE SET text = excluded.text"
)
_DELETE_DEFAULT = "DELETE FROM tag_default WHERE owner_id = :owner_id AND tag = :tag"
_LIST_DEFAULTS = "SELECT tag, text FROM tag_default WHERE owner_id = :owner_id ORDER BY tag"


def get_tag_default(c: Connection, tag: str, *, owner_id: int = OWNER) -> str | None:
    """Return the statement of a tag: of an owner, else of the installation; or None."""
    own: str | None = c.value(_GET_DEFAULT, owner_id=owner_id, tag=tag)
    text: str | None = c.value(_GET_DEFAULT, owner_id=OWNER, tag=tag) if own is None else own
    return text


def put_tag_default(c: Connection, tag: str, text: str | None, *, owner_id: int = OWNER) -> None:
    """Store the defaults of a tag.

    Args:
        tag: The tag.
        text: The statement; None deletes it.
        owner_id: Whose sentinels it is for; the installation's is for all.
    """
    if text is None:
        c.execute(_DELETE_DEFAULT, owner_id=owner_id, tag=tag)
    else:
        c.execute(_PUT_DEFAULT, owner_id=owner_id, tag=tag, text=text)


def list_all_tag_defaults(c: Connection) -> list[str]:
    """Return the statements of the tags of all owners."""
    return [row[0] for row in c.rows("SELECT text FROM tag_default ORDER BY owner_id, tag")]


def list_tag_defaults(c: Connection, *, owner_id: int = OWNER) -> dict[str, str]:
    """Return the statement of each tag for which an owner has one, in alphabetical order."""
    return dict(c.rows(_LIST_DEFAULTS, owner_id=owner_id))
