"""Commit units of work: everything that outcomes write, atomically (contracts §1).

Units of one transaction are written table by table, in the order of the units, so that a group of
unchanged polls is three statements. The transaction rolls back the rows of a unit that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from tidings.errors import OvertakenError, StaleEpochError, UnitError
from tidings.model.observed.unit import ChangeRow, DeliveryDraft, Event, Unit
from tidings.model.observed.version import Blob, NewBody, Version
from tidings.record import dataclass, replace
from tidings.storage.db import instance, lock
from tidings.storage.db.connection import Connection, plain
from tidings.storage.observed import estimates, hosts, members, pages, polls, versions
from tidings.storage.watches import changes, deliveries, endpoints, events, sentinels, subscriptions, values
from tidings.storage.write import retention


@dataclass(frozen=True, slots=True)
class Committed:
    """The numbers that a unit's `events` got and the ids of its `deliveries`, in order.

    For a change that was stored before, they are the earlier ones.
    """

    event_seqs: tuple[int, ...] = ()
    delivery_ids: tuple[str, ...] = ()


Keep = Callable[[Connection, NewBody], tuple[Sequence[Blob], Sequence[str]]]
"""Returns the rows that store a new body, and the files that become garbage; writes nothing."""

_NOTHING = Committed()
_QUARANTINE = (
    "INSERT INTO quarantine (page_id, at, kind, sha256, reason) VALUES (:page_id, :at, :kind, :sha256, :reason)"
)


def commit(c: Connection, units: Sequence[Unit], keep: Keep | None = None) -> list[Committed]:
    """Write units in order, all in the caller's transaction. `keep` plans how their new bodies are
    stored.

    A unit whose step in a sentinel's life was decided on clauses that have been altered since is
    skipped. Raises `StaleEpochError`, `ClaimLostError`, `OvertakenError` if messages were made from
    an older text or another process has reported what is reported once, and `UnitError` if a unit
    contradicts what is stored: the caller must then roll back.
    """
    _check_epochs(c, units)
    units = [Unit(at=unit.at, epoch=unit.epoch, claim=unit.claim) if _is_overtaken(c, unit) else unit for unit in units]
    polls.finish(c, [unit.poll for unit in units if unit.poll is not None])
    _write_versions(c, units, keep)
    _write_pages(c, units)
    subscriptions.move(c, list(chain.from_iterable(unit.cursors for unit in units)))
    rare = [unit for unit in units if _is_rare(unit)]
    if not rare:
        return [_NOTHING] * len(units)
    _write_states(c, rare)
    _write_comparisons(c, rare)
    made = {id(unit): entry for unit, entry in zip(rare, _write_news(c, rare), strict=True)}
    return [made.get(id(unit), _NOTHING) for unit in units]


def _check_epochs(c: Connection, units: Iterable[Unit]) -> None:
    epochs = {unit.epoch for unit in units if unit.claim is None}
    if len(epochs) > 1:
        raise StaleEpochError(f"units of the epochs {sorted(epochs)} in one commit: only one of them can hold")
    for epoch in epochs:
        lock.check_epoch(c, epoch)
    for claim in {unit.claim for unit in units if unit.claim is not None}:
        lock.check_claim(c, claim)


def _is_overtaken(c: Connection, unit: Unit) -> bool:
    return any(sentinels.is_overtaken(c, step) for step in unit.sentinels)


def _is_rare(unit: Unit) -> bool:
    return bool(
        unit.version
        or unit.hosts
        or unit.estimates
        or unit.timers
        or unit.digests
        or unit.comparisons
        or unit.quarantined
        or unit.changes
        or unit.events
        or unit.deliveries
        or unit.results
        or unit.endpoints
        or unit.sentinels
        or unit.rules
        or unit.values
        or unit.answered
        or unit.garbage
        or unit.frames is not None
    )


def _write_versions(c: Connection, units: Sequence[Unit], keep: Keep | None) -> None:
    """Write blobs, unit by unit, since a later unit may depend on an earlier one; then the versions
    that name them.
    """
    made: list[Version] = []
    for unit in units:
        for new in unit.bodies:
            if keep is None:
                raise UnitError("nobody can say how a new body is kept; nothing was written")
            rows, unused = keep(c, new)
            versions.put_blobs(c, rows)
            retention.add(c, unused, at=unit.at)
        if unit.blobs:
            versions.put_blobs(c, unit.blobs)
        if unit.version is not None:
            if unit.page is None or unit.page.page_id != unit.version.page_id or unit.page.last_seq != unit.version.seq:
                raise UnitError("a unit with a version must carry the state of its page after it; nothing was written")
            made.append(unit.version)
        for body in unit.quarantined:
            c.execute(
                _QUARANTINE,
                page_id=body.page_id,
                at=body.at,
                kind=body.kind,
                sha256=body.sha256,
                reason=plain(body.reason),
            )
    versions.add(c, made)
    for unit in units:
        if unit.version is not None and (unit.members or unit.version.frames):
            members.add(c, unit.version, unit.members)


def _write_pages(c: Connection, units: Iterable[Unit]) -> None:
    states = [(unit.page, unit.page.last_seq - (unit.version is not None)) for unit in units if unit.page is not None]
    if pages.update(c, states) != len(states):
        names = ", ".join(str(state.page_id) for state, _ in states)
        raise UnitError(f"the state of page {names} leans on a version that is not the newest; nothing was written")


def _write_states(c: Connection, units: Sequence[Unit]) -> None:
    hosts.put(c, list(chain.from_iterable(unit.hosts for unit in units)))
    estimates.put(c, list(chain.from_iterable(unit.estimates for unit in units)))
    events.put_timers(c, list(chain.from_iterable(unit.timers for unit in units)))
    events.put_rule_states(c, list(chain.from_iterable(unit.rules for unit in units)))
    values.add(c, chain.from_iterable(unit.values for unit in units))
    endpoints.move(c, list(chain.from_iterable(unit.endpoints for unit in units)))
    deliveries.finish(c, list(chain.from_iterable(unit.results for unit in units)))
    deliveries.wake(c, [(move.endpoint_id, unit.at) for unit in units for move in unit.endpoints if move.is_back])
    for unit in units:
        if unit.frames is not None:
            members.put_frames(c, _page_of(unit), unit.frames)
        retention.add(c, unit.garbage, at=unit.at)
        polls.answer_requests(c, unit.answered, poll_id=0 if unit.poll is None else unit.poll.poll_id)


def _write_comparisons(c: Connection, units: Sequence[Unit]) -> None:
    for unit in units:
        versions.put_pending(c, unit.comparisons, at=unit.at)
    digests = [(_page_of(unit), seq, digest) for unit in units for seq, digest in unit.digests]
    versions.put_digests(c, digests)
    versions.forget_digests(c, {page_id for page_id, _, _ in digests})


def _page_of(unit: Unit) -> int:
    for part in (unit.page, unit.version, unit.poll):
        if part is not None:
            return part.page_id
    raise UnitError("a unit with digests or frames must say of which page; nothing was written")


def _write_news(c: Connection, units: Sequence[Unit]) -> list[Committed]:
    """Number the events of all units in one go, then write the rows that name those numbers."""
    if any(events.has_newer(c, *decided) for unit in units for decided in unit.decided):
        raise OvertakenError("another process has reported the same meanwhile: it is decided again what is reported")
    numbers = _number_events(c, units)
    # after that: who alters a sentinel takes a number too, and waits for this commit
    if not sentinels.are_newest(c, {text for unit in units for text in unit.texts}):
        raise OvertakenError("a sentinel was altered meanwhile: its messages are made again from its new text")
    found: list[tuple[ChangeRow, int | None]] = []
    for unit, seqs in zip(units, numbers, strict=True):
        by_change = {event.change_id: seq for event, seq in zip(reversed(unit.events), reversed(seqs), strict=True)}
        found.extend((row, by_change.get(row.id)) for row in unit.changes)
    changes.add(c, found)
    made = [Committed(tuple(seqs), _write_deliveries(c, unit, seqs)) for unit, seqs in zip(units, numbers, strict=True)]
    for step in chain.from_iterable(unit.sentinels for unit in units):
        sentinels.move(c, step)
    return made


def _number_events(c: Connection, units: Sequence[Unit]) -> list[list[int]]:
    """Write the new events; those of a change stored before keep their numbers."""
    known = changes.list_stored(c, [row.id for unit in units for row in unit.changes])
    seen: dict[tuple[str, str], int] = {}
    for change_id in sorted(known):
        rows = c.rows("SELECT type, seq FROM event WHERE change_id = :change_id", change_id=change_id)
        seen.update({(change_id, type_): seq for type_, seq in rows})
    fresh = [event for unit in units for event in unit.events if _key(event) not in seen]
    new = iter(events.append(c, [_clean_event(event) for event in fresh]))
    return [[seen[key] if (key := _key(event)) in seen else next(new) for event in unit.events] for unit in units]


def _key(event: Event) -> tuple[str, str]:
    return event.change_id or "", event.type


def _clean_event(event: Event) -> Event:
    return event if event.change_id is None else replace(event, change_id=plain(event.change_id))


def _write_deliveries(c: Connection, unit: Unit, seqs: Sequence[int]) -> tuple[str, ...]:
    if not unit.deliveries:
        return ()
    here = instance.load(c)
    rows = []
    for draft in unit.deliveries:
        first, last = _range(draft, seqs)
        rows.append((deliveries.delivery_id(here, draft, first, last), draft, first, last))
    deliveries.add(c, rows, at=unit.at)
    return tuple(row[0] for row in rows)


def _range(draft: DeliveryDraft, seqs: Sequence[int]) -> tuple[int, int]:
    if draft.events:
        if max(draft.events) >= len(seqs) or min(draft.events) < 0:
            raise UnitError("a delivery names an event that its unit does not have; nothing was written")
        numbers = [seqs[place] for place in draft.events]
        return min(numbers), max(numbers)
    if draft.first_seq is None or draft.last_seq is None:
        raise UnitError("a delivery names no event; nothing was written")
    return draft.first_seq, draft.last_seq
