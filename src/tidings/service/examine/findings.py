"""Findings: all results of a turn for its unit, before they are reported.

One function per outcome: failed, withheld, unchanged, a new version; and one for stored content
taken without a poll. Their inputs were examined before; `frames` are those of a page that names
any. All are pure.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from tidings.estimation.saturation import is_doubtful
from tidings.model.event_type import EventType
from tidings.model.observed.outcome import Failed, Fetched, Unchanged
from tidings.model.observed.unit import Event, Quarantined
from tidings.model.observed.version import Hub, NewBody, Version, member_list
from tidings.record import dataclass, replace
from tidings.service.examine import page_state
from tidings.service.examine.answer_changes import changes_of_headers, changes_of_status
from tidings.service.examine.detect import Compared
from tidings.service.show.records import PARTIAL
from tidings.service.sources import signals, websub
from tidings.service.watch.cursors import pass_tick, tick_all
from tidings.service.watch.page_schedule import find_promised_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidings.detection.job.contract import Examination
    from tidings.detection.noise.memory import Memory
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageState
    from tidings.model.observed.unit import ChangeRow, CursorMove, Estimate, FrameRow, PollRecord
    from tidings.model.observed.version import Digest, Member
    from tidings.service.examine.framed_page import FramedPage
    from tidings.service.examine.judge import PollResult, Turn
    from tidings.service.examine.stored_versions import Stored
    from tidings.service.examine.to_compare import PolledVersion
    from tidings.storage.db.instance import DatabaseInstance

STORED_HEADERS: Final = (
    "content-type",
    "etag",
    "last-modified",
    "cache-control",
    "content-language",
    "x-robots-tag",
)
EMPTY_NOW: Final = "the page is empty now; content that comes later is a change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The results of a turn: the state of the page, events of the page (`events`), of its status
    and headers, of its content (`compared`), and what is to be stored. Without a poll there is no
    `record`.
    """

    turn: Turn
    state: PageState
    events: tuple[Event, ...] = ()
    record: PollRecord | None = None
    compared: Compared = Compared()
    status: tuple[ChangeRow, ...] = ()
    """changes of the page's status"""
    headers: tuple[ChangeRow, ...] = ()
    """changes of its headers"""
    remembered: tuple[CursorMove, ...] = ()
    """cursors with their stored headers"""
    version: Version | None = None
    members: tuple[Member, ...] = ()
    """of `version`, if it has frames"""
    frames: tuple[FrameRow, ...] | None = None
    """the frames that the page names from now on; None: unchanged"""
    digests: tuple[tuple[int, Digest], ...] = ()
    estimates: tuple[Estimate, ...] = ()
    memory: Memory | None = None
    """the page's noise memory to store; None: it stays as it is"""
    has_second: bool = False
    """whether a second poll follows, to separate noise from changes"""
    quarantined: tuple[Quarantined, ...] = ()
    bodies: tuple[NewBody, ...] = ()
    decided: tuple[tuple[EventType, int], ...] = ()
    """as of a unit"""


def of_failure(result: PollResult, failure: Failed, instance: DatabaseInstance) -> Findings:
    """Return the findings of a failure: no version, no cursor moves. A failure of our own network
    or disk does not count against the page.
    """
    before, at = result.page.state, result.at
    reason = failure.reason
    events: tuple[Event, ...] = ()
    if result.ours:
        state, reason = page_state.freeze(before, at), f"our own network: {failure.reason}"
    elif failure.kind == "disk":
        state = page_state.unkept(before, failure, at)
    else:
        state, events = page_state.after_failure(before, failure, at, interval=find_promised_interval(result.page))
    return Findings(
        turn=result,
        state=state,
        events=events,
        record=result.record("error", reason=reason, kind=failure.kind),
        status=changes_of_status(result, events, instance),
    )


def of_suspicion(
    result: PollResult, fetched: Fetched, seen: Examination | None, instance: DatabaseInstance
) -> Findings | None:
    """Return the findings of a body that looks like a wall, an error or almost empty; None if it
    does not, or is accepted anyway.

    The body is quarantined, no cursor moves, no estimator observes it. The first two are stored.

    Args:
        result: The poll.
        fetched: Its body.
        seen: What the job says of the body; None if none ran.
        instance: The identity of the database.
    """
    before, at = result.page.state, result.at
    if seen is None or not seen.suspicion or page_state.is_believed(before, seen.suspicion, at):
        return None
    sha256 = hashlib.sha256(fetched.body).hexdigest()
    state, events = page_state.after_suspicion(before, seen.suspicion, seen.why, sha256=sha256, at=at)
    row = Quarantined(page_id=state.page_id, at=at, kind=seen.suspicion, sha256=sha256, reason=seen.why)
    is_new = before.health != "error" or before.kind != seen.suspicion
    return Findings(
        turn=result,
        state=state,
        events=events,
        record=result.record("quarantined", reason=seen.why, kind=seen.suspicion),
        status=changes_of_status(result, events, instance),
        quarantined=(row,) if is_new else (),
        bodies=(NewBody(fetched.body, sha256),) if is_new else (),
    )


def of_no_change(
    result: PollResult,
    answer: Unchanged | Fetched,
    compared: Compared | None,
    *,
    frames: FramedPage | None,
    memory: Memory | None,
    instance: DatabaseInstance,
    floor: Duration,
) -> Findings:
    """Return the findings of an answer equal to the newest version.

    Args:
        result: The poll.
        answer: What the server answered.
        compared: The comparison with the newest version; None where no subscription takes it.
        frames: The page with its frames; None for a page without frames.
        memory: The noise memory after a poll without a change; None: what the comparison learned.
        instance: The identity of the database.
        floor: The shortest time between two polls (µs).
    """
    before, at = result.page.state, result.at
    state, events = page_state.after_poll(before, answer, at, floor=floor)
    if frames is not None:
        state, events = frames.state(state, at, floor=floor), (*events, *frames.events(before.page_id, at))
    partial = frames.partial if frames is not None else ""
    headers, remembered = changes_of_headers(result, answer, instance) if compared is not None else ((), ())
    return Findings(
        turn=result,
        state=state,
        events=events,
        record=result.record("unchanged", reason=partial, kind=PARTIAL if partial else ""),
        compared=compared or Compared(),
        status=changes_of_status(result, events, instance),
        headers=headers,
        remembered=remembered,
        frames=frames.rows() if frames is not None else None,
        memory=memory if memory is not None or compared is None else _memory_of(compared),
    )


def of_version(
    result: PollResult,
    answer: Unchanged | Fetched,
    polled: PolledVersion,
    compared: Compared,
    stored: Stored,
    *,
    frames: FramedPage | None,
    instance: DatabaseInstance,
    floor: Duration,
) -> Findings:
    """Return the findings of a new version, of the page's body or of one of its frames.

    Args:
        result: The poll.
        answer: What the server answered.
        polled: The version that the poll shows.
        compared: Its comparisons.
        stored: The versions known before.
        frames: The page with its frames; None for a page without frames.
        instance: The identity of the database.
        floor: The shortest time between two polls (µs).
    """
    before, at, seen = result.page.state, result.at, compared.examination
    body = frames.body if frames is not None else _get_fetched(answer)
    own_sha256 = hashlib.sha256(body.body).hexdigest() if body is not None else ""
    text_changed = seen is not None and seen.text_changed
    is_first = page_state.knows_no_body(before)
    differs = text_changed and not is_first
    state, events = page_state.after_poll(
        before,
        answer,
        at,
        changed=body is not None and before.last_seq > 0,
        differs=differs,
        modified_at=polled.modified_at,
        floor=floor,
    )
    has_second = seen is not None and (seen.second_poll or is_doubtful(state.saturation))
    state = page_state.after_version(
        state, body, seen, seq=polled.seq, at=at, text_changed=text_changed, seed=instance.hash_seed
    )
    if is_first and seen is not None:
        events = _first_events(events, seen, before.page_id, at, frames)
    if frames is not None:
        state, events = frames.state(state, at, floor=floor), (*events, *frames.events(before.page_id, at))
    partial = frames.partial if frames is not None else ""
    headers, remembered = changes_of_headers(result, answer, instance)
    return Findings(
        turn=result,
        state=state,
        events=events,
        record=result.record(
            "new" if is_first else "changed",
            reason=compared.died or partial,
            text_changed=differs,
            kind=PARTIAL if partial else "",
        ),
        compared=_tick(compared, polled),
        status=changes_of_status(result, events, instance),
        headers=headers,
        remembered=remembered,
        version=_version(polled, body, own_sha256, seen, stored, frames, text_changed=text_changed),
        members=frames.members if frames is not None else (),
        frames=frames.rows() if frames is not None else None,
        digests=_digests_of(polled, seen),
        estimates=_hints(body, seen, before.page_id, at) if frames is None and body is not None else (),
        memory=_memory_of(compared),
        has_second=has_second,
        bodies=tuple(_new_bodies(answer, body, own_sha256, stored, frames)),
    )


def of_stored(turn: Turn, compared: Compared, *, frames: tuple[FrameRow, ...] | None) -> Findings:
    """Return the findings of the newest stored version, taken without a poll.

    Args:
        turn: The page and who takes its stored version.
        compared: The comparisons.
        frames: The rows of its frames; None for a page without frames.
    """
    return Findings(turn=turn, state=turn.page.state, compared=compared, frames=frames, memory=_memory_of(compared))


def _memory_of(compared: Compared) -> Memory | None:
    """Return what a comparison learned of the page's noise, None if nothing."""
    return compared.examination.memory if compared.examination is not None else None


def _tick(compared: Compared, polled: PolledVersion) -> Compared:
    """Return the findings of a new version with all ticks advanced, including those of
    subscriptions that have yet to compare.
    """
    moved = {c.subscription_id for c in compared.cursors}
    idle = tuple(pass_tick(s, polled.at) for s in polled.takers if s.interval is not None and s.row.id not in moved)
    return replace(compared, cursors=(*tick_all(compared.cursors, polled.page, polled.at), *idle))


def _digests_of(polled: PolledVersion, seen: Examination | None) -> tuple[tuple[int, Digest], ...]:
    """Return the digests of a new version and its parts to be stored."""
    if seen is None or seen.problem:
        return ()
    return tuple((polled.seq, digest) for digest in (seen.digest, *seen.parts))


def _get_fetched(answer: Unchanged | Fetched) -> Fetched | None:
    return answer if isinstance(answer, Fetched) else None


def _hints(fetched: Fetched, seen: Examination | None, page_id: int, at: Instant) -> tuple[Estimate, ...]:
    """Return the hints in a new version about further ones to be stored: a hub that announces them,
    dates of its entries.
    """
    hub = seen.hub if seen is not None else Hub()
    return (*websub.estimates_of(page_id, fetched, hub, at), *signals.estimates_of(page_id, seen, at))


def _new_bodies(
    answer: Unchanged | Fetched, body: Fetched | None, sha256: str, stored: Stored, frames: FramedPage | None
) -> Iterator[NewBody]:
    """Yield the bodies of a version, each with the former one of its kind: its own, its member
    list, its picture.
    """
    newest = stored.newest
    if body is not None:
        yield NewBody(body.body, sha256, stored.holder, newest.size if newest is not None else 0)
    if frames is not None and frames.members:
        made_of = member_list(frames.members)
        former = newest.sha256 if newest is not None and newest.frames else ""
        yield NewBody(made_of, hashlib.sha256(made_of).hexdigest(), former)
    picture = answer.screenshot if isinstance(answer, Fetched) else b""
    if picture:
        yield NewBody(picture, _picture_name(picture))


def _version(
    polled: PolledVersion,
    body: Fetched | None,
    sha256: str,
    seen: Examination | None,
    stored: Stored,
    frames: FramedPage | None,
    *,
    text_changed: bool,
) -> Version:
    """Return the version for a body, or for all members of a page with frames."""
    if body is not None:
        own = (frames.holder if frames is not None else None) or seen
        version = _version_of(polled, body, sha256, own, text_changed=text_changed)
    elif stored.newest is not None:
        version = stored.newest
    else:
        message = "a version needs a body"
        raise ValueError(message)
    if frames is None:
        return version
    answer = frames.answer
    return replace(
        version,
        seq=polled.seq,
        sha256=frames.sha256,
        size=sum(len(part.body.data) for part in polled.parts[polled.seq]),
        fetched_at=polled.at,
        modified_at=polled.modified_at,
        text_changed=text_changed,
        frames=len(frames.made_of) - 1,
        screenshot=_picture_name(answer.screenshot if isinstance(answer, Fetched) else b""),
    )


def _version_of(
    polled: PolledVersion, fetched: Fetched, sha256: str, seen: Examination | None, *, text_changed: bool
) -> Version:
    return Version(
        page_id=polled.page.state.page_id,
        seq=polled.seq,
        sha256=sha256,
        size=len(fetched.body),
        fetched_at=polled.at,
        modified_at=polled.modified_at,
        charset=seen.charset if seen is not None else "",
        charset_source=seen.charset_source if seen is not None else "",
        content_type=fetched.content_type or "",
        title=seen.title if seen is not None else "",
        final_url=fetched.final_url,
        status=fetched.status,
        headers={name: value for name in STORED_HEADERS if (value := fetched.headers.get(name)) is not None},
        text_changed=text_changed,
        words=seen.facts.words if seen is not None else 0,
        screenshot=_picture_name(fetched.screenshot),
    )


def _picture_name(picture: bytes) -> str:
    """Return the name of a picture's blob, empty for none."""
    return hashlib.sha256(picture).hexdigest() if picture else ""


def _first_events(
    events: tuple[Event, ...], seen: Examination, page_id: int, at: Instant, frames: FramedPage | None
) -> tuple[Event, ...]:
    """Return events in which the page's first event describes its beginning and the first version's
    content, for `add`.
    """
    facts = seen.facts
    found_events = tuple(
        replace(event, data={**event.data, "words": facts.first_words})
        if event.type == EventType.PAGE_OK and event.data.get("first")
        else event
        for event in events
    )
    data = {
        "title": seen.title,
        "media_type": seen.media_type,
        "words": facts.words,
        "links": facts.links,
        "images": facts.images,
        "scripts_only": facts.scripts_only,
        "login": facts.login,
        "first_words": facts.first_words,
        "note": EMPTY_NOW if seen.suspicion == "empty" else facts.note,
        "problem": seen.problem,
        **({"frames": len(frames.frames)} if frames is not None else {}),
    }
    return (*found_events, Event(type=EventType.PAGE_FIRST, at=at, page_id=page_id, data=data))
