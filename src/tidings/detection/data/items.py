"""Items: the entries of a feed, of an array of JSON or of a list, by their identity (detection §5).

An entry is identified by its own id; if several entries share it, by its link, then by its title.
If all ids were reassigned, entries with the same link, or with the same or nearly the same title,
are the same. An edited title or text, or another enclosed file, is an update. Old entries that drop
off a feed were not deleted, and are not reported when they return: entries once seen are remembered
by their marks (`marks_of`). So are titles, since some feeds alternate between two of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field

import xxhash

from tidings.detection.compare.pairing import Numbered, running_numbers, without_numbers
from tidings.detection.data.itemised import alike
from tidings.detection.find.findings import KeyedUpdate, finding_of_body, finding_of_things
from tidings.document.document import Document
from tidings.document.html.links import Resolver
from tidings.document.structures.entries import Entry, entries_of, is_window
from tidings.document.text.words import tokens_of
from tidings.model.observed.change import ChangeSet
from tidings.model.watch.sentinel import Direction
from tidings.record import dataclass, replace

_EXCERPT = 400
_RESOLVED = ("items, resolved", None)


@dataclass(frozen=True, slots=True)
class Items:
    """Entries, as objects; of a feed those with a mark in `seen` are not new."""

    seen: frozenset[str] = frozenset()
    name: str = "items"
    contains: frozenset[str] = frozenset({"items"})
    digests: tuple[str, ...] = ("items", "body")

    def size(self, document: Document) -> int:
        """Return the number of entries."""
        return len(entries_of(document))

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the changes of the entries."""
        if old.textless or new.textless:
            return finding_of_body(old, new)
        return self._make_findings(self._news(_match(old, new), new))

    def choose(
        self, old: Document, new: Document, direction: Direction | None, is_meant: Callable[[str], bool]
    ) -> tuple[ChangeSet, ...]:
        """Return the entries that were inserted or updated (deleted, for `deleted`) and whose whole
        text matches.

        Args:
            old: The old page.
            new: The new page.
            direction: What happened to the entries; None for inserted or updated.
            is_meant: Whether the text of an entry matches.
        """
        matched = self._news(_match(old, new), new)
        if direction == "deleted":
            return self._make_findings(_Matched(gone=[entry for entry in matched.gone if is_meant(entry.text)]))
        come = [entry for entry in matched.come if is_meant(entry.text)]
        return self._make_findings(
            _Matched(come=come, updated=[pair for pair in matched.updated if is_meant(pair[1].text)])
        )

    def _make_findings(self, matched: _Matched) -> tuple[ChangeSet, ...]:
        finding = finding_of_things(
            self.name,
            [entry.label for entry in matched.gone],
            [entry.label for entry in matched.come],
            [_update(before, after) for before, after in matched.updated],
        )
        return (finding,) if finding else ()

    def _news(self, matched: _Matched, new: Document) -> _Matched:
        """Return the reported part of the inserted entries."""
        if not self.seen or not is_window(new):
            return matched
        shared = _list_shared_ids(resolve_entries(new))
        come = [entry for entry in matched.come if not self.seen.intersection(_names(entry, shared))]
        updated = [pair for pair in matched.updated if not self._is_shown_in_turn(*pair)]
        gone = matched.gone if entries_of(new) else []  # a feed that is temporarily empty
        return _Matched(gone, come, updated)

    def _is_shown_in_turn(self, before: Entry, after: Entry) -> bool:
        """Return whether only the title of an entry changed, to one that it had before."""
        is_title = before.title != after.title and _body(before) == _body(after)
        return is_title and bool(self.seen.intersection(_titles(after)))


def marks_of(document: Document) -> tuple[str, ...]:
    """Return the marks that identify the entries of a feed, the oldest first; none for any other
    document.

    Raises `RefusedError` as `entries_of` does.
    """
    if document.textless or not is_window(document):
        return ()
    entries = resolve_entries(document)
    shared = _list_shared_ids(entries)
    marks = (mark for entry in reversed(entries) for mark in (*_names(entry, shared), *_titles(entry)))
    return tuple(dict.fromkeys(marks))


def items_digest(document: Document) -> str:
    """Return the digest of everything that the comparison of entries depends on."""
    entries = entries_of(document)
    return "\x01".join(
        "\x00".join((entry.id, entry.link, entry.title, entry.text, *entry.enclosures)) for entry in entries
    )


@dataclass(slots=True)
class _Matched:
    gone: list[Entry] = field(default_factory=list)
    come: list[Entry] = field(default_factory=list)
    updated: list[tuple[Entry, Entry]] = field(default_factory=list)


def _match(old: Document, new: Document) -> _Matched:
    before, after = resolve_entries(old), resolve_entries(new)
    if not is_window(new) and (counted := _match_by_number(before, after)) is not None:
        return counted
    left, fresh = list(range(len(before))), list(range(len(after)))
    pairs: list[tuple[int, int]] = []
    for name in (_by_id, _by_link, _by_title, _by_text):
        pairs += _pair(before, after, left, fresh, name)
    pairs += _pair_reworded(before, after, left, fresh)
    if is_window(new) and _are_given_anew(before, after):
        pairs += _pair_retitled(before, after, left, fresh)
    found = _Matched(come=[after[j] for j in fresh])
    found.updated = [
        (before[i], after[j])
        for i, j in sorted(pairs, key=lambda pair: pair[1])
        if before[i] != after[j] and (_differ(before[i], after[j]) or before[i].enclosures != after[j].enclosures)
    ]
    survivors = [i for i, _ in pairs]
    found.gone = [before[i] for i in _without_tail(left, survivors, fresh, is_window=is_window(new))]
    return found


def _match_by_number(before: Sequence[Entry], after: Sequence[Entry]) -> _Matched | None:
    """Match entries whose ids are mere numbers, None if they are names."""
    numbers = [running_numbers([entry.id for entry in entries]) for entries in (before, after)]
    if not all(numbers):
        return None
    titles = [[entry.title for entry in entries] for entries in (before, after)]
    are_names = all(len(set(side)) == len(side) for side in titles) and {*titles[0]} & {*titles[1]}
    sides = (
        Numbered(counted, [{"text": tuple(_without_id(entry))} for entry in entries], side if are_names else ())
        for counted, entries, side in zip(numbers, (before, after), titles, strict=True)
    )
    if (found := without_numbers(*sides)) is None:
        return None
    pairs, moved = found
    gone, come = {i for i, _ in pairs}, {j for _, j in pairs}
    return _Matched(
        [entry for i, entry in enumerate(before) if i not in gone],
        [entry for j, entry in enumerate(after) if j not in come],
        [
            (before[i], after[j])
            for i, j in sorted(pairs, key=lambda pair: pair[1])
            if (i, j) in moved or _without_id(before[i]) != _without_id(after[j])
        ],
    )


def _without_id(entry: Entry) -> list[str]:
    """Return the content of an entry without its id."""
    texts = _texts_of(entry)
    for token in tokens_of(entry.id):
        if token in texts:
            texts.remove(token)
    return texts


def resolve_entries(document: Document) -> list[Entry]:
    """Return the entries of a document with absolute addresses. Raise `RefusedError` as
    `entries_of` does.
    """
    if _RESOLVED not in document.readings:
        resolver = Resolver(document.base)
        document.readings[_RESOLVED] = [_resolve(entry, resolver) for entry in entries_of(document)]
    return [*document.readings[_RESOLVED]]


def _resolve(entry: Entry, resolver: Resolver) -> Entry:
    link = next(iter(resolver.links([entry.link])), "") if entry.link else ""
    return entry if link == entry.link else replace(entry, link=link)


def _by_id(entry: Entry) -> str:
    return entry.id


def _by_link(entry: Entry) -> str:
    return entry.link


def _by_title(entry: Entry) -> str:
    return entry.title


def _by_text(entry: Entry) -> str:
    return entry.text


def _pair(
    before: Sequence[Entry],
    after: Sequence[Entry],
    left: list[int],
    fresh: list[int],
    name: Callable[[Entry], str],
) -> list[tuple[int, int]]:
    """Pair the open entries by name; a name that several of a version share is ignored, unless they
    are equal.
    """
    shared = {
        text
        for entries in (before, after)
        for text, count in Counter(map(name, entries)).items()
        if count > 1 and name is not _by_text
    }
    places: dict[str, list[int]] = {}
    for j in fresh:
        if (text := name(after[j])) and text not in shared:
            places.setdefault(text, []).append(j)
    found: list[tuple[int, int]] = []
    for i in left:
        if waiting := places.get(name(before[i])):
            found.append((i, waiting.pop(0)))
    gone, come = {i for i, _ in found}, {j for _, j in found}
    left[:] = [i for i in left if i not in gone]
    fresh[:] = [j for j in fresh if j not in come]
    return found


def _pair_reworded(
    before: Sequence[Entry], after: Sequence[Entry], left: list[int], fresh: list[int]
) -> list[tuple[int, int]]:
    """Pair entries without id and link whose texts are similar: an edited item of a list."""
    olds = {before[i].text: i for i in left if not before[i].id and not before[i].link}
    news = {after[j].text: j for j in fresh if not after[j].id and not after[j].link}
    found = [(olds[was], news[now]) for was, now in alike(list(olds), list(news))]
    gone, come = {i for i, _ in found}, {j for _, j in found}
    left[:] = [i for i in left if i not in gone]
    fresh[:] = [j for j in fresh if j not in come]
    return found


def _are_given_anew(before: Sequence[Entry], after: Sequence[Entry]) -> bool:
    """Return whether all entries have ids, none of which existed before."""
    return all(entry.id for entry in (*before, *after)) and not {e.id for e in before} & {e.id for e in after}


def _pair_retitled(
    before: Sequence[Entry], after: Sequence[Entry], left: list[int], fresh: list[int]
) -> list[tuple[int, int]]:
    """Pair entries of a feed whose ids were all reassigned and whose titles are similar."""
    olds = {before[i].title: i for i in left if before[i].title}
    news = {after[j].title: j for j in fresh if after[j].title}
    found = [(olds[was], news[now]) for was, now in alike(list(olds), list(news))]
    gone, come = {i for i, _ in found}, {j for _, j in found}
    left[:] = [i for i in left if i not in gone]
    fresh[:] = [j for j in fresh if j not in come]
    return found


def _list_shared_ids(entries: Sequence[Entry]) -> frozenset[str]:
    """Return the ids that several entries of a version share: they identify none of them."""
    return frozenset(text for text, count in Counter(entry.id for entry in entries).items() if count > 1)


def _names(entry: Entry, shared: frozenset[str]) -> tuple[str, ...]:
    """Return the marks that identify an entry: its own id, and its title with its link, which
    several may share.
    """
    own = (_mark("id", entry.id),) if entry.id and entry.id not in shared else ()
    return (*own, _mark("titled", f"{entry.link}\x00{entry.title or entry.text}"))


def _titles(entry: Entry) -> tuple[str, ...]:
    """Return the marks of the title of an entry."""
    return tuple(_mark("titled", f"{name}\x00{entry.title}") for name in (entry.id, entry.link) if name)


def _mark(sort: str, text: str) -> str:
    return xxhash.xxh3_64_hexdigest(f"{sort}\x00{text}".encode("utf-8", "replace"))[:MARK]


MARK = 11
"""Hexadecimal digits of a mark: of 3,000 two are the same by chance once in four million feeds."""


def _body(entry: Entry) -> list[str]:
    return tokens_of(entry.text.replace(entry.title, "", 1))


def _without_tail(left: Sequence[int], survivors: Sequence[int], fresh: Sequence[int], *, is_window: bool) -> list[int]:
    """Return the entries that were deleted: of a window without those at its end that no remaining
    one follows.
    """
    if not is_window or not (survivors or fresh):
        return list(left)
    if not survivors:
        return []
    first, last = min(survivors), max(survivors)
    return [i for i in left if first < i < last or (i < first and not _grows_at_end(survivors, fresh))]


def _grows_at_end(survivors: Sequence[int], fresh: Sequence[int]) -> bool:
    """Return whether new entries follow the remaining ones: then old ones drop off the
    beginning.
    """
    return bool(fresh) and min(fresh) >= len(survivors)


def _texts_of(entry: Entry) -> list[str]:
    return tokens_of(f"{entry.title} {entry.text}")


def _differ(before: Entry, after: Entry) -> bool:
    """Return whether two entries differ, numbers of JSON compared as numbers."""
    if before.plain and after.plain:
        return tokens_of(before.plain) != tokens_of(after.plain)
    return _texts_of(before) != _texts_of(after)


def _update(before: Entry, after: Entry) -> KeyedUpdate:
    if before.label != after.label:
        return KeyedUpdate(after.label, before.label, after.label)
    if not _differ(before, after):
        return KeyedUpdate(
            after.label, *(f"{one.title}: {', '.join(one.enclosures) or '–'}" for one in (before, after))
        )
    return KeyedUpdate(after.label, *_excerpts(after.title, before.text, after.text))


def _excerpts(title: str, old: str, new: str) -> tuple[str, str]:
    """Return the two texts from shortly before their first difference."""
    same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, old.rfind(" ", 0, max(0, same - 40)) + 1)
    lead = f"{title}: … " if start else ""
    return f"{lead}{_cut_text(old[start:])}", f"{lead}{_cut_text(new[start:])}"


def _cut_text(text: str) -> str:
    return text if len(text) <= _EXCERPT else f"{text[: _EXCERPT - 1].rstrip()}…"
