"""Open untrusted files: within bounds, without executing or following anything in them.

A zip or tar.gz is refused as a whole for one member with a path outside it or a link (H-096,
H-097), YAML or JSON for its expanded size (H-101). Databases are read from a copy, since their
program may be running.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import itertools
import json
import re
import shutil
import sqlite3
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar, cast
from xml.etree import ElementTree as ET

import yaml

from tidings.errors import ImportFileError
from tidings.service.imports.draft import UNREADABLE

MOST_FILE: Final = 64 * 1024 * 1024
MOST_ALL: Final = 2 * 1024 * 1024 * 1024
MOST_MEMBERS: Final = 500_000
MOST_BLOCK: Final = 1024 * 1024
MOST_RATIO: Final = 200
FREE_RATIO: Final = 1024 * 1024
"""Smaller members may have any compression ratio."""
MOST_VALUES: Final = 2_000_000
MOST_TAGS: Final = 1_000_000
MOST_DEPTH: Final = 60
LONGEST_NUMBER: Final = 1_000
"""Longer ones take long to read."""
MOST_STEPS: Final = 2_000_000_000
STEPS_AT_ONCE: Final = 1_000_000
"""Steps of SQLite."""
TOO_DEEP: Final = f"it is nested deeper than {MOST_DEPTH} levels"
ENDLESS: Final = "its references or values grow without end"
_HALF: Final = re.compile(r"(?i)(\\\\|\\ud[89ab]..\\ud[c-f]..)|\\ud[89a-f]..")
"""Half a character of JSON, which can be neither stored nor printed; whole ones are its group."""
_NUMBER: Final = re.compile(r"[-+0-9a-fxo_:.]+", re.IGNORECASE)
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
T = TypeVar("T")


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
        self._last: tuple[tuple[str, str], Any] = (("", ""), None)
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

        def parse() -> Any:
            text = self.text(name)
            if sum(map(text.count, ",[{")) > 2 * MOST_VALUES:
                raise ValueError(ENDLESS)
            return check_bounds(json.loads(_HALF.sub(lambda found: found[1] or r"\ufffd", text)))

        return self._parse(name, "JSON", parse)

    def yaml(self, name: str) -> list[Any]:
        """Return the documents of a YAML file; Python objects and endless references are
        refused.
        """

        def parse() -> list[Any]:
            text = self.text(name)
            check_events(yaml.parse(text, _LOADER))
            return [check_bounds(one) for one in yaml.load_all(text, _LOADER) if one is not None]

        return self._parse(name, "YAML", parse)

    def xml(self, name: str) -> ET.Element:
        """Return the root of an XML file; one with a DTD, which could expand, is refused."""

        def parse() -> ET.Element:
            content = self.read(name)
            if content.count(b"<") > MOST_TAGS or content.count(b"=") > MOST_VALUES:
                raise ValueError(ENDLESS)
            parser = ET.XMLParser(target=_Tree())  # noqa: S314 - without a DTD there are no entities
            parser.feed(content)
            return parser.close()

        return self._parse(name, "XML", parse)

    def rows(self, name: str, dialect: type[csv.Dialect]) -> list[list[str]]:
        """Return the rows of a CSV file."""
        return self._parse(name, "CSV", lambda: list(csv.reader(io.StringIO(self.text(name)), dialect)))

    def _parse(self, name: str, kind: str, parse: Callable[[], T]) -> T:
        """Return what a file contains; what was parsed last is not parsed again."""
        if self._last[0] == (name, kind):
            return cast("T", self._last[1])
        try:
            found = parse()
        except (yaml.YAMLError, csv.Error, RecursionError, *UNREADABLE) as error:
            raise self.refusal(f"{name} is no {kind} that can be read: {error}") from error
        self._last = ((name, kind), found)
        return found

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
                    raw.set_progress_handler(_count_down(), STEPS_AT_ONCE)
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


class _Tree(ET.TreeBuilder):
    """Builds a tree within bounds."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:  # noqa: ARG002 - its parser calls it so
        """Refuse a DTD."""
        message = "it has a DTD, which an import does not read"
        raise ValueError(message)

    def start(self, tag: Any, attrs: Any) -> ET.Element:
        """Begin an element."""
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise ValueError(TOO_DEEP)
        return super().start(tag, attrs)

    def end(self, tag: str) -> ET.Element:
        """End an element."""
        self._depth -= 1
        return super().end(tag)


def _count_down() -> Callable[[], bool]:
    """Return a function that stops a query after as many steps as a file may take."""
    left = itertools.count(MOST_STEPS // STEPS_AT_ONCE, -1)
    return lambda: next(left) <= 0


def check_events(events: Iterable[yaml.Event]) -> None:
    """Raise `ValueError` if a YAML text is nested unreasonably deeply, or its references and merged
    maps (`<<`) grow without end; nothing is constructed.
    """
    known: dict[str, tuple[int, int]] = {}
    sizes, heights, names = [0], [0], [""]
    for event in events:
        size = height = 0
        match event:
            case yaml.DocumentStartEvent():
                known.clear()
            case yaml.CollectionStartEvent():
                sizes.append(1)
                heights.append(1)
                names.append(event.anchor or "")
                known.pop(event.anchor or "", None)
            case yaml.CollectionEndEvent():
                size, height = sizes.pop(), heights.pop()
                known[names.pop()] = (size, height)
                height += 1
            case yaml.ScalarEvent():
                size = height = 1
                known[event.anchor or ""] = (1, 1)
                is_text = event.style and event.tag is None
                if not is_text and len(event.value) > LONGEST_NUMBER and _NUMBER.fullmatch(event.value):
                    raise ValueError(ENDLESS)
            case yaml.AliasEvent():
                if event.anchor not in known:
                    raise ValueError(ENDLESS)
                size, height = known[event.anchor]
                height += 1
        sizes[-1] += size
        heights[-1] = max(heights[-1], height)
        if sizes[-1] > MOST_VALUES:
            raise ValueError(ENDLESS)
        if len(heights) + heights[-1] > MOST_DEPTH + 2:
            raise ValueError(TOO_DEEP)


def check_bounds(value: Any) -> Any:
    """Return a value. Raises `ValueError` if it is nested unreasonably deeply, or endlessly."""
    left, stack = MOST_VALUES, [(value, 0)]
    while stack:
        each, depth = stack.pop()
        left -= 1
        if depth > MOST_DEPTH or left < 0:
            raise ValueError(TOO_DEEP if depth > MOST_DEPTH else ENDLESS)
        if isinstance(each, dict):
            stack += [(one, depth + 1) for one in each.values()]
        elif isinstance(each, list):
            stack += [(one, depth + 1) for one in each]
    return value
