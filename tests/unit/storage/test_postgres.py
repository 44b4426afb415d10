from __future__ import annotations

from tidings.storage.postgres import by_name, by_place


def test_texts_are_rewritten_for_psycopg():
    """Names become psycopg's marks, and every % is doubled, in quotes too."""
    text = "SELECT a % :b, 'd%' FROM t WHERE c = :c"

    assert b"SELECT a %% %(b)s, 'd%%' FROM t WHERE c = %(c)s" == by_name(text)
    assert b"SELECT a %% %s, 'd%%' FROM t WHERE c = %s" == by_place(text)
