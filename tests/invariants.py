"""The invariants I-1 to I-10 as one function for fault tests: the database compared with outside
observations.

What a database says of itself is `write.invariants`. Here it is compared with what others saw: the web server, the receiver of
webhooks, whoever got the answer that something is done.

```
assert [] == check_invariants(
    settings, web=town.asked, receiver=town.taken, acknowledged=answered, limits=limits, quiet=True
)
```
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidings.errors import BlobError
from tidings.model.observed.version import Blob
from tidings.service.run.from_settings import open_archive
from tidings.settings import Settings
from tidings.storage import secrets
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import open_database, quick_check
from tidings.storage.db.schema import WHOLE, statements, tables
from tidings.storage.observed import members, pages, polls, versions
from tidings.storage.secrets import Vault
from tidings.storage.watches import changes, deliveries, sentinels, subscriptions
from tidings.storage.write import invariants

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the web saw it: `at` (its arrival) and `done_at` in seconds of one clock; `sha256` of the body if it was sent whole with 200."""

    host: str
    url: str
    at: float
    done_at: float
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """One webhook as the receiver saw it, `id` from its header."""

    id: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """What a process of Tidings has said is done: ids of changes, polls that stored a version by URL, and sentinels by name."""

    changes: Collection[str] = ()
    stored: Mapping[str, int] = field(default_factory=dict)
    sentinels: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """What was promised to hosts and to whoever pays. Seconds; `slack` is what the observer's own clock and threads may blur.

    `rate` and `burst` bound the requests in any stretch of time: at most `burst + rate · length`.
    """

    gap: float = 0.0
    connections: int = 1
    slack: float = 0.0
    rate: float | None = None
    burst: float | None = None
    longest_wait: float = 60.0


NOTHING = Acknowledged()
NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class _Seen:
    """Everything that the checks read."""

    connection: Connection
    settings: Settings
    web: Sequence[Asked]
    receiver: Sequence[Taken]
    acknowledged: Acknowledged
    limits: Limits
    outputs: Sequence[str]
    dials: Iterable[str]
    now: int | None


def check_invariants(
    settings: Settings,
    *,
    web: Sequence[Asked] = (),
    receiver: Sequence[Taken] = (),
    acknowledged: Acknowledged = NOTHING,
    limits: Limits = NO_LIMITS,
    outputs: Iterable[str] = (),
    dials: Iterable[str] = (),
    quiet: bool = False,
    now: int | None = None,
) -> list[str]:
    """Return what breaks an invariant, a sentence each; empty if all hold.

    `quiet`: pages have stood still, all is reported and the service has stopped in order, so that nothing may be missing any more.
    `now` (an instant, with `quiet`) is when it stopped: I-10 is checked then. `outputs` are what its processes printed, `dials`
    the addresses they dialled where that was recorded.
    """
    database = open_database(settings, create=False)
    try:
        faults = [f"the database is damaged: {line}" for line in quick_check(database)]
        faults += database.read(_check, settings, web, receiver, acknowledged, limits, list(outputs), dials, now, quiet)
    finally:
        database.close()
    return faults + (list(i8_nothing_left_on_disk(settings)) if quiet else [])


def _check(connection: Connection, *given: Any) -> list[str]:
    *parts, quiet = given
    seen = _Seen(connection, *parts)
    archive = open_archive(seen.settings, dialect="sqlite" if not seen.settings.store.url else "postgresql")

    def restore(blob: Blob) -> bytes | None:
        try:
            return archive.restore(blob.sha256, lambda sha256: versions.blob(connection, sha256))
        except BlobError:
            return None

    faults = invariants.check(connection, blob_bytes=restore)
    always = (
        i1_acknowledged,
        i2_versions_are_what_was_served,
        i3_deliveries,
        i4_hosts,
        i5_budget,
        i7_epochs,
        i9_secrets,
    )
    for check in always:
        faults.extend(check(seen))
    if quiet:
        faults.extend(i3_all_is_reported(seen))
        faults.extend(i3_changes_compose(seen))
        faults.extend(i10_nothing_waits(seen))
    return faults


def i1_acknowledged(seen: _Seen) -> Iterator[str]:
    """I-1. Needs `acknowledged`: what was said to be done is there."""
    for id_ in seen.acknowledged.changes:
        if not changes.exists(seen.connection, id_):
            yield f"I-1: change {id_} was reported and is not stored"
    stored = {identity.given: state.last_seq for identity, state in pages.listing(seen.connection)}
    for url, count in seen.acknowledged.stored.items():
        if stored.get(url, 0) < count:
            yield f"I-1: {count} versions of {url} were confirmed as stored, there are {stored.get(url, 0)}"
    for name in sorted(set(seen.acknowledged.sentinels) - set(sentinels.names(seen.connection))):
        yield f"I-1: sentinel {name} was confirmed as watched and is not there"


def i2_versions_are_what_was_served(seen: _Seen) -> Iterator[str]:
    """I-2, I-6. Needs `web`: a page's versions are whole bodies that its server sent, in that order; so no failed answer made one."""
    served: dict[str, list[str]] = defaultdict(list)
    for asked in sorted(seen.web, key=lambda a: a.done_at):
        if asked.sha256:
            served[asked.url].append(asked.sha256)
    for identity, state in pages.listing(seen.connection):
        if identity.url not in served:
            continue
        answers, before = iter(served[identity.url]), ""
        for version in versions.listing(seen.connection, state.page_id):
            own = members.holder_sha256(seen.connection, version)
            is_kept = version.frames > 0 and own == before  # only a frame changed, which has versions of its own
            before = own
            if not is_kept and own not in answers:  # goes on in the iterator: the order counts
                yield f"I-6: version {version.seq} of {identity.url} is no body that was served whole after version {version.seq - 1}"
                break


def i3_deliveries(seen: _Seen) -> Iterator[str]:
    """I-3. Needs `receiver`: whatever arrived is a delivery of ours with the very bytes that are stored; repeats are equal."""
    stored = {row.id: row.body for row in deliveries.listing(seen.connection)}
    for taken in seen.receiver:
        if taken.id not in stored:
            yield f"I-3: the receiver has {taken.id}, which is no delivery"
        elif taken.body != stored[taken.id]:
            yield f"I-3: the receiver has other bytes under {taken.id} than are stored"


def i3_all_is_reported(seen: _Seen) -> Iterator[str]:
    """I-3, once quiet. Needs `receiver`: every change of a sentinel that notifies at once was sent to each of its webhooks."""
    for owed in versions.list_pending(seen.connection):
        yield f"I-3: subscription {owed.subscription_id} is still owed the comparison of {owed.from_seq} and {owed.to_seq}"
    arrived = {taken.id for taken in seen.receiver}
    reported: dict[int, set[int]] = defaultdict(set)
    for row in deliveries.listing(seen.connection):
        if row.status != "delivered":
            yield f"I-3: delivery {row.id} is {row.status}: {row.error}"
        elif row.kind in {"webhook", "url"} and row.id not in arrived:
            yield f"I-3: delivery {row.id} is marked as delivered, but the receiver never had it"
        reported[row.sentinel_id].update(range(row.first_seq, row.last_seq + 1))
    for change in changes.listing(seen.connection, quiet=True):
        if reported[change.row.sentinel_id] and change.event_seq not in reported[change.row.sentinel_id]:
            yield f"I-3: change {change.row.id} of {change.sentinel} was never reported"


def i3_changes_compose(seen: _Seen) -> Iterator[str]:
    """I-3, once quiet. Needs pages whose text differs when their bytes do: the changes of a subscription lead, one from where the
    last one ended, from its first version to the newest.
    """
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for change in changes.listing(seen.connection, quiet=True):
        found[change.row.subscription_id].append((change.row.from_seq, change.row.to_seq))
    for row in versions.list_given_up(seen.connection):
        found[row.subscription_id].append((row.from_seq, row.to_seq))
    active = {row.id for row in sentinels.listing(seen.connection) if row.state == "enabled"}
    for sub in subscriptions.listing(seen.connection, active=True):
        body = {v.seq: v.sha256 for v in versions.listing(seen.connection, sub.page_id)}
        if sub.sentinel_id not in active or not body:
            continue
        at = sub.base
        for start, end in sorted(found[sub.id]):
            if body.get(at) != body[start] or start < at:
                yield f"I-3: subscription {sub.id} goes on at version {start} after version {at}: a change is missing"
            at = end
        if body.get(at) != body[max(body)]:
            yield f"I-3: subscription {sub.id} was notified up to version {at} of {max(body)}"


def i4_hosts(seen: _Seen) -> Iterator[str]:
    """I-4. Needs `web` and `limits`: starts of requests to a host keep the gap, over restarts too, and few are open at once."""
    lanes: dict[str, list[Asked]] = defaultdict(list)
    for asked in sorted(seen.web, key=lambda a: a.at):
        lanes[asked.host].append(asked)
    for host, lane in lanes.items():
        for before, after in itertools.pairwise(lane):
            if after.at - before.at < seen.limits.gap - seen.limits.slack:
                yield f"I-4: {host} was asked after {after.at - before.at:.3f} s, its gap is {seen.limits.gap:g} s ({after.url})"
        being_answered: list[Asked] = []
        for asked in lane:
            being_answered = [a for a in being_answered if asked.at < a.done_at - seen.limits.slack] + [asked]
            if len(being_answered) > seen.limits.connections:
                yield f"I-4: {host} answered {len(being_answered)} requests at once, allowed are {seen.limits.connections}"


def i5_budget(seen: _Seen) -> Iterator[str]:
    """I-5. Needs `web` (of every host that was watched) and `limits`: each request, robots.txt and redirects included, was charged
    before it left, and no stretch of time had more of them than its tokens.
    """
    charged = sum(row.cost for row in polls.listing(seen.connection))
    if len(seen.web) > charged:
        yield f"I-5: {len(seen.web)} requests arrived, {charged:g} were charged"
    for name, level, most in seen.connection.rows("SELECT name, level, burst FROM budget"):
        if not 0 <= level <= most:
            yield f"I-5: the budget {name} stands at {level:g} of {most:g}"
    rate, burst = seen.limits.rate, seen.limits.burst
    if rate is None or burst is None:
        return
    times = sorted(asked.at for asked in seen.web)
    # f(i) = i - rate * t(i) may rise by at most the burst from any request to any later one.
    least = float("inf")
    for place, at in enumerate(times):
        least = min(least, place - rate * at)
        if place + 1 - rate * at - least > burst + rate * seen.limits.slack + 1e-6:
            yield f"I-5: more than {burst:g} + {rate:g} a second: {place + 1} requests by {at - times[0]:.3f} s"
            return


def i7_epochs(seen: _Seen) -> Iterator[str]:
    """I-7. Charges follow each other with epochs that never fall: none was made by a process that had been replaced."""
    rows = list(reversed(polls.listing(seen.connection)))
    for before, after in itertools.pairwise(rows):
        if after.epoch < before.epoch:
            yield f"I-7: poll {after.id} was charged in epoch {after.epoch} after poll {before.id} in {before.epoch}"


def i8_nothing_left_on_disk(settings: Settings) -> Iterator[str]:
    """I-8, once stopped in order. Files under `blobs/` are those that rows name, no half-written ones (SQLite only)."""
    folder = settings.data / "blobs"
    there = (
        {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} if folder.is_dir() else set()
    )
    database = open_database(settings, create=False)
    try:
        named = database.read(versions.files)
    finally:
        database.close()
    for name in sorted(there - named):
        yield f"I-8: blobs/{name} is named by no row"
    for name in sorted(named - there):
        yield f"I-1: blobs/{name} is named by a row and not there"


def i9_secrets(seen: _Seen) -> Iterator[str]:
    """I-9. Needs `outputs`, `receiver`, `dials`: no secret stands anywhere, encrypted in its own table apart, and nobody outside
    `fetch.allow_networks` (loopback in tests) was dialled.
    """
    vault = Vault(seen.settings.data)
    kept = {row.name: vault.open_row(row).value.reveal() for row in secrets.listing(seen.connection)}
    for name, value in kept.items():
        if any(value in text for text in seen.outputs) or any(value.encode() in taken.body for taken in seen.receiver):
            yield f"I-9: the secret {name} was printed or sent"
    for table in tables(statements(WHOLE, "sqlite")):
        if kept:
            rows = json.dumps(seen.connection.rows(f'SELECT * FROM "{table}"'), default=_text)
            yield from (f"I-9: the secret {name} stands in the table {table}" for name in kept if kept[name] in rows)
    for address in seen.dials:
        if not address.startswith(("127.", "::1", "/")):
            yield f"I-9: {address} was dialled"


def _text(value: object) -> str:
    return bytes(value).decode("latin-1") if isinstance(value, bytes | memoryview) else str(value)


def i10_nothing_waits(seen: _Seen) -> Iterator[str]:
    """I-10, once quiet. Needs `now`: every watched page was polled within `limits.longest_wait`, or shows why not."""
    if seen.now is None:
        return
    enabled = {row.id for row in sentinels.listing(seen.connection) if row.state == "enabled"}
    watched = {s.page_id for s in subscriptions.listing(seen.connection, active=True) if s.sentinel_id in enabled}
    for page_id in sorted(watched):
        state = pages.state(seen.connection, page_id)
        waited = (seen.now - (state.polled_at or 0)) / MICROSECONDS
        if waited > seen.limits.longest_wait and not state.reason:
            yield f"I-10: page {page_id} was not polled for {waited:.1f} s and shows no reason"
