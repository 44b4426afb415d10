"""Every citation in code and documents can be resolved in the repository (see
`docs/design/README.md`).
"""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tidings.model.event_type import EventType
from tidings.settings import table

REPOSITORY = Path(__file__).parents[2]
DESIGN = REPOSITORY / "docs" / "design"
PAGES_WITH_ROWS = ("docs/design/*.md", "docs/why/checklist.md")
READ = (".py", ".md", ".toml", ".lark", ".importlinter", ".sh", ".yml")

ROW = re.compile(r"^\| ([A-Z]-\d+) \|", re.MULTILINE)
HEADING = re.compile(r"^##+ (\d+(?:\.\d+)*)\.? ", re.MULTILINE)
PAPER = re.compile(r"^\| (\d{3}) \|", re.MULTILINE)
ID = re.compile(r"(?<![\w.-])([AFGHIMPRSTW]-\d+)\b(?!-)")
SECTIONS = re.compile(r"(?:([\w-]+)(?:'s)?\s+)?§\s?\d+(?:\.\d+)*(?:(?:, | and |; |–| or )§\s?\d+(?:\.\d+)*)*")
NUMBER = re.compile(r"\d+(?:\.\d+)*")
FILE = re.compile(r"(?<![\w/.*-])((?:[\w.-]+/)*[\w-]+\.md)\b")
STANDARDS = re.compile(r"(?:RFC \d+|W3C WebSub|WHATWG HTML|WHATWG MIME Sniffing)$")


def texts() -> list[Path]:
    """Return every text of the repository, uncommitted ones included, except landed migrations,
    which nobody edits.
    """
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = (REPOSITORY / name for name in listing.stdout.split("\0") if name.endswith(READ))
    return [path for path in paths if path.is_file() and path.parent.name != "versions"]


@cache
def rows() -> frozenset[str]:
    """Return the ids of all rows that can be cited."""
    pages = [page for pattern in PAGES_WITH_ROWS for page in REPOSITORY.glob(pattern)]
    return frozenset(found for page in pages for found in ROW.findall(page.read_text()))


@cache
def sections() -> dict[str, frozenset[str]]:
    """Return the numbers of the headings of each page of the design."""
    return {page.stem: frozenset(HEADING.findall(page.read_text())) for page in DESIGN.glob("*.md")}


@cache
def papers() -> frozenset[str]:
    """Return the numbers of the papers."""
    return frozenset(PAPER.findall((REPOSITORY / "docs" / "papers" / "README.md").read_text()))


def resolves(text: str, found: re.Match[str], page: str) -> bool:
    """Return whether the sections that a match names exist; of papers and standards only the text is known.

    Args:
        text: The whole text, in which the source may stand before the match.
        found: A match of `SECTIONS`.
        page: The page of the design that the text is, whose own sections need no name; empty for others.
    """
    numbers = set(NUMBER.findall(found[0][found[0].index("§") :]))
    if found[1] in sections():
        return numbers <= sections()[found[1]]
    before = " ".join(text[max(0, found.start() - 40) : text.index("§", found.start())].split())
    if found[1] in papers() or STANDARDS.search(before.removesuffix(",")):
        return True
    return numbers <= sections().get(page, frozenset())


def list_broken(text: str, *, page: str = "") -> list[str]:
    """Return the citations of a text that lead nowhere, ids and sections."""
    joined = re.sub(r"(?:\n|\\n)\s*(?:#|//)?\s*", " ", text)
    ids = [found for found in ID.findall(joined) if found not in rows()]
    return ids + [found[0] for found in SECTIONS.finditer(joined) if not resolves(joined, found, page)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a row (I-3), a section (contracts §3), two (bid §1, §4)", []),
        ("papers (004 §5.4), standards (RFC 9110 §13.1; W3C WebSub §5)", []),
        ("(sentinels §4.2; 001 §2.1)", []),
        ("a row that is not there (I-99)", ["I-99"]),
        ("a section that is not there (bid §1, §99)", ["bid §1, §99"]),
        ("a page that is not there (trust §1)", ["trust §1"]),
        ("nobody knows of what (§3)", ["§3"]),
        ("split over\n    lines (contracts\n    §3)", []),
    ],
)
def test_citations_are_recognised(text, expected):
    """A row has an id, a section a page and a number; papers and standards must have a known text."""
    assert expected == list_broken(text)


def test_every_citation_resolves():
    """The rows and sections that code, tests and documents name are in the repository."""
    found = {
        str(path.relative_to(REPOSITORY)): lost
        for path in texts()
        if path != Path(__file__)
        and (lost := list_broken(path.read_text(), page=path.stem if path.parent == DESIGN else ""))
    }

    assert {} == found


def test_every_named_page_exists():
    """A page is named by its path from the root, or from the page that names it."""
    lost = []
    for path in texts():
        if path.parts[-2] in ("house", "changelog.d") or path == REPOSITORY / "docs" / "design" / "README.md":
            continue
        for name in FILE.findall(re.sub(r"https?://\S+", "", path.read_text())):
            if not any(
                place.is_file() for place in (REPOSITORY / name, path.parent / name, *REPOSITORY.glob(f"docs/*/{name}"))
            ):
                lost.append(f"{path.relative_to(REPOSITORY)}: {name}")

    assert [] == lost


def test_each_id_has_one_row():
    """An id is unique."""
    pages = [page for pattern in PAGES_WITH_ROWS for page in REPOSITORY.glob(pattern)]
    found = [name for page in pages for name in ROW.findall(page.read_text())]

    assert [] == sorted({name for name in found if found.count(name) > 1})


SOURCE = REPOSITORY / "src" / "tidings"
NAMED = re.compile(r"`((?:[a-z]\w*[./])+[a-z]\w*)`")
NO_MODULES = frozenset({"change.digest", "secrets.locked", "service.state", "step.before", "text/html"})
"""Names of the form of a module that are something else, beside those of settings, events and files."""


@cache
def modules() -> dict[str, list[Path]]:
    """Return the files of the modules and packages by each end of their path."""
    found: dict[str, list[Path]] = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        for place in range(len(parts)):
            found.setdefault("/".join(parts[place:]), []).append(path)
    return found


def is_lost(name: str) -> bool:
    """Return whether a name begins with a package of the source, but no module or member of one has
    it.
    """
    parts = name.replace(".", "/").removesuffix("/py").split("/")
    if not (SOURCE / parts[0]).is_dir() and parts[0] not in modules():
        return False
    for end in range(len(parts), 0, -1):
        if files := modules().get("/".join(parts[:end])):
            word = re.compile(rf"\b{parts[end]}\b") if end < len(parts) else None
            return word is not None and not any(word.search(file.read_text()) for file in files)
    return True


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("service/plan/planner", False),
        ("plan.planner", False),
        ("storage.write.charge.set_budget", False),
        ("service.planner", True),
        ("sources.listings", True),
        ("numpy.clip", False),
    ],
)
def test_missing_modules_are_recognised(name, expected):
    """A name may begin at any folder and end in a member of a module."""
    assert expected == is_lost(name)


def test_every_named_module_exists():
    """Docstrings and comments name existing modules."""
    known = NO_MODULES | {row.name for row in table()} | {*EventType} | {path.name for path in SOURCE.rglob("*.*")}
    lost = [
        f"{path.relative_to(REPOSITORY)}: {name}"
        for path in texts()
        if path.suffix == ".py" and (path.is_relative_to(SOURCE) or path.parent == REPOSITORY / "bench")
        for name in NAMED.findall(path.read_text())
        if name not in known and not name.endswith((".lark", ".json")) and not (REPOSITORY / name).is_file()
        if is_lost(name)
    ]

    assert [] == lost
