"""All import formats, in the order in which a file is tested for them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tidings.errors import ImportFileError
from tidings.record import dataclass
from tidings.service.imports import changedetection, kibitzr, lists, services, urlwatch
from tidings.service.imports.draft import Draft
from tidings.service.imports.reading import Files


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
    FormatReader(Format("changedetection.io", "published"), changedetection.is_ours, changedetection.read),
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
    raise ImportFileError(f"{path} is in no format that is known; known are: {known}, webchanges")
