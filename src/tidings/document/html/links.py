"""Addresses in a page: which count, and the forms in which they are compared (detection §1.2,
§4.1).

Three levels of identity. *raw*: as the page writes it (the thesis). *resolved*: joined with the
base, scheme and host in lower case, without default port and fragment. *canonical*: resolved
without parameters of sessions, tracking and cache busters, without a session in its path and, for
an image, without the build fingerprint in a file name (`logo-3f9c2d71.png`). *plain*, for `any
change`: canonical without any query.

Most noise parameters are known by name. Ambiguous names (`sid`, `t`, `v`) count only if the value
seems random or is a time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import xxhash

Identity = Literal["raw", "resolved", "canonical", "plain"]

_EDGES = "".join(map(chr, range(33)))
_INSIDE = re.compile(r"[\t\n\r]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_SEGMENT = r"[A-Za-z0-9_~%\-][A-Za-z0-9_~%.,+=\-]*"
_QUERY = r"[!$-&(-;=?-~]+"  # printable ASCII without " # ' < >
_SIMPLE = re.compile(rf"https?://[a-z0-9.\-]+/(?:{_SEGMENT}/)*(?:{_SEGMENT})?(?:\?{_QUERY})?(?:#.*)?")
_LOCAL = re.compile(rf"/(?:{_SEGMENT}/)*(?:{_SEGMENT})?(?:\?{_QUERY})?(?:#.*)?")
"""An address on the page's own host that needs no resolving: the most common case."""
_SESSION = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^/;]*", re.IGNORECASE)
_FINGERPRINT = re.compile(r"[.\-_](?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,64}(?=(?:\.[A-Za-z0-9]{2,5}){1,2}$)")
_NO_LINK = frozenset({"javascript:", "vbscript:", "mailto:", "tel:", "sms:", "data:", "blob:", "about:"})
_NO_IMAGE = frozenset({"javascript:", "vbscript:", "blob:", "about:"})
_PATH = re.compile(r"[^?#]*")
_IN_PATH = "!$%&'()*+,/:;=@[\\]^|"
_IN_QUERY = "!$%&()*+,/:;=?@[\\]^`{|}"
"""Characters that are not percent-encoded in a path and a query (WHATWG URL standard, its
percent-encode sets).
"""
_PORTS = {"http": ":80", "https": ":443", "ftp": ":21"}


def base_of(url: str, declared: str | None) -> str:
    """Return the base of a page's addresses: its own URL, or the result of `<base href>`."""
    if not declared:
        return url
    return _join(url, _trim(declared))


class Resolver:
    """Resolves addresses of documents with one base to one form, with a cache."""

    def __init__(self, base: str, identity: Identity = "resolved") -> None:
        self.base = base
        self.identity = identity
        self._links: dict[str, str | None] = {}
        self._images: dict[str, str | None] = {}

    def links(self, raw: Sequence[str]) -> list[str]:
        """Return the links that count, in order. Scripts, mail and telephone numbers do not (004
        §5.3.1).
        """
        return [name for name in self.each_link(raw) if name is not None]

    def images(self, raw: Sequence[str]) -> list[str]:
        """Return the images that count, in order; an inline one is named by its digest."""
        return [name for name in self.each_image(raw) if name is not None]

    def each_link(self, raw: Sequence[str]) -> Sequence[str | None]:
        """Return each link, None for one that does not count."""
        return self._each(raw, self._links, _NO_LINK, of_image=False)

    def each_image(self, raw: Sequence[str]) -> Sequence[str | None]:
        """Return each image, None for one that does not count."""
        return self._each(raw, self._images, _NO_IMAGE, of_image=True)

    def _each(
        self, raw: Sequence[str], known: dict[str, str | None], refused: frozenset[str], *, of_image: bool
    ) -> Sequence[str | None]:
        for address in raw:
            if address not in known:
                known[address] = self._identify(address, refused, of_image=of_image)
        return [known[address] for address in raw]

    def _identify(self, raw: str, refused: frozenset[str], *, of_image: bool) -> str | None:
        address = _trim(raw)
        scheme = _SCHEME.match(address)
        if scheme and scheme.group().lower() in refused:
            return None
        if address[:5].lower() == "data:":
            return f"data:{xxhash.xxh3_64_hexdigest(address.encode('utf-8', 'replace'))}"
        if self.identity == "raw":
            return raw
        resolved = _join(self.base, address)
        return resolved if self.identity == "resolved" else self._without_noise(resolved, of_image=of_image)

    def _without_noise(self, resolved: str, *, of_image: bool) -> str:
        address, _, query = resolved.partition("?")
        address = without_query(address)
        if of_image:
            address = _FINGERPRINT.sub("", address)
        query = without_noise(query, of_image=of_image) if self.identity == "canonical" else ""
        return f"{address}?{query}" if query else address


def links_of(raw: Sequence[str], base: str, identity: Identity = "resolved") -> list[str]:
    """Return the links of one document that count."""
    return Resolver(base, identity).links(raw)


def images_of(raw: Sequence[str], base: str, identity: Identity = "resolved") -> list[str]:
    """Return the images of one document that count."""
    return Resolver(base, identity).images(raw)


def without_query(address: str) -> str:
    """Return an address up to its query or fragment, without a session in its path."""
    address = address.partition("#")[0].partition("?")[0]
    return _SESSION.sub("", address) if ";" in address else address


def _trim(address: str) -> str:
    return _INSIDE.sub("", address.strip(_EDGES))


def _join(base: str, address: str) -> str:
    """Return an address joined as a browser would; an invalid one stays as written."""
    if _SIMPLE.fullmatch(address):
        return address.partition("#")[0]
    if _LOCAL.fullmatch(address) and (origin := _origin(base)):
        return origin + address.partition("#")[0]
    return _resolve(base, address)


@lru_cache(maxsize=1_024)
def _origin(base: str) -> str:
    """Return scheme, host and port of a base in comparable form, empty if it has no host."""
    root = _resolve(base, "/")
    return root[:-1] if "://" in root and root.endswith("/") else ""


def _resolve(base: str, address: str) -> str:
    if "\\" in address:
        address = _PATH.sub(lambda path: path.group().replace("\\", "/"), address, count=1)
    try:
        scheme, host, path, query, _ = urlsplit(urljoin(base, address))
    except ValueError:
        return address.partition("#")[0]
    user, at, place = host.rpartition("@")
    place = place.lower().removesuffix(_PORTS.get(scheme, "\0"))
    if host and not path:
        path = "/"
    if host:
        path, query = quote(path, safe=_IN_PATH), quote(query, safe=_IN_QUERY)
    return urlunsplit((scheme, f"{user}{at}{place}", path, query, ""))


NOISE: Final = frozenset(
    """_ga _gl _hsenc _hsmi __hssc __hstc __hsfp dclid fbclid gad_source gbraid gclid gclsrc hsctatracking igshid mc_cid mc_eid mkt_tok
    msclkid oly_anon_id oly_enc_id s_cid srsltid ttclid twclid vero_conv vero_id wbraid wickedid yclid ysclid
    cfid cftoken jsessionid osCsid phpsessid sessid session_id sessionid zenid
    _ cachebust cachebuster nocache rnd""".lower().split()
)
"""Names, in lower case, that count whatever their value; so do the prefixes `utm_`, `aspsessionid`
and `pk_`.
"""

BY_CHANCE: Final = frozenset(
    "_t cb csrf hash key nonce r rand s session sid sig signature t tick time timestamp token ts v ver version".split()
)
"""Names that count if their value seems random, or is a time in seconds or milliseconds."""

VERSIONS: Final = frozenset("rev v ver version".split())
"""Names that, for an image, only select a copy of it."""

_BEGINNINGS: Final = ("utm_", "aspsessionid", "pk_")
_CHANCE = re.compile(
    r"1[0-9]{9}(?:[0-9]{3})?(?:\.[0-9]+)?|(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[0-9A-Za-z_\-.=%]{16,}"
)


def without_noise(query: str, *, of_image: bool = False) -> str:
    """Return a query without noise parameters; the others stay as they are."""
    if not query:
        return query
    parts = [part for part in query.split("&") if part and not _is_noise(part, of_image=of_image)]
    return "&".join(parts)


def _is_noise(part: str, *, of_image: bool) -> bool:
    name, _, value = part.partition("=")
    name = name.lower()
    if name in NOISE or name.startswith(_BEGINNINGS) or (of_image and name in VERSIONS):
        return True
    return name in BY_CHANCE and _CHANCE.fullmatch(value) is not None
