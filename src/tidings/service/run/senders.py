"""Senders: deliver messages to receivers, with the keys that sign webhooks. Mail and chat libraries
run behind the address guard of fetches (contracts §6).
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

from tidings.clock import DAY, SystemClock
from tidings.errors import SecretError
from tidings.fetching.http.client import Client
from tidings.fetching.network_guard import OutboundDoor
from tidings.isolation.guarded import Guarded
from tidings.isolation.runner import Done, JobLimits
from tidings.isolation.runners import RUNNERS
from tidings.model.secret import Secret
from tidings.notification.channel import A, Answer, Refused
from tidings.notification.channels import SenderParts, build_senders
from tidings.notification.webhook import make_secret, read_secrets
from tidings.record import dataclass
from tidings.service.notify.deliver import Deliverer, SendQueue
from tidings.service.secrets import references
from tidings.storage.db import instance
from tidings.storage.secrets import SIGNING, Vault
from tidings.storage.watches import deliveries

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.isolation.guarded import Fault
    from tidings.isolation.runner import Runner
    from tidings.notification.channel import Sender
    from tidings.service.notify.claims import Claims
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.run.senders")
JOBS_AT_ONCE: Final = 2
JOBS_A_PROCESS: Final = 100


@dataclass(frozen=True, slots=True)
class GuardedJobs:
    """Joins a runner of separate processes with an address guard that can be pickled."""

    runner: Runner
    fault: Fault

    async def run(self, job: Callable[[A], Answer], argument: A, *, seconds: float) -> Answer:
        """Return the job's result. A job that died is to be retried, although it may have done its
        work.
        """
        ended = await self.runner.run(Guarded(job, self.fault), argument, seconds=seconds)
        if isinstance(ended, Done):
            return ended.value
        return Refused(reason=f"the attempt was given up: {ended.reason}")


class Signing(NamedTuple):
    """The keys that sign webhooks, or why there are none: then webhooks wait, and everything else
    continues.
    """

    keys: tuple[bytes, ...] = ()
    fault: str = ""


def read_signing(connection: Connection, settings: Settings, vault: Vault, now: int) -> Signing:
    """Return the webhook signing keys, from the settings or a secret generated at first use;
    encrypt addresses that older versions stored as plain text.

    Args:
        connection: The database, within a write.
        settings: The settings: a webhook secret, or none.
        vault: Encrypts and decrypts.
        now: The present (µs).
    """
    try:
        vault.seal_plain(connection)
        if settings.notify.webhook_secret:
            return Signing(read_secrets(settings.notify.webhook_secret))
        key = vault.open(connection, SIGNING)
        if key is None:
            vault.put(connection, SIGNING, Secret(make_secret()), kind="signing", at=now)
            key = vault.open(connection, SIGNING)
    except SecretError as error:
        log.error("webhooks cannot be signed and wait: %s", error)  # noqa: TRY400 - the text says all
        return Signing(fault=str(error))
    return Signing(read_secrets(key.value.reveal()) if key is not None else ())


def open_senders(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    client: Client,
    signing: Signing,
    installation: instance.DatabaseInstance,
    stream: TextIO,
) -> dict[str, Sender]:
    """Return the senders. Mail and Apprise run in separate processes, started at the first message.

    Args:
        stack: Ends their processes.
        settings: Settings of notifications, and the networks that may be reached.
        client: Posts webhooks.
        signing: The keys that sign webhooks.
        installation: The installation that sends.
        stream: Where console messages are written.
    """
    limits = JobLimits(seconds=settings.notify.timeout_seconds, tasks=JOBS_A_PROCESS)
    runner = RUNNERS["killable"](limits, workers=JOBS_AT_ONCE)
    stack.push_async_callback(runner.close)
    door = OutboundDoor(settings.fetch.allow_networks)
    return build_senders(
        SenderParts(
            poster=client,
            keys=signing.keys,
            unsigned=signing.fault,
            stream=stream,
            timeout_seconds=settings.notify.timeout_seconds,
            jobs=GuardedJobs(runner, door.fault),
            tls=door.tls,
            settings=settings.notify,
            instance=installation.id,
        )
    )


def open_client(stack: contextlib.AsyncExitStack, settings: Settings, clock: Clock) -> Client:
    """Return a client that posts webhooks, for a process that does not check pages."""
    client = Client(settings.fetch, clock=clock)
    stack.push_async_callback(client.close)
    return client


def open_sending(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    store: Store,
    committer: Committer,
    client: Client,
    signing: Signing,
    installation: instance.DatabaseInstance,
    stream: TextIO,
    *,
    clock: Clock,
    epoch: int,
    claims: Claims | None,
    awaits: Callable[[int, int], Awaitable[bool]],
    users_of: Callable[[DeliveryRow], Awaitable[Iterable[WatchedSentinel]]],
) -> SendQueue:
    """Return the sender of messages.

    Args:
        stack: Ends the processes of mail and Apprise.
        settings: The settings.
        store: The database.
        committer: Stores the results of attempts.
        client: Posts webhooks.
        signing: The keys that sign webhooks.
        installation: The installation that sends.
        stream: Where console messages are written.
        clock: The clock.
        epoch: The poller's epoch; 0 for a process that only sends.
        claims: The receivers claimed by this process; None: no other process sends.
        awaits: Returns whether a rule waits for a message that is being sent.
        users_of: Returns the sentinels that notify the endpoint of a delivery.
    """
    vault = Vault(settings.data)
    deliverer = Deliverer(
        open_senders(stack, settings, client, signing, installation, stream),
        disable_after=round(settings.notify.disable_days * DAY),
        awaits=awaits,
        following=lambda delivery, now: store.read(deliveries.following, delivery, now=now),
        users_of=users_of,
        address_of=lambda address: store.read(references.address_of, vault, address),
    )
    return SendQueue(store, committer, deliverer, clock, epoch=epoch, claims=claims)


@contextlib.asynccontextmanager
async def senders_alone(settings: Settings, database: Database) -> AsyncIterator[dict[str, Sender]]:
    """Yield the senders alone, for a process that notifies without polling."""
    signing = database.write(read_signing, settings, Vault(settings.data), SystemClock().now())
    async with contextlib.AsyncExitStack() as stack:
        client = open_client(stack, settings, SystemClock())
        yield open_senders(stack, settings, client, signing, database.read(instance.load), sys.stdout)
