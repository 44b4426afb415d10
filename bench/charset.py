"""Measure how often statistics read pages in undeclared old charsets correctly, and what that costs.

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR python bench/charset.py [--show]

There are two sorts of pages:

- pages of `html_corpus` and the newest versions of `page_versions` that are UTF-8 and in a script
  that an old charset has, written in that charset (letters it lacks as `&#…;`, as such pages do);
- the pages of `html_corpus/charsets`, as they are.

Declarations are removed, and no header names a charset. A page is right if each character is.
"before" is the way without statistics: UTF-16 and UTF-32 by their zeros, else windows-1252.
`--show` lists each page that is read wrongly.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tests.data_sets import files_of, html_pages, rows_of
from tests.replay import real_pages
from tidings.document.text import charset
from tidings.document.text.charset import decode, find_charset

DECLARATION = re.compile(rb"""<meta\b[^>]{0,500}?charset\s*=[^>]*>|(?<=<\?xml)[^?>]{0,200}(?=\?>)""", re.IGNORECASE)
SCRIPTS = (
    ("Cyrillic", "Ѐ-ӿ", ("windows-1251", "koi8-r")),
    ("Greek", "Ͱ-Ͽ", ("iso-8859-7", "windows-1253")),
    ("Japanese", "぀-ヿ", ("shift_jis", "euc-jp")),
    ("Korean", "가-힯", ("euc-kr",)),
    ("Chinese", "一-鿿", ("gb18030", "big5hkscs")),
    ("Hebrew", "֐-׿", ("windows-1255",)),
    ("Arabic", "؀-ۿ", ("windows-1256",)),
    ("Latin", "À-ÿ", ("windows-1252",)),
)
FEWEST_LETTERS = 50
LEAST_SHARE = 0.5
"""Letters of a script, a word of the page, from which the page is written in it and does not only name it in a menu."""
MARKUP = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^>]*>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sample:
    """A page without a declaration, its true charset and text."""

    name: str
    sort: str
    charset: str
    data: bytes
    text: str


def make_pages() -> Iterator[Sample]:
    """Yield UTF-8 pages written in the charsets of their script."""
    pages = [(f"html_corpus {number}", body) for number, body in enumerate(html_pages())]
    families = ("terms-html", "terms-text", "feed", "docs-text", "election")
    pages += [(f"{page.family} {page.name}", page.versions[-1].body) for page in real_pages(families)]
    for name, body in pages:
        try:
            text = DECLARATION.sub(b"", body).decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError:
            continue
        for script, letters, charsets in SCRIPTS:
            seen = MARKUP.sub(" ", text)
            of_script = len(re.findall(f"[{letters}]", seen))
            if of_script < FEWEST_LETTERS or (script != "Latin" and of_script < LEAST_SHARE * len(seen.split())):
                continue
            for label in charsets:
                data = text.encode(label, "xmlcharrefreplace")
                yield Sample(name, f"{script}, {label}", label, data, data.decode(find_charset(label)))
            break


def real() -> Iterator[Sample]:
    """Yield the pages that are in other charsets than UTF-8."""
    rows = {row["file"]: row["true_or_utf8_check"] for row in rows_of("html_corpus/index.csv")}
    for name, body in files_of("html_corpus/charsets.tar.zst"):
        label = rows.get(name) or rows[f"charsets/{name}"]
        true = find_charset(re.sub(r"-(?:hebrew|russian|hungarian|bulgarian|greek|turkish|arabic)$", "", label))
        if not true or body.isascii():
            continue
        data = DECLARATION.sub(b"", body)
        text = charset.strictly(data, true)
        if text is not None:
            yield Sample(name, f"real {label}", true, data, text.removeprefix("\ufeff"))


def read_before(data: bytes) -> str:
    """Return the text as it was read without statistics on letters."""
    guesses, charset.guesses = charset.guesses, lambda _: iter(())
    try:
        return decode(data, "text/html").text
    finally:
        charset.guesses = guesses


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--show", action="store_true", help="list each page that is read wrongly")
    show = options.parse_args().show
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    times = []
    decode("é".encode("latin-1"))  # loads the tables
    for sample in (*make_pages(), *real()):
        began = time.thread_time()
        got = decode(sample.data, "text/html")
        times.append(time.thread_time() - began)
        row = rows[sample.sort]
        row[0] += 1
        row[1] += got.text == sample.text
        row[2] += read_before(sample.data) == sample.text
        if show and got.text != sample.text:
            print(f"{sample.name}: {sample.charset}, read as {got.charset} ({got.source})")
    rows["all made"] = [sum(row[n] for sort, row in rows.items() if "real" not in sort) for n in range(3)]
    rows["all real"] = [sum(row[n] for sort, row in rows.items() if sort.startswith("real ")) for n in range(3)]
    print("| pages without a declaration | pages | right | right before |\n|---|---:|---:|---:|")
    for sort, (count, right, before) in sorted(rows.items()):
        print(f"| {sort} | {count} | {right} | {before} |")
    times.sort()
    print(
        f"\nms a page: median {times[len(times) // 2] * 1e3:.1f}, p99 {times[len(times) * 99 // 100] * 1e3:.1f}, most {times[-1] * 1e3:.1f}"
    )


if __name__ == "__main__":
    main()
