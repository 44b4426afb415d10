"""Gates: digests that prove that nothing changed, before anything is compared (detection §2.3).

A digest only ever proves "unchanged". If digests differ, the comparison decides, so that a change
always has edits. Addresses are digested as the page writes them, together with their base.

Of two bodies that differ in one text, only the new one is parsed: most changes are of some words in
one place. The old version is then the new one with another text in that place, if its text and its
addresses have the digests that are stored of it. Where anything speaks against it, the old body is
parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from tidings.detection.data.itemised import lists_digest
from tidings.detection.data.items import items_digest
from tidings.detection.data.price import offers_digest
from tidings.detection.data.tabular import tables_digest
from tidings.detection.job.contract import EXTRACTION, WITH_FRAMES, Body
from tidings.detection.kinds.keywords import COUNT, count_digest
from tidings.detection.kinds.number import number_digest
from tidings.document.document import Document
from tidings.document.html.links import without_query
from tidings.document.select.chosen import RefusedError
from tidings.document.structures.structure import structure_text
from tidings.document.text.excerpts import common_ends
from tidings.document.text.words import RULES_VERSION, multiset_digest, text_digest
from tidings.model.observed.version import Digest

FURTHER: Final[Mapping[str, Callable[[Document], str]]] = {
    "lines": lambda document: "\n".join(document.lines),
    "number": number_digest,
    "tables": tables_digest,
    "lists": lists_digest,
    "items": items_digest,
    "offers": offers_digest,
}
"""Digests that are made only if watched, by their content; a missing one decides nothing."""


def digest_of(document: Document, *, seed: int = 0, further: Iterable[str] = ()) -> Digest:
    """Return the digests of a document or of a part: the standard ones, and those of `further`
    (names of `FURTHER`) that can be made.
    """
    if document.textless:
        whole = text_digest(f"{document.media} {document.sha256}".encode(), seed=seed)
        return Digest(document.extraction.fingerprint, RULES_VERSION, whole, {"body": document.sha256})
    links, plain_links = _addresses(document.links, document.base, seed)
    images, plain_images = _addresses(document.images, document.base, seed)
    return Digest(
        document.extraction.fingerprint,
        RULES_VERSION,
        text_digest(document.canonical, seed=seed),
        {
            **_further(document, further, seed),
            **_structure(document, seed),
            "links": links,
            "images": images,
            "links.plain": plain_links,
            "images.plain": plain_images,
        },
    )


def digest_of_members(members: Mapping[str, Digest], *, seed: int = 0) -> Digest:
    """Return the digests of a page with frames, from those of its members by key; their order does
    not matter.
    """
    names = sorted({name for digest in members.values() for name in digest.objects})

    def together(name: str) -> str:
        return multiset_digest([f"{key} {_get_digest(digest, name)}" for key, digest in members.items()], seed=seed)

    return Digest(WITH_FRAMES, RULES_VERSION, together("text"), {name: together(name) for name in names})


def is_current(known: Digest | None, extraction: str = EXTRACTION) -> bool:
    """Return whether a stored digest was made by the current rules and may be compared."""
    return known is not None and known.rules_version == RULES_VERSION and known.extraction == extraction


def are_equal(names: Iterable[str], old: Digest, new: Digest) -> bool:
    """Return whether all the named digests are equal; `text` is the canonical text's, the others
    are objects'.
    """
    return all(
        _get_digest(old, name) == _get_digest(new, name)
        and (not _is_further(name) or name in old.objects or "body" in old.objects)
        for name in names
    )


def _further(document: Document, names: Iterable[str], seed: int) -> dict[str, str]:
    found = {}
    for name in sorted(filter(_is_further, names)):
        try:
            what = FURTHER[name](document) if name in FURTHER else count_digest(name, document)
            found[name] = text_digest(what.encode("utf-8", "replace"), seed=seed)
        except RefusedError:  # unknown, so that the comparison runs and reports it
            continue
    return found


def _is_further(name: str) -> bool:
    return name in FURTHER or name.startswith(COUNT)


def _structure(document: Document, seed: int) -> dict[str, str]:
    """Return the digest of the structure of data; other documents are compared by text."""
    try:
        text = structure_text(document)
    except RefusedError:
        return {}
    return {"structure": text_digest(text.encode("utf-8", "replace"), seed=seed)} if text else {}


def _get_digest(digest: Digest, name: str) -> str:
    return digest.text if name == "text" else digest.objects.get(name, "")


def _addresses(addresses: Sequence[str], base: str, seed: int) -> tuple[str, str]:
    """Return the digests of addresses, with and without queries."""
    whole = [*addresses, f"\1{base}"]
    digest = multiset_digest(whole, seed=seed)
    plain = [without_query(address) for address in whole]
    return digest, digest if plain == whole else multiset_digest(plain, seed=seed)


_ADDRESSES = ("links", "images", "links.plain", "images.plain")
_CHARSETS = frozenset({"utf-8", "ascii", "iso-8859-1", "cp1252"})
"""Charsets in which no byte of ASCII is a part of another character."""
_MARKUP = b"<>&\r\0"


def derive_old(
    document: Document,
    new: Body,
    old: Body,
    known: Digest | None,
    digest: Digest,
    seed: int,
    shares: tuple[float, ...] = (),
) -> Document | None:
    """Return the document of `old`, derived from that of `new`; None if it must be parsed.

    Args:
        document: The new version, read without its tree.
        new: Its body.
        old: The body of the old version.
        known: The digest that is stored of the old version.
        digest: That of the new version.
        seed: The seed of digests.
        shares: The old version's `changed_shares`.
    """
    if known is None or not is_current(known) or not are_equal(_ADDRESSES, known, digest):
        return None
    if known.text == digest.text:  # signs differ, which digests leave out
        return None
    if document.media != "html" or document.tree is not None or document.frames or document.charset not in _CHARSETS:
        return None
    if (old.url, old.content_type, old.charset) != (new.url, new.content_type, document.charset):
        return None
    texts = _find_texts(old.data, new.data)
    if texts is None:
        return None
    try:
        was, now = (text.decode(document.charset) for text in texts)
    except UnicodeDecodeError:
        return None
    if document.pieces.count(now) != 1:
        return None
    derived = document.with_piece(document.pieces.index(now), was, shares)
    return derived if text_digest(derived.canonical, seed=seed) == known.text else None


def _find_texts(old: bytes, new: bytes) -> tuple[bytes, bytes] | None:
    """Return the one text between two tags in which bodies differ, old and new; None for more."""
    head, tail = common_ends(old, new)
    start = new.rfind(b">", 0, head) + 1
    end = new.find(b"<", len(new) - tail)
    if not start or end < 0:
        return None
    was, now = old[start : end + len(old) - len(new)], new[start:end]
    if not was.strip() or not now.strip() or any(sign in text for text in (was, now) for sign in _MARKUP):
        return None
    return was, now
