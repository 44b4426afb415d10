"""Cookies, sent only where a browser would send them (RFC 6265 §5.4): logins from a `cookies.txt`,
and those set during one fetch.

Servers' cookies are kept for the redirects of one fetch only; each fetch begins with exactly the
cookies of its sentinel's secret.
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterable, Sequence
from datetime import UTC

from tidings.clock import SECOND, Instant
from tidings.errors import UsageError
from tidings.fetching import address
from tidings.model.secret import Cookie, Secret

_FIELDS = 7
_HTTP_ONLY = "#HttpOnly_"
_LAST = 253_402_300_799
"""the last second of the year 9999; some exporters write later ones"""
_UNSENDABLE = re.compile("[\x00-\x1f\x7f;]")
_MOST_SET = 50
_LONGEST_SET = 4_096


def read(text: str) -> tuple[Cookie, ...]:
    """Return the cookies of a `cookies.txt` (Netscape's format, as browser add-ons and curl write
    it); `list_unusable` names the others.

    Raises `UsageError` if no cookie can be read. It names a line, never the value in it.
    """
    found, faults = _parse(text)
    if not found:
        message = "this file has no cookies; export it in the format of Netscape's cookies.txt"
        raise UsageError(f"{faults[0]}; {message}" if faults else message)
    return tuple(found)


def list_unusable(text: str) -> tuple[str, ...]:
    """Return a message for each cookie of a `cookies.txt` that no request can carry."""
    return tuple(_parse(text)[1])


def _parse(text: str) -> tuple[list[Cookie], list[str]]:
    found, faults = [], []
    for number, line in enumerate(text.split("\n"), 1):
        is_comment = line.startswith("#") and not line.startswith(_HTTP_ONLY)
        if is_comment or not line.strip():
            continue
        fields = [field.strip() for field in line.removeprefix(_HTTP_ONLY).split("\t")]
        if len(fields) == _FIELDS - 1:  # an empty value whose tab an editor has removed
            fields.append("")
        fault = (
            f"it has {len(fields)} fields, not {_FIELDS} separated by tabs"
            if len(fields) != _FIELDS
            else _fault(fields)
        )
        if fault:
            faults.append(f"line {number}{_name_cookie(fields)}: {fault}")
        else:
            found.append(_cookie(fields))
    return found, faults


def _fault(fields: Sequence[str]) -> str:
    domain, _, path, _, expires, name, value = fields
    host = domain.lower().removeprefix(".")
    faults = {
        "the domain cannot be read": not host or "/" in host or not host.isascii(),
        "the path cannot be read": not path.startswith("/"),
        "its expiry time cannot be read": not expires.partition(".")[0].lstrip("-").isdigit(),
        "the name cannot be sent": "=" in name or bool(_UNSENDABLE.search(name)),
        "the value cannot be sent: it has a semicolon or a control character": bool(_UNSENDABLE.search(value)),
        "it has neither a name nor a value": not name and not value,
    }
    return next((what for what, wrong in faults.items() if wrong), "")


def _name_cookie(fields: Sequence[str]) -> str:
    """Return the name and the domain of a cookie, as far as its line has them in the right
    fields.
    """
    if len(fields) != _FIELDS:
        return ""
    name, domain = (re.sub(r"[^\x20-\x7e]", "?", fields[at])[:60] for at in (5, 0))
    return f", the cookie {name or 'without a name'} of {domain or 'no domain'}"


def _cookie(fields: Sequence[str]) -> Cookie:
    domain, subdomains, path, secure, expires, name, value = fields
    domain = domain.lower()
    ends = int(expires.partition(".")[0])
    return Cookie(
        name=name,
        value=Secret(value),
        domain=domain.removeprefix("."),
        subdomains=subdomains.upper() == "TRUE" or domain.startswith("."),
        path=path,
        secure=secure.upper() == "TRUE",
        expires_at=min(ends, _LAST) * SECOND if ends > 0 else None,
    )


def merge(old: Iterable[Cookie], lines: Iterable[str], url: str, *, now: Instant) -> tuple[Cookie, ...]:
    """Return the cookies after an answer with these `Set-Cookie` lines (RFC 6265 §5.3).

    An answer sets cookies for its own host, or for a parent domain with a single owner. A new one
    replaces that of the same name, domain and path; an expired one deletes it. At most 50 are
    stored.

    Args:
        old: The cookies before.
        lines: The `Set-Cookie` lines of the answer.
        url: The rebuilt URL of the request.
        now: Wall time (µs).
    """
    jar = {(cookie.name, cookie.domain, cookie.path): cookie for cookie in old}
    for line in lines:
        cookie = _of_line(line, url, now=now)
        if cookie is not None:
            jar.pop((cookie.name, cookie.domain, cookie.path), None)
            jar[cookie.name, cookie.domain, cookie.path] = cookie
    return tuple(jar.values())[-_MOST_SET:]


def _of_line(line: str, url: str, *, now: Instant) -> Cookie | None:
    """Return the cookie of one `Set-Cookie`, None if a browser would reject it."""
    pair, *attributes = line.split(";")
    name, equals, value = (part.strip() for part in pair.partition("="))
    if not equals:
        name, value = "", name
    given = {key.strip().lower(): text.strip() for key, _, text in (each.partition("=") for each in attributes)}
    parts = address.parse(url)
    host = parts.host.strip("[]")
    domain = given.get("domain", "").lower().removeprefix(".")
    whole = Cookie(name=name, value=Secret(value), domain=domain, subdomains=True)
    is_foreign = bool(domain) and domain != host and not _is_for_host(whole, parts.host)
    if is_foreign or len(pair) > _LONGEST_SET or _UNSENDABLE.search(pair) or not (name or value):
        return None
    path = given.get("path", "")
    return Cookie(
        name=name,
        value=Secret(value),
        domain=domain or host,
        subdomains=bool(domain),
        path=path if path.startswith("/") else _folder(parts.target),
        secure="secure" in given,
        expires_at=_expiry(given, now),
    )


def _folder(target: str) -> str:
    """Return the default path of a cookie: that of the address up to its last slash."""
    return target.partition("?")[0].rpartition("/")[0] or "/"


def _expiry(given: dict[str, str], now: Instant) -> Instant | None:
    """Return when a cookie expires; `Max-Age` precedes `Expires`, and an invalid value means
    never.
    """
    age = given.get("max-age", "")
    if age.removeprefix("-").isdigit() and age.isascii():
        return now + min(int(age[:12]), _LAST) * SECOND if int(age[:12]) > 0 else 0
    try:
        date = email.utils.parsedate_to_datetime(given.get("expires", ""))
        return round((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()) * SECOND
    except (ValueError, OverflowError):
        return None


def fitting(cookies: Iterable[Cookie], url: str, *, now: Instant) -> tuple[Cookie, ...]:
    """Return the cookies for a request to a rebuilt URL at the wall time `now`: longest path first,
    as servers expect.
    """
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
    return not address.is_public_suffix(cookie.domain)  # a cookie for all of com is refused (H-037)


def _is_for_path(of_cookie: str, path: str) -> bool:
    return path == of_cookie or path.startswith(of_cookie if of_cookie.endswith("/") else f"{of_cookie}/")


def header(cookies: Iterable[Cookie]) -> Secret:
    """Return the value of the header Cookie."""
    pairs = ((cookie.name, cookie.value.reveal()) for cookie in cookies)
    return Secret("; ".join(f"{name}={value}" if name else value for name, value in pairs))
