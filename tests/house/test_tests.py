"""Tests follow one style, and the tests that `script/test --quick` leaves out exist."""

import ast
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]


@cache
def read_tree(path: Path) -> ast.Module:
    """Return the tree of a module, read once for all tests."""
    return ast.parse(path.read_text("utf-8"))


EXPECTED = frozenset({"expected", "wanted"})
"""Names of what a test expects."""
FAILS_BY_ERROR = frozenset(
    {
        "acceptance/test_home_assistant.py::test_killed_service_is_offline",
        "acceptance/test_hostile_people.py::test_row",
        "unit/detection/job/test_practised.py::test_practice_has_no_fault",
        "unit/fetching/test_address.py::test_rebuild_raises_only_address_errors",
        "unit/notification/test_addresses.py::test_webhook_and_console_addresses_are_not_checked_here",
        "unit/notification/test_apprise_check.py::test_address_that_its_service_can_parse_is_accepted",
        "unit/service/sentinels/test_receivers.py::test_reachable_receiver_is_accepted",
        "unit/web/test_server.py::test_unopened_server_releases_its_port",
    }
)
"""Tests without an assertion: what they call raises if their truth is none."""


def is_known(node: ast.expr) -> bool:
    """Return whether an expression is known before the test runs: literals, constants, and what is
    named as expected.
    """
    match node:
        case ast.Constant():
            return True
        case ast.Name():
            return node.id in EXPECTED or node.id.isupper()
        case ast.Attribute():
            return node.attr.isupper()
        case ast.UnaryOp():
            return is_known(node.operand)
        case ast.BinOp():
            return is_known(node.left) and is_known(node.right)
        case ast.List() | ast.Tuple() | ast.Set():
            return all(map(is_known, node.elts))
        case ast.Dict():
            return all(key is not None and is_known(key) for key in node.keys) and all(map(is_known, node.values))
    return False


def equalities(tree: ast.Module) -> list[ast.Compare]:
    """Return the equalities that a module asserts, alone or joined by `and`."""
    asserted = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    parts = [part for test in asserted for part in (test.values if isinstance(test, ast.BoolOp) else [test])]
    return [part for part in parts if isinstance(part, ast.Compare) and [ast.Eq] == [type(op) for op in part.ops]]


def test_expected_value_comes_first():
    """Write `assert expected == actual`: what is known beforehand never stands on the right."""
    found = [
        f"{path.relative_to(TESTS)}:{part.lineno}"
        for path in sorted(TESTS.rglob("*.py"))
        for part in equalities(read_tree(path))
        if is_known(part.comparators[0]) and not is_known(part.left)
    ]

    assert [] == found


def can_fail(test: ast.AST, helpers: dict[str, ast.AST], seen: tuple[str, ...] = ()) -> bool:
    """Return whether a test asserts, expects an error or bounds its time, itself or in a helper of
    its module.
    """
    nodes = list(ast.walk(test))
    called = {
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for node in nodes
        if isinstance(node, ast.Call)
    }
    return (
        any(isinstance(node, ast.Assert | ast.Raise) for node in nodes)
        or bool(called & {"raises", "fail", "bound_time"})
        or any(can_fail(helpers[name], helpers, (*seen, name)) for name in called & helpers.keys() - {*seen})
    )


def test_every_test_can_fail():
    """Assert what is true, so that a reader sees it."""
    found = set()
    for path in sorted(TESTS.rglob("test_*.py")):
        tree = read_tree(path)
        functions = {
            node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        found |= {
            f"{path.relative_to(TESTS)}::{name}"
            for name, node in functions.items()
            if name.startswith("test_") and not can_fail(node, {k: v for k, v in functions.items() if k != name})
        }

    assert FAILS_BY_ERROR == found


def test_every_test_in_slow_txt_exists():
    """Remove the line of a test that is renamed or deleted."""
    names = [line for line in (TESTS / "slow.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
    functions = {
        node.name
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(read_tree(path))
        if isinstance(node, ast.FunctionDef)
    }

    assert names == sorted(set(names))
    assert [] == [name for name in names if name not in functions]
