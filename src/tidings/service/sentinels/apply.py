"""Apply: make the watched sentinels equal to files, so that git can be the source of truth.

Each sentinel and event of the files is created, altered or left unchanged; nothing is written
unless all files are valid. A sentinel with other pages is a new one: the old one is dropped (its
changes stay) and the new one begins with a baseline. One that has ended stays so until its text
differs, or until it is dropped by hand. `prune` drops what an earlier apply created
and no file names any more; sentinels of `tidings add` are never dropped here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from tidings.errors import SentinelError, UnknownNameError, UsageError
from tidings.fetching import address
from tidings.language.forms import parse_file
from tidings.language.verify import KnownSentinel
from tidings.language.write import printer
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event
from tidings.model.watch.sentinel import CreateEvent, Defaults, Sentinel
from tidings.record import dataclass, replace
from tidings.service.secrets import references
from tidings.service.sentinels import edit, register
from tidings.service.sentinels.author import INSTALLATION
from tidings.service.sentinels.edit import APPLIED, is_of_files
from tidings.service.sentinels.receivers import addressees, check_addressees
from tidings.service.sources import outside_events
from tidings.service.watch import by_name
from tidings.storage.secrets import Vault
from tidings.storage.watches import events, sentinels
from tidings.storage.watches import outside as sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.language.problems import Problem
    from tidings.model.interval import Instant
    from tidings.model.watch.sentinel import Clauses, Statement
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.outside import SourceRow
    from tidings.storage.watches.sentinels import SentinelRow

Action = Literal["created", "altered", "replaced", "unchanged", "dropped", "left alone"]
EVENT_APPLIED = EventType.EVENT_APPLIED
"""The event type that marks an external event as managed by files, named in `data` as `event`."""


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to one sentinel or event; `text` is its canonical text afterwards, empty if it
    is dropped, `before` the one until then.
    """

    name: str
    action: Action
    text: str = ""
    reason: str = ""
    record: Literal["sentinel", "event"] = "sentinel"
    before: str = ""

    @property
    def difference(self) -> list[str]:
        """Return the removed clauses, prefixed with `-`, and the added ones, prefixed with `+`."""
        was, now = (list(map(str.strip, text.splitlines())) for text in (self.before, self.text))
        return [*(f"- {line}" for line in was if line not in now), *(f"+ {line}" for line in now if line not in was)]


@dataclass(frozen=True, slots=True)
class Filed:
    """A problem of the language in a file."""

    file: str
    problem: Problem

    def __str__(self) -> str:
        return f"{self.file}:{self.problem}"

    def as_dict(self) -> Mapping[str, object]:
        """Return the problem's record with its file."""
        return {"file": self.file, **self.problem.as_dict()}


@dataclass(frozen=True, slots=True)
class Applied:
    """The steps taken, in the order of the files, and the language's warnings."""

    steps: tuple[Step, ...]
    warnings: tuple[Filed, ...]


def apply(
    connection: Connection, files: Mapping[str, str], *, settings: Settings, now: Instant, prune: bool = False
) -> Applied:
    """Apply files (name → text).

    Raises `SentinelError` with all problems of all files, `UsageError` where an event would be
    dropped that a sentinel waits for; then nothing is written. For a dry run, roll the transaction
    back.

    Args:
        files: Name and text of each file.
        settings: The settings in use.
        now: When they are applied (µs).
        prune: Whether sentinels that no file names are dropped.
    """
    vault = Vault(settings.data)
    references.seal_older(connection, vault, at=now)
    statements_of = {file: register.read_statements(file, text, settings) for file, text in files.items()}
    defaults = _defaults(connection, statements_of)
    found = _read_all(connection, files, statements_of, settings, now, defaults)
    known = references.References(connection, vault, at=now)
    for group in defaults.stated:
        register.remember(connection, known.defaults(group))
    wanted = {name: (file, known.sentinel(sentinel)) for name, (file, sentinel) in found.sentinels.items()}
    stored: list[Statement] = [*defaults.stated, *(sentinel for _, sentinel in wanted.values())]
    references.check_secrets(connection, vault, (c for statement in stored for c in addressees(statement)[1]))
    found = replace(found, sentinels=wanted)
    notes = _Notes.read(connection)
    run = _ApplyRun(connection, files, settings, now, defaults, notes, known, wanted)
    steps = [run.settle_event(happening) for happening in found.happenings]
    steps += [run.settle(file, sentinel) for file, sentinel in found.sentinels.values()]
    if prune:
        steps += run.prune(found)
    references.note_schemes(connection, vault)
    return Applied(tuple(steps), found.warnings)


@dataclass(frozen=True, slots=True)
class _Groups:
    """The defaults of tags: `Defaults For Tags` of all files, in any order, else the stored
    ones.
    """

    stated: tuple[Defaults, ...]
    clauses_of: Mapping[str, Clauses]
    before: Callable[[str], Clauses | None]

    def __call__(self, tag: str) -> Clauses | None:
        clauses = self.clauses_of.get(tag)
        return self.before(tag) if clauses is None else clauses if clauses.stated else None


def _defaults(connection: Connection, statements_of: Mapping[str, Sequence[Statement]]) -> _Groups:
    groups = tuple(s for statements in statements_of.values() for s in statements if isinstance(s, Defaults))
    clauses_of = {tag: group.clauses for group in groups for tag in group.tags}
    return _Groups(groups, clauses_of, register.group(connection))


@dataclass(frozen=True, slots=True)
class _FileContents:
    """The content of the files: the sentinels by name, each with its file, and the events."""

    sentinels: Mapping[str, tuple[str, Sentinel]]
    happenings: tuple[CreateEvent, ...]
    warnings: tuple[Filed, ...]


def _read_all(
    connection: Connection,
    files: Mapping[str, str],
    statements_of: Mapping[str, Sequence[Statement]],
    settings: Settings,
    now: Instant,
    defaults: _Groups,
) -> _FileContents:
    problems: list[Filed] = []
    warnings: list[Filed] = []
    names = {s.name for statements in statements_of.values() for s in statements if isinstance(s, Sentinel)}
    made = {
        file: {s.name for s in statements if isinstance(s, CreateEvent)} for file, statements in statements_of.items()
    }
    every = set(outside_events.names(connection)).union(*made.values())
    happenings: list[CreateEvent] = []
    wanted: dict[str, tuple[str, Sentinel]] = {}
    existing = register.lookup(connection)

    def look_up(name: str) -> KnownSentinel | None:
        if name in wanted:
            return KnownSentinel(wanted[name][1])
        return None if name in names else existing(name)

    for file, text in files.items():
        parsed = register.understand(
            connection,
            file,
            text,
            settings=settings,
            now=now,
            known=look_up,
            names=sorted(names),
            defaults=defaults,
            events=dict.fromkeys(every - (made[file] - {event.name for event in happenings}), ()),
        )
        problems += (Filed(file, problem) for problem in parsed.problems)
        warnings += (Filed(file, warning) for warning in parsed.warnings)
        for statement in parsed.statements:
            check_addressees(statement)
            if isinstance(statement, Defaults):
                continue
            if isinstance(statement, CreateEvent):
                happenings.append(statement)
                continue
            if not isinstance(statement, Sentinel):
                order = printer.to_text(statement).partition("\n")[0]
                message = (
                    f"{file}: apply takes statements that create sentinels and events, and Defaults; {order} changes "
                    "existing ones"
                )
                raise UsageError(message)
            register.check_pages(statement, settings)
            for page in statement.pages:
                address.identify(page.url, statement.asking)
            wanted[statement.name] = (file, statement)
    if problems:
        raise SentinelError(problems)
    return _FileContents(wanted, tuple(happenings), tuple(warnings))


@dataclass(frozen=True, slots=True)
class _Notes:
    """What is managed by files, according to the log: sentinels by id, events by name with the
    instant of the mark.
    """

    sentinels: set[int]
    happenings: dict[str, Instant]

    @classmethod
    def read(cls, connection: Connection) -> _Notes:
        notes = events.listing(connection, types=(APPLIED, EVENT_APPLIED))
        return cls(
            {note.sentinel_id for note in notes if note.sentinel_id is not None},
            {note.data["event"]: note.at for note in notes if note.type == EVENT_APPLIED},
        )

    def has_event(self, row: SourceRow) -> bool:
        """Return whether apply created this event, and not an earlier one of the same name."""
        return row.name in self.happenings and self.happenings[row.name] >= row.created_at


@dataclass(frozen=True, slots=True)
class _ApplyRun:
    """Brings the stored sentinels and events in line with the files."""

    connection: Connection
    files: Mapping[str, str]
    settings: Settings
    now: Instant
    defaults: _Groups
    notes: _Notes
    known: references.References
    wanted: Mapping[str, tuple[str, Sentinel]]
    meant: dict[tuple[str, Instant], Mapping[str, Sentinel]] = field(default_factory=dict)
    """parsed files as of the instants at which sentinels were created"""

    def settle_event(self, event: CreateEvent) -> Step:
        """Create or update an event as a file says; the token of a webhook stays."""
        action: Action = outside_events.settle(self.connection, event, settings=self.settings, now=self.now)
        if not self.notes.has_event(sources.find(self.connection, event.name)):
            events.append(self.connection, [Event(type=EVENT_APPLIED, at=self.now, data={"event": event.name})])
        return Step(event.name, action, printer.to_text(event), record="event")

    def settle(self, file: str, sentinel: Sentinel) -> Step:
        """Create, alter or leave a sentinel as a file says."""
        try:
            row = sentinels.find(self.connection, sentinel.name)
        except UnknownNameError:
            row = register.create(self.connection, sentinel, now=self.now)
            self._note(row)
            return Step(sentinel.name, "created", row.text)
        wanted = register.canonical(sentinel, by_name.lives(self.connection))
        if row.text == wanted or row.text == self._as_of(file, row):
            self._note(row)
            return Step(row.name, "unchanged", row.text, _ENDED if row.state == "ended" else "", before=row.text)
        after, reason = edit.bring_to(
            self.connection, row, sentinel, settings=self.settings, now=self.now, author=INSTALLATION
        )
        self._note(after)
        return Step(row.name, "replaced" if reason else "altered", after.text, reason, before=row.text)

    def prune(self, found: _FileContents) -> Iterator[Step]:
        """Drop what an earlier apply created and no file names any more: sentinels first, since
        they may wait for events.
        """
        for row in sentinels.listing(self.connection):
            if row.name in found.sentinels:
                continue
            if row.id in self.notes.sentinels:
                sentinels.drop(self.connection, row.id, self.now)
                yield Step(row.name, "dropped", reason=_UNNAMED, before=row.text)
            else:
                yield Step(row.name, "left alone", row.text, _NOT_OURS, before=row.text)
        named = {happening.name for happening in found.happenings}
        for source in sources.listing(self.connection):
            if source.name in named:
                continue
            if self.notes.has_event(source):
                outside_events.drop(self.connection, source.name)
                yield Step(source.name, "dropped", reason=_UNNAMED, record="event")
            else:
                yield Step(source.name, "left alone", source.text, _NOT_OURS, record="event")

    def _as_of(self, file: str, row: SentinelRow) -> str | None:
        """Return the file's text as of the sentinel's creation, so that `To now + 7 day` does not
        move at every apply.
        """
        meant = self._read_as_of(file, row.revised_at).get(row.name)
        return None if meant is None else register.canonical(meant, by_name.lives(self.connection))

    def _read_as_of(self, file: str, at: Instant) -> Mapping[str, Sentinel]:
        """Return the sentinels of a file by name, with dates as of an instant; cached per
        instant.
        """
        if (file, at) not in self.meant:
            existing, own = (
                register.lookup(self.connection),
                {name for name, (its, _) in self.wanted.items() if its == file},
            )
            parsed = parse_file(
                file,
                self.files[file],
                known=lambda name: None if name in own else existing(name),
                zone=self.settings.serve.zone,
                now=at,
                defaults=self.defaults,
                files=bool(self.settings.fetch.allow_files),
            )
            found = (s for s in parsed.statements if isinstance(s, Sentinel))
            self.meant[file, at] = {s.name: self.known.sentinel(s) for s in found}
        return self.meant[file, at]

    def _note(self, row: SentinelRow) -> None:
        """Mark a sentinel as managed by files."""
        if row.id not in self.notes.sentinels and not is_of_files(self.connection, row.id):
            events.append(self.connection, [Event(type=APPLIED, at=self.now, sentinel_id=row.id)])


_ENDED = "it has ended; use `tidings drop`, then apply again, to begin it anew"
_UNNAMED = "no file has it now"
_NOT_OURS = "apply did not make it; use `tidings drop` to drop it"
