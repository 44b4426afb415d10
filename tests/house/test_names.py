"""Functions are verbs, and a class name has one meaning."""

import ast
from collections import defaultdict
from pathlib import Path

from bench.house import Tree, is_participle

TREE = Tree(Path(__file__).parents[2])

VERBS = frozenset({"_bound_length", "_bound_memory"})
"""Names that begin with a verb that looks like a participle. Nothing else is added here."""

YET = frozenset(
    """
    _asked _broken _changed _checked_login _counted _disabled _drawn _escaped _expanded
    _extracted _fetched _forbidden _found _ignored _kept_lines _paused _pictured _played
    _processed _proxied _queried _replaced _restocked _selected _sorted _spelled _spelled_step
    _stamped _taken _told _translated _triggered _written bounded kept learned masked merged
    named opened said shortened shown
    """.split()
)
"""Names that are participles yet. The list only ever becomes shorter."""

PUBLISHED = "tidings.web.resources.shapes"
"""Its classes carry the names that the API publishes: a `Sentinel` is one as the API gives it."""

SEVERAL = frozenset("Clause Copies Draft Found Member PagePart Piece Reader Readings Wanted _Names".split())
"""Class names with several meanings yet. The list only ever becomes shorter."""


def list_classes() -> dict[str, list[str]]:
    """Return the modules that define a class of a name."""
    found = defaultdict(list)
    for module, tree in TREE.modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and module != PUBLISHED:
                found[node.name].append(module)
    return found


def test_functions_are_verbs():
    """A function is called by what it does (`sort_rows`), not by what it gives (`sorted_rows`)."""
    found = [f"{module}: {node.name}" for module, node in TREE.functions() if is_participle(node.name)]

    assert [] == [one for one in found if one.rpartition(" ")[2] not in VERBS | YET]


def test_a_class_name_has_one_meaning():
    """Who reads a name knows which class it is; look for the name before you give it."""
    several = {name: modules for name, modules in list_classes().items() if len(modules) > 1}

    assert {} == {name: modules for name, modules in several.items() if name not in SEVERAL}
    assert [] == [name for name in sorted(SEVERAL) if name not in several]
