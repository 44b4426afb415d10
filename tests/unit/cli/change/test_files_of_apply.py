"""`tidings apply DIR` sees every file of a folder, once, or says what it cannot read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tidings.cli.change.apply import _files
from tidings.errors import UsageError


def write(path: Path, name: str) -> Path:
    """Write a file with one statement."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"Create Sentinel {name} Using https://{name}.example/ Monitor any change")
    return path


def list_names(path: Path) -> list[str]:
    """Return the names of the sentinels in the files of a folder, in the order of the files."""
    return [text.split()[2] for text in _files(path).values()]


def test_files_are_found_below_linked_folders(tmp_path):
    """A folder of another place is linked into the one that is applied, which may be a link too."""
    write(tmp_path / "elsewhere" / "deep" / "b.sentinel", "b")
    write(tmp_path / "all" / "a.sentinel.yaml", "a")
    (tmp_path / "all" / "team").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "link").symlink_to(tmp_path / "all")

    assert ["a", "b"] == list_names(tmp_path / "all") == list_names(tmp_path / "link")


def test_each_file_is_applied_once(tmp_path):
    """A folder that is linked to within itself, a second link, and a second name of one file."""
    file = write(tmp_path / "a.sentinel", "a")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "z.sentinel").symlink_to(file)
    os.link(file, tmp_path / "y.sentinel")
    (tmp_path / "c").mkdir()
    (tmp_path / "d").symlink_to(tmp_path / "c")
    write(tmp_path / "c" / "c.sentinel", "c")

    assert ["a", "c"] == list_names(tmp_path)


def test_mounted_config_map_is_applied(tmp_path):
    """Kubernetes puts the files into a folder with dots, and links to them beside it."""
    write(tmp_path / "..2026_12_01" / "a.sentinel", "a")
    (tmp_path / "..data").symlink_to("..2026_12_01")
    (tmp_path / "a.sentinel").symlink_to("..data/a.sentinel")
    write(tmp_path / ".git" / "old.sentinel", "old")

    assert ["a"] == list_names(tmp_path)


@pytest.mark.parametrize("name", ["b.sentinel", "team"])
def test_link_to_nothing_is_refused(tmp_path, name):
    """A file or a folder that is not mounted is not one that was deleted."""
    write(tmp_path / "a.sentinel", "a")
    (tmp_path / name).symlink_to(tmp_path / "gone")

    with pytest.raises(UsageError, match=f"{name} cannot be read: it is a link to nothing; nothing was applied"):
        _files(tmp_path)


@pytest.mark.parametrize("name", ["b.sentinel", "team"])
def test_link_to_itself_is_refused(tmp_path, name):
    """Nobody can read it."""
    write(tmp_path / "a.sentinel", "a")
    (tmp_path / name).symlink_to(name)

    with pytest.raises(UsageError, match=f"{name} cannot be read: Too many levels"):
        _files(tmp_path)


def test_folder_without_permission_is_refused(tmp_path, monkeypatch):
    """Its sentinels would end with `--prune`."""
    write(tmp_path / "a.sentinel", "a")
    write(tmp_path / "team" / "b.sentinel", "b")
    read = Path.iterdir

    def iterdir(path):
        if path.name == "team":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)  # the tests may run as root, who may read everything
    with pytest.raises(UsageError, match="team cannot be read: Permission denied; nothing was applied"):
        _files(tmp_path)
