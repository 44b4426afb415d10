from __future__ import annotations

import pytest

from tidings.storage.db.connection import rewrite, select


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT :a, :b_2", "SELECT ?, ?"),
        ("SELECT ':a', \":b\", x::text, :c", "SELECT ':a', \":b\", x::text, ?"),
        ("SELECT 'it''s :a' WHERE b LIKE 'x%' AND c = :c", "SELECT 'it''s :a' WHERE b LIKE 'x%' AND c = ?"),
    ],
)
def test_named_parameters_become_placeholders(text: str, expected: str):
    """Colons within quotes and casts stay."""
    assert expected == rewrite(text, "?")


def test_select_joins_its_conditions():
    """Conditions are joined by AND; without any there is no WHERE."""
    assert "SELECT 1 FROM t WHERE a = :a AND b = :b ORDER BY a" == select(
        "SELECT 1 FROM t", ["a = :a", "b = :b"], "ORDER BY a"
    )
    assert "SELECT 1 FROM t ORDER BY a" == select("SELECT 1 FROM t", [], "ORDER BY a")
