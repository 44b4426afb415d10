"""A sentinel's present view of its pages, from the newest stored versions, for `add` and
`apply`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tidings.detection.job.contract import Wanted
from tidings.document.select.extraction import extraction_of
from tidings.errors import BlobError
from tidings.record import dataclass
from tidings.service.examine.stored_versions import read_body, read_parts
from tidings.service.on_demand.trial_on_stored import examine
from tidings.service.watch.composite_parts import composite_parts_of
from tidings.storage.observed import pages, versions

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.detection.job.contract import Part
    from tidings.isolation.runner import Runner
    from tidings.model.observed.version import Reading
    from tidings.model.watch.sentinel import Sentinel
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database


@dataclass(frozen=True, slots=True)
class SeenNow:
    """A sentinel's view of one page; `missing` are the selected parts that the page lacks."""

    readings: tuple[Reading, ...] = ()
    missing: tuple[str, ...] = ()


async def read_stored(
    database: Database, archive: Archive, runner: Runner, sentinel: Sentinel, page_id: int, *, label: str = ""
) -> SeenNow:
    """Return a sentinel's view of the newest stored version of a page; empty if there is none.

    Args:
        database: Where versions are stored.
        archive: Where their bodies are.
        runner: Parses them.
        sentinel: The sentinel.
        page_id: The page.
        label: The sentinel's name for the page, empty for none.
    """
    parts, depth = database.read(_newest, archive, page_id)
    if not parts:
        return SeenNow()
    wanted = tuple(
        Wanted(
            key=0,
            reference=0,
            expression=one.expression,
            extraction=extraction_of(sentinel),
            number=one.number,
            shows=True,
        )
        for one in composite_parts_of(sentinel).list_asked(label)
    )
    answer = await examine(runner, parts, {}, wanted, depth)
    if isinstance(answer, str):
        return SeenNow()
    found = dict.fromkeys(reading for seen in answer.readings for reading in seen.readings)
    return SeenNow(tuple(found), tuple(name for absent in answer.absent for name in absent.names))


def lines_of(readings: Sequence[Reading]) -> list[str]:
    """Return lines for users: a single value, or the number of things and the first of them."""
    lines: list[str] = []
    for reading in readings:
        if reading.problem or not reading.count:
            continue
        name = f"{reading.label}: " if len(readings) > 1 else ""
        if reading.count == 1 and reading.kind != "table":
            lines.append(f"{name}{reading.texts[0]}")
            continue
        if reading.kind == "terms":
            lines.append(f"{name}{', '.join(reading.texts)}")
            continue
        nouns = {"table": "rows", "list": "items", "items": "items", "regex": "matches"}
        noun = nouns.get(reading.kind, reading.kind)
        lines.append(f"{name}{reading.count:,} {noun if reading.count > 1 else noun.removesuffix('s')}")
        if any(reading.head):
            lines.append(f"  {' | '.join(reading.head)}")
        lines += [f"  {text}" for text in reading.texts]
        if reading.count > len(reading.texts):
            lines.append(f"  and {reading.count - len(reading.texts):,} more")
    return lines


def finds_nothing(seen: SeenNow) -> list[str]:
    """Return a warning for each change type that finds nothing now, unless its part of the page is
    missing, which is reported already.
    """
    found = []
    for reading in seen.readings:
        if reading.problem:
            found.append(f"{reading.label}: {reading.problem}")
        elif not reading.count and not any(reading.label.endswith(name) for name in seen.missing):
            found.append(f"{reading.label} finds nothing on the page now; you are notified when it does")
    return found


def record_of(reading: Reading) -> dict[str, Any]:
    """Return a reading for a record."""
    return {
        "what": reading.label,
        "kind": reading.kind,
        "count": reading.count,
        "first": list(reading.texts),
        "head": list(reading.head),
        "number": reading.amount,
        "unit": reading.unit,
        "problem": reading.problem,
    }


def _newest(connection: Connection, archive: Archive, page_id: int) -> tuple[tuple[Part, ...], int]:
    identity = pages.identity(connection, page_id)
    seq = pages.state(connection, page_id).last_seq
    version = versions.get(connection, page_id, seq) if seq else None
    if version is None:
        return (), 0
    try:
        body = read_body(connection, archive, page_id, seq)
        return read_parts(connection, archive, identity, version, body), identity.frames
    except (BlobError, LookupError):
        return (), 0
