"""The changelog is built from its fragments."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def place(tmp_path):
    """Return a repository with the script, an old section and four fragments."""
    (tmp_path / "script").mkdir()
    (tmp_path / "changelog.d").mkdir()
    shutil.copy(REPOSITORY / "script" / "changelog", tmp_path / "script")
    shutil.copy(REPOSITORY / "changelog.d" / "README.md", tmp_path / "changelog.d")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n\n## [0.1] - 2026-01-01\n\n- The first.\n")
    for name, text in (
        ("12-b.fixed.md", "A fault\nis gone."),
        ("3-a.fixed.md", "An older fault is gone."),
        ("4-x.added.md", "A verb."),
        ("5-y.security.md", "A hole."),
    ):
        (tmp_path / "changelog.d" / name).write_text(f"{text}\n")
    return tmp_path


def run(where, *arguments):
    """Return the output of the script."""
    return subprocess.run(
        [sys.executable, where / "script" / "changelog", *arguments], capture_output=True, text=True, check=False
    )


def test_fragments_of_the_repository_form_a_section():
    """Each fragment has a valid name, and its text is in the section."""
    done = run(REPOSITORY)
    fragments = list((REPOSITORY / "changelog.d").glob("[0-9]*.md"))

    assert (0, len(fragments)) == (done.returncode, done.stdout.count("\n- "))


def test_section_is_sorted_by_kind_and_issue(place):
    """Added comes first, security last. Nothing is written."""
    expected = """## [Unreleased]

### Added

- A verb.

### Fixed

- An older fault is gone.
- A fault
  is gone.

### Security

- A hole.
"""

    assert expected == run(place).stdout
    assert 5 == len(list((place / "changelog.d").iterdir()))


def test_release_moves_the_fragments_into_the_changelog(place):
    """The newest section comes first; the README of the folder stays."""
    run(place, "0.2")
    headings = [line for line in (place / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]

    assert ["## [Unreleased]", "## [0.2]", "## [0.1]"] == [heading.partition(" - ")[0] for heading in headings]
    assert ["README.md"] == [path.name for path in (place / "changelog.d").iterdir()]


def test_fragment_with_an_invalid_name_is_refused(place):
    """A fragment of an unknown kind would be lost at the release."""
    (place / "changelog.d" / "6-z.improved.md").write_text("Nothing.\n")

    done = run(place, "0.2")

    assert 1 == done.returncode
    assert "6-z.improved.md" in done.stderr
    assert (place / "changelog.d" / "4-x.added.md").exists()
