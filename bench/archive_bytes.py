"""Bytes a version costs in the archive, on real successive pages, beside zstd alone and zstd with the previous version as prefix.

Usage: TIDINGS_DATA_SETS=DIR python bench/archive_bytes.py [FAMILY…]

Bars: ours at most 1.2 times "prefix -9"; a restore at most 5 ms. "plan" is the processor time of a new version
(whole frame and delta), "restore" the processor time of giving back one version from its row, nothing at hand.
"""

from __future__ import annotations

import hashlib
import io
import os
import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path

from tidings.archive.archive import Archive
from tidings.model.observed.version import Blob
from tidings.settings import StoreSettings
from tidings.zstd import CompressionParameter, ZstdCompressor, ZstdDict, compress, decompress

FAMILIES = (
    "terms-html", "terms-text", "feed", "json", "docs-text", "election", "list", "jobboard", "javadoc-frames",
)  # fmt: skip


@dataclass
class Row:
    """One line of the table; sizes in bytes, times in seconds."""

    pages: int = 0
    versions: int = 0
    raw: int = 0
    plain: int = 0
    prefix: int = 0
    ours: int = 0
    plans: list[float] = field(default_factory=list)
    restores: list[float] = field(default_factory=list)

    def add(self, other: Row) -> None:
        """Count another line in."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


def page_versions(family: str) -> Iterator[list[bytes]]:
    """Yield the versions of each page of a family, oldest first."""
    packed = Path(os.environ["TIDINGS_DATA_SETS"]) / "page_versions" / f"{family}.tar.zst"
    pages: dict[str, dict[str, bytes]] = {}
    with tarfile.open(fileobj=io.BytesIO(decompress(packed.read_bytes()))) as archive:
        for member in archive:
            if (content := archive.extractfile(member)) is not None:
                _, page, version = member.name.rsplit("/", 2)
                pages.setdefault(page, {})[version] = content.read()
    for versions in pages.values():
        yield [versions[version] for version in sorted(versions)]


def with_prefix(body: bytes, former: bytes) -> bytes:
    """Return what `zstd -9 --patch-from` makes of a version, the window covering both."""
    options: dict[int, int] = {
        CompressionParameter.compression_level: 9,
        CompressionParameter.window_log: max(10, (len(former) + len(body)).bit_length()),
    }
    compressor = ZstdCompressor(options=options, zstd_dict=ZstdDict(former, is_raw=True).as_prefix)
    compressor.set_pledged_input_size(len(body))
    return compressor.compress(body, mode=ZstdCompressor.FLUSH_FRAME)


def measure(row: Row, bodies: list[bytes], directory: Path) -> None:
    """Add one page's versions to a line."""
    settings = StoreSettings()
    archive = Archive(directory, file_bytes=settings.blob_file_bytes, chain_length=settings.chain_length, keep_bytes=0)
    rows: dict[str, Blob] = {}
    newest: tuple[str, bytes] | None = None
    for body in bodies:
        sha256 = hashlib.sha256(body).hexdigest()
        if newest is not None and newest[0] == sha256:
            continue
        plain = len(compress(body, 9))
        row.plain += plain
        row.prefix += plain if newest is None else len(with_prefix(body, newest[1]))
        started = time.process_time()
        made = archive.plan(body, sha256, newest and (rows[newest[0]], newest[1]), rows.get(sha256))
        row.plans.append(time.process_time() - started)
        archive.write_files(made)
        rows.update({blob.sha256: blob for blob in made.blobs})
        archive.remove(made.garbage)
        newest = sha256, body
        row.versions += 1
        row.raw += len(body)
    row.pages += 1
    row.ours += sum(len(blob.frame or b"") for blob in rows.values())
    row.ours += sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
    for sha256 in rows:
        started = time.process_time()
        archive.restore(sha256, rows.get)
        row.restores.append(time.process_time() - started)


def table(lines: dict[str, Row]) -> Iterator[str]:
    """Yield the table, a total last."""
    yield (
        f"{'family':<15}{'pages':>6}{'versions':>9}{'raw':>9}{'plain -9':>10}{'prefix -9':>10}{'ours':>8}{'ours/prefix':>12}"
        f"{'plan ms':>9}{'max':>7}{'restore ms':>12}{'p99':>7}{'max':>7}"
    )
    for name, row in lines.items():
        count = row.versions
        restores = sorted(row.restores)
        yield (
            f"{name:<15}{row.pages:>6}{count:>9}{row.raw // count:>9}{row.plain // count:>10}{row.prefix // count:>10}"
            f"{row.ours // count:>8}{row.ours / row.prefix:>12.3f}"
            f"{statistics.mean(row.plans) * 1e3:>9.2f}{max(row.plans) * 1e3:>7.1f}"
            f"{statistics.mean(restores) * 1e3:>12.2f}{restores[int(len(restores) * 0.99)] * 1e3:>7.2f}{restores[-1] * 1e3:>7.2f}"
        )


def main(families: list[str]) -> None:
    """Print one table over the families."""
    lines: dict[str, Row] = {}
    for family in families or FAMILIES:
        lines[family] = Row()
        for bodies in page_versions(family):
            with tempfile.TemporaryDirectory() as directory:
                measure(lines[family], bodies, Path(directory) / "blobs")
    total = Row()
    for row in lines.values():
        total.add(row)
    for line in table(lines | {"all": total}):
        print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
