"""A file that a browser sends, imported as `tidings import` does, in a process of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidings.errors import TidingsError
from tidings.record import dataclass
from tidings.service.imports.import_jobs import take_in
from tidings.service.sentinels.author import Author

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.imports.draft import Judged, Note
    from tidings.settings import Settings

LONGEST_NAME: Final = 80


@dataclass(frozen=True, slots=True)
class Upload:
    """A file and how it is imported; with `is_dry` nothing is stored, with `learns` Tidings chooses
    when to check.
    """

    settings: Settings
    name: str
    content: bytes
    now: Instant
    author: Author
    learns: bool = False
    is_dry: bool = True


@dataclass(frozen=True, slots=True)
class ImportedJob:
    """A job and what becomes of it: its grade, the statement, and notes on fields that differ or
    are left out. `is_known`: a sentinel of that name and address exists.
    """

    name: str
    url: str
    grade: str
    text: str
    notes: Sequence[Note]
    is_known: bool


@dataclass(frozen=True, slots=True)
class UploadResult:
    """The program that wrote a file, its jobs, the names of the new sentinels, of how many pages
    the rate is known; or the problem for which nothing was imported.
    """

    program: str = ""
    jobs: Sequence[ImportedJob] = ()
    stored: Sequence[str] = ()
    rates: int = 0
    problem: str = ""


def import_upload(upload: Upload) -> UploadResult:
    """Import a file, or say what importing it would store."""
    with tempfile.TemporaryDirectory(prefix="tidings-import-") as folder:
        path = Path(folder) / safe_name(upload.name)
        path.write_bytes(upload.content)
        try:
            found = take_in(
                upload.settings,
                path,
                now=upload.now,
                learn=upload.learns,
                dry_run=upload.is_dry,
                author=upload.author,
            )
        except TidingsError as error:
            return UploadResult(problem=str(error).replace(f"{folder}/", ""))
    already = frozenset(found.already)
    jobs = [_shorten(one, is_known=one.name in already) for one in found.judged]
    return UploadResult(found.format.name, jobs, found.stored, len(found.rates))


def _shorten(one: Judged, *, is_known: bool) -> ImportedJob:
    notes = [note for note in one.notes if note.grade in {"approximated", "refused"}]
    return ImportedJob(one.name, one.draft.url, one.grade, one.text, notes, is_known)


def safe_name(name: str) -> str:
    """Return the name of a file as it may be used here: its last part, of plain characters."""
    plain = "".join(one if one.isascii() and (one.isalnum() or one in "._-") else "-" for one in name)
    return plain.lstrip(".-")[-LONGEST_NAME:] or "file"
