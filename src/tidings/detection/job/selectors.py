"""Selectors in a job: missing parts, and self-healing (detection §4.4; sentinels §5.3).

While a selector matches one element, a bundle of it is stored. When a second poll matches nothing,
the bundle is searched for; an element that is similar enough and unique replaces it from then on,
in old versions and new ones, wherever the selector itself matches nothing. If the element is still
there and only lacks a state that the selector asks for, no replacement is searched: the part is
lost, and that is notified (`select.asked`). A replacement ends once that is all that it lacks.

A missing part is reported as missing, never as an empty part: nothing is compared with it. One that
appears is a change from nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tidings.detection.job.contract import Mended, Target
from tidings.detection.kinds.aims import Aim, aim_expression, positive_of, scopes_of
from tidings.detection.kinds.registry import can_lack, describe_lack
from tidings.document.document import Document
from tidings.document.extract import extract
from tidings.document.select.asked import has_another_class, lacks_a_state
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import Extraction
from tidings.document.select.targets import Bundle, bundle_of, heal
from tidings.document.select.trees import HtmlTree
from tidings.model.watch.interest import Expression, Selector
from tidings.record import dataclass, replace


def use(document: Document, targets: Iterable[Target]) -> None:
    """Register the replacements of selectors in a document."""
    tree = document.tree
    if not isinstance(tree, HtmlTree):
        return
    for target in targets:
        if target.stand_in is not None:
            tree.stand_in(target.selector, target.stand_in)


def standing(document: Document, targets: Iterable[Target]) -> tuple[Target, ...]:
    """Return the targets whose replacements are valid in a document.

    An element that matches the selector except for a requested state is no replacement: the state
    is over. A class may have been renamed long ago, so it counts as a state only if the selector
    names the element without it, or if the element has no class at all.
    """
    tree = document.tree
    found = (target for target in targets if target.stand_in is not None)
    return tuple(target for target in found if not isinstance(tree, HtmlTree) or not _is_over(tree, target))


def _is_over(tree: HtmlTree, target: Target) -> bool:
    try:
        if target.stand_in is None or tree.search(target.selector):
            return False
        bundle = bundle_of(tree, target.stand_in)
        is_renamed = bundle is None or bool(dict(bundle.attributes).get("class", "").split())
        return lacks_a_state(tree, target.selector, target.stand_in, is_renamed=is_renamed)
    except RefusedError:  # the comparison reports it
        return False


def mend(document: Document, targets: Sequence[Target]) -> list[Mended]:
    """Search for the targets whose selectors match nothing, and register the replacements; return
    them.
    """
    tree = document.tree
    if not isinstance(tree, HtmlTree):
        return []
    mended = []
    for target in targets:
        try:
            if not target.bundle or tree.find(target.selector):
                continue
            bundle = Bundle.of_json(target.bundle)
            healed = heal(tree, bundle)
        except RefusedError:  # the comparison reports it
            continue
        if healed is not None and not lacks_a_state(
            tree, target.selector, healed.selector, is_renamed=has_another_class(bundle, healed)
        ):
            tree.stand_in(target.selector, healed.selector)
            mended.append(
                Mended(
                    selector=target.selector,
                    stand_in=healed.selector,
                    score=round(healed.score, 3),
                    before=bundle.text,
                    after=healed.text,
                )
            )
    if mended:
        document.parts.clear()
    return mended


def targets_of(
    document: Document, expression: Expression, extraction: Extraction, known: Sequence[Target]
) -> tuple[Target, ...]:
    """Return the current matches of an expression's selectors, and their replacements; unmatched
    ones stay as they were.

    Args:
        document: The page.
        expression: What is asked for.
        extraction: Which part of the page.
        known: What the selectors matched before.
    """
    tree = document.tree
    if not isinstance(tree, HtmlTree):
        return tuple(known)
    before = {target.selector: target for target in known}
    found = (_target(tree, selector, before.get(selector)) for selector in _selectors(expression, extraction))
    return tuple(target for target in found if target is not None)


def _selectors(expression: Expression, extraction: Extraction) -> Iterator[Selector]:
    every = (selector for scope in scopes_of(expression, extraction) for selector in scope.selectors)
    return (selector for selector in dict.fromkeys(every) if selector.language != "jsonpath")


def _target(tree: HtmlTree, selector: Selector, known: Target | None) -> Target | None:
    try:
        if tree.search(selector):
            bundle = bundle_of(tree, selector)
            return None if bundle is None else Target(selector=selector, bundle=tuple(bundle.as_json()))
        stand_in = tree.standing_in(selector)
        if stand_in is None:
            return None if known is None else replace(known, stand_in=None)
        if (bundle := bundle_of(tree, stand_in)) is not None:
            return Target(selector=selector, bundle=tuple(bundle.as_json()), stand_in=stand_in)
    except RefusedError:  # the comparison reports it
        pass
    return known


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
