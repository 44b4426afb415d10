"""All presenters: each view (004 §5.5) as text and as HTML, and the one that a sentinel's
Presentation clause selects.
"""

from __future__ import annotations

from typing import Final, get_args

from tidings.presentation import text as lines
from tidings.presentation.edits import Record, edits_of
from tidings.presentation.hypertext import ChangesAsHtml
from tidings.presentation.presenter import Form, Presenter, View
from tidings.presentation.text import ChangesAsText
from tidings.registry import Registry

PRESENTERS: Final[Registry[Presenter]] = Registry(
    "presenter",
    {
        "changes-as-text": ChangesAsText(),
        "changes-as-html": ChangesAsHtml(),
        "single-as-text": ChangesAsText("single", shows_places=True),
        "single-as-html": ChangesAsHtml("single", shows_places=True),
        "dual-as-text": ChangesAsText("dual", line=lines.dual_line, shows_places=True),
        "dual-as-html": ChangesAsHtml("dual", shape=lines.DUAL, shows_places=True),
        "table-as-text": ChangesAsText("table", line=lines.table_line),
        "table-as-html": ChangesAsHtml("table", shape=lines.TABLE),
    },
)
VIEWS: Final[tuple[View, ...]] = get_args(View)
FORMS: Final[tuple[Form, ...]] = get_args(Form)
FEW: Final = 5
"""The number of edits up to which changes only are shown (sentinels §6.2)."""
MUCH: Final = 0.3
"""The share of a page from which two pages are easier to read than one with marks."""
_VIEWS: Final[dict[str, View]] = {
    "only_change": "changes",
    "single_frame": "single",
    "dual_frame": "dual",
    "table": "table",
}


def presenter(view: str, form: str) -> Presenter:
    """Return the presenter of a view in a form. Raise `UsageError` for an unknown one."""
    return PRESENTERS[f"{view}-as-{form}"]


def view_of(presentation: str, record: Record) -> View:
    """Return the view that a Presentation clause selects for a change.

    `auto` uses the number of edits and their share: up to five are shown as changes only, more
    objects in a table; of words with known places, less than 30 % of the shown text in one page
    with marks, more in two.
    """
    if presentation in _VIEWS:
        return _VIEWS[presentation]
    edits, rest = edits_of(record, most=1_000)
    if len(edits) + rest <= FEW:
        return "changes"
    if all(edit.sort or edit.kind == "counted" for edit in edits):
        return "table"
    pieces = [piece for hunk in record.get("merged") or () for piece in hunk]
    if not pieces:
        return "changes"
    changed = sum(len(text) for kind, text in pieces if kind != "same")
    return "single" if changed < MUCH * sum(len(text) for _, text in pieces) else "dual"
