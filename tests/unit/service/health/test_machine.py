"""The machine is compared with the minimum versions that fix known vulnerabilities."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.stores import World
from tidings.fetching.address import identify
from tidings.fetching.browser import chromium
from tidings.model.watch.asking import Asking
from tidings.model.watch.sentinel import FetchOnChange, Interest, Sentinel, Watched
from tidings.service.health import machine
from tidings.service.show.finding import spell_bytes
from tidings.storage.watches import sentinels

WHOLE = {**machine.LIBRARY_FLOORS, **machine.BORROWED_FLOORS}
LIBXML2 = machine.LIBXML2_FLOOR
GIB = 2**30


def disk(*, free, total=1000 * GIB):
    """Return the usage of a disk with this free space."""
    return lambda path: SimpleNamespace(total=total, free=free)


def test_python_below_the_minimum_fails():
    """The minimum is 3.11."""
    assert "fail" == machine.python((3, 10, 14)).status
    assert "ok" == machine.python((3, 11)).status


def test_libraries_at_their_minimum_are_ok():
    """The minimum itself is allowed."""
    (line,) = machine.libraries(WHOLE, libxml2=LIBXML2)

    assert "ok" == line.status


@pytest.mark.parametrize("name", WHOLE)
def test_library_below_its_minimum_fails(name):
    """The line names it, with the command that updates it."""
    floor = WHOLE[name]
    older = (*floor[:-1], floor[-1] - 1, 99)
    (line,) = machine.libraries({**WHOLE, name: older}, libxml2=LIBXML2)

    assert ("fail", True) == (line.status, line.detail.startswith(f"{name} "))
    assert f'"{name}>={machine.spell(floor)}"' in line.mend


def test_missing_library_fails():
    """A library that only others install may be missing."""
    (missing,) = machine.libraries({n: v for n, v in WHOLE.items() if n != "brotli"}, libxml2=LIBXML2)
    (borrowed,) = machine.libraries(machine.LIBRARY_FLOORS, libxml2=LIBXML2)

    assert ("fail", "brotli is not installed") == (missing.status, missing.detail)
    assert "ok" == borrowed.status


def test_old_libxml2_is_a_warning():
    """The libxml2 of lxml may be a version without a limit of entities."""
    (line,) = machine.libraries(WHOLE, libxml2=(2, 12, 9))

    assert ("warn", True) == (line.status, "2.12.9" in line.detail)


def test_installed_libraries_are_ok():
    """The lock file has only allowed versions."""
    (line,) = machine.libraries(machine.list_installed(), libxml2=LIBXML2)

    assert "ok" == line.status
    assert set(machine.LIBRARY_FLOORS) <= set(machine.list_installed())


@pytest.mark.parametrize(
    ("free", "total", "status"),
    [
        (10 * GIB, 100 * GIB, "ok"),
        (GIB - 1, 10 * GIB, "warn"),
        (4 * GIB, 100 * GIB, "warn"),
        (5 * GIB, 100 * GIB, "ok"),
        (100_000_000, 10 * GIB, "warn"),
        (99_999_999, 10 * GIB, "fail"),
        (0, 0, "fail"),
    ],
)
def test_low_free_space_is_reported(tmp_path, free, total, status):
    """Less than 1 GiB or 5 % is a warning, less than 100 MB a failure."""
    assert status == machine.space(tmp_path, disk(free=free, total=total)).status


def test_free_space_of_a_missing_directory_is_that_of_its_parent(tmp_path):
    """The data directory is not made yet."""
    asked = []

    def usage(path):
        asked.append(path)
        return SimpleNamespace(total=10, free=10)

    machine.space(tmp_path / "a" / "b", usage)
    machine.space(Path("not-here"), usage)

    assert [tmp_path, Path.cwd()] == asked


def test_unreadable_free_space_is_a_warning(tmp_path):
    """No exception is raised."""

    def usage(path):
        raise PermissionError(13, "Permission denied")

    assert "warn" == machine.space(tmp_path, usage).status


def test_missing_lock_file_means_that_nobody_polls(tmp_path):
    """The line is ok."""
    holder, line = machine.lock_holder(tmp_path)

    assert (None, "ok", "free: no process checks pages with this data directory") == (holder, line.status, line.detail)


def test_lock_that_cannot_be_opened_is_a_warning(tmp_path):
    """The examination goes on."""
    (tmp_path / "lock").mkdir()
    holder, line = machine.lock_holder(tmp_path)

    assert (None, "warn") == (holder, line.status)


def test_living_processes_are_recognized():
    """A number that no process can have is not alive."""
    assert machine.is_alive(os.getpid())
    assert machine.is_alive(1)
    assert not machine.is_alive(2**22 + 1)
    assert not machine.is_alive(10**30)


@pytest.mark.parametrize(
    ("text", "version"), [("3.1.6", (3, 1, 6)), ("3.1.6rc1", (3, 1, 6)), ("2026.1.post1", (2026, 1)), ("unknown", ())]
)
def test_versions_are_compared_as_numbers(text, version):
    """1.10 is later than 1.9; a suffix is ignored."""
    assert version == machine.read_version(text)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1_500_000, "1.43 MiB"), (3 * 2**50, "3072 TiB")]
)
def test_sizes_have_three_digits_and_a_unit(size, text):
    """The units are binary."""
    assert text == spell_bytes(size)


GONE = "no Chromium was found on PATH"


def watch_rendered(world: World) -> None:
    page = Watched("http://app.example/")
    asking = Asking(render="browser")
    sentinel = Sentinel(name="app", pages=(page,), monitor=Interest("any"), fetch=FetchOnChange(), asking=asking)
    world.write(
        sentinels.create,
        sentinel,
        text="Create Sentinel app Using http://app.example/ Monitor any change Render browser",
        pages=[(page, identify(page.url, asking))],
        state="enabled",
        start_at=None,
        end_at=None,
        at=world.at,
    )


def find(world: World):
    (finding,) = world.read(lambda c: list(machine.findings(c, settings=world.settings)))
    return finding


def test_missing_browser_fails_only_if_a_page_needs_it(world, monkeypatch):
    """The line says what to install, and how many pages wait for it."""
    monkeypatch.setattr(chromium, "lack", lambda settings: GONE)
    before = find(world)
    watch_rendered(world)
    after = find(world)

    assert ("ok", f"not needed; {GONE}") == (before.status, before.detail)
    assert ("fail", f"1 page is rendered, but {GONE}", machine.MEND) == (after.status, after.detail, after.mend)


@pytest.mark.parametrize(("root", "statuses"), [(True, ("ok", "warn")), (False, ("ok", "ok"))])
def test_root_without_a_sandbox_is_a_warning(world, monkeypatch, root, statuses):
    """The warning needs a rendered page. The line has the path of the browser."""
    monkeypatch.setattr(chromium, "lack", lambda settings: "")
    monkeypatch.setattr(chromium, "find", lambda settings: "/usr/bin/chromium")
    monkeypatch.setattr(chromium, "is_root", lambda: root)
    monkeypatch.setattr(metadata, "version", lambda name: "1.65.2")
    before = find(world)
    watch_rendered(world)
    after = find(world)

    assert statuses == (before.status, after.status)
    assert all("/usr/bin/chromium, by playwright 1.65.2" in finding.detail for finding in (before, after))
    assert root == (machine.NO_SANDBOX in after.detail)
