"""How easy the documents for users are to read: sentence length and Flesch–Kincaid grade.

    PYTHONPATH=. python bench/readability.py [COMMIT ...] [--background] [--longest N]
    PYTHONPATH=. python bench/readability.py [--background] --sample N --seed S

Of the working tree, and of each commit as it was. Code, tables, headings and the addresses of
links are left out. A sentence ends at a full stop, a question mark, an exclamation mark, a colon or
with its paragraph. The grade is that of Kincaid and others (1975): 0.39 words a sentence + 11.8
syllables a word - 15.59. Syllables are counted by groups of vowels.

`--sample` prints random sentences as they stand, tables too, each with its place and its paragraph,
to be judged by a reader. It prints no figures.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
USERS = (
    "README.md",
    "SECURITY.md",
    "docs/index.md",
    "docs/begin/",
    "docs/howto/",
    "docs/reference/",
    "docs/glossary.md",
)
"""Documents for users."""
BACKGROUND = ("CONTRIBUTING.md", "ARCHITECTURE.md", "docs/why/")
"""Documents for readers who want to know more."""


def sentences(text: str) -> Iterator[list[str]]:
    """Yield the sentences of a Markdown text as words."""
    text = re.sub(r"^```.*?^```|^<!--.*?-->|^---.*?^---", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "code", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text))
    text = re.sub(r"^\s*(?:\||#|:::).*$", "\n", text, flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.)\s", text, flags=re.MULTILINE):
        for sentence in re.split(r"[.!?:](?=\s|$)", block):
            words = re.findall(r"[A-Za-z][A-Za-z'’-]*", sentence)
            if len(words) > 2:
                yield words


def list_sentences(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the sentences of a document, of five words or more, each with its place and with what a
    reader sees around it: heading, introduction of a list or table, head of the table, paragraph.
    """
    text = re.sub(r"^```.*?^```|^<!--.*?-->", lambda m: "\n" * m[0].count("\n"), path.read_text(encoding="utf-8"),
                  flags=re.MULTILINE | re.DOTALL)  # fmt: skip
    paragraph, begins, heading, introduction, head = "", 0, "", "", ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if re.match(r"\s*\|[ :|-]*-[ :|-]*$", line):
            head, paragraph = paragraph, ""
            continue
        apart = re.match(r"\s*(?:$|\||#|:::|[-*] |\d+\. |    )", line)
        if apart and paragraph:
            is_part = bool(re.match(r"[-*] |\d+\. |\|", paragraph))
            context = "\n".join(filter(None, (heading, *((introduction, head) if is_part else ()), paragraph)))
            unframed = re.sub(r"^\|(.*)\|$", _read_row, paragraph) if paragraph.startswith("|") else paragraph
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`“\"])", unframed):
                if len(re.findall(r"[A-Za-z]{2,}", re.sub(r"`[^`]*`|\([^)]*\)", "", sentence))) >= 5:
                    yield f"{path.relative_to(REPOSITORY)}:{begins}", sentence, context
            introduction = introduction if is_part else paragraph
            paragraph = ""
        if line.startswith("#"):
            heading, introduction = line.strip(), ""
        if not re.match(r"\s*(?:#|:::)", line):
            begins = begins if paragraph else number
            paragraph = f"{paragraph} {line.strip()}".strip()
        if not line.lstrip().startswith("|"):
            head = ""


def _read_row(row: re.Match[str]) -> str:
    """Return a row of a table as a text: the first cell, a colon, the other cells."""
    first, *others = (cell.strip() for cell in re.split(r"(?<!\\)\|", row[1]))
    return f"{first}: {'. '.join(others)}" if others else first


def list_documents(places: tuple[str, ...] = USERS) -> list[Path]:
    """Return the documents of some places of the working tree."""
    return [
        path
        for name in places
        for path in ([REPOSITORY / name] if name.endswith(".md") else sorted((REPOSITORY / name).rglob("*.md")))
    ]


def syllables(word: str) -> int:
    """Return how many syllables a word has, about."""
    word = re.sub(r"[^a-z]", "", word.lower())
    word = re.sub(r"(?:[^laeiouy]es|[^td]ed|[^l]e)$", lambda m: m[0][0], word)
    return max(1, len(re.findall(r"[aeiouy]+", word)))


def measure(texts: list[str]) -> dict[str, float]:
    """Return the figures of some texts together."""
    found = [sentence for text in texts for sentence in sentences(text)]
    words = [word for sentence in found for word in sentence]
    length = len(words) / max(1, len(found))
    per_word = sum(map(syllables, words)) / max(1, len(words))
    longer = sum(len(sentence) > 20 for sentence in found) / max(1, len(found))
    grade = 0.39 * length + 11.8 * per_word - 15.59
    return {"words": len(words), "sentences": len(found), "length": length, "over 20 words": longer, "grade": grade}


def texts_of(commit: str, places: tuple[str, ...]) -> list[str]:
    """Return the documents of some places in a commit, in the working tree if it is empty."""
    if not commit:
        return [path.read_text(encoding="utf-8") for path in list_documents(places)]
    git = ["git", "-C", str(REPOSITORY)]
    listing = subprocess.run([*git, "ls-tree", "-r", "--name-only", commit], capture_output=True, text=True, check=True)
    names = [name for name in listing.stdout.splitlines() if name.startswith(places) and name.endswith(".md")]
    return [
        subprocess.run([*git, "show", f"{commit}:{name}"], capture_output=True, text=True, check=True).stdout
        for name in names
    ]


def bench() -> None:
    """Print a line a commit, and the longest sentences of the working tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commits", nargs="*")
    parser.add_argument("--longest", type=int, default=0)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--background", action="store_true")
    arguments = parser.parse_args()
    places = BACKGROUND if arguments.background else USERS
    if arguments.sample:
        found = [each for path in list_documents(places) for each in list_sentences(path)]
        for number, (place, sentence, context) in enumerate(
            random.Random(arguments.seed).sample(found, arguments.sample), 1
        ):
            around = "".join(f"     | {line}\n" for line in context.splitlines())
            print(f"{number:>3}. {place}\n{around}     SENTENCE: {sentence}\n")
        return
    print(f"{'':<14}{'words':>8}{'sentences':>11}{'a sentence':>12}{'over 20':>9}{'grade':>7}")
    for commit in [*arguments.commits, ""]:
        of = measure(texts_of(commit, places))
        print(
            f"{commit[:12] or 'now':<14}{of['words']:>8,.0f}{of['sentences']:>11,.0f}{of['length']:>12.1f}"
            f"{of['over 20 words']:>9.0%}{of['grade']:>7.1f}"
        )
    longest = sorted((sentence for text in texts_of("", places) for sentence in sentences(text)), key=len, reverse=True)
    for words in longest[: arguments.longest]:
        print(f"{len(words):>4}  {' '.join(words)[:300]}")


if __name__ == "__main__":
    bench()
