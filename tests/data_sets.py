"""Real data for tests and benchmarks: not part of the project; tests are skipped with a message
where it is missing.

`$TIDINGS_DATA_SETS` names the folder; without it `../shared/data` beside the repository is tried. Contents stay their publishers';
tests hold numbers and hashes of them, never text.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tidings import zstd

_REPOSITORY = Path(__file__).resolve().parents[1]


def folder() -> Path | None:
    """Return the folder of the data sets, or None if there is none."""
    given = os.environ.get("TIDINGS_DATA_SETS")
    path = Path(given) if given else _REPOSITORY.parent / "shared" / "data"
    return path if path.is_dir() else None


def path_of(name: str) -> Path:
    """Return the path of a file or folder in the data sets; skip the test if it is not there."""
    base = folder()
    if base is None or not (base / name).exists():
        pytest.skip(f"no data set {name}: set TIDINGS_DATA_SETS to the folder that holds it")
    return base / name


def files_of(archive: str) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of each file of a `.tar.zst`, in its order."""
    packed = path_of(archive).read_bytes()
    options: dict[int, int] = {int(zstd.DecompressionParameter.window_log_max): 27}
    with tarfile.open(fileobj=io.BytesIO(zstd.decompress(packed, options=options))) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name, content.read()


def rows_of(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file, plain or gzip."""
    content = path_of(name).read_bytes()
    text = gzip.decompress(content) if name.endswith(".gz") else content
    return list(csv.DictReader(io.StringIO(text.decode("utf-8"))))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two successive versions of a real page. `text_changed` is what the data set says of its visible text."""

    file: str
    old: bytes
    new: bytes
    content_type: str
    text_changed: bool


@cache
def html_pages() -> tuple[bytes, ...]:
    """Return the single real pages of `html_corpus`."""
    return tuple(content for _, content in files_of("html_corpus/pages.tar.zst"))


@cache
def page_pairs(family: str = "terms-html") -> tuple[Pair, ...]:
    """Return the successive versions of a family of `page_versions`."""
    files = dict(files_of(f"page_versions/{family}.tar.zst"))
    rows = [row for row in rows_of("page_versions/index.csv.gz") if row["family"] == family]
    pairs = []
    for before, after in itertools.pairwise(rows):
        if before["page"] == after["page"]:
            pairs.append(_pair(files, before, after))
    return tuple(pairs)


def _pair(files: dict[str, bytes], before: dict[str, str], after: dict[str, str]) -> Pair:
    return Pair(
        file=after["file"],
        old=_content(files, before["file"]),
        new=_content(files, after["file"]),
        content_type=after["content_type"],
        text_changed=after["text_sha1_12"] != before["text_sha1_12"],
    )


def _content(files: dict[str, bytes], name: str) -> bytes:
    return files.get(name) or files[name.partition("/")[2]]
