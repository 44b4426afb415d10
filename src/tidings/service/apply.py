"""Apply: make what is watched equal to files, so that git can be the truth (DESIGN §5).

Each sentinel of the files is created, altered or left as it is; nothing is written unless all files are right. A sentinel whose pages are
others is another one: the old one is dropped (its changes stay) and the new one begins with a baseline. `prune` drops sentinels that an
earlier apply made and that no file names any more; sentinels made by `tidings add` are never dropped here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tidings.errors import SentinelError, UsageError
from tidings.fetching import address
from tidings.language import printer
from tidings.language.forms import parse_file
from tidings.language.verify import Known
from tidings.model.sentinel import CreateEvent, Defaults, Sentinel
from tidings.model.unit import Event
from tidings.service import outside, register
from tidings.service.watchlist import meaning
from tidings.storage import events, sentinels

if TYPE_CHECKING:
    from tidings.language.problems import Problem
    from tidings.model.interval import Instant
    from tidings.model.sentinel import Clauses
    from tidings.settings import Settings
    from tidings.storage.connection import Connection
    from tidings.storage.sentinels import SentinelRow

Action = Literal["created", "altered", "replaced", "unchanged", "dropped", "left alone"]
APPLIED = "sentinel.applied"


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one sentinel or event; `text` is its canonical text after the step, empty if it is dropped."""

    name: str
    action: Action
    text: str = ""
    reason: str = ""
    record: Literal["sentinel", "event"] = "sentinel"


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


def apply(
    connection: Connection, files: Mapping[str, str], *, settings: Settings, now: Instant, prune: bool = False
) -> list[Step]:
    """Carry out what the files (name → text) say and return what was done, in the order of the files.

    Raises `SentinelError` with all problems of all files; then nothing is written. A caller who wants to know only what would be done
    takes the transaction back.
    """
    defaults = _defaults(connection, files, settings)
    wanted, happenings = _read_all(connection, files, settings, now, defaults)
    for group in defaults.said:
        register.remember(connection, group)
    by_apply = {e.sentinel_id for e in events.listing(connection, types=(APPLIED,))}
    steps = [_settle_event(connection, said, settings, now) for said in happenings]
    steps += [
        _settle(connection, name, sentinel, (file, files[file]), settings, now, defaults)
        for name, (file, sentinel) in wanted.items()
    ]
    for row in sentinels.listing(connection):
        if row.name not in wanted and prune and row.id in by_apply:
            sentinels.drop(connection, row.id, now)
            steps.append(Step(row.name, "dropped", reason="no file names it any more"))
        elif row.name not in wanted and prune:
            steps.append(Step(row.name, "left alone", row.text, "it was not made by apply; `tidings drop` drops it"))
    return steps


@dataclass(frozen=True, slots=True)
class _Groups:
    """What holds for tags: the `Defaults For Tags` of all files, whatever their order, else what holds already."""

    said: tuple[Defaults, ...]
    held: Mapping[str, Clauses]
    before: Callable[[str], Clauses | None]

    def __call__(self, tag: str) -> Clauses | None:
        clauses = self.held.get(tag)
        return self.before(tag) if clauses is None else clauses if clauses.said else None


def _defaults(connection: Connection, files: Mapping[str, str], settings: Settings) -> _Groups:
    said: list[Defaults] = []
    for file, text in files.items():
        said += [s for s in register.said(file, text, settings) if isinstance(s, Defaults)]
    return _Groups(
        tuple(said), {tag: group.clauses for group in said for tag in group.tags}, register.group(connection)
    )


def _read_all(
    connection: Connection, files: Mapping[str, str], settings: Settings, now: Instant, defaults: _Groups
) -> tuple[dict[str, tuple[str, Sentinel]], list[CreateEvent]]:
    problems: list[Filed] = []
    names: set[str] = set()
    made: dict[str, set[str]] = {}
    for file, text in files.items():
        found = register.said(file, text, settings)
        names |= {s.name for s in found if isinstance(s, Sentinel)}
        made[file] = {s.name for s in found if isinstance(s, CreateEvent)}
    every = set(outside.names(connection)).union(*made.values())
    happenings: list[CreateEvent] = []
    wanted: dict[str, tuple[str, Sentinel]] = {}
    existing = register.lookup(connection)

    def known(name: str) -> Known | None:
        if name in wanted:
            return Known(wanted[name][1])
        return None if name in names else existing(name)

    for file, text in files.items():
        parsed = register.understood(
            parse_file(
                file,
                text,
                known=known,
                zone=settings.serve.zone,
                now=now,
                names=sorted(names),
                defaults=defaults,
                files=bool(settings.fetch.allow_files),
                events=dict.fromkeys(every - (made[file] - {event.name for event in happenings}), ()),
            ),
            settings,
        )
        problems.extend(Filed(file, problem) for problem in parsed.problems)
        for statement in parsed.statements:
            if isinstance(statement, Defaults):
                continue
            if isinstance(statement, CreateEvent):
                happenings.append(statement)
                continue
            if not isinstance(statement, Sentinel):
                order = printer.to_text(statement).partition("\n")[0]
                message = f"{file}: apply takes statements that create sentinels and events, and Defaults; {order} is a command"
                raise UsageError(message)
            register.check_files(statement, settings)
            for page in statement.pages:
                address.identify(page.url, statement.asking)
            wanted[statement.name] = (file, statement)
    if problems:
        raise SentinelError(problems)
    return wanted, happenings


def _settle_event(connection: Connection, said: CreateEvent, settings: Settings, now: Instant) -> Step:
    """Let an event have the source that a file says; the token of a webhook stays."""
    action: Action = outside.settle(connection, said, settings=settings, now=now)
    return Step(said.name, action, printer.to_text(said), record="event")


def _settle(
    connection: Connection,
    name: str,
    sentinel: Sentinel,
    source: tuple[str, str],
    settings: Settings,
    now: Instant,
    defaults: _Groups,
) -> Step:
    if name not in sentinels.names(connection):
        return _make(connection, sentinel, now, "created")
    row = sentinels.find(connection, name)
    if row.state == "ended":
        sentinels.drop(connection, row.id, now)
        return _make(connection, sentinel, now, "replaced", "the one of that name had ended")
    wanted = register.canonical(sentinel, register.lives(connection))
    if row.text == wanted or row.text == _as_of(connection, name, source, settings, row, defaults):
        _note(connection, row, now)
        return Step(name, "unchanged", row.text)
    if _pages_of(meaning(row.text)) != _pages_of(sentinel):
        sentinels.drop(connection, row.id, now)
        return _make(connection, sentinel, now, "replaced", "its pages are others")
    altered = register.alter(connection, row, sentinel, now=now)
    _note(connection, altered, now)
    return Step(name, "altered", altered.text)


def _as_of(
    connection: Connection,
    name: str,
    source: tuple[str, str],
    settings: Settings,
    row: SentinelRow,
    defaults: _Groups,
) -> str | None:
    """Return the canonical text that the file had meant when the sentinel was made: `To now + 7 day` is no new date at every apply."""
    existing = register.lookup(connection)
    parsed = parse_file(
        *source,
        known=lambda n: None if n == name else existing(n),
        zone=settings.serve.zone,
        now=row.revised_at,
        defaults=defaults,
        files=bool(settings.fetch.allow_files),
    )
    found: Iterator[Sentinel] = (s for s in parsed.statements if isinstance(s, Sentinel) and s.name == name)
    return next((register.canonical(s, register.lives(connection)) for s in found), None)


def _pages_of(sentinel: Sentinel) -> list[tuple[str, str]]:
    """Return the pages of a sentinel, however they are asked for: in another way they are still its pages."""
    return sorted((address.identify(page.url).key, page.name or "") for page in sentinel.pages)


def _make(connection: Connection, sentinel: Sentinel, now: Instant, action: Action, reason: str = "") -> Step:
    row = register.create(connection, sentinel, now=now)
    _note(connection, row, now)
    return Step(sentinel.name, action, row.text, reason)


def _note(connection: Connection, row: SentinelRow, now: Instant) -> None:
    """Remember that files are the truth for this sentinel."""
    if not any(e.sentinel_id == row.id for e in events.listing(connection, types=(APPLIED,))):
        events.append(connection, [Event(type=APPLIED, at=now, sentinel_id=row.id)])
