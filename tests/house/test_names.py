"""Functions have verbs as names, and each class name is unique."""

from pathlib import Path

from bench.house import Tree, is_participle

TREE = Tree(Path(__file__).parents[2])

VERBS = frozenset({"_bound_length", "_bound_memory"})
"""Names that begin with a verb that looks like a participle. Nothing else is added here."""

SEVERAL: frozenset[str] = frozenset()
"""Class names with several meanings, and why. The list only ever becomes shorter: it is empty."""


def test_function_names_are_verbs():
    """A function is named for what it does (`sort_rows`), not what it returns (`sorted_rows`)."""
    found = [f"{module}: {node.name}" for module, node in TREE.functions() if is_participle(node.name)]

    assert [] == [one for one in found if one.rpartition(" ")[2] not in VERBS]


def test_class_names_are_unique():
    """Search for a name before you use it."""
    several = {name: modules for name, modules in TREE.classes.items() if len(modules) > 1}

    assert {} == {name: modules for name, modules in several.items() if name not in SEVERAL}
    assert [] == [name for name in sorted(SEVERAL) if name not in several]
