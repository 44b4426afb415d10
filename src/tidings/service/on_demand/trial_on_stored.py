"""A trial on stored versions: what a sentinel would have reported of a page's stored versions,
with each Compare option (sentinels §4.4).

For `tidings test`, before anything is stored: the newest versions are taken in turn, one job each
with all its comparisons, as the running service would have on change. Known noise is masked as
usual; if none is known yet it is learned from these versions, in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from tidings.detection.ask.summary import summary
from tidings.detection.find import window
from tidings.detection.find.window import Window
from tidings.detection.job import run
from tidings.detection.job.contract import Body, FramedJob, Job, Wanted
from tidings.document.select.extraction import extraction_of
from tidings.errors import BlobError
from tidings.isolation.runner import Died
from tidings.language.write.printer import compare_text
from tidings.model.observed.version import version_id
from tidings.model.watch.sentinel import Compare
from tidings.record import dataclass, replace
from tidings.service.examine.stored_versions import read_body, read_parts
from tidings.service.watch import noise
from tidings.service.watch.composite_parts import composite_parts_of
from tidings.storage.observed import pages, versions

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.detection.job.contract import Examination, Noise, Part
    from tidings.isolation.runner import Runner
    from tidings.model.interval import Instant
    from tidings.model.observed.page import PageIdentity
    from tidings.model.watch.sentinel import Sentinel, Watched
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database

NEWEST = 20
"""Number of stored versions that are compared."""
USUAL_N = 3
"""The n of `moving` and `every` if the sentinel has none."""


@dataclass(frozen=True, slots=True)
class Report:
    """A change that would have been reported between two versions of the page; `partial` as in a
    change. A `quiet` one is all noise and not reported.
    """

    from_version: str
    to_version: str
    summary: str
    partial: bool
    quiet: bool = False


@dataclass(slots=True)
class StoredTrial:
    """What one Compare option would have reported; `is_own`: the sentinel's own option. `problems`
    are failed comparisons.
    """

    compare: Compare
    is_own: bool
    versions: int = 0
    reports: list[Report] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    window: Window = Window()

    def record(self) -> dict[str, Any]:
        """Return it as a part of a record."""
        reports = [
            {
                "from_version": r.from_version,
                "to_version": r.to_version,
                "summary": r.summary,
                "partial": r.partial,
                "quiet": r.quiet,
            }
            for r in self.reports
        ]
        return {
            "compare": compare_text(self.compare),
            "own": self.is_own,
            "versions": self.versions,
            "reports": reports,
            "problems": self.problems,
        }


async def try_on_stored(
    database: Database, archive: Archive, runner: Runner, sentinel: Sentinel, page: Watched, identity: PageIdentity
) -> list[StoredTrial]:
    """Return what each option would have reported of a page, the sentinel's own first; empty for a
    page with fewer than two versions.

    Args:
        database: The database.
        archive: The archive with the bodies.
        runner: Runs the comparisons.
        sentinel: The sentinel to try.
        page: The page as the sentinel names it.
        identity: The page as it is stored.
    """
    page_id, stored, times = database.read(_load_versions, archive, identity)
    if page_id is None or len(stored) < 2:
        return []
    found = [StoredTrial(compare, is_own=place == 0) for place, compare in enumerate(_options(sentinel.compare))]
    asked = composite_parts_of(sentinel).list_asked(page.name or "")
    known = database.read(noise.read, page_id)
    before = 0
    for seq, new in stored.items():
        wanted = [
            Wanted(
                key=place,
                reference=window.reference(option.compare, option.window),
                expression=one.expression,
                extraction=extraction_of(sentinel),
                number=one.number,
            )
            for place, option in enumerate(found)
            for one in asked
        ]
        seqs = {w.reference for w in wanted if w.reference} | ({before} if before and known.is_new else set())
        references = {one: stored[one] for one in seqs}
        masks = noise.of_archive(known, times, before, seq)
        answer = await examine(runner, new, references, tuple(wanted), identity.frames, masks)
        if not isinstance(answer, str) and answer.memory is not None:
            known = replace(known, memory=answer.memory)
        before = seq
        for place, option in enumerate(found):
            _take(option, place, seq, page_id, answer)
    return found


def _options(own: Compare) -> list[Compare]:
    n = own.n if own.mode in {"moving", "every"} else USUAL_N
    return [*dict.fromkeys((own, Compare(), Compare("moving", n), Compare("every", n), Compare("first")))]


async def examine(
    runner: Runner,
    new: tuple[Part, ...],
    references: Mapping[int, tuple[Part, ...]],
    wanted: tuple[Wanted, ...],
    depth: int,
    masks: Noise | None = None,
) -> Examination | str:
    """Return a job's result for a version, or why there is none.

    Args:
        runner: Runs the job.
        new: The version with its frames.
        references: The versions to compare with, by number.
        wanted: The comparisons.
        depth: How deep frames are followed.
        masks: The known noise of the page.
    """
    if len(new) > 1 or any(len(parts) > 1 for parts in references.values()):
        framed = FramedJob(new=new, references=references, known={}, wanted=wanted, depth=depth, noise=masks)
        answer = await runner.run(run.examine_framed, framed)
    else:
        bodies: dict[int, Body] = {seq: parts[0].body for seq, parts in references.items()}
        job = Job(new=new[0].body, references=bodies, known={}, wanted=wanted, depth=depth, noise=masks)
        answer = await runner.run(run.examine, job)
    if isinstance(answer, Died):
        return answer.reason
    return answer.value.problem or answer.value


def _take(option: StoredTrial, place: int, seq: int, page_id: int, answer: Examination | str) -> None:
    """Have an option take a version as a subscription would."""
    option.versions += 1
    reference = window.reference(option.compare, option.window)
    if isinstance(answer, str):
        if reference:
            option.problems.append(f"{reference}→{seq}: {answer}")
    else:
        option.problems += [f"{reference}→{seq}: {r.reason}" for r in answer.refused if r.key == place and reference]
        option.reports += [
            Report(
                version_id(page_id, found.reference),
                version_id(page_id, seq),
                summary(found.change),
                window.is_partial(option.compare, option.window),
                found.quiet,
            )
            for found in answer.found
            if found.key == place
        ]
        if option.window.needed and any(absent.key == place and absent.is_all for absent in answer.absent):
            return  # its selection is missing: what returns is compared with what disappeared
    option.window = window.after(option.compare, option.window, seq)


def _load_versions(
    connection: Connection, archive: Archive, identity: PageIdentity
) -> tuple[int | None, dict[int, tuple[Part, ...]], dict[int, Instant]]:
    """Return a page's id, its newest restorable versions, oldest first, and when they were
    polled.
    """
    page_id = pages.find_by_key(connection, identity.key)
    found: dict[int, tuple[Part, ...]] = {}
    times: dict[int, Instant] = {}
    for version in versions.listing(connection, page_id)[-NEWEST:] if page_id is not None else ():
        try:
            body = read_body(connection, archive, version.page_id, version.seq)
            found[version.seq] = read_parts(connection, archive, identity, version, body)
            times[version.seq] = version.fetched_at
        except (BlobError, LookupError):
            continue
    return page_id, found, times
