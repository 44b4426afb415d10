"""Import a file's jobs: drafts, checked, with free names; all in one transaction, or nothing.

`READERS` are all import formats, in the order in which a file is tested for them.
"""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from tidings.clock import DAY
from tidings.errors import ImportFileError
from tidings.estimation.learner import NEVER_SEEN, GammaLearner
from tidings.model.interval import Instant
from tidings.model.observed.unit import Estimate
from tidings.model.secret import Secret
from tidings.record import dataclass, replace
from tidings.scheduling.timetable import RATE
from tidings.service.imports import changedetection, kibitzr, lists, services, urlwatch
from tidings.service.imports.draft import Draft, Judged, Note, judge, name_of
from tidings.service.imports.reading import Files
from tidings.service.secrets import secrets
from tidings.service.sentinels import register
from tidings.service.sentinels.author import INSTALLATION, Author
from tidings.service.watch.watchlist import read_meaning
from tidings.storage import secrets as secret_rows
from tidings.storage.db.database import has_been_used, open_database
from tidings.storage.observed import estimates
from tidings.storage.secrets import Vault
from tidings.storage.watches import sentinels, subscriptions
from tidings.storage.watches.events import OWNER

if TYPE_CHECKING:
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, and what its reader is based on (files `made` by the program itself, or
    `published` descriptions).
    """

    name: str
    basis: str


@dataclass(frozen=True, slots=True)
class FormatReader:
    """Tests whether files have a format, and reads them."""

    format: Format
    is_ours: Callable[[Files], bool]
    read: Callable[[Files], Iterator[Draft]]


READERS: Final[tuple[FormatReader, ...]] = (
    FormatReader(Format("changedetection.io", "made"), changedetection.is_ours, changedetection.read),
    FormatReader(Format("Distill", "published"), services.is_distill, services.read_distill),
    FormatReader(Format("Visualping", "published"), services.is_visualping, services.read_visualping),
    FormatReader(Format("Update Scanner", "published"), services.is_update_scanner, services.read_update_scanner),
    FormatReader(Format("Huginn", "published"), services.is_huginn, services.read_huginn),
    FormatReader(Format("kibitzr", "published"), kibitzr.is_ours, kibitzr.read),
    FormatReader(Format("urlwatch", "made"), urlwatch.is_ours, urlwatch.read),
    FormatReader(Format("OPML", "published"), lists.is_opml, lists.read_opml),
    FormatReader(Format("bookmarks", "published"), lists.is_bookmarks, lists.read_bookmarks),
    FormatReader(Format("CSV", "published"), lists.is_csv, lists.read_csv),
    FormatReader(Format("list of addresses", "published"), lists.is_list, lists.read_list),
)


def read(path: Path) -> tuple[Format, list[Draft]]:
    """Return the format of a file or directory and its jobs. Raises `ImportFileError` for an
    unknown one.
    """
    if not path.exists():
        raise ImportFileError(f"there is no file {path}")
    with contextlib.closing(Files(path)) as files:
        for reader in READERS:
            if files.names and reader.is_ours(files):
                drafts = list(reader.read(files))
                name = urlwatch.peer(files) if reader.format.name == "urlwatch" else reader.format.name
                return Format(name, reader.format.basis), drafts
    known = ", ".join(reader.format.name for reader in READERS)
    raise ImportFileError(f"{path} has no known format; these are known: {known}, webchanges")


MOST_JOBS: Final = 50_000
AT_ONCE: Final = 100
"""Sentinels registered per text."""
ONLY_ADMINS: Final = "it needs a password or token, which only an admin may store"
MOST_CHANGES: Final = 200
"""Number of a page's newest changes that are learned from."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import: the format, each checked job, which were stored, which existed, and
    pages with a known rate.
    """

    format: Format
    judged: tuple[Judged, ...]
    stored: tuple[str, ...]
    already: tuple[str, ...]
    rates: Mapping[str, float]
    """changes a day, by name"""


def take_in(
    settings: Settings,
    path: Path,
    *,
    now: Instant,
    learn: bool = False,
    dry_run: bool = False,
    author: Author = INSTALLATION,
) -> Imported:
    """Read a file or directory of another program and store its jobs as sentinels; a dry run stores
    nothing anywhere.

    Raises `ImportFileError` for an unknown format, or one that exceeds the limits.

    Args:
        settings: The settings in use.
        path: The file or directory.
        now: When (µs).
        learn: Whether intervals become bounds, within which the learned rates decide.
        dry_run: Whether nothing is stored.
        author: Who imports, and owns the new sentinels.
    """
    kind, drafts = read(path)
    if len(drafts) > MOST_JOBS:
        raise ImportFileError(f"{path} has {len(drafts):,} jobs; at most {MOST_JOBS:,} are imported at once")
    if not dry_run:
        found = _store(settings, drafts, settings, author, now=now, learn=learn)
    else:
        with tempfile.TemporaryDirectory(prefix="tidings-import-") as folder:
            tried = replace(settings, data=Path(folder), store=replace(settings.store, url=""))
            found = _store(tried, drafts, settings, author, now=now, learn=learn)
    return replace(found, format=kind)


def _store(
    where: Settings, drafts: Sequence[Draft], real: Settings, author: Author, *, now: Instant, learn: bool
) -> Imported:
    """Judge the drafts, which takes long, then store them in one short transaction; again, if one
    of their names was given meanwhile.
    """
    taken: dict[str, set[str]] = {}
    if where is not real and (real.store.url or has_been_used(real.data)):
        with contextlib.closing(open_database(real, create=False)) as database:
            taken = database.read(_list_taken, author.owner_id)
    if where is not real:
        author = replace(author, owner_id=OWNER)  # no account exists in an empty database
    with contextlib.closing(open_database(where)) as database:
        while True:
            known = {**taken, **database.read(_list_taken, author.owner_id)}
            judged = _judge_all(drafts, known, author, learn=learn)
            wanted = [one for one, is_there in judged if one.text and not is_there]
            rates = {one.name: found for one in wanted if (found := learn_rates(one.draft, now)) is not None}
            stored = database.write(_store_all, where, wanted, rates, author, now=now)
            if stored is not None:
                break
    already = tuple(one.name for one, is_there in judged if one.text and is_there)
    shown = {name: rate for name, (_, rate) in rates.items()}
    return Imported(Format("", ""), tuple(one for one, _ in judged), stored, already, shown)


def _list_taken(connection: Connection, owner_id: int) -> dict[str, set[str]]:
    """Return the addresses by the names of all sentinels; those of other owners are left out."""
    return {
        row.name: {page.url for page in read_meaning(row).pages} if row.owner_id in {OWNER, owner_id} else set()
        for row in sentinels.listing(connection)
    }


def _judge_all(
    drafts: Sequence[Draft], taken: Mapping[str, set[str]], author: Author, *, learn: bool
) -> list[tuple[Judged, bool]]:
    """Return the result for each draft, and whether its sentinel exists already."""
    names = _DraftNames(taken)
    judged = []
    for draft in drafts:
        name, is_there = names.give(draft)
        one = judge(draft, name, learn=learn)
        if one.secrets and not author.sees_all:
            one = replace(one, text="", secrets={}, notes=(*one.notes, Note("refused", "job", ONLY_ADMINS)))
        judged.append((one, is_there))
    return judged


def _store_all(
    connection: Connection,
    settings: Settings,
    wanted: Sequence[Judged],
    rates: Mapping[str, tuple[dict[str, object], float]],
    author: Author,
    *,
    now: Instant,
) -> tuple[str, ...] | None:
    """Store sentinels, and what is known of their pages; return their names, or None if one of
    these is taken.
    """
    if not {one.name for one in wanted}.isdisjoint(sentinels.names(connection)):
        return None
    stored = []
    for batch in _cut_batches(wanted):
        for name, sentinel_id in _register(connection, settings, batch, now, author).items():
            stored.append(name)
            if name in rates:
                _remember(connection, sentinel_id, settings.schedule.policy, rates[name][0], now)
    return tuple(stored)


def _cut_batches(wanted: Sequence[Judged]) -> Iterator[Sequence[Judged]]:
    return (wanted[start : start + AT_ONCE] for start in range(0, len(wanted), AT_ONCE))


def _register(
    connection: Connection, settings: Settings, batch: Sequence[Judged], now: Instant, author: Author
) -> dict[str, int]:
    """Store secrets, then the sentinels that name them; return the ids of the sentinels."""
    vault = Vault(settings.data)
    there = set(secret_rows.names(connection))
    for one in batch:
        for name, value in one.secrets.items():
            if name in there:
                secrets.set_(connection, vault, name, Secret(value), at=now)
            else:
                vault.put(connection, name, Secret(value), at=now)
    text = "\n".join(one.text for one in batch)
    return {row.name: row.id for row in register.carry_out(connection, text, settings, now, "", author).made}


class _DraftNames:
    """Assigns each draft a name: its own if that is free or already has the same address, else with
    a number.
    """

    def __init__(self, taken: Mapping[str, set[str]]) -> None:
        self._there = dict(taken)
        self._given: set[str] = set()

    def give(self, draft: Draft) -> tuple[str, bool]:
        """Return a name, and whether the sentinel exists already."""
        stem, number = name_of(draft.title, draft.url), 1
        name = stem
        while True:
            if name not in self._given:
                is_there = draft.url in self._there.get(name, ())
                if is_there or name not in self._there:
                    self._given.add(name)
                    return name, is_there
            number += 1
            name = f"{stem}-{number}"


def learn_rates(draft: Draft, now: Instant) -> tuple[dict[str, object], float] | None:
    """Return the estimator's state after the checks of the other program, and the rate (changes a
    day); None without a history.

    Between two changes it polled at its interval and found nothing.
    """
    changes = sorted(at for at in set(draft.changed_at) if at <= now)[-MOST_CHANGES:]
    if len(changes) < 2:
        return None
    every = draft.every or DAY
    learner = GammaLearner()
    known = learner.begin(np.zeros(1, dtype=np.int64))
    for at, has_changed, count in _checks(changes, draft.polled_until, every):
        known = learner.observe(
            known,
            np.array([0]),
            np.array([at]),
            np.array([has_changed]),
            np.array([NEVER_SEEN]),
            np.array([False]),
            np.array([count]),
        )
    memory = {**learner.remember(known, 0), "seen": NEVER_SEEN}
    return {RATE: memory}, float(known.posterior.mean[0])


def _checks(changes: Sequence[Instant], until: Instant | None, every: int) -> list[tuple[Instant, bool, float]]:
    """Return polls (when, whether it changed, the interval): one for each change, then the quiet
    time since.

    Where two changes are further apart than its polls were, exactly one change is between them;
    where each poll found one there may have been more, so the number is unknown (nan).
    """
    found = [(changes[0], True, float("nan"))]
    for before, at in itertools.pairwise(changes):
        found.append((at, True, 1.0 if 2 * (at - before) > 3 * every else float("nan")))
    if until is not None and until > changes[-1] + every:
        found.append((until, False, float("nan")))
    return found


def _remember(connection: Connection, sentinel_id: int, policy: str, memory: dict[str, object], now: Instant) -> None:
    for page_id in {sub.page_id for sub in subscriptions.listing(connection, sentinel_id=sentinel_id)}:
        if estimates.get(connection, policy, page_id) is None:
            estimates.put(connection, [Estimate(name=policy, page_id=page_id, state=memory, at=now)])
