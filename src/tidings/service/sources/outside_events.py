"""External events are accepted once per key, and none is lost after the commit.

Accepting an event is one transaction: its row in the event log, which rules follow, its key, and
the lives of the sentinels that waited for it. Polls that depend on it are a rule behaviour
(`rules.fetch_on_event`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from tidings.clock import DAY
from tidings.errors import UnknownNameError, UsageError
from tidings.fetching import files
from tidings.language import parser
from tidings.language.event_names import events_of
from tidings.language.write.printer import to_text
from tidings.model.event_type import CreateEvent
from tidings.model.secret import Secret
from tidings.notification.webhook import make_secret
from tidings.record import dataclass
from tidings.service.watch.watchlist import read_meaning
from tidings.storage import secrets
from tidings.storage.secrets import Vault
from tidings.storage.watches import outside, sentinels
from tidings.storage.watches.events import OWNER

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.event_type import EventSource
    from tidings.model.interval import Instant
    from tidings.model.watch.sentinel import Sentinel
    from tidings.settings import EventSettings, Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.outside import SourceRow
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.storage.write.store import Store

MOST_PARAMS: Final = 16_384
"""bytes of an event's params, as compact JSON"""
DEEPEST_PARAMS: Final = 32
"""nesting depth of params; code that stores or shows them may recurse deeper"""
LONGEST_KEY: Final = 200
KEYS_FOR: Final = 30 * DAY
"""how long accepted keys are stored"""


@dataclass(frozen=True, slots=True)
class TakenEvent:
    """An accepted event: its number in the log; `is_new` is False if its key was accepted
    before.
    """

    seq: int
    is_new: bool


class OutsideEvents:
    """Accepts external events. `on_event` is called with the name of each new one, once it is
    durable.
    """

    def __init__(self, store: Store, vault: Vault, clock: Clock, *, on_event: Callable[[str], None]) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock
        self.on_event = on_event

    async def admit(self, name: str, proves: Callable[[Secret], bool]) -> None:
        """Return if the sender of a webhook `proves` that it has the token.

        Raises `UnknownNameError` if there is no webhook of that name or its token differs (which of
        the two is not revealed), `SecretError` if the token cannot be decrypted.
        """
        token = await self._store.read(token_of, self._vault, name)
        if not proves(token or Secret(make_secret())) or token is None:
            message = f'there is no webhook "{name}" with this token; `tidings show {name}` shows its token'
            raise UnknownNameError(message)

    async def take(self, name: str, params: Mapping[str, Any], *, key: str = "") -> TakenEvent:
        """Accept an event now. `key` is its idempotency key (empty: none).

        Raises `UnknownNameError` for an unknown name, `UsageError` for params that are not an
        object or too large.
        """
        result = await self._store.write(take, name, params, at=self._clock.now(), key=key)
        if result.is_new:
            self.on_event(name)
        return result


def take(c: Connection, name: str, params: Mapping[str, Any], *, at: Instant, key: str = "") -> TakenEvent:
    """Accept an event, inside the caller's write transaction. Raises what `OutsideEvents.take`
    raises.

    Args:
        name: The event's name.
        params: Its data, plain JSON.
        at: When it happened (µs).
        key: Its idempotency key; empty for none.
    """
    row = outside.find(c, name)
    check_params(params)
    if len(key) > LONGEST_KEY:
        message = f"an idempotency key has at most {LONGEST_KEY} characters"
        raise UsageError(message)
    if key and (before := outside.find_taken(c, row.id, key)) is not None:
        return TakenEvent(before, is_new=False)
    outside.forget_keys(c, before=at - KEYS_FOR)
    return TakenEvent(happen(c, row, params, at=at, key=key), is_new=True)


def happen(c: Connection, row: SourceRow, params: Mapping[str, Any], *, at: Instant, key: str = "") -> int:
    """Write an event and the starts and ends of sentinels that it fixes; return its number in the
    log.

    Args:
        row: The source.
        params: The event's data, plain JSON.
        at: When it happened (µs).
        key: Its idempotency key; empty for none.
    """
    seq = outside.happen(c, row, params, at=at, key=key)
    for waiting, sentinel in waiters(c, row.name):
        start_at, end_at = fix_life(waiting, sentinel, row.name, at)
        if (start_at, end_at) != (waiting.start_at, waiting.end_at):
            sentinels.settle(c, waiting.id, start_at=start_at, end_at=end_at, at=at)
    return seq


def fix_life(row: SentinelRow, sentinel: Sentinel, event: str, at: Instant) -> tuple[Instant | None, Instant | None]:
    """Return when a sentinel starts and ends after an event: it starts with the first one since its
    creation, and ends with the first one after its start.

    Args:
        row: The stored sentinel.
        sentinel: Its meaning.
        event: The name of the event.
        at: When it happened (µs).
    """
    start, end = row.start_at, row.end_at
    has_begun = row.started_at is not None or (start is not None and start < at)
    if sentinel.start.event == event and start is None and row.started_at is None:
        start = at + sentinel.start.offset
    if sentinel.end is not None and sentinel.end.event == event and end is None and has_begun:
        end = at + sentinel.end.offset
    return start, end


def waiters(c: Connection, event: str) -> list[tuple[SentinelRow, Sentinel]]:
    """Return the living sentinels that wait for an event, with their meanings."""
    found = [(row, read_meaning(row)) for row in sentinels.list_with_text(c, f"event({event})")]
    return [(row, sentinel) for row, sentinel in found if event in events_of(sentinel)]


def names(c: Connection, *, viewer: int | None = None) -> dict[str, list[str]]:
    """Return the events of an owner and of the installation (None: all), each with the names of the
    living sentinels that wait for it and that the owner may see.
    """
    return {
        row.name: [one.name for one, _ in waiters(c, row.name) if sentinels.is_seen(c, one.id, viewer)]
        for row in outside.listing(c)
        if viewer is None or row.owner_id in {OWNER, viewer}
    }


def create(c: Connection, event: CreateEvent, *, settings: Settings, now: Instant, owner_id: int = OWNER) -> SourceRow:
    """Store an event; a webhook gets its token. Raises `UsageError` if its name is taken or its
    source is not allowed.

    Args:
        event: The statement.
        settings: The settings in use.
        now: When it is created (µs).
        owner_id: Whose sentinels may wait for it; those of all, if it is the installation.
    """
    check_source(event.source, settings.events)
    row = outside.create(
        c,
        event.name,
        event.source.origin,
        text=to_text(event),
        at=now,
        due_at=_first_read_at(event, now),
        owner_id=owner_id,
    )
    if event.source.origin == "webhook":
        give_token(c, Vault(settings.data), event.name, at=now)
    return row


def settle(
    c: Connection, event: CreateEvent, *, settings: Settings, now: Instant
) -> Literal["created", "altered", "unchanged"]:
    """Create or update an event as stated; return what was done. Raises what `create` raises.

    Args:
        event: The statement.
        settings: The settings in use.
        now: When it is stored (µs).
    """
    if event.name not in {row.name for row in outside.listing(c)}:
        create(c, event, settings=settings, now=now)
        return "created"
    row, text = outside.find(c, event.name), to_text(event)
    if row.text == text:
        return "unchanged"
    check_source(event.source, settings.events)
    outside.rewrite(c, row.id, event.source.origin, text=text, due_at=_first_read_at(event, now))
    if event.source.origin != row.origin:
        take_token(c, event.name)
        if event.source.origin == "webhook":
            give_token(c, Vault(settings.data), event.name, at=now)
    return "altered"


def drop(c: Connection, name: str, *, owner_id: int | None = None) -> None:
    """Delete an event. Raises `UnknownNameError` if there is none, `UsageError` while a living
    sentinel waits for it, and for one of another owner.

    Args:
        name: Its name.
        owner_id: Whose event it must be; None for anybody's.
    """
    row = outside.find(c, name)
    if owner_id is not None and row.owner_id != owner_id:
        raise UsageError(f"the event {name} is not yours; only its owner or an admin drops it")
    if users := [waiting.name for waiting, _ in waiters(c, name)]:
        message = (
            f"the event {name} cannot be dropped: {', '.join(users)} would wait for ever; first drop or alter these "
            "sentinels"
        )
        raise UsageError(message)
    outside.drop(c, row.id)
    take_token(c, name)


def source_of(row: SourceRow) -> EventSource:
    """Return the source of an event."""
    statement = parser.recall(row.text)
    if not isinstance(statement, CreateEvent):
        message = f"the stored text of the event {row.name} is no Create Event: {row.text[:60]}"
        raise TypeError(message)
    return statement.source


def check_source(source: EventSource, settings: EventSettings) -> None:
    """Raise `UsageError` for a source that the operator does not allow."""
    if source.origin == "command" and not settings.allow_commands:
        message = "commands are not allowed for events here; the operator of Tidings can set events.allow_commands"
        raise UsageError(message)
    if source.origin == "file" and not settings.allow_files:
        message = "files are not allowed for events here; the operator of Tidings can set events.allow_files"
        raise UsageError(message)
    if source.origin == "file" and not files.is_below(source.path, settings.allow_files):
        message = f"{source.path} is not in a directory of events.allow_files: {', '.join(settings.allow_files)}"
        raise UsageError(message)


def _first_read_at(event: CreateEvent, now: Instant) -> Instant | None:
    return None if event.source.origin == "webhook" else now


def check_params(params: Mapping[str, Any]) -> None:
    """Raise `UsageError` unless params are an object of plain JSON that is not too large."""
    if not isinstance(params, Mapping):
        message = 'the parameters of an event must be a JSON object, such as {"version": "1.2"}'
        raise UsageError(message)
    if is_deeper(params, DEEPEST_PARAMS):
        message = (
            f"the parameters of an event must be plain JSON, with objects and lists nested at most {DEEPEST_PARAMS} "
            "deep"
        )
        raise UsageError(message)
    try:
        size = len(json.dumps(dict(params), allow_nan=False, separators=(",", ":")))
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the parameters of an event must be plain JSON: {error}"
        raise UsageError(message) from error
    if size > MOST_PARAMS:
        message = (
            f"the parameters of an event have at most {MOST_PARAMS:,} bytes as JSON, not {size:,}; send a reference "
            "to the rest instead"
        )
        raise UsageError(message)


def is_deeper(value: Any, most: int) -> bool:
    """Return whether objects and lists are nested deeper than `most`."""
    level = [value]
    for _ in range(most):
        inner = (member.values() if isinstance(member, Mapping) else member for member in level)
        level = [child for members in inner for child in members if isinstance(child, Mapping | list | tuple)]
        if not level:
            return False
    return True


def token_of(c: Connection, vault: Vault, name: str) -> Secret | None:
    """Return the token of a webhook, None if there is no webhook of that name. Raises `SecretError`
    if it cannot be decrypted.
    """
    opened = vault.open(c, secret_name(name))
    return None if opened is None or opened.kind != "hook" else opened.value


def give_token(c: Connection, vault: Vault, name: str, *, at: Instant) -> None:
    """Create the token of a webhook, inside the caller's write transaction: usable as a bearer
    token or to sign as in Standard Webhooks.

    Args:
        vault: Where secrets are stored.
        name: The name of the event.
        at: When it is made (µs).
    """
    vault.put(c, secret_name(name), Secret(make_secret()), kind="hook", at=at)


def take_token(c: Connection, name: str) -> None:
    """Delete the token of a webhook."""
    secrets.drop(c, secret_name(name))


def secret_name(name: str) -> str:
    """Return the name under which the token of a webhook is stored; not a valid name for a user's
    secret.
    """
    return f"hook:{name}"
