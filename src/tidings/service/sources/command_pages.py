"""Pages that no server gives: the output of a command, and the list of a collection's pages.

A command is run as the user who runs Tidings, if the operator allows it (R-18). A list is asked for
at an address `collection:`, by nobody but the service, when it was published anew; so that many
pages that come at once are one change. Each page is a link with its title.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from tidings.clock import SECOND
from tidings.errors import AddressError
from tidings.isolation import command
from tidings.isolation.runner import Died
from tidings.model.observed.outcome import Failed, Fetched
from tidings.model.watch import asking
from tidings.model.watch.sentinel import id_of, is_listing
from tidings.record import replace

if TYPE_CHECKING:
    from tidings.fetching.fetcher import Fetcher, Permit
    from tidings.model.observed.outcome import FetchRequest, Outcome
    from tidings.settings import FetchSettings

_LAST_WORDS: Final = 300
"""Characters of standard error quoted in a failure."""


def check(settings: FetchSettings) -> None:
    """Raise `AddressError` unless the operator allows watching command output."""
    if not settings.allow_commands:
        message = (
            "commands are not allowed here: they need `fetch.allow_commands = true` in the settings file or"
            " TIDINGS_FETCH_ALLOW_COMMANDS=true, and a statement of who runs Tidings, on its command line"
        )
        raise AddressError(message)


class CommandFetcher:
    """Runs the commands of `command:` addresses (`fetcher.Fetcher`); `others` fetches all other
    pages, and is closed with it.

    Only page identities have such an address: those of redirects, frames or sitemaps must be http
    or https.
    """

    def __init__(self, settings: FetchSettings, others: Fetcher) -> None:
        self._settings = settings
        self._others = others
        self._closed = False

    async def fetch(self, request: FetchRequest, permit: Permit) -> Outcome:
        """Run a command, or pass the request on; see `fetcher.Fetcher.fetch`."""
        if not asking.is_command(request.url):
            return await self._others.fetch(request, permit)
        if self._closed:
            return Failed(kind="net", reason="the fetcher is closed", requests=0)
        if request.render or request.method != "GET" or request.body is not None:
            return _make_failure("request", "a command cannot have Render, Method or Body; leave them out")
        try:
            check(self._settings)
            argv = asking.argv_of(request.url)
        except (AddressError, ValueError) as error:
            return _make_failure("address", str(error))
        outcome = await self._run(argv, request)
        return replace(outcome, final_url=request.url)

    async def close(self) -> None:
        """Close the other fetcher; a command ends with its fetch."""
        self._closed = True
        await self._others.close()

    async def _run(self, argv: tuple[str, ...], request: FetchRequest) -> Fetched | Failed:
        seconds = self._settings.total_seconds if request.timeout is None else request.timeout / SECOND
        ran = await command.run(argv, seconds=seconds, most_bytes=self._settings.max_body_bytes)
        if isinstance(ran, Died):
            return _make_failure("size" if ran.cause == "memory" else "command", ran.reason)
        if ran.exit_code:
            how = f"exit code {ran.exit_code}" if ran.exit_code > 0 else f"signal {-ran.exit_code}"
            return _make_failure("command", f"{argv[0]} ended with {how}{_last_words(ran.errors)}")
        return Fetched(
            body=ran.output,
            final_url=request.url,
            status=200,
            headers={},
            content_type=None,
            requests=0,
            wire_bytes=len(ran.output),
        )


def _last_words(errors: bytes) -> str:
    """Return the end of a command's standard error, as the end of a sentence."""
    text = " ".join("".join(c if c.isprintable() else " " for c in errors.decode("utf-8", "replace")).split())
    return f": {text[-_LAST_WORDS:]}" if text else " without a message"


def _make_failure(kind: str, reason: str) -> Failed:
    return Failed(kind=kind, reason=reason, requests=0)  # type: ignore[arg-type]


ReadListing = Callable[[int], Awaitable[Sequence[tuple[str, str]] | None]]
"""Gives the pages of a collection as they were published, address and title; None if all was read
and nothing but its first pages was found.
"""


class ListingFetcher:
    """Answers for `collection:` addresses (`fetcher.Fetcher`); `others` asks for all other pages,
    and is closed with it.
    """

    def __init__(self, read: ReadListing, others: Fetcher) -> None:
        self._read = read
        self._others = others

    async def fetch(self, request: FetchRequest, permit: Permit) -> Outcome:
        """Return a list of pages, or let others ask; see `fetcher.Fetcher.fetch`."""
        if not is_listing(request.url):
            return await self._others.fetch(request, permit)
        try:
            pages = await self._read(id_of(request.url))
        except ValueError:
            return Failed(kind="address", reason="this is not a collection", requests=0)
        if pages is None:
            reason = "no page that was read has a link in its scope"
            return Failed(kind="scope", reason=reason, requests=0)
        body = write_listing(pages).encode()
        return Fetched(
            body=body,
            final_url=request.url,
            status=200,
            headers={},
            content_type="text/html; charset=utf-8",
            requests=0,
            wire_bytes=len(body),
        )

    async def close(self) -> None:
        """Close what asks for other pages."""
        await self._others.close()


def write_listing(pages: Sequence[tuple[str, str]]) -> str:
    """Return a list of pages, address and title of each, as HTML."""
    lines = [f'<li><a href="{escape(url)}">{escape(title or url)}</a></li>' for url, title in pages]
    return "\n".join(["<!doctype html><title>Pages of the collection</title>", "<ul>", *lines, "</ul>"])
