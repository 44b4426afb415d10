"""docs/reference/content.md: each row of its tables is made and reported as the page says."""

import re
from pathlib import Path

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.document.extract import extract
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.language.parser import read
from tidings.model.watch.interest import Interest
from tidings.model.watch.sentinel import Sentinel
from tidings.presentation.edits import edits_of
from tidings.presentation.text import edit_line

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "content.md"
MEDIA = {"JSON": "application/json", "XML": "application/xml", "CSV": "text/csv"}


def rows():
    for name, media in MEDIA.items():
        section = PAGE.read_text().partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        for line in section.splitlines():
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            if len(cells) == 3 and "`" in cells[0]:
                yield media, *(cell.replace(r"\|", "|") for cell in cells)


def inside(cell):
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize(("media", "before", "now", "expected"), [*rows()])
def test_each_row_is_so(media, before, now, expected):
    """What stands before and now is compared, and reported in the words of the page."""
    old, new = (parse(inside(cell)[0].replace("⏎", "\n").encode(), media) for cell in (before, now))
    change = evaluate(Interest("any"), Pair(old, new))
    record = {
        "deleted": change.deleted,
        "inserted": change.inserted,
        "updated": [{"old": was, "new": is_now} for was, is_now in change.updated],
        "moved": change.moved,
    }

    assert inside(expected) == [edit_line(edit, None) for edit in edits_of(record)[0]]


def test_the_tables_are_read():
    """There are rows for each content that is shown by examples."""
    assert set(MEDIA.values()) == {media for media, *_ in rows()}


def count():
    section = PAGE.read_text().partition("\n## What counts as a change on a page\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("| `")]
    return [tuple(cell.strip() for cell in row) for row in rows]


@pytest.mark.parametrize(("before", "now", "reported", "caught"), count())
def test_what_counts_and_what_catches_the_rest(before, now, reported, caught):
    """`any change` reports what the table says, and the clause beside it what `any change` does not."""
    old, new = (
        parse(inside(cell)[0].encode(), "text/html", url="http://x.org/", keep_tree=True) for cell in (before, now)
    )
    found = not reported.startswith("reported")
    if caught:
        clause = inside(caught)[0]
        monitor = clause if clause.startswith("Monitor") else f"Monitor any change {clause}"
        (sentinel,) = read(f"Create Sentinel a Using https://x.example {monitor}")
        assert isinstance(sentinel, Sentinel)
        assert isinstance(sentinel.monitor, Interest)
        left = Extraction(exclude=sentinel.exclude)
        part = sentinel.monitor.selector
        is_lost = part is not None and bool(extract(new, Extraction(selectors=(part,))).missing)
        found = is_lost or bool(evaluate(sentinel.monitor, Pair(extract(old, left), extract(new, left))))

    assert reported.startswith("reported") is bool(evaluate(Interest("any"), Pair(old, new)))
    assert found is not reported.startswith("reported")


def test_the_table_of_what_counts_is_read():
    """It has rows that are reported, rows that are not, and clauses for these."""
    assert {"reported", "nothing"} < {reported for _, _, reported, _ in count()}
    assert 10 < sum(bool(caught) for *_, caught in count())
