"""Gates: digests that tell that nothing changed before anything is compared (DESIGN §4; detection.md §2.3).

A digest is only ever used to say "unchanged". Where digests differ the comparison decides, so that a change always has its edits.
Addresses are digested as the page writes them, together with the base that they are joined with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidings.detection.job import EXTRACTION, WITH_FRAMES
from tidings.document.canonical import RULES_VERSION, multiset_digest, text_digest
from tidings.document.document import Document
from tidings.document.links import without_query
from tidings.model.version import Digest


def digest_of(document: Document, *, seed: int = 0) -> Digest:
    """Return the digests of a document for every kind."""
    if document.textless:
        whole = text_digest(f"{document.media} {document.sha256}".encode(), seed=seed)
        return Digest(EXTRACTION, RULES_VERSION, whole, {"body": document.sha256})
    base = document.base
    plain_base = without_query(base)
    return Digest(
        EXTRACTION,
        RULES_VERSION,
        text_digest(document.canonical, seed=seed),
        {
            "links": _addresses(document.links, base, seed),
            "images": _addresses(document.images, base, seed),
            "links.canonical": _addresses(map(without_query, document.links), plain_base, seed),
            "images.canonical": _addresses(map(without_query, document.images), plain_base, seed),
        },
    )


def digest_of_members(members: Mapping[str, Digest], *, seed: int = 0) -> Digest:
    """Return the digests of a page with frames, from those of its members by key; their order is no part of it."""
    names = sorted({name for digest in members.values() for name in digest.objects})

    def together(name: str) -> str:
        return multiset_digest([f"{key} {_named(digest, name)}" for key, digest in members.items()], seed=seed)

    return Digest(WITH_FRAMES, RULES_VERSION, together("text"), {name: together(name) for name in names})


def is_current(known: Digest | None, extraction: str = EXTRACTION) -> bool:
    """Return whether a stored digest was made by today's rules and may be compared."""
    return known is not None and known.rules_version == RULES_VERSION and known.extraction == extraction


def are_equal(names: Iterable[str], old: Digest, new: Digest) -> bool:
    """Return whether all the named digests are equal; `text` is the canonical text's, the others are objects'."""
    return all(_named(old, name) == _named(new, name) for name in names)


def _named(digest: Digest, name: str) -> str:
    return digest.text if name == "text" else digest.objects.get(name, "")


def _addresses(addresses: Iterable[str], base: str, seed: int) -> str:
    return multiset_digest([*addresses, f"\1{base}"], seed=seed)
