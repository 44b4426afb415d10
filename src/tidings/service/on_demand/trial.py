"""Trial: what sentinels would watch on the present pages; nothing is stored (contracts §2).

Each page is fetched once, paid from the same budget as any poll. Its requests take turns with those
of the service.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from tidings.clock import SECOND, SystemClock
from tidings.detection.job.contract import Body, Examination, Job, Wanted
from tidings.detection.job.run import examine
from tidings.document.select.extraction import extraction_of
from tidings.errors import BudgetError, SentinelError
from tidings.isolation.runner import Died
from tidings.language import expressions
from tidings.model.observed.outcome import Failed, Fetched, Unchanged
from tidings.model.watch.sentinel import WHOLE, Sentinel
from tidings.record import dataclass, replace
from tidings.service.examine.framed_page import list_followed
from tidings.service.explain.plan_summary import render_cost
from tidings.service.on_demand.seen_now import SeenNow, finds_nothing, page_warnings, record_of
from tidings.service.on_demand.trial_on_stored import StoredTrial, try_on_stored
from tidings.service.poll.build_request import Occasion, RequestBuilder
from tidings.service.poll.form_logins import Sessions
from tidings.service.run.from_settings import budgets, open_archive, open_fetcher, open_runner, open_web
from tidings.service.sentinels import register
from tidings.service.sentinels.author import INSTALLATION, RequestRights, check_rights
from tidings.service.sentinels.receivers import check_addressees
from tidings.service.show.finding import excludes_nothing, matches_nothing
from tidings.service.watch import noise
from tidings.storage.observed import hosts, pages
from tidings.storage.people.accounts import add_shares
from tidings.storage.secrets import Vault
from tidings.storage.watches import sentinels, subscriptions
from tidings.storage.write import charge

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidings.fetching.fetcher import Fetcher
    from tidings.fetching.politeness import HostGate
    from tidings.isolation.runner import Runner
    from tidings.language.problems import Problem
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageIdentity
    from tidings.service.sentinels.author import Author
    from tidings.service.watch.noise import PageMasks
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database


@dataclass(frozen=True, slots=True)
class Tried:
    """The result for one page of a sentinel: `outcome` is ok or a kind of error; `first_words` the
    beginning of its text.
    """

    sentinel: str
    url: str
    monitor: str
    outcome: str
    title: str
    words: int
    links: int
    images: int
    first_words: str
    media_type: str
    warnings: tuple[str, ...]
    frames: tuple[str, ...] = ()
    """addresses of the frames that would be followed; they are not fetched"""
    on_stored: tuple[StoredTrial, ...] = ()
    """what each Compare option would have reported of the stored versions, if the page is known"""
    masks: PageMasks | None = None
    """the learned noise of the page, if it is known"""
    seen: SeenNow = SeenNow()
    """the sentinel's present values"""
    body: Body | None = None
    """the page as received; not part of a record"""

    def record(self) -> dict[str, Any]:
        """Return it as a record."""
        return {
            "record": "trial",
            "sentinel": self.sentinel,
            "url": self.url,
            "monitor": self.monitor,
            "outcome": self.outcome,
            "title": self.title,
            "words": self.words,
            "links": self.links,
            "images": self.images,
            "first_words": self.first_words,
            "now": [record_of(reading) for reading in self.seen.readings],
            "media_type": self.media_type,
            "frames": list(self.frames),
            "warnings": list(self.warnings),
            "hindsight": [one.record() for one in self.on_stored],
            "masks": [] if self.masks is None else self.masks.records(self.sentinel),
        }


async def trial(
    database: Database, text: str, settings: Settings, *, file: str = "", author: Author = INSTALLATION
) -> tuple[list[Tried], tuple[Problem, ...]]:
    """Parse statements and fetch their pages once; return what would be watched and the language's
    warnings.

    The name of the `file` determines its format. Sentinels may exist already: a text is tried again
    after it was added. Raises `SentinelError` with every problem found, and `UsageError` for what
    the author may not do.

    Args:
        database: The database; nothing is written.
        text: The statements.
        settings: The settings in use.
        file: The name of the file of the text; empty for none.
        author: Who tries them.
    """
    clock = SystemClock()
    database.read(register.check_named, file, text, settings, author)
    parsed = database.read(
        register.understand, file, text, settings=settings, now=clock.now(), author=author, anew=True
    )
    if parsed.problems:
        raise SentinelError(parsed.problems)
    database.read(check_rights, author, parsed.statements)
    for statement in parsed.statements:
        check_addressees(statement)
    watched = [one for one in parsed.statements if isinstance(one, Sentinel)]
    identities = [database.read(_identify, one, author) for one in watched]
    found: list[Tried] = []
    settings = database.read(add_shares, settings)
    database.write(charge.set_budgets, budgets(settings), at=clock.now())
    async with contextlib.AsyncExitStack() as stack:
        runner = open_runner(settings)
        stack.push_async_callback(runner.close)
        longest = round(settings.fetch.total_seconds * SECOND)
        known = database.read(hosts.as_left, now=clock.now(), longest=longest)

        async def claim(host: str, gap: Duration, at: Instant) -> tuple[Instant, Instant]:
            return database.write(hosts.claim_turn, host, gap, at)

        gate, client = open_web(settings, clock, known, claim)
        vault = Vault(settings.data)
        fetcher = open_fetcher(settings, client, runner, _sessions(database, vault))
        stack.push_async_callback(fetcher.close)
        asker = RequestBuilder(vault, settings.data)
        visitor = _PageTrial(database, fetcher, gate, runner, clock, asker, settings)
        archive = open_archive(settings, dialect=database.dialect)
        for sentinel, own in zip(watched, identities, strict=True):
            for page, identity in zip(sentinel.pages, own, strict=True):
                tried = await visitor.visit(sentinel, identity)
                if not database.read(_sees_page, identity.key, author):
                    found.append(tried)
                    continue
                trials = await try_on_stored(database, archive, runner, sentinel, page, identity)
                masks = database.read(noise.masks_of_page, identity.key)
                found.append(replace(tried, on_stored=tuple(trials), masks=masks))
    return found, parsed.warnings


def _sees_page(connection: Connection, key: str, author: Author) -> bool:
    """Return whether the author sees a sentinel that watches, or watched, the page of a key: what
    is stored of a page that only others watch is theirs.
    """
    page_id = pages.find_by_key(connection, key)
    found = [] if page_id is None else subscriptions.listing(connection, page_id=page_id)
    return author.sees_all or any(sentinels.is_seen(connection, one.sentinel_id, author.viewer) for one in found)


def _identify(connection: Connection, sentinel: Sentinel, author: Author) -> list[PageIdentity]:
    """Return the identities of the pages of a sentinel, as if the author stored it now."""
    requests = RequestRights.of_name(connection, sentinel.name, author)
    return [requests.identify(page.url, sentinel.asking) for page in sentinel.pages]


def _sessions(database: Database, vault: Vault) -> Sessions:
    """Return the store of logins: one that a trial makes or repairs is the service's too."""

    async def read(fn: Callable[..., Any], *args: Any) -> Any:
        return database.read(fn, *args)

    async def write(fn: Callable[..., Any], *args: Any) -> Any:
        return database.write(fn, *args)

    return Sessions(vault, read=read, write=write)


class _PageTrial:
    """Fetches pages for a trial."""

    def __init__(
        self,
        database: Database,
        fetcher: Fetcher,
        gate: HostGate,
        runner: Runner,
        clock: SystemClock,
        asker: RequestBuilder,
        settings: Settings,
    ) -> None:
        self._database = database
        self._fetcher = fetcher
        self._gate = gate
        self._runner = runner
        self._clock = clock
        self._asker = asker
        self._settings = settings

    async def visit(self, sentinel: Sentinel, identity: PageIdentity) -> Tried:
        budget = sentinel.budget_class if sentinel.budget_class in self._settings.budget.map_names() else WHOLE
        cost = render_cost(self._settings, budget) if identity.render else 1.0
        left = cost - 1

        async def further(_: str) -> None:
            nonlocal left
            left -= 1
            self._database.write(charge.bare, budget, at=self._clock.now(), cost=0.0 if left >= 0 else 1.0)

        try:
            self._database.write(charge.bare, budget, at=self._clock.now(), cost=cost)
            async with self._gate.permit(identity.host, further, is_visit=True) as permit:
                occasion = Occasion(
                    now=self._clock.now(),
                    timeout=sentinel.asking.timeout,
                    robots_ignored=bool(sentinel.asking.robots_ignored),
                )
                request = self._database.read(self._asker.with_secrets, identity, occasion)
                outcome = request if isinstance(request, Failed) else await self._fetcher.fetch(request, permit)
        except BudgetError as error:
            outcome = Failed(kind="busy", reason=str(error))
        match outcome:
            case Fetched():
                return await self._examine(sentinel, identity, outcome)
            case Failed():
                return _make_tried(sentinel, identity, outcome.kind, None, (outcome.reason,))
            case Unchanged():
                return _make_tried(
                    sentinel, identity, "request", None, ("the server answered 304 to an unconditional request",)
                )

    async def _examine(self, sentinel: Sentinel, identity: PageIdentity, fetched: Fetched) -> Tried:
        body = Body(data=fetched.body, content_type=fetched.content_type, url=fetched.final_url)
        answer = await self._runner.run(
            examine, Job(new=body, references={}, known={}, wanted=(_build_wanted(sentinel),), depth=identity.frames)
        )
        if isinstance(answer, Died):
            return _make_tried(sentinel, identity, "ok", None, (f"the page could not be read: {answer.reason}",))
        seen = answer.value
        facts = seen.facts
        warnings = page_warnings(
            scripts_only=facts.scripts_only, login=facts.login, problem=seen.problem, note=facts.note
        )
        warnings += [matches_nothing(name, seen.media_type) for absent in seen.absent for name in absent.names]
        warnings += excludes_nothing(sentinel, seen.media_type)
        warnings += [refusal.reason for refusal in seen.refused]
        missing = tuple(name for absent in seen.absent for name in absent.names)
        now = SeenNow(tuple(reading for one in seen.readings for reading in one.readings), missing)
        warnings += finds_nothing(now)
        tried = replace(_make_tried(sentinel, identity, "ok", seen, tuple(warnings)), seen=now, body=body)
        for selected in seen.selected:
            tried = replace(tried, words=selected.words, first_words=selected.first_words)
        return replace(tried, frames=tuple(f.url for f in list_followed(identity, fetched.final_url, seen.frames)))


def _build_wanted(sentinel: Sentinel) -> Wanted:
    return Wanted(key=0, reference=0, expression=sentinel.monitor, extraction=extraction_of(sentinel), shows=True)


def _make_tried(
    sentinel: Sentinel, identity: PageIdentity, outcome: str, seen: Examination | None, warnings: tuple[str, ...]
) -> Tried:
    return Tried(
        sentinel=sentinel.name,
        url=identity.given,
        monitor=expressions.to_text(sentinel.monitor),
        outcome=outcome,
        title=seen.title if seen is not None else "",
        words=seen.facts.words if seen is not None else 0,
        links=seen.facts.links if seen is not None else 0,
        images=seen.facts.images if seen is not None else 0,
        first_words=seen.facts.first_words if seen is not None else "",
        media_type=seen.media_type if seen is not None else "",
        warnings=warnings,
    )
