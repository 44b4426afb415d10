"""Extract the text of a version for the index, in the process that parses pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.record import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.detection.job.contract import Body

MOST_CHARACTERS: Final = 1_000_000
"""Most characters of a text that are searched, and shown."""


@dataclass(frozen=True, slots=True)
class ReadText:
    """The text of a version; title and text are empty if it cannot be read."""

    kind: str
    title: str
    text: str


UNREAD: Final = ReadText("", "", "")
"""The text of a version that is not read."""


def read_texts(versions: Sequence[Sequence[Body]]) -> list[ReadText]:
    """Return the texts of some versions: each has the bodies of a page and of its frames, the page
    first, or none if it is not to be read.
    """
    return [_read_text(bodies) if bodies else UNREAD for bodies in versions]


def _read_text(bodies: Sequence[Body]) -> ReadText:
    from tidings.detection.job.examiner import parse_body
    from tidings.document.text.words import show

    documents = [parse_body(body) for body in bodies]
    lines = [line for one in documents if not one.problem for line in one.lines]
    text = "\n".join(lines)[:MOST_CHARACTERS]
    return ReadText(documents[0].media, show(" ".join(documents[0].title.split())), show(text))
