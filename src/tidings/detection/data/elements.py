"""Elements: two versions of XML compared as ordered, labelled trees, as planned for CX-Diff (004
§5.1, §8; detection §5).

Elements of a name are identified by a distinguishing attribute or child, if they have one; else
equal ones are paired, and of the rest those that share at least half of their content. The findings
are texts and attributes that were inserted, deleted or updated, elements inserted or deleted with
their content, and elements moved among their neighbours. The work is bounded: the tree is of
bounded size and is walked to a bounded depth, and neighbours are aligned within the bounds of
`compare.anchored`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from tidings.detection.compare.pairing import pair_alike
from tidings.detection.compare.words import compare_sequences
from tidings.detection.data.differences import DEEPEST, LONGEST, LONGEST_COMPARED, Difference, Differences, Span
from tidings.detection.data.json_values import ID_FIELDS
from tidings.document.data.xml_tree import Attributes, Node
from tidings.document.text.excerpts import common_ends
from tidings.model.observed.change import Edit

Child = Node | str
Pair = tuple[int, int]

_SETS = frozenset({"urlset", "sitemapindex"})
"""Elements whose children are unordered: those of sitemaps."""
_LIKELY = (*ID_FIELDS, "loc", "ref", "currency")
_LONGEST_KEY = 80


class _NodeAt:
    """A node and its place in its document."""

    __slots__ = ("_parent", "_place", "_starts", "node")

    def __init__(self, node: Child, parent: _NodeAt | None = None, place: int = 0) -> None:
        self.node = node
        self._parent = parent
        self._place = place
        self._starts: list[int] | None = None

    def start(self, size: Callable[[Child], int]) -> int:
        """Return the number of its first word; `size` returns the words of a node."""
        if self._parent is None:
            return 0
        before = self._parent.starts(size)
        return before[self._place]

    def starts(self, size: Callable[[Child], int]) -> list[int]:
        """Return the number of the first word of each child."""
        if self._starts is None:
            first = self.start(size) + len(self.node[1])
            self._starts = list(accumulate(map(size, self.node[2]), initial=first))
        return self._starts


def compare_elements(old: Sequence[Child], new: Sequence[Child]) -> list[Difference]:
    """Return the differences of the nodes of two documents; their spans are pieces, two per word.
    Raise `TooManyError`.
    """
    comparison = _ElementComparison()
    namespaces = [[_namespace(node) for node in side] for side in (old, new)]
    if len(old) == len(new) and namespaces[0] != namespaces[1]:  # only the version of the vocabulary differs
        for before, after in dict.fromkeys(zip(*namespaces, strict=True)):
            comparison.note_namespace("", before, after)
        old, new = ([_plain(node) for node in side] for side in (old, new))
    comparison.compare_children("", _NodeAt(("", (), tuple(old))), _NodeAt(("", (), tuple(new))))
    return comparison.differences.found


class _ElementComparison:
    def __init__(self) -> None:
        self.differences = Differences()
        self._numbers: dict[Child, int] = {}
        self._sizes: dict[int, int] = {}
        self._namespaces: set[tuple[str, str]] = set()
        self._depth = 0

    def compare(self, path: str, old: _NodeAt, new: _NodeAt) -> None:
        """Record the differences of two paired nodes."""
        before, after = old.node, new.node
        if before == after:
            return
        if isinstance(before, str) or isinstance(after, str) or self._depth == DEEPEST:
            texts = write_node(before, LONGEST_COMPARED), write_node(after, LONGEST_COMPARED)
            self._add(Difference(path, *texts, self._span(old), self._span(new)))
            return
        self.note_namespace(path, _namespace(before), _namespace(after))
        self._attributes(path, old, new, before[1], after[1])
        self._depth += 1
        self.compare_children(path, old, new)
        self._depth -= 1

    def compare_children(self, path: str, old: _NodeAt, new: _NodeAt) -> None:
        """Record the differences of the content of two elements."""
        was, now = ([_NodeAt(child, one, place) for place, child in enumerate(one.node[2])] for one in (old, new))
        aligned = _Aligned(self, [one.node for one in was], [one.node for one in now])
        names = _Names(aligned)
        is_set = _local(old.node) in _SETS
        for i, j in aligned.pairs:
            self.compare(names.path(path, j, is_new=True), was[i], now[j])
            if (i, j) in aligned.moved and not is_set:
                one = now[j]
                text = write_node(one.node)
                moved = Difference(
                    names.path(path, j, is_new=True), text, text, self._span(was[i]), self._span(one), is_moved=True
                )
                self._add(moved)
        for i in aligned.gone:
            gone = names.path(path, i, is_new=False)
            self._add(Difference(gone, write_node(was[i].node), None, self._span(was[i]), self._end(new)))
        for j in aligned.come:
            come = names.path(path, j, is_new=True)
            self._add(Difference(come, None, write_node(now[j].node), self._end(old), self._span(now[j])))

    def note_namespace(self, path: str, before: str, after: str) -> None:
        """Record another namespace of elements: once for all, not at each."""
        if before != after and (before, after) not in self._namespaces:
            self._namespaces.add((before, after))
            self._add(Difference(f"{path} namespace".lstrip(), before or "none", after or "none", (0, 0), (0, 0)))

    def _attributes(self, path: str, old: _NodeAt, new: _NodeAt, before: Attributes, after: Attributes) -> None:
        was = {name: (at, value) for at, (name, value) in enumerate(before)}
        now = {name: (at, value) for at, (name, value) in enumerate(after)}
        for name in dict.fromkeys((*was, *now)):
            here = was[name][0] if name in was else len(before)
            there = now[name][0] if name in now else len(after)
            one = was[name][1] if name in was else None
            other = now[name][1] if name in now else None
            if one != other:
                first, second = old.start(self._size) + here, new.start(self._size) + there
                gone, come = (2 * first, 2 * (first + (name in was))), (2 * second, 2 * (second + (name in now)))
                self._add(Difference(f"{path}/@{_local_name(name)}", one, other, gone, come))

    def _add(self, difference: Difference) -> None:
        self.differences.add(difference)

    def _span(self, at: _NodeAt) -> Span:
        start = at.start(self._size)
        return 2 * start, 2 * (start + self._size(at.node))

    def _end(self, at: _NodeAt) -> Span:
        end = self._span(at)[1]
        return end, end

    def _size(self, node: Child) -> int:
        """Return how many words a node has: its attributes and texts."""
        if isinstance(node, str):
            return 1
        known = self._sizes.get(id(node))
        if known is None:
            known = len(node[1])
            for child in node[2]:
                known += 1 if isinstance(child, str) else self._size(child)
            self._sizes[id(node)] = known
        return known

    def number(self, node: Child) -> int:
        """Return a number that is equal exactly for equal nodes."""
        return self._numbers.setdefault(node, len(self._numbers))

    def features(self, node: Child) -> frozenset[Hashable]:
        """Return the features of an element's content, for pairing."""
        return frozenset() if isinstance(node, str) else frozenset((*node[1], *node[2]))


class _Aligned:
    """The pairing of the children of two elements. `pairs` are in the order of the new ones; those
    of `moved` are out of order.
    """

    def __init__(self, comparison: _ElementComparison, old: Sequence[Child], new: Sequence[Child]) -> None:
        self.old, self.new = old, new
        self.keys = _keys(old, new)
        self._comparison = comparison
        self._known = [_key(child, self.keys) for child in old], [_key(child, self.keys) for child in new]
        self._tokens = tuple(
            [self._token(child, key) for child, key in zip(side, keys, strict=True)]
            for side, keys in zip((old, new), self._known, strict=True)
        )
        edits = self._edits()
        left = [i for edit in edits for i in range(edit.old_start, edit.old_end)]
        fresh = [j for edit in edits for j in range(edit.new_start, edit.new_end)]
        self.moved = frozenset(self._same(left, fresh))
        pairs = [*_between(edits, len(old), len(new)), *self.moved]
        taken = {i for i, _ in self.moved}, {j for _, j in self.moved}
        for edit in edits:
            gap, into = (
                [at for at in range(*span) if at not in out and keys[at] is None]
                for span, out, keys in zip(
                    ((edit.old_start, edit.old_end), (edit.new_start, edit.new_end)), taken, self._known, strict=True
                )
            )
            pairs += self._pair_edited(gap, into)
        self.pairs = sorted(pairs, key=_second)
        ours, theirs = {i for i, _ in pairs}, {j for _, j in pairs}
        self.gone = [i for i in left if i not in ours]
        self.come = [j for j in fresh if j not in theirs]

    def _edits(self) -> list[Edit]:
        """Return the edits of the sequence of children: those with a key by their keys, the others
        by their content.
        """
        head, tail = common_ends(self.old, self.new)
        was, now = (tokens[head : len(tokens) - tail] for tokens in self._tokens)
        edits = compare_sequences(was, now)
        return [
            Edit(edit.op, edit.old_start + head, edit.old_end + head, edit.new_start + head, edit.new_end + head)
            for edit in edits
        ]

    def _token(self, child: Child, key: str | None) -> str:
        return f"#{self._comparison.number(child)}" if key is None else f"{_local(child)} {key}"

    def _same(self, left: Sequence[int], fresh: Sequence[int]) -> Iterator[Pair]:
        """Yield pairs of remaining children that are equal to a new one elsewhere."""
        was, now = self._tokens
        places: dict[str, list[int]] = {}
        for j in reversed(fresh):
            places.setdefault(now[j], []).append(j)
        for i in left:
            if waiting := places.get(was[i]):
                yield i, waiting.pop()

    def _pair_edited(self, left: Sequence[int], fresh: Sequence[int]) -> list[Pair]:
        """Return pairs of edited children between two equal neighbours: of one name, and similar or
        the only ones.
        """
        found: list[Pair] = []
        features = self._comparison.features
        others = _places_by_name(self.new, fresh)
        for name, places in _places_by_name(self.old, left).items():
            was, now = places, others.get(name, [])
            alike = pair_alike([features(self.old[i]) for i in was], [features(self.new[j]) for j in now])
            found += [(was[a], now[b]) for a, b in alike]
            first, second = {a for a, _ in alike}, {b for _, b in alike}
            was = [i for place, i in enumerate(was) if place not in first]
            now = [j for place, j in enumerate(now) if place not in second]
            if len(was) == len(now):
                found += zip(was, now, strict=True)
        return found


def _second(pair: Pair) -> int:
    return pair[1]


def _between(edits: Sequence[Edit], old: int, new: int) -> list[Pair]:
    """Return the pairs of places that edits leave unchanged."""
    pairs: list[Pair] = []
    i = j = 0
    for edit in edits:
        pairs += zip(range(i, edit.old_start), range(j, edit.new_start), strict=True)
        i, j = edit.old_end, edit.new_end
    pairs += zip(range(i, old), range(j, new), strict=True)
    return pairs


def _keys(old: Sequence[Child], new: Sequence[Child]) -> dict[str, str]:
    """Return the key field of the elements of each name, if there is one: `@id` an attribute, `loc`
    a child.
    """
    was, now = _by_name(old), _by_name(new)
    found: dict[str, str] = {}
    for name in was.keys() & now.keys():
        if max(len(was[name]), len(now[name])) > 1 and (field := _field_of(was[name], now[name])):
            found[name] = field
    return found


def _places_by_name(children: Sequence[Child], places: Sequence[int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place in places:
        found.setdefault(_local(children[place]), []).append(place)
    return found


def _by_name(children: Sequence[Child]) -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = {}
    for child in children:
        if not isinstance(child, str):
            found.setdefault(_local(child), []).append(child)
    return found


def _field_of(old: Sequence[Node], new: Sequence[Node]) -> str:
    """Return the field that all elements have, unique in each version: a likely one, else the most
    stable attribute.
    """
    attributes = {_local_name(name) for name, _ in old[0][1]}
    children = {_local(child) for child in old[0][2]}
    for name in _LIKELY:
        if name in attributes and _count_shared(old, new, f"@{name}"):
            return f"@{name}"
        if name in children and _count_shared(old, new, name):
            return name
    was, now = ([_attributes(node) for node in side] for side in (old, new))
    rated = [
        (_common([one.get(name) for one in was], [one.get(name) for one in now]), name) for name in sorted(attributes)
    ]
    best = max(rated, key=lambda row: row[0], default=(0, ""))
    return f"@{best[1]}" if best[1] and 2 * best[0] >= min(len(old), len(new)) else ""


def _count_shared(old: Sequence[Node], new: Sequence[Node], field: str) -> int:
    was, now = ([_value(node, field) for node in side] for side in (old, new))
    return _common(was, now)


def _common(was: Sequence[str | None], now: Sequence[str | None]) -> int:
    """Return how many values of a field both versions share; 0 if an element lacks it (None) or two
    of a version share it.
    """
    before, after = set(was), set(now)
    if None in before | after or len(before) < len(was) or len(after) < len(now):
        return 0
    return len(before & after)


def _attributes(node: Node) -> dict[str, str]:
    """Return the attributes of an element without namespaces; of equal names the first."""
    return {_local_name(name): value for name, value in reversed(node[1])}


def _value(node: Node, field: str) -> str | None:
    """Return an attribute, or the text of the only child of a name if it has nothing else; None if
    there is none.
    """
    if field.startswith("@"):
        return next((value for name, value in node[1] if _local_name(name) == field[1:]), None)
    inside = [child[2] for child in node[2] if not isinstance(child, str) and _local_name(child[0]) == field]
    if len(inside) != 1 or len(inside[0]) != 1:
        return None
    text = inside[0][0]
    return text if isinstance(text, str) else None


def _key(child: Child, keys: Mapping[str, str]) -> str | None:
    field = keys.get(_local(child))
    return None if field is None or isinstance(child, str) else _value(child, field)


class _Names:
    """Paths of children: by the key if they have one, else by their number among those of their
    name if there are several.
    """

    def __init__(self, aligned: _Aligned) -> None:
        self._keys = aligned.keys
        self._sides = (aligned.old, aligned.new)
        self._several = {
            name for side in self._sides for name, times in Counter(map(_local, side)).items() if times > 1
        }
        self._ranks = tuple(self._rank(side) for side in self._sides)

    def path(self, path: str, place: int, *, is_new: bool) -> str:
        """Return the path of a child of one of the two versions."""
        child = self._sides[is_new][place]
        if isinstance(child, str):
            return path
        name = _local(child)
        here = f"{path}/{name}" if path else name
        key = _key(child, self._keys)
        if key is not None:
            short = key if len(key) <= _LONGEST_KEY else f"{key[: _LONGEST_KEY - 1]}…"
            return f"{here}[{self._keys[name]}={short}]"
        return f"{here}[{self._ranks[is_new][place]}]" if name in self._several else here

    @staticmethod
    def _rank(children: Sequence[Child]) -> list[int]:
        times: Counter[str] = Counter()
        found = []
        for child in children:
            times[_local(child)] += 1
            found.append(times[_local(child)])
        return found


def _local(child: Child) -> str:
    return "" if isinstance(child, str) else _local_name(child[0])


@lru_cache(maxsize=4_096)
def _local_name(name: str) -> str:
    return name.rpartition("}")[2]


def _namespace(child: Child) -> str:
    return "" if isinstance(child, str) else child[0].rpartition("}")[0].removeprefix("{")


def _plain(node: Child) -> Child:
    """Return a node with names without namespaces."""
    return node if isinstance(node, str) else (_local_name(node[0]), node[1], tuple(map(_plain, node[2])))


def write_node(node: Child, most: int = LONGEST) -> str:
    """Return the text of a node, with its attributes first, cut to `most` characters."""
    parts: list[str] = []
    length = 0
    left: list[Child] = [node]
    while left and length <= most:
        one = left.pop()
        written = [one] if isinstance(one, str) else [f"{_local_name(name)}={value}" for name, value in one[1]]
        left += () if isinstance(one, str) else one[2][::-1]
        parts += written
        length += sum(len(text) + 1 for text in written)
    return " ".join(parts)
