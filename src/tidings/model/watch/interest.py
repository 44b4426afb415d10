"""Which changes are asked for: change types, their conditions, and how AND, OR and NOT combine them
(004 §3.1, §3.4.2).

And which part of a page counts, and how its text is prepared before versions are compared: Select,
Exclude, Transform. In this order: the selected part, without what is excluded, through the
transforms in sequence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from tidings.model.interval import Duration
from tidings.record import dataclass, replace

Direction = Literal["inserted", "deleted", "updated"]
Relation = Literal["<", "<=", "=", "!=", ">=", ">", "between"]
Measure = Literal[
    "value", "is", "becomes", "lowest", "highest", "never seen", "share", "inserted", "deleted", "changed", "changes", "rises", "drops",
    "contains", "lacks", "matches", "page has", "page lacks",
]  # fmt: skip
Kind = Literal[
    "any", "words", "links", "images", "keywords", "phrases", "table", "list", "regex", "number", "items", "status", "header", "price",
    "availability",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Selector:
    """A part of a page: CSS, XPath 1.0 or JSONPath."""

    language: Literal["css", "xpath", "jsonpath"]
    text: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that a change must meet to be reported (`where`, sentinels §1.3).

    `value` holds whenever the page's current number stands in `relation` to `number`; `becomes`
    only when it did not before (the crossing). `is` holds as `value` does, and also at the first
    check; of a state it has `text`. `between` has its end in `upper`; both ends count. `lowest` and
    `highest` hold of a number below or above all seen before, within the last `span` (µs) if it is
    not 0. `never seen` holds of things and lines that no version had before. `changes`, `rises`,
    `drops` measure the difference to the old number, relative to it if `is_percent`; their relation
    is `>=`, or `>` for `by more than`. `share` is the changed part of the words (or objects) of
    both versions together: a fraction, in hundredths if `is_percent`. `inserted`, `deleted`,
    `changed` count objects of the change type, as a part of the old version's if `is_percent`.
    `contains`: what was inserted or updated (deleted, if the interest is in deletions) has one of
    the `texts` in it, case folded; `lacks`: it has none of them; `matches`: it has a match of the
    RE2 pattern `text`; of `status` and `header`, the state or value itself does. Where the change
    is a list of things (links, images, rows, items, entries, matches), these three filter the
    things that are reported, and the other conditions apply to what is left. `page has` and `page
    lacks`: the whole current page has one of the `texts` in it, case folded, or has none. `others`
    are the texts besides `text`.

    `number` is as written: 5 for `5%`.
    """

    measure: Measure
    relation: Relation | None = None
    number: float = 0.0
    is_percent: bool = False
    text: str = ""
    upper: float = 0.0
    span: Duration = 0
    others: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Return all texts that are searched for."""
        return (self.text, *self.others)


ON_TEXTS: Final[frozenset[Measure]] = frozenset({"contains", "lacks", "matches"})
"""Conditions on the text of what changed."""
ON_PAGE: Final[frozenset[Measure]] = frozenset({"page has", "page lacks"})
"""Conditions on the whole page, whatever was compared."""
EXTREMES: Final[frozenset[Measure]] = frozenset({"lowest", "highest"})
"""Conditions on a number relative to those seen before."""
FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "links": ("raw", "resolved", "canonical"),
    "images": ("raw", "resolved", "canonical"),
    "words": ("strict",),
    "keywords": ("strict",),
    "phrases": ("strict",),
}
"""Forms in which the things of a change type can be compared: addresses by level of identity
(detection §1.2), words as in the thesis.
"""


@dataclass(frozen=True, slots=True)
class Interest:
    """One change type (004 §3.4.2): `kind` is a name of `detection.kinds`.

    `form` is the form in which things are compared, one of `FORMS`, empty for the default. `terms`
    are the keywords or phrases, `ordinal` the table or list (from 1; None: all), `pattern` the RE2
    pattern of `regex`, `header` the name of the response header. `direction` restricts to inserted,
    deleted or updated, `selector` to a part of the page, `of` to one page of the sentinel; all
    conditions of `where` must hold. `column` is the name of a table's column, or its number.
    `after` and `before` are texts of the page between which the words or the number stand.
    """

    kind: str
    terms: tuple[str, ...] = ()
    direction: Direction | None = None
    selector: Selector | None = None
    of: str | None = None
    ordinal: int | None = None
    pattern: str = ""
    header: str = ""
    form: str = ""
    where: tuple[Condition, ...] = ()
    column: str = ""
    after: str = ""
    before: str = ""

    @property
    def steps(self) -> tuple[Transform, ...]:
        """Return the steps that cut the text at `after` and `before`."""
        after = (Transform("after", self.after),) if self.after else ()
        return (*after, Transform("before", self.before)) if self.before else after

    @property
    def nth(self) -> int:
        """Return which number of the text is meant: the last one before a text, else from 1."""
        return self.ordinal or (-1 if self.before and not self.after else 1)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """OR, also written as a comma: a change of any part."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """AND: every positive part changed in the same comparison, or within the sentinel's `window` if
    they are `of` several pages; a `Not` part subtracts or vetoes (sentinels §4.5).
    """

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """NOT, only inside AND."""

    part: Expression


Expression = Interest | AnyOf | AllOf | Not


def keep_inserted(expression: Expression) -> Expression:
    """Return an expression restricted to insertions; what NOT names stays, and so does an explicit
    direction.
    """
    match expression:
        case Interest(direction=None):
            return replace(expression, direction="inserted")
        case AnyOf(parts):
            return AnyOf(tuple(map(keep_inserted, parts)))
        case AllOf(parts):
            return AllOf(tuple(map(keep_inserted, parts)))
        case _:
            return expression


@dataclass(frozen=True, slots=True)
class StopWords:
    """Words that are ignored everywhere; case folded (W-20)."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Text that is ignored: every match of an RE2 pattern."""

    text: str


HIDDEN = Selector(
    "css",
    '[hidden], [style*="display:none" i], [style*="display: none" i], [style*="visibility:hidden" i], [style*="visibility: hidden" i]',
)
"""Elements hidden by their own attributes (`Exclude hidden`); style sheets are not read."""

Exclusion = Selector | StopWords | Pattern


@dataclass(frozen=True, slots=True)
class Transform:
    r"""One step on the lines of the canonical text.

    `keep` and `drop`: the lines that contain `match`; `replace`: every `match` by `replacement`;
    `sort`: the lines by code point; `unique`: only the first of equal lines; `fold`: to lower case;
    `after` and `before`: what follows or precedes the first `match`.
    `match` is literal text, or with `is_pattern` an RE2 pattern, whose groups `replacement` may
    name (`\1`).
    """

    verb: Literal["keep", "drop", "replace", "sort", "unique", "fold", "after", "before"]
    match: str = ""
    is_pattern: bool = False
    replacement: str = ""
