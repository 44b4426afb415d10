"""Selectors that heal: what a job knows of the selectors of one subscription, and what it makes of them (detection §4.4, `document.targets`).

While a selector finds one element, a bundle of it is kept. In a second look that finds nothing, the bundle is looked for; what is like it enough and
alone stands in for the selector from then on, in old versions and new ones, wherever the selector itself finds nothing. An element that is where it
was and only lacks a state that the selector asks for is not looked for: it is lost, and that is notified (`document.asked`). What stands in for a selector
does so no longer once that is all that it lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tidings.detection.job.contract import Mended, Target
from tidings.detection.kinds.aims import scopes_of
from tidings.document.document import Document
from tidings.document.select.asked import has_another_class, lacks_a_state
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import Extraction
from tidings.document.select.targets import Bundle, bundle_of, heal
from tidings.document.select.trees import HtmlTree
from tidings.model.watch.interest import Expression, Selector


def use(document: Document, targets: Iterable[Target]) -> None:
    """Let what stands in for selectors be found in a document."""
    tree = document.tree
    if not isinstance(tree, HtmlTree):
        return
    for target in targets:
        if target.stand_in is not None:
            tree.stand_in(target.selector, target.stand_in)


def standing(document: Document, targets: Iterable[Target]) -> tuple[Target, ...]:
    """Return the targets that something may stand in for in a document.

    What finds the element that the selector itself names, without a state that it asks for, stands in for nothing: the state is over. A class may
    have been renamed long ago, so it is a state only where the selector names the element without it, or where the element has no class at all.
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
    except RefusedError:  # the comparison says so
        return False


def mend(document: Document, targets: Sequence[Target]) -> list[Mended]:
    """Look for the targets whose selectors find nothing, and let what is found stand in for them; return what was mended."""
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
        except RefusedError:  # the comparison says so
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
    """Return what is known now of the selectors of an expression: what each finds, and what stands in for it; what finds nothing stays as it was."""
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
    except RefusedError:  # the comparison says so
        pass
    return known
