"""Tests follow one style, and the tests that `script/test --quick` leaves out exist."""

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]


def is_literal(node: ast.expr) -> bool:
    """Return whether an expression is a literal."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp():
            return is_literal(node.operand)
        case ast.List() | ast.Tuple() | ast.Set():
            return all(map(is_literal, node.elts))
        case ast.Dict():
            return all(key is not None and is_literal(key) for key in node.keys) and all(map(is_literal, node.values))
    return False


def equalities(tree: ast.Module) -> list[ast.Compare]:
    """Return the equalities that a module asserts, alone or joined by `and`."""
    asserted = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    parts = [part for test in asserted for part in (test.values if isinstance(test, ast.BoolOp) else [test])]
    return [part for part in parts if isinstance(part, ast.Compare) and [ast.Eq] == [type(op) for op in part.ops]]


def test_expected_value_comes_first():
    """Write `assert expected == actual`: a literal never stands on the right."""
    found = [
        f"{path.relative_to(TESTS)}:{part.lineno}"
        for path in sorted(TESTS.rglob("*.py"))
        for part in equalities(ast.parse(path.read_text("utf-8")))
        if is_literal(part.comparators[0]) and not is_literal(part.left)
    ]

    assert [] == found


def test_every_test_in_slow_txt_exists():
    """Remove the line of a test that is renamed or deleted."""
    names = [line for line in (TESTS / "slow.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
    functions = {
        node.name
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }

    assert names == sorted(set(names))
    assert [] == [name for name in names if name not in functions]
