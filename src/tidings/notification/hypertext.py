"""Changes as HTML for mail: nothing is loaded from anywhere, everything of the page is escaped once (trust.md H-078, H-080).

Additions and removals are `<ins>` and `<del>` with words that screen readers say, so that neither colour nor style is needed.
"""

from __future__ import annotations

import bisect
import html
from collections.abc import Sequence
from typing import Final

from tidings.notification.edits import Edit, Record, edits_of, headline, more, seen_at
from tidings.notification.writing import cut, one_line

MOST_BYTES: Final = 90_000
"""Some mail readers clip a message at 102 kB."""
STEPS: Final = ((4_000, 200), (1_000, 100), (400, 40), (120, 10), (60, 1))
"""Tried in turn: characters of a text, edits of a change."""

STYLE: Final = """
body{margin:0;padding:16px;background:#fff;color:#1a1a1a;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:40em;margin:0 auto}
h1{font-size:20px;line-height:1.3;margin:0 0 12px}
h2{font-size:17px;line-height:1.3;margin:0 0 4px}
h1,h2,p,li{overflow-wrap:anywhere;word-break:break-word}
article{margin:0 0 20px;padding:0 0 12px;border-bottom:1px solid #ddd}
p{margin:0 0 8px}
.where,footer{color:#595959;font-size:14px}
a{color:#0a58ca}
ul{list-style:none;margin:0;padding:0}
li{margin:0 0 6px}
del,ins{padding:1px 3px;border-radius:3px}
del{text-decoration:line-through;background:#ffe3e0;color:#7a1009}
ins{text-decoration:underline;background:#dcf5e3;color:#0b4f1f}
.said{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0);white-space:nowrap}
@media(prefers-color-scheme:dark){
body{background:#121212;color:#e6e6e6}
article{border-color:#3a3a3a}
.where,footer{color:#a8a8a8}
a{color:#8ab4f8}
del{background:#4a1512;color:#ffc9c4}
ins{background:#123d20;color:#bff0cb}
}"""


def hypertext(records: Sequence[Record], sentinel: str, *, heading: str, most_bytes: int = MOST_BYTES) -> str:
    """Return a whole HTML document of at most `most_bytes`; what does not fit is counted at the end of a change or of the list."""
    if not records:
        message = "a message needs at least one change"
        raise ValueError(message)
    articles: list[str] = []
    for characters, edits in STEPS:
        articles = [_article(record, characters, edits, alone=len(records) == 1) for record in records]
        whole = document(articles, sentinel, heading=heading)
        if len(whole.encode()) <= most_bytes:
            return whole

    def kept(number: int) -> str:
        return document(articles[:number], sentinel, heading=heading, missing=len(articles) - number)

    sizes = range(1, len(articles) + 1)
    return kept(max(1, bisect.bisect_right(sizes, most_bytes, key=lambda number: len(kept(number).encode()))))


def document(articles: Sequence[str], sentinel: str, *, heading: str, missing: int = 0) -> str:
    """Return the page around the articles; `missing` changes are counted after them."""
    title = _escaped(heading)
    rest = f"<p>{more(missing, 'change')}</p>\n" if missing else ""
    why = (
        f"Told by Tidings: the sentinel {_escaped(sentinel)} watches for this.\n" if sentinel else "Told by Tidings.\n"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>{STYLE}\n</style>\n</head>\n<body>\n<main>\n"
        f'<h1 dir="auto">{title}</h1>\n{"".join(articles)}{rest}<footer>{why}</footer>\n</main>\n</body>\n</html>\n'
    )


def _article(record: Record, characters: int, most: int, *, alone: bool) -> str:
    edits, rest = edits_of(record, most=most)
    title = "" if alone else f'<h2 dir="auto">{_escaped(headline(record))}</h2>\n'
    lines = "".join(f"<li>{_line(edit, characters)}</li>\n" for edit in edits)
    after = f"<p>{more(rest)}</p>\n" if rest else ""
    return f'<article>\n{title}<p class="where">{_where(record)}</p>\n<ul>\n{lines}</ul>\n{after}</article>\n'


def _where(record: Record) -> str:
    url = one_line(str(record["url"]))
    shown = html.escape(cut(url, 200))
    if url.lower().startswith(("http://", "https://")):
        shown = f'<a href="{html.escape(url)}">{shown}</a>'
    return f"{shown}<br>{seen_at(record)}" if seen_at(record) else shown


def _line(edit: Edit, characters: int) -> str:
    old, new = html.escape(cut(edit.old, characters)), html.escape(cut(edit.new, characters))
    removed = f'<del dir="auto">{_said("removed: ")}{old}</del>'
    added = f'<ins dir="auto">{_said("added: ")}{new}</ins>'
    match edit.kind:
        case "updated":
            return f"{removed} {added}"
        case "deleted":
            return removed
        case "inserted":
            return added
        case "moved":
            return f"moved: <bdi>{new}</bdi>"
        case "counted":
            return f"<bdi>{old}</bdi>: {new}"


def _said(words: str) -> str:
    return f'<span class="said">{words}</span>'


def _escaped(text: str) -> str:
    return html.escape(one_line(text))
