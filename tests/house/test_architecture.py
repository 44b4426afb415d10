"""`ARCHITECTURE.md` has a line for each package, and every name in it exists."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ROOMS = REPOSITORY / "src" / "tidings"
LONGEST = 150
LINE = re.compile(r"^\| `([\w/]+)/` \| (.*) \|$", re.MULTILINE)
NAME = re.compile(r"`([\w/.]+)`")
ELSEWHERE = {"bench/"}


def list_rooms() -> list[tuple[str, str]]:
    """Return each package of the table with its cell."""
    return LINE.findall((REPOSITORY / "ARCHITECTURE.md").read_text())


def test_each_package_has_one_line():
    """Subpackages of several modules are listed too; no line names a missing package."""
    packages = [path.parent for path in ROOMS.rglob("__init__.py") if path.parent != ROOMS]
    expected = [
        str(path.relative_to(ROOMS)) for path in packages if path.parent == ROOMS or len(list(path.glob("*.py"))) > 1
    ]

    assert sorted(expected) == sorted(room for room, _ in list_rooms())


@pytest.mark.parametrize(("room", "cell"), list_rooms())
def test_each_line_is_short_and_names_existing_files(room, cell):
    """Each name in a cell is a module, a file or a package there."""
    lost = [
        name
        for name in NAME.findall(cell)
        if name not in {*ELSEWHERE, room} and not any((ROOMS / room / form).exists() for form in (name, f"{name}.py"))
    ]

    assert ([], True) == (lost, len(cell) <= LONGEST)
