"""Draw two stored versions for users, in the process that parses pages.

Imported only when a screen needs it (`Comparisons`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.record import dataclass

if TYPE_CHECKING:
    from tidings.detection.job.contract import Body, Target
    from tidings.document.select.extraction import Extraction
    from tidings.model.observed.change import ChangeSet
    from tidings.model.watch.sentinel import Expression
    from tidings.presentation.safe.merged import Merged
    from tidings.presentation.safe.picker import PickedPart
    from tidings.presentation.screenshots import ScreenshotComparison
    from tidings.presentation.views.view import View
    from tidings.service.on_demand.choices import Choices


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """What to draw: two bodies as an expression sees them, in a view ("" for the best one).

    `found` is the stored change between them, None if there is none. `rendered` is the frame of the
    rendered page.
    """

    old: Body
    new: Body
    expression: Expression
    extraction: Extraction
    targets: tuple[Target, ...] = ()
    found: ChangeSet | None = None
    view: str = ""
    captions: tuple[str, str] = ("Before", "Now")
    rendered: str = ""


def view(drawing: Drawing) -> View | None:
    """Return the view; None if the expression selects several parts of the page, or a version
    cannot be read.
    """
    from tidings.detection.job.merged import compare_one_part
    from tidings.presentation.views.view import view_of

    bodies = (drawing.old, drawing.new, drawing.expression, drawing.extraction, drawing.targets)
    for stored in (drawing.found, None):
        seen = compare_one_part(*bodies, stored)
        if seen is None:
            return None
        found, pair = seen
        try:
            return view_of(
                found, pair.old, pair.new, drawing.view, captions=drawing.captions, rendered=drawing.rendered
            )
        except ValueError:  # the change was stored under other word rules: its edits do not fit
            if stored is None:
                raise
    return None


def render(bodies: tuple[Body, Body]) -> Merged:
    """Return two versions merged into one page that renders, with marks, without anything
    active.
    """
    from tidings.detection.ask.expression import evaluate
    from tidings.detection.ask.pair import Pair
    from tidings.detection.job.examiner import parse_body
    from tidings.document.select.extraction import WHOLE
    from tidings.model.watch.interest import Interest
    from tidings.presentation.safe.merged import Merged, merge_page

    before, after = (parse_body(body, keep_tree=True) for body in bodies)
    if before.problem or after.problem:
        return Merged("", f"A version cannot be read: {before.problem or after.problem}")
    found = evaluate(Interest("words"), Pair(before, after), WHOLE)
    return merge_page(found.edits, before, after)


def text(body: Body) -> str:
    """Return the text of a version, or why it cannot be read."""
    from tidings.detection.job.examiner import parse_body

    document = parse_body(body)
    return document.problem or "\n".join(document.lines)


def page_to_pick(asked: tuple[Body, str]) -> str:
    """Return a page with each of its texts as a link that names it; empty if it is not HTML."""
    from tidings.detection.job.examiner import parse_body
    from tidings.presentation.safe import picker

    body, link = asked
    return picker.page_to_pick(parse_body(body, keep_tree=True), link)


def parts_at(asked: tuple[Body, int]) -> list[PickedPart]:
    """Return the parts around a text by number, each with a selector for it alone."""
    from tidings.detection.job.examiner import parse_body
    from tidings.presentation.safe import picker

    body, number = asked
    return picker.parts_at(parse_body(body, keep_tree=True), number)


def choices(body: Body) -> Choices:
    """Return what can be watched on a page, with its present values."""
    from tidings.detection.job.examiner import parse_body
    from tidings.service.on_demand.choices import choices_of

    return choices_of(parse_body(body, keep_tree=True))


def screenshots(pictures: tuple[bytes, bytes]) -> ScreenshotComparison:
    """Return the differences between two screenshots."""
    from tidings.presentation.screenshots import compare_screenshots

    return compare_screenshots(*pictures)
