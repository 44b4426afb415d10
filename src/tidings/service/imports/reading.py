"""Open untrusted files: within bounds, without executing or following anything in them.

A zip or tar.gz is refused as a whole for one member with a path outside it or a link (H-096,
H-097), YAML or JSON for its expanded size (H-101). Databases are read from a copy, since their
program may be running.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
import sqlite3
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final
from xml.etree import ElementTree as ET

import yaml

from tidings.errors import ImportFileError

MOST_FILE: Final = 64 * 1024 * 1024
MOST_ALL: Final = 2 * 1024 * 1024 * 1024
MOST_MEMBERS: Final = 500_000
MOST_BLOCK: Final = 1024 * 1024
MOST_RATIO: Final = 200
FREE_RATIO: Final = 1024 * 1024
"""Smaller members may have any compression ratio."""
MOST_VALUES: Final = 2_000_000
MOST_DEPTH: Final = 60


class Files:
    """The files of a directory, a zip or a tar.gz, or a single file, by names with `/`; the total
    read is bounded.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._root = path
        """The directory or file that is read; a tar.gz is unpacked into a temporary one."""
        self._zip: zipfile.ZipFile | None = None
        self._unpacked: tempfile.TemporaryDirectory[str] | None = None
        self._read = 0
        try:
            self.names = self._open()
        except (tarfile.TarError, zlib.error, gzip.BadGzipFile, EOFError) as error:
            raise ImportFileError(f"{path} is a tar.gz that cannot be read: {error}") from error
        except OSError as error:
            raise ImportFileError(f"{path} cannot be read: {error.strerror or error}") from error
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise ImportFileError(f"{path} is a zip that cannot be read: {error}") from error

    @property
    def is_single(self) -> bool:
        """Return whether it is one file."""
        return self._zip is None and not self._root.is_dir()

    def read(self, name: str) -> bytes:
        """Return a file. Raises `ImportFileError` for a missing or too large one."""
        try:
            content = self._content(name)
        except (OSError, KeyError, RuntimeError, zipfile.BadZipFile, EOFError, NotImplementedError) as error:
            raise self.refusal(f"{name} cannot be read: {error}") from error
        self._read += len(content)
        if self._read > MOST_ALL:
            raise self.refusal(f"its files have more than {MOST_ALL:,} bytes together")
        return content

    def text(self, name: str) -> str:
        """Return a file's text, with any byte order mark."""
        return self.read(name).decode("utf-8-sig", "replace")

    def json(self, name: str) -> Any:
        """Return the content of a JSON file."""
        try:
            return check_bounds(json.loads(self.read(name).decode("utf-8-sig", "replace")))
        except (ValueError, RecursionError) as error:
            raise self.refusal(f"{name} is no JSON: {error}") from error

    def yaml(self, name: str) -> list[Any]:
        """Return the documents of a YAML file; Python objects and endless references are
        refused.
        """
        try:
            return [check_bounds(one) for one in yaml.safe_load_all(self.text(name)) if one is not None]
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise self.refusal(f"{name} is no YAML that can be read: {error}") from error

    def xml(self, name: str) -> ET.Element:
        """Return the root of an XML file; one with a DTD, which could expand, is refused."""
        content = self.read(name)
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
            raise self.refusal(f"{name} has a DTD, which an import does not read")
        try:
            return ET.fromstring(content)  # noqa: S314 - without a DTD there are no entities
        except (ET.ParseError, ValueError, RecursionError) as error:
            raise self.refusal(f"{name} is no XML: {error}") from error

    @contextlib.contextmanager
    def database(self, name: str) -> Iterator[sqlite3.Connection]:
        """Yield a read-only copy of a SQLite file."""
        with tempfile.TemporaryDirectory(prefix="tidings-import-") as folder:
            copy = Path(folder) / "copy.db"
            if self._zip is not None:
                copy.write_bytes(self.read(name))
            else:
                source = self._root / name if self._root.is_dir() else self._root
                shutil.copyfile(source, copy)
                for suffix in ("-wal", "-shm"):
                    if (beside := source.with_name(source.name + suffix)).exists():
                        shutil.copyfile(beside, copy.with_name(copy.name + suffix))
            try:
                with contextlib.closing(sqlite3.connect(copy)) as raw:
                    raw.execute("PRAGMA trusted_schema = OFF")
                    raw.execute("PRAGMA query_only = ON")
                    yield raw
            except sqlite3.Error as error:
                raise self.refusal(f"{name} is not a database that can be read: {error}") from error

    def refusal(self, what: str) -> ImportFileError:
        """Return the error for this file."""
        return ImportFileError(f"{self.path}: {what}. Nothing was imported")

    def close(self) -> None:
        """Close the zip, remove what was unpacked."""
        if self._zip is not None:
            self._zip.close()
        if self._unpacked is not None:
            self._unpacked.cleanup()

    def _open(self) -> list[str]:
        if self.path.is_dir():
            return self._list()
        with self.path.open("rb") as file:
            head = file.read(4)
        if head.startswith(b"\x1f\x8b"):
            self._unpack()
            return self._list()
        if head != b"PK\x03\x04" or self.path.suffix == ".xlsx":
            return [self.path.name]
        self._zip = zipfile.ZipFile(self.path)
        members = self._zip.infolist()
        if len(members) > MOST_MEMBERS:
            raise self.refusal(f"it has {len(members):,} members")
        for member in members:
            self._judge(member)
        return [member.filename for member in members if not member.is_dir()]

    def _list(self) -> list[str]:
        root = self._root
        found = (path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink())
        names = [path.relative_to(root).as_posix() for _, path in zip(range(MOST_MEMBERS), found, strict=False)]
        return [name for name in names if not name.startswith(".git/")]

    def _unpack(self) -> None:
        left = min(MOST_ALL, max(FREE_RATIO, MOST_RATIO * self.path.stat().st_size))
        self._unpacked = tempfile.TemporaryDirectory(prefix="tidings-import-")
        self._root = Path(self._unpacked.name)
        try:
            with gzip.open(self.path) as raw, tarfile.open(fileobj=raw, mode="r|") as tar:
                for number, member in enumerate(tar):
                    self._judge_name(member.name)
                    if not (member.isreg() or member.isdir()):
                        raise self.refusal(f"{shorten_name(member.name)} is a link or a device")
                    left -= member.size
                    if left < 0 or member.size > MOST_FILE or number >= MOST_MEMBERS:
                        raise self.refusal("it unpacks to more than an import reads")
                    tar.extract(member, self._root, set_attrs=False, filter="data")
                while left >= 0 and (
                    rest := raw.read(MOST_BLOCK)
                ):  # to the check sum: tarfile takes a cut file for its end
                    left -= len(rest)
        except BaseException:
            self._unpacked.cleanup()
            raise

    def _judge_name(self, name: str) -> None:
        path = PurePosixPath(name)
        if not name or "\\" in name or "\0" in name or ":" in name or path.is_absolute() or ".." in path.parts:
            raise self.refusal(f"it has a member {shorten_name(name)}, which leads outside")

    def _judge(self, member: zipfile.ZipInfo) -> None:
        name = member.orig_filename
        self._judge_name(name)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise self.refusal(f"{shorten_name(name)} is a link")
        if member.flag_bits & 1:
            raise self.refusal("it is encrypted; unpack it first, and import the folder")

    def _content(self, name: str) -> bytes:
        if self._zip is None:
            path = self._root / name if self._root.is_dir() else self._root
            if path.stat().st_size > MOST_FILE:
                raise self.refusal(f"{name} has more than {MOST_FILE:,} bytes")
            return path.read_bytes()
        member = self._zip.getinfo(name)
        with self._zip.open(member) as file:
            content = file.read(MOST_FILE + 1)
        if len(content) > MOST_FILE:
            raise self.refusal(f"{name} unpacks to more than {MOST_FILE:,} bytes")
        if len(content) > max(FREE_RATIO, MOST_RATIO * member.compress_size):
            raise self.refusal(f"{name} unpacks to {len(content) // max(1, member.compress_size)} times its size")
        return content


def shorten_name(name: str) -> str:
    """Return a file name for an error."""
    return repr(name[:100])


def check_bounds(value: Any) -> Any:
    """Return a value. Raises `ValueError` if it is nested unreasonably deeply, or endlessly."""
    left, stack = MOST_VALUES, [(value, 0)]
    while stack:
        each, depth = stack.pop()
        left -= 1
        if depth > MOST_DEPTH or left < 0:
            message = "it is nested deeper than 60 levels" if depth > MOST_DEPTH else "its references grow without end"
            raise ValueError(message)
        if isinstance(each, dict):
            stack += [(one, depth + 1) for one in each.values()]
        elif isinstance(each, list):
            stack += [(one, depth + 1) for one in each]
    return value
