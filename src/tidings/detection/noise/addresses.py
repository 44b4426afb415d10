"""Addresses that change by themselves: which part of them does, and their form without it
(detection §4.1).

A *family* is all addresses of one directory, with random segments written `*`; a *query key* is one
whose values differ while the address before them stays. Which of them is noise is learned as for
any place of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, urlencode

import xxhash

from tidings.document.document import Document
from tidings.document.html.links import images_of, links_of
from tidings.model.observed.change import ObjectCount

_TOKEN = re.compile(r"[A-Za-z0-9_=~]{10,}")
_TURNS = 3
"""The least switches between letters and digits in a random segment."""
_TURN = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")


def family_of(address: str) -> str:
    """Return the family of an address: its directory up to the first random segment; empty if it
    has no host.
    """
    scheme, parted, rest = address.partition("?")[0].partition("://")
    if not parted:
        return ""
    host, *segments = rest.split("/")
    parts: list[str] = []
    for segment in segments[:-1]:
        parts.append("*" if is_drawn(segment) else segment)
        if parts[-1] == "*":
            break
    else:
        if segments and is_drawn(segments[-1].partition(".")[0]):
            parts.append("*")
    return f"{scheme}://{'/'.join((host, *parts))}" + ("" if parts[-1:] == ["*"] else "/")


def is_drawn(segment: str) -> bool:
    """Return whether a segment of a path seems random: long, with letters and digits
    alternating.
    """
    return bool(_TOKEN.fullmatch(segment)) and len(_TURN.findall(segment)) >= _TURNS


def shape_of(address: str, families: Iterable[str], keys: Iterable[str]) -> str:
    """Return an address without its noise: segments of families as `*`, and no values of query
    keys.
    """
    base, asked, query = address.partition("?")
    if (family := family_of(base)).endswith("*") and family in families:
        _, slash, rest = base[len(family) - 1 :].partition("/")
        base = f"{family}{slash}{rest}"
    named = set(keys)
    if asked and named:
        query = urlencode([(key, value) for key, value in parse_qsl(query, keep_blank_values=True) if key not in named])
    return f"{base}?{query}" if query else base


def families_in(addresses: Iterable[str]) -> Mapping[str, list[str]]:
    """Return addresses by their family, each family in order of address."""
    found: dict[str, list[str]] = {}
    for address in sorted(addresses):
        if family := family_of(address):
            found.setdefault(family, []).append(address)
    return found


def keys_in(addresses: Iterable[str]) -> Mapping[str, list[str]]:
    """Return the values of each query key, each key in the order of its addresses."""
    found: dict[str, list[str]] = {}
    for address in sorted(addresses):
        for key, value in parse_qsl(address.partition("?")[2], keep_blank_values=True):
            found.setdefault(key, []).append(value)
    return found


def groups_of(document: Document, sort: str) -> Mapping[str, list[str]]:
    """Return the content of a document's groups of a sort, by name: families without their queries,
    or query keys.
    """
    kind, _, query = sort.partition(".")
    addresses = addresses_of(document, kind)
    return keys_in(addresses) if query else families_in(without_queries(addresses))


def addresses_of(document: Document, kind: str) -> list[str]:
    """Return the addresses of a document's `links` or `images` for learning, in full."""
    return links_of(document.links, document.base) if kind == "links" else images_of(document.images, document.base)


def without_queries(addresses: Iterable[str]) -> list[str]:
    """Return addresses up to their queries."""
    return [address.partition("?")[0] for address in addresses]


def digest_of(texts: Iterable[str]) -> str:
    """Return a short digest of the content of a group."""
    return xxhash.xxh3_64_hexdigest("\n".join(texts).encode("utf-8", "replace"))[:8]


def keys_that_differ(old: Iterable[str], new: Iterable[str]) -> set[str]:
    """Return the query keys whose values differ while address and keys are the same."""
    before, after = (_by_path(addresses) for addresses in (_only(old, new), _only(new, old)))
    return {
        key
        for path in before.keys() & after.keys()
        for was, now in zip(before[path], after[path], strict=False)
        if was.keys() == now.keys()
        for key in was
        if was[key] != now[key]
    }


def without_noise(rows: Iterable[ObjectCount], families: Iterable[str], keys: Iterable[str]) -> tuple[ObjectCount, ...]:
    """Return the rows left when addresses are compared by their shapes."""
    rows = list(rows)
    named, meant = set(families), set(keys)
    shapes = {row.object: shape_of(row.object, named, meant) for row in rows}
    before = Counter[str]()
    after = Counter[str]()
    for row in rows:
        before[shapes[row.object]] += row.old
        after[shapes[row.object]] += row.new
    return tuple(row for row in rows if before[shapes[row.object]] != after[shapes[row.object]])


def _only(these: Iterable[str], those: Iterable[str]) -> list[str]:
    return sorted((Counter(these) - Counter(those)).elements())


def _by_path(addresses: Iterable[str]) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for address in addresses:
        path, _, query = address.partition("?")
        if query:
            found.setdefault(path, []).append(dict(parse_qsl(query, keep_blank_values=True)))
    return found
