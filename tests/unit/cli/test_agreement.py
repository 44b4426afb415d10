"""All commands that read a text report the same problems (W-30)."""

from pathlib import Path

import pytest

from tidings.language.parser import parse

HEAD = "Create Sentinel s Using https://x.example/ Monitor"
TEXTS = [
    "Creat Sentinel s Using https://x.example/ Monitor links",
    f"{HEAD} all imges",
    f"{HEAD} links\nFetch 2\nNotify By console\nCompare pairwse",
    f"{HEAD} NOT images; {HEAD} keywords <a,,b>",
    f"{HEAD} (links OR images\nFetch 2 day",
    "Drop nobody",
]


@pytest.mark.parametrize("text", TEXTS)
def test_problems_are_equal_in_all_commands(tidings, tmp_path: Path, text: str):
    """`test`, `add` and `apply` report what the parser reports: places, codes, expectations and
    hints. Nothing is registered.
    """
    path = tmp_path / "texts" / "s.sentinel"
    path.parent.mkdir()
    path.write_text(text)
    alone = [
        (p.line, p.column, p.code, p.message, p.expected, p.hint)
        for p in parse(text, known=lambda _: None, names=()).problems
    ]

    reported = [
        tidings(*words, "--json") for words in (("test", str(path)), ("add", str(path)), ("apply", str(path.parent)))
    ]

    assert alone
    for ran in reported:
        assert 2 == ran.code
        assert alone == [
            (r["line"], r["column"], r["code"], r["message"], r["expected"], r["hint"]) for r in _problems(ran)
        ]
    assert [] == tidings("list", "--json").records


def _problems(ran) -> list[dict]:
    return [record for record in ran.records if record["record"] == "problem"]
