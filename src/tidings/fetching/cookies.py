"""Kept logins: cookies from a `cookies.txt` that go only where a browser would send them (RFC 6265 §5.4).

What servers set is not kept: each fetch sends the cookies of its sentinel's secret and no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidings.clock import SECOND, Instant
from tidings.errors import UsageError
from tidings.fetching import address
from tidings.model.secret import Cookie, Secret

_FIELDS = 7
_HTTP_ONLY = "#HttpOnly_"
_LAST = 253_402_300_799
"""the last second of the year 9999; some exporters write later ones"""
_UNSENDABLE = frozenset('";,\\ ')


def read(text: str) -> tuple[Cookie, ...]:
    """Return the cookies of a `cookies.txt` (Netscape's format, as browsers' add-ons and curl write it).

    Raises `UsageError` that names a line that cannot be read, never what stands in it, and where there is no cookie at all.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        is_comment = line.startswith("#") and not line.startswith(_HTTP_ONLY)
        if is_comment or not line.strip():
            continue
        fields = line.removeprefix(_HTTP_ONLY).split("\t")
        if len(fields) != _FIELDS:
            message = f"line {number} of the cookies has {len(fields)} fields; each line has {_FIELDS}, a tab between (Netscape cookies.txt)"
            raise UsageError(message)
        found.append(_cookie(number, fields))
    if not found:
        message = "there is no cookie in this file; export it in the format of Netscape's cookies.txt"
        raise UsageError(message)
    return tuple(found)


def _cookie(number: int, fields: Sequence[str]) -> Cookie:
    domain, subdomains, path, secure, expires, name, value = (field.strip() for field in fields)
    domain = domain.lower()
    host = domain.removeprefix(".")
    faults = {
        "the domain": not host or "/" in host or not host.isascii(),
        "the path": not path.startswith("/"),
        "the time it expires at": not expires.partition(".")[0].lstrip("-").isdigit(),
        "the name": not name or "=" in name or not _is_sendable(name),
        "the value": not _is_sendable(value),
    }
    if fault := next((what for what, wrong in faults.items() if wrong), ""):
        message = f"line {number} of the cookies: {fault} cannot be read; export the file anew"
        raise UsageError(message)
    ends = int(expires.partition(".")[0])
    return Cookie(
        name=name,
        value=Secret(value),
        domain=host,
        subdomains=subdomains.upper() == "TRUE" or domain.startswith("."),
        path=path,
        secure=secure.upper() == "TRUE",
        expires_at=min(ends, _LAST) * SECOND if ends > 0 else None,
    )


def _is_sendable(text: str) -> bool:
    return text.isascii() and (text.isprintable()) and not _UNSENDABLE & set(text.strip('"'))


def fitting(cookies: Iterable[Cookie], url: str, *, now: Instant) -> tuple[Cookie, ...]:
    """Return the cookies that go with a request to a rebuilt URL at the wall time `now`: longest path first, as servers expect."""
    parts = address.parse(url)
    path = parts.target.partition("?")[0]
    found = [
        cookie
        for cookie in cookies
        if (cookie.expires_at is None or cookie.expires_at > now)
        and (parts.scheme == "https" or not cookie.secure)
        and _is_for_host(cookie, parts.host)
        and _is_for_path(cookie.path, path)
    ]
    return tuple(sorted(found, key=lambda cookie: -len(cookie.path)))


def _is_for_host(cookie: Cookie, host: str) -> bool:
    if cookie.domain == host.strip("[]"):
        return True
    if not cookie.subdomains or not host.endswith(f".{cookie.domain}") or address.is_ipv4(host):
        return False
    return not address.is_public_suffix(cookie.domain)  # a cookie for all of com is nobody's (H-037)


def _is_for_path(of_cookie: str, path: str) -> bool:
    return path == of_cookie or path.startswith(of_cookie if of_cookie.endswith("/") else f"{of_cookie}/")


def header(cookies: Iterable[Cookie]) -> Secret:
    """Return the value of the header Cookie."""
    return Secret("; ".join(f"{cookie.name}={cookie.value.reveal()}" for cookie in cookies))
