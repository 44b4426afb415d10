"""One word for one thing: words that the glossary refuses become fewer and do not come back."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
GLOSSARY = REPOSITORY / "docs" / "glossary.md"
ROW = re.compile(r"^\| ([^|]+) \| [^|]+ \|([^|]*)\|$", re.MULTILINE)
COMMON = {"watch", "job", "site", "resource", "snapshot", "capture", "standing"}
"""Refused words that also mean something else; people mind these."""
FORMS = {
    "look": r"looks?(?! like)|looked at|looking at",
    "tell": r"tells?|told",
    "purse": r"purses?",
    "errand": r"errands?",
}
DOCUMENTS = (
    *("README.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs/index.md", "docs/begin"),
    *("docs/howto", "docs/reference", "docs/why", "docs/design"),
)

MOST = {
    ("docs/design", "look"): 5,
    ("docs/design", "tell"): 1,
    ("src/__init__.py", "tell"): 1,
    ("src/clock.py", "tell"): 1,
    ("src/estimation", "tell"): 1,
    ("src/lab", "hindsight"): 1,
    ("src/lab", "look"): 2,
    ("src/language", "look"): 1,
    ("src/language", "tell"): 1,
    ("src/model", "look"): 2,
    ("src/model", "tell"): 2,
    ("src/service", "look"): 2,
    ("src/service", "tell"): 2,
    ("src/storage", "tell"): 3,
    ("src/web", "tell"): 1,
}
"""How often each refused word still stands in the texts of a place, at most. A number only ever falls; at 0 its line goes."""


def list_refused() -> list[str]:
    """Return the refused words that can be found by a regular expression."""
    words = [word.strip() for _, row in ROW.findall(GLOSSARY.read_text(encoding="utf-8")) for word in row.split(",")]
    return sorted(set(words) - COMMON - {"", "not", "---"})


def list_texts(path: Path) -> str:
    """Return the texts of a file: docstrings and strings of Python; all but the code of other
    files.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        code = r"^```.*?^```|^    .*?$|`[^`\n]*`|\]\([^)]*\)"
        return re.sub(code, "", text, flags=re.MULTILINE | re.DOTALL)
    nodes = ast.walk(ast.parse(text))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return re.sub(r"`[^`\n]*`", "", "\n".join(text for text in texts if " " in text))


def count_words() -> Counter[tuple[str, str]]:
    """Return how often each refused word occurs in each package and in the documents."""
    places = {name: [REPOSITORY / name] for name in DOCUMENTS}
    places |= {f"src/{room.name}": [room] for room in (REPOSITORY / "src" / "tidings").iterdir()}
    found: Counter[tuple[str, str]] = Counter()
    for place, roots in places.items():
        paths = [path for root in roots for path in ([root] if root.is_file() else sorted(root.rglob("*")))]
        text = "\n".join(list_texts(path) for path in paths if path.suffix in (".py", ".md"))
        for word in list_refused():
            found[place, word] = len(re.findall(rf"\b(?:{FORMS.get(word, word)})\b", text, re.IGNORECASE))
    return +found


def test_glossary_has_30_to_40_unique_words():
    """Each row has a meaning."""
    words = [word for word, _ in ROW.findall(GLOSSARY.read_text(encoding="utf-8"))[1:]]

    assert 30 <= len(words) <= 40
    assert len(set(words)) == len(words)


def test_refused_words_become_fewer():
    """Use the word of the glossary instead.

    When there are fewer than `MOST` says, lower its number.
    """
    more = {key: (count, MOST.get(key, 0)) for key, count in count_words().items() if count > MOST.get(key, 0)}

    assert {} == more


@pytest.mark.parametrize(
    ("text", "expected"), [("a look at it", 1), ("it looks like a wall", 0), ("what was told", 1), ("`look`", 0)]
)
def test_only_whole_words_outside_code_count(tmp_path, text, expected):
    """Similar words do not count."""
    (tmp_path / "a.md").write_text(text)
    found = re.findall(rf"\b(?:{FORMS['look']}|{FORMS['tell']})\b", list_texts(tmp_path / "a.md"))

    assert expected == len(found)
