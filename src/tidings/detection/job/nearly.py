"""Old versions that are nearly the new one: of two bodies that differ in one text, one is parsed.

Most changes are of some words in one place. The old version is then the new one with another text
in that place, if its text and its addresses have the digests that are stored of it. Where anything
speaks against it, the old body is parsed.
"""

from __future__ import annotations

from tidings.detection.compare.words import common_end, common_start
from tidings.detection.job.contract import Body
from tidings.detection.job.gates import are_equal, is_current
from tidings.document.document import Document
from tidings.document.text.words import text_digest
from tidings.model.observed.version import Digest

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
    head = common_start(old, new)
    tail = common_end(old, new, head)
    start = new.rfind(b">", 0, head) + 1
    end = new.find(b"<", len(new) - tail)
    if not start or end < 0:
        return None
    was, now = old[start : end + len(old) - len(new)], new[start:end]
    if not was.strip() or not now.strip() or any(sign in text for text in (was, now) for sign in _MARKUP):
        return None
    return was, now
