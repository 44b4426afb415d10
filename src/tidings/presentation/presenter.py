"""The contract of presentation: a presenter formats change records (contracts §12) for reading (004
§3.7.1, §5.5).

A *view* is the shown part of a change, a *form* its output format. Page texts are untrusted (R-11):
they are shown as text, and nothing in them is active.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from tidings.presentation.edits import Record
from tidings.record import dataclass

View = Literal["changes", "single", "dual", "table"]
Form = Literal["text", "html"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """The text around changes.

    `heading` comes first, and a single change below it does not repeat its summary. `sentinel` is
    the sentinel's name. `between` names the compared versions, in place of the time. `foot` comes
    last, once: the possible actions with their links or commands. `is_titled`: the heading is
    displayed above the text, which does not have it. `said` are the texts of the line on the
    only change that it has.
    """

    heading: str = ""
    sentinel: str = ""
    between: str = ""
    foot: tuple[tuple[str, str], ...] = ()
    is_titled: bool = False
    said: str = ""


NO_CAPTION = Caption()


class Presenter(Protocol):
    """Formats one view in one form. The same records give the same text."""

    @property
    def view(self) -> View:
        """Return its view."""
        ...

    @property
    def form(self) -> Form:
        """Return its form."""
        ...

    @property
    def least(self) -> int:
        """Return the smallest bound that it can satisfy."""
        ...

    def size(self, text: str) -> int:
        """Return the length of a text in the unit of its bounds."""
        ...

    def present(self, records: Sequence[Record], caption: Caption = NO_CAPTION, *, most: int | None = None) -> str:
        """Return the changes, one after the other, as a complete text.

        It is at most `most` long (`least` or more; None: unbounded): texts are cut first, then
        edits and changes dropped at the end and counted (`and 3 more`). Raises `ValueError` for no
        records.
        """
        ...

    def fragment(self, record: Record, *, most: int | None = None) -> str:
        """Return only the edits of one change, to be embedded; bounded like `present`.

        A change record without edits says that nothing is different; a notice, which has no lists
        of edits, gives an empty text.
        """
        ...
