"""Compare two stored versions on demand, in the runner's process, for `tidings diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.detection import run
from tidings.detection.summary import summary
from tidings.errors import TidingsError
from tidings.isolation.runner import Died
from tidings.language import expressions
from tidings.model.version import version_id
from tidings.service.assembly import open_archive, open_runner
from tidings.service.bodies import read_body
from tidings.service.records import Record, found_record, rfc3339
from tidings.service.watchlist import meaning

if TYPE_CHECKING:
    from tidings.model.version import Version
    from tidings.settings import Settings
    from tidings.storage.database import Database
    from tidings.storage.sentinels import SentinelRow


async def two_versions(
    database: Database, settings: Settings, row: SentinelRow, *, page_id: int, old: Version, new: Version
) -> Record:
    """Return a change record of any two versions of a page, as the sentinel sees them; it has no id, for nobody was told of it.

    Raises `TidingsError` if they cannot be compared.
    """
    archive = open_archive(settings, dialect=database.dialect)
    bodies = [database.read(read_body, archive, page_id, v.seq) for v in (old, new)]
    expression = meaning(row.text).monitor
    runner = open_runner(settings)
    try:
        answer = await runner.run(run.compare, (bodies[0], bodies[1], expression))
    finally:
        await runner.close()
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
        **found_record(found),
        "summary": summary(found) if found else "no difference",
        "quiet": False,
        "modified_at": rfc3339(new.modified_at),
        "polled_at": rfc3339(new.fetched_at),
        "detected_at": None,
    }
