"""How the code is laid out: modules, lines, names, tests, duplicates, and what an installation weighs.

    PYTHONPATH=. .venv/bin/python bench/house.py [TREE ...] [--unused] [--installed SITE_PACKAGES]

A TREE is a checkout (default: this one); several make columns, so that a tree of before (`git worktree add /tmp/before COMMIT`) stands beside today's.
`--unused` names the public names that nothing but tests uses, `--installed` adds what a folder of installed packages weighs:

    python3 -m venv /tmp/bare && /tmp/bare/bin/pip install . && PYTHONPATH=. .venv/bin/python bench/house.py --installed /tmp/bare/lib/python3*/site-packages

Everything is read from the text of the modules, nothing is run. A *module* is a file of `src/tidings` but for `__init__`; a module's *users* are the modules
that import it; a name is *used* where it stands as a word in another place of `src` (its data files too: `phrases.txt` names functions), `bench` or `script`. A *participle* is the first word of a function's name that ends in -ed,
-en or is one of a list; properties and functions of tests do not count.

A docstring *names each* parameter if all their names stand in it as words. `self` and `cls` do not
count. A parameter of the type `Connection`, the caller's transaction, counts among the four, but
its name need not stand there. What a protocol names need not stand again in the methods that
fulfil it: those of the same name and parameters.

A class name *has several meanings* if several classes have it, but for those of `PUBLISHED`.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SMALL = 60
"""Lines below which a module is a small one."""
IRREGULAR = frozenset(
    "found told made kept left sent read_by seen known given taken held built drawn fed gone grown heard led lost meant met paid put_by said shown spoken spent stood"
    " struck sought taught thought understood won worn written begun bound broken brought bought caught chosen done".split()
)
NO_PARTICIPLES = frozenset(
    "need feed seed embed exceed proceed succeed heed speed open listen happen widen tighten shorten lengthen loosen"
    " even often token screen children seen_by hidden between when then".split()
)
TEXTS = re.compile(
    r"\b(?:contracts|trust|faults|detection|scheduling|language|events|storage|house|face|hooks|machines|sentinels_and_events|bid_and_defaults|import_formats)(?:\.md)?(?= §| no\. )"
    r"|\b[\w-]+\.md\b|\bDESIGN\b|\bstudy of \w+(?= §|\))|\bstudy(?= §)"
)
MANY = 4
"""Parameters from which a function should say what each of them is."""
PUBLISHED = "tidings.web.resources.shapes"
"""Its classes carry the names that the API publishes: a `Sentinel` is one as the API gives it."""
LONG = 6
"""Lines of a run that is a duplicate where it stands in another place too."""


@dataclass(frozen=True)
class Tree:
    """A checkout as its text says."""

    root: Path

    @cached_property
    def modules(self) -> dict[str, ast.Module]:
        """Return the tree of each module, by its dotted name."""
        return {name: ast.parse(text) for name, text in self.texts.items()}

    @cached_property
    def texts(self) -> dict[str, str]:
        """Return the text of each module, by its dotted name."""
        source = self.root / "src"
        return {
            ".".join(path.relative_to(source).with_suffix("").parts): path.read_text(encoding="utf-8")
            for path in sorted(source.rglob("*.py"))
            if path.name not in {"__init__.py", "__main__.py"} and "versions" not in path.parts
        }

    @cached_property
    def users(self) -> dict[str, set[str]]:
        """Return, of each module, the modules that import it."""
        found: dict[str, set[str]] = {name: set() for name in self.modules}
        for name, tree in self.modules.items():
            for used in _imports(tree):
                if used in found:
                    found[used].add(name)
        return found

    @cached_property
    def words(self) -> Counter[str]:
        """Return how often each word stands in programs, tests left out."""
        texts = [
            path.read_text(encoding="utf-8")
            for folder in ("src", "bench")
            for path in (self.root / folder).rglob("*.py")
        ]
        data = (path for kind in ("txt", "toml", "html", "lark") for path in (self.root / "src").rglob(f"*.{kind}"))
        others = (*data, *(self.root / "script").glob("*"), self.root / "pyproject.toml")
        texts += [path.read_text(encoding="utf-8") for path in others]
        return Counter(word for text in texts for word in re.findall(r"\w+", text))

    def public(self) -> Iterator[tuple[str, str]]:
        """Yield module and name of what modules define for others: functions, classes and constants."""
        for module, tree in self.modules.items():
            for node in tree.body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    names = [node.name]
                elif isinstance(node, ast.Assign | ast.AnnAssign):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    names = [target.id for target in targets if isinstance(target, ast.Name)]
                else:
                    continue
                yield from ((module, name) for name in names if not name.startswith("_"))

    def functions(self) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Yield each function that is no property, with its module."""
        for module, tree in self.modules.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not any(
                    "property" in ast.unparse(decorator) for decorator in node.decorator_list
                ):
                    yield module, node

    @cached_property
    def classes(self) -> dict[str, list[str]]:
        """Return the modules that define a class of each name, but for those that the API
        publishes.
        """
        found: dict[str, list[str]] = defaultdict(list)
        for module, tree in self.modules.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef) and module != PUBLISHED:
                    found[node.name].append(module)
        return found

    def list_unused(self) -> list[str]:
        """Return the public names that stand in programs once: where they are defined."""
        return sorted(f"{module}: {name}" for module, name in self.public() if self.words[name] == 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", type=Path, default=[Path(__file__).parents[1]])
    parser.add_argument("--unused", action="store_true")
    parser.add_argument("--installed", type=Path)
    given = parser.parse_args()
    trees = [Tree(path) for path in given.trees]
    columns = [measure(tree) for tree in trees]
    print(f"| what | {' | '.join(path.resolve().name for path in given.trees)} |\n|---|{'---:|' * len(trees)}")
    for what in columns[0]:
        print(f"| {what} | {' | '.join(column[what] for column in columns)} |")
    if given.installed:
        print(f"\ninstalled: {weight(given.installed)}")
    if given.unused:
        print("\n".join(["", *trees[-1].list_unused()]))


def measure(tree: Tree) -> dict[str, str]:
    """Return the rows of a tree's column."""
    lines = {name: text.count("\n") for name, text in tree.texts.items()}
    folders = Counter(name.rpartition(".")[0] for name in lines)
    largest = folders.most_common(5)
    public, functions = list(tree.public()), list(tree.functions())
    named = [node for _, node in functions if is_participle(node.name)]
    twice = {name: places for name, places in tree.classes.items() if len(places) > 1}
    cited = {name: len(_find_missing_texts(tree.root, text)) for name, text in tree.texts.items()}
    return {
        "modules": f"{len(lines)}",
        "lines of modules": f"{sum(lines.values()):,}",
        f"modules under {SMALL} lines": f"{sum(count < SMALL for count in lines.values())}",
        "modules with one user": f"{sum(len(users) == 1 for users in tree.users.values())}",
        f"under {SMALL} lines with one user": f"{sum(lines[name] < SMALL and len(users) == 1 for name, users in tree.users.items())}",
        "largest folders": ", ".join(
            f"{name.removeprefix('tidings.').replace('.', '/')} {count}" for name, count in largest
        ),
        "public names": f"{len(public)}",
        "public names that only tests use": f"{len(tree.list_unused())}",
        "class names with several meanings": f"{len(twice)} for {sum(map(len, twice.values()))} classes",
        "functions named by a participle": f"{len(named) / len(functions):.1%} of {len(functions)}",
        f"functions of {MANY} parameters or more whose docstring names each": _count_documented(tree),
        f"runs of {LONG} lines that stand again": f"{_duplicates(tree)}",
        "citations of texts that are not here": f"{sum(cited.values())} in {sum(map(bool, cited.values()))} modules",
        "service modules with a mirrored test": _count_mirrored(tree, "service"),
        "detection modules with a mirrored test": _count_mirrored(tree, "detection"),
        "functions of tests": f"{_tests(tree.root):,}",
        "distributions that the core requires": f"{_count_required(tree.root)}",
    }


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_participle(name: str) -> bool:
    """Return whether a name begins with a participle that is no verb as well (as cut, come are)."""
    first = name.strip("_").split("_")[0]
    return first in IRREGULAR or (first.endswith(("ed", "en")) and first not in NO_PARTICIPLES and len(first) > 3)


def _find_missing_texts(root: Path, text: str) -> list[str]:
    """Return the texts that a module cites and that no file of the checkout is named after."""
    cited = [match[0] for match in TEXTS.finditer(text)]
    return [name for name in cited if not any(root.glob(f"docs/**/{name.removesuffix('.md').replace(' ', '_')}.md"))]


def _count_documented(tree: Tree) -> str:
    fulfilled = {
        (node.name, *_list_given(node))
        for syntax in tree.modules.values()
        for protocol in ast.walk(syntax)
        if isinstance(protocol, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in protocol.bases)
        for node in protocol.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _names_each(node)
    }
    many = [node for _, node in tree.functions() if not node.name.startswith("_") and len(_list_given(node)) >= MANY]
    said = sum(_names_each(node) or (node.name, *_list_given(node)) in fulfilled for node in many)
    return f"{said} of {len(many)}"


def _list_given(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the names of the parameters of a function, without `self` and `cls`."""
    every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return [one.arg for one in every if one.arg not in {"self", "cls"}]


def _names_each(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether the docstring of a function names each of its parameters."""
    text = ast.get_docstring(node) or ""
    connections = {
        one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs) if _is_connection(one)
    }
    return all(re.search(rf"\b{re.escape(name)}\b", text) for name in {*_list_given(node)} - connections)


def _is_connection(given: ast.arg) -> bool:
    """Return whether a parameter is the connection of the caller's transaction: its type says it."""
    return given.annotation is not None and ast.unparse(given.annotation) == "Connection"


def _duplicates(tree: Tree) -> int:
    """Return how many lines stand in runs of `LONG` or more that stand in another place too.

    Imports do not count.
    """
    runs: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for module, text in tree.texts.items():
        imports = {
            number
            for node in ast.walk(tree.modules[module])
            if isinstance(node, ast.Import | ast.ImportFrom)
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        kept = [
            (number, line.strip())
            for number, line in enumerate(text.splitlines(), 1)
            if number not in imports and re.search(r"\w", line) and not line.lstrip().startswith("#")
        ]
        for first in range(len(kept) - LONG + 1):
            run = kept[first : first + LONG]
            runs[tuple(line for _, line in run)].append((module, run[0][0]))
    return len({place for places in runs.values() if len(places) > 1 for place in places})


def _count_mirrored(tree: Tree, folder: str) -> str:
    mine = [name for name in tree.modules if name.startswith(f"tidings.{folder}.")]
    tests = tree.root / "tests" / "unit"
    have = sum(
        (tests.joinpath(*name.split(".")[1:-1]) / f"test_{name.rpartition('.')[2]}.py").exists() for name in mine
    )
    return f"{have} of {len(mine)}"


def _tests(root: Path) -> int:
    return sum(
        len(re.findall(r"^\s*(?:async )?def test_", path.read_text(encoding="utf-8"), re.MULTILINE))
        for path in (root / "tests").rglob("test_*.py")
    )


def _count_required(root: Path) -> int:
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    return len(re.findall(r'^    "', block[1] if block else "", re.MULTILINE))


def weight(packages: Path) -> str:
    """Return what a folder of installed packages weighs, in blocks of the disk as `du` counts them."""
    bytes_ = sum(path.lstat().st_blocks * 512 for path in packages.rglob("*"))
    own = sum(path.lstat().st_blocks * 512 for path in (packages / "pip").rglob("*"))
    return f"{bytes_ / 2**20:.0f} MB in {len(list(packages.glob('*.dist-info')))} distributions ({own / 2**20:.0f} MB of it pip)"


if __name__ == "__main__":
    main()
