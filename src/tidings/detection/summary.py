"""A change in one line, for lists, subjects and consoles."""

from __future__ import annotations

from collections.abc import Iterator

from tidings.model.change import ChangeSet

_NOUNS = {
    "words": ("text", "texts"),
    "links": ("link", "links"),
    "images": ("image", "images"),
    "body": ("body", "bodies"),
}
_LONGEST_TEXT = 60
_EXAMPLES = 3


def summary(change: ChangeSet, *, most: int = 200) -> str:
    """Return counts and the first texts in at most `most` characters: `1 text updated: "5" → "6"`. Empty for no change."""
    if not change:
        return ""
    counts = ", ".join(_counts(change))
    examples = "; ".join(text for _, text in zip(range(_EXAMPLES), _examples(change), strict=False))
    line = f"{counts}: {examples}" if examples else counts
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _counts(change: ChangeSet) -> Iterator[str]:
    added = [row.object for row in change.objects if row.new > row.old]
    removed = [row.object for row in change.objects if row.new < row.old]
    yield from _counted("updated", {"words": len(change.updated)})
    yield from _counted("added", {"words": len(change.inserted) - len(added) if "words" in change.kinds else 0})
    yield from _counted("removed", {"words": len(change.deleted) - len(removed) if "words" in change.kinds else 0})
    yield from _counted("moved", {"words": len(change.moved)})
    for kind in ("links", "images", "body"):
        yield from _counted("added", {kind: sum(row.kind == kind and row.new > row.old for row in change.objects)})
        yield from _counted("removed", {kind: sum(row.kind == kind and row.new < row.old for row in change.objects)})


def _counted(verb: str, counts: dict[str, int]) -> Iterator[str]:
    for kind, count in counts.items():
        if count > 0:
            one, many = _NOUNS[kind]
            yield f"{count:,} {one if count == 1 else many} {verb}"


def _examples(change: ChangeSet) -> Iterator[str]:
    for old, new in change.updated:
        yield f"{_quoted(old)} → {_quoted(new)}"
    for text in change.inserted:
        yield f"+{_quoted(text)}"
    for text in change.deleted:
        yield f"-{_quoted(text)}"
    for text in change.moved:
        yield f"moved {_quoted(text)}"


def _quoted(text: str) -> str:
    shown = " ".join(
        "".join(character if character.isprintable() else " " for character in text[: 2 * _LONGEST_TEXT]).split()
    )
    return f'"{shown}"' if len(shown) <= _LONGEST_TEXT else f'"{shown[: _LONGEST_TEXT - 1].rstrip()}…"'
