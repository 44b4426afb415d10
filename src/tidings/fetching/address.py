"""The only parser of URLs (R-02): parse once, rebuild from the parts, send the rebuilt form.

`rebuild` is idempotent. Whatever other parsers read differently is refused: backslashes, control
bytes and blanks, user names, empty hosts, IPv4 addresses that are not four decimal numbers, odd
ports.
"""

from __future__ import annotations

import functools
import hashlib
import ipaddress
import json
import re
import urllib.parse
from collections.abc import Sequence
from typing import Final, NamedTuple, NoReturn

from tidings.errors import AddressError, UsageError
from tidings.fetching import files
from tidings.model.observed.page import PageIdentity
from tidings.model.watch import asking, sentinel
from tidings.model.watch.asking import PLAIN, Asking, BrowserStep, Header, Login, Value

MAX_URL_LENGTH = 8_192
"""The longest rebuilt URL, in characters; most servers refuse longer request lines."""

DEFAULT_PORTS = {"http": 80, "https": 443}

# Headers that frame the message, control the connection or are set by the fetcher itself (H-032).
OWN_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "if-match",
        "if-modified-since",
        "if-none-match",
        "if-range",
        "if-unmodified-since",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "range",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "via",
    }
)

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_BLANK = re.compile(r"[\x00-\x20\x7f-\xa0]|\s")
# Characters that browsers percent-encode beyond blanks and non-ASCII; all others are sent as typed.
_QUOTED_IN_PATH = '"<>^`{}'
_QUOTED_IN_QUERY = '"<>'
_DOT = re.compile(r"(?:\.|%2[eE])(?:\.|%2[eE])?")
ASCII = "".join(map(chr, range(0x21, 0x7F)))
"""All printable ASCII characters except the blank."""
_SAFE_IN_PATH = "".join(c for c in ASCII if c not in _QUOTED_IN_PATH)
_SAFE_IN_QUERY = "".join(c for c in ASCII if c not in _QUOTED_IN_QUERY)


class UrlParts(NamedTuple):
    """A parsed URL. `host` is as in the URL (IPv6 in brackets), `port` always a number, `target`
    path and query.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> str:
        """Return scheme, host and port without a default port: `https://example.com`."""
        port = "" if DEFAULT_PORTS[self.scheme] == self.port else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"

    @property
    def url(self) -> str:
        """Return the rebuilt URL."""
        return self.origin + self.target


LOCAL_HOSTS: Final = frozenset({files.HOST, asking.HOST, sentinel.HOST})
"""The pseudo-hosts of local pages."""


def rebuild(url: str) -> str:
    """Return the only form in which a URL is stored and sent. Raise `AddressError` that names the
    faulty part and the fix.
    """
    return parse(url).url


@functools.lru_cache(maxsize=16_384)
def parse(url: str) -> UrlParts:
    """Return a URL's parts, normalised. Raise `AddressError` that names the faulty part and the
    fix.
    """
    if "\\" in url:
        _refuse(url, "it has a backslash", "write / between parts, or %5C for a real backslash")
    if found := _BLANK.search(url):
        where = found.start() + 1
        _refuse(url, f"character {where} is a blank or control character", "remove it, or write %20 for a blank")
    scheme, colon, rest = url.partition(":")
    scheme = scheme.lower()
    if not colon or scheme not in DEFAULT_PORTS:
        _refuse(url, "its scheme is not http or https", "write https:// in front")
    if not rest.startswith("//"):
        _refuse(url, f"there is no // after {scheme}:", f"write {scheme}://host/path")
    authority, path, query = _split(rest[2:].partition("#")[0])
    host, port = _authority(url, scheme, authority)
    target = _encode(url, _without_dots(path), _SAFE_IN_PATH)
    if query is not None:
        target += "?" + _encode(url, query, _SAFE_IN_QUERY)
    parts = UrlParts(scheme, host, port, target)
    if len(parts.url) > MAX_URL_LENGTH:
        _refuse(url, f"it is longer than {MAX_URL_LENGTH:,} characters", "use a shorter address")
    _compare_with_other_parser(url, parts)
    return parts


@functools.lru_cache(maxsize=16_384)
def host_of(url: str) -> str:
    """Return the host of a rebuilt URL (contracts §3): its registered domain, or `address:port` for
    an IP literal.
    """
    parts = parse(url)
    if parts.host[0] == "[" or is_ipv4(parts.host):
        return f"{parts.host}:{parts.port}"
    return _find_registrable_domain(parts.host)


def is_ipv4(host: str) -> bool:
    """Return whether a rebuilt host is an IPv4 literal."""
    return host[-1:].isdigit() and host.count(".") == 3 and all(part.isdigit() for part in host.split("."))


def is_public_suffix(name: str) -> bool:
    """Return whether the names directly below this one have different owners: `com`, `co.uk`,
    `github.io`.
    """
    found = _suffixes().extract_str(name, include_psl_private_domains=True)  # type: ignore[attr-defined]
    return not found.domain


def identify(url: str, asking: Asking = PLAIN, *, owner_id: int = 1) -> PageIdentity:
    """Return the identity of a page (contracts §3); `key` is the SHA-256, in hex, of all of it.

    A page belongs to `owner_id` if it is requested with a secret or a cookie, else to everybody.
    Timeout, screenshot and robots are not part of it, nor is what follows # in its address: that is
    never sent, and others who watch the page need not see it. Raises `AddressError` for the URL and
    `UsageError` for a header that cannot be sent.
    """
    rebuilt, host = _local(url) if is_local(url) else (rebuild(url), "")
    headers = check_headers(asking.headers)
    if asking.proxy is not None and not asking.proxy.is_secret:
        rebuild(asking.proxy.text)
    is_owned = any(h.value.is_secret or h.name == "cookie" for h in headers) or any(
        value is not None and value.is_secret for value in (asking.body, asking.proxy)
    )
    is_owned = is_owned or asking.login is not None or _types_secret(asking)
    if _types_secret(asking) and not is_safe_for_passwords(rebuilt):
        _refuse(url, "a secret is typed only on https pages", "write https://")
    owner = owner_id if is_owned else None
    body = hashlib.sha256(_spell(asking.body).encode()).hexdigest() if asking.body is not None else ""
    spelled = [(header.name, _spell(header.value)) for header in headers]
    identity: list[object] = [asking.method, rebuilt, body, asking.render, asking.frames, spelled, owner]
    if asking.trust or asking.proxy is not None:
        identity += [asking.trust, _spell(asking.proxy) if asking.proxy is not None else ""]
    if asking.login is not None:
        identity.append(_check_login(asking.login))
    if asking.steps:
        identity.append([_spell_step(step) for step in asking.steps])
    text = json.dumps(identity, ensure_ascii=True, separators=(",", ":"))
    return PageIdentity(
        key=hashlib.sha256(text.encode()).hexdigest(),
        url=rebuilt,
        given=url if host else url.partition("#")[0],
        host=host or host_of(rebuilt),
        method=asking.method,
        body=asking.body,
        render=asking.render,
        frames=asking.frames,
        headers=headers,
        trust=asking.trust,
        proxy=asking.proxy,
        login=asking.login,
        steps=asking.steps,
        owner_id=owner,
    )


def is_safe_for_passwords(url: str) -> bool:
    """Return whether a password may be sent to a rebuilt address: https, or this machine."""
    parts = parse(url)
    host = parts.host.strip("[]")
    is_loopback = host in {"localhost", "::1"} or (is_ipv4(host) and host.startswith("127."))
    return parts.scheme == "https" or is_loopback


def _types_secret(asking: Asking) -> bool:
    return any(step.value is not None and step.value.is_secret for step in asking.steps)


def _spell_step(step: BrowserStep) -> list[object]:
    value = "" if step.value is None else _spell(step.value)
    return [step.verb, step.language, step.place, value, step.wait]


def _check_login(login: Login) -> list[object]:
    """Return what a login adds to the identity of a page. Raise `AddressError` for an unsafe
    address.
    """
    for url in (login.url, *login.via):
        if not is_safe_for_passwords(rebuild(url)):
            _refuse(url, "a password is sent by https only", "write https://")
    return [login.url, _spell(login.user), login.password, login.success, list(login.via)]


def is_local(url: str) -> bool:
    """Return whether an address is local, a file or a command: no server is asked."""
    return files.is_file(url) or asking.is_command(url) or sentinel.is_listing(url)


def _local(url: str) -> tuple[str, str]:
    """Return the only form in which a local address is stored, and its host."""
    if files.is_file(url):
        return files.rebuild(url), files.HOST
    if sentinel.is_listing(url):
        return url, sentinel.HOST
    try:
        return asking.url_of(asking.argv_of(url)), asking.HOST
    except ValueError as error:
        raise AddressError(f'this is not a command: {error}; write Using command "df" "-h"') from error


def _spell(value: Value) -> str:
    """Return a value so that a text and a secret of that name differ; a text is unchanged, as in
    the keys of older pages.
    """
    return f"\x00secret\x00{value.text}" if value.is_secret else value.text


def check_headers(headers: Sequence[Header]) -> tuple[Header, ...]:
    """Return request headers with names in lower case, sorted. Raise `UsageError` for one that may
    not be set (H-031, H-032).
    """
    checked = []
    for header in headers:
        name, text = check_header(header.name, header.value.text)
        checked.append(Header(name, Value(text, header.value.is_secret)))
    return tuple(sorted(checked, key=lambda header: (header.name, _spell(header.value))))


def check_header(name: str, value: str) -> tuple[str, str]:
    """Return one request header, its name in lower case. Raise `UsageError` if it may not be
    set.
    """
    if not _TOKEN.fullmatch(name):
        raise UsageError(f"{name[:40]!r} is not a header name; use letters, digits and -")
    if name.lower() in OWN_HEADERS:
        raise UsageError(f"the header {name} cannot be set, because Tidings sets it; leave it out")
    if any(ord(character) < 32 or ord(character) >= 0x7F for character in value.replace("\t", " ")):
        raise UsageError(f"the value of header {name} has a line end, control or non-ASCII character; remove it")
    return name.lower(), value.strip(" \t")


def _refuse(url: str, fault: str, mend: str) -> NoReturn:
    shown, mark, _ = url.partition("?")
    shown = shown[:100] + ("…" if mark or len(shown) > 100 else "")  # a query may hold a token
    if "@" in shown:
        shown = shown.partition(":")[0] + ":…"  # the text before @ may be a password
    raise AddressError(f"Tidings will not watch {shown!r}: {fault}; {mend}")


def _split(rest: str) -> tuple[str, str, str | None]:
    """Return authority, path and query of the text after the two slashes."""
    before, mark, query = rest.partition("?")
    authority, slash, path = before.partition("/")
    return authority, slash + path or "/", query if mark else None


def _authority(url: str, scheme: str, authority: str) -> tuple[str, int]:
    if "@" in authority:
        _refuse(url, "it has a user name or password", "remove the part before @, and send it as a header")
    if authority.startswith("["):
        literal, bracket, after = authority[1:].partition("]")
        if not bracket or (after and not after.startswith(":")):
            _refuse(url, "its IPv6 address does not end with ]", "write http://[2001:db8::1]:8080/")
        return _ipv6(url, literal), _port(url, scheme, after[1:])
    host, _, port = authority.partition(":")
    return _name(url, host), _port(url, scheme, port)


def _port(url: str, scheme: str, text: str) -> int:
    if not text:
        return DEFAULT_PORTS[scheme]
    if not (text.isascii() and text.isdigit() and len(text) <= 5):
        _refuse(url, "its port is not a number", "write a port as in http://example.com:8080/")
    port = int(text)
    if port in {80, 443} or 1024 <= port <= 65_535:
        return port
    return _refuse(url, f"port {port} is not for web pages", "use 80, 443 or a port from 1024 to 65535")


def _ipv6(url: str, literal: str) -> str:
    try:
        address = ipaddress.IPv6Address(literal)
    except ValueError:
        _refuse(url, "the part in [ ] is not an IPv6 address", "write it as in http://[2001:db8::1]/")
    if address.scope_id is not None:
        _refuse(url, "its IPv6 address has a zone", "remove % and the text after it")
    if address.ipv4_mapped is not None:  # Python 3.13 formats these differently from 3.11
        return f"[::ffff:{address.ipv4_mapped}]"
    return f"[{address.compressed}]"


def _name(url: str, host: str) -> str:
    if not host:
        _refuse(url, "it has no host", "write https://host/path")
    if not host.isascii():
        host = _encode_host(url, host)
    host = host.lower().removesuffix(".")
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(url, host)
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        _refuse(url, "its host is not a valid name", "write a name of letters, digits, - and dots")
    return host


def _ipv4(url: str, host: str) -> str:
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError:
        return _refuse(
            url,
            "its host is a number that programs read in different ways",
            "write four decimal numbers: 93.184.216.34",
        )


def _encode_host(url: str, host: str) -> str:
    import idna

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except UnicodeError:
        return _refuse(
            url, "its host has a character that is not allowed in host names", "copy the address from a browser"
        )


def _without_dots(path: str) -> str:
    """Return a path with `.` and `..` resolved, also where a dot is written %2e, as browsers do
    (RFC 3986 §5.2.4).
    """
    if "/." not in path and "/%2" not in path:
        return path
    resolved: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        dots = _DOT.fullmatch(segment)
        if not dots:
            resolved.append(segment)
        elif len(segment.lower().replace("%2e", ".")) == 2 and resolved:
            resolved.pop()
    if _DOT.fullmatch(segments[-1]):
        resolved.append("")
    return "/" + "/".join(resolved)


def _encode(url: str, text: str, safe: str) -> str:
    try:
        return urllib.parse.quote(text, safe=safe)
    except UnicodeEncodeError:
        return _refuse(url, "it has half a character (a lone surrogate)", "copy the address from a browser")


def _compare_with_other_parser(url: str, parts: UrlParts) -> None:
    try:
        other = urllib.parse.urlsplit(parts.url)
        same = (other.scheme, other.hostname, other.port or parts.port) == (
            parts.scheme,
            parts.host.strip("[]"),
            parts.port,
        )
    except ValueError:
        same = False
    if not same:
        _refuse(url, "programs read different hosts from it", "write https://host/path")


@functools.cache
def _suffixes() -> object:
    import tldextract

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


@functools.lru_cache(maxsize=16_384)
def _find_registrable_domain(host: str) -> str:
    extract = _suffixes()
    return extract.extract_str(host).top_domain_under_public_suffix or host  # type: ignore[attr-defined]
