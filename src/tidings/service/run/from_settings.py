"""Open what the settings name: archive, runner, fetchers, policy, planner and budgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tidings.archive.archive import Archive
from tidings.clock import DAY, MINUTE, SECOND
from tidings.estimation.hourly import HourlyLearner
from tidings.estimation.learner import GammaLearner
from tidings.fetching.browser.browser import Browser
from tidings.fetching.files import FileFetcher
from tidings.fetching.http.client import Client
from tidings.fetching.politeness import ClaimTurn, HostGate
from tidings.isolation.runner import JobLimits
from tidings.isolation.runners import RUNNERS
from tidings.model.watch.sentinel import WHOLE
from tidings.scheduling.learned import Learned
from tidings.scheduling.policies import POLICIES
from tidings.scheduling.policy import HeedsHours
from tidings.scheduling.timetable import RATE
from tidings.service.explain.plan_summary import render_cost
from tidings.service.plan.planner import Planner
from tidings.service.poll.form_logins import FormLoginFetcher
from tidings.service.sources.command_pages import CommandFetcher, ListingFetcher, ReadListing

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.fetching.fetcher import Fetcher
    from tidings.isolation.runner import Runner
    from tidings.model.observed.page import HostState
    from tidings.scheduling.policy import Policy
    from tidings.service.machines.remote_poller import RemotePoller
    from tidings.service.poll.form_logins import Sessions
    from tidings.service.watch.hints import HintTracker
    from tidings.service.watch.page_schedule import Needs
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.settings import Settings

LIGHT_BYTES: Final = 524_288
"""Most bytes of a light job (the new body and those it is compared with), which does not wait for
heavy ones.
"""
LONG_SECONDS: Final = 120.0
LONG_MEMORY: Final = 2 * 1024**3
PRELOAD: Final = ("tidings.detection.job.practised",)
SOONEST: Final = 5 * MINUTE
"""Shortest time between two polls of a page after a change, unless a sentinel or the pace says
otherwise (bid §3).
"""


def open_archive(settings: Settings, *, dialect: str) -> Archive:
    """Return the archive of a data directory. With PostgreSQL all bodies are rows, so that other
    machines can read them.
    """
    return Archive(
        settings.data / "blobs",
        file_bytes=settings.store.blob_file_bytes if dialect == "sqlite" else None,
        chain_length=settings.store.chain_length,
    )


def open_runner(settings: Settings) -> Runner:
    """Return the runner of jobs on page content."""
    detect = settings.detect
    limits = JobLimits(seconds=detect.job_seconds, memory_bytes=detect.job_memory_mb * 1024 * 1024)
    return RUNNERS[detect.isolation](limits, workers=detect.workers, preload=PRELOAD, light_bytes=LIGHT_BYTES)


def open_long_runner(settings: Settings) -> Runner:
    """Return the runner of long work for a person who waits: a simulation, an import."""
    limits = JobLimits(seconds=LONG_SECONDS, memory_bytes=LONG_MEMORY)
    return RUNNERS[settings.detect.isolation](limits)


def open_web(
    settings: Settings, clock: Clock, known: Sequence[HostState], claim: ClaimTurn | None = None
) -> tuple[HostGate, Client]:
    """Return the gate that enforces hosts' limits and the HTTP client, both with the stored state
    of hosts.

    Args:
        settings: The settings in use.
        clock: The clock.
        known: The stored hosts.
        claim: Claims a turn among processes that ask the same hosts; None: no others do.
    """
    fetch = settings.fetch
    gate = HostGate(gap_seconds=fetch.host_gap_seconds, connections=fetch.host_connections, clock=clock, claim=claim)
    gate.restore(known)
    client = Client(fetch, clock=clock, on_crawl_delay=gate.widen)
    client.robots.restore(known)
    return gate, client


def open_fetcher(
    settings: Settings,
    client: Client,
    runner: Runner,
    sessions: Sessions,
    read_listing: ReadListing | None = None,
    *,
    on_poller: Callable[[str], None] = lambda name: None,  # noqa: ARG005 - nobody asks
) -> Fetcher:
    """Return the fetcher of all pages, including rendered ones, files, commands and lists.
    Closing it closes the client.

    Args:
        settings: The settings in use.
        client: The HTTP client.
        runner: Runs jobs on page content.
        sessions: The stored logins.
        read_listing: Returns a collection's list of pages; None: there are no collections.
        on_poller: Called with the name of the poller on another machine that takes a check.
    """
    asks: Fetcher = Browser(settings.fetch, client)
    if settings.bus.url:
        asks = open_remote(settings, asks, client, on_poller)
    files = FileFetcher(settings.fetch, asks, clock=client.clock)
    commands = CommandFetcher(settings.fetch, files)
    others = commands if read_listing is None else ListingFetcher(read_listing, commands)
    return FormLoginFetcher(others, runner, sessions, clock=client.clock)


def open_remote(settings: Settings, own: Fetcher, client: Client, on_poller: Callable[[str], None]) -> Fetcher:
    """Return a fetcher that has pollers on other machines fetch. Raises `SettingError` if the bus
    cannot be used as configured.

    Args:
        settings: The settings in use.
        own: Fetches what only this machine can.
        client: The HTTP client.
        on_poller: Called with the name of the poller that takes a check.
    """
    from tidings.bus.bus import hide
    from tidings.bus.buses import open_bus  # most installations have no bus, and every verb pays for what it imports
    from tidings.service.machines.remote_fetcher import RemoteFetcher

    return RemoteFetcher(
        open_bus(settings.bus),
        settings.bus.secret,
        own,
        robots=client.robots,
        usual_seconds=settings.fetch.total_seconds,
        on_poller=on_poller,
        where=f"the bus at {hide(settings.bus.url)}",
    )


def open_poller(settings: Settings) -> RemotePoller:
    """Return a poller that fetches for a remote service. Raises `SettingError` if the bus cannot be
    used as configured.
    """
    from tidings.bus.bus import hide
    from tidings.bus.buses import open_bus
    from tidings.service.machines.remote_poller import RemotePoller

    client = Client(settings.fetch)
    return RemotePoller(
        open_bus(settings.bus),
        settings.bus.secret,
        Browser(settings.fetch, client),
        robots=client.robots,
        places={"pages": settings.schedule.concurrency, "browser": settings.fetch.browser_pages},
        where=f"the bus at {hide(settings.bus.url)}",
    )


def open_policy(settings: Settings) -> Policy[Any]:
    """Return the configured policy. One that uses change rates gets the estimates of its pages, and
    their hours if it uses them.
    """
    made = POLICIES[settings.schedule.policy](round(settings.schedule.pace_seconds * SECOND))
    if RATE not in made.reads:
        return made
    return Learned(made, HourlyLearner() if isinstance(made, HeedsHours) else GammaLearner())


class _LateChance:
    """A generator of random numbers, made at its first use: the policies that poll use none, and
    loading it takes a `check` 11 ms.
    """

    def __getattr__(self, name: str) -> Any:
        if "made" not in self.__dict__:
            self.__dict__["made"] = np.random.default_rng(0)  # noqa: TID251 - here is where chance comes from
        return getattr(self.__dict__["made"], name)


def open_planner(
    settings: Settings,
    pages: Mapping[int, WatchedPage],
    needs: Needs,
    *,
    spreads: bool = False,
    tracker: HintTracker | None = None,
) -> Planner:
    """Return the planner, which decides when pages are polled.

    Args:
        settings: The settings.
        pages: The watched pages, by id.
        needs: The polls that have a deadline.
        spreads: Spread polls that are due at the same instant, as in `poller`.
        tracker: What is known of hints; None: nothing.
    """
    return Planner(
        open_policy(settings),
        pages,
        floor=round(settings.fetch.page_floor_seconds * SECOND),
        host_connections=settings.fetch.host_connections,
        rng=cast("np.random.Generator", _LateChance()),
        heed=round(settings.fetch.freshness_seconds * SECOND),
        spreads=spreads,
        render_cost=render_cost(settings),
        render_places=settings.fetch.browser_pages,
        needs=needs,
        tracker=tracker,
        second_polls=settings.detect.second_polls,
        classes={name: each.burst for name, each in settings.budget.map_names().items()},
        budget=settings.budget.polls_per_day / DAY,
        burst=settings.budget.capacity,
        soonest=min(SOONEST, round(settings.schedule.pace_seconds * SECOND)),
    )


def budgets(settings: Settings) -> dict[str, tuple[float, float]]:
    """Return rate per second and burst of the budget of all polls, and of each class within it."""
    whole = (settings.budget.polls_per_day / 86_400, settings.budget.capacity)
    return {WHOLE: whole, **{n: (c.rate_per_second, c.burst) for n, c in settings.budget.map_names().items()}}
