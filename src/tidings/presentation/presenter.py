"""The contract of presentation: a presenter turns change records (contracts §12) into something to read (004 §3.7.1, §5.5).

A *view* is what is shown of a change, a *form* what it is written in. Texts of pages are strangers' (R-11): whatever they
say, they are shown as text and nothing in them acts.
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
    """What stands around changes.

    `heading` comes first, and a single change below it does not repeat its summary. `sentinel` is who watches. `between` says
    which versions were compared; it stands where else the time would. `foot` comes last, once: what one can do, and the command that does it.
    """

    heading: str = ""
    sentinel: str = ""
    between: str = ""
    foot: tuple[tuple[str, str], ...] = ()


NO_CAPTION = Caption()


class Presenter(Protocol):
    """Draws one view in one form. The same records give the same text."""

    @property
    def view(self) -> View:
        """Return what it shows of a change."""
        ...

    @property
    def form(self) -> Form:
        """Return what it writes."""
        ...

    @property
    def least(self) -> int:
        """Return the smallest bound that it can keep."""
        ...

    def size(self, text: str) -> int:
        """Return how long a text is in the units in which bounds are given."""
        ...

    def present(self, records: Sequence[Record], caption: Caption = NO_CAPTION, *, most: int | None = None) -> str:
        """Return the changes, one after the other, as a whole that stands by itself.

        It is at most `most` long (`least` or more; None sets no bound): texts are cut first, then edits and changes left out at the
        end and counted (`and 3 more`). Raises `ValueError` for no records.
        """
        ...

    def fragment(self, record: Record, *, most: int | None = None) -> str:
        """Return the edits of one change alone, to stand inside something else; bounded like `present`.

        A change record without edits says that nothing is different; a notice, which has no lists of edits, gives an empty text.
        """
        ...
