"""Rules of the repository that import contracts cannot check."""

import ast
import functools
import os
import re
import subprocess
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PROMISED = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "LICENSE",
    "pyproject.toml",
    "requirements.lock",
    ".importlinter",
    "changelog.d/README.md",
    "docs/papers/README.md",
    "docs/decisions/README.md",
    "docs/design/README.md",
]
COMMANDS = [
    "script/setup",
    "script/run",
    "script/test",
    "script/check",
    "script/docs",
    "script/changelog",
    "script/release",
    ".ci/run",
]
DATA_LOADER = "tests/data_sets.py"  # the only file that may know where the data sets lie beside the repository
MOST_BYTES = 1_000_000


def files() -> list[Path]:
    """Return every file of the repository, uncommitted ones included."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = (REPOSITORY / name for name in listing.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


def mentions(text: str) -> list[str]:
    """Return the files in which a text occurs."""
    return [str(path.relative_to(REPOSITORY)) for path in files() if text.encode() in path.read_bytes()]


def read_lock() -> dict[str, str]:
    """Return each package of the locks with its entry."""
    names = ("requirements.lock", "requirements-docs.lock")
    lines = [line for name in names for line in (REPOSITORY / name).read_text().splitlines()]
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    return dict(re.findall(r"^([a-z0-9._-]+)==(.*(?:\n .*)*)", text, flags=re.MULTILINE))


def test_every_core_dependency_is_imported():
    """Add a dependency with the first import and remove it with the last (0027). aiohttp uses
    aiodns; zoneinfo reads tzdata.
    """
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    core = {re.split(r"[<>=!~;\[ ]", text)[0].lower() for text in project["dependencies"]}
    sources = " ".join(path.read_text() for path in (REPOSITORY / "src").rglob("*.py"))
    imported = set(re.findall(r"^\s*(?:from|import) ([a-z0-9_]+)", sources, flags=re.MULTILINE | re.IGNORECASE))
    used = {name.lower() for module, names in packages_distributions().items() if module in imported for name in names}
    installed = {name.lower() for names in packages_distributions().values() for name in names}

    assert {"aiodns", "tzdata"} == (core & installed) - used


def test_lock_has_a_hash_for_every_package():
    """Only the locked bytes are installed."""
    without = [name for name, entry in read_lock().items() if "--hash=sha256:" not in entry]

    assert len(read_lock()) > 50
    assert [] == without


def test_lock_names_no_address():
    """The lock works with every index, such as a mirror or a company's own."""
    text = (REPOSITORY / "requirements.lock").read_text()

    assert not re.search(
        r"://|^\s*(-i|-f|--(extra-)?index-url|--find-links|--trusted-host)\b", text, flags=re.MULTILINE
    )


def test_lock_covers_every_dependency():
    """A new dependency must be added to the lock."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    wanted = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["postgres"],
        *(item for group in project["dependency-groups"].values() for item in group if isinstance(item, str)),
    ]
    names = {re.split(r"[\[<>=;~! ]", item)[0].lower().replace(".", "-").replace("_", "-") for item in wanted}

    assert set() == names - set(read_lock())


@pytest.mark.parametrize("name", PROMISED)
def test_expected_file_exists(name):
    """Newcomers expect these files; none is empty."""
    assert (REPOSITORY / name).stat().st_size > 100


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_are_executable(name):
    """These are the commands of the README and of CI."""
    assert os.access(REPOSITORY / name, os.X_OK)


def test_no_file_refers_outside_the_repository():
    """Only the loader of test data does, and it works without them."""
    beside = "../" + "shared"

    assert set(mentions(beside)) <= {DATA_LOADER}


def test_no_file_has_a_path_of_its_author_s_machine():
    """Paths of the machine on which a file was written are useless elsewhere."""
    if str(REPOSITORY.parent) == "/":
        pytest.skip("the clone lies in the root folder, whose name says nothing")

    assert [] == mentions(f"{REPOSITORY}/")


def test_no_file_is_large():
    """A clone stays small: data sets, screenshots and models are kept elsewhere."""
    big = {str(path.relative_to(REPOSITORY)): path.stat().st_size for path in files()}

    assert {} == {name: size for name, size in big.items() if size > MOST_BYTES}


def test_every_test_has_a_docstring():
    """It says what must be true."""
    silent = []
    for path in (REPOSITORY / "tests").rglob("test_*.py"):
        silent += [
            f"{path.relative_to(REPOSITORY)}:{node.lineno} {node.name}"
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.name.startswith("test_")
            and not ast.get_docstring(node)
        ]

    assert [] == silent


def test_no_test_measures_time():
    """`bench/` measures speed, and `tests/bounded.py` bounds work."""
    watch = re.compile(r"process_[t]ime|thread_[t]ime|perf_[c]ounter")
    tests = REPOSITORY / "tests"

    assert [] == [str(path.relative_to(tests)) for path in tests.rglob("test_*.py") if watch.search(path.read_text())]


def test_decisions_are_numbered_and_complete():
    """Each decision record has context, choice and cost, and a number of its own."""
    records = sorted((REPOSITORY / "docs" / "decisions").glob("[0-9]*.md"))
    incomplete = [
        record.name
        for record in records
        if not all(f"## {part}\n" in record.read_text() for part in ("Context", "Choice", "Cost"))
    ]

    assert len(records) == len({record.name[:4] for record in records})
    assert [] == incomplete


def test_benches_import_names_that_exist():
    """No test runs most programs of `bench/`: what they import from here must be defined."""
    missing = [
        f"{path.name}: {node.module}.{alias.name}"
        for path in sorted((REPOSITORY / "bench").glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in {"tidings", "tests", "bench"}
        for alias in node.names
        if not is_defined(node.module or "", alias.name)
    ]

    assert [] == missing


def is_defined(module: str, name: str) -> bool:
    """Return whether a module binds this name anywhere, or has a submodule of this name."""
    place = REPOSITORY.joinpath("src" if module.startswith("tidings") else "", *module.split("."))
    if place.joinpath(f"{name}.py").exists() or place.joinpath(name).is_dir():
        return True
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return path.exists() and name in list_bound_names(path)


@functools.cache
def list_bound_names(path: Path) -> frozenset[str]:
    """Return the names that a module defines, assigns or imports."""
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    return frozenset(
        [node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
        + [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        + [node.asname or node.name for node in nodes if isinstance(node, ast.alias)]
    )
