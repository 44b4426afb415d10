"""Draw two stored versions for people, in the process where pages are read: named here, done there.

Nothing here is imported before a screen asks for it (`Comparisons`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidings.detection.job.contract import Body, Target
    from tidings.document.select.extraction import Extraction
    from tidings.model.watch.sentinel import Expression
    from tidings.presentation.safe.merged import Merged
    from tidings.presentation.views.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """What is to be drawn: two bodies as an expression sees them, in a view ("" for the one that fits); `rendered` is the frame of the rendered page."""

    old: Body
    new: Body
    expression: Expression
    extraction: Extraction
    targets: tuple[Target, ...] = ()
    view: str = ""
    captions: tuple[str, str] = ("Before", "Now")
    rendered: str = ""


def view(drawing: Drawing) -> View | None:
    """Return the view; None if the expression looks at several parts of the page, or a version cannot be read."""
    from tidings.detection.ask.expression import evaluate
    from tidings.detection.ask.pair import Pair
    from tidings.detection.job.examiner import parsed
    from tidings.detection.job.healing import use
    from tidings.detection.kinds.aims import needs_nodes, scopes_of
    from tidings.document.select.chosen import RefusedError
    from tidings.presentation.views.view import view_of

    scopes = scopes_of(drawing.expression, drawing.extraction)
    keeps = needs_nodes(drawing.expression, drawing.extraction)
    before, after = (parsed(body, keep_tree=keeps) for body in (drawing.old, drawing.new))
    use(before, drawing.targets)
    use(after, drawing.targets)
    if before.problem or after.problem or len(scopes) != 1:
        return None
    whole = Pair(before, after)
    try:
        found, pair = evaluate(drawing.expression, whole, drawing.extraction), whole.part(scopes[0])
    except RefusedError:
        return None
    return view_of(found, pair.old, pair.new, drawing.view, captions=drawing.captions, rendered=drawing.rendered)


def rendered(bodies: tuple[Body, Body]) -> Merged:
    """Return two versions as one page that renders, with marks, and that cannot act."""
    from tidings.detection.ask.expression import evaluate
    from tidings.detection.ask.pair import Pair
    from tidings.detection.job.examiner import parsed
    from tidings.document.select.extraction import WHOLE
    from tidings.model.watch.interest import Interest
    from tidings.presentation.safe.merged import Merged, merged_page

    before, after = (parsed(body, keep_tree=True) for body in bodies)
    if before.problem or after.problem:
        return Merged("", f"A version cannot be read: {before.problem or after.problem}")
    found = evaluate(Interest("words"), Pair(before, after), WHOLE)
    return merged_page(found.edits, before, after)
