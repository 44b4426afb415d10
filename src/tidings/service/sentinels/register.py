"""Register sentinels: from text to database rows.

All statements of a text are parsed and checked before the first is written, and written in one
transaction.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from tidings.clock import DAY, SECOND
from tidings.errors import AddressError, SentinelError, UnknownNameError, UsageError
from tidings.fetching import address, files
from tidings.language import means, parser, verify, words
from tidings.language.expressions import quote
from tidings.language.forms import parse_file
from tidings.language.means import InstallationMeans
from tidings.language.times import read_coming
from tidings.language.write import printer
from tidings.language.write.printer import page_text
from tidings.model.observed.unit import SentinelMove
from tidings.model.url import split_url
from tidings.model.watch import asking
from tidings.model.watch.sentinel import (
    LISTING,
    Alter,
    Clauses,
    Command,
    CreateEvent,
    Defaults,
    DropEvent,
    Point,
    Sentinel,
    Watched,
    budget_name,
    listing_url,
)
from tidings.record import dataclass, replace
from tidings.service.secrets import references
from tidings.service.sentinels import alter as altering
from tidings.service.sentinels.author import INSTALLATION, Author, RequestRights, check_rights, check_sentinel
from tidings.service.sentinels.receivers import addressees, check_addressees
from tidings.service.sources import command_pages, outside_events
from tidings.service.watch import by_name, lifespan
from tidings.service.watch.lifespan import Life
from tidings.service.watch.watchlist import SENDABLE, list_channels, meaning, read_meaning
from tidings.storage import secrets
from tidings.storage.observed import pages
from tidings.storage.secrets import Vault
from tidings.storage.watches import endpoints, sentinels, subscriptions
from tidings.storage.watches.events import OWNER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tidings.language.parser import Parsed
    from tidings.language.problems import Problem
    from tidings.model.interval import Instant
    from tidings.model.observed.page import PageIdentity
    from tidings.model.watch.sentinel import Statement
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database
    from tidings.storage.watches.sentinels import SentinelRow


@dataclass(frozen=True, slots=True)
class Registration:
    """The result of a text: sentinels created, commands executed, warnings, sentinels altered and
    unchanged, the defaults set, and the external events created or dropped.
    """

    made: tuple[SentinelRow, ...]
    commanded: tuple[tuple[Command, SentinelRow], ...]
    warnings: tuple[Problem, ...]
    altered: tuple[SentinelRow, ...] = ()
    defaults: tuple[Defaults, ...] = ()
    events: tuple[CreateEvent, ...] = ()
    events_dropped: tuple[DropEvent, ...] = ()
    unaltered: tuple[SentinelRow, ...] = ()

    @property
    def is_something(self) -> bool:
        """Return whether the text contained a statement."""
        return any(
            (self.made, self.commanded, self.altered, self.defaults, self.events, self.events_dropped, self.unaltered)
        )


def register(database: Database, text: str, *, settings: Settings, now: Instant, file: str = "") -> Registration:
    """Parse and execute statements of the language, all or none; the name of the `file` determines
    their format.

    Raises `SentinelError` with every problem found, `AddressError` for a URL that cannot be
    watched.

    Args:
        database: Where they are stored.
        text: The statements.
        settings: The settings in use.
        now: When they are registered (µs).
        file: The file name, whose extension determines the format; empty for the sentence form.
    """
    return database.write(carry_out, text, settings, now, file)


def carry_out(
    connection: Connection, text: str, settings: Settings, now: Instant, file: str, author: Author = INSTALLATION
) -> Registration:
    """Do what `register` does, inside the caller's transaction.

    Raises `UnknownNameError` and `UsageError` also for what the author may not do.

    Args:
        connection: The transaction.
        text: The statements.
        settings: The settings in use.
        now: When they are registered (µs).
        file: The file name, whose extension determines the format; empty for the sentence form.
        author: Who writes it, and owns what it creates.
    """
    vault = Vault(settings.data)
    references.seal_older(connection, vault, at=now)
    check_named(connection, file, text, settings, author)
    parsed = understand(connection, file, text, settings=settings, now=now, author=author)
    if parsed.problems:
        raise SentinelError(parsed.problems)
    check_rights(connection, author, parsed.statements)
    for statement in parsed.statements:
        check_addressees(statement)
        if isinstance(statement, Sentinel):
            check_pages(statement, settings)
    statements = refer(connection, vault, parsed.statements, now=now)
    made: list[SentinelRow] = []
    altered: list[SentinelRow] = []
    unaltered: list[SentinelRow] = []
    commanded: list[tuple[Command, SentinelRow]] = []
    defaults: list[Defaults] = []
    happenings: list[CreateEvent] = []
    gone: list[DropEvent] = []
    for statement in statements:
        match statement:
            case Sentinel():
                made.append(create(connection, statement, now=now, author=author, owner_id=author.owner_id))
            case Command():
                commanded.append((statement, command(connection, statement, now=now)))
            case Alter(name=name, sentinel=Sentinel() as after):
                before = by_name.find(connection, name, viewer=author.viewer)
                check_commands((meaning(before.text), after), settings)
                if statement.pages:
                    check_pages(after, settings)
                row = alter(connection, before, after, now=now, author=author)
                (altered if row.revision > before.revision else unaltered).append(row)
            case Defaults():
                remember(connection, statement, author)
                defaults.append(statement)
            case CreateEvent():
                outside_events.create(connection, statement, settings=settings, now=now, owner_id=author.keeper_id)
                happenings.append(statement)
            case DropEvent(name=name):
                outside_events.drop(connection, name, owner_id=None if author.sees_all else author.owner_id)
                gone.append(statement)
    references.note_schemes(connection, vault)
    return Registration(
        tuple(made),
        tuple(commanded),
        parsed.warnings,
        tuple(altered),
        tuple(defaults),
        tuple(happenings),
        tuple(gone),
        tuple(unaltered),
    )


def refer(
    connection: Connection, vault: Vault, statements: Iterable[Statement], *, now: Instant
) -> tuple[Statement, ...]:
    """Return the statements to store: literal addresses are replaced by references to secrets
    (0049).

    Raises `AddressError` for a secret without an address where one is required, `SecretError` where
    nothing can be encrypted.

    Args:
        vault: Where secrets are stored.
        statements: The statements, with literal addresses.
        now: When they are stored (µs).
    """
    known = references.References(connection, vault, at=now)
    referring = tuple(map(known.store_addresses, statements))
    references.check_secrets(connection, vault, (c for statement in referring for c in addressees(statement)[1]))
    return referring


def check_pages(sentinel: Sentinel, settings: Settings) -> None:
    """Raise `AddressError` unless the operator allows the sentinel's commands and files."""
    check_commands((sentinel,), settings)
    allowed = settings.fetch.allow_files
    for page in sentinel.pages:
        if files.is_file(page.url) and not files.is_below(files.path_of(files.rebuild(page.url)), allowed):
            message = f"{page.url} is not in a directory of fetch.allow_files: {', '.join(allowed)}"
            raise AddressError(message)


def check_commands(sentinels: Iterable[Sentinel], settings: Settings) -> None:
    """Raise `AddressError` if a sentinel watches a command where commands are not allowed."""
    if any(asking.is_command(page.url) for sentinel in sentinels for page in sentinel.pages):
        command_pages.check(settings.fetch)


def watching(connection: Connection, sentinel_id: int) -> list[str]:
    """Return the names of the other living sentinels that watch a page of this one."""
    own = {sub.page_id for sub in subscriptions.listing(connection, sentinel_id=sentinel_id)}
    others = {
        sub.sentinel_id
        for page_id in own
        for sub in subscriptions.listing(connection, page_id=page_id)
        if sub.sentinel_id != sentinel_id
    }
    return [row.name for row in sentinels.listing(connection) if row.id in others]


def read_statements(file: str, text: str, settings: Settings) -> Sequence[Statement]:
    """Return the statements of a file alone, without the stored context: which names they create,
    which defaults they set.
    """
    return parse_file(file, text, zone=settings.serve.zone, files=bool(settings.fetch.allow_files)).statements


def check_named(connection: Connection, file: str, text: str, settings: Settings, author: Author) -> None:
    """Raise an error unless the author may alter each sentinel that a text alters, commands or
    derives from; problems of the language do not show what they mean.

    Args:
        connection: The transaction.
        file: The file name, whose extension determines the format; empty for the sentence form.
        text: The statements.
        settings: The settings in use.
        author: Who writes them.
    """
    if author.sees_all:
        return
    found = read_statements(file, text, settings)
    names = [one.name for one in found if isinstance(one, Alter | Command)]
    for name in names + [one.base for one in found if isinstance(one, Sentinel) and one.base]:
        check_sentinel(connection, author, name)


def understand(
    connection: Connection,
    /,
    file: str,
    text: str,
    *,
    settings: Settings,
    now: Instant,
    author: Author = INSTALLATION,
    **given: Any,
) -> Parsed:
    """Parse a text in the context of everything stored, and check it against this installation
    (E48, W10, W19).

    The name of the `file` determines its format; `given` parameters of `parser.parse` override the
    stored context.

    Args:
        file: The name of the file; empty for none.
        text: The statements.
        settings: The settings in use.
        now: Wall time (µs).
        author: Who writes the text, and sees no more than their own part of the context.
        given: Parameters of `parser.parse` instead of the stored context.
    """
    here: dict[str, Any] = {
        "known": lookup(connection, author),
        "zone": settings.serve.zone,
        "now": now,
        "floor": round(settings.fetch.page_floor_seconds * SECOND),
        "names": sentinels.names(connection, viewer=author.viewer),
        "secrets": frozenset(secrets.names(connection)),
        "defaults": group(connection, author),
        "files": bool(settings.fetch.allow_files),
        "events": outside_events.names(connection, viewer=author.viewer),
    }
    own = InstallationMeans(tuple(settings.budget.map_names()), settings.schedule.policy, _policies)
    parsed = means.within(parse_file(file, text, **here | given), own)
    warnings = (w for w in parsed.warnings if w.code != "W10" or not settings.notify.smtp_host)
    return replace(parsed, warnings=tuple(warnings))


def _policies() -> dict[str, frozenset[str]]:
    """Return which of the clauses Urgency and Life each policy reads."""
    from tidings.scheduling.policies import (  # loads numpy: few texts need it, and all would wait for it
        POLICIES,
        reads_of,
    )

    return {name: frozenset(p for p in ("urgency", "life") if f"{p}_kind" in reads_of(name)) for name in POLICIES}


def lookup(connection: Connection, author: Author = INSTALLATION) -> Callable[[str], verify.KnownSentinel | None]:
    """Return the view of existing sentinels that the language needs, without those that the author
    may not see.
    """
    find = by_name.lives(connection)

    def look_up(name: str) -> verify.KnownSentinel | None:
        try:
            row = sentinels.find(connection, name)
        except UnknownNameError:
            return None
        if not sentinels.is_seen(connection, row.id, author.viewer):
            return None
        life = Life.of(row, read_meaning(row))
        start, end = lifespan.starts(life, find), lifespan.ends(life, find)
        return verify.KnownSentinel(life.sentinel, row.state, start, end, row.ended_at)

    return look_up


def create(
    connection: Connection,
    sentinel: Sentinel,
    *,
    now: Instant,
    author: Author = INSTALLATION,
    owner_id: int = OWNER,
) -> SentinelRow:
    """Store a checked sentinel with its pages and endpoints.

    Raises `AddressError`, and `UsageError` for a secret that the author may not use.

    Args:
        connection: The transaction.
        sentinel: The checked sentinel.
        now: When it is created (µs).
        author: Who writes it.
        owner_id: The owner of the sentinel.
    """
    requests = RequestRights(connection, author, owner_id)
    watched: list[tuple[Watched, PageIdentity]] = [
        (page, requests.identify(page.url, sentinel.asking)) for page in sentinel.pages
    ]
    _ensure_endpoints(connection, sentinel)
    altering.sever(connection, sentinel.name, now=now)
    alone = _effective(sentinel, by_name.lives(connection))
    start, end = altering.calendar(replace(sentinel, start=alone.start, end=alone.end), now)
    base = by_name.find(connection, sentinel.base) if sentinel.base else None
    row = sentinels.create(
        connection,
        sentinel,
        text=printer.to_text(alone),
        pages=watched,
        state="created",
        start_at=start,
        end_at=end,
        at=now,
        base_id=base.id if base is not None else None,
        owner_id=owner_id,
    )
    if sentinel.scope is not None:
        listing = replace(address.identify(listing_url(row.id)), given=budget_name(row.name))
        subscriptions.add(
            connection,
            sentinel_id=row.id,
            page_id=pages.ensure(connection, listing),
            label=LISTING,
            next_tick=None,
            active=row.state == "enabled",
            since=now,
        )
    return row


def alter(
    connection: Connection, row: SentinelRow, sentinel: Sentinel, *, now: Instant, author: Author = INSTALLATION
) -> SentinelRow:
    """Change the meaning of a sentinel on its present pages (sentinels §2.2); the switch itself is
    not reported.

    Args:
        row: The stored sentinel.
        sentinel: Its new meaning.
        now: When it is altered (µs).
        author: Who alters it.
    """
    _ensure_endpoints(connection, sentinel)
    requests = RequestRights.of(connection, row, author)
    text = canonical(sentinel, by_name.lives(connection))
    return altering.alter(connection, row, sentinel, text=text, requests=requests, now=now)


def group(connection: Connection, author: Author = INSTALLATION) -> Callable[[str], Clauses | None]:
    """Return a function that finds the defaults of a tag, as they are for an author."""

    def get_defaults(tag: str) -> Clauses | None:
        text = sentinels.get_tag_default(connection, tag, owner_id=author.keeper_id)
        return None if text is None else clauses_of(text)

    return get_defaults


def clauses_of(text: str) -> Clauses:
    """Return the clauses of a stored `Defaults For Tags` statement."""
    statement = parser.recall(text)
    return statement.clauses if isinstance(statement, Defaults) else Clauses()


def remember(connection: Connection, statement: Defaults, author: Author = INSTALLATION) -> None:
    """Store defaults for their tags, for the sentinels of the author, or for all if the author sees
    all; existing sentinels do not change.
    """
    for tag in statement.tags:
        text = printer.to_text(replace(statement, tags=(tag,))) if statement.clauses.stated else None
        sentinels.put_tag_default(connection, tag, text, owner_id=author.keeper_id)


def canonical(sentinel: Sentinel, find: lifespan.Find) -> str:
    """Return the text under which a sentinel is stored: canonical and self-contained."""
    return printer.to_text(_effective(sentinel, find))


def _ensure_endpoints(connection: Connection, sentinel: Sentinel) -> None:
    for channel in list_channels(sentinel):
        if channel.kind in SENDABLE:
            endpoints.ensure(connection, *channel.endpoint)


def _effective(sentinel: Sentinel, find: lifespan.Find) -> Sentinel:
    """Return a self-contained sentinel: inherited clauses stay although the base may be altered or
    dropped.

    An inherited life (sentinels §1.3, Inheritance) is written out: from start(base) to end(base).
    If the base has ended, the new sentinel starts now and has no end (W2).
    """
    if sentinel.base is None:
        return sentinel
    alone = replace(sentinel, base=None, correlated=False)
    if not sentinel.correlated:
        return alone
    base = find(sentinel.base)
    if base is not None and base.ended_at is not None:
        return replace(alone, start=Point("now"), end=None, span=None)
    return replace(
        alone, start=Point("start", sentinel=sentinel.base), end=Point("end", sentinel=sentinel.base), span=None
    )


def command(connection: Connection, statement: Command, *, now: Instant) -> SentinelRow:
    """Enable, disable, drop or confirm one sentinel (sentinels §2); return its new row."""
    row = by_name.find(connection, statement.name)
    if statement.verb == "drop":
        sentinels.drop(connection, row.id, now)
    elif statement.verb == "disable" and row.state != "ended":
        resume_at = None if statement.until is None else until(statement.until, now)
        step = SentinelMove(sentinel_id=row.id, state="disabled", at=now, reason="by you", resume_at=resume_at)
        sentinels.move(connection, step)
    elif statement.verb == "enable" and row.state != "ended":
        altering.enable(connection, row, fresh=statement.fresh, find=by_name.lives(connection), now=now)
    elif statement.verb == "confirm" and row.state != "ended":
        altering.confirm(connection, row, now=now)
    elif row.state == "ended":
        message = f'"{row.name}" has ended ({row.reason or "its end has passed"}); create a new sentinel, or drop it to use the name again'
        raise UnknownNameError(message)
    return sentinels.get(connection, row.id)


def pause(name: str, text: str, zone: str, now: Instant) -> Command:
    """Return the command that disables a sentinel.

    Raises `UsageError` for a text that is no coming time.

    Args:
        name: The sentinel.
        text: Until when, as people write it; "" for no end.
        zone: The zone of dates and days.
        now: When it is disabled (µs).
    """
    at = read_coming(text, zone, now) if text.strip() else None
    return Command("disable", name, until=None if at is None else Point("at", instant=at))


def until(point: Point, now: Instant) -> Instant:
    """Return when a pause ends that begins now."""
    return (now if point.instant is None else point.instant) + point.offset


UNDO: Final = DAY
"""How long a drop can be undone."""


def can_be_taken_back(row: SentinelRow, now: Instant) -> bool:
    """Return whether a sentinel was dropped less than a day ago."""
    return row.reason == "dropped" and row.ended_at is not None and now - row.ended_at <= UNDO


def take_back(connection: Connection, name: str, *, now: Instant) -> SentinelRow:
    """Undo the drop of a sentinel, within a day, and the starts and ends that followed it; return
    its row.

    Raises `UsageError` if that is not possible.
    """
    row = by_name.find_past(connection, name)
    if row.reason != "dropped":
        raise UsageError(f"{name} was not dropped, so it cannot be restored")
    if not can_be_taken_back(row, now):
        raise UsageError(f"{name} was dropped more than a day ago; create it again (its history is kept)")
    sentinels.restore(connection, row.id, now)
    altering.undo_followers(connection, row, now=now)
    return sentinels.get(connection, row.id)


def name_by_title(connection: Connection, sentinel_id: int, *, url: str, now: Instant) -> SentinelRow:
    """Name a new sentinel after its page's title, and return it.

    Args:
        sentinel_id: The sentinel.
        url: The address of its page.
        now: When it is renamed (µs).
    """
    row = sentinels.get(connection, sentinel_id)
    (page_id, *_) = [s.page_id for s in subscriptions.listing(connection, sentinel_id=sentinel_id)]
    title = pages.state(connection, page_id).title
    others = [name for name in sentinels.names(connection) if name != row.name]
    name = automatic_name(url, title, others)
    if name == row.name:
        return row
    text = printer.to_text(replace(meaning(row.text), name=name))
    return sentinels.rename(connection, sentinel_id, name, text=text, at=now)


def rename(connection: Connection, old: str, new: str, *, now: Instant) -> SentinelRow:
    """Rename a sentinel, also in the texts of those that start or end with it; versions, changes
    and cursors stay.

    Raises `UsageError` for an invalid or taken name, `UnknownNameError` if there is no sentinel of
    the old name.

    Args:
        connection: The transaction.
        old: The present name.
        new: The new name.
        now: When it is renamed (µs).
    """
    row = by_name.find(connection, old)
    if not parser.is_name(new):
        message = (
            f'"{new}" cannot be a name: a name begins with a letter, has letters, digits, - and _, and is no word of the language;'
            f" write for example {automatic_name('https://kettle.example/', new, ())}"
        )
        raise UsageError(message)
    if new == row.name:
        return row
    altering.sever(connection, new, now=now)
    text = printer.to_text(replace(meaning(row.text), name=new))
    renamed = sentinels.rename(connection, row.id, new, text=text, at=now)
    for other in sentinels.listing(connection):
        if f"({old})" in other.text and (after := _naming(read_meaning(other), old, new)) is not None:
            sentinels.reword(connection, other.id, printer.to_text(after), at=now)
    return renamed


def _naming(sentinel: Sentinel, old: str, new: str) -> Sentinel | None:
    """Return a sentinel that starts or ends with a renamed one, with the new name, None if it does
    not.
    """
    points = {name: point for name in ("start", "end") if (point := getattr(sentinel, name)) and point.sentinel == old}
    return replace(sentinel, **{name: replace(p, sentinel=new) for name, p in points.items()}) if points else None


def automatic_name(url: str, title: str, taken: Sequence[str]) -> str:
    """Return a name from the host and the title, or the path if there is no title: `shop-kettle`,
    in letters of any script.
    """
    if asking.is_command(url):
        program, *others = asking.argv_of(url)
        return _free_name(_pieces(" ".join((program.rpartition("/")[2], *others))), taken)
    parts = split_url(url)
    host = (parts.hostname or "page").removeprefix("www.")
    path = unquote(parts.path).strip("/").rpartition("/")[2]
    described = title or path.rpartition(".")[0] or path
    pieces = _pieces(f"{host.split('.')[0] if not host[0].isdigit() else host} {described}")
    return _free_name(pieces, taken)


def _free_name(pieces: Sequence[str], taken: Sequence[str]) -> str:
    """Return a name from these pieces that is not taken."""
    stem = _within(pieces, LONGEST_NAME)
    stem = stem if stem[:1].isalpha() else f"page-{stem}"
    name, number = stem, 2
    taken_names = {other.lower() for other in taken}
    while name.lower() in taken_names or words.is_reserved(name):
        name, number = f"{stem}-{number}", number + 1
    return name


LONGEST_NAME: Final = 40
"""Longest generated name, in characters."""


def _within(pieces: Sequence[str], room: int) -> str:
    """Return as many of the distinct pieces as fit, joined; of the first one what fits."""
    stem = ""
    for piece, before in zip(pieces, (None, *pieces), strict=False):
        longer = f"{stem}-{piece}" if stem else piece[:room]
        if len(longer) > room:
            break
        stem = longer if piece != before else stem
    return stem


def _pieces(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).lower()
    letters = (c for c in plain if not unicodedata.category(c).startswith("M"))  # a name has no marks
    return "".join(c if c.isalnum() else " " for c in letters).split()


def statement_for(
    url: str, *, name: str, monitor: str, every: str | None, notify: Sequence[str], clauses: Sequence[str] = ()
) -> str:
    """Return the statement that `add --url` stands for.

    Args:
        url: The address of the page.
        name: The name of the sentinel.
        monitor: The Monitor clause.
        every: The interval, or `at` and times of day, as given; None for on change.
        notify: The addresses of receivers, each with its rate and its own text, if any.
        clauses: Further clauses, one per line.
    """
    shown = name if len(name.split()) == 1 else quote(name)  # several words are refused as the name they are
    lines = [f"Create Sentinel {shown} Using {page_text(Watched(url))}", f"Monitor {monitor}"]
    spaced = "" if (every or "").startswith("at ") else "every "
    lines.append(f"Fetch {spaced}{every}" if every else "Fetch on change")
    lines.extend(f"Notify By {channel_words(target.strip())}" for target in notify)
    return "\n".join((*lines, *clauses))


def channel_words(target: str) -> str:
    """Return a receiver in words of the language: an http(s) address is a webhook, a mail address
    e-mail. A rate or an own text may follow.
    """
    if target.startswith(("http://", "https://")):
        return f"webhook {target}"
    address, *_ = target.split(maxsplit=1) or [""]
    if "@" in address and "://" not in address:
        return f"email {target}"
    return target
