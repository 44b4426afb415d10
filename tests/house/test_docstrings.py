"""A function of four or more parameters documents each of them."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOMS = Path(__file__).parents[2] / "src" / "tidings"
MANY = 4
PLAIN = {"self", "cls", "c", "connection"}
"""What needs no word: the receiver, and the connection inside a transaction."""

CONTRACTS = {"bid", "next_due", "gaps", "observe"}
"""Methods whose parameters the contract of policies and learners documents; the classes that fulfil it need not repeat them."""

SILENT = {
    "demo": 1,
    "detection/ask": 2,
    "detection/compare": 3,
    "detection/data": 1,
    "detection/find": 2,
    "detection/job": 6,
    "detection/noise": 6,
    "lab": 6,
    "lab/gardener": 6,
    "language/yaml": 1,
    "settings.py": 1,
}
"""How many functions of a package do not say so yet, at most. A number only ever falls; at 0 its line goes."""


def functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the public functions and methods."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from functions(node.body)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
            yield node


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the names of the parameters that must be documented."""
    given = node.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs) if each.arg not in PLAIN]


def says(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether the docstring has a section `Args:`, or names every parameter in its sentences."""
    text = ast.get_docstring(node) or ""
    words = set(text.replace("`", " ").replace(",", " ").split())
    return all(f"\n    {name}: " in text if "\nArgs:\n" in text else name in words for name in parameters(node))


def test_functions_with_many_parameters_document_them():
    """Use `Args:` or sentences: meaning, unit, and what None means."""
    silent: Counter[str] = Counter()
    where: dict[str, list[str]] = {}
    for path in sorted(ROOMS.rglob("*.py")):
        package = "/".join(path.relative_to(ROOMS).parts[:-1]) or path.name
        for node in functions(ast.parse(path.read_text(encoding="utf-8")).body):
            if node.name not in CONTRACTS and len(parameters(node)) >= MANY and not says(node):
                silent[package] += 1
                where.setdefault(package, []).append(f"{path.name}:{node.lineno} {node.name}")

    assert {} == {package: where[package] for package, count in silent.items() if count > SILENT.get(package, 0)}
