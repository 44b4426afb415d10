"""Every error is documented with what to do, under the exit code that it has."""

import re
from pathlib import Path

from tidings import errors

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")


def document():
    """Return (name, exit code of its section, what to do) for each error of the page."""
    found = []
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    for section in (each for each in sections if each.startswith("Exit code ")):
        code = int(section.removeprefix("Exit code ")[0])
        found += [
            (row[0], code, row[1])
            for row in re.findall(r"^\| `(\w+Error)` \|[^|]+\| ([^|]+) \|$", section, re.MULTILINE)
        ]
    return found


def test_every_error_is_documented():
    """The page names each class of the tree once, and no other."""
    classes = [name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)]

    assert sorted(classes) == sorted(name for name, _, _ in document())


def test_errors_stand_under_their_exit_code():
    """What the page says of exit codes is what the classes say."""
    wrong = [name for name, code, _ in document() if getattr(errors, name).exit_code != code]

    assert [] == wrong


def test_every_error_says_what_to_do():
    """No error is documented without advice."""
    assert [] == [name for name, _, advice in document() if len(advice) < 12]
