"""The outcome of a fetch. Ordinary outcomes are values: `Unchanged | Fetched | Failed`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal

from tidings.model.interval import Duration, Instant
from tidings.model.secret import Cookie, Secret
from tidings.model.watch.asking import StepVerb
from tidings.record import dataclass

ErrorKind = Literal[
    "net",
    "address",
    "busy",
    "denied",
    "blocked",
    "404",
    "410",
    "5xx",
    "redirect",
    "size",
    "robots",
    "scope",
    "request",
    "framing",
    "encoding",
    "secret",
    "login",
    "command",
    "fault",
    "disk",
    "damaged",
]
"""Why a poll failed. `login`: the session was lost. `command`: it failed or did not end. `fault`: a
bug of Tidings. `disk`: the body could not be stored. `damaged`: the stored data of the page is
inconsistent. `busy`: 408 425 429 503. `address`: refused by the guard. `scope`: a collection has no
page beside its first ones.
"""

Conditions = Literal["", "answered", "refused"]
"""The result of the validators: none were sent, the answer took them into account, or it came only
without them.
"""

Framing = Literal["length", "chunked", "encoded", "unframed"]
"""How the end of a body was known. `encoded`: only by the end of its Content-Encoding; `unframed`:
only by the end of the connection.
"""


@dataclass(frozen=True, slots=True)
class Validators:
    """The server's validators, byte for byte; they save work and never prove a change."""

    etag: str | None = None
    last_modified: str | None = None

    def __bool__(self) -> bool:
        return bool(self.etag or self.last_modified)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormLogin:
    """A form login to perform before the page is requested, with the secrets filled in.

    `secret` is the name of the password's secret, set at `set_at`. The session is stored under it,
    `owner_id`, the origin of `url` and `user`.
    """

    url: str
    user: str | Secret
    password: Secret
    secret: str
    set_at: Instant
    owner_id: int
    success: str = ""
    via: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlayedStep:
    """A browser step with its secret filled in; `text` is how the language writes it.

    `place` is a selector prefixed by its language (`css=#more`), empty for the whole page; `wait`
    is in µs.
    """

    text: str
    verb: StepVerb
    place: str = ""
    value: str | Secret = ""
    wait: Duration = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """A request for one page; `url` is already rebuilt (contracts §3). `validators` make it
    conditional.

    `final_url` is the address that gave the validators, if it is not `url`: they are sent to no
    other, since after a redirect elsewhere they say nothing about the page. Headers, body and
    `cookies` (those that match each request) are sent to the origin of `url` only. `timeout` is for
    the whole request (µs; None: the setting), `trust` the path of a PEM file. With `render`
    `browser`, the page is rendered, with a picture if `screenshot` is set; validators are then not
    used. `steps` are performed in the browser before the page is read. `login` is performed first
    where needed; `origins` are those to which redirects may lead (None: any). With
    `robots_ignored`, robots.txt is read at the page's own host, only for its Crawl-delay.
    """

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str | Secret], ...] = ()
    body: str | Secret | None = None
    cookies: tuple[Cookie, ...] = ()
    timeout: Duration | None = None
    trust: str = ""
    proxy: str | Secret = ""
    validators: Validators = Validators()
    final_url: str = ""
    robots_ignored: bool = False
    render: str = ""
    screenshot: bool = False
    steps: tuple[PlayedStep, ...] = ()
    login: FormLogin | None = None
    origins: frozenset[str] | None = None


SECRET_HEADERS: Final = frozenset(
    """set-cookie set-cookie2 cookie authorization proxy-authorization authentication-info proxy-authentication-info www-authenticate
    proxy-authenticate x-csrf-token x-xsrf-token x-auth-token x-access-token x-api-key x-amz-security-token""".split()
)
"""Response headers that may hold a secret, in lower case: never stored, compared or reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """304: the body is the stored one. `fresh`, `pause` and `headers` as in `Fetched`; headers that
    are not repeated keep their values.
    """

    final_url: str
    hops: tuple[str, ...] = ()
    requests: int = 1
    wire_bytes: int = 0
    moved: str = ""
    validators: Validators = Validators()
    fresh: Duration | None = None
    status: int = 304
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: Duration | None = None
    cookies: tuple[Cookie, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A whole body: framing and decoders both ended cleanly. `body` is after Content-Encoding,
    before charset decoding.

    `fresh` is the answer's freshness lifetime (µs), None if the server gives none. Of a rendered
    page, `body` is the DOM as HTML in UTF-8, and `screenshot` its picture (WebP), if one was asked
    for and could be taken.

    `pause` is how long (µs) the host must be left alone because its rate limit is used up, None if
    it gives none. `conditions` is the result of the request's validators.

    `moved` is the target of permanent redirects (301, 308) from the page's own address, empty if
    there were none.
    """

    body: bytes
    final_url: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str | None = None
    hops: tuple[str, ...] = ()
    requests: int = 1
    wire_bytes: int = 0
    framing: Framing = "length"
    encoding: str = ""
    moved: str = ""
    validators: Validators = Validators()
    fresh: Duration | None = None
    pause: Duration | None = None
    conditions: Conditions = ""
    screenshot: bytes = b""
    cookies: tuple[Cookie, ...] = ()
    """cookies that servers set on the way, if the request has a login"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No usable body. `reason` is a sentence for people, `retry_after` the server's Retry-After
    (µs), if any.

    `reached` says of a failure of kind `net` that the host is up: it refused or closed the
    connection.
    """

    kind: ErrorKind
    reason: str
    status: int | None = None
    retry_after: Duration | None = None
    final_url: str | None = None
    hops: tuple[str, ...] = ()
    reached: bool = False
    requests: int = 1
    wire_bytes: int = 0


Outcome = Unchanged | Fetched | Failed
