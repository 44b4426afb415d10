"""Compare two stored versions on demand, in a separate process, for `tidings diff` and the
screens.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from tidings.detection.ask.summary import summary
from tidings.detection.job import run
from tidings.document.select.extraction import extraction_of
from tidings.errors import TidingsError
from tidings.isolation.runner import Died
from tidings.language import expressions
from tidings.model.observed.version import version_id
from tidings.service.examine.stored_versions import read_body, read_parts
from tidings.service.on_demand import draw
from tidings.service.run.from_settings import open_archive, open_runner
from tidings.service.show.records import Record, make_found_record, rfc3339
from tidings.service.watch.subscription_memory import Remembered
from tidings.service.watch.watchlist import meaning
from tidings.storage.observed import pages, versions
from tidings.storage.watches import subscriptions

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.detection.job.contract import Body, Part, Target
    from tidings.isolation.runner import Runner
    from tidings.model.observed.change import ChangeSet
    from tidings.model.observed.page import PageIdentity
    from tidings.model.observed.version import Version
    from tidings.presentation.safe.merged import Merged
    from tidings.presentation.safe.picker import PickedPart
    from tidings.presentation.screenshots import ScreenshotComparison
    from tidings.presentation.views.view import View
    from tidings.service.on_demand.choices import Choices
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow

Read = Callable[..., Awaitable[Any]]
"""Runs a function of a connection, with further arguments, in a read transaction."""


class Comparisons:
    """Compares stored versions as a sentinel sees them. Its process starts with the first
    comparison and serves all; `close` ends it.

    Args:
        read: Runs a function in a read transaction.
        settings: The settings in use.
        dialect: The database product, `sqlite` or `postgresql`.
    """

    def __init__(self, read: Read, settings: Settings, *, dialect: str) -> None:
        self._read = read
        self._settings = settings
        self._archive = open_archive(settings, dialect=dialect)
        self._runner: Runner | None = None

    async def two_versions(self, row: SentinelRow, *, page_id: int, old: Version, new: Version) -> Record:
        """Return a change record of any two versions of a page, as the sentinel sees them; without
        an id, since it was not reported.

        Raises `TidingsError` if they cannot be compared.

        Args:
            row: The sentinel.
            page_id: The page.
            old: The older version.
            new: The newer version.
        """
        identity = await self._read(pages.identity, page_id)
        sentinel = meaning(row.text)
        expression, extraction = sentinel.monitor, extraction_of(sentinel)
        before, after = await self._both(identity, old, new)
        healed = await self._read(_find_healed, row, page_id)
        if old.frames or new.frames or identity.frames:
            pair = (before, after, expression, identity.frames, extraction)
            answer = await self._process().run(run.compare_framed, pair)
        else:
            answer = await self._process().run(
                run.compare, (before[0].body, after[0].body, expression, extraction, healed)
            )
        if isinstance(answer, Died):
            message = f"versions {old.seq} and {new.seq} could not be compared: {answer.reason}"
            raise TidingsError(message)
        found, problem = answer.value
        if problem:
            message = f"versions {old.seq} and {new.seq} could not be compared: {problem}"
            raise TidingsError(message)
        return {
            "record": "change",
            "id": None,
            "sentinel": row.name,
            "page": str(page_id),
            "url": new.final_url,
            "kind": expressions.to_text(expression),
            "from_version": version_id(page_id, old.seq),
            "to_version": version_id(page_id, new.seq),
            **make_found_record(found),
            "summary": summary(found) if found else "no difference",
            "quiet": False,
            "modified_at": rfc3339(new.modified_at),
            "polled_at": rfc3339(new.fetched_at),
            "detected_at": None,
        }

    async def in_place(
        self, row: SentinelRow, *, page_id: int, old: Version, new: Version
    ) -> list[list[tuple[str, str]]]:
        """Return the parts of a page around a sentinel's change between two versions, for views.

        Empty if only objects changed, or if the page has frames, whose changes are shown
        separately. Raises `TidingsError` if the job dies.

        Args:
            row: The sentinel.
            page_id: The page.
            old: The version before the change.
            new: The version with the change.
        """
        identity = await self._read(pages.identity, page_id)
        if old.frames or new.frames or identity.frames:
            return []
        sentinel = meaning(row.text)
        healed = await self._read(_find_healed, row, page_id)
        (before, *_), (after, *_) = await self._both(identity, old, new)
        job = (before.body, after.body, sentinel.monitor, extraction_of(sentinel), healed)
        answer = await self._process().run(run.merge, job)
        if isinstance(answer, Died):
            message = f"versions {old.seq} and {new.seq} could not be shown side by side: {answer.reason}"
            raise TidingsError(message)
        return [list(stretch) for stretch in answer.value]

    async def view(
        self,
        row: SentinelRow,
        *,
        page_id: int,
        old: Version,
        new: Version,
        view: str,
        captions: tuple[str, str],
        rendered: str,
        found: ChangeSet | None = None,
    ) -> View | None:
        """Return two versions of a page in a view, as the sentinel sees them; None for a page with
        frames, or if it watches several parts of it.

        Raises `TidingsError` if the job dies.

        Args:
            row: The sentinel.
            page_id: The page.
            old: The version before.
            new: The version now.
            view: A name of `presentation.views.view.NAMES`, "" for the best one.
            captions: The headings of the two sides.
            rendered: The frame of the rendered page.
            found: The stored change between the two, None if there is none.
        """
        identity = await self._read(pages.identity, page_id)
        if old.frames or new.frames or identity.frames:
            return None
        sentinel = meaning(row.text)
        (before, *_), (after, *_) = await self._both(identity, old, new)
        drawing = draw.Drawing(
            old=before.body,
            new=after.body,
            expression=sentinel.monitor,
            extraction=extraction_of(sentinel),
            targets=await self._read(_find_healed, row, page_id),
            view=view,
            captions=captions,
            rendered=rendered,
            found=found,
        )
        answer = await self._process().run(draw.view, drawing)
        if isinstance(answer, Died):
            message = f"versions {old.seq} and {new.seq} could not be shown: {answer.reason}"
            raise TidingsError(message)
        drawn: View | None = answer.value
        return drawn

    async def render(self, *, page_id: int, old: Version, new: Version) -> Merged:
        """Return two versions of a page merged into one that renders, with marks. Raises
        `TidingsError` if the job dies.
        """
        identity = await self._read(pages.identity, page_id)
        (before, *_), (after, *_) = await self._both(identity, old, new)
        answer = await self._process().run(draw.render, (before.body, after.body))
        if isinstance(answer, Died):
            message = f"versions {old.seq} and {new.seq} could not be rendered: {answer.reason}"
            raise TidingsError(message)
        found: Merged = answer.value
        return found

    async def body(self, *, page_id: int, seq: int) -> bytes:
        """Return the body of a stored version as received. Raises `TidingsError` if it cannot be
        restored.
        """
        found = await self._read(read_body, self._archive, page_id, seq)
        return bytes(found.data)

    async def text(self, *, page_id: int, version: Version) -> str:
        """Return the text of a stored version as a reader sees it. Raises `TidingsError` if the job
        dies.
        """
        body = await self._read(read_body, self._archive, page_id, version.seq)
        answer = await self._process().run(draw.text, body)
        if isinstance(answer, Died):
            message = f"version {version.seq} could not be read: {answer.reason}"
            raise TidingsError(message)
        return str(answer.value)

    async def page_to_pick(self, body: Body, link: str) -> str:
        """Return a page with each of its texts as a link, empty if it is not HTML."""
        return str(await self._draw(draw.page_to_pick, (body, link)))

    async def parts_at(self, body: Body, number: int) -> list[PickedPart]:
        """Return the parts around a text of a page, the smallest first."""
        found: list[PickedPart] = await self._draw(draw.parts_at, (body, number))
        return found

    async def choices(self, body: Body) -> Choices:
        """Return what can be watched on a page, with its present values."""
        found: Choices = await self._draw(draw.choices, body)
        return found

    async def screenshot(self, version: Version) -> bytes:
        """Return the picture of a version, as taken; empty if there is none."""
        return b"" if not version.screenshot else bytes(await self._read(_picture, self._archive, version.screenshot))

    async def screenshots(self, old: Version, new: Version) -> ScreenshotComparison:
        """Return the differences between the pictures of two versions."""
        found: ScreenshotComparison = await self._draw(
            draw.screenshots, (await self.screenshot(old), await self.screenshot(new))
        )
        return found

    async def _draw(self, work: Callable[[Any], Any], given: Any) -> Any:
        """Return the result of a job in the process that parses pages. Raises `TidingsError` if it
        dies.
        """
        answer = await self._process().run(work, given)
        if isinstance(answer, Died):
            message = f"this could not be shown: {answer.reason}"
            raise TidingsError(message)
        return answer.value

    async def close(self) -> None:
        """End the process, if it was started."""
        if self._runner is not None:
            await self._runner.close()
            self._runner = None

    async def _both(self, identity: PageIdentity, old: Version, new: Version) -> list[tuple[Part, ...]]:
        """Return two versions, each with its frames."""
        return [await self._read(_parts, self._archive, identity, version) for version in (old, new)]

    def _process(self) -> Runner:
        if self._runner is None:
            self._runner = open_runner(self._settings)
        return self._runner


def _find_healed(connection: Connection, row: SentinelRow, page_id: int) -> tuple[Target, ...]:
    """Return the replacements of a sentinel's selectors on a page."""
    found = subscriptions.listing(connection, sentinel_id=row.id, page_id=page_id)
    return tuple(target for sub in found for target in Remembered.of(sub.remembered).targets if target.stand_in)


def _parts(connection: Connection, archive: Archive, identity: PageIdentity, version: Version) -> tuple[Part, ...]:
    """Return a version with its frames, the page itself first."""
    body = read_body(connection, archive, version.page_id, version.seq)
    return read_parts(connection, archive, identity, version, body)


def _picture(c: Connection, archive: Archive, sha256: str) -> bytes:
    return archive.restore(sha256, lambda name: versions.blob(c, name))
