"""Targets: a description of a selector's match, to find it again when the selector matches nothing
any more (detection §4.4).

A *bundle* describes one element by features that rarely all change at once: its text, its
attributes, its neighbours, and its ancestors. When the selector fails, every element of the page is
compared with the bundle, feature by feature; the best one is accepted only if it is similar enough,
and clearly more so than the next. Selectors that match several elements, or attributes, have no
bundle.

The selector for the new place is the plainest one that matches only it: an id or another naming
attribute, a class, combinations of these, and numbers last (ROBULA+, Leotta et al., JSEP 2016).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final
from weakref import WeakKeyDictionary

from selectolax.lexbor import LexborNode

from tidings.document.html.walk import WITHOUT_TEXT
from tidings.document.select.chosen import RefusedError
from tidings.document.select.trees import HtmlTree
from tidings.model.watch.interest import Selector
from tidings.record import dataclass, replace

ACCEPTED: Final = 0.75
"""The least similarity of an accepted element,"""
AHEAD: Final = 0.15
"""and its least lead over any other."""

WEIGHTS: Final[Mapping[str, float]] = {
    "text": 0.30,
    "attributes": 0.20,
    "before": 0.15,
    "after": 0.15,
    "path": 0.15,
    "tag": 0.05,
}
"""The weight of each feature; features that a target lacks do not count."""

MOST_ELEMENTS: Final = 20_000
"""Pages of more elements are not searched."""
_CLOSEST = 40
"""The number of elements that are fully compared; a quick comparison selects them."""
_TEXT, _NEAR, _VALUE, _STEPS, _ATTRIBUTES = 400, 80, 120, 8, 16
NAMING = (
    "id",
    "data-testid",
    "data-test",
    "data-qa",
    "data-cy",
    "name",
    "itemprop",
    "property",
    "role",
    "aria-label",
    "for",
    "href",
)
"""Naming attributes, the most stable first."""
_COMPARED = frozenset(
    {*NAMING, "class", "type", "rel", "title", "alt", "src", "itemtype", "aria-labelledby", "headers", "scope"}
)
_SKIPPED = frozenset({*WITHOUT_TEXT, "html", "head", "meta", "link", "base", "br", "source", "path"})
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_MADE = re.compile(r"(?=[^-_]*\d)(?=[^-_]*[a-zA-Z])[A-Za-z0-9]{5,}|[0-9a-f]{6,}|\d{3,}")
"""Generated names: they change at the next build."""
_PLAIN = re.compile(r"-?[A-Za-z_][\w-]*")


@dataclass(frozen=True, slots=True)
class Bundle:
    """The description of a target. `path` are its ancestors and itself, the nearest last, each as
    its tag and the words of its id and classes.
    """

    tag: str
    attributes: tuple[tuple[str, str], ...]
    text: str
    before: str
    after: str
    path: tuple[str, ...]

    def as_json(self) -> list[Any]:
        """Return it as stored."""
        pairs = [list(pair) for pair in self.attributes]
        return [self.tag, pairs, self.text, self.before, self.after, list(self.path)]

    @classmethod
    def of_json(cls, stored: Sequence[Any]) -> Bundle:
        """Return a stored bundle."""
        tag, attributes, text, before, after, path = stored
        return cls(tag, tuple((name, value) for name, value in attributes), text, before, after, tuple(path))


@dataclass(frozen=True, slots=True)
class Healed:
    """The new place of a target: a selector that matches only it, its similarity to the bundle, its
    text, its attributes.
    """

    selector: Selector
    score: float
    text: str
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Rated:
    """An element and its similarity to a bundle."""

    node: LexborNode
    score: float


def bundle_of(tree: HtmlTree, selector: Selector) -> Bundle | None:
    """Return the bundle of the single match of a selector, None if it matches nothing or several
    elements.

    Raises `RefusedError` if the selector costs too much.
    """
    found = tree.search(selector)
    if len(found.nodes) != 1 or found.attributes:
        return None
    page = _page(tree)
    node = page.by_id.get(next(iter(found.nodes))) if page is not None else None
    return page.bundle(node) if page is not None and node is not None else None


def heal(tree: HtmlTree, bundle: Bundle, weights: Mapping[str, float] = WEIGHTS) -> Healed | None:
    """Return the new place of a target, None if nothing on the page is similar enough, or two
    things are.
    """
    page = _page(tree)
    if page is None:
        return None
    best, second = best_of(tree, bundle, weights)
    if best is None or best.score < ACCEPTED or best.score - second < AHEAD:
        return None
    selector = _selector_of(tree, best.node)
    now = page.bundle(best.node)
    return Healed(selector, best.score, now.text, now.attributes) if selector is not None else None


def best_of(tree: HtmlTree, bundle: Bundle, weights: Mapping[str, float] = WEIGHTS) -> tuple[Rated | None, float]:
    """Return the element most similar to a bundle, and the score of the next distinct one.

    An element with the same text as its descendant or ancestor is not distinct from it.
    """
    page = _page(tree)
    if page is None:
        return None, 0.0
    rated = page.rate(bundle, weights)
    if not rated:
        return None, 0.0
    best = rated[0]
    others = (one.score for one in rated[1:] if not page.is_same_place(best.node, one.node))
    return best, next(others, 0.0)


# -- the page -------------------------------------------------------------------------------------


class _Page:
    """The elements of a page with the texts inside, before and after each."""

    def __init__(self, root: LexborNode) -> None:
        self.elements: list[LexborNode] = []
        self.texts: list[str] = []
        self.by_id: dict[int, LexborNode] = {}
        self._spans: dict[int, tuple[int, int]] = {}
        self._walk(root)

    def _walk(self, root: LexborNode) -> None:
        open_elements: list[tuple[LexborNode, int]] = []
        node: LexborNode | None = root
        while True:
            while node is None:
                if not open_elements:
                    return
                last, start = open_elements.pop()
                self._spans[last.mem_id] = (start, len(self.texts))
                node = last.next
            if node.is_text_node:
                if text := " ".join((node.text_content or "").split()):
                    self.texts.append(text)
            elif node.is_element_node and node.tag not in WITHOUT_TEXT and len(self.elements) <= MOST_ELEMENTS:
                self.elements.append(node)
                self.by_id[node.mem_id] = node
                self._spans[node.mem_id] = (len(self.texts), len(self.texts))
                if node.first_child is not None:
                    open_elements.append((node, len(self.texts)))
                    node = node.first_child
                    continue
            node = node.next

    def span(self, node: LexborNode) -> tuple[int, int]:
        """Return the range of texts in an element."""
        return self._spans.get(node.mem_id, (0, 0))

    def bundle(self, node: LexborNode) -> Bundle:
        """Return the bundle of an element."""
        start, end = self.span(node)
        return Bundle(
            node.tag or "",
            tuple(_attributes(node)),
            self._join(self.texts[start:end], _TEXT),
            self.texts[start - 1][-_NEAR:] if start else "",
            self.texts[end][:_NEAR] if end < len(self.texts) else "",
            tuple(_path(node)),
        )

    @staticmethod
    def _join(texts: Sequence[str], most: int) -> str:
        found, length = [], 0
        for text in texts:
            found.append(text)
            length += len(text) + 1
            if length > most:
                break
        return " ".join(found)[:most]

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the words of all ids and classes of the page."""
        names_of = (f"{node.attrs.get('id') or ''} {node.attrs.get('class') or ''}" for node in self.elements)
        return frozenset(word for name in set(names_of) for word in _words(name))

    def rate(self, bundle: Bundle, weights: Mapping[str, float]) -> list[Rated]:
        """Return the elements most similar to a bundle, the best first.

        If none of the names around the target exists on the page any more, everything was renamed,
        and names are ignored.
        """
        named = {word for step in bundle.path for word in step.split()[1:]}
        if named and not named & self.names:
            bundle = _without_names(bundle)
            return self._rate(bundle, weights, lambda node: _without_names(self.bundle(node)))
        return self._rate(bundle, weights, self.bundle)

    def _rate(
        self, bundle: Bundle, weights: Mapping[str, float], described: Callable[[LexborNode], Bundle]
    ) -> list[Rated]:
        likely = sorted(
            (
                (self._quick(node, bundle), place)
                for place, node in enumerate(self.elements)
                if node.tag not in _SKIPPED
            ),
            key=lambda one: (-one[0], one[1]),
        )[:_CLOSEST]
        whole = [
            Rated(self.elements[place], similarity(bundle, described(self.elements[place]), weights))
            for _, place in likely
        ]
        return sorted(whole, key=lambda one: -one.score)

    def _quick(self, node: LexborNode, bundle: Bundle) -> float:
        """Return a quick estimate of an element's similarity to a bundle: its tag, its neighbours
        and its length.
        """
        start, end = self.span(node)
        before = _near_like(bundle.before, self.texts[start - 1] if start else "")
        after = _near_like(bundle.after, self.texts[end] if end < len(self.texts) else "")
        first = _near_like(bundle.text, self.texts[start] if start < end else "")
        own = 0.0
        if node.tag == bundle.tag:
            known, attributes = dict(bundle.attributes), node.attrs
            own = 1.0 + sum(name in known and (attributes.get(name) or "") == known[name] for name in ("id", "class"))
        return before + after + first + own

    def is_same_place(self, one: LexborNode, other: LexborNode) -> bool:
        """Return whether one of two elements contains the other and has the same text."""
        return self.span(one) == self.span(other) and (_holds(one, other) or _holds(other, one))


_PAGES: WeakKeyDictionary[HtmlTree, _Page] = WeakKeyDictionary()
"""The cached elements of trees that are still in use."""


def _page(tree: HtmlTree) -> _Page | None:
    """Return the elements of a page, None if it has none, or too many."""
    if tree.root is None:
        return None
    if tree not in _PAGES:
        _PAGES[tree] = _Page(tree.root)
    page = _PAGES[tree]
    return page if len(page.elements) <= MOST_ELEMENTS else None


def _without_names(bundle: Bundle) -> Bundle:
    attributes = tuple(pair for pair in bundle.attributes if pair[0] not in {"id", "class"})
    return replace(bundle, attributes=attributes, path=tuple(step.split()[0] for step in bundle.path))


def _holds(outer: LexborNode, inner: LexborNode) -> bool:
    above = inner.parent
    while above is not None:
        if above.mem_id == outer.mem_id:
            return True
        above = above.parent
    return False


def _attributes(node: LexborNode) -> Iterator[tuple[str, str]]:
    found = 0
    for name, value in sorted(node.attrs.items()):
        if (name in _COMPARED or name.startswith("data-")) and found < _ATTRIBUTES:
            found += 1
            yield name, " ".join((value or "").split())[:_VALUE]


def _path(node: LexborNode) -> list[str]:
    steps: list[str] = []
    at: LexborNode | None = node
    while at is not None and at.is_element_node and len(steps) < _STEPS:
        words = sorted(_words(f"{at.attrs.get('id') or ''} {at.attrs.get('class') or ''}"))
        steps.append(" ".join([at.tag or "", *words[:6]]))
        at = at.parent
    return steps[::-1]


def _words(name: str) -> frozenset[str]:
    """Return the words of a name, without generated parts."""
    return frozenset(word.lower() for word in _WORD.findall(_MADE.sub(" ", name)))


# -- similarity -----------------------------------------------------------------------------------


def similarity(bundle: Bundle, other: Bundle, weights: Mapping[str, float] = WEIGHTS) -> float:
    """Return the similarity of two bundles, 0 to 1: the weighted mean over the features of the
    first one.
    """
    ways = {
        "text": _texts_alike(bundle.text, other.text) if bundle.text else None,
        "attributes": _attributes_alike(bundle.attributes, other.attributes) if bundle.attributes else None,
        "before": _texts_alike(bundle.before, other.before) if bundle.before else None,
        "after": _texts_alike(bundle.after, other.after) if bundle.after else None,
        "path": _paths_alike(bundle.path, other.path),
        "tag": float(bundle.tag == other.tag),
    }
    known = {name: rate for name, rate in ways.items() if rate is not None and weights[name]}
    total = sum(weights[name] for name in known)
    return sum(weights[name] * rate for name, rate in known.items()) / total if total else 0.0


def _plain(text: str) -> str:
    return _DIGITS.sub("0", text.casefold())


def _near_like(known: str, text: str) -> float:
    """Return a quick similarity of two texts: whether they begin or end alike, numbers aside."""
    if not known or not text:
        return 0.0
    one, other = _plain(known[:_NEAR]), _plain(text[:_NEAR])
    return 1.0 if one == other else 0.5 if one[:12] == other[:12] or one[-12:] == other[-12:] else 0.0


def _texts_alike(one: str, other: str) -> float:
    """Return the share of common trigrams of two texts (Dice), numbers aside."""
    first, second = _plain(one), _plain(other)
    if first == second:
        return 1.0
    grams, others = _grams(first), _grams(second)
    common = sum((grams & others).values())
    total = sum(grams.values()) + sum(others.values())
    return 2 * common / total if total else 0.0


def _grams(text: str) -> Counter[str]:
    padded = f"  {text} "
    return Counter(padded[at : at + 3] for at in range(len(padded) - 2))


def _attributes_alike(one: Sequence[tuple[str, str]], other: Sequence[tuple[str, str]]) -> float:
    """Return how many of the attributes recur: whole, or at least their words."""
    exact, others = _tokens(one), _tokens(other)
    words = frozenset(word for name, value in one for word in _words(value)) if one else frozenset()
    other_words = frozenset(word for name, value in other for word in _words(value))
    return max(_jaccard(exact, others), 0.8 * _jaccard(words, other_words) if words else 0.0)


def _tokens(attributes: Sequence[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (name, part) for name, value in attributes for part in (value.split() if name in {"class", "rel"} else [value])
    )


def _jaccard(one: frozenset[Any], other: frozenset[Any]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


def _paths_alike(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the similarity of the ancestors of two targets, from the inside out; an inserted or
    removed one costs one step.
    """
    ours, theirs = one[::-1], other[::-1]
    best = [[0.0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for i, step in enumerate(ours):
        for j, their_step in enumerate(theirs):
            best[i + 1][j + 1] = max(best[i][j + 1], best[i + 1][j], best[i][j] + _steps_alike(step, their_step))
    return best[-1][-1] / max(len(ours), len(theirs), 1)


def _steps_alike(one: str, other: str) -> float:
    (tag, *words), (other_tag, *other_words) = one.split(), other.split()
    return 0.5 * (tag == other_tag) + 0.5 * _jaccard(frozenset(words), frozenset(other_words))


# -- selectors ------------------------------------------------------------------------------------


def _selector_of(tree: HtmlTree, node: LexborNode) -> Selector | None:
    """Return the plainest CSS selector that matches only this element, None if none may be
    tried.
    """
    inner = list(_steps_of(node))
    for text in inner:
        if _finds_only(tree, text, node):
            return Selector("css", text)
    above = node.parent
    depth = 0
    while above is not None and above.is_element_node and depth < _STEPS:
        for outer in list(_steps_of(above))[:4]:
            for text in inner[:4]:
                if _finds_only(tree, f"{outer} {text}", node):
                    return Selector("css", f"{outer} {text}")
        above, depth = above.parent, depth + 1
    numbered = _number_path(node)
    return Selector("css", numbered) if _finds_only(tree, numbered, node) else None


def _steps_of(node: LexborNode) -> Iterator[str]:
    """Yield possible names of an element, the most stable first."""
    attributes, tag = node.attrs, node.tag or "*"
    for name in NAMING:
        value = attributes.get(name)
        if not value or len(value) > _VALUE or _MADE.search(value) or '"' in value or "\\" in value or "\n" in value:
            continue
        yield f"#{value}" if name == "id" and _PLAIN.fullmatch(value) else f'{tag}[{name}="{value}"]'
    classes = [one for one in (attributes.get("class") or "").split() if _PLAIN.fullmatch(one)]
    given = [one for one in classes if not _MADE.search(one)]
    yield from (f"{tag}.{one}" for one in given[:4])
    if len(given) > 1:
        yield tag + "".join(f".{one}" for one in given[:6])
    yield tag


def _number_path(node: LexborNode) -> str:
    """Return the path to an element by numbers among those of its tag, from the root or the nearest
    id.
    """
    steps: list[str] = []
    at: LexborNode | None = node
    while at is not None and at.is_element_node and at.tag != "html":
        id_ = at.attrs.get("id")
        if at.mem_id != node.mem_id and id_ and _PLAIN.fullmatch(id_) and not _MADE.search(id_):
            steps.append(f"#{id_}")
            break
        number, before = 1, at.prev
        while before is not None:
            number += before.is_element_node and before.tag == at.tag
            before = before.prev
        steps.append(f"{at.tag}:nth-of-type({number})")
        at = at.parent
    return " > ".join(reversed(steps))


def _finds_only(tree: HtmlTree, text: str, node: LexborNode) -> bool:
    try:
        return tree.search(Selector("css", text)).nodes == {node.mem_id}
    except RefusedError:
        return False
