"""Read the stored versions that a poll needs. `poll/unit` stores new ones.

Also extremes: `lowest so far` and `highest of 30 days` over the values a sentinel saw before
(`storage.watches.values`). Detection gets the numbers to compare with, since values are stored
outside of the pages. While there are none, nothing is lower or higher.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final, NamedTuple

from tidings.detection.job.contract import EXTRACTION, WITH_FRAMES, Body, Part
from tidings.detection.kinds.interests import interests_of, label_of
from tidings.errors import BlobError
from tidings.model.watch.interest import EXTREMES, AllOf, AnyOf, Condition, Expression, Interest, Not
from tidings.record import dataclass, replace
from tidings.service.watch import noise
from tidings.service.watch.noise import Known
from tidings.storage.observed import members, pages, versions
from tidings.storage.watches import values

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageIdentity
    from tidings.model.observed.version import Digest, Member, Version
    from tidings.service.watch.watchlist import Subscription
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store


@dataclass(frozen=True, slots=True)
class Stored:
    """The stored versions that a poll needs; `lost` are those that cannot be restored, and why."""

    bodies: Mapping[int, Body]
    digests: Mapping[int, Digest]
    lost: Mapping[int, str]
    usual_words: int | None = None
    """median number of words of the newest versions, None if there are none"""
    newest: Version | None = None
    """the page's newest version"""
    holder: str = ""
    """the hash of its body, with frames that of the page that holds them"""
    parts: Mapping[int, tuple[Part, ...]] = field(default_factory=dict)
    """the same versions with their frames, where the page or one of them has any"""
    holders: Mapping[int, Body] = field(default_factory=dict)
    """of the versions with a lost frame the pages that hold the frames"""
    digests_of_parts: Mapping[int, tuple[Digest, ...]] = field(default_factory=dict)
    """the known digests of the parts of these versions that sentinels select"""
    times: Mapping[int, Instant] = field(default_factory=dict)
    """when they were polled"""
    noise: Known = Known()
    """the known noise of the page"""


RECENT: Final = 5
"""Number of newest versions that show a page's usual size (contracts §11: collapsed text)."""
_WHOLE = frozenset({EXTRACTION, WITH_FRAMES})


class Bodies:
    """Reads stored bodies."""

    def __init__(self, store: Store, archive: Archive) -> None:
        self._store = store
        self._archive = archive

    async def load(self, page_id: int, seqs: set[int], *, is_framed: bool = False) -> Stored:
        """Return these versions of a page with their known digests; `is_framed`: it names frames
        now.
        """
        return await self._store.read(self._read, page_id, seqs, is_framed) if seqs else Stored({}, {}, {})

    async def context(self, page_id: int, seqs: set[int], *, is_framed: bool = False, learns: bool = False) -> Stored:
        """Return these versions and the page's usual size, to judge a new body.

        If it `learns`, and nothing is known of the page's noise yet, its newest versions are
        included.

        Args:
            page_id: The page.
            seqs: The numbers of the versions.
            is_framed: Whether the bodies of frames are needed too.
            learns: Whether noise is learned from them.
        """
        return await self._store.read(self._read_context, page_id, seqs, is_framed, learns)

    def _read_context(
        self, connection: Connection, page_id: int, seqs: set[int], is_framed: bool, learns: bool
    ) -> Stored:
        recent, words = versions.recent(connection, page_id, RECENT, seqs)
        newest = next(iter(recent.values()), None)
        known = noise.read(connection, page_id)
        if learns and seqs and known.is_new:
            seqs = seqs | versions.newest_seqs(connection, page_id, noise.HISTORY)
        return replace(
            self._read(connection, page_id, seqs, is_framed, known, recent),
            usual_words=sorted(words)[len(words) // 2] if words else None,
            newest=newest,
            holder=members.holder_sha256(connection, newest) if newest is not None else "",
        )

    def _read(
        self,
        connection: Connection,
        page_id: int,
        seqs: set[int],
        is_framed: bool,
        known: Known | None = None,
        read: Mapping[int, Version] | None = None,
    ) -> Stored:
        """Return versions of a page; `known` and `read` are its noise and versions already read."""
        found: dict[int, Body] = {}
        rows: dict[int, Version] = {}
        lost: dict[int, str] = {}
        for seq in sorted(seqs):
            try:
                rows[seq] = read[seq] if read and seq in read else _version(connection, page_id, seq)
                found[seq] = _body(connection, self._archive, rows[seq])
            except (BlobError, LookupError) as error:
                lost[seq] = str(error)
        parts: dict[int, tuple[Part, ...]] = {}
        holders: dict[int, Body] = {}
        if is_framed or any(row.frames for row in rows.values()):
            holder = pages.identity(connection, page_id)
            for seq, body in [*found.items()]:
                try:
                    parts[seq] = read_parts(connection, self._archive, holder, rows[seq], body)
                except (BlobError, LookupError) as error:
                    lost[seq] = str(error)
                    holders[seq] = found.pop(seq)
        stored = versions.every_digest(connection, page_id, seqs)
        whole = {seq: [d for d in found_of if d.extraction in _WHOLE] for seq, found_of in stored.items()}
        return Stored(
            found,
            {seq: digests[-1] for seq, digests in whole.items() if digests},
            lost,
            times={seq: rows[seq].fetched_at for seq in found},
            noise=noise.read(connection, page_id) if known is None else known,
            parts=parts,
            holders=holders,
            digests_of_parts={
                seq: tuple(d for d in found_of if d.extraction not in _WHOLE) for seq, found_of in stored.items()
            },
        )

    def can_read(self, connection: Connection, page_id: int) -> bool:
        """Return whether the newest body of a page can be read, if it has one."""
        newest = versions.newest(connection, page_id)
        try:
            return newest is None or bool(_body(connection, self._archive, newest))
        except BlobError:
            return False

    async def frames(self, made_of: Sequence[Member]) -> tuple[Part, ...]:
        """Return frames, given as members of a version."""
        return await self._store.read(read_frames, self._archive, made_of)


def read_body(connection: Connection, archive: Archive, page_id: int, seq: int) -> Body:
    """Return a stored version as job input; with frames, the page that holds them.

    Args:
        archive: The archive with the bodies.
        page_id: The page.
        seq: The number of the version.
    """
    return _body(connection, archive, _version(connection, page_id, seq))


def read_parts(
    connection: Connection, archive: Archive, holder: PageIdentity, version: Version, body: Body
) -> tuple[Part, ...]:
    """Return a version's parts with its frames; `body` is that of the page that holds them.

    Args:
        archive: The archive with the bodies.
        holder: The page that holds the frames.
        version: One of its versions.
        body: The body of that version.
    """
    own = Part(key=holder.key, url=holder.url, sha256=members.holder_sha256(connection, version), body=body)
    made_of = members.of_version(connection, version.page_id, version.seq) if version.frames else []
    return (own, *read_frames(connection, archive, made_of[1:]))


def read_frames(connection: Connection, archive: Archive, made_of: Sequence[Member]) -> tuple[Part, ...]:
    """Return frames, given as members of a version. Raises `LookupError` if the page of one is
    gone.
    """
    found = []
    for member in made_of:
        page_id = pages.find_by_key(connection, member.key)
        if page_id is None:
            message = f"a frame of the page, version {member.seq} of the page {member.key}, is gone"
            raise LookupError(message)
        body = _body(connection, archive, _version(connection, page_id, member.seq))
        url = pages.identity(connection, page_id).url
        found.append(Part(key=member.key, url=url, sha256=member.sha256, body=body))
    return tuple(found)


def _version(connection: Connection, page_id: int, seq: int) -> Version:
    version = versions.get(connection, page_id, seq)
    if version is None:
        message = f"version {seq} of page {page_id} is gone"
        raise LookupError(message)
    return version


def _body(connection: Connection, archive: Archive, version: Version) -> Body:
    sha256 = members.holder_sha256(connection, version)
    data = archive.restore(sha256, lambda sha: versions.blob(connection, sha))
    return Body(data=data, content_type=version.content_type or None, url=version.final_url, charset=version.charset)


_NEVER: Final = float("inf")


class AskedSeries(NamedTuple):
    """A series by its label, and its time span (µs; 0: all of it)."""

    label: str
    span: Duration


Extremes = Mapping[AskedSeries, tuple[float, float]]
"""The lowest and highest value of each requested series; absent without values."""


def read_extremes(
    connection: Connection, takers: Sequence[Subscription], before: int, at: Instant
) -> Mapping[int, Extremes]:
    """Return the extremes of what subscriptions saw in the earlier versions of their page, by
    subscription; `at` is now (µs).

    Args:
        takers: The subscriptions.
        before: The number of the version after those that count.
    """
    found: dict[int, Extremes] = {}
    for sub in takers:
        asked = {one for part in sub.asked for one in _list_asked(part.expression)}
        if asked:
            since = {one: at - one.span if one.span else None for one in asked}
            known = {
                one: values.extremes(
                    connection, sub.row.sentinel_id, sub.row.page_id, one.label, before=before, since=since[one]
                )
                for one in asked
            }
            found[sub.row.id] = {one: pair for one, pair in known.items() if pair is not None}
    return found


def asks_extremes(takers: Sequence[Subscription]) -> bool:
    """Return whether a subscription uses a lowest or highest value."""
    return any(any(_list_asked(part.expression)) for sub in takers for part in sub.asked)


def with_extremes(expression: Expression, known: Extremes) -> Expression:
    """Return an expression whose numbers are compared with the known extremes."""
    match expression:
        case Interest():
            if not any(condition.measure in EXTREMES for condition in expression.where):
                return expression
            label = label_of(expression)
            return replace(expression, where=tuple(_number(condition, label, known) for condition in expression.where))
        case Not(part):
            return Not(with_extremes(part, known))
        case AnyOf(parts):
            return AnyOf(_each(parts, known))
        case AllOf(parts):
            return AllOf(_each(parts, known))


def _each(parts: Sequence[Expression], known: Extremes) -> tuple[Expression, ...]:
    return tuple(with_extremes(part, known) for part in parts)


def _number(condition: Condition, label: str, known: Extremes) -> Condition:
    if condition.measure not in EXTREMES:
        return condition
    lowest, highest = known.get(AskedSeries(label, condition.span), (-_NEVER, _NEVER))
    if condition.measure == "lowest":
        return Condition("value", "<", lowest)
    return Condition("value", ">", highest)


def _list_asked(expression: Expression) -> Iterator[AskedSeries]:
    for interest in interests_of(expression):
        for condition in interest.where:
            if condition.measure in EXTREMES:
                yield AskedSeries(label_of(interest), condition.span)
