"""The import contracts cover every package, hold, and report violations."""

import configparser
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "src" / "tidings"

PURE = {
    "model",
    "document",
    "language",
    "events",
    "scheduling",
    "estimation",
    "detection",
    "search",
    "presentation",
}
EXPECTED_SOURCES: dict[
    str, Callable[[set[str]], set[str]]
] = {  # contract -> which of the packages that exist it must cover
    "pure": lambda packages: packages & PURE,
    "yaml": lambda packages: packages & PURE - {"language"},
    "door": lambda packages: packages - {"fetching", "web", "demo"},
    "assembly": lambda packages: packages & {"service", "web"},
}

# The file that breaks a contract, what stands in it, and what lint-imports must say. Together they break all.
BREACHES = {
    "a package imports a layer above": (
        {"storage/planted_upward.py": "import tidings.service"},
        "tidings.storage.planted_upward -> tidings.service",
    ),
    "a package imports one of its own layer": (
        {"detection/planted_sibling.py": "import tidings.scheduling"},
        "tidings.detection.planted_sibling -> tidings.scheduling",
    ),
    "a folder of service imports a layer above": (
        {"service/show/planted_upward.py": "import tidings.service.run"},
        "tidings.service.show.planted_upward -> tidings.service.run",
    ),
    "a folder of detection imports a layer above": (
        {"detection/compare/planted_upward.py": "import tidings.detection.job"},
        "tidings.detection.compare.planted_upward -> tidings.detection.job",
    ),
    "a folder of storage imports a layer above": (
        {"storage/db/planted_upward.py": "import tidings.storage.write"},
        "tidings.storage.db.planted_upward -> tidings.storage.write",
    ),
    "a folder of document imports a layer above": (
        {"document/text/planted_upward.py": "import tidings.document.html"},
        "tidings.document.text.planted_upward -> tidings.document.html",
    ),
    "a folder of fetching imports a layer above": (
        {"fetching/http/planted_upward.py": "import tidings.fetching.browser"},
        "tidings.fetching.http.planted_upward -> tidings.fetching.browser",
    ),
    "a folder of cli imports a layer above": (
        {"cli/show/planted_upward.py": "import tidings.cli.run"},
        "tidings.cli.show.planted_upward -> tidings.cli.run",
    ),
    "a folder of presentation imports a layer above": (
        {"presentation/views/planted_upward.py": "import tidings.presentation.safe"},
        "tidings.presentation.views.planted_upward -> tidings.presentation.safe",
    ),
    "a folder of model imports a layer above": (
        {"model/watch/planted_upward.py": "import tidings.model.observed"},
        "tidings.model.watch.planted_upward -> tidings.model.observed",
    ),
    "a folder of web imports a layer above": (
        {"web/markup/planted_upward.py": "import tidings.web.screens"},
        "tidings.web.markup.planted_upward -> tidings.web.screens",
    ),
    "a package in no layer": (
        {"utils/__init__.py": ""},
        "not listed as layers:\n\n- tidings.utils",
    ),
    "two modules import each other": (
        {
            "model/planted_left.py": "import tidings.model.planted_right",
            "model/planted_right.py": "import tidings.model.planted_left",
        },
        "No cycles are allowed in tidings.model.",
    ),
    "a pure package reads the clock": (
        {"scheduling/planted_time.py": "import time"},
        "tidings.scheduling.planted_time -> time",
    ),
    "a pure package hides an event loop in a function": (
        {"detection/planted_loop.py": "def hidden():\n    import asyncio"},
        "tidings.detection.planted_loop -> asyncio",
    ),
    "a pure package reads settings through the model": (
        {
            "model/planted_settings.py": "import tidings.settings",
            "language/planted.py": "import tidings.model.planted_settings",
        },
        "tidings.language is not allowed to import tidings.settings",
    ),
    "a pure package other than language reads YAML": (
        {"document/planted_yaml.py": "import yaml"},
        "tidings.document.planted_yaml -> yaml",
    ),
    "a package imports the laboratory": (
        {"lab/__init__.py": "", "cli/planted_lab.py": "import tidings.lab"},
        "tidings.cli.planted_lab -> tidings.lab",
    ),
    "a connection opened outside fetching": (
        {"notification/planted_door.py": "import aiohttp"},
        "tidings.notification.planted_door -> aiohttp",
    ),
    "a module of service names a concrete store": (
        {"service/planted_store.py": "import tidings.storage.db.sqlite"},
        "tidings.service.planted_store -> tidings.storage.db.sqlite",
    ),
}


def list_packages() -> set[str]:
    """Return the packages in src/tidings."""
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    return folders | {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")}


def lint_imports(source: Path, where: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the package in `source`, with the contracts in `where`."""
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"],
        cwd=where,
        env=os.environ | {"PYTHONPATH": str(source), "NO_COLOR": "1", "COLUMNS": "400"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("contract", EXPECTED_SOURCES)
def test_contract_covers_every_package(contract):
    """Contracts that list packages one by one omit none."""
    config = configparser.ConfigParser()
    config.read(REPOSITORY / ".importlinter")
    listed = set(config[f"importlinter:contract:{contract}"]["source_modules"].split())

    assert {f"tidings.{package}" for package in EXPECTED_SOURCES[contract](list_packages())} == listed


def test_contracts_hold():
    """The source keeps all contracts."""
    run = lint_imports(PACKAGE.parent, REPOSITORY)

    assert 0 == run.returncode, run.stdout + run.stderr
    assert "0 broken." in run.stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Violate every contract in a copy of the source and return the report of import-linter."""
    copy = tmp_path_factory.mktemp("house")
    shutil.copytree(PACKAGE, copy / "tidings", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / ".importlinter", copy)
    for files, _ in BREACHES.values():
        for name, text in files.items():
            path = copy / "tidings" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text + "\n")
    run = lint_imports(copy, copy)
    assert 1 == run.returncode, run.stdout + run.stderr
    return run.stdout


@pytest.mark.parametrize("breach", BREACHES)
def test_violation_is_reported(breach, report):
    """The report names the module that violates a layer."""
    _, expected = BREACHES[breach]

    assert expected in report


def test_every_contract_can_be_violated(report):
    """No contract is empty: the planted violations break each one."""
    assert "Contracts: 0 kept, " in report
