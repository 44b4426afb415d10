"""`ARCHITECTURE.md` has a line for each package, and every name in it exists."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGES = REPOSITORY / "src" / "tidings"
LONGEST = 150
LINE = re.compile(r"^\| `([\w/]+)/` \| (.*) \|$", re.MULTILINE)
NAME = re.compile(r"`([\w/.]+)`")
ELSEWHERE = {"bench/"}


def list_rows() -> list[tuple[str, str]]:
    """Return each package of the table with its cell."""
    return LINE.findall((REPOSITORY / "ARCHITECTURE.md").read_text())


def test_each_package_has_one_line():
    """Subpackages of several modules are listed too; no line names a missing package."""
    packages = [path.parent for path in PACKAGES.rglob("__init__.py") if path.parent != PACKAGES]
    expected = [
        str(path.relative_to(PACKAGES))
        for path in packages
        if path.parent == PACKAGES or len(list(path.glob("*.py"))) > 1
    ]

    assert sorted(expected) == sorted(package for package, _ in list_rows())


@pytest.mark.parametrize(("package", "cell"), list_rows())
def test_each_line_is_short_and_names_existing_files(package, cell):
    """Each name in a cell is a module, a file or a package there."""
    lost = [
        name
        for name in NAME.findall(cell)
        if name not in {*ELSEWHERE, package}
        and not any((PACKAGES / package / form).exists() for form in (name, f"{name}.py"))
    ]

    assert ([], True) == (lost, len(cell) <= LONGEST)


def test_each_path_of_the_texts_exists():
    """A path of a file is one of the repository, of `src/tidings` or of `docs`."""
    named = set(re.findall(r"`([\w/.]+\.(?:py|lark|sql|md))`", (REPOSITORY / "ARCHITECTURE.md").read_text()))
    homes = (REPOSITORY, PACKAGES, *sorted(path.parent for path in PACKAGES.rglob("__init__.py")))

    assert [] == sorted(name for name in named if not any((home / name).exists() for home in homes))
