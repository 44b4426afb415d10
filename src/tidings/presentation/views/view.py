"""One change in any of its views: `view_of` draws one; the default depends on the kind and the
reading cost (004 §5.5.3).

Pure and bounded, and parses pages: run it where pages are parsed, in a worker (`isolation/`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from tidings.document.document import Document
from tidings.errors import UsageError
from tidings.model.observed.change import ChangeSet
from tidings.presentation.hypertext import escape
from tidings.presentation.views import paragraphs
from tidings.presentation.views.paragraphs import jump
from tidings.presentation.views.rows import Row, rows_of
from tidings.presentation.views.script import MOST_EDITS, Script, script_of
from tidings.presentation.views.table import table
from tidings.presentation.writing import cut_text, one_line
from tidings.record import dataclass

ViewName = Literal["only", "page", "two", "table", "rendered"]

NAMES: Final[dict[ViewName, str]] = {
    "only": "Changes only",
    "page": "One page",
    "two": "Two pages",
    "table": "Table",
    "rendered": "Rendered",
}
"""Each view with its displayed name, in the order of the switch."""
REWRITTEN: Final = 0.5
"""The share of words from which a page counts as rewritten: one page with marks is then
unreadable.
"""
MOST_PARTS: Final = 30
"""The number of changed paragraphs from which changes only are quicker to read than the page."""
_DATA: Final = frozenset(("json", "csv", "xml"))
_TABLES: Final = frozenset(
    ("links", "pages", "images", "table", "list", "items", "numbers", "offers", "status", "body")
)
_TWO: Final = frozenset(("phrases", "keywords"))


@dataclass(frozen=True, slots=True)
class Choice:
    """A view that can be selected; `why_not` is empty if it has content."""

    view: ViewName
    name: str
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A drawn view. `html` is the comparison without its jump bar, `jump` the bar as SVG (empty
    without places).

    `choices` are all views in the order of the switch; `view` is this one, `first` the default.
    `words` are the numbers of deleted, inserted and moved words, `edits` the number of changed
    paragraphs, `left` how many of them were dropped. `notice` is shown above the view, if not
    empty.
    """

    view: ViewName
    first: ViewName
    html: str
    jump: str
    choices: tuple[Choice, ...]
    words: tuple[int, int, int]
    edits: int
    left: int = 0
    notice: str = ""

    @property
    def whole(self) -> str:
        """Return the comparison with its bar, for the page."""
        return f'<div class="diff">{self.jump}{self.html}</div>' if self.jump else self.html


def view_of(
    change: ChangeSet,
    old: Document,
    new: Document,
    view: str = "",
    *,
    captions: tuple[str, str] = ("Before", "Now"),
    ignore: str = "",
    rendered: str = "",
) -> View:
    """Return a change in one of its views, with escaped texts and no active content.

    Raises `UsageError` for an unknown view, `ValueError` for documents to which the edits do not
    belong.

    Args:
        change: The stored findings.
        old: The version before, the part of it whose words the edits index.
        new: The version now, the same part.
        view: `only`, `page`, `two`, `table` or `rendered`; empty for the default.
        captions: The heads of the two sides: version and time.
        ignore: The target of *Not relevant*, to which the index of the edit in `change.edits` (from
            0) is appended; empty for no link.
        rendered: The frame with the rendered page (`frame`); empty if there is none.
    """
    if view and view not in NAMES:
        message = f'there is no view "{cut_text(one_line(view), 40)}": choose {", ".join(NAMES)}'
        raise UsageError(message)
    script = script_of(change.edits[:MOST_EDITS], old, new)
    rows = rows_of(script, old, new)
    edited = sum(row.kind != "same" for row in rows)
    choices = _choices(change, edited, has_frame=bool(rendered))
    first = _first(change, script, rows, choices, (old, new))
    chosen: ViewName = next((name for name in NAMES if name == view), first)
    drawn = _draw(chosen, change, rows, captions, ignore, rendered)
    why_not = next(choice.why_not for choice in choices if choice.view == chosen)
    html = (
        f'<p class="soft">{escape(why_not)}</p>'
        if why_not
        else drawn.html + (_describe_ignored(change) if chosen != "table" else "")
    )
    notices = (
        ["The page was rewritten: more than half of its words are others."]
        if share(script, old, new) > REWRITTEN
        else []
    )
    if len(change.edits) > MOST_EDITS:
        notices.append(f"Only the first {MOST_EDITS:,} of {len(change.edits):,} edits are marked.")
    return View(
        view=chosen,
        first=first,
        html=html,
        jump=jump(drawn.cells),
        choices=choices,
        words=(script.came, script.went, script.moved),
        edits=edited,
        left=drawn.left,
        notice=" ".join(notices) if edited else "",
    )


def share(script: Script, old: Document, new: Document) -> float:
    """Return the share of the words of the longer version that changed, 0 to 1."""
    return min(1.0, (max(script.came, script.went) + script.moved) / max(1, len(old.tokens), len(new.tokens)))


def costs(script: Script, rows: Sequence[Row]) -> dict[ViewName, float]:
    """Return the reading cost of each view of words, in words: the text to read, and the loss
    without context.
    """
    changed = script.came + script.went + script.moved
    edited = [row for row in rows if row.kind != "same"]
    lost = sum(_LOST for row in edited if row.kind == "changed" and len(row.text.split()) <= _SHORT)
    beside = 2 * paragraphs.NEAR * _NEIGHBOUR * len(edited)
    words = sum(len(row.text.split()) for row in edited)
    broken = sum(_BROKEN for row in edited if len(row.pieces) > _MANY_PIECES)
    return {
        "only": changed + 2 * paragraphs.AROUND * len(edited) + lost,
        "page": words + beside + broken,
        "two": 2 * (words + beside),
    }


_LOST: Final = 60
"""The cost of missing context for a short paragraph, in words."""
_SHORT: Final = 6
_NEIGHBOUR: Final = 8
"""The cost of an unchanged paragraph beside a changed one, in words."""
_BROKEN: Final = 80
"""The cost of a paragraph in which old and new keep alternating, in words."""
_MANY_PIECES: Final = 24


def _first(
    change: ChangeSet, script: Script, rows: Sequence[Row], choices: Sequence[Choice], pair: tuple[Document, Document]
) -> ViewName:
    """Return the default view of a change: by its kind, else the one of least reading cost."""
    there = {choice.view for choice in choices if not choice.why_not}
    kinds = frozenset(change.kinds)
    if "page" not in there or pair[1].media in _DATA or (kinds and kinds <= _TABLES):
        return "table" if "table" in there else "only"
    if kinds and kinds <= _TWO:
        return "two"
    if share(script, *pair) > REWRITTEN:
        return "two"
    price = costs(script, rows)
    if sum(row.kind != "same" for row in rows) > MOST_PARTS or price["page"] > 2 * price["only"] + _LONG:
        return "only"
    return "page" if price["page"] <= price["two"] else "two"


_LONG: Final = 400
"""The length of a page that is read without effort, in words, even if changes only are shorter."""


def _choices(change: ChangeSet, edited: int, *, has_frame: bool) -> tuple[Choice, ...]:
    no_words = "" if edited else "No words changed: the table shows what did."
    no_values = (
        ""
        if change.objects or any((change.updated, change.inserted, change.deleted, change.moved))
        else "Nothing was found."
    )
    no_frame = "" if has_frame else "The page cannot be rendered."
    why: dict[ViewName, str] = {
        "only": no_words, "page": no_words, "two": no_words, "table": no_values, "rendered": no_frame,
    }  # fmt: skip
    return tuple(Choice(view, name, why[view]) for view, name in NAMES.items())


def _draw(
    view: ViewName, change: ChangeSet, rows: Sequence[Row], captions: tuple[str, str], ignore: str, rendered: str
) -> paragraphs.Drawn:
    match view:
        case "only":
            return paragraphs.only(rows, ignore)
        case "page":
            return paragraphs.one_page(rows, ignore)
        case "two":
            return paragraphs.two_pages(rows, *captions)
        case "table":
            return table(change)
        case _:
            return paragraphs.Drawn(rendered)


def _describe_ignored(change: ChangeSet) -> str:
    """Return what was ignored as noise, with the mask."""
    if not change.masked:
        return ""
    shown = "; ".join(
        f"“<s>{escape(cut_text(one_line(one.old[:400]), 80))}</s> {escape(cut_text(one_line(one.new[:400]), 80))}”, {escape(cut_text(one_line(one.mask), 60))}"
        for one in change.masked[:_MOST_MASKED]
    )
    rest = len(change.masked) - _MOST_MASKED
    return f'\n<p class="small soft">Ignored: {shown}{f" and {rest:,} more" if rest > 0 else ""}</p>'


_MOST_MASKED: Final = 5
