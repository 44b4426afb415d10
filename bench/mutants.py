"""Mutation testing: faults in the modules on which promises hang are to be found by the tests
nearest to them.

Each mutant is one module with one small fault: a comparison turned, a condition negated, a number
moved by one, a call or a store left out. Its nearest tests run on it in a process of its own; it is
killed if one of them fails or none ends.

    PYTHONPATH=. python bench/mutants.py                         all mutants of all modules, those that survive named: an hour or more
    PYTHONPATH=. python bench/mutants.py charge retry:20-45      of these modules, or of some numbers of one
    PYTHONPATH=. python bench/mutants.py service.watch.shards    of any module, with its mirrored test
    PYTHONPATH=. python bench/mutants.py --each 30 --seed 7      thirty of each module, drawn at random
    PYTHONPATH=. python bench/mutants.py --each 4 --seconds 40   four of each module, spread over it; none is begun after so many seconds (CI)

Ends with status 1 if more than one in ten of those that were chosen survive.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import importlib.abc
import importlib.machinery
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

SOURCE = Path(__file__).parents[1] / "src"
NEAREST = {
    "storage.write.commit": ("tests/unit/storage/write/test_commit.py", "tests/contract/test_store.py"),
    "storage.write.charge": ("tests/unit/storage/write/test_charge.py", "tests/contract/test_store.py"),
    "storage.secrets": ("tests/unit/storage/test_secrets.py", "tests/unit/cli/change/test_secret.py"),
    "service.notify.deliver": ("tests/unit/service/notify/test_deliver.py",),
    "service.poll.grants": ("tests/unit/service/poll/test_grants.py",),
    "service.poll.polling": ("tests/unit/service/poll/test_polling.py",),
    "service.plan.planner": ("tests/unit/service/plan/test_choose.py", "tests/unit/service/plan/test_planner.py"),
    "service.watch.cursors": ("tests/unit/service/watch/test_cursors.py",),
    "detection.job.gates": ("tests/unit/detection/job",),
    "detection.ask.conditions": ("tests/unit/detection/ask",),
    "scheduling.allocator": ("tests/unit/scheduling/test_allocator.py",),
    "notification.retry": ("tests/unit/notification/test_retry.py", "tests/unit/notification/test_webhook.py"),
    "fetching.network_guard": ("tests/unit/fetching/test_network_guard.py",),
}
"""The modules that are played unless others are named, and the tests nearest to each."""
WANTED = 0.9
SHORTEST_SECONDS = 90.0
"""How long the nearest tests may take at least, whatever they take as a rule; a mutant that makes
them take longer is killed.
"""
TURNED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip
"""Operators, and what each becomes."""


@dataclass(frozen=True)
class Mutant:
    """A module with one fault in it; `number` is its place among all of the module."""

    module: str
    number: int
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line} [{self.number}] {self.what}"


class Fault(ast.NodeTransformer):
    """Makes the fault of one number in what functions do; `count` is then how many there are.
    Texts, annotations and logs stay as they are.
    """

    def __init__(self, number: int = -1) -> None:
        self.number = number
        self.count = 0
        self.line = 0
        self.what = ""

    def _is_it(self, node: Any, what: str) -> bool:
        self.count += 1
        if self.count - 1 != self.number:
            return False
        self.line, self.what = node.lineno, what
        return True

    def visit_Module(self, node: ast.Module) -> ast.Module:
        for part in node.body:
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.visit(part)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        for part in node.body:
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                self.visit(part)
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        node.body = [self.visit(part) for part in node.body]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        for at, operator in enumerate(node.ops):
            if self._is_it(node, ast.unparse(node) + ", turned"):
                node.ops[at] = TURNED[type(operator)]()  # type: ignore[assignment]
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        if self._is_it(node, ast.unparse(node) + ", and and or changed"):
            node.op = TURNED[type(node.op)]()  # type: ignore[assignment]
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        is_text = isinstance(node.left, ast.Constant | ast.JoinedStr) and not isinstance(node.left, ast.Constant)
        if type(node.op) in TURNED and not is_text and self._is_it(node, ast.unparse(node) + ", another operator"):
            node.op = TURNED[type(node.op)]()  # type: ignore[assignment]
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool) and self._is_it(node, f"{node.value} → {not node.value}"):
            return ast.copy_location(ast.Constant(not node.value), node)
        if type(node.value) in {int, float} and self._is_it(node, f"{node.value} → {node.value + 1}"):  # type: ignore[operator]
            return ast.copy_location(ast.Constant(node.value + 1), node)  # type: ignore[operator]
        return node

    def visit_If(self, node: Any) -> ast.AST:
        if self._is_it(node, f"if {ast.unparse(node.test)}, negated"):
            node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        return self.generic_visit(node)

    visit_IfExp = visit_If

    def visit_Return(self, node: ast.Return) -> ast.AST:
        is_none = node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
        if not is_none and self._is_it(node, f"{ast.unparse(node)}, None returned"):
            node.value = None
            return node
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Constant) or ast.unparse(node).startswith(("log.", "await log.")):
            return node
        if not isinstance(node.value, ast.Yield | ast.YieldFrom) and self._is_it(
            node, f"{ast.unparse(node)}, left out"
        ):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if isinstance(node.targets[0], ast.Attribute | ast.Subscript) and self._is_it(
            node, f"{ast.unparse(node)}, left out"
        ):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """Leave texts of errors alone."""
        return ast.copy_location(ast.Pass(), node) if self._is_it(node, f"{ast.unparse(node)}, left out") else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        """Leave `strict` of `zip` alone: it is an assertion."""
        return node if node.arg == "strict" else self.generic_visit(node)


def list_nearest(module: str) -> tuple[str, ...]:
    """Return the tests nearest to a module: those of `NEAREST`, else its mirrored one."""
    folder, _, name = module.rpartition(".")
    return NEAREST.get(module, (f"tests/unit/{folder.replace('.', '/')}/test_{name}.py",))


@functools.cache
def text_of(module: str) -> str:
    """Return the text of a module of tidings, by its name below `tidings`; all its mutants are of
    this one, whatever is edited meanwhile.
    """
    return (SOURCE / "tidings" / f"{module.replace('.', '/')}.py").read_text("utf-8")


def tree_of(module: str) -> ast.Module:
    """Return a module of tidings as a tree that may be changed."""
    return ast.parse(text_of(module))


def find_mutants(module: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of its lines."""
    counting = Fault()
    counting.visit(tree_of(module))
    found = []
    for number in range(counting.count):
        fault = Fault(number)
        fault.visit(tree_of(module))
        found.append(Mutant(module, number, fault.line, " ".join(fault.what.split())[:110]))
    return found


def choose(mutants: Sequence[Mutant], most: int, seed: int | None) -> list[Mutant]:
    """Return so many mutants, spread over all, or drawn with a seed; 0: all."""
    if not most or len(mutants) <= most:
        return list(mutants)
    if seed is not None:
        return sorted(random.Random(seed).sample(mutants, most), key=lambda mutant: mutant.number)
    return [mutants[(2 * n + 1) * len(mutants) // (2 * most)] for n in range(most)]


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module with its fault."""

    mutant: Mutant

    def get_code(self, fullname: str) -> CodeType:
        tree = tree_of(self.mutant.module)
        Fault(self.mutant.number).visit(tree)
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    """Finds the module that has a fault, before the others find it as it is."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> Any:
        if fullname != f"tidings.{self._mutant.module}":
            return None
        found = importlib.machinery.PathFinder.find_spec(fullname, path)
        assert found is not None
        assert found.origin is not None
        loader = Loader(fullname, found.origin)
        loader.mutant = self._mutant
        found.loader = loader
        return found


def begin(mutant: Mutant | None, module: str) -> int:
    """Begin the nearest tests of a module in a process of their own, on a mutant of it or on
    itself; return the process.
    """
    if process := os.fork():
        return process
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    for name in [name for name in sys.modules if name.partition(".")[0] in {"tidings", "tests"}]:
        del sys.modules[name]
    if mutant is not None:
        sys.meta_path.insert(0, Finder(mutant))
    given = ["-x", "-n0", "-p", "no:cacheprovider", "-k", "not postgresql", "-W", "ignore"]
    for path in list_nearest(module):  # one after the other: most mutants are killed by the first
        if code := int(pytest.main([*given, path])):
            os._exit(code)
    os._exit(0)


def end(process: int) -> None:
    """End the process of a mutant that goes on for too long, and all that it began."""
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)


def time_tests(module: str) -> float:
    """Return how many seconds the nearest tests of a module take; raises `RuntimeError` if they
    fail without any mutant.
    """
    begun = time.monotonic()
    _, status = os.waitpid(begin(None, module), 0)
    if status:
        raise RuntimeError(f"the tests of {module} fail as it is: {list_nearest(module)}")
    return time.monotonic() - begun


def play(mutants: Sequence[Mutant], longest: dict[str, float], *, workers: int, until: float) -> dict[Mutant, bool]:
    """Return of each mutant whether it was killed; none is begun after `until`."""
    killed: dict[Mutant, bool] = {}
    waiting = list(reversed(mutants))
    running: dict[int, tuple[Mutant, float]] = {}
    while waiting or running:
        while waiting and len(running) < workers and time.monotonic() < until:
            mutant = waiting.pop()
            running[begin(mutant, mutant.module)] = mutant, time.monotonic() + longest[mutant.module]
        if not running:
            break
        for process, (mutant, late) in list(running.items()):
            done, status = os.waitpid(process, os.WNOHANG)
            if done:
                killed[mutant] = os.waitstatus_to_exitcode(status) != 0
            elif time.monotonic() > late:
                end(process)
                killed[mutant] = True
            else:
                continue
            del running[process]
            if not killed[mutant]:
                print("survives:", mutant, flush=True)
        time.sleep(0.02)
    return killed


def main() -> int:
    """Play mutants and say what share of each module's was killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "modules", nargs="*", help="names of modules, with or without numbers of mutants; all of the list unless given"
    )
    parser.add_argument("--each", type=int, default=0, help="mutants of each module, 0 for all")
    parser.add_argument("--seed", type=int, help="draw them at random; without it they are spread over the module")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin none after so many")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="name them and play none")
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    os.environ |= {"CI": "true", "TESTS_EXAMPLES": "10"}  # the same examples each time
    for name in ("tests.stores", "tests.planner"):  # they bring the libraries, which no mutant loads again
        importlib.import_module(name)
    wanted = dict(module.partition(":")[::2] for module in given.modules)
    names = [n for n in NEAREST if not wanted or n.rpartition(".")[2] in wanted]
    names += [n for n in wanted if "." in n]
    chosen = {}
    for name in names:
        numbers = wanted.get(name) or wanted.get(name.rpartition(".")[2], "")
        first, _, last = numbers.partition("-")
        numbered = find_mutants(name)[int(first or 0) : int(last or first) + 1 if first else None]
        chosen[name] = choose(numbered, given.each, given.seed)
    if given.list:
        print(*(mutant for each in chosen.values() for mutant in each), sep="\n")
        return 0
    longest = {name: SHORTEST_SECONDS if given.each else SHORTEST_SECONDS + 3 * time_tests(name) for name in names}
    turns = [
        each[turn] for turn in range(max(map(len, chosen.values()))) for each in chosen.values() if turn < len(each)
    ]
    killed = play(turns, longest, workers=given.workers, until=until)
    played, dead = Counter(m.module for m in killed), Counter(m.module for m, is_dead in killed.items() if is_dead)
    for name in names:
        print(f"{name:28} {dead[name]:4} of {played[name]:4} killed")
    survivors = len(killed) - sum(dead.values())
    share = 1 - survivors / max(1, len(killed))
    print(f"{sum(dead.values())} of {len(killed)} mutants killed ({share:.0%}), {len(turns) - len(killed)} not played")
    return int(survivors > (1 - WANTED) * len(turns))


if __name__ == "__main__":
    sys.exit(main())
