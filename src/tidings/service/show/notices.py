"""Notices: what sentinels and the whole service report beside changes: which events are notices,
and their records with the sentence for users.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from tidings.model.event_type import EventType
from tidings.service.show.records import Record, problem_record, rfc3339, spell_gap

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.observed.unit import SentinelMove


class NoticeEvent(Protocol):
    """The source of a notice: an event, stored or about to be."""

    @property
    def type(self) -> str:
        """Return its dotted type."""
        ...

    @property
    def at(self) -> Instant:
        """Return when it happened."""
        ...

    @property
    def page_id(self) -> int | None:
        """Return its page."""
        ...

    @property
    def data(self) -> Mapping[str, Any]:
        """Return its details."""
        ...


GONE = "410"
"""The answer of a page that is permanently gone."""
_STATED_TYPES = frozenset({"price", "availability"})
"""Parts that are found by meaning, anywhere on a page."""

TROUBLES = (
    EventType.PAGE_ERROR,
    EventType.PAGE_GONE,
    EventType.PAGE_OK,
    EventType.PAGE_PARTIAL,
    EventType.PAGE_WHOLE,
    EventType.PART_LOST,
    EventType.PART_BACK,
    EventType.PART_HEALED,
    EventType.PART_APPEARED,
    EventType.COMPARISON_GIVEN_UP,
    EventType.PAGE_MOVED,
    EventType.PAGE_SATURATED,
    EventType.SENTINEL_SILENCED,
)
"""Events about what keeps a sentinel from seeing changes, and its end; `Errors to` sets their
receivers.
"""
NOTICES = (*TROUBLES, EventType.SENTINEL_NOISY, EventType.SENTINEL_CALM)
"""Events beside changes that a sentinel's channels are notified of, once each."""
STATES = frozenset({EventType.PAGE_ERROR, EventType.PAGE_GONE, EventType.PAGE_OK})
"""Those of them that are changes for a sentinel that monitors the status of a page."""
UNPOLLED = tuple(kind for kind in TROUBLES if kind not in STATES)
"""Those of them that are not in the record of a poll."""


def notice_record(event: NoticeEvent, *, sentinel: str, url: str) -> Record:
    """Return a state that a sentinel's owner is notified of: a page in error, well again, or
    versions that could not be compared.
    """
    data = event.data
    match event.type:
        case EventType.PAGE_ERROR if data["kind"] == GONE:
            summary = f"the page can no longer be watched: {data['reason']}"
        case EventType.PAGE_ERROR:
            summary = f"the page cannot be watched for now ({data['kind']}): {data['reason']}"
        case EventType.PAGE_GONE:
            gap = spell_gap(event.at - data["since"])
            summary = f"the page seems to be gone; it could not be watched for {gap} ({data['kind']}): {data['reason']}"
        case EventType.SENTINEL_NOISY:
            often = f"more than {data['changes']} changes in {spell_gap(data['span'])}"
            summary = f"{often}; until there are fewer, they are reported together"
        case EventType.SENTINEL_CALM:
            summary = "there are fewer changes again; each is reported at once"
        case EventType.PAGE_MOVED:
            summary = (
                f"the page has moved permanently to {data['to']}; it is watched there through its old address; you "
                "can watch the new address instead"
            )
        case EventType.PAGE_SATURATED:
            summary = describe_saturated(data, sentinel)
        case EventType.SENTINEL_SILENCED:
            summary = describe_silenced(data, sentinel)
        case EventType.PAGE_OK if data.get("first"):
            begins = f', it begins "{_short(data["words"])}"' if data.get("words") else ""
            summary = f"the page now exists{begins}; later changes are compared with this version"
        case EventType.PAGE_OK:
            summary = f"the page can be watched again, after {spell_gap(event.at - (data.get('since') or event.at))}"
        case EventType.PAGE_PARTIAL:
            failing = "; ".join(f"{f['url']} ({f['kind']}): {f['reason']}" for f in data["frames"])
            summary = f"a part of the page cannot be watched for now; its last content is kept: {failing}"
        case EventType.PAGE_WHOLE:
            summary = "all frames of the page can be watched again"
        case EventType.PART_LOST:
            summary = f"the selected part is gone: {data['part']} no longer matches anything on the page"
            summary = (
                f"the page no longer gives a value for {data['part']}" if data["part"] in _STATED_TYPES else summary
            )
        case EventType.PART_BACK:
            summary = f"the selected part is there again: {data['part']} matches"
            summary = f"the page gives a value for {data['part']} again" if data["part"] in _STATED_TYPES else summary
        case EventType.PART_HEALED:
            summary = describe_healed(data)
        case EventType.PART_APPEARED:
            summary = f"the selected part is now there: {data['part']} matches for the first time"
            summary = (
                f"the page gives a value for {data['part']} for the first time"
                if data["part"] in _STATED_TYPES
                else summary
            )
        case EventType.COMPARISON_GIVEN_UP if not data["from"]:
            summary = f"the content of the page cannot be compared, so no change can be reported: {data['reason']}"
        case _:
            summary = f"versions {data['from']} and {data['to']} could not be compared: {data['reason']}"
    details = {
        "event": event.type,
        "sentinel": sentinel,
        "page": str(event.page_id),
        "url": url,
        "kind": data.get("kind", ""),
        "summary": summary,
        "since": rfc3339(data.get("since")),
        "detected_at": rfc3339(event.at),
    }
    return problem_record(summary, where=sentinel, details=details)


SILENCED = EventType.SENTINEL_SILENCED
"""The event type of a sentinel whose latest changes were all masked."""
CLOCK_WRONG = EventType.CLOCK_WRONG
"""The event type of a machine's clock that was ahead, and is right again."""
STALLED = EventType.SERVICE_STALLED
DAMAGED = EventType.DATA_DAMAGED
OUTAGE = EventType.STORE_OUTAGE
BULLETINS = (
    EventType.NETWORK_AWAY,
    EventType.NETWORK_BACK,
    STALLED,
    DAMAGED,
    OUTAGE,
    CLOCK_WRONG,
    EventType.WEEK_REPORTED,
)
"""Events of the whole service that every recipient is notified of (`bulletins`)."""


def describe_last(event: NoticeEvent) -> str:
    """Return why the last of the hosts that cannot be reached could not be, to end a sentence; ""
    if that is not known.
    """
    reason = event.data.get("reason")
    return f" (the last failure: {reason})" if reason else ""


def bulletin_record(event: NoticeEvent) -> Record:
    """Return a state of the whole service, or a report on it, sent to all recipients; its sentinel,
    page and URL are empty.
    """
    data = event.data
    match event.type:
        case EventType.NETWORK_AWAY:
            summary = (
                f"no page can be checked: most hosts have not answered for {spell_gap(event.at - data['since'])}, so the network"
                " connection of this machine seems to be down; checks continue when the network works "
                f"again{describe_last(event)}"
            )
        case EventType.NETWORK_BACK:
            summary = f"pages can be checked again: the network was down for {spell_gap(event.at - data['since'])}"
        case EventType.SERVICE_STALLED:
            since = (rfc3339(data["since"]) or "")[:19].replace("T", " ")
            summary = (
                f"since {since} UTC checks could not be stored: {data['reason']} (Tidings continues by itself; "
                "`tidings doctor` shows the state)"
            )
        case EventType.STORE_OUTAGE:
            gap = spell_gap(event.at - data["since"])
            summary = (
                f"no page was checked for {gap}: the database of Tidings did not answer; checks continue, and "
                "nothing was lost"
            )
        case EventType.DATA_DAMAGED:
            what = "; ".join(data["items"])
            summary = (
                f"stored data is invalid and no longer watched: {what}. Everything else continues. `tidings doctor` "
                "shows details; put a copy of the database back"
            )
        case EventType.WEEK_REPORTED:
            summary = _describe_week(data)
        case _:
            summary = str(data.get("summary", event.type))
    details = {
        "event": event.type,
        "sentinel": "",
        "page": "",
        "url": "",
        "kind": "",
        "summary": summary,
        "since": rfc3339(data.get("since")),
        "detected_at": rfc3339(event.at),
    }
    record = problem_record(summary, where="Tidings", details=details)
    return {**record, "record": "report"} if event.type == EventType.WEEK_REPORTED else record


def _describe_week(data: Mapping[str, Any]) -> str:
    """Return the text of the weekly report."""

    def count(name: str, noun: str) -> str:
        number = data[name]
        return f"{number:,} {noun}{'' if number == 1 else 's'}"

    since = (rfc3339(data["since"]) or "")[:10]
    in_error = f"{count('in_error', 'page')} cannot be read now" if data["in_error"] else "All pages can be read now"
    text = (
        f"{count('sentinels', 'sentinel')} found {count('changes', 'change')} on {count('pages', 'page')} in the week"
        f" from {since}. {in_error}"
    )
    if data["given_up"]:
        text += f"; {count('given_up', 'message')} were given up"
    text += f". {count('polls', 'check')} made, {data['failed']:,} failed"
    saved = data["at_pace"] - data["polls"]
    return f"{text}; a fixed pace would have made {saved:,} more" if saved > 0 else text


def describe_healed(data: Mapping[str, Any]) -> str:
    """Return the message about a healed selector."""
    change = f'"{_short(data["before"])}" → "{_short(data["after"])}"'
    alike = f"{data['score']:.0%} alike"
    return f"selector healed: {data['part']} no longer matches anything; {data['stand_in']} is watched instead ({alike}): {change}"


def describe_saturated(data: Mapping[str, Any], sentinel: str) -> str:
    """Return the message about a page that differs at each poll."""
    showed, shows = data["showed"], data["shows"]
    what = f': "{_short(showed)}", then "{_short(shows)}"' if showed or shows else ""
    return (
        f"the page differs at each check: {data['looks']} checks in a row{what}; {suggest_mask(sentinel, data['mask'])}"
    )


def suggest_mask(sentinel: str, mask: str = "") -> str:
    """Return advice to get fewer notifications of such a page; `mask` names the mask that would
    leave out the difference, if any.
    """
    if mask:
        return f"to ignore this: tidings mask {sentinel} --on {mask}"
    return "to ignore this, use Select for one part of the page, or Exclude to leave a part out"


def describe_silenced(data: Mapping[str, Any], sentinel: str) -> str:
    """Return the message about a sentinel whose latest changes were all masked, and how to undo
    that.
    """
    words = "; ".join(f'"{_short(old)}" → "{_short(new)}"' for old, new in data["words"])
    off = " ".join(f"--off {mask}" for mask in data["masks"])
    return (
        f"all its changes in the last ten checks are now ignored as noise: {words}; to be notified of them again:"
        f" tidings mask {sentinel} {off}"
    )


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1].rstrip()}…"


_SHORT = 80


def life_record(move: SentinelMove, *, sentinel: str, url: str) -> Record:
    """Return the end of a sentinel that no user asked for, to notify its owner."""
    if move.reason == "missed":
        summary = "it has ended without a check, because Tidings was not running between its start and its end"
    elif move.reason == "its end came first":
        summary = "it has ended without a check, because its end came before its start"
    else:
        summary = "it has ended, because it waited for the start of a sentinel that never started"
    details = {
        "event": EventType.SENTINEL_ENDED,
        "sentinel": sentinel,
        "page": "",
        "url": url,
        "kind": move.reason,
        "summary": summary,
        "since": None,
        "detected_at": rfc3339(move.at),
    }
    return problem_record(summary, where=sentinel, details=details)
