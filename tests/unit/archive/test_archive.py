"""The archive returns each body unchanged or raises an error that names its blob; a crash leaves
nothing behind.
"""

import asyncio
import dataclasses
import errno
import hashlib
import os
import random
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tidings.archive.archive import Archive
from tidings.errors import BlobError, StoreError


def name(body):
    """Return the name of a body."""
    return hashlib.sha256(body).hexdigest()


def nothing(sha256):
    """Return None for every name, as an empty store does."""


def versions(count, *, size=2_000, seed=1):
    """Return successive versions of a page that hardly compresses."""
    chance = random.Random(seed)
    body = bytearray(chance.randbytes(size))
    made = []
    for _ in range(count):
        body[chance.randrange(size)] ^= 1
        made.append(bytes(body))
    return made


class Store:
    """An archive with its rows in memory."""

    def __init__(self, directory, *, file_bytes=None, keep_bytes=0, chain_length=32):
        self.directory = directory
        self.archive = Archive(directory, file_bytes=file_bytes, chain_length=chain_length, keep_bytes=keep_bytes)
        self.rows = {}
        self.newest = None

    def add(self, body):
        """Make `body` the newest version of the one page."""
        newest = None if self.newest is None else (self.rows[name(self.newest)], self.newest)
        made = self.archive.plan(body, name(body), newest, self.rows.get(name(body)))
        self.archive.write_files(made)
        self.rows.update({blob.sha256: blob for blob in made.blobs})
        self.archive.remove(made.garbage)
        self.newest = body
        return made

    def restore(self, body):
        """Restore the stored body with the name of `body`."""
        return self.archive.restore(name(body), self.rows.get)

    def list_named(self):
        """Return the files that rows refer to."""
        return {blob.file for blob in self.rows.values() if blob.file}

    def on_disk(self):
        """Return the names of all files on disk."""
        return {str(path.relative_to(self.directory)) for path in self.directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("file_bytes", [None, 0, 1_000], ids=["rows", "files", "both"])
def test_every_version_is_restored(tmp_path, file_bytes):
    """Each of forty versions is restored unchanged, from rows and from files, and no file is left
    over.
    """
    store = Store(tmp_path / "blobs", file_bytes=file_bytes)
    bodies = versions(40)
    for body in bodies:
        store.add(body)

    assert bodies == [store.restore(body) for body in bodies]
    assert store.list_named() == store.on_disk()


@pytest.mark.parametrize("size", [0, 1, 10_000_000])
def test_empty_and_large_bodies_are_restored(tmp_path, size):
    """An empty body and one of 10 MB are stored like any other, before and after a change."""
    store = Store(tmp_path / "blobs", file_bytes=65_536)
    body = random.Random(5).randbytes(size // 2).hex().encode() or b"x" * size
    store.add(body)
    first = store.restore(body)
    store.add(b"another body, long enough to lean on")
    store.add(body + b"!")

    assert body == first == store.restore(body)
    assert body + b"!" == store.restore(body + b"!")


def damage_cut(frame):
    """Return the first half of a frame."""
    return frame[: len(frame) // 2]


def damage_bit(frame):
    """Return a frame with one flipped bit."""
    return frame[:40] + bytes([frame[40] ^ 4]) + frame[41:]


def damage_other(frame):
    """Return a valid frame of a different body of the same length."""
    other = Store(Path("unused")).add(bytes(2_000)).blobs[0].frame
    assert other is not None
    return other


@pytest.mark.parametrize("damage", [damage_cut, damage_bit, damage_other])
@pytest.mark.parametrize("file_bytes", [None, 0], ids=["row", "file"])
def test_damaged_frame_raises_an_error_that_names_the_blob(tmp_path, damage, file_bytes):
    """A frame that is cut, has a flipped bit, or belongs to another body gives no body. The error
    names `tidings doctor`.
    """
    store = Store(tmp_path / "blobs", file_bytes=file_bytes)
    body = versions(1)[0]
    blob = store.add(body).blobs[0]
    if blob.file:
        path = tmp_path / "blobs" / blob.file
        path.write_bytes(damage(path.read_bytes()))
    else:
        store.rows[blob.sha256] = dataclasses.replace(blob, frame=damage(blob.frame))

    with pytest.raises(BlobError, match=rf"blob {name(body)} cannot be given back: .*`tidings doctor`"):
        store.restore(body)


def test_damaged_base_is_named_in_the_error(tmp_path):
    """When the base of a delta is damaged, the error names the base and not the delta."""
    store = Store(tmp_path / "blobs")
    old, new = versions(2)
    store.add(old)
    blob = store.add(new).blobs[0]
    store.rows[name(new)] = dataclasses.replace(blob, frame=damage_cut(blob.frame))

    with pytest.raises(BlobError, match=f"blob {name(new)}"):
        store.restore(old)


def test_missing_rows_and_files_are_named_in_the_error(tmp_path):
    """A missing row, base row or file, a cycle of bases and a foreign file name each have an error
    of their own.
    """
    store = Store(tmp_path / "blobs", file_bytes=1_000)
    old, new = versions(2)
    store.add(old)
    blob = store.add(new).blobs[0]
    sound = dict(store.rows)
    text = {}
    for case, rows in {
        "no row": {},
        "no row below": {name(old): sound[name(old)]},
        "circle": sound | {name(new): dataclasses.replace(sound[name(old)], sha256=name(new), base=name(old))},
        "neither": {name(old): dataclasses.replace(sound[name(new)], file=None, frame=None)},
        "foreign name": {name(old): dataclasses.replace(sound[name(new)], file="../../etc/passwd")},
    }.items():
        with pytest.raises(BlobError) as caught:
            store.archive.restore(name(old), rows.get)
        text[case] = str(caught.value)
    (tmp_path / "blobs" / blob.file).unlink()
    with pytest.raises(BlobError) as caught:
        store.restore(old)

    assert "has no row" in text["no row"]
    assert f"leans on {name(new)}, which has no row" in text["no row below"]
    assert "leans on itself" in text["circle"]
    assert "neither a frame nor a file" in text["neither"]
    assert "no file of the archive" in text["foreign name"]
    assert "No such file" in str(caught.value)


def test_symbolic_link_is_not_followed(tmp_path):
    """A link in place of an archive file could lead outside the data directory."""
    store = Store(tmp_path / "blobs", file_bytes=0)
    body = versions(1)[0]
    path = tmp_path / "blobs" / store.add(body).blobs[0].file
    elsewhere = path.rename(tmp_path / "elsewhere")
    path.symlink_to(elsewhere)

    with pytest.raises(BlobError, match="cannot be read"):
        store.restore(body)


KILLED = """
import os, signal, sys
from pathlib import Path
from tidings.archive.archive import Archive

archive = Archive(Path(sys.argv[1]), file_bytes=0, chain_length=32)
made = archive.plan(sys.stdin.buffer.read(), sys.argv[2], None, None)
left = int(sys.argv[3])

def count(event, arguments):
    global left
    if event in {"open", "os.mkdir", "os.rename"}:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(count)
archive.write_files(made)
os.kill(os.getpid(), signal.SIGTERM)
"""


def test_sweep_removes_the_files_of_a_writer_killed_before_the_commit(tmp_path):
    """The writer is killed at each step of writing a file, and once between the files and the
    commit.
    """
    kept, lost = versions(2)
    swept: list[set[str]] = []
    ended = -signal.SIGKILL
    while ended == -signal.SIGKILL:
        step = len(swept) + 1
        store = Store(tmp_path / str(step), file_bytes=0)
        store.add(kept)
        arguments = [sys.executable, "-c", KILLED, str(store.directory), name(lost), str(step)]
        ended = subprocess.run(arguments, input=lost, check=False).returncode
        before = store.on_disk()
        swept.append(set(store.archive.sweep(store.list_named())))

        assert before - store.list_named() == swept[-1]
        assert store.list_named() == store.on_disk()
        assert kept == store.restore(kept)

    assert -signal.SIGTERM == ended
    assert 2 == sum(
        file.startswith("tmp/") for files in swept for file in files
    )  # killed before the write, before the rename
    assert [name(lost)] == [Path(file).stem for file in swept[-1]]


def test_sweep_leaves_foreign_files(tmp_path):
    """Files that the archive did not write stay. A missing directory is no error."""
    store = Store(tmp_path / "blobs", file_bytes=0)
    swept_before = store.archive.sweep(set())
    store.add(versions(1)[0])
    for stranger in ("note.txt", "ab/note.txt", "ab/cd/note.txt"):
        (tmp_path / "blobs" / stranger).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "blobs" / stranger).write_text("mine")
    named = store.list_named()
    swept = store.archive.sweep(set())

    assert () == swept_before
    assert named == set(swept)
    assert {"note.txt", "ab/note.txt", "ab/cd/note.txt"} == store.on_disk()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_failing_disk_raises_a_store_error_and_leaves_no_partial_file(tmp_path, monkeypatch, code):
    """The disk is full, or fails to sync."""

    def fail(descriptor):
        raise OSError(code, os.strerror(code))

    store = Store(tmp_path / "blobs", file_bytes=0)
    kept, lost = versions(2)
    store.add(kept)
    made = store.archive.plan(lost, name(lost), None, None)
    folder = tmp_path / "blobs" / made.files[0][0]
    folder.parent.mkdir(parents=True)
    monkeypatch.setattr(os, "fsync", fail)

    with pytest.raises(StoreError, match=os.strerror(code)):
        store.archive.write_files(made)
    assert store.list_named() == store.on_disk()


def test_file_is_synced_before_the_rename_and_its_folder_after(tmp_path, monkeypatch):
    """Otherwise a power failure could leave a named file without its content."""
    store = Store(tmp_path / "blobs", file_bytes=0)
    store.add(versions(1, seed=1)[0])
    steps = []
    sync, rename = os.fsync, Path.rename

    def note_sync(descriptor):
        steps.append("sync folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "sync file")
        sync(descriptor)

    def note_rename(path, target):
        steps.append("rename")
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "rename", note_rename)
    store.add(versions(1, seed=2)[0])

    assert ["sync file", "rename", "sync folder"] == steps[-3:]


def test_concurrent_writes_of_the_same_body_leave_it_whole(tmp_path):
    """Fifty threads write one body; it is restored whichever of them was last."""
    archive = Archive(tmp_path / "blobs", file_bytes=0, chain_length=32, keep_bytes=0)
    body = versions(1)[0]
    plans = [archive.plan(body, name(body), None, None) for _ in range(50)]
    start = threading.Barrier(10)

    def write(number):
        start.wait(5)
        archive.write_files(plans[number])

    with ThreadPoolExecutor(10) as threads:
        list(threads.map(write, range(50)))

    assert [body] * 50 == [archive.restore(name(body), {name(body): made.blobs[0]}.get) for made in plans]


def test_cached_body_is_returned_without_reading_its_row(tmp_path):
    """The body that was planned or restored last is in the cache."""
    store = Store(tmp_path / "blobs", keep_bytes=100_000)
    old, new = versions(2)
    store.add(old)
    store.add(new)
    other = Store(tmp_path / "blobs", keep_bytes=100_000)
    other.rows = store.rows
    other.restore(old)

    assert new == store.archive.restore(name(new), nothing)
    assert old == other.archive.restore(name(old), nothing)


def test_delta_is_decoded_from_the_cached_base(tmp_path):
    """Only the row of the delta is read; the newest version is in memory."""
    store = Store(tmp_path / "blobs", keep_bytes=5_000)
    old, new = versions(2)
    store.add(old)
    store.add(new)
    store.archive.restore(name(new), store.rows.get)
    asked = []

    def lookup(sha256):
        asked.append(sha256)
        return store.rows.get(sha256)

    fresh = Archive(tmp_path / "blobs", file_bytes=None, chain_length=32, keep_bytes=5_000)
    fresh.restore(name(new), store.rows.get)

    assert old == fresh.restore(name(old), lookup)
    assert [name(old)] == asked


def test_hold_blocks_only_holders_of_the_same_blobs(tmp_path):
    """A holder of other blobs goes on at once; one of the same blobs waits until they are free."""
    archive = Archive(tmp_path / "blobs", file_bytes=None, chain_length=32)
    steps = []

    async def work(label, *names):
        async with archive.hold(*names):
            steps.append(f"{label} in")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            steps.append(f"{label} out")

    async def body():
        async with asyncio.timeout(5):
            await asyncio.gather(work("first", "a", "b"), work("second", "b", "c"), work("third", "d"))

    asyncio.run(body())

    assert steps.index("first out") < steps.index("second in")
    assert steps.index("third in") < steps.index("first out")


def test_hold_is_released_on_failure_and_cancellation(tmp_path):
    """A holder that is cancelled while it waits has held nothing."""
    archive = Archive(tmp_path / "blobs", file_bytes=None, chain_length=32)

    async def body():
        with pytest.raises(ZeroDivisionError):
            async with archive.hold("a"):
                raise ZeroDivisionError
        async with archive.hold("a"):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01), archive.hold("a", "b"):
                    pass
            async with asyncio.timeout(1), archive.hold("b"):
                return "b is free"

    assert "b is free" == asyncio.run(body())
