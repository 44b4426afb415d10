"""Stored versions as WARC 1.1 (ISO 28500:2017), which replay tools and crawlers read.

An HTTP answer is a `response` with its status and headers; a body that the page had before is a
`revisit` of it; content from a browser, a file or a command is a `resource`. Cookies are omitted,
and so are headers about an encoding that the stored body no longer has.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from tidings import __version__
from tidings.errors import BlobError, UsageError, spell_install
from tidings.model.interval import ALWAYS, Period
from tidings.record import dataclass, replace
from tidings.service.show.records import rfc3339
from tidings.storage.observed import members, pages, versions
from tidings.storage.watches import listed

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.model.observed.version import Version
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.listed import Read

NEEDS: Final = f"WARC needs the extra `export`: {spell_install('export')}"
LEFT_OUT: Final = frozenset(
    {"set-cookie", "set-cookie2", "content-encoding", "transfer-encoding", "content-length", "connection"}
)


@dataclass(frozen=True, slots=True)
class WarcCounts:
    """The number of records, and the versions that could not be restored, with the reason."""

    responses: int
    revisits: int
    resources: int
    lost: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Stored:
    """A version with its address, its first duplicate on the same page, and its request."""

    version: Version
    url: str
    is_http: bool
    twin: Version | None
    parts: Sequence[tuple[str, str]]
    """(address, hash) of each member of a page with frames"""


def write_warc(
    read: Read,
    archive: Archive,
    target: BinaryIO,
    viewer: int | None,
    names: Sequence[str] = (),
    period: Period = ALWAYS,
) -> WarcCounts:
    """Write all stored versions, gzipped record by record; only one body at a time is in memory.

    Raises `UsageError` without the extra `export`.

    Args:
        read: Runs a function of a connection.
        archive: Restores bodies.
        target: The output.
        viewer: The owner whose view is exported; None for all.
        names: Sentinels; empty for all.
        period: When the versions were fetched.
    """
    try:
        from warcio.warcwriter import WARCWriter
    except ImportError as error:
        raise UsageError(NEEDS) from error
    writer = WARCWriter(target, gzip=True, warc_version="WARC/1.1")
    about = {"software": f"Tidings/{__version__}", "format": "WARC File Format 1.1"}
    writer.write_record(writer.create_warcinfo_record("tidings.warc.gz", about))
    counts = {"response": 0, "revisit": 0, "resource": 0}
    lost: list[str] = []

    def restore(sha256: str) -> bytes:
        def give_back(c: Connection) -> bytes:
            return archive.restore(sha256, lambda name: versions.blob(c, name))

        body: bytes = read(give_back)
        return body

    for stored in _versions(read, viewer, names, period):
        try:
            for kind, record in _records(writer, stored, restore):
                writer.write_record(record)
                counts[kind] += 1
        except BlobError as error:
            lost.append(f"{stored.url} version {stored.version.seq}: {error}")
    return WarcCounts(counts["response"], counts["revisit"], counts["resource"], lost)


def _versions(read: Read, viewer: int | None, names: Sequence[str], period: Period) -> Iterator[_Stored]:
    for keys in listed.version_keys(read, viewer, names):
        for page_id, seq in keys:
            found = read(_load, page_id, seq)
            if found is not None and period.has(found.version.fetched_at):
                is_near = found.twin is not None and period.has(found.twin.fetched_at)
                yield found if is_near else replace(found, twin=None)


def _load(c: Connection, page_id: int, seq: int) -> _Stored | None:
    version = versions.get(c, page_id, seq)
    if version is None:
        return None
    identity = pages.identity(c, page_id)
    first = versions.first_with(c, page_id, version.sha256)
    twin = versions.get(c, page_id, first) if first is not None and first < seq else None
    url = version.final_url or identity.url
    parts: list[tuple[str, str]] = []
    for place, member in enumerate(members.of_version(c, page_id, seq) if version.frames else ()):
        frame = pages.find_by_key(c, member.key)
        parts.append((url if not place or frame is None else pages.identity(c, frame).url, member.sha256))
    is_http = url.startswith(("http:", "https:")) and not identity.render
    return _Stored(version, url, is_http, twin, parts)


def _records(writer: Any, stored: _Stored, restore: Callable[[str], bytes]) -> Iterator[tuple[str, Any]]:
    from warcio.statusandheaders import StatusAndHeaders

    version = stored.version
    date = rfc3339(version.fetched_at) or ""
    if not stored.is_http or stored.parts:
        for url, sha256 in stored.parts or ((stored.url, version.sha256),):
            headers = {"WARC-Date": date}
            kind = version.content_type if url == stored.url else "text/html"
            yield "resource", _resource(writer, url, restore(sha256), kind or "application/octet-stream", headers)
        return
    body = restore(version.sha256)
    status = f"{version.status} {HTTPStatus(version.status).phrase if version.status in _KNOWN else ''}".strip()
    headers = StatusAndHeaders(status, _headers(version.headers, len(body)), protocol="HTTP/1.1")
    if stored.twin is None:
        made = writer.create_warc_record(
            stored.url,
            "response",
            io.BytesIO(body),
            len(body),
            http_headers=headers,
            warc_headers_dict={"WARC-Date": date},
        )
        yield "response", made
        return
    yield (
        "revisit",
        writer.create_revisit_record(
            stored.url,
            _digest(body),
            stored.twin.final_url or stored.url,
            rfc3339(stored.twin.fetched_at),
            http_headers=headers,
            warc_headers_dict={"WARC-Date": date},
        ),
    )


_KNOWN: Final = {status.value for status in HTTPStatus}


def _resource(writer: Any, url: str, body: bytes, kind: str, headers: Mapping[str, str]) -> Any:
    return writer.create_warc_record(
        url, "resource", io.BytesIO(body), len(body), warc_content_type=kind, warc_headers_dict=dict(headers)
    )


def _headers(stored: Mapping[str, str], size: int) -> list[tuple[str, str]]:
    written = [(name, value) for name, value in stored.items() if name.lower() not in LEFT_OUT]
    return [*written, ("content-length", str(size))]


def _digest(body: bytes) -> str:
    """Return the payload digest in WARC's format."""
    return f"sha1:{base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()}"
