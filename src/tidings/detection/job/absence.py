"""Parts that an expression selects and a version does not have (sentinels §5.3: "selector matches
nothing").

A missing part is reported as missing, never as an empty part: nothing is compared with it. One that
appears is a change from nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidings.detection.kinds.aims import Aim, aim_expression, positive_of
from tidings.detection.kinds.registry import can_lack, describe_lack
from tidings.document.document import Document
from tidings.document.extract import extract
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import Extraction
from tidings.model.watch.interest import Expression
from tidings.record import dataclass


@dataclass(frozen=True, slots=True)
class Absence:
    """The missing parts, in words of the language (`css ".price"`, `table 2`, `price`), and whether
    nothing else is selected.
    """

    names: tuple[str, ...] = ()
    is_all: bool = False


def absence(expression: Expression, extraction: Extraction, members: Sequence[Document]) -> Absence:
    """Return the selected parts that a version lacks; `members` are its documents: a part of any of
    them exists.
    """
    names: dict[str, None] = {}
    aims = list(positive_of(aim_expression(expression, extraction)))
    present = 0
    for aim in aims:
        if aim.scope.is_whole and not can_lack(aim.interest):
            present += 1
            continue
        lacking = [_lacking(aim, document) for document in members]
        if lacking and all(lacking):
            names[lacking[0]] = None
        else:
            present += 1
    return Absence(tuple(names), bool(names) and not present)


def _lacking(aim: Aim, document: Document) -> str:
    try:
        return describe_lack(aim.interest, extract(document, aim.scope))
    except RefusedError:  # the comparison reports it
        return ""
