"""All change types that there are (004 §3.4.2): any change, all words, all links, all images, keywords, phrases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tidings.detection.compare.objects import compare_objects
from tidings.detection.findings import finding_of_body, finding_of_objects, finding_of_words
from tidings.detection.keywords import Keywords
from tidings.detection.kind import Kind, TermKind
from tidings.detection.phrases import Phrases
from tidings.document.document import Document
from tidings.document.links import Identity, Resolver
from tidings.model.change import ChangeSet
from tidings.registry import Registry

_EXTRACT: Final[dict[str, Callable[[Resolver, Document], list[str]]]] = {
    "links": lambda resolver, document: resolver.links(document.links),
    "images": lambda resolver, document: resolver.images(document.images),
}


@dataclass(frozen=True, slots=True)
class Words:
    """All words, in their order (004 §5.4)."""

    name: str = "words"
    spelled: str = "all words"
    contains: frozenset[str] = frozenset({"words", "keywords", "phrases"})
    digests: tuple[str, ...] = ("text",)

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the edits between the words of two documents."""
        words = finding_of_words(old, new)
        return (*((words,) if words else ()), *finding_of_body(old, new))


@dataclass(frozen=True, slots=True)
class Addresses:
    """Links or images, as a multiset of addresses (004 §5.3.2.2)."""

    name: str
    spelled: str
    identity: Identity
    digests: tuple[str, ...]

    @property
    def contains(self) -> frozenset[str]:
        """Return its own name."""
        return frozenset({self.name})

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the addresses that are there more or less often."""
        return (*self.addresses(old, new), *finding_of_body(old, new))

    def addresses(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the finding of the addresses alone."""
        resolver = Resolver(old.base, self.identity)
        before = _EXTRACT[self.name](resolver, old)
        after = _EXTRACT[self.name](resolver if new.base == old.base else Resolver(new.base, self.identity), new)
        rows = compare_objects(self.name, before, after)
        return (finding_of_objects(self.name, rows),) if rows else ()


@dataclass(frozen=True, slots=True)
class AnyChange:
    """Any word, link or image (004 §5.4). Addresses are compared without their query: a session alone is no change."""

    name: str = "any"
    spelled: str = "any change"
    contains: frozenset[str] = frozenset({"any", "words", "links", "images", "keywords", "phrases"})
    digests: tuple[str, ...] = ("text", "links.canonical", "images.canonical", "body")

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return what changed among words, links and images."""
        return (*Words().compare(old, new), *_PLAIN_LINKS.addresses(old, new), *_PLAIN_IMAGES.addresses(old, new))


_PLAIN_LINKS = Addresses("links", "all links", "canonical", ("links.canonical", "body"))
_PLAIN_IMAGES = Addresses("images", "all images", "canonical", ("images.canonical", "body"))

TERM_KINDS: Final[Registry[TermKind]] = Registry(
    "change type with terms", {"keywords": Keywords(), "phrases": Phrases()}
)

KINDS: Final[Registry[Kind]] = Registry(
    "change type",
    {
        "any": AnyChange(),
        "words": Words(),
        "links": Addresses("links", "all links", "resolved", ("links", "body")),
        "images": Addresses("images", "all images", "resolved", ("images", "body")),
        **TERM_KINDS,
    },
)
