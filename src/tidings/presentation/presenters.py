"""All presenters that there are: the view of only the changes (004 §5.5), as text and as HTML."""

from __future__ import annotations

from typing import Final, get_args

from tidings.errors import UsageError
from tidings.presentation.hypertext import ChangesAsHtml
from tidings.presentation.presenter import Form, Presenter, View
from tidings.presentation.text import ChangesAsText
from tidings.registry import Registry

PRESENTERS: Final[Registry[Presenter]] = Registry(
    "presenter", {"changes-as-text": ChangesAsText(), "changes-as-html": ChangesAsHtml()}
)
VIEWS: Final[tuple[View, ...]] = get_args(View)
FORMS: Final[tuple[Form, ...]] = get_args(Form)


def presenter(view: str, form: str) -> Presenter:
    """Return who draws a view in a form; raises `UsageError` for a view that comes later."""
    if view in VIEWS and form in FORMS and not any(row.view == view for row in PRESENTERS.values()):
        message = f"the view {view} comes in a later release; --view changes shows what came, went and moved"
        raise UsageError(message)
    return PRESENTERS[f"{view}-as-{form}"]
