"""Files of this machine: nothing outside the allowed directories is read, whatever the path is and
even if it changes meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FreePermit
from tidings.clock import SECOND, ManualClock
from tidings.errors import AddressError
from tidings.fetching import files
from tidings.fetching.address import identify
from tidings.fetching.files import FileFetcher, FileHead, Unread, head, rebuild
from tidings.model.observed.outcome import Failed, Fetched, FetchRequest, Unchanged
from tidings.settings import FetchSettings

LATER = 4_000_000_000 * SECOND
"""A time after all files of a test were written."""


@pytest.fixture
def folder(disk: Path) -> Path:
    """Make an allowed directory `in`, and another one."""
    for name in ("in", "out"):
        (disk / name).mkdir()
        (disk / name / "a.html").write_text(f"<p>{name}</p>", encoding="utf-8")
    return disk


class Others:
    """Records requests for all other pages."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def fetch(self, request: FetchRequest, permit: Any) -> Failed:
        """Fail."""
        self.asked.append(request.url)
        return Failed(kind="net", reason="nobody is there")

    async def close(self) -> None:
        """Do nothing."""


def fetch(url: str, *allowed: Path, now: int = LATER, most: int = 1_000, **more: Any) -> Any:
    """Return the outcome of a fetch."""
    settings = FetchSettings(allow_files=tuple(map(str, allowed)), max_body_bytes=most)
    permit = FreePermit()
    outcome = asyncio.run(
        FileFetcher(settings, Others(), clock=ManualClock(now)).fetch(FetchRequest(url=url, **more), permit)
    )
    assert [] == permit.hosts  # no host is asked: no gap, no robots.txt
    return outcome


def test_file_is_a_page(folder: Path):
    """The page has content, a type, and a validator that is valid while time and size are the same."""
    url = f"file://{folder}/in/a.html"
    first = fetch(url, folder / "in")
    again = fetch(url, folder / "in", validators=first.validators)
    (folder / "in" / "a.html").write_text("<p>more</p>", encoding="utf-8")
    other = fetch(url, folder / "in", validators=first.validators)

    assert isinstance(first, Fetched)
    assert (b"<p>in</p>", "text/html", 200, 0) == (first.body, first.content_type, first.status, first.requests)
    assert isinstance(again, Unchanged)
    assert b"<p>more</p>" == other.body


def test_recently_written_file_has_no_validator(folder: Path):
    """A later write may have the same time and size: the next check reads the file."""
    stamp = (folder / "in" / "a.html").stat().st_mtime_ns // 1_000
    young = fetch(f"file://{folder}/in/a.html", folder / "in", now=stamp + SECOND)
    old = fetch(f"file://{folder}/in/a.html", folder / "in", now=stamp + 3 * SECOND)

    assert (False, True) == (bool(young.validators), bool(old.validators))


def _link(target: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / "in" / "x").symlink_to(target.replace("FOLDER", str(folder)))


def _socket(folder: Path) -> None:
    with contextlib.chdir(folder), socket.socket(socket.AF_UNIX) as made:  # a path of a socket is short
        made.bind("in/x")


HOSTILE: list[tuple[str, Callable[[Path], Any], str, str]] = [
    ("no such file", lambda folder: None, "in/x", "404"),
    ("a file as a folder", lambda folder: None, "in/a.html/b", "404"),
    ("beside", lambda folder: None, "out/a.html", "address"),
    ("a folder whose name begins alike", lambda folder: (folder / "inner").mkdir(), "inner", "address"),
    ("a link out", _link("FOLDER/out/a.html"), "in/x", "address"),
    ("a relative link out", _link("../out/a.html"), "in/x", "address"),
    ("a link to a folder out", _link("FOLDER/out"), "in/x/a.html", "address"),
    ("a link to the root", _link("/"), "in/x/etc/passwd", "address"),
    ("a link to itself", _link("x"), "in/x", "request"),
    ("a dangling link", _link("FOLDER/in/gone"), "in/x", "404"),
    ("a link to /proc", _link("/proc/self/environ"), "in/x", "address"),
    ("a link to /dev/zero", _link("/dev/zero"), "in/x", "address"),
    ("a pipe", lambda folder: os.mkfifo(folder / "in" / "x"), "in/x", "request"),
    ("a socket", _socket, "in/x", "request"),
    ("a directory", lambda folder: (folder / "in" / "x").mkdir(), "in/x", "request"),
    ("the directory itself", lambda folder: None, "in", "request"),
    ("a huge file", lambda folder: os.truncate(folder / "in" / "a.html", 1 << 40), "in/a.html", "size"),
]


@pytest.mark.parametrize(("make", "path", "kind"), [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE])
def test_hostile_files_are_failures(folder: Path, make: Callable[[Path], Any], path: str, kind: str):
    """Each is a failure of its kind at once, without any content from outside."""
    make(folder)
    outcome = fetch(f"file://{folder}/{path}", folder / "in")

    assert isinstance(outcome, Failed)
    assert (kind, 0) == (outcome.kind, outcome.requests)


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/self/root/proc/self/environ", "/dev/zero", "/sys/x"])
def test_device_and_process_files_are_never_read(path: str):
    """This holds even if everything is allowed."""
    assert "address" == fetch(f"file://{path}", Path("/")).kind


def test_link_within_the_directory_is_followed(folder: Path):
    """The allowed directory may be a link itself."""
    (folder / "in" / "x").symlink_to("a.html")
    (folder / "alias").symlink_to("in")

    assert b"<p>in</p>" == fetch(f"file://{folder}/in/x", folder / "alias").body


def test_link_placed_during_the_read_is_not_followed(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Between the check of a path and its opening, a folder becomes a link to the outside."""
    real = os.path.realpath

    def swap(path: str) -> str:
        found = str(real(path))
        if str(path).endswith("a.html"):
            (folder / "in").rename(folder / "was")
            (folder / "in").mkdir()
            (folder / "in" / "sub").symlink_to(folder / "out")
        return found

    (folder / "in" / "sub").mkdir()
    (folder / "in" / "sub" / "a.html").write_text("<p>sub</p>", encoding="utf-8")
    monkeypatch.setattr(os.path, "realpath", swap)
    outcome = fetch(f"file://{folder}/in/sub/a.html", folder / "in")

    assert isinstance(outcome, Failed)


def test_growing_file_is_read_up_to_the_limit(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """The file has more bytes than its size said, which is a `size` failure."""
    monkeypatch.setattr(files, "_body", lambda descriptor, most: b"x" * most)

    assert "size" == fetch(f"file://{folder}/in/a.html", folder / "in", most=100).kind


def test_no_file_is_read_without_allow_files(folder: Path):
    """The reason names the setting."""
    outcome = fetch(f"file://{folder}/in/a.html")

    assert ("address", 0) == (outcome.kind, outcome.requests)
    assert "fetch.allow_files" in outcome.reason


@pytest.mark.parametrize("more", [{"render": "browser"}, {"method": "POST"}, {"body": "x"}])
def test_file_supports_only_plain_reads(folder: Path, more: dict[str, Any]):
    """Rendering, another method and a body are refused."""
    assert "request" == fetch(f"file://{folder}/in/a.html", folder / "in", **more).kind


@pytest.mark.parametrize(
    "url",
    ["file:/etc/passwd", "file://host/etc/passwd", "FILE:..", "file:///", "file:///a/../b", "file:///a/%2e%2e/b", "file:///a%00b", "file:///a?b", "file:///a%ff"],
)  # fmt: skip
def test_invalid_file_address_is_refused(url: str):
    """H-023: only an absolute path is an address, whatever is encoded in it."""
    if url == "file:///":
        assert "request" == fetch(rebuild(url), Path("/")).kind
        return
    with pytest.raises(AddressError):
        rebuild(url)


def test_file_address_has_one_form():
    """Escapes, fragments and double slashes make no other page. All files have the host `file`."""
    made = identify("FILE:///srv//a%20b/%C3%A9.html#top")

    assert ("file:///srv/a%20b/%C3%A9.html", "file") == (made.url, made.host)
    assert made.key == identify("file:///srv/a b/é.html".replace(" ", "%20")).key


def test_other_addresses_are_passed_on():
    """Only `file:` addresses are read here."""
    others = Others()
    asyncio.run(
        FileFetcher(FetchSettings(), others, clock=ManualClock(0)).fetch(
            FetchRequest(url="http://a.example/"), FreePermit()
        )
    )

    assert ["http://a.example/"] == others.asked


def test_head_reads_the_beginning_of_a_file(folder: Path):
    """Events use it. With the same stamp nothing is read, and a failure is a value."""
    path, allowed = str(folder / "in" / "a.html"), (str(folder / "in"),)
    found = head(path, allowed, 4)
    assert isinstance(found, FileHead)

    assert b"<p>i" == found.body
    assert FileHead(found.stamp, None) == head(path, allowed, 4, found.stamp.etag)
    assert Unread("there is no such file", is_gone=True) == head(f"{path}x", allowed, 4)
    assert not head(str(folder / "out" / "a.html"), allowed, 4).is_gone  # type: ignore[union-attr]
